//! Where a tile may be entered, for how many steps, and what follows from that.

use loop_lang::ir::Var;
use std::fmt;

/// What must hold where a tile is entered. The caller sees to it, at the guard, before each entry: it takes as many
/// steps as all entries allow, and none if that is none. The rate's own bound, the end of the chunk and of the span are
/// heeded in any case.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Entry {
    /// At most as many steps as there are elements of the array from the variable's value on. The variable is the counter,
    /// or a count that goes up by at most one in a step.
    Room {
        /// The array.
        array: Var,
        /// The counter or count.
        index: Var,
    },
    /// A multiple of so many steps, a power of two.
    Whole(u64),
    /// The counter is a multiple of so many steps, a power of two.
    Aligned(u64),
}

/// Why an access that is not checked stays inside of its memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Proof {
    /// It is at a place within the range, and the entry of this number says that the array has as many.
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
