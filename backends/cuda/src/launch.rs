//! Which kernels of a loop are launched for its rows, the iterations of its root, and with what.

use crate::emit::{Given, Kernel, THREADS};
use crate::path::Path;
use crate::plan::Form;
use crate::run::{Device, Launch, Launched, Room};
use crate::shape::Shape;
use loop_lang::ir::{Atom, Var};

/// As many threads as are worth a launch whose threads wait for nobody: some on each processor of a device.
const ENOUGH: u64 = 1 << 16;

/// As many elements as a row has at least that a whole block works at.
const LONG: u64 = 2048;

/// The rows of a loop on a device.
pub struct Rows<'a> {
    /// The loop.
    pub shape: &'a Shape<'a>,
    /// Its kernel.
    pub kernel: &'a Kernel,
    /// Where it runs.
    pub device: &'a dyn Device,
    /// The counter of the first row.
    pub first: u64,
    /// How many there are.
    pub rows: u64,
    /// What scalars are as the rows begin.
    pub word: &'a dyn Fn(Atom) -> u64,
    /// The address and the length of each array that the kernel is given.
    pub arrays: Vec<(Var, [u64; 2])>,
}

impl Rows<'_> {
    /// Memory for the strips of all rows, where the loop has made room for one row. It takes the place of that.
    fn strips(&mut self) -> Result<Vec<Box<dyn Room>>, String> {
        let mut rooms = Vec::new();
        for (array, at) in &mut self.arrays {
            let strip = self.shape.handed.strips.get(array);
            if let Some(length) = strip.and_then(|s| s.length) {
                let all = self.rows.checked_mul((self.word)(length));
                let all = all.ok_or("more elements than can be counted")?;
                // Elements have at most a word.
                let room = self.device.room(all)?;
                *at = [room.address(), all];
                rooms.push(room);
            }
        }
        Ok(rooms)
    }

    /// Runs them all. What groups came to; none if something trapped.
    ///
    /// # Errors
    /// What went wrong with the device, in words.
    pub fn run(mut self) -> Result<Option<Vec<(Var, u64)>>, String> {
        let _strips = self.strips()?;
        let team = self.team();
        let Form::Path(path) = &self.shape.form else {
            return self
                .launch(self.kernel, self.rows, team, [0; 2])
                .map(|l| found(self.kernel, &l));
        };
        if let Some(length) = path.length {
            let length = (self.word)(length);
            return match &self.kernel.rows {
                Some(kernel) if self.rows.saturating_mul(team) >= ENOUGH => {
                    let launched = self.launch(kernel, self.rows, team, [0; 2])?;
                    Ok(found(kernel, &launched))
                }
                _ => self.share(path, self.rows.checked_mul(length), [0; 2]),
            };
        }
        let places = self
            .kernel
            .places
            .as_ref()
            .ok_or("no kernel finds where rows lie")?;
        let room = self.device.room(self.rows)?;
        let at = [room.address(), self.rows];
        let launched = self.launch(places, self.rows, 1, at)?;
        if launched.trapped {
            return Ok(None);
        }
        let start = if path.running {
            (self.word)(Atom::Var(path.counter))
        } else {
            0
        };
        let counted = groups(places, &launched).find(|(v, _)| path.running && *v == path.counter);
        // Where no counter goes on from row to row, elements are counted behind all else.
        let counted = counted.map(|(_, x)| x).or(launched.result.last().copied());
        self.share(path, counted.map(|x| x.wrapping_sub(start)), at)
    }

    /// Threads share so many elements.
    fn share(
        &self,
        path: &Path,
        elements: Option<u64>,
        places: [u64; 2],
    ) -> Result<Option<Vec<(Var, u64)>>, String> {
        let ends = if path.ends { self.rows } else { 0 };
        let elements = elements.ok_or("more elements than can be counted")?;
        let steps = elements
            .checked_add(ends)
            .ok_or("more steps than can be counted")?;
        let counted = path.running.then(|| {
            let start = (self.word)(Atom::Var(path.counter));
            (path.counter, start.wrapping_add(elements))
        });
        if steps == 0 {
            return Ok(Some(counted.into_iter().collect()));
        }
        let launched = self.launch(self.kernel, steps, 1, places)?;
        Ok(found(self.kernel, &launched).map(|mut found| {
            found.extend(counted);
            found
        }))
    }

    /// How many threads a row has where a team has it. How long rows are nobody knows before: some array has an element for
    /// each of theirs. More than a warp wait for each other in each pass, which only long rows are worth.
    fn team(&self) -> u64 {
        if !self.kernel.given.contains(&Given::Team) {
            return 1;
        }
        let longest = self.arrays.iter().map(|(_, [_, length])| *length).max();
        match longest.unwrap_or(0) / self.rows.max(1) {
            length @ 0..=32 => length.next_power_of_two(),
            33..LONG => 32,
            _ => u64::from(THREADS),
        }
    }

    fn launch(
        &self,
        kernel: &Kernel,
        steps: u64,
        team: u64,
        places: [u64; 2],
    ) -> Result<Launched, String> {
        let mut params = Vec::new();
        for given in &kernel.given {
            match given {
                Given::Scalar(v) | Given::Start(v) => params.push((self.word)(Atom::Var(*v))),
                Given::Array(v) => {
                    let array = self.arrays.iter().find(|(a, _)| a == v);
                    params.extend(array.ok_or("an array is missing")?.1);
                }
                Given::Places => params.extend(places),
                Given::Team => params.push(team),
            }
        }
        let launch = Launch {
            params: &params,
            first: self.first,
            steps,
            blocks: kernel.tiles(steps.saturating_mul(team)),
        };
        self.device.launch(kernel, launch)
    }
}

/// What groups came to; none if something trapped.
fn found(kernel: &Kernel, launched: &Launched) -> Option<Vec<(Var, u64)>> {
    (!launched.trapped).then(|| groups(kernel, launched).collect())
}

fn groups(kernel: &Kernel, launched: &Launched) -> impl Iterator<Item = (Var, u64)> {
    let mut from = 0;
    let levels = kernel.levels.iter().zip(&kernel.words);
    levels.flat_map(move |(vars, words)| {
        let level = launched.result.iter().skip(from);
        from += words;
        vars.iter().copied().zip(level.copied())
    })
}
