//! A kernel's text, and what has to be known to launch it.

use livefusion_tile::threads::form::Tiles;
use livefusion_tile::threads::path::Path;
use loop_lang::ir::{Atom, Var};

/// A kernel's text, and how it is launched.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The text, behind the prelude's.
    pub text: String,
    /// The kernel's name in it.
    pub name: String,
    /// What it is given, in order: see [`Shape::given`](livefusion_tile::threads::shape::Shape::given).
    pub given: Vec<Given>,
    /// How many words the groups of each level have, and which variables these are.
    pub levels: Vec<Vec<Var>>,
    /// Whether it may be left before its bound.
    pub leaves: bool,
    /// How elements are dealt out.
    pub tiles: Tiles,
    /// How many words the parts of each level have.
    pub parts: Vec<usize>,
    /// How elements are shared among threads, if that is not only a matter of the steps of the root.
    pub shared: Option<Path>,
    /// Arrays of which the loop makes room for one row, and how many elements that has: each row needs its own.
    pub strips: Vec<(Var, Atom)>,
    /// A kernel of the same text that goes before, over the steps of the root, and says how many there are.
    pub places: Option<Box<Kernel>>,
    /// One of the same text that runs in the place of this where rows are many.
    pub rows: Option<Box<Kernel>>,
    /// From how many threads on that is so.
    pub teams: u64,
    /// One of the same text that runs in the place of this where nobody can tell where rows lie.
    pub anywhere: Option<Box<Kernel>>,
    /// Which of the loop's kernels it is.
    pub number: usize,
}

/// Something that a kernel is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    /// A scalar: a word.
    Scalar(Var),
    /// An array: its address and its length.
    Array(Var),
    /// What groups start with, variable by variable: a word each.
    Start(Var),
    /// Room for a word of each row: its address and its length.
    Places,
    /// How many threads a team has: a power of two, at most a block.
    Team,
}

impl Kernel {
    /// This kernel, and those beside it in its text.
    pub fn all(&self) -> impl Iterator<Item = &Kernel> {
        let beside = [&self.places, &self.rows, &self.anywhere];
        let beside = beside.into_iter().flatten().map(|k| &**k);
        std::iter::once(self).chain(beside)
    }

    /// Numbers this kernel and those beside it, from a number on; gives the next one.
    pub(crate) fn count_from(&mut self, first: usize) -> usize {
        self.number = first;
        let mut next = first + 1;
        for beside in self.beside_mut() {
            beside.number = next;
            next += 1;
        }
        next
    }

    /// Those beside it.
    pub(crate) fn beside_mut(&mut self) -> impl Iterator<Item = &mut Kernel> {
        let beside = [&mut self.places, &mut self.rows, &mut self.anywhere];
        beside.into_iter().flatten().map(|k| &mut **k)
    }

    /// How many cells tiles need at most for what they tell each other, level by level.
    pub fn cells(&self, tiles: u64) -> Vec<u64> {
        let levels = self.parts.iter().map(|words| *words as u64 * tiles);
        // Where a tile leaves, and whether any has.
        levels.chain(self.leaves.then_some(tiles + 1)).collect()
    }

    /// How many words it gives. Behind those of the groups it says where it was left, if it may be.
    pub fn words(&self) -> usize {
        let groups: usize = self.parts.iter().sum();
        groups + if self.leaves { 2 } else { 0 }
    }

    /// How many threads a block has.
    pub fn threads(&self) -> u32 {
        self.tiles.threads
    }

    /// How many tiles so many steps are. Any number of blocks from one up to this will do.
    pub fn tiles(&self, steps: u64) -> u64 {
        steps.div_ceil(u64::from(self.tiles.threads * self.tiles.elements))
    }

    /// How many of so many blocks are best on a device that holds so many at once.
    pub fn blocks(&self, blocks: u64, held: u64) -> u64 {
        let most = match self.tiles.goes_on {
            true => held,
            false => u64::from(u32::MAX / 2),
        };
        blocks.min(most).max(1)
    }
}
