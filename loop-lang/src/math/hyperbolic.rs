//! Hyperbolic functions and their inverses, by `e^x - 1` and `ln(1 + x)`.

use super::exp::{exp_m1, half_exp};
use super::log::ln_1p;
use super::real::Real;
use std::f64::consts::LN_2;

/// Returns the hyperbolic sine.
#[inline(always)]
pub fn sinh<R: Real>(x: R) -> R {
    let a = x.abs();
    let t = exp_m1(a.at_most(30.0));
    let near = (t + t / (t + x.of(1.0))) * x.of(0.5);
    // Beyond 22, e^-x is less than half a unit in the last place.
    R::select(a.lt(x.of(22.0)), near, half_exp(a)).copysign(x)
}

/// Returns the hyperbolic cosine.
#[inline(always)]
pub fn cosh<R: Real>(x: R) -> R {
    let half = half_exp(x.abs());
    half + x.of(0.25) / half
}

/// Returns the hyperbolic tangent.
#[inline(always)]
pub fn tanh<R: Real>(x: R) -> R {
    let t = exp_m1((x.abs() + x.abs()).at_most(44.0));
    (t / (t + x.of(2.0))).copysign(x)
}

/// From here on, x and `x + 1` round to the same number, and so do x and `sqrt(x^2 + 1)`.
const LARGE: f64 = 72_057_594_037_927_936.0;

/// Returns the inverse hyperbolic sine.
#[inline(always)]
pub fn asinh<R: Real>(x: R) -> R {
    let a = x.abs();
    let large = x.of(LARGE).lt(a);
    let one = x.of(1.0);
    let square = a * a;
    let near = a + square / ((square + one).sqrt() + one);
    let ln = ln_1p(R::select(large, a, near));
    (ln + R::select(large, x.of(LN_2), x.of(0.0))).copysign(x)
}

/// Returns the inverse hyperbolic cosine, or NaN below 1.
#[inline(always)]
pub fn acosh<R: Real>(x: R) -> R {
    let large = x.of(LARGE).lt(x);
    let t = x - x.of(1.0);
    let near = t + (t * (t + x.of(2.0))).sqrt();
    let ln = ln_1p(R::select(large, x, near)) + R::select(large, x.of(LN_2), x.of(0.0));
    R::select(x.lt(x.of(1.0)), x.of(f64::NAN), ln)
}

/// Returns the inverse hyperbolic tangent, or NaN beyond 1.
#[inline(always)]
pub fn atanh<R: Real>(x: R) -> R {
    let a = x.abs();
    let ln = ln_1p((a + a) / (x.of(1.0) - a)) * x.of(0.5);
    ln.copysign(x)
}
