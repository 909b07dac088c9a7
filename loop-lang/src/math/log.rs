//! Logarithms.
//!
//! The argument is `x = 2^k m` with `m` within a factor of `sqrt 2` of 1. With `f = m - 1` and `s =
//! f / (2 + f)`, the odd series is `ln m = 2 s + s^3 P(s^2)`.
//!
//! `P` is a minimax fit (Remez exchange at 300 bits). The total relative errors are below 2^-59
//! (`f64`) and 2^-30 (`f32`).

use super::real::{Real, Word};
use std::f64::consts;

/// Holds the constants of a type.
struct LogConstants {
    /// The coefficients of `P`.
    series: &'static [f64],
    /// `ln 2` in two parts of the type's precision.
    ln2: [f64; 2],
    /// `1 / ln 2` and `1 / ln 10` in two parts of the type's precision.
    log2_e: [f64; 2],
    log10_e: [f64; 2],
    /// `log10 2` in two parts.
    log10_2: [f64; 2],
    /// The bits of the mantissa.
    mantissa: u32,
    /// The exponent bias minus 1.
    bias: f64,
    /// The bit pattern of `sqrt 1/2`, and its mantissa alone.
    root: u64,
    root_mantissa: u64,
    /// The smallest normal number.
    smallest: f64,
    /// A power of two that makes every subnormal number normal, and its exponent.
    lift: [f64; 2],
    /// The power of two at which a unit in the last place is 1, and its bit pattern.
    unit: f64,
    unit_bits: u64,
}

#[allow(
    clippy::approx_constant,
    reason = "parts of constants, in the type's precision"
)]
const SINGLE: LogConstants = LogConstants {
    series: &[0.2987212836742401, 0.39977553486824036, 0.6666677594184875],
    ln2: [0.6931471824645996, -1.9046542121259336e-09],
    log2_e: [1.4426950216293335, 1.925963033500011e-08],
    log10_e: [0.4342944920063019, -1.0103049952192578e-08],
    log10_2: [0.3010300099849701, -1.432098883924482e-08],
    mantissa: 23,
    bias: 126.0,
    root: 0x3F35_04F3,
    root_mantissa: 0x0035_04F3,
    smallest: f32::MIN_POSITIVE as f64,
    lift: [33_554_432.0, 25.0],
    unit: 8_388_608.0,
    unit_bits: 0x4B00_0000,
};

const DOUBLE: LogConstants = LogConstants {
    series: &[
        0.14798859545547227,
        0.15313778221532154,
        0.18183574198132862,
        0.22222198399354728,
        0.2857142874390694,
        0.3999999999940876,
        0.6666666666666735,
    ],
    ln2: [consts::LN_2, 2.3190468138462996e-17],
    log2_e: [consts::LOG2_E, 2.0355273740931033e-17],
    log10_e: [consts::LOG10_E, 1.098319650216765e-17],
    log10_2: [consts::LOG10_2, -2.8037281277851704e-18],
    mantissa: 52,
    bias: 1022.0,
    root: 0x3FE6_A09E_667F_3BCD,
    root_mantissa: 0x0006_A09E_667F_3BCD,
    smallest: f64::MIN_POSITIVE,
    lift: [18_014_398_509_481_984.0, 54.0],
    unit: 4_503_599_627_370_496.0,
    unit_bits: 0x4330_0000_0000_0000,
};

/// `m - 1` and `k`.
pub(super) struct Parts<R> {
    pub f: R,
    pub k: R,
}

/// Decomposes a positive finite number. For other numbers the parts are meaningless.
#[inline(always)]
pub(super) fn parts<R: Real>(x: R) -> Parts<R> {
    let c = R::pick(&SINGLE, &DOUBLE);
    let tiny = x.lt(x.of(c.smallest));
    let bits = R::select(tiny, x * x.of(c.lift[0]), x).bits();
    let moved = bits.minus(bits.of(c.root_mantissa));
    let field = moved.shr(c.mantissa);
    // Small integers become floats as the low bits of a mantissa.
    let field = field.plus(field.of(c.unit_bits)).real();
    let bias = R::select(
        tiny,
        x.of(c.unit + c.bias + c.lift[1]),
        x.of(c.unit + c.bias),
    );
    let mask = moved.of((1 << c.mantissa) - 1);
    let m = moved.and(mask).plus(moved.of(c.root)).real();
    Parts {
        f: m - x.of(1.0),
        k: field - bias,
    }
}

