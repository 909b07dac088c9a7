//! A small seeded random generator (SplitMix64), equal on every machine.

/// Holds the state of a random generator.
#[derive(Clone, Debug, Default)]
pub struct Rng {
    state: u64,
    /// Scripted draws, last byte first.
    script: Vec<u8>,
}

impl Rng {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Rng {
        Rng {
            state: seed,
            script: Vec::new(),
        }
    }

    /// Creates a generator whose first draws come from bytes.
    ///
    /// Each draw uses one byte, so a change of a byte changes one decision.
    pub fn scripted(bytes: &[u8]) -> Rng {
        Rng {
            state: 0,
            script: bytes.iter().rev().copied().collect(),
        }
    }

    /// Returns the next 64 bits.
    pub fn word(&mut self) -> u64 {
        if let Some(byte) = self.script.pop() {
            self.state = u64::from(byte);
        }
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `n` (0 if `n` is 0).
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            0
        } else {
            (self.word() % n as u64) as usize
        }
    }

    /// Returns a number from `low` to `high`, inclusive.
    pub fn range(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// Returns true in `percent` of 100 cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Picks one of some values.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Picks an index by weight.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut at = self.below(weights.iter().sum());
        for (i, w) in weights.iter().enumerate() {
            if at < *w {
                return i;
            }
            at -= w;
        }
        0
    }

    /// Shuffles in place.
    pub fn shuffle<T>(&mut self, of: &mut [T]) {
        for i in (1..of.len()).rev() {
            of.swap(i, self.below(i + 1));
        }
    }
}
