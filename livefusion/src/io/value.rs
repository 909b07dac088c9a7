//! Single values of tables and types of columns.

use crate::elt::Scalar;
use loop_lang::types::{Const, Ty};
use std::fmt;

/// Describes the contents of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Type {
    /// Scalars of a type.
    Scalar(Ty),
    /// Text.
    Text,
    /// Days, as [`Date`](super::Date).
    Date,
    /// Days with times, as [`DateTime`](super::DateTime).
    DateTime,
    /// Lists of scalars of a type.
    List(Ty),
    /// Values that programs cannot use: structs, lists of lists, and so on.
    Other,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(ty) => ty.fmt(f),
            Type::Text => f.write_str("text"),
            Type::Date => f.write_str("date"),
            Type::DateTime => f.write_str("datetime"),
            Type::List(ty) => write!(f, "list of {ty}"),
            Type::Other => f.write_str("something else"),
        }
    }
}

/// Substitutes for a missing value.
///
/// It is a number, a `bool`, or text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// An integer of any type.
    Int(i128),
    /// A float of either type.
    Float(f64),
    /// Text.
    Text(String),
}

macro_rules! values {
    ($($t:ty: $x:ident => $e:expr;)*) => {$(
        impl From<$t> for Value {
            fn from($x: $t) -> Value {
                $e
            }
        }
    )*};
}

values! {
    bool: x => Value::Bool(x);
    i8: x => Value::Int(x.into());
    i16: x => Value::Int(x.into());
    i32: x => Value::Int(x.into());
    i64: x => Value::Int(x.into());
    isize: x => Value::Int(x as i128);
    u8: x => Value::Int(x.into());
    u16: x => Value::Int(x.into());
    u32: x => Value::Int(x.into());
    u64: x => Value::Int(x.into());
    usize: x => Value::Int(x as i128);
    f32: x => Value::Float(x.into());
    f64: x => Value::Float(x);
    &str: x => Value::Text(x.to_string());
    String: x => Value::Text(x);
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(x) => x.fmt(f),
            Value::Int(x) => x.fmt(f),
            Value::Float(x) => write!(f, "{x:?}"),
            Value::Text(x) => write!(f, "{x:?}"),
        }
    }
}

impl Value {
    /// Returns the word of this value in a column of a type.
    ///
    /// A float is rounded. An integer must be exact. None if the type cannot represent the value.
    pub fn word(&self, ty: Ty) -> Option<u64> {
        match (self, ty) {
            (Value::Bool(x), Ty::Bool) => Some(u64::from(*x)),
            (Value::Int(x), _) => Const::exactly(ty, *x).map(|c| c.bits),
            (Value::Float(x), Ty::F64) => Some(x.to_bits()),
            (Value::Float(x), Ty::F32) => Some(u64::from((*x as f32).to_bits())),
            _ => None,
        }
    }
}

/// Parses a text as a value of a type and returns its word.
pub fn parse(text: &str, ty: Ty) -> Option<u64> {
    match ty {
        Ty::Bool => truth(text).or(match text {
            "0" => Some(0),
            "1" => Some(1),
            _ => None,
        }),
        Ty::F32 => text.parse().ok().map(|x: f32| u64::from(x.to_bits())),
        Ty::F64 => text.parse().ok().map(f64::to_bits),
        _ => Const::exactly(ty, text.parse().ok()?).map(|c| c.bits),
    }
}

fn truth(text: &str) -> Option<u64> {
    let is = |word| text.eq_ignore_ascii_case(word);
    match (is("true"), is("false")) {
        (true, _) => Some(1),
        (_, true) => Some(0),
        _ => None,
    }
}

/// Classifies a text that is a number or a truth value.
pub enum Looks {
    /// A truth value, as a word.
    Bool(u64),
    /// An integer that `i64` holds.
    Int(i64),
    /// An integer beyond `i64` that `f64` holds exactly.
    Large(f64),
    /// A float; zero with a minus sign is one.
    Float(f64),
}

/// Classifies a text.
///
/// None if it is neither number nor truth value, or if it is an integer that neither `i64` nor
/// `f64` holds exactly.
pub fn looks(text: &str) -> Option<Looks> {
    if let Ok(x) = text.parse::<i64>() {
        return Some(match x == 0 && text.starts_with('-') {
            true => Looks::Float(-0.0),
            false => Looks::Int(x),
        });
    }
    if let Some(word) = truth(text) {
        return Some(Looks::Bool(word));
    }
    let x: f64 = text.parse().ok()?;
    let digits = text.trim_start_matches(['-', '+']);
    let is_integer = digits.bytes().all(|b| b.is_ascii_digit());
    match is_integer {
        false => Some(Looks::Float(x)),
        // Without decimals, a float is formatted with all its digits.
        true if format!("{:.0}", x.abs()) == digits.trim_start_matches('0') => {
            Some(Looks::Large(x))
        }
        true => None,
    }
}

/// Returns the type of a column with elements `T`.
pub fn type_of<T: Scalar>() -> Type {
    Type::Scalar(T::TY)
}
