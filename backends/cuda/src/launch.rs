//! Which kernels of a loop are launched for its rows, the iterations of its root, and with what.

use crate::driver::Fault;
use crate::emit::Kernel;
use crate::run::{Device, Launch, Launched, Room, Word};

/// As many elements as a row has at least that a whole block works at.
const LONG: u64 = 2048;

/// As many elements as a thread of a team has at least, if the row has so many.
const EACH: u64 = 8;

/// How elements of rows are shared among threads: see [`Path`](livefusion_tile::threads::path::Path).
#[derive(Debug)]
pub(crate) struct Elements {
    /// What their counter starts with, if it goes on from row to row.
    pub start: Option<Word>,
    /// Where that counter is in the frame.
    pub counter: Option<usize>,
    /// How many each row has, if they are equally many.
    pub length: Option<Word>,
    /// Whether rows have an end of their own.
    pub ends: bool,
    /// Which word of the result of the kernel that finds where rows lie is that counter, if it is not the last one that says
    /// how many there are.
    pub counted: Option<usize>,
}

/// What kernels are given.
pub(crate) struct Params {
    /// Word by word.
    pub words: Vec<u64>,
    /// How many elements the longest array has that was there before.
    pub longest: u64,
    /// How many threads a row has.
    pub team: u64,
    /// Memory that is among these.
    pub _rooms: Vec<Box<dyn Room>>,
}

/// The rows of a loop on a device.
pub(crate) struct Rows<'a> {
    pub kernel: &'a Kernel,
    pub elements: Option<&'a Elements>,
    pub device: &'a dyn Device,
    pub params: Params,
    /// The counter of the first row.
    pub first: u64,
    /// How many there are.
    pub rows: u64,
}

/// What became of them.
pub(crate) struct Found<'a> {
    /// The kernel that ran them.
    pub kernel: &'a Kernel,
    pub result: Vec<u64>,
    /// What a counter comes to that goes on from row to row, and where it is in the frame.
    pub counter: Option<(usize, u64)>,
}

impl<'a> Rows<'a> {
    /// Runs them all; none if something trapped.
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

    /// A kernel finds where rows lie, and behind it threads share their elements: how many there are, the second one finds in
    /// memory. They are at most as many as the longest array has, mostly; where they are more, it does nothing, and is
    /// launched again.
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
            // Behind where the loop is left nothing does.
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

    /// Threads share so many elements.
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

/// How many threads a row has where a team has it: each has some elements, whose reads need not wait for each other. How long
/// rows are nobody knows before: some array has an element for each of theirs. More than a warp wait for each other in each
/// pass, which only long rows are worth.
pub(crate) fn team_for(length: u64, block: u64) -> u64 {
    match length {
        LONG.. => block,
        _ => (length / EACH).next_power_of_two().min(32).min(block),
    }
}

pub(crate) fn too_many() -> Fault {
    Fault::Refused("more elements than can be counted".into())
}
