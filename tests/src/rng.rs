//! A small seeded generator of random numbers (SplitMix64): the same seed gives the same program on
//! every machine.

/// The generator's state.
#[derive(Clone, Debug, Default)]
pub struct Rng {
    state: u64,
    /// What is drawn first, last byte first.
    script: Vec<u8>,
}

impl Rng {
    /// A generator from a seed.
    pub fn new(seed: u64) -> Rng {
        Rng {
            state: seed,
            script: Vec::new(),
        }
    }

    /// A generator whose draws follow bytes, one each, as long as there are any: who changes a byte changes
    /// one decision.
    pub fn scripted(bytes: &[u8]) -> Rng {
        Rng {
            state: 0,
            script: bytes.iter().rev().copied().collect(),
        }
    }

    /// The next 64 bits.
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

    /// A number below `n` (0 if `n` is 0).
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            0
        } else {
            (self.word() % n as u64) as usize
        }
    }

    /// A number from `low` up to and including `high`.
    pub fn range(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of some things.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// An index, chosen by weight.
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
