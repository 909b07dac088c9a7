//! Sine, cosine and tangent.
//!
//! The argument is reduced to `x = n pi/2 + r + low` with `|r| <= pi/4`. Two polynomials give the
//! sine and the cosine of `r`.
//!
//! The reduction subtracts `n pi/2` in three parts of the type's precision. The first difference is
//! exact while `n` has few enough bits; the type's [`limit`] is far below that bound.
//! [`super::huge`] reduces larger arguments.
//!
//! The polynomials are minimax fits (Remez exchange at 300 bits) of `(sin r - r) / r^3` and `(cos r
//! - 1 + r^2 / 2) / r^4` in `r^2`. The total relative errors are below 2^-57 (`f64`) and 2^-28
//! (`f32`).

use super::real::{Real, Word};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// Holds the constants of a type.
struct TrigConstants {
    /// Rounds to integer when added: see [`super::exp`].
    magic: f64,
    /// `pi / 2` in parts of the type's precision.
    quarter: [f64; 3],
    sine: &'static [f64],
    cosine: &'static [f64],
    /// The bits of the type, minus 2.
    to_sign: u32,
}

const SINGLE: TrigConstants = TrigConstants {
    magic: 12_582_912.0,
    quarter: [
        1.5707963705062866,
        -4.371138828673793e-08,
        -1.7151245100058819e-15,
    ],
    sine: &[
        -0.00019517811597324908,
        0.008332187309861183,
        -0.16666655242443085,
    ],
    cosine: &[
        2.4430661142105237e-05,
        -0.00138873013202101,
        0.04166664555668831,
    ],
    to_sign: 30,
};

const DOUBLE: TrigConstants = TrigConstants {
    magic: 6_755_399_441_055_744.0,
    quarter: [FRAC_PI_2, 6.123233995736766e-17, -1.4973849048591698e-33],
    sine: &[
        1.5895006142762294e-10,
        -2.5050728108390518e-08,
        2.755731350631238e-06,
        -0.00019841269829291912,
        0.008333333333321796,
        -0.1666666666666663,
    ],
    cosine: &[
        -1.1358443289094384e-11,
        2.087570069933957e-09,
        -2.7557314191743344e-07,
        2.4801587288946914e-05,
        -0.0013888888888873303,
        0.041666666666666595,
    ],
    to_sign: 62,
};

/// Returns the exclusive limit of arguments for this file's functions.
///
/// Larger arguments, infinities and NaN need other functions.
#[inline(always)]
pub fn limit<R: Real>() -> f64 {
    R::pick(262_144.0, 1_073_741_824.0)
}

/// A reduced argument `r + low`; the low bits of `quarters` count quarter turns.
#[derive(Clone, Copy)]
pub(super) struct Turn<R: Real> {
    pub r: R,
    pub low: R,
    pub quarters: R::Bits,
}

/// Reduces an argument below the [`limit`].
#[inline(always)]
fn reduce<R: Real>(x: R) -> Turn<R> {
    let c = R::pick(&SINGLE, &DOUBLE);
    let magic = x.of(c.magic);
    let shifted = x.mul_add(x.of(FRAC_2_PI), magic);
    let n = shifted - magic;
    let [first, second, third] = c.quarter.map(|p| x.of(p));
    let high = (-n).mul_add(first, x);
    let product = n * second;
    let lost = n.mul_add(second, -product);
    let r = high - product;
    let low = ((high - r) - product) - n.mul_add(third, lost);
    let quarters = shifted.bits();
    Turn { r, low, quarters }
}

/// `sin(r + low)`.
#[inline(always)]
fn sine<R: Real>(turn: Turn<R>) -> R {
    let Turn { r, low, .. } = turn;
    let c = R::pick(&SINGLE, &DOUBLE);
    let z = r * r;
    (r * z).mul_add(z.poly(c.sine), low) + r
}

/// `cos(r + low)`.
#[inline(always)]
fn cosine<R: Real>(turn: Turn<R>) -> R {
    let Turn { r, low, .. } = turn;
    let c = R::pick(&SINGLE, &DOUBLE);
    let one = r.of(1.0);
    let z = r * r;
    let half = z * r.of(0.5);
    let near = one - half;
    let rest = (z * z).mul_add(z.poly(c.cosine), -(r * low));
    near + (((one - near) - half) + rest)
}

/// Returns the sine of a reduced argument, `ahead` quarter turns further.
#[inline(always)]
pub(super) fn of_turn<R: Real>(turn: Turn<R>, ahead: u64) -> R {
    let c = R::pick(&SINGLE, &DOUBLE);
    let quarters = turn.quarters.plus(turn.quarters.of(ahead));
    let even = quarters.and(quarters.of(1)).same(quarters.of(0));
    let sign = quarters.and(quarters.of(2)).shl(c.to_sign);
    let value = R::select(even, sine(turn), cosine(turn));
    value.bits().xor(sign).real()
}

/// Returns the tangent of a reduced argument.
#[inline(always)]
pub(super) fn tan_of_turn<R: Real>(turn: Turn<R>) -> R {
    let (sine, cosine) = (sine(turn), cosine(turn));
    let quarters = turn.quarters;
    let even = quarters.and(quarters.of(1)).same(quarters.of(0));
    R::select(even, sine, -cosine) / R::select(even, cosine, sine)
}

/// Returns the sine.
#[inline(always)]
pub fn sin<R: Real>(x: R) -> R {
    // -0.0 keeps its sign.
    R::select(x.same(x.of(0.0)), x, of_turn(reduce(x), 0))
}

/// Returns the cosine.
#[inline(always)]
pub fn cos<R: Real>(x: R) -> R {
    of_turn(reduce(x), 1)
}

/// Returns the tangent.
#[inline(always)]
pub fn tan<R: Real>(x: R) -> R {
    R::select(x.same(x.of(0.0)), x, tan_of_turn(reduce(x)))
}
