//! The launch parameters of a kernel, word by word.

use livefusion_tile::threads::shape::MOST_LEVELS;

/// Holds the number of levels of groups in a launch.
///
/// It counts the levels within steps, and one that is read at the end.
pub const MAX_PUBLISHED: usize = MOST_LEVELS as usize + 1;

/// Holds the parameters of a launch, the kernels' `lf_launch`.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The counter of the first step.
    pub first: u64,
    /// The number of steps.
    pub steps: u64,
    /// The launch's number, from 1 on. It is unique among launches with the same memory.
    pub number: u64,
    /// Two four-byte counts: the next tile, and the finished blocks. Both are zero between
    /// launches.
    pub ticket: u64,
    /// A word that is set at a trap.
    pub trapped: u64,
    /// A word that an earlier launch sets at a trap. 0 if there is none.
    pub stopped: u64,
    /// The address of the groups' results.
    pub result: u64,
    /// The number of this launch among the kernel's passes: see [`Pass`](crate::emit::Pass).
    pub pass: u64,
    /// The number of blocks in launches over tiles.
    pub blocks: u64,
    /// Whether the last writer of each element is known.
    pub settles: u64,
    /// The cells by which tiles communicate, level by level.
    pub published: [u64; MAX_PUBLISHED],
}

impl Call {
    /// Returns its bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let words = [
            self.first,
            self.steps,
            self.number,
            self.ticket,
            self.trapped,
            self.stopped,
            self.result,
            self.pass,
            self.blocks,
            self.settles,
        ];
        let words = words.iter().chain(&self.published);
        words.flat_map(|w| w.to_le_bytes()).collect()
    }
}
