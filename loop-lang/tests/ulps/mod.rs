//! Errors of the functions of `loop_lang::math`, in units in the last place.

use astro_float_num::{BigFloat, Consts, RoundingMode};
use loop_lang::eval::eval;
use loop_lang::{Op, Ty};

/// The bits of the reference: twice the precision of an `f64`, plus a margin for cancellation.
const BITS: usize = 192;
const ROUND: RoundingMode = RoundingMode::ToEven;

/// Lists every function with its documented maximum errors.
///
/// The first is for `f32`, the second for `f64`.
pub const BOUNDS: &[(Op, f64, f64)] = &[
    (Op::Exp, 1.0, 1.0),
    (Op::Exp2, 1.0, 1.0),
    (Op::ExpM1, 2.0, 2.5),
    (Op::Ln, 1.0, 1.0),
    (Op::Ln1p, 1.0, 1.0),
    (Op::Log2, 1.0, 1.0),
    (Op::Log10, 1.0, 1.0),
    (Op::Sin, 1.0, 1.0),
    (Op::Cos, 1.0, 1.0),
    (Op::Tan, 0.51, 2.5),
    (Op::Asin, 0.51, 2.0),
    (Op::Acos, 0.51, 1.5),
    (Op::Atan, 0.51, 2.5),
    (Op::Sinh, 0.51, 3.0),
    (Op::Cosh, 2.0, 2.0),
    (Op::Tanh, 3.0, 3.0),
    (Op::Asinh, 0.51, 2.5),
    (Op::Acosh, 0.51, 2.5),
    (Op::Atanh, 0.51, 2.5),
    (Op::Cbrt, 0.51, 0.51),
    (Op::Powf, 0.51, 1.1),
    (Op::Atan2, 0.51, 2.5),
    (Op::Hypot, 0.51, 1.5),
];

/// Returns a function's value.
pub fn value(op: Op, ty: Ty, x: f64, y: f64) -> f64 {
    let words = match ty {
        Ty::F32 => [x as f32, y as f32].map(|x| u64::from(x.to_bits())),
        _ => [x, y].map(f64::to_bits),
    };
    let word = eval(op, ty, ty, &words[..op.arity()]);
    match ty {
        Ty::F32 => f64::from(f32::from_bits(word as u32)),
        _ => f64::from_bits(word),
    }
}

/// Returns std's value, exact in special cases and nearly so in others.
pub fn std_value(op: Op, x: f64, y: f64) -> f64 {
    match op {
        Op::Exp => x.exp(),
        Op::Exp2 => x.exp2(),
        Op::ExpM1 => x.exp_m1(),
        Op::Ln => x.ln(),
        Op::Ln1p => x.ln_1p(),
        Op::Log2 => x.log2(),
        Op::Log10 => x.log10(),
        Op::Sin => x.sin(),
        Op::Cos => x.cos(),
        Op::Tan => x.tan(),
        Op::Asin => x.asin(),
        Op::Acos => x.acos(),
        Op::Atan => x.atan(),
        Op::Sinh => x.sinh(),
        Op::Cosh => x.cosh(),
        Op::Tanh => x.tanh(),
        Op::Asinh => libm_asinh(x),
        Op::Acosh => libm_acosh(x),
        Op::Atanh => libm_atanh(x),
        Op::Cbrt => x.cbrt(),
        Op::Powf => x.powf(y),
        Op::Atan2 => x.atan2(y),
        Op::Hypot => x.hypot(y),
        _ => panic!("{op:?} is no function of the module"),
    }
}

// From C: Rust's own are formulas that lose digits.
unsafe extern "C" {
    fn asinh(x: f64) -> f64;
    fn acosh(x: f64) -> f64;
    fn atanh(x: f64) -> f64;
}

macro_rules! of_c {
    ($($name:ident $c:ident)*) => { $(
        fn $name(x: f64) -> f64 {
            // SAFETY: a pure function of C's library, which std links.
            unsafe { $c(x) }
        }
    )* };
}

of_c!(libm_asinh asinh libm_acosh acosh libm_atanh atanh);

