//! Blocks: the places of units, found by all threads together.
//!
//! A block is some iterations of the root. Threads [count](Surveyed::count) blocks at once. Under
//! the lock, counts are only added in order. A unit is then a block, if it begins with a segment. If
//! it begins at some step, its thread walks there from the beginning of the block with that step.
//!
//! A loop that cannot be counted is walked over by one thread at a time, while others work.

use super::super::restart::Found;
use super::super::survey::{BlockGrowth, Iterations, Surveyed};
use super::{Board, WorkUnit};
use crate::runtime::sync::lock;
use livefusion_backend::{Frame, Outcome, Pass};
use std::collections::{BTreeMap, VecDeque};

/// How many times as many iterations a block may have as one before it.
const LONGER: u64 = 16;

/// The places of units, as far as they are known.
pub struct Places<'a> {
    /// The words where known blocks begin, and where the last one ends. The first block has the
    /// beginning of the next unit.
    pub known: VecDeque<Vec<u64>>,
    /// The iterations that no block has yet.
    left: Iterations,
    /// The iterations of the next block.
    stride: u64,
    /// Number of blocks given out.
    blocks: usize,
    stages: Vec<Stage>,
    /// The frame at the end of the known blocks, if no thread walks.
    pub frame: Option<Frame<'a>>,
    /// Why nothing is behind the known blocks.
    end: Option<Outcome>,
}

/// Counts of some inner loops, added in order.
struct Stage {
    /// Blocks whose earlier counts are known.
    waiting: VecDeque<Block>,
    /// Counted blocks that wait for earlier ones.
    counted: BTreeMap<usize, (Block, BlockCounts)>,
    /// Blocks added so far.
    at: usize,
    /// The words behind them, with the counts of this stage.
    words: Vec<u64>,
}

/// Iterations of the root to be counted.
pub struct Block {
    k: usize,
    iterations: Iterations,
    stage: usize,
    /// The words at its beginning, with the counts of earlier stages.
    words: Vec<u64>,
}

/// The counts of a block, in parts that are not too long.
struct BlockCounts {
    parts: Vec<BlockGrowth>,
    /// Why the last part is not the end of the block.
    end: Option<Outcome>,
}

/// The work that a thread claims.
pub enum Claim<'a> {
    Unit(WorkUnit),
    /// A block to be counted.
    Count(Block),
    /// The frame at the end of the known units, to walk over the next one.
    Walk(Frame<'a>),
    /// Other threads find the next unit.
    Later,
    Nothing,
}

impl<'a> Places<'a> {
    /// Creates the places of a loop that begins at some words.
    pub fn new(
        words: &[u64],
        survey: Option<(&Surveyed, Iterations)>,
        unit: u64,
        frame: Frame<'a>,
    ) -> Places<'a> {
        let stage = |_| Stage {
            waiting: VecDeque::new(),
            counted: BTreeMap::new(),
            at: 0,
            words: words.to_vec(),
        };
        let done = survey.map_or(0, |(s, _)| s.iteration(words));
        let pace = words[1] / done.max(1);
        Places {
            known: VecDeque::from([words.to_vec()]),
            left: survey.map_or(Iterations { from: 0, to: 0 }, |(_, all)| all),
            stride: (unit / pace.max(1)).max(1),
            blocks: 0,
            stages: (0..survey.map_or(0, |(s, _)| s.stages))
                .map(stage)
                .collect(),
            frame: Some(frame),
            end: None,
        }
    }

    /// Tells whether a segment was too long for a block.
    pub fn is_too_long(&self) -> bool {
        self.end == Some(Outcome::Paused)
    }

    /// Claims a part of the search for the next unit.
    fn search(&mut self) -> Claim<'a> {
        if self.end.is_some() {
            return Claim::Nothing;
        }
        let waiting = self.stages.iter_mut().rev();
        if let Some(block) = waiting.filter_map(|s| s.waiting.pop_front()).next() {
            return Claim::Count(block);
        }
        let Some(last) = self.stages.last() else {
            return self.frame.take().map_or(Claim::Later, Claim::Walk);
        };
        let Iterations { from, to } = self.left;
        if from >= to {
            return match last.at < self.blocks {
                true => Claim::Later,
                false => Claim::Nothing,
            };
        }
        self.left.from = to.min(from.saturating_add(self.stride));
        self.blocks += 1;
        Claim::Count(Block {
            k: self.blocks - 1,
            iterations: Iterations {
                from,
                to: self.left.from,
            },
            stage: 0,
            words: Vec::new(),
        })
    }
}

