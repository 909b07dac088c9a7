//! Surveys: threads find the beginnings of blocks of iterations together.
//!
//! A thread counts the steps of a block alone. It adds up the lengths of the block's segments, or
//! subtracts two offsets, where these are in memory. Otherwise it runs the loop's pass that computes
//! nothing else. The sums of all earlier counts give the place where the block begins.
//!
//! Segments of segments are counted in [stages](loop_lang::chunkable::Survey::stages).

mod lengths;

use super::restart::Restart;
use super::shape::ChunkedLoop;
use crate::runtime::sync::copied;
use lengths::{rise, total};
use livefusion_backend::kernel::known_word;
use livefusion_backend::{Arg, Frame, Kernel, Outcome, Pass};
use loop_lang::Loop;
use loop_lang::chunkable::{ChunkPlan, SegmentLengths, Survey, survey};
use loop_lang::ir::{Atom, Param, ParamKind, Var};
use loop_lang::state::{DONE, Layout};
use loop_lang::types::{Const, Ty};

/// Limits the inner loops of a counted loop.
///
/// Places are small and copied under a lock.
pub const INNER: usize = 8;

/// Bytes of a length in memory.
const LENGTH: usize = 8;

/// Describes how the iterations of a loop are counted.
pub struct Surveyed {
    /// The position of the root's guard in frames.
    position: u64,
    /// The words of the root's counter.
    counter: Vec<usize>,
    /// The root's bound, and its word unless it is a parameter.
    bound: Atom,
    bound_word: Option<usize>,
    /// The inner loops. A loop comes after those around it.
    inner: Vec<InnerElements>,
    /// Number of stages.
    pub stages: usize,
    /// Whether the lengths of all segments are at hand.
    in_memory: bool,
    level: u32,
}

/// Describes how the elements of an inner loop are counted.
struct InnerElements {
    /// The words that count them, equal at the root's guard. None if the count begins anew.
    words: Vec<usize>,
    /// The most that they may count.
    limit: Option<WordOrLiteral>,
    /// The stage in which the elements can be counted.
    stage: usize,
    /// The loop around it, or none for the root.
    around: Option<usize>,
    /// The lengths of segments, if they are at hand.
    lengths: Option<StoredLengths>,
}

/// Lengths of segments that need not be computed.
enum StoredLengths {
    Same(WordOrLiteral),
    /// Elements of an argument.
    InMemory {
        /// The argument's number.
        arg: usize,
        /// The index of the first iteration's, or of the end of its segment.
        shift: WordOrLiteral,
        /// The index of the beginning, if elements are offsets.
        begin: Option<WordOrLiteral>,
    },
}

/// A value that no iteration changes, and its word unless it is known.
#[derive(Clone, Copy)]
struct WordOrLiteral(Atom, Option<usize>);

/// Describes a place between two blocks of iterations.
///
/// It may also be the beginning of all.
#[derive(Clone, Copy)]
pub struct BlockPlace {
    /// The next iteration.
    pub iteration: u64,
    /// The steps before it.
    pub step: u64,
    /// The elements before it by inner loop.
    elements: [u64; INNER],
}

/// Holds the steps and elements of a block.
#[derive(Clone, Copy)]
pub struct BlockGrowth {
    /// The iteration behind the block.
    to: u64,
    pub steps: u64,
    /// The elements by inner loop.
    elements: [u64; INNER],
}

/// Holds a loop with its kernel, its arguments and the first words.
pub type OfLoop<'l> = (&'l ChunkedLoop, &'l dyn Kernel, &'l [Arg<'l>], &'l [u64]);

