//! The bits in which keys differ, and digits of them.

use std::array;

/// VaryingBits of a digit: with more the places that are written to leave the fastest cache.
pub const BITS: u32 = 8;

/// VaryingBits of a digit where the first ones tell few keys apart, at most.
const WIDE: u32 = 12;

/// Up to so many digits are sorted from the lowest one on.
pub const PASSES: usize = 4;

/// Where the first bits tell few keys apart, std's sort is faster up to so many words.
const SKEWED: usize = 1 << 14;

/// So many keys are looked at before a split.
const SAMPLE: usize = 32;

/// As many bits tell the keys of a sample apart, if these are spread evenly.
const SPREAD: u32 = SAMPLE.ilog2();

/// The bits in which keys differ, and all between.
#[derive(Clone, Copy, Debug)]
pub struct VaryingBits {
    low: u32,
    end: u32,
}

impl VaryingBits {
    pub fn of(varying: u64) -> Option<VaryingBits> {
        let end = varying.checked_ilog2()? + 1;
        let low = varying.trailing_zeros();
        Some(VaryingBits { low, end })
    }

    pub fn low(self) -> u32 {
        self.low
    }

    pub fn count(self) -> u32 {
        self.end - self.low
    }

    /// How many digits they are.
    pub fn passes(self) -> usize {
        self.count().div_ceil(BITS) as usize
    }

    /// Cuts them into digits of equal size, the lowest one first.
    pub fn digits(self) -> [Digit; PASSES] {
        let size = self.count().div_ceil(self.passes() as u32);
        array::from_fn(|k| {
            let begin = (self.low + size * k as u32).min(self.end);
            Digit {
                shift: begin.min(u64::BITS - 1),
                bits: size.min(self.end - begin),
            }
        })
    }
}

/// Some neighbouring bits of keys.
#[derive(Clone, Copy, Debug)]
pub struct Digit {
    shift: u32,
    bits: u32,
}

impl Digit {
    /// The digit of a key.
    #[inline(always)]
    pub fn of(self, key: u64) -> usize {
        (key >> self.shift) as usize & (self.values() - 1)
    }

    /// How many values it has.
    #[inline(always)]
    pub fn values(self) -> usize {
        1 << self.bits
    }

    /// The key with another value of this digit.
    pub fn with(self, key: u64, value: usize) -> u64 {
        let all = (self.values() as u64 - 1) << self.shift;
        key & !all | (value as u64) << self.shift
    }

    /// The bits below it.
    pub fn below(self) -> u64 {
        (1 << self.shift) - 1
    }

    /// All these bits, which are few.
    pub fn all(bits: VaryingBits) -> Option<Digit> {
        (bits.count() <= BITS).then_some(Digit {
            shift: bits.low,
            bits: bits.count(),
        })
    }

    /// The topmost digit by which so many words are split. None if std's sort is faster.
    ///
    /// Most keys of floats agree in many of their first bits: there the digit is wide.
    pub fn top(bits: VaryingBits, len: usize, key: impl Fn(usize) -> u64) -> Option<Digit> {
        if len <= super::SOME {
            return None;
        }
        let apart = told_apart(bits, len, key);
        let is_skewed = apart > SPREAD + 3;
        if is_skewed && len <= SKEWED {
            return None;
        }
        let len = len.ilog2();
        let more = if is_skewed { apart - SPREAD } else { 0 };
        let wanted = (len - SPREAD).clamp(4, BITS) + more;
        let size = wanted.min(WIDE).min(len - 3).min(bits.count());
        Some(Digit {
            shift: bits.end - size,
            bits: size,
        })
    }
}

/// How many bits, of the first ones, tell two keys apart between which there is a small part of all: half of such pairs.
fn told_apart(bits: VaryingBits, len: usize, key: impl Fn(usize) -> u64) -> u32 {
    let mut sample: [u64; SAMPLE] = array::from_fn(|k| key((2 * k + 1) * (len / (2 * SAMPLE))));
    sample.sort_unstable();
    let pairs = sample.array_windows().filter(|[a, b]| a != b);
    let (mut apart, mut n) = ([0; SAMPLE], 0);
    for (to, [a, b]) in apart.iter_mut().zip(pairs) {
        *to = bits.end - (a ^ b).ilog2();
        n += 1;
    }
    apart[..n].sort_unstable();
    apart[n / 2]
}
