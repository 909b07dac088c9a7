//! Blocks: the places of units, found by all threads together.
//!
//! A block is some iterations of the root. Threads [count](Surveyed::count) blocks at once. Under
//! the lock, counts are only added in order. A unit is then a block, if it begins with a segment. If
//! it begins at some step, its thread walks there from the beginning of the block with that step.
//!
//! A loop that cannot be counted is walked over by one thread at a time, while others work.

use super::super::restart::Found;
use super::super::survey::{BlockGrowth, BlockPlace, OfLoop, Surveyed};
use super::{Board, WorkUnit};
use crate::runtime::sync::{Ordering, lock};
use livefusion_backend::{Frame, Outcome, Pass};
use std::collections::VecDeque;

/// How many times as many iterations a block may have as one before it.
const LONGER: u64 = 16;
/// Units of a block in which lengths in memory lead to units. Each block costs time under the lock.
const UNITS: u64 = 2;

/// Holds the known places of units.
pub struct UnitPlaces<'a> {
    /// Where known blocks begin, and where the last one ends. The next unit begins in the first.
    known: VecDeque<KnownPlace>,
    /// The iterations that no block has yet.
    left: (u64, u64),
    /// The iterations of the next block.
    stride: u64,
    /// Number of blocks given out.
    blocks: usize,
    stages: Vec<CountStage>,
    /// The frame at the end of the known blocks, if no thread walks.
    pub frame: Option<Box<Frame<'a>>>,
    /// Why nothing is behind the known blocks.
    end: Option<Outcome>,
}

/// Describes a known place.
#[derive(Clone)]
pub enum KnownPlace {
    Counted(BlockPlace),
    /// The words there.
    Walked(Vec<u64>),
}

/// Counts of some inner loops, added in order.
struct CountStage {
    /// Blocks whose earlier counts are known.
    waiting: VecDeque<Block>,
    /// Counted blocks behind the first one that is not.
    counted: VecDeque<Option<(Block, BlockCounts)>>,
    /// Blocks added so far.
    at: usize,
    /// The place behind them, with the counts of this stage.
    place: BlockPlace,
}

/// Iterations of the root to be counted.
pub struct Block {
    k: usize,
    stage: usize,
    /// Its beginning, with the counts of earlier stages.
    place: BlockPlace,
    /// The iteration behind it.
    to: u64,
}

/// The counts of a block, in parts that are not too long.
struct BlockCounts {
    parts: Vec<BlockGrowth>,
    /// Why the last part is not the end of the block.
    end: Option<Outcome>,
}

/// Lists the kinds of claimed work.
pub enum Claim<'a> {
    Unit(WorkUnit),
    /// A block to be counted.
    Count(Block),
    /// The frame at the end of the known units, to walk over the next one.
    Walk(Box<Frame<'a>>),
    /// Other threads find the next unit.
    Later,
    Nothing,
}

impl KnownPlace {
    fn step(&self) -> u64 {
        match self {
            KnownPlace::Counted(place) => place.step,
            KnownPlace::Walked(words) => words[1],
        }
    }

    fn iteration(&self) -> u64 {
        match self {
            KnownPlace::Counted(place) => place.iteration,
            KnownPlace::Walked(_) => 0,
        }
    }
}

impl<'a> UnitPlaces<'a> {
    /// Creates the places of a loop from its first words and its bound.
    pub fn new(
        words: &[u64],
        survey: Option<(&Surveyed, u64)>,
        unit: u64,
        frame: Frame<'a>,
    ) -> UnitPlaces<'a> {
        let Some((survey, bound)) = survey else {
            return UnitPlaces {
                known: VecDeque::from([KnownPlace::Walked(words.to_vec())]),
                left: (0, 0),
                stride: 0,
                blocks: 0,
                stages: Vec::new(),
                frame: Some(Box::new(frame)),
                end: None,
            };
        };
        let place = survey.place(words);
        let stage = |_| CountStage {
            waiting: VecDeque::new(),
            counted: VecDeque::new(),
            at: 0,
            place,
        };
        let pace = place.step / place.iteration.max(1);
        UnitPlaces {
            known: VecDeque::from([KnownPlace::Counted(place)]),
            // The last iteration ends behind its last unit.
            left: (place.iteration, bound.saturating_sub(1)),
            stride: (unit / pace.max(1)).max(1),
            blocks: 0,
            stages: (0..survey.stages).map(stage).collect(),
            frame: Some(Box::new(frame)),
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
        let Some(last) = self.stages.last() else {
            return self.frame.take().map_or(Claim::Later, Claim::Walk);
        };
        let pending = last.at < self.blocks;
        let waiting = self.stages.iter_mut().rev();
        if let Some(block) = waiting.filter_map(|s| s.waiting.pop_front()).next() {
            return Claim::Count(block);
        }
        let (from, to) = self.left;
        if from >= to {
            return match pending {
                true => Claim::Later,
                false => Claim::Nothing,
            };
        }
        self.left.0 = to.min(from.saturating_add(self.stride));
        self.blocks += 1;
        Claim::Count(Block {
            k: self.blocks - 1,
            stage: 0,
            place: match self.blocks {
                1 => self.stages[0].place,
                _ => Surveyed::before(from),
            },
            to: self.left.0,
        })
    }
}

