//! Zips: roots whose cursors only produce elements, executed through buffers.

use super::{Origin, Tile};
use loop_lang::ir::{Atom, RateId, Var};
use loop_lang::types::Const;

/// Describes a zip root and its cursors, executed through buffers.
///
/// The kernel enters and leaves it at the guard of the root. [`eval::zip`](crate::eval::zip)
/// defines its semantics:
///
/// ```text
/// for (;;) {
///   fill the buffers of each side that has none left: pack, from where the side is, as many steps as there may be
///   take as many steps behind as all buffers have elements
/// }
/// where the last element that was used lay: find it, from where its buffer begins
/// ```
///
/// Each element that an input tests counts as a step, and so does each step of the consumer. An
/// input may trap while it fills a buffer, on elements that are never used. The zip then exits as
/// if that buffer had not been filled.
#[derive(Clone, PartialEq, Debug)]
pub struct Zip {
    /// The root.
    pub rate: RateId,
    /// Its counter.
    pub counter: Var,
    /// The upper bound of the counter.
    pub bound: Atom,
    /// Further upper bounds.
    pub limits: Vec<Atom>,
    /// Flags with their values at entry: no input has ended.
    pub ends: Vec<(Var, Const)>,
    /// The capacity of each buffer.
    pub elements: u64,
    /// Its inputs, in order.
    pub sides: Vec<Side>,
    /// The consumer's tiles, in the order in which they are tried. They read buffers at the root's
    /// counter.
    pub behind: Vec<Tile>,
}

/// Describes one input of a [`Zip`].
#[derive(Clone, PartialEq, Debug)]
pub struct Side {
    /// The counter of its cursor.
    pub counter: Var,
    /// The upper bound of that counter.
    pub bound: Atom,
    /// The number of packed or found elements.
    pub count: Var,
    /// The number of elements to find.
    pub wanted: Var,
    /// Each produced value and its buffer. On exit, the value is the last element that was
    /// consumed.
    pub values: Vec<(Var, Var)>,
    /// Tiles that fill the buffers from the counter on, and count, in the order in which they are
    /// tried.
    pub packs: Vec<Tile>,
    /// Tiles that search from the counter on until the wanted number of elements is found. Each
    /// continues where the previous one stopped.
    pub finds: Vec<Tile>,
}

impl Zip {
    /// Lists all of its tiles.
    pub fn tiles(&self) -> impl Iterator<Item = &Tile> {
        let sides = self.sides.iter();
        let sides = sides.flat_map(|side| side.packs.iter().chain(&side.finds));
        sides.chain(&self.behind)
    }

    /// Returns the input that owns a buffer array.
    pub fn buffer(&self, array: Var) -> Option<usize> {
        let mut sides = self.sides.iter();
        sides.position(|side| side.buffers().any(|a| a == array))
    }
}

impl Side {
    /// Lists its buffers.
    pub fn buffers(&self) -> impl Iterator<Item = Var> {
        self.values.iter().map(|(_, buffer)| *buffer)
    }

    /// Lists the loop-carried values of its packing tiles, the counter first.
    ///
    /// They restart where a buffer begins.
    pub fn carried(&self) -> Vec<Var> {
        let mut all = vec![self.counter];
        for (_, data) in self.packs.iter().flat_map(Tile::each_value) {
            if let Origin::State(v) = data.origin
                && v != self.count
                && !all.contains(&v)
            {
                all.push(v);
            }
        }
        all
    }
}
