//! A kernel's text, with the data for its launch.

use livefusion_tile::threads::form::Tiles;
use livefusion_tile::threads::path::Path;
use loop_lang::ir::{Atom, Var};

/// Holds a kernel's text and the data for its launch.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The text after the prelude.
    pub text: String,
    /// The kernel's name in it.
    pub name: String,
    /// Its parameters, in order: see
    /// [`Shape::given`](livefusion_tile::threads::shape::Shape::given).
    pub given: Vec<Given>,
    /// The variables of the groups of each level, one word each.
    pub levels: Vec<Vec<Var>>,
    /// Whether the loop may exit before its bound.
    pub leaves: bool,
    /// Whether its groups are too wide for look-back. Then separate passes sum them up.
    pub wide: bool,
    /// Whether it runs once more when the last write of each element is known.
    pub settles: bool,
    /// Whether one thread has a whole step. Then the writes of a single step are the last ones.
    pub by_itself: bool,
    /// Whether its steps do anything but sum groups up.
    pub acts: bool,
    /// The sizes of its tiles.
    pub tiles: Tiles,
    /// The number of words of each level's parts.
    pub parts: Vec<usize>,
    /// How elements are shared among threads, if the steps of the root alone do not determine it.
    pub shared: Option<Path>,
    /// Arrays that the loop allocates for one row, with the row's length. Each row needs its own.
    pub strips: Vec<(Var, Atom)>,
    /// A kernel of the same text that runs before, over the steps of the root, and counts the
    /// elements.
    pub places: Option<Box<Kernel>>,
    /// A kernel of the same text that replaces this one if rows are many.
    pub rows: Option<Box<Kernel>>,
    /// The number of threads from which it does.
    pub teams: u64,
    /// A kernel of the same text that replaces this one if the rows cannot be located.
    pub anywhere: Option<Box<Kernel>>,
    /// Its number among the loop's kernels.
    pub number: usize,
}

/// Describes one of the launches of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pass {
    /// Its number. Wide groups have two passes per level: one sums up, and the next scans the sums.
    pub number: u64,
    /// Whether the last write of each element is known.
    pub settles: bool,
    /// The number of blocks.
    pub blocks: u64,
}

/// Lists the kinds of kernel parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    /// A scalar, as a word.
    Scalar(Var),
    /// An array: its address and its length.
    Array(Var),
    /// The start of a group's variable, as a word.
    Start(Var),
    /// Memory for a word of each row: its address and its length.
    Places,
    /// Memory for a word of each element that may be overwritten in any order: see
    /// [`Last`](livefusion_tile::threads::shape::Last).
    Winners(usize),
    /// The number of threads of a team: a power of two, at most a block.
    Team,
}

impl Kernel {
    /// Lists this kernel, and the others in its text.
    pub fn all(&self) -> impl Iterator<Item = &Kernel> {
        let beside = [&self.places, &self.rows, &self.anywhere];
        let beside = beside.into_iter().flatten().map(|k| &**k);
        std::iter::once(self).chain(beside)
    }

    /// Numbers this kernel and the others in its text from `first` on. Returns the next number.
    pub(crate) fn count_from(&mut self, first: usize) -> usize {
        self.number = first;
        let mut next = first + 1;
        for beside in self.beside_mut() {
            beside.number = next;
            next += 1;
        }
        next
    }

    /// Lists the other kernels in its text.
    pub(crate) fn beside_mut(&mut self) -> impl Iterator<Item = &mut Kernel> {
        let beside = [&mut self.places, &mut self.rows, &mut self.anywhere];
        beside.into_iter().flatten().map(|k| &mut **k)
    }

    /// Lists its launches for `steps` steps by `blocks` blocks, in order.
    pub fn passes(&self, steps: u64, blocks: u64) -> Vec<Pass> {
        let levels = if self.wide { self.parts.len() } else { 0 };
        let pass = |number, settles| Pass {
            number,
            settles,
            // One block scans the sums of all blocks.
            blocks: if number % 2 == 0 { blocks } else { 1 },
        };
        let last = 2 * levels as u64;
        let sums = (0..last).map(|number| pass(number, false));
        let acts = (self.acts || !self.wide).then(|| pass(last, false));
        let settles = self.settles && !(self.by_itself && steps == 1);
        let settles = settles.then(|| pass(last, true));
        sums.chain(acts).chain(settles).collect()
    }

    /// Returns the maximal number of cells for communication, level by level.
    ///
    /// The blocks, or their `tiles` tiles, communicate through these.
    pub fn cells(&self, tiles: u64, blocks: u64) -> Vec<u64> {
        if self.wide {
            // Each block's sum, the prefix of its next tile, and its warps' sums.
            let each = 2 + u64::from(self.threads() / 32);
            let cells = |words: &usize| (*words as u64).div_ceil(2) * each * blocks;
            return self.parts.iter().map(cells).collect();
        }
        let levels = self.parts.iter().map(|words| *words as u64 * tiles);
        // The exit of each tile, and whether any tile has one.
        levels.chain(self.leaves.then_some(tiles + 1)).collect()
    }

    /// Returns the number of result words.
    ///
    /// If the loop may exit, the position of the exit follows the groups' words.
    pub fn words(&self) -> usize {
        let groups: usize = self.parts.iter().sum();
        groups + if self.leaves { 2 } else { 0 }
    }

    /// Returns the number of threads of a block.
    pub fn threads(&self) -> u32 {
        self.tiles.threads
    }

    /// Returns the number of tiles of `steps` steps.
    ///
    /// Any positive number of blocks up to this works.
    pub fn tiles(&self, steps: u64) -> u64 {
        steps.div_ceil(u64::from(self.tiles.threads * self.tiles.elements))
    }

    /// Returns the best number of blocks, given the number of resident ones.
    pub fn blocks(&self, blocks: u64, held: u64) -> u64 {
        let most = match self.tiles.goes_on {
            true => held,
            false => u64::from(u32::MAX / 2),
        };
        blocks.min(most).max(1)
    }
}
