//! Surveys: threads find the beginnings of units of iterations together.
//!
//! A thread counts the steps of its unit alone. It adds up the lengths of the unit's segments, or
//! subtracts two offsets, where these are in memory. Otherwise it runs the loop's pass that computes
//! nothing else. The sums of all earlier counts give the place where the unit begins.

use super::restart::Restart;
use super::shape::ChunkedLoop;
use crate::runtime::sync::copied;
use livefusion_backend::kernel::known_word;
use livefusion_backend::{Arg, Frame, Kernel, Outcome, Pass, View};
use loop_lang::Loop;
use loop_lang::chunkable::{ChunkPlan, Survey, survey};
use loop_lang::ir::{Atom, Param, ParamKind, RateId};
use loop_lang::state::{DONE, Layout};
use loop_lang::types::{Const, Ty};
use std::ops::Range;

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
    /// Groups that count elements.
    groups: Vec<Counter>,
    /// The lengths that each counts, if they are in memory.
    lengths: Vec<StoredLengths>,
    level: u32,
}

/// Lengths in an argument.
struct StoredLengths {
    /// The argument's number.
    arg: usize,
    /// The index of the first iteration's, or of the end of its segment.
    shift: WordOrLiteral,
    /// The index of the beginning, if elements are offsets.
    begin: Option<WordOrLiteral>,
}

/// A value that no iteration changes, and its word unless it is known.
#[derive(Clone, Copy)]
struct WordOrLiteral(Atom, Option<usize>);

/// A group that counts elements.
struct Counter {
    /// Its words, equal at the root's guard.
    words: Vec<usize>,
    /// The most that it may reach.
    limit: Option<WordOrLiteral>,
}

/// Holds the iterations of a unit.
#[derive(Clone, Copy)]
pub struct Iterations {
    pub from: u64,
    pub to: u64,
}

/// Holds the growth of words within a unit.
pub struct UnitGrowth {
    to: u64,
    pub steps: u64,
    /// The elements by group.
    elements: Vec<u64>,
}

