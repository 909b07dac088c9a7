//! Launches of a loop's kernels over its rows, the iterations of its root.

use crate::driver::Fault;
use crate::emit::Kernel;
use crate::run::{KernelDevice, Launch, Launched, Room, Word};

/// The minimal row length for a team of a whole block.
const LONG: u64 = 2048;

/// The minimal number of elements per thread of a team, if the row is long enough.
const EACH: u64 = 8;

/// Describes elements of rows that threads share: see
/// [`Path`](livefusion_tile::threads::path::Path).
#[derive(Debug)]
pub(crate) struct Elements {
    /// The start of their counter, if it continues from row to row.
    pub start: Option<Word>,
    /// The word of that counter in the frame.
    pub counter: Option<usize>,
    /// The length of each row, if all are equal.
    pub length: Option<Word>,
    /// Whether rows have steps of their own at their end.
    pub ends: bool,
    /// The result word of the row search that holds the counter. Otherwise the last word holds the
    /// number of elements.
    pub counted: Option<usize>,
}

/// The parameters of a kernel.
pub(crate) struct Params {
    /// Word by word.
    pub words: Vec<u64>,
    /// The length of the longest array that existed before.
    pub longest: u64,
    /// The number of threads per row.
    pub team: u64,
    /// Device memory among the parameters.
    pub _rooms: Vec<Box<dyn Room>>,
}

/// The rows of a loop on a device.
pub(crate) struct Rows<'a> {
    pub kernel: &'a Kernel,
    pub elements: Option<&'a Elements>,
    pub device: &'a dyn KernelDevice,
    pub params: Params,
    /// The counter of the first row.
    pub first: u64,
    /// The number of rows.
    pub rows: u64,
}

/// The result of the rows.
pub(crate) struct Found<'a> {
    /// The kernel that ran them.
    pub kernel: &'a Kernel,
    pub result: Vec<u64>,
    /// A counter that continues from row to row: its word in the frame, and its final value.
    pub counter: Option<(usize, u64)>,
}

impl<'a> Rows<'a> {
    /// Runs all rows.
    ///
    /// Returns `None` on a trap.
    pub fn run(&self, word: &dyn Fn(Word) -> u64) -> Result<Option<Found<'a>>, Fault> {
        let (kernel, team) = (self.kernel, self.params.team);
        let Some(elements) = self.elements else {
            return self.found(kernel, self.rows, team, None);
        };
        if let Some(length) = elements.length {
            return match &kernel.rows {
                Some(rows) if self.rows.saturating_mul(team) >= kernel.teams => {
                    self.found(rows, self.rows, team, None)
                }
                _ => {
                    let all = self.rows.checked_mul(word(length));
                    self.share(elements, all.ok_or_else(too_many)?, word)
                }
            };
        }
        self.find_and_share(elements, word)
    }

    /// Launches a kernel that finds the rows, and a second one whose threads share the elements.
    ///
    /// The second kernel reads the number of elements from memory. It is launched for as many as
    /// the longest array has, which usually suffices. Otherwise it does nothing and is launched
    /// again.
    fn find_and_share(
        &self,
        elements: &Elements,
        word: &dyn Fn(Word) -> u64,
    ) -> Result<Option<Found<'a>>, Fault> {
        let none = || Fault::Refused("no kernel finds where rows lie".into());
        let places = self.kernel.places.as_ref().ok_or_else(none)?;
        let ends = if elements.ends { self.rows } else { 0 };
        let most = self.params.longest.saturating_add(ends);
        let both = [
            self.launch(places, self.rows, 1),
            self.launch(self.kernel, most, 1),
        ];
        let launched = self.device.launch(&both)?;
        let [found, shared] = <[Launched; 2]>::try_from(launched).map_err(|_| none())?;
        if found.trapped {
            // A trap after the loop's exit has no effect, so the rows run again, one by one.
            return match &self.kernel.anywhere {
                Some(kernel) => self.found(kernel, self.rows, 1, None),
                None => Ok(None),
            };
        }
        if shared.trapped {
            return Ok(None);
        }
        let counted = match elements.counted {
            Some(at) => found.result.get(at),
            None => found.result.last(),
        };
        let start = elements.start.map_or(0, word);
        let all = counted.ok_or_else(none)?.wrapping_sub(start);
        match all.checked_add(ends).ok_or_else(too_many)? {
            steps if steps > most || steps == 0 => self.share(elements, all, word),
            _ => Ok(Some(Found {
                kernel: self.kernel,
                result: shared.result,
                counter: elements.counter.map(|at| (at, start.wrapping_add(all))),
            })),
        }
    }

    /// Launches threads that share `all` elements.
    fn share(
        &self,
        elements: &Elements,
        all: u64,
        word: &dyn Fn(Word) -> u64,
    ) -> Result<Option<Found<'a>>, Fault> {
        let ends = if elements.ends { self.rows } else { 0 };
        let steps = all.checked_add(ends).ok_or_else(too_many)?;
        let start = elements.start.map_or(0, word);
        let counter = elements.counter.map(|at| (at, start.wrapping_add(all)));
        self.found(self.kernel, steps, 1, counter)
    }

    /// Runs a kernel's steps, if there are any.
    fn found(
        &self,
        kernel: &'a Kernel,
        steps: u64,
        team: u64,
        counter: Option<(usize, u64)>,
    ) -> Result<Option<Found<'a>>, Fault> {
        let launched = match steps {
            0 => Launched::default(),
            _ => {
                let launched = self.device.launch(&[self.launch(kernel, steps, team)])?;
                launched.into_iter().next().unwrap_or_default()
            }
        };
        Ok((!launched.trapped).then_some(Found {
            kernel,
            result: launched.result,
            counter,
        }))
    }

    fn launch<'k>(&'k self, kernel: &'k Kernel, steps: u64, team: u64) -> Launch<'k> {
        Launch {
            kernel,
            params: &self.params.words,
            first: self.first,
            steps,
            blocks: kernel.tiles(steps.saturating_mul(team)),
        }
    }
}

/// Returns the number of threads of a team for one row.
///
/// Each thread has several elements, whose reads overlap. Row lengths are unknown in advance, so
/// the longest array bounds them. Teams larger than a warp synchronise in each pass, which pays
/// only for long rows.
pub(crate) fn team_for(length: u64, block: u64) -> u64 {
    match length {
        LONG.. => block,
        _ => (length / EACH).next_power_of_two().min(32).min(block),
    }
}

pub(crate) fn too_many() -> Fault {
    Fault::Refused("more elements than can be counted".into())
}