impl Surveyed {
    /// Analyses a loop that [may be counted](survey).
    pub fn of(program: &Loop, layout: &Layout, plan: &ChunkPlan) -> Option<Surveyed> {
        let Survey {
            counter,
            bound,
            inner,
            stages,
            alone,
        } = survey(program)?;
        let words = |v: Var| {
            let held = layout.held.iter().filter(|h| h.0 == v).map(|h| h.1);
            layout.word(v).into_iter().chain(held).collect::<Vec<_>>()
        };
        let is_param = |p: &Param| p.kind == ParamKind::Scalar && p.var == bound;
        let bound_word = layout.word(bound);
        let known = bound_word.is_some() || program.params.iter().any(is_param);
        let position = layout
            .resume
            .iter()
            .position(|r| program.roots.contains(r))?;
        let value = |a: Atom| WordOrLiteral(a, a.var().and_then(|v| layout.word(v)));
        let arg = |array| program.params.iter().position(|p| p.var == array);
        let saved = |v: Var| layout.word(v).is_some();
        let saved = known && inner.iter().filter_map(|i| i.counter).all(saved);
        let inner = inner.into_iter().map(|of| InnerElements {
            words: of.counter.map_or_else(Vec::new, words),
            limit: of.limit.map(value),
            stage: of.stage,
            around: of.around,
            lengths: of
                .lengths
                .filter(|_| alone)
                .and_then(|lengths| match lengths {
                    SegmentLengths::Same(length) => Some(StoredLengths::Same(value(length))),
                    SegmentLengths::InMemory {
                        array,
                        shift,
                        begin,
                    } => Some(StoredLengths::InMemory {
                        arg: arg(array)?,
                        shift: value(shift),
                        begin: begin.map(value),
                    }),
                }),
        });
        let inner: Vec<InnerElements> = inner.collect();
        (saved && inner.len() <= INNER).then(|| Surveyed {
            position: position as u64 + 1,
            counter: words(counter),
            bound: Atom::Var(bound),
            bound_word,
            in_memory: inner.iter().all(|of| of.lengths.is_some()),
            inner,
            stages,
            level: plan.place_level,
        })
    }

    fn pass(&self) -> Pass {
        Pass::Summary { level: self.level }
    }

    /// Returns the iteration of a frame.
    pub fn iteration(&self, words: &[u64]) -> u64 {
        self.counter.first().map_or(0, |w| words[*w])
    }