/// Returns the error of an `f32` against a much more precise value.
pub fn error_f32(got: f64, want: f64) -> f64 {
    if want.is_nan() || got.is_nan() {
        return if want.is_nan() && got.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    // Beyond the range, infinity represents the next power of two.
    let top = 2f64.powi(128);
    let (got, want) = (got.clamp(-top, top), want.clamp(-top, top));
    let exponent = (want.abs().to_bits() >> 52) as i32 - 1023;
    (got - want).abs() / 2f64.powi((exponent - 23).clamp(-149, 104))
}

/// Returns the error of an `f64` against the reference.
pub fn error_f64(got: f64, want: &BigFloat) -> f64 {
    if want.is_nan() || got.is_nan() {
        return if want.is_nan() && got.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    let exponent = want.exponent().unwrap_or(-2000);
    if want.is_inf() || exponent > 1024 {
        let same = got.is_infinite() && (got > 0.0) == want.is_positive();
        return if same { 0.0 } else { f64::INFINITY };
    }
    let got = match got.is_infinite() {
        true => {
            let mut edge = BigFloat::from_f64(got.signum(), BITS);
            edge.set_exponent(1025);
            edge
        }
        false => big(got),
    };
    let difference = got.sub(want, BITS, ROUND);
    let Some((words, _, _, size, _)) = difference.as_raw_parts() else {
        return f64::INFINITY;
    };
    let top = words.last().copied().unwrap_or(0) as f64 * 2f64.powi(-64);
    if top == 0.0 {
        return 0.0;
    }
    top * 2f64.powi(size - (exponent - 53).max(-1074))
}

/// Converts a number for the reference; subnormal numbers pass through normal ones.
fn big(x: f64) -> BigFloat {
    if x == 0.0 || x.is_normal() {
        return BigFloat::from_f64(x, BITS);
    }
    let mut lifted = BigFloat::from_f64(x * 2f64.powi(200), BITS);
    lifted.set_exponent(lifted.exponent().unwrap_or(0) - 200);
    lifted
}

/// Computes the reference.
pub struct Reference {
    consts: Consts,
}

impl Reference {
    /// Makes a new reference.
    pub fn new() -> Reference {
        let consts = Consts::new().expect("room for constants");
        Reference { consts }
    }

    /// Returns the true value, to [`BITS`] bits, for finite operands.
    pub fn value(&mut self, op: Op, x: f64, y: f64) -> BigFloat {
        let cc = &mut self.consts;
        let (a, b, one) = (big(x), big(y), big(1.0));
        // Two terms of the series suffice where a sum with 1 would take too many bits.
        let tiny = x.abs() < 2f64.powi(-70);
        let half_square = || a.mul(&a, BITS, ROUND).mul(&big(0.5), BITS, ROUND);
        match op {
            Op::Exp => a.exp(BITS, ROUND, cc),
            Op::Exp2 => big(2.0).pow(&a, BITS, ROUND, cc),
            Op::ExpM1 if tiny => a.add(&half_square(), BITS, ROUND),
            Op::ExpM1 => a.exp(2 * BITS, ROUND, cc).sub(&one, BITS, ROUND),
            Op::Ln => a.ln(BITS, ROUND, cc),
            Op::Ln1p if tiny => a.sub(&half_square(), BITS, ROUND),
            Op::Ln1p => a.add(&one, 2 * BITS, ROUND).ln(BITS, ROUND, cc),
            Op::Log2 => a.log2(BITS, ROUND, cc),
            Op::Log10 => a.log10(BITS, ROUND, cc),
            Op::Sin => a.sin(BITS, ROUND, cc),
            Op::Cos => a.cos(BITS, ROUND, cc),
            Op::Tan => a.tan(BITS, ROUND, cc),
            Op::Asin => a.asin(BITS, ROUND, cc),
            Op::Acos => a.acos(BITS, ROUND, cc),
            Op::Atan => a.atan(BITS, ROUND, cc),
            Op::Sinh => a.sinh(BITS, ROUND, cc),
            Op::Cosh => a.cosh(BITS, ROUND, cc),
            Op::Tanh => a.tanh(BITS, ROUND, cc),
            Op::Asinh => a.asinh(BITS, ROUND, cc),
            Op::Acosh => a.acosh(BITS, ROUND, cc),
            Op::Atanh => a.atanh(BITS, ROUND, cc),
            Op::Cbrt => a.cbrt(BITS, ROUND),
            Op::Powf => a.pow(&b, BITS, ROUND, cc),
            Op::Atan2 => {
                let angle = a.abs().div(&b.abs(), BITS, ROUND).atan(BITS, ROUND, cc);
                let angle = match y.is_sign_negative() {
                    true => cc.pi(2 * BITS, ROUND).sub(&angle, BITS, ROUND),
                    false => angle,
                };
                if x.is_sign_negative() {
                    angle.neg()
                } else {
                    angle
                }
            }
            Op::Hypot => {
                let squares = [a, b].map(|a| a.mul(&a, 2 * BITS, ROUND));
                squares[0]
                    .add(&squares[1], 2 * BITS, ROUND)
                    .sqrt(BITS, ROUND)
            }
            _ => panic!("{op:?} is no function of the module"),
        }
    }
}

/// Returns the errors of `powi` at both widths.
///
/// Values out of range are not compared.
#[allow(
    dead_code,
    reason = "the example that measures the functions has no use for it"
)]
pub fn errors_of_powi(x: f64, n: i32) -> [f64; 2] {
    let power = |x: f64| {
        let size = big(x.abs()).powi(n.unsigned_abs() as usize, BITS, ROUND);
        let size = if n < 0 {
            size.reciprocal(BITS, ROUND)
        } else {
            size
        };
        if x < 0.0 && n % 2 != 0 {
            size.neg()
        } else {
            size
        }
    };
    let words = |x: u64| [x, i64::from(n) as u64];
    let single = eval(
        Op::Powi,
        Ty::F32,
        Ty::F32,
        &words(u64::from((x as f32).to_bits())),
    );
    let double = eval(Op::Powi, Ty::F64, Ty::F64, &words(x.to_bits()));
    let short = f64::from(x as f32);
    // For an `f32`, the reference is the `f64` value, with an error below 2^-20 of a unit.
    let want = f64::from_bits(eval(Op::Powi, Ty::F64, Ty::F64, &words(short.to_bits())));
    [
        error_f32(f64::from(f32::from_bits(single as u32)), want),
        error_f64(f64::from_bits(double), &power(x)),
    ]
}

