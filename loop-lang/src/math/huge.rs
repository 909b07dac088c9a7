//! Trigonometric functions of large arguments.
//!
//! The argument is multiplied with `2 / pi` to 192 bits. Multiples of 4 are never computed. Even if
//! 62 leading bits cancel, the remainder has more exact bits than the result.

use super::trig::{Turn, of_turn, tan_of_turn};
use std::f64::consts::FRAC_PI_2;

/// 64 zero bits, followed by the bits of `2 / pi` after the binary point.
#[rustfmt::skip]
const TWO_OVER_PI: [u64; 20] = [
    0x0000000000000000, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0,
    0xDB6295993C439041, 0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0,
    0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484,
    0xE99C7026B45F7E41, 0x3991D639835339F4, 0x9C845F8BBDF9283B,
    0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7,
    0x4F463F669E5FEA2D, 0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA,
    0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB,
];

/// Returns 64 bits of the table from a position on, padded with zeros.
fn bits_from(position: usize) -> u64 {
    let word = |i: usize| TWO_OVER_PI.get(i).copied().unwrap_or(0);
    let (i, shift) = (position / 64, position % 64);
    let pair = u128::from(word(i)) << 64 | u128::from(word(i + 1));
    (pair >> (64 - shift)) as u64
}

/// Reduces an argument of at least [`super::limit`]; none for infinities and NaN.
fn reduce(x: f64) -> Option<Turn<f64>> {
    if !x.is_finite() {
        return None;
    }
    let bits = x.abs().to_bits();
    let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
    // x = mantissa 2^(exponent - 1075); bits of 2 / pi with a weight of at least 4 are skipped.
    let exponent = (bits >> 52) as usize;
    let start = (exponent + 62).saturating_sub(1075);
    let words = [0, 64, 128].map(|i| u128::from(bits_from(start + i)));
    let low = words[2] * mantissa;
    let middle = words[1] * mantissa + (low >> 64);
    let high = (words[0] * mantissa + (middle >> 64)) as u64;
    // In quarter turns: two bits before the point.
    let whole = high >> 62;
    let fraction = [
        high << 2 | middle as u64 >> 62,
        (middle as u64) << 2 | low as u64 >> 62,
        (low as u64) << 2,
    ];
    let beyond = fraction[0] >> 63;
    let turn = remainder(fraction, beyond == 1);
    let quarters = whole.wrapping_add(beyond);
    Some(match x < 0.0 {
        false => Turn { quarters, ..turn },
        true => Turn {
            r: -turn.r,
            low: -turn.low,
            quarters: quarters.wrapping_neg(),
        },
    })
}

/// Returns a fraction of a quarter turn in radians, minus a whole one if `below`.
fn remainder(fraction: [u64; 3], below: bool) -> Turn<f64> {
    let [a, b, c] = fraction.map(|w| if below { !w } else { w });
    let zeros = a.leading_zeros();
    let top = u128::from(a) << 64 | u128::from(b);
    let top = top << zeros | (u128::from(c) << zeros) >> 64;
    let unit = 2f64.powi(-64 - zeros as i32);
    let first = ((top >> 75) as u64) as f64 * 2048.0 * unit;
    let second = ((top >> 11) as u64) as f64 * 2f64.powi(-53) * unit;
    let main = first * FRAC_PI_2;
    let rest = first.mul_add(FRAC_PI_2, -main) + first * 6.123233995736766e-17 + second * FRAC_PI_2;
    let r = main + rest;
    let low = rest - (r - main);
    let sign = if below { -1.0 } else { 1.0 };
    Turn {
        r: sign * r,
        low: sign * low,
        quarters: 0,
    }
}

/// Returns the sine of a large number, `ahead` quarter turns further.
///
/// The number must be at least [`super::limit`].
pub fn sin_from(x: f64, ahead: u64) -> f64 {
    reduce(x).map_or(f64::NAN, |turn| of_turn(turn, ahead))
}

/// Returns the tangent of a number of at least [`super::limit`].
pub fn tan(x: f64) -> f64 {
    reduce(x).map_or(f64::NAN, tan_of_turn)
}
