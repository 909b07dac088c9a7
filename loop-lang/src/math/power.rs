//! Powers and roots.

use super::exp::{exp, exp_of_sum, power_of_two, round};
use super::log::{Parts, ln, parts};
use super::real::Real;

/// Returns `x` to the power `y`, by `e^(y ln |x|)`.
#[inline(always)]
pub fn powf<R: Real>(x: R, y: R) -> R {
    let (zero, one, infinity) = (x.of(0.0), x.of(1.0), x.of(f64::INFINITY));
    let a = x.abs();
    let size = if R::SINGLE {
        // `f64` has enough digits of the logarithm for an `f32`.
        R::narrow(exp(y.widen() * ln(a.widen())))
    } else {
        let (high, low) = long_ln(a);
        let edge = R::select(a.same(zero), x.of(f64::NEG_INFINITY), high);
        let high = R::select(a.lt(infinity), edge, a);
        let product = y * high;
        let rest = y.mul_add(high, -product) + y * low;
        // For infinite products, `rest` is NaN.
        let bounded = product.abs().lt(x.of(1000.0));
        exp_of_sum(product, R::select(bounded, rest, zero))
    };
    // 1 to any power, anything to the power 0.
    let unit = a.same(one) & y.same(y);
    let size = R::select(unit, one, size);

    // One comparison. If `y` is loop-invariant, so is a combination of comparisons of it, and gcc
    // does not vectorise selections by such combinations.
    let whole = |v: R| v.round().same(v);
    let no_sign = R::select(a.same(infinity) | a.same(zero), one, x.of(f64::NAN));
    let parity = R::select(whole(y * x.of(0.5)), one, x.of(-1.0));
    let sign = R::select(whole(y), parity, no_sign);
    let negative = one.copysign(x).lt(zero);
    let signed = R::select(negative, size * sign, size);
    R::select(x.same(one) | y.same(zero), one, signed)
}

/// Returns `ln x` of a positive finite number to some 70 bits, as an unrounded sum. It uses the
/// series of [`super::log`] with its first terms in two parts each.
#[inline(always)]
fn long_ln<R: Real>(x: R) -> (R, R) {
    // Minimax fit of the terms after 2/3, in s^2.
    const SERIES: &[f64] = &[
        0.11992002339189105,
        0.11674459959131063,
        0.13336335064804625,
        0.15384556412745146,
        0.18181818877026806,
        0.22222222217481788,
        0.28571428571445334,
        0.39999999999999974,
    ];
    let Parts { f, k } = parts(x);
    let two = x.of(2.0);
    let d = f + two;
    let d_low = f - (d - two);
    let inverse = x.of(1.0) / d;
    let s = f * inverse;
    let s_low = ((-s).mul_add(d, f) - s * d_low) * inverse;

    let z = s * s;
    let z_low = s.mul_add(s, -z) + two * s * s_low;
    let t = z.poly(SERIES);
    let zt = z * t;
    let zt_low = z.mul_add(t, -zt) + z_low * t;
    let third = x.of(2.0 / 3.0);
    let p = third + zt;
    let p_low = ((third - p) + zt) + (zt_low + x.of(3.700743415417188e-17));

    let cube = s * z;
    let cube_low = s.mul_add(z, -cube) + (s * z_low + s_low * z);
    let far = cube * p;
    let far_low = cube.mul_add(p, -far) + (cube * p_low + cube_low * p);

    let near = two * s;
    let ln = near + far;
    let ln_low = ((near - ln) + far) + (two * s_low + far_low);

    // So short that its product with k is exact.
    let steps = k * x.of(0.6931471805601177);
    let steps_low = k * x.of(-1.7239444525614835e-13);
    let high = steps + ln;
    let low = ((steps - high) + ln) + (ln_low + steps_low);
    let sum = high + low;
    (sum, (high - sum) + low)
}

