//! Operator semantics on canonical words (see [`Const`](crate::types::Const)), the reference for
//! all backends.
//!
//! Transcendental functions are those of [`crate::math`]. NaN payloads are unspecified. The
//! exception is `min` and `max` of two NaN, which give the canonical quiet NaN.

mod call;
#[cfg(test)]
mod tests;

pub(crate) use call::combine_onto;
pub use call::{call, call_with, combine, join};

use crate::math::Math;
use crate::op::Op;
use crate::types::{Ty, canonical};

/// Converts between a machine value and its canonical word.
trait Native {
    fn of(word: u64) -> Self;
    fn word(self) -> u64;
}

/// Computes the smaller and the larger of two floats.
trait Extremum {
    fn smaller(self, other: Self) -> Self;
    fn larger(self, other: Self) -> Self;
}

macro_rules! native {
    ($($t:ident |$w:ident| $of:expr, |$x:ident| $word:expr;)*) => {
        $(impl Native for $t {
            #[inline(always)]
            fn of($w: u64) -> $t {
                $of
            }

            #[inline(always)]
            #[allow(clippy::unnecessary_cast, reason = "some instance is the identity")]
            fn word(self) -> u64 {
                let $x = self;
                $word
            }
        })*
    };
    (ints $($t:ident)*) => {
        // Sign-extends signed types and zero-extends the others.
        native!($($t |w| w as $t, |x| x as u64;)*);
    };
    (floats $($t:ident)*) => {
        $(impl Extremum for $t {
            fn smaller(self, other: $t) -> $t {
                let first = self < other || (self == other && self.is_sign_negative());
                native!(@pick $t self other first)
            }

            fn larger(self, other: $t) -> $t {
                let first = self > other || (self == other && self.is_sign_positive());
                native!(@pick $t self other first)
            }
        })*
    };
    // Picks one operand, ignoring NaN; of two numbers the first if `first` holds.
    (@pick $t:ident $a:ident $b:ident $first:ident) => {
        match ($a.is_nan(), $b.is_nan()) {
            (true, true) => $t::NAN,
            (true, false) => $b,
            (false, true) => $a,
            (false, false) if $first => $a,
            (false, false) => $b,
        }
    };
}

native! {
    bool |w| w != 0, |x| u64::from(x);
    f32 |w| f32::from_bits(w as u32), |x| u64::from(x.to_bits());
    f64 |w| f64::from_bits(w), |x| x.to_bits();
}
native!(ints i8 i16 i32 i64 u8 u16 u32 u64);
native!(floats f32 f64);

/// Computes a value at the operands' type, for the listed types. The result is 0 for other types
/// and for a wrong number of operands.
macro_rules! at {
    ($from:ident $args:ident $of:tt $value:expr; $($ty:ident $t:ident)*) => {
        match $from {
            $(Ty::$ty => at!(@one $args $of $value; $t),)*
            _ => 0,
        }
    };
    (@one $args:ident ($($x:ident),*) $value:expr; $t:ident) => {
        match *$args {
            [$($x),*] => {
                $(let $x = <$t as Native>::of($x);)*
                Native::word($value)
            }
            _ => 0,
        }
    };
}

