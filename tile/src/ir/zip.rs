//! A root whose cursors only deliver, through buffers.

use super::{Origin, Tile};
use loop_lang::ir::{Atom, RateId, Var};
use loop_lang::types::Const;

/// Steps of a root that is a zip, and of its cursors, through buffers. It is entered and left at the guard of the root. What
/// it means is said by [`eval::zip`](crate::eval::zip):
///
/// ```text
/// for (;;) {
///   fill the buffers of each side that has none left: pack, from where the side is, as many steps as there may be
///   take as many steps behind as all buffers have elements
/// }
/// where the last element that was used lay: find it, from where its buffer begins
/// ```
///
/// Every element that a side tests is a step, and so is each step behind. What has trapped where a side packs may not be needed
/// at all: then it is left as if that had not been packed.
#[derive(Clone, PartialEq, Debug)]
pub struct Zip {
    /// The root.
    pub rate: RateId,
    /// Its counter.
    pub counter: Var,
    /// What the counter stays below.
    pub bound: Atom,
    /// What else it stays below.
    pub limits: Vec<Atom>,
    /// What is as here where it is entered: no side has ended.
    pub ends: Vec<(Var, Const)>,
    /// How many elements a buffer has.
    pub elements: u64,
    /// Its sides, in order.
    pub sides: Vec<Side>,
    /// What runs behind the cursors, in the order in which it is tried. It reads buffers at the root's counter.
    pub behind: Vec<Tile>,
}

/// A side of a [`Zip`].
#[derive(Clone, PartialEq, Debug)]
pub struct Side {
    /// The counter of its cursor.
    pub counter: Var,
    /// What that stays below.
    pub bound: Atom,
    /// How many elements are packed, or found.
    pub count: Var,
    /// How many are to be found.
    pub wanted: Var,
    /// What it delivers, and a buffer for each: what was used last is what is delivered where the zip is left.
    pub values: Vec<(Var, Var)>,
    /// What packs from the counter on, and counts, in the order in which it is tried.
    pub packs: Vec<Tile>,
    /// What goes on from the counter, and counts, until as many are found as are wanted: each in turn, from where the one
    /// before has left.
    pub finds: Vec<Tile>,
}

impl Zip {
    /// All of its tiles.
    pub fn tiles(&self) -> impl Iterator<Item = &Tile> {
        let sides = self.sides.iter();
        let sides = sides.flat_map(|side| side.packs.iter().chain(&side.finds));
        sides.chain(&self.behind)
    }

    /// The side whose buffer an array is.
    pub fn buffer(&self, array: Var) -> Option<usize> {
        let mut sides = self.sides.iter();
        sides.position(|side| side.buffers().any(|a| a == array))
    }
}

impl Side {
    /// Its buffers.
    pub fn buffers(&self) -> impl Iterator<Item = Var> {
        self.values.iter().map(|(_, buffer)| *buffer)
    }

    /// What goes from step to step where it packs, and so begins anew where a buffer is: the counter first.
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
