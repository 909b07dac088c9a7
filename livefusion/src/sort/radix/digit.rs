//! Digits, built from the bits in which keys differ.

use std::array;

/// Limits the bits of a digit.
///
/// With more bits, the write positions no longer fit the fastest cache.
pub const BITS: u32 = 8;

/// The maximum bits of a digit if the first ones distinguish few keys.
const WIDE: u32 = 12;

/// Limits the digits of a sort from the lowest one up.
pub const PASSES: usize = 4;

/// If the first bits distinguish few keys, std's sort is faster up to this many words.
const SKEWED: usize = 1 << 14;

/// Keys sampled before a split.
const SAMPLE: usize = 32;

/// Bits that distinguish the keys of a sample, if these are spread evenly.
const SPREAD: u32 = SAMPLE.ilog2();

/// Describes the range of bits in which keys differ.
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

    /// Returns the number of digits.
    pub fn passes(self) -> usize {
        self.count().div_ceil(BITS) as usize
    }

    /// Cuts the range into digits of equal size, the lowest one first.
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

/// Describes some neighbouring bits of keys.
#[derive(Clone, Copy, Debug)]
pub struct Digit {
    shift: u32,
    bits: u32,
}

impl Digit {
    /// Returns the digit of a key.
    #[inline(always)]
    pub fn of(self, key: u64) -> usize {
        (key >> self.shift) as usize & (self.values() - 1)
    }

    /// Returns the number of digit values.
    #[inline(always)]
    pub fn values(self) -> usize {
        1 << self.bits
    }

    /// Replaces this digit in a key.
    pub fn with(self, key: u64, value: usize) -> u64 {
        let all = (self.values() as u64 - 1) << self.shift;
        key & !all | (value as u64) << self.shift
    }

    /// Returns the mask of the bits below it.
    pub fn below(self) -> u64 {
        (1 << self.shift) - 1
    }

    /// Builds one digit of all varying bits, if they are few.
    pub fn all(bits: VaryingBits) -> Option<Digit> {
        (bits.count() <= BITS).then_some(Digit {
            shift: bits.low,
            bits: bits.count(),
        })
    }

    /// Returns the topmost digit for a split of `len` words.
    ///
    /// It is none if std's sort is faster. Most floats agree in many of their first bits: their
    /// digit is wide.
    pub fn top(bits: VaryingBits, len: usize, key: impl Fn(usize) -> u64) -> Option<Digit> {
        if len <= super::SOME {
            return None;
        }
        let apart = distinguishing(bits, len, key);
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

/// Estimates the leading bits needed to distinguish two close keys, as a median over sorted
/// samples.
fn distinguishing(bits: VaryingBits, len: usize, key: impl Fn(usize) -> u64) -> u32 {
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