/// Returns the `n`-fold product of `x` under an associative operator, by squaring.
///
/// The factors are the powers `x^(2^k)` for the set bits of `n`, combined from the lowest bit. The
/// result is none if `n` is 0.
#[inline]
pub fn by_squares<T: Copy>(x: T, n: u32, mut times: impl FnMut(T, T) -> T) -> Option<T> {
    let (mut power, mut square, mut left) = (None, x, n);
    while left > 0 {
        if left % 2 == 1 {
            power = Some(power.map_or(square, |p| times(p, square)));
        }
        left /= 2;
        if left > 0 {
            square = times(square, square);
        }
    }
    power
}

/// Returns `x` to an integer power, by [repeated squaring](by_squares).
///
/// Negative exponents take the reciprocal. Each product is rounded once, so the error is below
/// `|n|` units in the last place.
#[inline]
pub fn powi<R: Real<Truth = bool>>(x: R, n: i32) -> R {
    let one = x.of(1.0);
    let to = |n: u32| by_squares(x, n, |a, b| a * b).unwrap_or(one);
    let size = n.unsigned_abs();
    let power = to(size);
    if n >= 0 {
        return power;
    }
    let least = x.of(R::pick(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE));
    let normal = !power.abs().lt(least) & power.abs().lt(x.of(f64::INFINITY));
    if normal {
        return one / power;
    }
    // The power is out of range, but its reciprocal may be in range: divide by two halves.
    one / to(size / 2) / to(size - size / 2)
}

/// Returns the cube root.
///
/// The root of `2^(3 j) m` is `2^j` times the root of `m`. A polynomial for the reciprocal cube
/// root (minimax, error 2^-17) starts two steps of Newton's method.
#[inline(always)]
pub fn cbrt<R: Real>(x: R) -> R {
    const START: &[f64] = &[
        -0.10806411750024188,
        0.700737568585094,
        -1.898127655730681,
        2.792203863536598,
        -2.4859154216899872,
        1.9991696088514848,
    ];
    let a = x.abs();
    let one = x.of(1.0);
    let Parts { f, k } = parts(a);
    let (j, shifted) = round(k * x.of(1.0 / 3.0));
    let left = k - j * x.of(3.0);
    let by = |down: f64, up: f64| {
        let (zero, down, up) = (x.of(0.0), x.of(down), x.of(up));
        R::select(left.same(zero), one, R::select(left.lt(zero), down, up))
    };
    let m = f + one;
    let start = m.poly(START) * by(1.2599210498948732, 1.0 / 1.2599210498948732);
    let m = m * by(0.5, 2.0);
    let third = x.of(1.0 / 3.0);
    let miss = one - m * start * start * start;
    let inverse = (start * third).mul_add(miss, start);
    let square = inverse * inverse;
    let root = m * square;
    let of_root = root * root;
    let lost = root.mul_add(root, -of_root);
    let miss = (-of_root).mul_add(root, m) - lost * root;
    let root = (miss * third).mul_add(square, root) * power_of_two(shifted);
    let finite = R::select(a.lt(x.of(f64::INFINITY)), root, a);
    R::select(x.same(x.of(0.0)), x, finite.copysign(x))
}

/// Returns the length of the hypotenuse.
#[inline(always)]
pub fn hypot<R: Real>(x: R, y: R) -> R {
    let (a, b) = (x.abs(), y.abs());
    let infinity = x.of(f64::INFINITY);
    let large = R::select(a.lt(b), b, a);
    let [down, up] = [-600, 600].map(|e| 2f64.powi(e));
    let pick = |huge: f64, tiny: f64| {
        let small = R::select(large.lt(x.of(2f64.powi(-450))), x.of(tiny), x.of(1.0));
        R::select(large.gt(x.of(2f64.powi(450))), x.of(huge), small)
    };
    let (shrink, back) = (pick(down, up), pick(up, down));
    let (a_part, b_part) = (a * shrink, b * shrink);
    let length = a_part.mul_add(a_part, b_part * b_part).sqrt() * back;
    R::select(a.same(infinity) | b.same(infinity), infinity, length)
}