/// Returns the value of `op` on canonical words.
///
/// `from` is the type of the first operand (of the arms, for `select`), `to` the result's type. For
/// operands that do not fit the operator, the value is 0.
#[inline]
pub fn eval(op: Op, from: Ty, to: Ty, args: &[u64]) -> u64 {
    macro_rules! ints {
        ($of:tt $value:expr) => {
            at!(from args $of $value; I8 i8 I16 i16 I32 i32 I64 i64 U8 u8 U16 u16 U32 u32 U64 u64)
        };
    }
    macro_rules! floats {
        ($of:tt $value:expr) => { at!(from args $of $value; F32 f32 F64 f64) };
    }
    macro_rules! numbers {
        ($of:tt $int:expr, $float:expr) => {
            match from.is_float() {
                true => floats!($of $float),
                false => ints!($of $int),
            }
        };
    }
    macro_rules! bits {
        ($of:tt $value:expr) => {
            match from {
                Ty::Bool => at!(from args $of $value; Bool bool),
                _ => ints!($of $value),
            }
        };
    }
    macro_rules! any {
        ($of:tt $value:expr) => {
            match from {
                Ty::Bool => at!(from args $of $value; Bool u8),
                Ty::F32 | Ty::F64 => floats!($of $value),
                _ => ints!($of $value),
            }
        };
    }
    match op {
        Op::Add => numbers!((a, b) a.wrapping_add(b), a + b),
        Op::Sub => numbers!((a, b) a.wrapping_sub(b), a - b),
        Op::Mul => numbers!((a, b) a.wrapping_mul(b), a * b),
        Op::Div => numbers!((a, b) if b == 0 { 0 } else { a.wrapping_div(b) }, a / b),
        Op::Rem => numbers!((a, b) if b == 0 { 0 } else { a.wrapping_rem(b) }, a % b),
        Op::DivEuclid => {
            numbers!((a, b) if b == 0 { 0 } else { a.wrapping_div_euclid(b) }, a.div_euclid(b))
        }
        Op::RemEuclid => {
            numbers!((a, b) if b == 0 { 0 } else { a.wrapping_rem_euclid(b) }, a.rem_euclid(b))
        }
        Op::DivOk => ints!((a, b) a.checked_div(b).is_some()),
        Op::Min => numbers!((a, b) a.min(b), a.smaller(b)),
        Op::Max => numbers!((a, b) a.max(b), a.larger(b)),
        Op::And => bits!((a, b) a & b),
        Op::Or => bits!((a, b) a | b),
        Op::Xor => bits!((a, b) a ^ b),
        Op::Not => bits!((a) !a),
        Op::Shl => ints!((a, b) a.wrapping_shl(b as u32)),
        Op::Shr => ints!((a, b) a.wrapping_shr(b as u32)),
        Op::Eq => any!((a, b) a == b),
        Op::Ne => any!((a, b) a != b),
        Op::Lt => any!((a, b) a < b),
        Op::Le => any!((a, b) a <= b),
        Op::Gt => any!((a, b) a > b),
        Op::Ge => any!((a, b) a >= b),
        Op::Select => match *args {
            [c, a, b] => match c & 1 {
                1 => a,
                _ => b,
            },
            _ => 0,
        },
        Op::Copy | Op::Bitcast => match *args {
            [a] => a,
            _ => 0,
        },
        Op::Cast => match *args {
            [a] => cast(from, to, a),
            _ => 0,
        },
        Op::Neg => numbers!((a) a.wrapping_neg(), -a),
        Op::Abs => numbers!((a) if a.cmp(&0).is_lt() { a.wrapping_neg() } else { a }, a.abs()),
        Op::Signum => numbers!((a) a.cmp(&0) as i8, a.signum()),
        Op::CountOnes => ints!((a) a.count_ones()),
        Op::LeadingZeros => ints!((a) a.leading_zeros()),
        Op::TrailingZeros => ints!((a) a.trailing_zeros()),
        Op::Floor => floats!((a) a.floor()),
        Op::Ceil => floats!((a) a.ceil()),
        Op::Round => floats!((a) a.round()),
        Op::RoundEven => floats!((a) a.round_ties_even()),
        Op::Trunc => floats!((a) a.trunc()),
        Op::Sqrt => floats!((a) a.sqrt()),
        Op::Cbrt => floats!((a) Math::cbrt(a)),
        Op::Exp => floats!((a) Math::exp(a)),
        Op::Exp2 => floats!((a) Math::exp2(a)),
        Op::ExpM1 => floats!((a) Math::exp_m1(a)),
        Op::Ln => floats!((a) Math::ln(a)),
        Op::Ln1p => floats!((a) Math::ln_1p(a)),
        Op::Log2 => floats!((a) Math::log2(a)),
        Op::Log10 => floats!((a) Math::log10(a)),
        Op::Sin => floats!((a) Math::sin(a)),
        Op::Cos => floats!((a) Math::cos(a)),
        Op::Tan => floats!((a) Math::tan(a)),
        Op::Asin => floats!((a) Math::asin(a)),
        Op::Acos => floats!((a) Math::acos(a)),
        Op::Atan => floats!((a) Math::atan(a)),
        Op::Sinh => floats!((a) Math::sinh(a)),
        Op::Cosh => floats!((a) Math::cosh(a)),
        Op::Tanh => floats!((a) Math::tanh(a)),
        Op::Asinh => floats!((a) Math::asinh(a)),
        Op::Acosh => floats!((a) Math::acosh(a)),
        Op::Atanh => floats!((a) Math::atanh(a)),
        Op::Powf => floats!((a, b) Math::powf(a, b)),
        Op::Powi => match (from, args) {
            (Ty::F32, &[a, n]) => Math::powi(f32::of(a), n as i32).word(),
            (Ty::F64, &[a, n]) => Math::powi(f64::of(a), n as i32).word(),
            _ => 0,
        },
        Op::Atan2 => floats!((a, b) Math::atan2(a, b)),
        Op::Hypot => floats!((a, b) Math::hypot(a, b)),
        Op::Copysign => floats!((a, b) a.copysign(b)),
        Op::MulAdd => floats!((a, b, c) a.mul_add(b, c)),
        Op::SignBit => floats!((a) a.is_sign_negative()),
    }
}

/// Converts as Rust's `as` does; a `bool` is whether the operand is not 0.
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

/// An `f32` is widened before conversion: that is exact, so it rounds only once.
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
