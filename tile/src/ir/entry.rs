//! Where a tile may be entered, for how many steps, and what follows from that.

use loop_lang::ir::Var;
use std::fmt;

/// A word as a sum, in arithmetic that wraps around.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct Sum {
    /// Variables in order, each so many times, never none.
    pub terms: Vec<(i64, Var)>,
    /// What is added.
    pub plus: u64,
}

impl Sum {
    /// A variable.
    pub fn of(v: Var) -> Sum {
        Sum {
            terms: vec![(1, v)],
            plus: 0,
        }
    }

    /// A number.
    pub fn number(plus: u64) -> Sum {
        Sum {
            terms: Vec::new(),
            plus,
        }
    }

    /// The variable that it is.
    pub fn single(&self) -> Option<Var> {
        match self.terms[..] {
            [(1, v)] if self.plus == 0 => Some(v),
            _ => None,
        }
    }

    /// How often a variable is in it.
    pub fn times(&self, v: Var) -> i64 {
        let term = self.terms.iter().find(|(_, of)| *of == v);
        term.map_or(0, |(times, _)| *times)
    }

    /// The sum of this, and so many times another.
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

    /// Its value, given that of the variables.
    pub fn value(&self, word: impl Fn(Var) -> u64) -> u64 {
        let add =
            |sum: u64, (n, v): &(i64, Var)| sum.wrapping_add(word(*v).wrapping_mul(*n as u64));
        self.terms.iter().fold(self.plus, add)
    }
}

/// Whether one sum is less than another. One of them goes with the counter by one, the other is the same in all steps.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Asked {
    /// The one that goes with the counter.
    pub moving: Sum,
    /// What it is compared with.
    pub edge: Sum,
    /// Whether it may be equal.
    pub inclusive: bool,
}

impl Asked {
    /// The answer, and for how many steps it stays what it is. The counter goes with `moving` down, or up.
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

/// What must hold where a tile is entered. The caller sees to it, at the guard, before each entry: it takes as many
/// steps as all entries allow, and none if that is none. The rate's own bound, the end of the chunk and of the span are
/// heeded in any case.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Entry {
    /// At most as many steps as there are elements of the array from the index on; down from it, if it goes down with the
    /// counter. It is the counter, a count that goes up by at most one in a step, or a sum over the counter.
    Room {
        /// The array.
        array: Var,
        /// The counter, the count, or the sum.
        index: Sum,
    },
    /// At most as many steps as a comparison keeps its answer; none if another answer is wanted.
    Keeps {
        /// The comparison.
        asked: Asked,
        /// The answer that is wanted, if one is.
        holds: Option<bool>,
    },
    /// At most so many steps, a power of two.
    Most(u64),
    /// At most up to the next multiple of so many steps, a power of two.
    Before(u64),
    /// A multiple of so many steps, a power of two.
    Whole(u64),
    /// The counter is a multiple of so many steps, a power of two.
    Aligned(u64),
    /// The loop has taken a multiple of so many steps, a power of two: a run begins. Ranges are whole runs, which the tile
    /// joins; so they end not where the run does, but with the chunk.
    Runs(u64),
}

impl Entry {
    /// How many steps of a counter it allows from here on, given variables and the lengths of arrays; whatever is said of
    /// multiples.
    pub fn allows(
        &self,
        counter: Var,
        word: impl Fn(Var) -> u64,
        length: impl Fn(Var) -> u64,
    ) -> u64 {
        match self {
            Entry::Room { array, index } => {
                let (at, length) = (index.value(word), length(*array));
                match index.times(counter) < 0 {
                    true if at < length => at + 1,
                    true => 0,
                    false => length.saturating_sub(at),
                }
            }
            Entry::Keeps { asked, holds } => {
                let (answer, same) = asked.answer(asked.moving.times(counter) < 0, word);
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

/// Why an access that is not checked stays inside of its memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Proof {
    /// It is at a place within the range, and the entry of this number says that the array has as many; or that the range
    /// has no more steps than a buffer has elements.
    Entry(usize),
    /// It is at a place within the segment around, whose room of this number says that the array has as many.
    Room(usize),
    /// It is at literal places within memory of known size.
    Literal,
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Proof::Entry(i) => write!(f, "by ({})", letter(*i)),
            Proof::Room(i) => write!(f, "by room {i}"),
            Proof::Literal => write!(f, "by size"),
        }
    }
}

/// How entries are numbered in text: a, b, ..., z, a1, ...
pub(crate) fn letter(i: usize) -> String {
    let letter = char::from(b'a' + (i % 26) as u8);
    match i / 26 {
        0 => letter.to_string(),
        n => format!("{letter}{n}"),
    }
}
