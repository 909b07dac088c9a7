//! Inverse trigonometric functions: odd polynomials near 0, and identities for other arguments.
//!
//! The polynomials are minimax fits (Remez exchange at 300 bits) in `u^2`. They approximate `(atan
//! u - u) / u^3` for `u^2 < tan(pi/8)^2`, and `(asin u - u) / u^3` for `u^2 < 1/4`. The total
//! relative errors are below 2^-58.

use super::real::Real;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

const ATAN: &[f64] = &[
    -0.0179218446098798,
    0.03807793411268169,
    -0.0503983071834599,
    0.058480057390658965,
    -0.06663119963483026,
    0.07692061601746672,
    -0.09090897834564804,
    0.11111110786076524,
    -0.1428571428024738,
    0.1999999999995407,
    -0.333333333333332,
];

const ASIN: &[f64] = &[
    0.03267684347019554,
    -0.02107721651837854,
    0.02176344585516224,
    0.003683063108323144,
    0.010786523876811643,
    0.011397776797426741,
    0.013980961370285603,
    0.017351600097054547,
    0.022372215660067217,
    0.030381942683627434,
    0.04464285717512035,
    0.07499999999970264,
    0.16666666666666763,
];

/// The difference between pi and its `f64`.
const PI_LOW: f64 = 1.2246467991473532e-16;

/// Returns the angle of the point `(x, y)`.
#[inline(always)]
pub fn atan2<R: Real>(y: R, x: R) -> R {
    let (a, b) = (y.abs(), x.abs());
    let (zero, one, infinity) = (x.of(0.0), x.of(1.0), x.of(f64::INFINITY));
    // Treats two infinities as ones, and two zeros as 0 and 1. Sums must not overflow, and products
    // must not underflow.
    let large = R::select(a.lt(b), b, a);
    let [down, up] = [-100, 100].map(|e| x.of(2f64.powi(e)));
    let grow = R::select(large.lt(x.of(2f64.powi(-900))), up, one);
    let scale = R::select(large.gt(x.of(2f64.powi(1000))), down, grow);
    let corner = a.same(infinity) & b.same(infinity);
    let a = R::select(corner, one, a * scale);
    let b = R::select(corner, one, b * scale);
    let b = R::select(a.same(zero) & b.same(zero), one, b);

    // One of y / x, (y - x) / (y + x), -x / y is small; the angle adds 0, pi/4 or pi/2.
    let flat = a.lt(b * x.of(0.414_213_562_373_095));
    let middle = a.lt(b * x.of(2.414_213_562_373_095));
    let top = R::select(flat, a, R::select(middle, a - b, -b));
    let bottom = R::select(flat, b, R::select(middle, a + b, a));
    let pick =
        |f: f64, m: f64, s: f64| R::select(flat, x.of(f), R::select(middle, x.of(m), x.of(s)));
    let (turn, turn_low) = (
        pick(0.0, FRAC_PI_4, FRAC_PI_2),
        pick(0.0, PI_LOW / 4.0, PI_LOW / 2.0),
    );
    let u = top / bottom;
    let z = u * u;
    let small = (u * z).mul_add(z.poly(ATAN), u);

    // For negative x, the result is pi minus the angle: exactly, because the added angles are
    // multiples of pi/4.
    let left = one.copysign(x).lt(zero);
    let whole = R::select(left, x.of(PI) - turn, turn);
    let whole_low = R::select(left, x.of(PI_LOW) - turn_low, turn_low);
    let rest = whole_low + R::select(left, -small, small);
    (whole + rest).copysign(y)
}

/// Returns the arc tangent.
#[inline(always)]
pub fn atan<R: Real>(x: R) -> R {
    atan2(x, x.of(1.0))
}

/// For `a = |x|`, returns whether `a` is beyond 1/2, `u`, and `asin u - u`. Up to 1/2, `a = u`;
/// beyond, `a = 1 - 2 u^2`.
#[inline(always)]
fn half<R: Real>(a: R) -> (R::Truth, R, R) {
    let beyond = a.gt(a.of(0.5));
    let z = R::select(beyond, (a.of(1.0) - a) * a.of(0.5), a * a);
    let u = R::select(beyond, z.sqrt(), a);
    (beyond, u, u * z * z.poly(ASIN))
}

/// Returns the arc sine, or NaN beyond 1.
#[inline(always)]
pub fn asin<R: Real>(x: R) -> R {
    let (beyond, u, rest) = half(x.abs());
    let double = |x: R| x + x;
    let far = x.of(FRAC_PI_2) - (double(u) - (x.of(PI_LOW / 2.0) - double(rest)));
    R::select(beyond, far, u + rest).copysign(x)
}

/// Returns the arc cosine, or NaN beyond 1.
#[inline(always)]
pub fn acos<R: Real>(x: R) -> R {
    let (beyond, u, rest) = half(x.abs());
    let double = |x: R| x + x;
    let left = x.lt(x.of(0.0));
    let near = x.of(FRAC_PI_2) - (u.copysign(x) - (x.of(PI_LOW / 2.0) - rest.copysign(x)));
    let far = double(u + rest);
    let behind = x.of(PI) - (double(u) - (x.of(PI_LOW) - double(rest)));
    R::select(beyond, R::select(left, behind, far), near)
}