    /// Returns the root's bound.
    pub fn bound(&self, program: &Loop, words: &[u64], args: &[Arg<'_>]) -> u64 {
        match self.bound_word {
            Some(w) => words[w],
            None => known_word(program, args, self.bound),
        }
    }

    /// Tells whether the lengths of all segments are at hand.
    pub fn is_in_memory(&self) -> bool {
        self.in_memory
    }

    /// Estimates the steps to the loop's end from those so far.
    pub fn expected(&self, program: &Loop, words: &[u64], args: &[Arg<'_>]) -> u64 {
        let done = self.iteration(words);
        let left = self.bound(program, words, args).saturating_sub(done);
        let steps = u128::from(left) * u128::from(words[1]) / u128::from(done.max(1));
        u64::try_from(steps).unwrap_or(u64::MAX)
    }

    /// Returns the words at the guard of the root before a segment's beginning.
    pub fn guard(&self, words: &[u64]) -> Vec<u64> {
        let mut guard = words.to_vec();
        // The iteration has taken its own step.
        guard[1] -= 1;
        for of in &self.inner {
            of.set(&mut guard, of.value(words));
        }
        guard[0] = self.position;
        let iteration = self.iteration(words);
        self.counter.iter().for_each(|w| guard[*w] = iteration);
        guard
    }

    fn elements(&self, mut of: impl FnMut(&InnerElements) -> u64) -> [u64; INNER] {
        let mut elements = [0; INNER];
        for (n, inner) in elements.iter_mut().zip(&self.inner) {
            *n = of(inner);
        }
        elements
    }

    /// Returns the place of words where all blocks begin.
    pub fn place(&self, words: &[u64]) -> BlockPlace {
        BlockPlace {
            iteration: self.iteration(words),
            step: words[1],
            elements: self.elements(|of| of.value(words)),
        }
    }

    /// Returns the most that each inner loop may count.
    pub fn limits(&self, known: (&Loop, &[u64], &[Arg<'_>])) -> [u64; INNER] {
        self.elements(|of| of.limit.map_or(u64::MAX, |limit| limit.get(known)))
    }

    /// Returns the words at a place.
    ///
    /// These are at the guard of the root, but where all blocks begin.
    pub fn words(&self, base: &[u64], place: &BlockPlace) -> Vec<u64> {
        let mut words = base.to_vec();
        if place.iteration != self.iteration(base) {
            words[0] = self.position;
            words[1] = place.step;
            self.counter
                .iter()
                .for_each(|w| words[*w] = place.iteration);
            for (of, n) in self.inner.iter().zip(&place.elements) {
                of.set(&mut words, *n);
            }
        }
        words
    }

    /// Returns the place before an iteration, with nothing counted.
    pub fn before(iteration: u64) -> BlockPlace {
        BlockPlace {
            iteration,
            step: 0,
            elements: [0; INNER],
        }
    }

    /// Counts the elements of a block in the inner loops of a stage.
    ///
    /// The last stage also counts steps.
    /// The elements of earlier stages at the block's place are known. The result is an error if
    /// there are more than `most` steps, or if an iteration traps.
    pub fn count(
        &self,
        of: OfLoop<'_>,
        (place, stage): (&BlockPlace, usize),
        to: u64,
        most: u64,
        frame: &mut Frame<'_>,
    ) -> Result<BlockGrowth, Outcome> {
        if let Some(growth) = self.count_in_memory(of, (place, stage), to) {
            copied(LENGTH * to.saturating_sub(place.iteration) as usize);
            return match growth.steps > most {
                true => Err(Outcome::Paused),
                false => Ok(growth),
            };
        }
        let (shape, kernel, args, base) = of;
        let program = &shape.plan.program;
        let before = self.words(base, place);
        frame.words.copy_from_slice(&before);
        let mut shortened = Vec::new();
        let args = match self.bound_word {
            Some(w) => {
                frame.words[w] = to;
                args
            }
            None => {
                shortened.extend_from_slice(args);
                let params = program.params.iter();
                for (arg, _) in shortened
                    .iter_mut()
                    .zip(params)
                    .filter(|(_, p)| Atom::Var(p.var) == self.bound)
                {
                    *arg = Arg::Scalar(Const {
                        ty: Ty::U64,
                        bits: to,
                    });
                }
                &shortened
            }
        };
        let outcome = super::run(kernel, self.pass(), most, frame, args);
        let after = &frame.words;
        let is_there = after[0] == DONE && self.iteration(after) == to;
        if outcome != Outcome::Done || !is_there {
            return Err(outcome);
        }
        let grown = |of: &InnerElements| of.value(after).wrapping_sub(of.value(&before));
        Ok(BlockGrowth {
            to,
            steps: after[1] - before[1],
            elements: self.elements(grown),
        })
    }

    /// Counts a block by lengths in memory.
    ///
    /// The result is none if lengths are not there, or are not those of segments.
    fn count_in_memory(
        &self,
        (shape, _, args, base): OfLoop<'_>,
        (place, stage): (&BlockPlace, usize),
        to: u64,
    ) -> Option<BlockGrowth> {
        let from = place.iteration;
        if from == self.iteration(base) && base[0] != self.position {
            return None;
        }
        let known = (&shape.plan.program, base, args);
        let mut elements = [0; INNER];
        let mut steps = to - from;
        let counted = self.inner.iter().enumerate();
        for (i, of) in counted.filter(|(_, of)| of.stage <= stage) {
            // The elements of the loop around it.
            let (first, runs) = match of.around {
                Some(i) => (place.elements[i], elements[i]),
                None => (from, to - from),
            };
            let n = match of.lengths.as_ref()? {
                StoredLengths::Same(length) => runs.checked_mul(length.get(known))?,
                StoredLengths::InMemory { arg, shift, begin } => {
                    let Arg::Array(array) = *args.get(*arg)? else {
                        return None;
                    };
                    let at = |value: &WordOrLiteral| {
                        let first = first.checked_add(value.get(known))?;
                        let end = first.checked_add(runs)?;
                        Some(usize::try_from(first).ok()?..usize::try_from(end).ok()?)
                    };
                    let ends = at(shift)?;
                    match begin {
                        None => total(array, ends)?,
                        Some(begin) => rise(array, at(begin)?, ends)?,
                    }
                }
            };
            elements[i] = n;
            steps = steps.checked_add(n)?;
        }
        Some(BlockGrowth {
            to,
            steps,
            elements,
        })
    }

    /// Completes a block's place by the counts of a stage before it.
    pub fn complete(&self, stage: usize, before: &BlockPlace, place: &mut BlockPlace) {
        let counts = place.elements.iter_mut().zip(&before.elements);
        for ((n, before), of) in counts.zip(&self.inner) {
            if of.stage == stage {
                *n = *before;
            }
        }
        place.step = before.step;
    }

    /// Returns the place behind a block.
    ///
    /// It has the counts of this stage and earlier ones.
    /// The result is none if a loop would count too far: an iteration of the block traps.
    pub fn after(
        &self,
        limits: &[u64; INNER],
        (place, stage): (&BlockPlace, usize),
        mut growth: BlockGrowth,
    ) -> Option<BlockPlace> {
        for (i, of) in self.inner.iter().enumerate() {
            let most = match of.stage <= stage {
                true => limits[i],
                false => u64::MAX,
            };
            let n = growth.elements[i].checked_add(place.elements[i]);
            growth.elements[i] = n.filter(|n| *n <= most)?;
        }
        Some(BlockPlace {
            iteration: growth.to,
            step: place.step.checked_add(growth.steps)?,
            elements: growth.elements,
        })
    }

    /// Finds the iteration that takes a step, behind a place and before iteration `to`.
    ///
    /// It gets nearer if lengths are in memory.
    pub fn seek(
        &self,
        (of, limits): (OfLoop<'_>, &[u64; INNER]),
        mut place: BlockPlace,
        mut to: u64,
        step: u64,
    ) -> BlockPlace {
        let last = self.stages - 1;
        while self.in_memory && to.saturating_sub(place.iteration) > 1 {
            let middle = place.iteration + (to - place.iteration) / 2;
            let Some(growth) = self.count_in_memory(of, (&place, last), middle) else {
                break;
            };
            match self.after(limits, (&place, last), growth) {
                Some(after) if after.step < step => place = after,
                _ => to = middle,
            }
        }
        place
    }

    /// Takes a frame from the guard of the root to the segment's beginning.
    ///
    /// Returns whether it is there.
    pub fn enter(
        &self,
        (shape, kernel, args, _): OfLoop<'_>,
        restart: &Restart,
        frame: &mut Frame<'_>,
    ) -> bool {
        let before = self.iteration(&frame.words);
        let outcome = super::run(kernel, self.pass(), 1, frame, args);
        let same = self.iteration(&frame.words) == before;
        let is_there = outcome == Outcome::Paused && same && restart.is_beginning(&frame.words);
        if is_there {
            restart.begin(shape, kernel, &mut frame.words, args);
        }
        is_there
    }
}

impl InnerElements {
    fn value(&self, words: &[u64]) -> u64 {
        self.words.first().map_or(0, |w| words[*w])
    }

    fn set(&self, words: &mut [u64], value: u64) {
        self.words.iter().for_each(|w| words[*w] = value);
    }
}

impl WordOrLiteral {
    fn get(self, (program, words, args): (&Loop, &[u64], &[Arg<'_>])) -> u64 {
        match self.1 {
            Some(w) => words[w],
            None => known_word(program, args, self.0),
        }
    }
}