/// Generates the same random numbers on all machines (splitmix64).
pub struct Random(pub u64);

impl Random {
    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * 2f64.powi(-53)
    }

    /// Returns a subnormal or nearly subnormal number of either width.
    pub fn subnormal(&mut self) -> f64 {
        let (bits, short) = (self.bits(), self.bits() % 53);
        let x = match self.bits() & 1 {
            0 => f64::from_bits(bits >> (11 + short)),
            _ => f64::from(f32::from_bits((bits >> (40 + short % 24)) as u32)),
        };
        if self.bits() & 1 == 0 { x } else { -x }
    }

    /// Returns a finite operand in an interesting range of the function.
    ///
    /// It is any bit pattern, any power of two within some bounds, near 1, subnormal, or evenly
    /// distributed.
    pub fn operand(&mut self, op: Op) -> f64 {
        let sign = if self.bits() & 1 == 0 { 1.0 } else { -1.0 };
        let x = match self.bits() % 9 {
            8 => self.subnormal(),
            0 => f64::from_bits(self.bits()),
            1 => sign * (1.0 + self.unit() * 2f64.powi(-((self.bits() % 40) as i32))),
            2 => sign * (1.0 - self.unit() * 2f64.powi(-((self.bits() % 40) as i32))),
            3 | 4 => sign * self.unit() * 2f64.powi((self.bits() % 64) as i32 - 40),
            5 => sign * self.unit() * 2f64.powi((self.bits() % 12) as i32),
            6 if matches!(op, Op::Sin | Op::Cos | Op::Tan) => {
                // Next to a multiple of pi / 2.
                let n = (self.bits() >> (12 + self.bits() % 50)) as f64;
                sign * n * std::f64::consts::FRAC_PI_2
            }
            _ => sign * self.unit() * 4.0,
        };
        if x.is_finite() { x } else { 0.5 }
    }
}
