//! Surveys: threads find the beginnings of blocks of iterations together.
//!
//! A thread counts the steps of a block alone. It adds up the lengths of the block's segments, or
//! subtracts two offsets, where these are in memory. Otherwise it runs the loop's pass that computes
//! nothing else. The sums of all earlier counts give the place where the block begins.
//!
//! Segments of segments are counted in [stages](loop_lang::chunkable::Survey::stages).

use super::restart::Restart;
use super::shape::ChunkedLoop;
use livefusion_backend::kernel::known_word;
use livefusion_backend::{Arg, Frame, Kernel, Outcome, Pass, View};
use loop_lang::Loop;
use loop_lang::chunkable::{ChunkPlan, Lengths, Survey, survey};
use loop_lang::ir::{Atom, Param, ParamKind, Var};
use loop_lang::state::{DONE, Layout};
use loop_lang::types::{Const, Ty};
use std::ops::Range;

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

/// Holds the iterations of a block.
#[derive(Clone, Copy)]
pub struct Iterations {
    pub from: u64,
    pub to: u64,
}

/// Holds the growth of words within a block.
pub struct BlockGrowth {
    to: u64,
    pub steps: u64,
    /// The elements by inner loop.
    elements: Vec<u64>,
}

/// A loop with its kernel and arguments.
type OfLoop<'l> = (&'l ChunkedLoop, &'l dyn Kernel, &'l [Arg<'l>]);

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
                    Lengths::Same(length) => Some(StoredLengths::Same(value(length))),
                    Lengths::InMemory {
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
        saved.then(|| Surveyed {
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
        self.at_guard(&mut guard, self.iteration(words));
        guard
    }

    /// Puts words to the guard of the root before an iteration, except for counts.
    pub fn at_guard(&self, words: &mut [u64], iteration: u64) {
        words[0] = self.position;
        self.counter.iter().for_each(|w| words[*w] = iteration);
    }

    /// Counts the elements of a block in the inner loops of a stage, and its steps in the last one.
    ///
    /// `words` has the counts of earlier stages at the block's beginning. The result is an error if
    /// there are more than `most` steps, or if an iteration traps.
    pub fn count(
        &self,
        (shape, kernel, args): OfLoop<'_>,
        (words, stage): (&[u64], usize),
        block: Iterations,
        most: u64,
        frame: &mut Frame<'_>,
    ) -> Result<BlockGrowth, Outcome> {
        let program = &shape.plan.program;
        if let Some(growth) = self.count_in_memory((program, words, args), stage, block) {
            return match growth.steps > most {
                true => Err(Outcome::Paused),
                false => Ok(growth),
            };
        }
        frame.words.copy_from_slice(words);
        if words[0] == self.position {
            // Counts that are not known yet.
            let later = self.inner.iter().filter(|of| of.stage >= stage);
            later.for_each(|of| of.set(&mut frame.words, 0));
        }
        let before = frame.words.to_vec();
        let mut shortened = Vec::new();
        let args = match self.bound_word {
            Some(w) => {
                frame.words[w] = block.to;
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
                        bits: block.to,
                    });
                }
                &shortened
            }
        };
        let outcome = super::run(kernel, self.pass(), most, frame, args);
        let after = &frame.words;
        let is_there = after[0] == DONE && self.iteration(after) == block.to;
        if outcome != Outcome::Done || !is_there {
            return Err(outcome);
        }
        let elements = self.inner.iter();
        let elements = elements.map(|of| of.value(after).wrapping_sub(of.value(&before)));
        Ok(BlockGrowth {
            to: block.to,
            steps: after[1] - before[1],
            elements: elements.collect(),
        })
    }

    /// Counts a block by lengths in memory.
    ///
    /// The result is none if lengths are not there, or are not those of segments.
    fn count_in_memory(
        &self,
        known: (&Loop, &[u64], &[Arg<'_>]),
        stage: usize,
        Iterations { from, to }: Iterations,
    ) -> Option<BlockGrowth> {
        let (_, words, args) = known;
        if words[0] != self.position {
            return None;
        }
        let mut elements: Vec<u64> = Vec::with_capacity(self.inner.len());
        let mut steps = to - from;
        for of in &self.inner {
            if of.stage > stage {
                elements.push(0);
                continue;
            }
            // The elements of the loop around it.
            let (first, runs) = match of.around {
                Some(i) => (self.inner[i].value(words), elements[i]),
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
            elements.push(n);
            steps = steps.checked_add(n)?;
        }
        Some(BlockGrowth {
            to,
            steps,
            elements,
        })
    }

    /// Completes a block's words by the counts of a stage before it.
    pub fn complete(&self, stage: usize, before: &[u64], words: &mut [u64]) {
        let these = self.inner.iter().filter(|of| of.stage == stage);
        these.for_each(|of| of.set(words, of.value(before)));
        words[1] = before[1];
    }

    /// Returns the words at the guard behind a block, with the counts of a stage and earlier ones.
    ///
    /// The result is none if a loop would count too far: an iteration of the block traps.
    pub fn after(
        &self,
        (program, args): (&Loop, &[Arg<'_>]),
        (words, stage): (&[u64], usize),
        growth: &BlockGrowth,
    ) -> Option<Vec<u64>> {
        let mut after = words.to_vec();
        after[1] = words[1].checked_add(growth.steps)?;
        self.at_guard(&mut after, growth.to);
        let inner = self.inner.iter().zip(&growth.elements);
        for (of, elements) in inner.filter(|(of, _)| of.stage <= stage) {
            let limit = of.limit.map(|limit| limit.get((program, words, args)));
            let n = of.value(words).checked_add(*elements);
            of.set(&mut after, n.filter(|n| *n <= limit.unwrap_or(u64::MAX))?);
        }
        Some(after)
    }

    /// Moves words at the guard of the root to that of the iteration that takes a step.
    ///
    /// It looks for it in a block, if lengths are in memory.
    pub fn seek(
        &self,
        of: (&Loop, &[Arg<'_>]),
        mut words: Vec<u64>,
        mut to: u64,
        step: u64,
    ) -> Vec<u64> {
        let last = self.stages - 1;
        while self.in_memory {
            let from = self.iteration(&words);
            let middle = from + to.saturating_sub(from) / 2;
            if middle == from {
                break;
            }
            let half = Iterations { from, to: middle };
            let Some(growth) = self.count_in_memory((of.0, &words, of.1), last, half) else {
                break;
            };
            match self.after(of, (&words, last), &growth) {
                Some(after) if after[1] <= step => words = after,
                _ => to = middle,
            }
        }
        words
    }

    /// Takes a frame from the guard of the root to the segment's beginning.
    ///
    /// Returns whether it is there.
    pub fn enter(
        &self,
        (shape, kernel, args): OfLoop<'_>,
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

/// Calls a function on the elements of an array of integers.
macro_rules! with_integers {
    ($array:expr, |$elements:ident| $body:expr) => {
        match $array.ty() {
            Ty::I8 => with_integers!(i8, $array, |$elements| $body),
            Ty::I16 => with_integers!(i16, $array, |$elements| $body),
            Ty::I32 => with_integers!(i32, $array, |$elements| $body),
            Ty::I64 => with_integers!(i64, $array, |$elements| $body),
            Ty::U8 => with_integers!(u8, $array, |$elements| $body),
            Ty::U16 => with_integers!(u16, $array, |$elements| $body),
            Ty::U32 => with_integers!(u32, $array, |$elements| $body),
            Ty::U64 => with_integers!(u64, $array, |$elements| $body),
            _ => None,
        }
    };
    ($t:ty, $array:expr, |$elements:ident| $body:expr) => {{
        let $elements = $array.as_slice::<$t>()?;
        $body
    }};
}

/// Adds up lengths. The result is none if some are too long to be added.
#[expect(clippy::unnecessary_cast, reason = "one of the types is `u64`")]
fn total(array: View<'_>, at: Range<usize>) -> Option<u64> {
    // So many of less than the limit have a sum.
    let few = at.len() <= 1 << 24;
    with_integers!(array, |all| {
        let (mut sum, mut bits) = (0u64, 0);
        for n in all.get(at)? {
            sum = sum.wrapping_add(*n as u64);
            bits |= *n as u64;
        }
        (few && bits < 1 << 39).then_some(sum)
    })
}

/// Subtracts the first offset from the last one. The result is none if they ever fall.
#[expect(clippy::unnecessary_cast, reason = "one of the types is `u64`")]
fn rise(array: View<'_>, begins: Range<usize>, ends: Range<usize>) -> Option<u64> {
    if begins.start.checked_add(1) != Some(ends.start) || ends.is_empty() {
        return None;
    }
    with_integers!(array, |all| {
        let offsets = all.get(begins.start..ends.end)?;
        let mut rising = true;
        for (a, b) in offsets.iter().zip(offsets.get(1..)?) {
            rising &= a <= b;
        }
        let (first, last) = (*offsets.first()?, *offsets.last()?);
        rising.then(|| (last as u64).wrapping_sub(first as u64))
    })
}
