//! Canonical words: random words with edge cases, and equality.

use crate::rng::Rng;
use loop_lang::types::{Const, Ty, canonical};

/// Returns whether a word is a NaN of a float type.
pub fn is_nan(ty: Ty, w: u64) -> bool {
    ty.is_float() && to_f64(ty, w).is_nan()
}

/// Compares words bit for bit, ignoring NaN payloads.
pub fn same(ty: Ty, a: u64, b: u64) -> bool {
    a == b || (is_nan(ty, a) && is_nan(ty, b))
}

/// Converts a word to a float, exactly for floats.
pub fn to_f64(ty: Ty, w: u64) -> f64 {
    match ty {
        Ty::F32 => f32::from_bits(w as u32) as f64,
        Ty::F64 => f64::from_bits(w),
        t if t.is_signed() => w as i64 as f64,
        _ => w as f64,
    }
}

/// Converts a number to an integer, exactly for integers.
pub fn to_i128(c: Const) -> i128 {
    if c.ty.is_signed() {
        c.bits as i64 as i128
    } else {
        c.bits as i128
    }
}

/// Returns the word of a float.
pub fn float(ty: Ty, x: f64) -> u64 {
    if ty == Ty::F32 {
        (x as f32).to_bits() as u64
    } else {
        x.to_bits()
    }
}

/// Returns the unit roundoff of a float type.
pub fn epsilon(ty: Ty) -> f64 {
    if ty == Ty::F32 {
        f32::EPSILON as f64
    } else {
        f64::EPSILON
    }
}

/// Returns a random word.
///
/// Most are small numbers, and some are edge cases. The edge cases are extremes, infinities, NaN
/// and signed zeros.
pub fn random(rng: &mut Rng, ty: Ty) -> u64 {
    if ty.is_float() {
        random_float(rng, ty)
    } else {
        random_int(rng, ty)
    }
}

/// Returns a random float whose sums with others round.
///
/// All of its bits are random, and its size is about one.
pub fn rounding(rng: &mut Rng, ty: Ty) -> u64 {
    let part = (rng.word() >> 11) as f64 / (1u64 << 53) as f64;
    float(ty, (part - 0.5) * (1 << rng.below(6)) as f64)
}

fn random_float(rng: &mut Rng, ty: Ty) -> u64 {
    let huge = if ty == Ty::F32 {
        f32::MAX as f64
    } else {
        f64::MAX
    };
    let tiny = if ty == Ty::F32 {
        f32::from_bits(1) as f64
    } else {
        f64::from_bits(1)
    };
    match rng.below(20) {
        0 => float(ty, rng.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY])),
        1 => float(ty, rng.pick(&[-0.0, 0.0, -0.0])),
        2 => float(ty, rng.pick(&[huge, -huge, tiny, -tiny, 1.0 / huge])),
        3 => float(
            ty,
            rng.pick(&[
                0.5,
                1.5,
                -2.5,
                255.5,
                -128.5,
                2147483648.0,
                1.8446744073709552e19,
            ]),
        ),
        4..9 => float(ty, rng.below(21) as f64 - 10.0),
        _ => float(ty, (rng.below(2001) as f64 - 1000.0) / 64.0),
    }
}

fn random_int(rng: &mut Rng, ty: Ty) -> u64 {
    let w = match rng.below(12) {
        0 => rng.word(),
        1 => u64::MAX,
        2 => 1u64 << (ty.bits() - 1),
        3 => (1u64 << (ty.bits() - 1)).wrapping_sub(1),
        4 => (rng.below(10) as u64).wrapping_neg(),
        _ => rng.below(20) as u64,
    };
    canonical(ty, w)
}

/// Formats a word as its type prints it.
pub fn show(ty: Ty, w: u64) -> String {
    match ty {
        Ty::Bool => (w != 0).to_string(),
        t if t.is_float() => format!("{:?}", to_f64(t, w)),
        t => to_i128(Const { ty: t, bits: w }).to_string(),
    }
}
