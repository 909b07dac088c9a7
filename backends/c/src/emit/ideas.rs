//! Which ideas the code of a loop makes use of, under the ideas' names: what tests count, so that no idea
//! goes untried.

use std::collections::BTreeSet;
use std::fmt;

/// An idea by which a loop becomes fast.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Idea {
    /// A version of it for each answer to comparisons with the counter.
    Cases,
    /// Filters in vectors: what passes is packed in a register.
    Packing,
    /// Tiles: innermost loops under a schedule.
    Tiles,
    /// Folds by runs, one in each lane.
    Runs,
    /// Long bodies and many folds in pieces over tiles.
    Pieces,
    /// Minima and maxima of floats in one instruction.
    Extrema,
    /// Scans by blocks in registers.
    Scans,
    /// Loops over segments with the loops over their elements in one function.
    Nests,
    /// Zips of streams that advance differently, tile by tile.
    Zips,
    /// Large results stored past the caches.
    Streaming,
    /// A loop that its guard may leave before the bound.
    Exits,
}

impl Idea {
    /// All of them.
    pub const ALL: &[Idea] = &[
        Idea::Cases,
        Idea::Packing,
        Idea::Tiles,
        Idea::Runs,
        Idea::Pieces,
        Idea::Extrema,
        Idea::Scans,
        Idea::Nests,
        Idea::Zips,
        Idea::Streaming,
        Idea::Exits,
    ];
}

impl fmt::Display for Idea {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Idea::Cases => "cases",
            Idea::Packing => "packing",
            Idea::Tiles => "tiles",
            Idea::Runs => "runs",
            Idea::Pieces => "pieces",
            Idea::Extrema => "extrema",
            Idea::Scans => "scans",
            Idea::Nests => "nests",
            Idea::Zips => "zips",
            Idea::Streaming => "streaming",
            Idea::Exits => "exits",
        })
    }
}

/// The ideas of a text.
pub type Ideas = BTreeSet<Idea>;
