//! A square matrix of bits.

/// Holds a square matrix of bits, such as the reachability of loops.
#[derive(Clone, Debug, Default)]
pub struct BitMatrix {
    words: Vec<u64>,
    width: usize,
}

impl BitMatrix {
    /// Creates `n` rows of `n` zeros.
    pub fn new(n: usize) -> BitMatrix {
        let width = n.div_ceil(64);
        BitMatrix {
            words: vec![0; width * n],
            width,
        }
    }

    /// Returns whether a bit is set.
    pub fn has(&self, row: usize, bit: usize) -> bool {
        self.words[row * self.width + bit / 64] >> (bit % 64) & 1 == 1
    }

    /// Sets a bit.
    pub fn set(&mut self, row: usize, bit: usize) {
        self.words[row * self.width + bit / 64] |= 1 << (bit % 64);
    }

    /// Adds a row's bits to another row's.
    ///
    /// Passes the old value of each changed word to `changed`.
    pub fn add(&mut self, to: usize, from: usize, mut changed: impl FnMut(usize, u64)) {
        for w in 0..self.width {
            let (at, new) = (to * self.width + w, self.words[from * self.width + w]);
            if self.words[at] | new != self.words[at] {
                changed(at, self.words[at]);
                self.words[at] |= new;
            }
        }
    }

    /// Adds a row of another matrix of the same size.
    pub fn add_of(&mut self, to: usize, other: &BitMatrix, from: usize) {
        for w in 0..self.width {
            self.words[to * self.width + w] |= other.words[from * self.width + w];
        }
    }

    /// Restores a word that [`BitMatrix::add`] changed.
    pub fn restore(&mut self, at: usize, word: u64) {
        self.words[at] = word;
    }

    /// Clears a row.
    pub fn clear(&mut self, row: usize) {
        self.words[row * self.width..][..self.width].fill(0);
    }
}
