//! What the operators compute, on canonical words (see [`Const`](crate::types::Const)): the reference
//! for every backend.
//!
//! Transcendental functions are those of [`crate::math`]. NaN payloads carry no meaning and are left as the
//! machine gives them, except that `min` and `max` of two NaN give the canonical quiet NaN.

mod call;
#[cfg(test)]
mod tests;

pub use call::{call, call_with, combine, join};

use crate::math::Math;
use crate::op::Op;
use crate::types::{Ty, canonical};

/// Value of `op`. `from` is the type of the first operand (of the arms, for `select`), `to` the
/// result's type. For operands that do not fit the operator the value is 0.
#[inline]
pub fn eval(op: Op, from: Ty, to: Ty, args: &[u64]) -> u64 {
    match (op, args) {
        (Op::Select, &[c, a, b]) => return if c & 1 == 1 { a } else { b },
        (Op::Copy | Op::Bitcast, &[a]) => return a,
        (Op::Cast, &[a]) => return cast(from, to, a),
        _ => {}
    }
    let value = match from {
        Ty::Bool => bool_op(op, args),
        Ty::I8 => int_i8::eval(op, args),
        Ty::I16 => int_i16::eval(op, args),
        Ty::I32 => int_i32::eval(op, args),
        Ty::I64 => int_i64::eval(op, args),
        Ty::U8 => int_u8::eval(op, args),
        Ty::U16 => int_u16::eval(op, args),
        Ty::U32 => int_u32::eval(op, args),
        Ty::U64 => int_u64::eval(op, args),
        Ty::F32 => float_f32::eval(op, args),
        Ty::F64 => float_f64::eval(op, args),
    };
    value.unwrap_or(0)
}

/// Conversion as Rust's `as`; to `bool`, whether the operand is not 0.
fn cast(from: Ty, to: Ty, a: u64) -> u64 {
    match (from, to) {
        (Ty::F32, Ty::F64) => f64::from(f32::from_bits(a as u32)).to_bits(),
        (Ty::F32, _) if to != Ty::F32 => from_float(f64::from(f32::from_bits(a as u32)), to),
        (Ty::F64, _) if to != Ty::F64 => from_float(f64::from_bits(a), to),
        _ if from == to => a,
        (_, Ty::F32) if from.is_signed() => u64::from((a as i64 as f32).to_bits()),
        (_, Ty::F32) => u64::from((a as f32).to_bits()),
        (_, Ty::F64) if from.is_signed() => (a as i64 as f64).to_bits(),
        (_, Ty::F64) => (a as f64).to_bits(),
        (_, Ty::Bool) => u64::from(a != 0),
        _ => canonical(to, a),
    }
}

/// An `f32` is widened before it is converted: that is exact, so nothing is rounded twice.
fn from_float(x: f64, to: Ty) -> u64 {
    match to {
        Ty::Bool => u64::from(x != 0.0),
        Ty::I8 => x as i8 as i64 as u64,
        Ty::I16 => x as i16 as i64 as u64,
        Ty::I32 => x as i32 as i64 as u64,
        Ty::I64 => x as i64 as u64,
        Ty::U8 => u64::from(x as u8),
        Ty::U16 => u64::from(x as u16),
        Ty::U32 => u64::from(x as u32),
        Ty::U64 => x as u64,
        Ty::F32 => u64::from((x as f32).to_bits()),
        Ty::F64 => x.to_bits(),
    }
}

/// The comparisons, for any type with Rust's own.
fn compare<T: PartialOrd>(op: Op, a: T, b: T) -> Option<u64> {
    Some(u64::from(match op {
        Op::Eq => a == b,
        Op::Ne => a != b,
        Op::Lt => a < b,
        Op::Le => a <= b,
        Op::Gt => a > b,
        Op::Ge => a >= b,
        _ => return None,
    }))
}

fn bool_op(op: Op, args: &[u64]) -> Option<u64> {
    match (op, args) {
        (Op::And, &[a, b]) => Some(a & b),
        (Op::Or, &[a, b]) => Some(a | b),
        (Op::Xor, &[a, b]) => Some(a ^ b),
        (Op::Not, &[a]) => Some(a ^ 1),
        (_, &[a, b]) => compare(op, a, b),
        _ => None,
    }
}

/// One module per integer type. `$signum` and `$abs` are what signed and unsigned types do not share.
macro_rules! int {
    ($module:ident, $t:ty, $signum:expr, $abs:expr) => {
        mod $module {
            use super::{Op, compare};

            #[inline]
            pub fn eval(op: Op, args: &[u64]) -> Option<u64> {
                match *args {
                    [a] => unary(op, a as $t).map(word),
                    [a, b] => binary(op, a as $t, b as $t),
                    _ => None,
                }
            }

            /// Sign-extends signed types and zero-extends the others.
            #[allow(clippy::unnecessary_cast, reason = "some instance is the identity")]
            fn word(x: $t) -> u64 {
                x as u64
            }

            fn unary(op: Op, a: $t) -> Option<$t> {
                Some(match op {
                    Op::Neg => a.wrapping_neg(),
                    Op::Abs => $abs(a),
                    Op::Signum => $signum(a),
                    Op::Not => !a,
                    Op::CountOnes => a.count_ones() as $t,
                    Op::LeadingZeros => a.leading_zeros() as $t,
                    Op::TrailingZeros => a.trailing_zeros() as $t,
                    _ => return None,
                })
            }

            fn binary(op: Op, a: $t, b: $t) -> Option<u64> {
                Some(word(match op {
                    Op::Add => a.wrapping_add(b),
                    Op::Sub => a.wrapping_sub(b),
                    Op::Mul => a.wrapping_mul(b),
                    Op::Div | Op::Rem | Op::DivEuclid | Op::RemEuclid if b == 0 => 0,
                    Op::Div => a.wrapping_div(b),
                    Op::Rem => a.wrapping_rem(b),
                    Op::DivEuclid => a.wrapping_div_euclid(b),
                    Op::RemEuclid => a.wrapping_rem_euclid(b),
                    Op::DivOk => return Some(u64::from(a.checked_div(b).is_some())),
                    Op::Min => a.min(b),
                    Op::Max => a.max(b),
                    Op::And => a & b,
                    Op::Or => a | b,
                    Op::Xor => a ^ b,
                    Op::Shl => a.wrapping_shl(b as u32),
                    Op::Shr => a.wrapping_shr(b as u32),
                    _ => return compare(op, a, b),
                }))
            }
        }
    };
}