impl Surveyed {
    /// Analyses a loop that can [restart](Restart).
    pub fn of(program: &Loop, layout: &Layout, plan: &ChunkPlan, root: RateId) -> Option<Surveyed> {
        let Survey {
            counter,
            bound,
            counts,
            lengths,
        } = survey(program)?;
        let words = |v| {
            let held = layout.held.iter().filter(|h| h.0 == v).map(|h| h.1);
            layout
                .word(v)
                .into_iter()
                .chain(held)
                .collect::<Vec<usize>>()
        };
        let is_param = |p: &Param| p.kind == ParamKind::Scalar && p.var == bound;
        let bound_word = layout.word(bound);
        let known = bound_word.is_some() || program.params.iter().any(is_param);
        let position = layout.resume.iter().position(|r| *r == root)?;
        let value = |a: Atom| WordOrLiteral(a, a.var().and_then(|v| layout.word(v)));
        let groups = counts.iter().map(|(v, limit)| Counter {
            words: words(*v),
            limit: limit.map(value),
        });
        let lengths = lengths.into_iter().flatten().filter_map(|of| {
            Some(StoredLengths {
                arg: program.params.iter().position(|p| p.var == of.array)?,
                shift: value(of.shift),
                begin: of.begin.map(value),
            })
        });
        let groups: Vec<Counter> = groups.collect();
        let saved = groups.iter().all(|g| !g.words.is_empty());
        (known && saved).then(|| Surveyed {
            position: position as u64 + 1,
            counter: words(counter),
            bound: Atom::Var(bound),
            bound_word,
            groups,
            lengths: lengths.collect(),
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
        guard[0] = self.position;
        // The iteration has taken its own step.
        guard[1] -= 1;
        for group in &self.groups {
            group.set(&mut guard, group.value(words));
        }
        guard
    }

    /// Counts the steps and elements of some iterations.
    ///
    /// `guard` has the words at any guard of the root. The result is none if there are more than
    /// `most` steps, or if an iteration traps.
    pub fn count(
        &self,
        (shape, kernel, args): (&ChunkedLoop, &dyn Kernel, &[Arg<'_>]),
        guard: &[u64],
        stretch: Iterations,
        most: u64,
        frame: &mut Frame<'_>,
    ) -> Result<UnitGrowth, Outcome> {
        let known = (&shape.plan.program, guard, args);
        if let Some(count) = self.count_in_memory(known, stretch) {
            copied(LENGTH * (stretch.to - stretch.from) as usize);
            return match count.steps > most {
                true => Err(Outcome::Paused),
                false => Ok(count),
            };
        }
        let words = &mut frame.words;
        words.copy_from_slice(guard);
        self.groups.iter().for_each(|group| group.set(words, 0));
        words[1] = 0;
        self.counter.iter().for_each(|w| words[*w] = stretch.from);
        let mut shortened = Vec::new();
        let args = match self.bound_word {
            Some(w) => {
                words[w] = stretch.to;
                args
            }
            None => {
                shortened.extend_from_slice(args);
                let params = shape.plan.program.params.iter();
                for (arg, _) in shortened
                    .iter_mut()
                    .zip(params)
                    .filter(|(_, p)| Atom::Var(p.var) == self.bound)
                {
                    *arg = Arg::Scalar(Const {
                        ty: Ty::U64,
                        bits: stretch.to,
                    });
                }
                &shortened
            }
        };
        match super::run(kernel, self.pass(), most, frame, args) {
            Outcome::Done
                if frame.words[0] == DONE && self.iteration(&frame.words) == stretch.to =>
            {
                let groups = self.groups.iter();
                Ok(UnitGrowth {
                    to: stretch.to,
                    steps: frame.words[1],
                    elements: groups.map(|group| group.value(&frame.words)).collect(),
                })
            }
            ended => Err(ended),
        }
    }

    /// Counts iterations by lengths in memory.
    ///
    /// The result is none if lengths are not there, or are not those of segments.
    fn count_in_memory(
        &self,
        known: (&Loop, &[u64], &[Arg<'_>]),
        Iterations { from, to }: Iterations,
    ) -> Option<UnitGrowth> {
        let elements = self.lengths.iter().map(|of| {
            let Arg::Array(array) = known.2.get(of.arg)? else {
                return None;
            };
            let at = |value: &WordOrLiteral| {
                let first = from.checked_add(value.get(known))?;
                let end = to.checked_add(value.get(known))?;
                Some(usize::try_from(first).ok()?..usize::try_from(end).ok()?)
            };
            let ends = at(&of.shift)?;
            match &of.begin {
                None => total(*array, ends),
                Some(begin) => rise(*array, at(begin)?, ends),
            }
        });
        let elements: Vec<u64> = elements.collect::<Option<_>>()?;
        let steps = elements
            .iter()
            .try_fold(to - from, |n, m| n.checked_add(*m));
        (!elements.is_empty()).then_some(UnitGrowth {
            to,
            steps: steps?,
            elements,
        })
    }

    /// Adds a unit's count to the words at the guard before it.
    ///
    /// The result is none if a group would count too far: an iteration of the unit traps.
    pub fn join(
        &self,
        (program, args): (&Loop, &[Arg<'_>]),
        guard: &[u64],
        count: &UnitGrowth,
    ) -> Option<Vec<u64>> {
        let mut words = guard.to_vec();
        words[1] += count.steps;
        self.counter.iter().for_each(|w| words[*w] = count.to);
        for (group, elements) in self.groups.iter().zip(&count.elements) {
            let limit = group.limit.map(|limit| limit.get((program, guard, args)));
            let most = limit.unwrap_or(u64::MAX);
            let after = group.value(guard).checked_add(*elements);
            group.set(&mut words, after.filter(|n| *n <= most)?);
        }
        Some(words)
    }

    /// Takes a frame from the guard of the root to the segment's beginning.
    ///
    /// Returns whether it is there.
    pub fn enter(
        &self,
        (shape, kernel, args): (&ChunkedLoop, &dyn Kernel, &[Arg<'_>]),
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

impl Counter {
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