impl<'a> Board<'a> {
    /// Returns how blocks are counted, if their units begin at any step.
    fn cut_anywhere(&self) -> Option<&'a Surveyed> {
        self.survey.filter(|_| self.restart.is_none())
    }

    /// Claims the unit `k` if its place is known, or a part of the search for it.
    pub(super) fn claim_place(&self, places: &mut Places<'a>, mut unit: WorkUnit) -> Claim<'a> {
        let needs_end = !self.shape.limited.is_empty();
        let known = &mut places.known;
        if let Some(survey) = self.cut_anywhere() {
            let (from, to) = (self.step(unit.k), self.step(unit.k + 1));
            // The step before it leads to the guard where units end.
            while known.get(1).is_some_and(|next| next[1] < from) {
                known.pop_front();
            }
            if known.back().is_none_or(|end| end[1] < to) {
                return places.search();
            }
            let block = |at: usize| {
                let end = known.get(at + 1).unwrap_or(&known[at]);
                (known[at].clone(), survey.iteration(end))
            };
            let (words, end) = block(0);
            (unit.words, unit.within.0) = (words, end);
            if needs_end {
                let before = |words: &Vec<u64>| words[1] < to;
                let at = known.partition_point(before).saturating_sub(1);
                (unit.end, unit.within.1) = block(at);
            }
        } else {
            if known.len() < 2 {
                return places.search();
            }
            unit.words = known.pop_front().unwrap_or_default();
            unit.steps = known[0][1] - unit.words[1];
            if needs_end {
                unit.end.clone_from(&known[0]);
            }
        }
        Claim::Unit(unit)
    }

    /// Returns the words at the beginning of unit `k`, the first that was not claimed.
    pub(super) fn next_place(&self, places: &mut Places<'a>, k: usize) -> Vec<u64> {
        let mut words = places.known.front().cloned().unwrap_or_default();
        let Some(frame) = &mut places.frame else {
            return words;
        };
        match self.cut_anywhere() {
            Some(survey) => {
                let at = places
                    .known
                    .partition_point(|words| words[1] < self.step(k));
                if at > 0 {
                    words.clone_from(&places.known[at - 1]);
                }
                let end = places.known.get(at).map_or(0, |end| survey.iteration(end));
                self.walk_to(survey, &mut words, (end, self.step(k)), frame);
            }
            None => {
                frame.words = words.into();
                self.enter(frame);
                words = frame.words.to_vec();
            }
        }
        words
    }

    /// Returns the step with which unit `k` begins, if units begin at any step.
    fn step(&self, k: usize) -> u64 {
        self.base[1] + k as u64 * self.unit
    }

    /// Walks from the beginning of a block with some iterations to a step.
    ///
    /// Returns false if the pass that finds places does not get there.
    fn walk_to(
        &self,
        survey: &Surveyed,
        words: &mut Vec<u64>,
        (end, step): (u64, u64),
        frame: &mut Frame<'_>,
    ) -> bool {
        let of = (&self.shape.plan.program, self.args);
        let near = survey.seek(of, std::mem::take(words), end, step);
        frame.words.copy_from_slice(&near);
        let steps = step - near[1];
        let is_there = steps == 0 || self.pass_over(steps, frame) == Outcome::Paused;
        *words = frame.words.to_vec();
        is_there
    }

    /// Walks to a unit's beginning, and to its end if that is needed.
    ///
    /// Returns false if the pass that finds places does not get there.
    pub fn locate(&self, unit: &mut WorkUnit, frame: &mut Frame<'_>) -> bool {
        let Some(survey) = self.cut_anywhere() else {
            return true;
        };
        let (begin, end) = unit.within;
        let (begin, end) = ((begin, self.step(unit.k)), (end, self.step(unit.k + 1)));
        self.walk_to(survey, &mut unit.words, begin, frame)
            && (unit.end.is_empty() || self.walk_to(survey, &mut unit.end, end, frame))
    }

    /// Runs a frame on by the pass that computes nothing but places.
    fn pass_over(&self, steps: u64, frame: &mut Frame<'_>) -> Outcome {
        let level = self.shape.plan.place_level;
        super::super::run(
            self.kernel,
            Pass::Summary { level },
            steps,
            frame,
            self.args,
        )
    }

    /// Counts a block, and adds up the counts of blocks without a gap.
    pub fn count(&self, mut block: Block, frame: &mut Frame<'_>) {
        let Some(survey) = self.survey else {
            return;
        };
        let (stage, iterations) = (block.stage, block.iterations);
        if stage == 0 {
            block.words.clone_from(&self.base);
            if block.k > 0 {
                survey.at_guard(&mut block.words, iterations.from);
            }
        }
        let is_last = stage + 1 == survey.stages;
        let most = match self.restart {
            Some(_) if is_last => self.longest,
            _ => u64::MAX,
        };
        let mut parts = Vec::new();
        let words = block.words.clone();
        let counted = self.count_parts((words, stage), iterations, most, frame, &mut parts);
        let steps: u64 = parts.iter().map(|part| part.steps).sum();
        let counts = BlockCounts {
            parts,
            end: counted.err(),
        };
        let places = &mut lock(&self.claims).places;
        if is_last && counts.end.is_none() {
            let stride = u128::from(iterations.to - iterations.from);
            let better = stride * u128::from(self.unit) / u128::from(steps.max(1));
            let better = u64::try_from(better).unwrap_or(u64::MAX);
            places.stride = better.clamp(1, LONGER.saturating_mul(iterations.to - iterations.from));
        }
        self.add(survey, places, block, counts);
    }

    /// Counts a block in parts that are not too long, and returns the words behind it.
    fn count_parts(
        &self,
        (words, stage): (Vec<u64>, usize),
        block: Iterations,
        most: u64,
        frame: &mut Frame<'_>,
        parts: &mut Vec<BlockGrowth>,
    ) -> Result<Vec<u64>, Outcome> {
        let Some(survey) = self.survey else {
            return Ok(words);
        };
        let of = (self.shape, self.kernel, self.args);
        match survey.count(of, (&words, stage), block, most, frame) {
            Ok(part) => {
                let of = (&self.shape.plan.program, self.args);
                let after = survey.after(of, (&words, stage), &part);
                parts.push(part);
                after.ok_or(Outcome::Done)
            }
            Err(Outcome::Paused) if block.to - block.from > 1 => {
                let Iterations { from, to } = block;
                let middle = from + (to - from) / 2;
                let first = Iterations { from, to: middle };
                let second = Iterations { from: middle, to };
                let words = self.count_parts((words, stage), first, most, frame, parts)?;
                self.count_parts((words, stage), second, most, frame, parts)
            }
            Err(outcome) => Err(outcome),
        }
    }

    /// Adds the counts of a block, and of blocks that waited for it.
    fn add(&self, survey: &Surveyed, places: &mut Places<'a>, block: Block, counts: BlockCounts) {
        let of = (&self.shape.plan.program, self.args);
        let s = block.stage;
        let (stages, later) = places.stages.split_at_mut(s + 1);
        let stage = &mut stages[s];
        stage.counted.insert(block.k, (block, counts));
        while let Some((mut block, counts)) = stage.counted.remove(&stage.at) {
            stage.at += 1;
            if block.k > 0 {
                survey.complete(s, &stage.words, &mut block.words);
            }
            stage.words.clone_from(&block.words);
            let mut end = counts.end;
            for part in &counts.parts {
                let Some(after) = survey.after(of, (&stage.words, s), part) else {
                    end = Some(Outcome::Done);
                    break;
                };
                if later.is_empty() && places.end.is_none() {
                    places.known.push_back(after.clone());
                }
                stage.words = after;
            }
            if end.is_some() {
                places.end = places.end.take().or(end);
            } else if let Some(next) = later.first_mut() {
                block.stage += 1;
                next.waiting.push_back(block);
            }
        }
    }

    /// Finds the end of the next unit by a pass over it, and gives the frame back.
    pub fn walk(&self, mut frame: Frame<'a>) {
        let begin = frame.words.to_vec();
        let mut end = match self.pass_over(self.unit, &mut frame) {
            Outcome::Paused => None,
            _ => Some(Outcome::Done),
        };
        if let (None, Some(restart)) = (&end, self.restart) {
            let of = (&self.shape.plan.program, self.args);
            let mut run = |steps, frame: &mut Frame<'_>| self.pass_over(steps, frame);
            match restart.find(of, self.longest, &mut frame, &mut run) {
                Found::Beginning => {
                    restart.begin(self.shape, self.kernel, &mut frame.words, self.args);
                }
                Found::Far => end = Some(Outcome::Paused),
                Found::Ended(_) => end = Some(Outcome::Done),
            }
        }
        let places = &mut lock(&self.claims).places;
        match end {
            None => places.known.push_back(frame.words.to_vec()),
            Some(_) => frame.words = begin.into(),
        }
        (places.end, places.frame) = (end, Some(frame));
    }

    /// Takes a frame with the words of a unit to the unit's beginning.
    ///
    /// Returns false if it cannot be reached.
    pub fn enter(&self, frame: &mut Frame<'_>) -> bool {
        match self.restart.zip(self.survey) {
            Some((restart, survey)) => {
                survey.enter((self.shape, self.kernel, self.args), restart, frame)
            }
            None => true,
        }
    }
}
