//! Chunks on a grid: positions, summaries and results, in random order.

use super::Tally;
use crate::rng::Rng;
use crate::scalar::{same, show};
use livefusion_backend::kernel::known_word;
use livefusion_backend::{Arg, Buffer, Frame, Kernel, Memory, Outcome, Pass};
use loop_lang::chunkable::{AtChunkEnd, ChunkPlan};
use loop_lang::ir::GroupId;
use loop_lang::state::{DONE, Layout};
use loop_lang::types::{Ty, canonical};

/// Holds a loop and its arguments.
pub struct Grid<'a> {
    plan: &'a ChunkPlan,
    kernel: &'a dyn Kernel,
    chunk: u64,
    args: &'a [Arg<'a>],
    /// Slots of scratch arrays, with element types and lengths.
    scratch: Vec<(usize, Ty, usize)>,
}

/// The outcome of a chunk, and its words at the end.
type Emitted = (Outcome, Vec<u64>);

/// The reason why chunks stop.
enum Stop {
    /// A trap, which a run in order locates.
    Trapped,
    /// Any other reason, which is a fault.
    Fault(String),
}

impl<'a> Grid<'a> {
    pub fn new(
        plan: &'a ChunkPlan,
        kernel: &'a dyn Kernel,
        chunk: u64,
        args: &'a [Arg<'a>],
    ) -> Self {
        Grid {
            plan,
            kernel,
            chunk,
            args,
            scratch: Vec::new(),
        }
    }

    /// Runs the loop from a fresh frame.
    pub fn run(
        mut self,
        frame: &mut Frame<'_>,
        rng: &mut Rng,
        tally: &mut Tally,
    ) -> Result<Outcome, String> {
        let memory = frame.memory;
        match self.kernel.run(Pass::Emit, 0, frame, self.args) {
            Outcome::Paused => {}
            ended => return Ok(ended),
        }
        let scratch = self.layout().scratch.iter();
        let held = scratch.filter_map(|slot| Some((*slot, frame.arrays[*slot].as_ref()?)));
        self.scratch = held.map(|(slot, a)| (slot, a.ty(), a.len())).collect();
        match self.chunks(frame, rng, tally) {
            Ok(outcome) => Ok(outcome),
            Err(Stop::Fault(why)) => Err(why),
            Err(Stop::Trapped) => {
                tally.trapped += 1;
                self.again(frame, memory)
            }
        }
    }

    /// Runs in order from the beginning, to find the first trap.
    fn again(&self, frame: &mut Frame<'_>, memory: Memory) -> Result<Outcome, String> {
        *frame = Frame::new(self.layout());
        frame.memory = memory;
        match self.kernel.run(Pass::Emit, u64::MAX, frame, self.args) {
            Outcome::Trapped(report) => Ok(Outcome::Trapped(report)),
            other => Err(format!("a chunk trapped, the loop does not: {other:?}")),
        }
    }

    fn layout(&self) -> &'a Layout {
        self.kernel.layout()
    }

    fn chunks(
        &self,
        frame: &mut Frame<'_>,
        rng: &mut Rng,
        tally: &mut Tally,
    ) -> Result<Outcome, Stop> {
        let mut starts = self.places(&frame.words)?;
        let chunks = starts.len() - 1;
        match chunks {
            0..3 => tally.short += 1,
            _ => tally.count(self.plan),
        }
        let at = starts[1..chunks]
            .iter()
            .filter_map(|w| self.plan.at(self.layout(), w));
        tally.within += at.filter(|r| self.plan.is_inner(*r)).count();
        for level in &self.plan.levels {
            let sums = self.sums(&starts, *level, rng)?;
            self.prefixes(&mut starts, &sums, *level, tally)?;
        }
        self.emit(&starts, frame, rng)
    }

    /// The words at each chunk's start, limited to groups that decide positions, and the words at
    /// the loop's end.
    fn places(&self, first: &[u64]) -> Result<Vec<Vec<u64>>, Stop> {
        let mut starts = vec![first.to_vec()];
        let mut frame = self.frame(first);
        let level = self.plan.place_level;
        loop {
            let mut outcome = self.sum_up(level, self.chunk, &mut frame)?;
            let mut begins = !self.plan.begins_with_root;
            while outcome == Outcome::Paused && !begins {
                let before = frame.words.clone();
                outcome = self.sum_up(level, 1, &mut frame)?;
                let layout = self.layout();
                let again = self
                    .plan
                    .same_outer_iteration(layout, &before, &frame.words);
                begins = !again && self.plan.at(layout, &frame.words) == self.plan.first_loop;
            }
            starts.push(frame.words.to_vec());
            if outcome != Outcome::Paused {
                return Ok(starts);
            }
        }
    }

    /// A frame with these words, and scratch arrays with arbitrary contents.
    fn frame(&self, words: &[u64]) -> Frame<'static> {
        let mut frame = Frame::new(self.layout());
        frame.words.copy_from_slice(words);
        for (slot, ty, len) in &self.scratch {
            let mut array = Buffer::zeroed(*ty, *len).expect("there is memory");
            (0..*len).for_each(|i| {
                array.set_word(i, canonical(*ty, 0x5555));
            });
            frame.arrays[*slot] = Some(array.into());
        }
        frame
    }

    /// The number of steps of a chunk.
    fn steps(starts: &[Vec<u64>], k: usize) -> u64 {
        match k + 2 == starts.len() {
            true => u64::MAX,
            false => starts[k + 1][1] - starts[k][1],
        }
    }

    /// Summarises `steps` steps from these words, and returns the words at their end.
    fn summary(&self, level: u32, words: &[u64], steps: u64) -> Result<Emitted, Stop> {
        let mut frame = self.frame(words);
        let outcome = self.sum_up(level, steps, &mut frame)?;
        Ok((outcome, frame.words.into_vec()))
    }

    /// Summarises `steps` steps of a frame.
    fn sum_up(&self, level: u32, steps: u64, frame: &mut Frame<'_>) -> Result<Outcome, Stop> {
        let pass = Pass::Summary { level };
        match self.kernel.run(pass, steps, frame, self.args) {
            Outcome::Trapped(_) => Err(Stop::Trapped),
            ended @ (Outcome::Paused | Outcome::Done | Outcome::Exited) => Ok(ended),
            other => Err(fault(format!(
                "a summary of level {level} ended so: {other:?}"
            ))),
        }
    }

    /// Summarises every chunk on its own, in random order. The groups of the level start as
    /// identities. `None` where the unknown start makes the chunk trap.
    fn sums(
        &self,
        starts: &[Vec<u64>],
        level: u32,
        rng: &mut Rng,
    ) -> Result<Vec<Option<Vec<u64>>>, Stop> {
        let chunks = starts.len() - 1;
        let mut sums = vec![None; chunks];
        let mut order: Vec<usize> = (0..chunks).collect();
        rng.shuffle(&mut order);
        for k in order {
            let mut words = starts[k].clone();
            for id in self.plan.groups(level) {
                self.plan.clear(self.layout(), id, &mut words, &|a| {
                    known_word(&self.plan.program, self.args, a)
                });
            }
            sums[k] = match self.summary(level, &words, Self::steps(starts, k)) {
                Ok((_, end)) => Some(end),
                Err(Stop::Trapped) => None,
                Err(fault) => return Err(fault),
            };
        }
        Ok(sums)
    }

    /// Combines summaries with prefixes from left to right, and updates the words at chunk starts
    /// to this level.
    fn prefixes(
        &self,
        starts: &mut [Vec<u64>],
        sums: &[Option<Vec<u64>>],
        level: u32,
        tally: &mut Tally,
    ) -> Result<(), Stop> {
        for (k, sum) in sums.iter().enumerate() {
            let (_, mut end) = self.summary(level, &starts[k], Self::steps(starts, k))?;
            self.same_place(k, &starts[k + 1], &end)?;
            for id in self.plan.groups(level) {
                let Some(value) = self.joined(id, (&starts[k], sum.as_deref(), &end), tally) else {
                    continue;
                };
                self.same_value(
                    &format!("the joined sums of level {level}"),
                    k,
                    id,
                    &end,
                    &value,
                )?;
                self.plan.set(self.layout(), id, &mut end, &value);
            }
            starts[k + 1] = end;
        }
        Ok(())
    }

    /// A group's value at the end of a chunk, from its prefix and summary. `None` if these do not
    /// determine it.
    fn joined(
        &self,
        id: GroupId,
        (start, sum, end): (&[u64], Option<&[u64]>, &[u64]),
        tally: &mut Tally,
    ) -> Option<Vec<u64>> {
        let (plan, layout) = (self.plan, self.layout());
        let part = plan.part(layout, id, start, end);
        match (part, sum) {
            (AtChunkEnd::Dead, _) => None,
            (AtChunkEnd::Bound, _) | (_, None) => {
                tally.bound += 1;
                None
            }
            (AtChunkEnd::Restarted, Some(sum)) => {
                tally.restarted += 1;
                Some(plan.value(layout, id, sum))
            }
            (AtChunkEnd::Joined, Some(sum)) => {
                tally.joined += 1;
                let prefix = plan.value(layout, id, start);
                Some(plan.join(id, &prefix, &plan.value(layout, id, sum)))
            }
        }
    }

    /// Checks that two passes over a chunk end at one position.
    fn same_place(&self, k: usize, a: &[u64], b: &[u64]) -> Result<(), Stop> {
        if a[..2] == b[..2] {
            return Ok(());
        }
        let (a, b) = (&a[..2], &b[..2]);
        Err(fault(format!(
            "chunk {k} ends at {a:?} in one pass and at {b:?} in another"
        )))
    }

    fn same_value(
        &self,
        what: &str,
        k: usize,
        id: GroupId,
        words: &[u64],
        value: &[u64],
    ) -> Result<(), Stop> {
        let program = &self.plan.program;
        let found = self.plan.value(self.layout(), id, words);
        for ((v, x), y) in self.plan.group(id).vars.iter().zip(value).zip(&found) {
            let ty = program.ty(*v).elem();
            if !same(ty, *x, *y) {
                let (name, x, y) = (program.name(*v), show(ty, *x), show(ty, *y));
                return Err(fault(format!(
                    "`{name}` at the end of chunk {k}: {what} give {x}, one pass from its \
                     beginning {y}"
                )));
            }
        }
        Ok(())
    }

    /// Emits every chunk from its prefix, in random order, and finally runs the loop's end.
    fn emit(
        &self,
        starts: &[Vec<u64>],
        frame: &mut Frame<'_>,
        rng: &mut Rng,
    ) -> Result<Outcome, Stop> {
        let last = starts.len() - 2;
        let mut order: Vec<usize> = (0..=last).collect();
        rng.shuffle(&mut order);
        if !self.pauses_at_end(&starts[last], &starts[last + 1])? {
            order.retain(|k| *k != last);
            order.push(last);
        }
        let mut end = None;
        for k in order {
            let steps = starts[k + 1][1] - starts[k][1];
            let (outcome, words) = self.emit_chunk(&starts[k], steps, frame)?;
            if k == last {
                end = Some((outcome, words));
            } else if outcome == Outcome::Paused {
                self.same_place(k, &starts[k + 1], &words)?;
                self.same_groups(k, &starts[k + 1], &words)?;
            } else {
                return Err(fault(format!("chunk {k} ended so: {outcome:?}")));
            }
        }
        let Some((outcome, words)) = end else {
            return Err(fault("no chunks".into()));
        };
        frame.words = words.into();
        if outcome != Outcome::Paused {
            return Ok(outcome);
        }
        match self.kernel.run(Pass::Emit, u64::MAX, frame, self.args) {
            Outcome::Trapped(_) => Err(Stop::Trapped),
            outcome if frame.words[..2] == [DONE, starts[last + 1][1]] => Ok(outcome),
            other => Err(fault(format!("the loop's end came to {other:?}"))),
        }
    }

    /// Emits `steps` steps from these words, into the arrays of the whole loop's frame.
    fn emit_chunk(
        &self,
        words: &[u64],
        steps: u64,
        whole: &mut Frame<'_>,
    ) -> Result<Emitted, Stop> {
        let before = std::mem::replace(&mut whole.words, words.into());
        // Thread-local arrays.
        for (slot, array) in self.frame(words).arrays.into_iter().enumerate() {
            if array.is_some() {
                whole.arrays[slot] = array;
            }
        }
        let outcome = self.kernel.run(Pass::Emit, steps, whole, self.args);
        let words = std::mem::replace(&mut whole.words, before);
        match outcome {
            Outcome::Trapped(_) => Err(Stop::Trapped),
            outcome => Ok((outcome, words.into_vec())),
        }
    }

    /// Whether the last chunk can pause before the loop's end. It cannot if it leaves the loop in
    /// its middle.
    fn pauses_at_end(&self, start: &[u64], end: &[u64]) -> Result<bool, Stop> {
        let mut frame = self.frame(start);
        let pass = Pass::Summary {
            level: self.plan.place_level,
        };
        let outcome = self
            .kernel
            .run(pass, end[1] - start[1], &mut frame, self.args);
        Ok(outcome == Outcome::Paused)
    }

    /// Checks that the emit form ends a chunk with the prefixes of the next one.
    fn same_groups(&self, k: usize, next: &[u64], words: &[u64]) -> Result<(), Stop> {
        let (plan, layout) = (self.plan, self.layout());
        for i in 0..plan.program.groups.len() {
            let id = GroupId::new(i);
            if plan.part(layout, id, words, next) != AtChunkEnd::Dead {
                let value = plan.value(layout, id, next);
                self.same_value("prefixes", k, id, words, &value)?;
            }
        }
        Ok(())
    }
}

fn fault(why: String) -> Stop {
    Stop::Fault(why)
}
