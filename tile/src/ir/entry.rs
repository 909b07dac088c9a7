//! Entry conditions of tiles, their step limits, and proofs of unchecked accesses.

use loop_lang::ir::Var;
use std::fmt;

/// Represents a linear sum of variables, in wrapping arithmetic.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct Sum {
    /// Variables in order, with nonzero coefficients.
    pub terms: Vec<(i64, Var)>,
    /// The constant term.
    pub plus: u64,
}

impl Sum {
    /// Returns the sum of one variable.
    pub fn of(v: Var) -> Sum {
        Sum {
            terms: vec![(1, v)],
            plus: 0,
        }
    }

    /// Returns a constant sum.
    pub fn number(plus: u64) -> Sum {
        Sum {
            terms: Vec::new(),
            plus,
        }
    }

    /// Returns the variable if the sum is just one variable.
    pub fn single(&self) -> Option<Var> {
        match self.terms[..] {
            [(1, v)] if self.plus == 0 => Some(v),
            _ => None,
        }
    }

    /// Returns a variable's coefficient.
    pub fn times(&self, v: Var) -> i64 {
        let term = self.terms.iter().find(|(_, of)| *of == v);
        term.map_or(0, |(times, _)| *times)
    }

    /// Adds a multiple of another sum.
    pub fn plus(&self, times: i64, other: &Sum) -> Sum {
        let mut terms = self.terms.clone();
        for (n, v) in &other.terms {
            let more = n.wrapping_mul(times);
            match terms.iter_mut().find(|(_, of)| of == v) {
                Some((n, _)) => *n = n.wrapping_add(more),
                None => terms.push((more, *v)),
            }
        }
        terms.retain(|(n, _)| *n != 0);
        terms.sort_by_key(|(_, v)| *v);
        let plus = other.plus.wrapping_mul(times as u64);
        Sum {
            terms,
            plus: self.plus.wrapping_add(plus),
        }
    }

    /// Evaluates the sum for given values of variables.
    pub fn value(&self, word: impl Fn(Var) -> u64) -> u64 {
        let add =
            |sum: u64, (n, v): &(i64, Var)| sum.wrapping_add(word(*v).wrapping_mul(*n as u64));
        self.terms.iter().fold(self.plus, add)
    }
}

/// Describes a less-than comparison of two sums.
///
/// One sum changes by one in each step of the counter. The other is invariant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Comparison {
    /// The sum that follows the counter.
    pub moving: Sum,
    /// The invariant bound.
    pub edge: Sum,
    /// Whether equality also holds.
    pub inclusive: bool,
}

impl Comparison {
    /// Returns the answer and the number of steps for which it stays the same. `down` tells whether
    /// `moving` decreases with the counter.
    fn answer(&self, down: bool, word: impl Fn(Var) -> u64) -> (bool, u64) {
        let (at, edge) = (self.moving.value(&word), self.edge.value(&word));
        let holds = at < edge || self.inclusive && at == edge;
        let edge = edge.wrapping_add(u64::from(self.inclusive));
        let same = match (down, at < edge) {
            (false, true) => edge - at,
            (false, false) if at == 0 => u64::MAX,
            (false, false) => at.wrapping_neg(),
            (true, true) => at + 1,
            (true, false) => (at - edge).saturating_add(1),
        };
        (holds, same)
    }
}

/// Lists the entry conditions of a tile.
///
/// The caller checks them at the guard before each entry. It takes the minimum number of steps that
/// all entries allow, and does not enter for zero steps. The rate's own bound, the end of the chunk
/// and the end of the span limit the steps in any case.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Entry {
    /// Limits steps to the elements of the array from the index on. If the index decreases with the
    /// counter, the elements up to it count. The index is the counter, a count that grows by at
    /// most one per step, or a sum over the counter.
    Capacity {
        /// The array.
        array: Var,
        /// The counter, the count, or the sum.
        index: Sum,
    },
    /// Limits steps to those for which a comparison keeps its answer; none if the answer is not the
    /// wanted one.
    Keeps {
        /// The comparison.
        comparison: Comparison,
        /// The wanted answer, if any.
        holds: Option<bool>,
    },
    /// At most this many steps, a power of two.
    Most(u64),
    /// At most up to the next multiple of this many steps, a power of two.
    Before(u64),
    /// A multiple of this many steps, a power of two.
    Whole(u64),
    /// The counter is a multiple of this many steps, a power of two.
    Aligned(u64),
    /// The loop has taken a multiple of this many steps, a power of two, so a run begins. Ranges
    /// are whole runs, which the tile combines. A range therefore ends at the end of the chunk, not
    /// at the end of each run.
    Runs(u64),
}

impl Entry {
    /// Returns how many steps of a counter it allows from here.
    ///
    /// The arguments give the values of variables and the lengths of arrays. Multiples are not
    /// considered.
    pub fn allows(
        &self,
        counter: Var,
        word: impl Fn(Var) -> u64,
        length: impl Fn(Var) -> u64,
    ) -> u64 {
        match self {
            Entry::Capacity { array, index } => {
                let (at, length) = (index.value(word), length(*array));
                match index.times(counter) < 0 {
                    true if at < length => at + 1,
                    true => 0,
                    false => length.saturating_sub(at),
                }
            }
            Entry::Keeps { comparison, holds } => {
                let (answer, same) = comparison.answer(comparison.moving.times(counter) < 0, word);
                match holds.is_none_or(|holds| holds == answer) {
                    true => same,
                    false => 0,
                }
            }
            Entry::Most(steps) => *steps,
            Entry::Before(steps) => *steps - (word(counter) & steps.saturating_sub(1)),
            Entry::Whole(_) | Entry::Aligned(_) | Entry::Runs(_) => u64::MAX,
        }
    }
}

/// Lists the proofs that an unchecked access is in bounds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Proof {
    /// The index is in the range, and the numbered entry guarantees the array's capacity. For a
    /// buffer, the entry limits the range to the buffer's size.
    Entry(usize),
    /// The index is in the enclosing segment, and its numbered capacity check covers the array.
    Capacity(usize),
    /// The indices are literals within memory of known size.
    Literal,
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Proof::Entry(i) => write!(f, "by ({})", letter(*i)),
            Proof::Capacity(i) => write!(f, "by capacity {i}"),
            Proof::Literal => write!(f, "by size"),
        }
    }
}

/// Returns the text label of an entry: a, b, ..., z, a1, ...
pub(crate) fn letter(i: usize) -> String {
    let letter = char::from(b'a' + (i % 26) as u8);
    match i / 26 {
        0 => letter.to_string(),
        n => format!("{letter}{n}"),
    }
}
