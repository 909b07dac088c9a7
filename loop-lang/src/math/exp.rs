//! Exponentials: `x = n ln 2 + r` with `|r| <= ln 2 / 2`, a polynomial in `r`, and the exponent
//! `n`.
//!
//! The polynomials are minimax fits (Remez exchange at 300 bits, coefficients rounded to the type).
//! They approximate `(e^r - 1 - r) / r^2` and `(2^r - 1 - r ln 2) / r^2`. The total relative errors
//! are below 2^-56 (`f64`) and 2^-27 (`f32`).

use super::real::{Real, Word};

/// Holds the constants of a type.
struct ExpConstants {
    /// 1.5 times the power of two at which a unit in the last place is 1: adding it rounds to
    /// integer.
    magic: f64,
    /// `ln 2` in two parts, the first so short that its products with exponents are exact.
    ln2: [f64; 2],
    /// The coefficients of `(e^r - 1 - r) / r^2`.
    exp: &'static [f64],
    /// The coefficients of `(2^r - 1 - r ln 2) / r^2`.
    exp2: &'static [f64],
    /// The exponent bias, and the bits of the mantissa.
    bias: u64,
    mantissa: u32,
    /// Below the first, `e^x` rounds to 0; above the second, it overflows.
    range: [f64; 2],
    /// The same for `2^x`.
    range2: [f64; 2],
}

const SINGLE: ExpConstants = ExpConstants {
    magic: 12_582_912.0,
    ln2: [0.693145751953125, 1.428606765330187e-6],
    exp: &[
        0.0013815572019666433,
        0.008368122391402721,
        0.041668280959129333,
        0.16666528582572937,
        0.4999999403953552,
    ],
    exp2: &[
        0.00015322217950597405,
        0.0013389220694079995,
        0.009618501178920269,
        0.05550364777445793,
        0.24022647738456726,
    ],
    bias: 127,
    mantissa: 23,
    range: [-105.0, 89.0],
    range2: [-151.0, 129.0],
};

const DOUBLE: ExpConstants = ExpConstants {
    magic: 6_755_399_441_055_744.0,
    ln2: [0.6931471805601177, -1.7239444525614835e-13],
    exp: &[
        2.4984561154005407e-08,
        2.762683431361877e-07,
        2.7557619706972134e-06,
        2.4801503728450264e-05,
        0.00019841269493208065,
        0.0013888888932172823,
        0.008333333333485139,
        0.04166666666657916,
        0.16666666666666463,
        0.5000000000000004,
    ],
    exp2: &[
        4.4335519033828185e-10,
        7.0727080838636546e-09,
        1.0178196990342521e-07,
        1.3215442258329669e-06,
        1.5252733536491601e-05,
        0.0001540353044138584,
        0.0013333558146671337,
        0.009618129107608278,
        0.055504108664820896,
        0.24022650695910092,
    ],
    bias: 1023,
    mantissa: 52,
    range: [-746.0, 710.0],
    range2: [-1076.0, 1025.0],
};

/// The reduced argument and the integer `n`; `n` is also in the low bits of `shifted`.
struct Reduced<R: Real> {
    r: R,
    n: R,
    shifted: R,
}

/// Returns `e^x`.
#[inline(always)]
pub fn exp<R: Real>(x: R) -> R {
    let k = R::pick(&SINGLE, &DOUBLE);
    let Reduced { r, shifted, .. } = reduce(x.clamp(k.range[0], k.range[1]));
    scale(exp_near(r), shifted, 0)
}

/// Returns `e^x / 2`, also where only `e^x` overflows.
#[inline(always)]
pub(super) fn half_exp<R: Real>(x: R) -> R {
    let k = R::pick(&SINGLE, &DOUBLE);
    let Reduced { r, shifted, .. } = reduce(x.clamp(k.range[0], k.range[1] + 1.0));
    scale(exp_near(r), shifted, 1)
}

/// Returns `e^(x + low)`, for `low` far smaller than `x`.
#[inline(always)]
pub(super) fn exp_of_sum<R: Real>(x: R, low: R) -> R {
    let k = R::pick(&SINGLE, &DOUBLE);
    let Reduced { r, shifted, .. } = reduce(x.clamp(k.range[0], k.range[1]));
    scale(exp_near(r + low), shifted, 0)
}

