//! Interpolation between two floats with one rounding: `between`.
//!
//! The exact value is an integer multiple of a power of two. It is summed up in machine words, and
//! rounded once. A correctly rounded value is monotone in all its operands, stays between its ends,
//! and does not overflow.

/// The lowest bit of the exponent field of an `f64`.
const FRACTION: i32 = 52;
/// The exponent of the smallest positive `f64`.
const LEAST: i32 = -1074;
/// Bits of the sum of three terms, including its sign.
const TERM_BITS: i32 = 110;
/// Words for every sum: its bits are those from 2^-2212 to 2^1081.
const WORDS: usize = 52;

/// Interpolates from `low` to `high`, which is not below it, at a part from 0 to 1.
///
/// The result is `low * (1 - part) + high * part`, rounded once. At the parts 0 and 1, and between
/// equal floats, it is the float itself. If one end is infinite, the result is that end. Between
/// both infinities it is NaN.
pub(super) fn between(low: f64, high: f64, part: f64) -> f64 {
    if part == 0.0 || low == high {
        return low;
    }
    if part == 1.0 {
        return high;
    }
    match low.is_finite() && high.is_finite() {
        true => {
            let ([low, high], part) = ([low, high].map(Scaled::of), Scaled::of(part));
            rounded(&[low, low.times(part).negated(), high.times(part)])
        }
        false => low + high,
    }
}

/// An integer of at most 106 bits times a power of two.
#[derive(Clone, Copy)]
struct Scaled {
    is_negative: bool,
    size: u128,
    exponent: i32,
}

impl Scaled {
    /// Decomposes a finite float.
    fn of(x: f64) -> Scaled {
        let bits = x.abs().to_bits();
        let fraction = bits & ((1 << FRACTION) - 1);
        let (size, exponent) = match (bits >> FRACTION) as i32 {
            0 => (fraction, LEAST),
            field => (fraction | 1 << FRACTION, field - 1 + LEAST),
        };
        Scaled {
            is_negative: x.is_sign_negative(),
            size: u128::from(size),
            exponent,
        }
    }

    /// Multiplies by a float that is not negative.
    fn times(self, by: Scaled) -> Scaled {
        Scaled {
            size: self.size * by.size,
            exponent: self.exponent + by.exponent,
            ..self
        }
    }

    fn negated(self) -> Scaled {
        Scaled {
            is_negative: !self.is_negative,
            ..self
        }
    }
}

/// Sums numbers, rounded to nearest, ties to even.
fn rounded(terms: &[Scaled]) -> f64 {
    let exponents = || terms.iter().map(|term| term.exponent);
    // One word below all terms, so that a sum has more bits than a float.
    let base = exponents().min().unwrap_or(LEAST) - 64;
    let highest = exponents().max().unwrap_or(LEAST) + TERM_BITS;
    let mut words = [0; WORDS];
    let sum = &mut words[..((highest - base) / 64 + 1) as usize];
    for term in terms {
        add(sum, *term, (term.exponent - base) as usize);
    }
    let is_negative = sum.last().is_some_and(|word| word >> 63 == 1);
    if is_negative {
        negate(sum);
    }
    let Some(top) = sum.iter().rposition(|word| *word != 0) else {
        return 0.0;
    };
    let top = 64 * top as i32 + sum[top].ilog2() as i32;
    // The lowest bit that fits the float. Lower bits only affect rounding.
    let lowest = (top - FRACTION).max(LEAST - base) as usize;
    let kept = bits_at(sum, lowest);
    let is_half = bits_at(sum, lowest - 1) & 1 == 1;
    let is_up = is_half && (kept & 1 == 1 || has_below(sum, lowest - 1));
    // A normal float's exponent field is one higher: the top bit of `kept` adds the one.
    let field = (lowest as i32 + base - LEAST) as u64;
    let size = f64::from_bits((field << FRACTION) + kept + u64::from(is_up));
    if is_negative { -size } else { size }
}

/// Adds a number, shifted by `at` bits, to a sum in two's complement.
fn add(sum: &mut [u64], term: Scaled, at: usize) {
    let low = term.size << (at % 64);
    let high = (term.size >> 64) >> (64 - at % 64);
    let mut words = [low as u64, (low >> 64) as u64, high as u64].into_iter();
    let mut carry = false;
    for to in sum.iter_mut().skip(at / 64) {
        let word = words.next().unwrap_or(0);
        (*to, carry) = match term.is_negative {
            true => to.borrowing_sub(word, carry),
            false => to.carrying_add(word, carry),
        };
    }
}

fn negate(sum: &mut [u64]) {
    let mut carry = true;
    for word in sum {
        (*word, carry) = (!*word).overflowing_add(u64::from(carry));
    }
}

/// Returns the 64 bits from position `at` on.
fn bits_at(sum: &[u64], at: usize) -> u64 {
    let [low, high] = [0, 1].map(|k| sum.get(at / 64 + k).copied().unwrap_or(0));
    ((u128::from(high) << 64 | u128::from(low)) >> (at % 64)) as u64
}

/// Tells whether a bit below position `at` is set.
fn has_below(sum: &[u64], at: usize) -> bool {
    let whole = sum.iter().take(at / 64).any(|word| *word != 0);
    whole || bits_at(sum, at / 64 * 64) & ((1 << (at % 64)) - 1) != 0
}