/// Returns `ln(1 + f) - (f - f^2 / 2)`, and `f^2 / 2`.
#[inline(always)]
fn tail<R: Real>(f: R) -> (R, R) {
    let c = R::pick(&SINGLE, &DOUBLE);
    let s = f / (f + f.of(2.0));
    let z = s * s;
    let square = f * f * f.of(0.5);
    (s * z.mul_add(z.poly(c.series), square), square)
}

/// Adds the special cases of a logarithm: 0, negative numbers, infinity and NaN. They do not wait
/// for `inside`.
#[inline(always)]
fn ends<R: Real>(x: R, inside: R) -> R {
    let zero = x.of(0.0);
    let edge = R::select(x.same(zero), x.of(f64::NEG_INFINITY), x);
    let edge = R::select(x.lt(zero), x.of(f64::NAN), edge);
    R::select(zero.lt(x) & x.lt(x.of(f64::INFINITY)), inside, edge)
}

/// The coefficients of `(ln(1 + f) - f + f^2 / 2) / f^3` for `f32`, with a total relative error
/// below 2^-28. At this precision, a polynomial without a quotient is cheaper than a division.
const PLAIN: &[f64] = &[
    0.06750178337097168,
    -0.11502856016159058,
    0.11787249147891998,
    -0.12429744750261307,
    0.14238210022449493,
    -0.16667163372039795,
    0.200010284781456,
    -0.25000011920928955,
    0.3333333134651184,
];

/// Returns the natural logarithm.
#[inline(always)]
pub fn ln<R: Real>(x: R) -> R {
    let c = R::pick(&SINGLE, &DOUBLE);
    let Parts { f, k } = parts(x);
    let small = if R::SINGLE {
        let halves = f.poly(PLAIN).mul_add(f, x.of(-0.5));
        (f * f).mul_add(halves, k * x.of(c.ln2[1]))
    } else {
        let (tail, square) = tail(f);
        k.mul_add(x.of(c.ln2[1]), tail) - square
    };
    ends(x, k.mul_add(x.of(c.ln2[0]), small + f))
}

/// Returns `ln(1 + f)` as an unrounded sum.
#[inline(always)]
fn sum<R: Real>(f: R) -> (R, R) {
    let (tail, square) = tail(f);
    let lost = (f * f.of(0.5)).mul_add(f, -square);
    let high = f - square;
    (high, (((f - high) - square) - lost) + tail)
}

/// Returns the logarithm to a base: `ln(1 + f)` times `scale`, plus `k` times `two`. `scale` is the
/// reciprocal of the base's natural logarithm; `two` is the logarithm of 2.
#[inline(always)]
fn to_base<R: Real>(x: R, scale: &[f64; 2], two: &[f64; 2]) -> R {
    let Parts { f, k } = parts(x);
    let (high, low) = sum(f);
    let main = high * x.of(scale[0]);
    let rest = high.mul_add(x.of(scale[0]), -main);
    let rest = rest + low.mul_add(x.of(scale[0]), high * x.of(scale[1]));
    let whole = k * x.of(two[0]);
    let beside = k.mul_add(x.of(two[1]), k.mul_add(x.of(two[0]), -whole));
    // Either k is 0 or this is the larger part.
    let total = whole + main;
    ends(x, total + (((whole - total) + main) + (beside + rest)))
}

/// Returns the base 2 logarithm.
#[inline(always)]
pub fn log2<R: Real>(x: R) -> R {
    let c = R::pick(&SINGLE, &DOUBLE);
    to_base(x, &c.log2_e, &[1.0, 0.0])
}

/// Returns the base 10 logarithm.
#[inline(always)]
pub fn log10<R: Real>(x: R) -> R {
    let c = R::pick(&SINGLE, &DOUBLE);
    to_base(x, &c.log10_e, &c.log10_2)
}

/// Returns `ln(1 + x)`, exact near 0.
#[inline(always)]
pub fn ln_1p<R: Real>(x: R) -> R {
    let c = R::pick(&SINGLE, &DOUBLE);
    let one = x.of(1.0);
    let u = x + one;
    // The exact rounding error of the sum, for either order of magnitudes.
    let moved = u - one;
    let lost = (one - (u - moved)) + (x - moved);
    let Parts { f, k } = parts(u);
    let (tail, square) = tail(f);
    let small = k.mul_add(x.of(c.ln2[1]), tail) - square + lost / u;
    // -0.0 keeps its sign.
    ends(u, k.mul_add(x.of(c.ln2[0]), small + f)).copysign(x)
}