/// Returns `2^x`.
#[inline(always)]
pub fn exp2<R: Real>(x: R) -> R {
    let k = R::pick(&SINGLE, &DOUBLE);
    let clamped = x.clamp(k.range2[0], k.range2[1]);
    let (n, shifted) = round(clamped);
    let r = clamped - n;
    let slope = r.poly(k.exp2).mul_add(r, x.of(std::f64::consts::LN_2));
    scale(slope.mul_add(r, x.of(1.0)), shifted, 0)
}

/// Returns `e^x - 1`, exact near 0.
#[inline(always)]
pub fn exp_m1<R: Real>(x: R) -> R {
    let k = R::pick(&SINGLE, &DOUBLE);
    // Below, -1 is the nearest number.
    let low = R::pick(-18.0, -39.0);
    let Reduced { r, n, shifted } = reduce(x.clamp(low, k.range[1]));
    let near = (r * r).mul_add(r.poly(k.exp), r);
    // Half the size, so that the power of two for the largest results stays in range.
    let half = power(shifted, k, 1);
    let sum = half.mul_add(near, half - x.of(0.5)) * x.of(2.0);
    // -0.0 keeps its sign, and unscaled results are not rounded twice.
    R::select(n.same(x.of(0.0)), near, sum).copysign(x)
}

/// Returns `e^r`.
#[inline(always)]
fn exp_near<R: Real>(r: R) -> R {
    let k = R::pick(&SINGLE, &DOUBLE);
    let one = r.of(1.0);
    r.poly(k.exp).mul_add(r, one).mul_add(r, one)
}

/// Reduces an argument in range.
#[inline(always)]
fn reduce<R: Real>(x: R) -> Reduced<R> {
    let k = R::pick(&SINGLE, &DOUBLE);
    let magic = x.of(k.magic);
    let shifted = x.mul_add(x.of(std::f64::consts::LOG2_E), magic);
    let n = shifted - magic;
    let high = n.mul_add(x.of(-k.ln2[0]), x);
    let r = n.mul_add(x.of(-k.ln2[1]), high);
    Reduced { r, n, shifted }
}

/// Returns `x 2^(n - less)` for `n` in the low bits of `shifted`. Both factors are normal numbers.
/// Only the second product is rounded, even if the result is subnormal or overflows.
#[inline(always)]
fn scale<R: Real>(x: R, shifted: R, less: u64) -> R {
    let k = R::pick(&SINGLE, &DOUBLE);
    let bits = shifted.bits();
    // n - less plus twice the bias: positive.
    let exponent = bits.minus(bits.of(magic_bits::<R>() + less - 2 * k.bias));
    let half = exponent.shr(1);
    let first = half.shl(k.mantissa).real();
    let second = exponent.minus(half).shl(k.mantissa).real();
    x * first * second
}

/// Returns the bit pattern of the magic number, which is added to `n`.
#[inline(always)]
fn magic_bits<R: Real>() -> u64 {
    R::pick(
        u64::from((SINGLE.magic as f32).to_bits()),
        DOUBLE.magic.to_bits(),
    )
}

/// Returns the nearest integer, and a float with that integer in its low bits.
#[inline(always)]
pub(super) fn round<R: Real>(x: R) -> (R, R) {
    let magic = x.of(R::pick(SINGLE.magic, DOUBLE.magic));
    let shifted = x + magic;
    (shifted - magic, shifted)
}

/// Returns `2^n`, a normal number, for `n` in the low bits of `shifted`.
#[inline(always)]
pub(super) fn power_of_two<R: Real>(shifted: R) -> R {
    power(shifted, R::pick(&SINGLE, &DOUBLE), 0)
}

/// Returns `2^(n - less)`, a normal number.
#[inline(always)]
fn power<R: Real>(shifted: R, k: &ExpConstants, less: u64) -> R {
    let bits = shifted.bits();
    let exponent = bits.minus(bits.of(magic_bits::<R>() + less - k.bias));
    exponent.shl(k.mantissa).real()
}
