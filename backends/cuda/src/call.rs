//! What a kernel is told of its launch, word by word.

use livefusion_tile::threads::shape::MOST_LEVELS;

/// Groups of how many levels a launch has room for: those that steps know, and behind them what is read at the end.
pub const MOST_TOLD: usize = MOST_LEVELS as usize + 1;

/// What a launch is about, as kernels see it: `lf_launch`.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The counter of the first step.
    pub first: u64,
    /// How many steps there are.
    pub steps: u64,
    /// The launch's number: no other had the same memory and this number. From 1 on.
    pub number: u64,
    /// Two counts of four bytes, of the next tile and of the blocks that are done; zero between launches.
    pub ticket: u64,
    /// A word that is set where something traps.
    pub trapped: u64,
    /// One that is set where something trapped that was launched before; 0 if nothing was.
    pub stopped: u64,
    /// Where what groups come to goes.
    pub result: u64,
    /// Which of the kernel's launches it is: see [`Pass`](crate::emit::Pass).
    pub pass: u64,
    /// How many blocks those with tiles have.
    pub blocks: u64,
    /// Whether it is known who writes last.
    pub settles: u64,
    /// What tiles tell each other, level by level.
    pub told: [u64; MOST_TOLD],
}

impl Call {
    /// Its bytes.
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
        let words = words.iter().chain(&self.told);
        words.flat_map(|w| w.to_le_bytes()).collect()
    }
}