impl<'a> Board<'a> {
    /// Returns how blocks are counted, if their units begin at any step.
    fn cut_anywhere(&self) -> Option<&'a Surveyed> {
        self.survey.filter(|_| self.restart.is_none())
    }

    fn counted_loop(&self) -> OfLoop<'_> {
        (self.shape, self.kernel, self.args, &self.base)
    }

    /// Returns the step with which unit `k` begins, if units begin at any step.
    fn step(&self, k: usize) -> u64 {
        self.base[1] + k as u64 * self.unit
    }

    /// Claims the unit `k` if its place is known, or a part of the search for it.
    pub(super) fn claim_place(&self, places: &mut UnitPlaces<'a>, mut unit: WorkUnit) -> Claim<'a> {
        let needs_end = !self.shape.limited.is_empty();
        let known = &mut places.known;
        let near = |known: &VecDeque<KnownPlace>, at: usize| {
            let end = known.get(at + 1).map_or(0, KnownPlace::iteration);
            Some((known[at].clone(), end))
        };
        if self.cut_anywhere().is_some() {
            let (from, to) = (self.step(unit.k), self.step(unit.k + 1));
            // The step before it leads to the guard where units end.
            while known.get(1).is_some_and(|next| next.step() < from) {
                known.pop_front();
            }
            if known.back().is_none_or(|end| end.step() < to) {
                return places.search();
            }
            unit.begin = near(known, 0);
            if needs_end {
                let behind = known.partition_point(|place| place.step() < to);
                unit.limit = near(known, behind.saturating_sub(1));
            }
        } else {
            if known.len() < 2 {
                return places.search();
            }
            let begin = known.pop_front();
            unit.steps = known[0].step() - begin.as_ref().map_or(0, KnownPlace::step);
            unit.begin = begin.map(|begin| (begin, 0));
            if needs_end {
                unit.limit = near(known, 0);
            }
        }
        Claim::Unit(unit)
    }

    /// Finds the words at a unit's beginning, and at a required end.
    ///
    /// Returns false if the pass that finds places does not get there.
    pub fn locate(&self, unit: &mut WorkUnit, frame: &mut Frame<'_>) -> bool {
        let both = [
            (unit.begin.take(), unit.k, &mut unit.words),
            (unit.limit.take(), unit.k + 1, &mut unit.end),
        ];
        for (near, k, words) in both {
            if let Some(near) = near {
                match self.walk_to(near, k, frame) {
                    Some(there) => *words = there,
                    None => return false,
                }
            }
        }
        true
    }

    /// Returns the words at the beginning of unit `k`, the first that was not claimed.
    pub(super) fn next_place(&self, places: &mut UnitPlaces<'a>, k: usize) -> Option<Vec<u64>> {
        let known = &places.known;
        let at = match self.cut_anywhere() {
            Some(_) => known.partition_point(|place| place.step() < self.step(k)),
            None => 0,
        };
        let at = at.saturating_sub(1);
        let end = known.get(at + 1).map_or(0, KnownPlace::iteration);
        let near = (known.get(at)?.clone(), end);
        let frame = places.frame.as_mut()?;
        frame.words = self.walk_to(near, k, frame)?.into();
        self.enter(frame);
        Some(frame.words.to_vec())
    }

    /// Finds the words at the beginning of unit `k`, behind a place and before some iteration.
    fn walk_to(
        &self,
        (near, to): (KnownPlace, u64),
        k: usize,
        frame: &mut Frame<'_>,
    ) -> Option<Vec<u64>> {
        let place = match near {
            KnownPlace::Walked(words) => return Some(words),
            KnownPlace::Counted(place) => place,
        };
        let survey = self.survey?;
        if self.restart.is_some() {
            return Some(survey.words(&self.base, &place));
        }
        let near = survey.seek((self.counted_loop(), &self.limits), place, to, self.step(k));
        let words = survey.words(&self.base, &near);
        frame.words.copy_from_slice(&words);
        let steps = self.step(k) - near.step;
        let is_there = steps == 0 || self.pass_over(steps, frame) == Outcome::Paused;
        is_there.then(|| frame.words.to_vec())
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
    pub fn count(&self, block: Block, frame: &mut Frame<'_>) {
        let Some(survey) = self.survey else {
            return;
        };
        let is_last = block.stage + 1 == survey.stages;
        let most = match self.restart {
            Some(_) if is_last => self.longest,
            _ => u64::MAX,
        };
        let mut parts = Vec::with_capacity(1);
        let at = (block.place, block.stage);
        let counted = self.count_parts(survey, at, block.to, most, frame, &mut parts);
        let steps: u64 = parts.iter().map(|part| part.steps).sum();
        let iterations = block.to - block.place.iteration;
        let counts = BlockCounts {
            parts,
            end: counted.err(),
        };
        let places = &mut lock(&self.claims).places;
        if is_last && counts.end.is_none() {
            let units = match self.cut_anywhere().is_some_and(Surveyed::is_in_memory) {
                true => UNITS,
                false => 1,
            };
            let aim = u128::from(units) * u128::from(self.unit);
            let better = u128::from(iterations) * aim / u128::from(steps.max(1));
            let better = u64::try_from(better).unwrap_or(u64::MAX);
            places.stride = better.clamp(1, LONGER.saturating_mul(iterations));
        }
        self.add(survey, places, block, counts);
        self.news.fetch_add(1, Ordering::Release);
    }

    /// Counts a block in parts that are not too long, and returns the place behind it.
    fn count_parts(
        &self,
        survey: &Surveyed,
        (place, stage): (BlockPlace, usize),
        to: u64,
        most: u64,
        frame: &mut Frame<'_>,
        parts: &mut Vec<BlockGrowth>,
    ) -> Result<BlockPlace, Outcome> {
        let of = self.counted_loop();
        match survey.count(of, (&place, stage), to, most, frame) {
            Ok(part) => {
                let after = survey.after(&self.limits, (&place, stage), part);
                parts.push(part);
                after.ok_or(Outcome::Done)
            }
            Err(Outcome::Paused) if to - place.iteration > 1 => {
                let middle = place.iteration + (to - place.iteration) / 2;
                let place = (place, stage);
                let place = self.count_parts(survey, place, middle, most, frame, parts)?;
                self.count_parts(survey, (place, stage), to, most, frame, parts)
            }
            Err(outcome) => Err(outcome),
        }
    }

    /// Adds the counts of a block, and of blocks that waited for it.
    fn add(
        &self,
        survey: &Surveyed,
        places: &mut UnitPlaces<'a>,
        block: Block,
        counts: BlockCounts,
    ) {
        let s = block.stage;
        let (stages, later) = places.stages.split_at_mut(s + 1);
        let stage = &mut stages[s];
        let gap = block.k - stage.at;
        while stage.counted.len() <= gap {
            stage.counted.push_back(None);
        }
        stage.counted[gap] = Some((block, counts));
        while let Some((mut block, counts)) = stage.counted.front_mut().and_then(Option::take) {
            stage.counted.pop_front();
            stage.at += 1;
            if block.k > 0 {
                survey.complete(s, &stage.place, &mut block.place);
            }
            stage.place = block.place;
            let mut end = counts.end;
            for part in counts.parts {
                let Some(after) = survey.after(&self.limits, (&stage.place, s), part) else {
                    end = Some(Outcome::Done);
                    break;
                };
                if later.is_empty() && places.end.is_none() {
                    places.known.push_back(KnownPlace::Counted(after));
                }
                stage.place = after;
            }
            if end.is_some() {
                places.end = places.end.take().or(end);
            } else if let Some(next) = later.first_mut() {
                block.stage += 1;
                next.waiting.push_back(block);
            }
        }
    }

    /// Finds the end of the next unit by a pass, then returns the frame.
    pub fn walk(&self, mut frame: Box<Frame<'a>>) {
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
            None => places
                .known
                .push_back(KnownPlace::Walked(frame.words.to_vec())),
            Some(_) => frame.words = begin.into(),
        }
        (places.end, places.frame) = (end, Some(frame));
        self.news.fetch_add(1, Ordering::Release);
    }

    /// Takes a frame with the words of a unit to the unit's beginning.
    ///
    /// Returns false if it cannot be reached.
    pub fn enter(&self, frame: &mut Frame<'_>) -> bool {
        match self.restart.zip(self.survey) {
            Some((restart, survey)) => survey.enter(self.counted_loop(), restart, frame),
            None => true,
        }
    }
}