int!(int_i8, i8, i8::signum, i8::wrapping_abs);
int!(int_i16, i16, i16::signum, i16::wrapping_abs);
int!(int_i32, i32, i32::signum, i32::wrapping_abs);
int!(int_i64, i64, i64::signum, i64::wrapping_abs);
int!(int_u8, u8, |x| u8::from(x != 0), std::convert::identity);
int!(int_u16, u16, |x| u16::from(x != 0), std::convert::identity);
int!(int_u32, u32, |x| u32::from(x != 0), std::convert::identity);
int!(int_u64, u64, |x| u64::from(x != 0), std::convert::identity);

/// One module per float type; `$bits` is the unsigned type of the same width.
macro_rules! float {
    ($module:ident, $t:ident, $bits:ty) => {
        mod $module {
            use super::{Math, Op, compare};

            #[inline]
            pub fn eval(op: Op, args: &[u64]) -> Option<u64> {
                match *args {
                    [a] if op == Op::SignBit => Some(u64::from(float(a).is_sign_negative())),
                    [a] => unary(op, float(a)).map(word),
                    [a, n] if op == Op::Powi => Some(word(Math::powi(float(a), n as i32))),
                    [a, b] => match binary(op, float(a), float(b)) {
                        Some(x) => Some(word(x)),
                        None => compare(op, float(a), float(b)),
                    },
                    [a, b, c] if op == Op::MulAdd => {
                        Some(word(float(a).mul_add(float(b), float(c))))
                    }
                    _ => None,
                }
            }

            fn float(w: u64) -> $t {
                $t::from_bits(w as $bits)
            }

            fn word(x: $t) -> u64 {
                u64::from(x.to_bits())
            }

            fn unary(op: Op, a: $t) -> Option<$t> {
                Some(match op {
                    Op::Neg => -a,
                    Op::Abs => a.abs(),
                    Op::Signum => a.signum(),
                    Op::Floor => a.floor(),
                    Op::Ceil => a.ceil(),
                    Op::Round => a.round(),
                    Op::RoundEven => a.round_ties_even(),
                    Op::Trunc => a.trunc(),
                    Op::Sqrt => a.sqrt(),
                    Op::Cbrt => Math::cbrt(a),
                    Op::Exp => Math::exp(a),
                    Op::Exp2 => Math::exp2(a),
                    Op::ExpM1 => Math::exp_m1(a),
                    Op::Ln => Math::ln(a),
                    Op::Ln1p => Math::ln_1p(a),
                    Op::Log2 => Math::log2(a),
                    Op::Log10 => Math::log10(a),
                    Op::Sin => Math::sin(a),
                    Op::Cos => Math::cos(a),
                    Op::Tan => Math::tan(a),
                    Op::Asin => Math::asin(a),
                    Op::Acos => Math::acos(a),
                    Op::Atan => Math::atan(a),
                    Op::Sinh => Math::sinh(a),
                    Op::Cosh => Math::cosh(a),
                    Op::Tanh => Math::tanh(a),
                    Op::Asinh => Math::asinh(a),
                    Op::Acosh => Math::acosh(a),
                    Op::Atanh => Math::atanh(a),
                    _ => return None,
                })
            }

            fn binary(op: Op, a: $t, b: $t) -> Option<$t> {
                Some(match op {
                    Op::Add => a + b,
                    Op::Sub => a - b,
                    Op::Mul => a * b,
                    Op::Div => a / b,
                    Op::Rem => a % b,
                    Op::DivEuclid => a.div_euclid(b),
                    Op::RemEuclid => a.rem_euclid(b),
                    Op::Min => pick(a, b, a < b || (a == b && a.is_sign_negative())),
                    Op::Max => pick(a, b, a > b || (a == b && a.is_sign_positive())),
                    Op::Powf => Math::powf(a, b),
                    Op::Atan2 => Math::atan2(a, b),
                    Op::Hypot => Math::hypot(a, b),
                    Op::Copysign => a.copysign(b),
                    _ => return None,
                })
            }

            /// One of the operands, ignoring NaN; of two numbers `a` if `first`.
            fn pick(a: $t, b: $t, first: bool) -> $t {
                match (a.is_nan(), b.is_nan()) {
                    (true, true) => $t::NAN,
                    (true, false) => b,
                    (false, true) => a,
                    (false, false) if first => a,
                    (false, false) => b,
                }
            }
        }
    };
}

float!(float_f32, f32, u32);
float!(float_f64, f64, u64);
