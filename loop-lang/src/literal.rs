//! Parser of constants.

use crate::types::{Const, Ty};
use std::str::FromStr;

impl FromStr for Const {
    type Err = String;

    /// Parses a literal in the printer's syntax, for languages that share it.
    ///
    /// Errors: the fault in the text.
    ///
    /// ```
    /// use loop_lang::types::{Const, Ty};
    /// assert_eq!("2.5".parse(), Ok(Const::f64(2.5)));
    /// assert_eq!("-1i64".parse(), Ok(Const::int(Ty::I64, -1)));
    /// assert!("x".parse::<Const>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Const, String> {
        let (word, ty) = match text.split_once('.') {
            Some((word, ty)) => (word, Ty::from_name(ty)),
            None => (text, Some(Ty::F64)),
        };
        let float = |x: f64| match ty {
            Some(Ty::F64) => Ok(Const::f64(x)),
            Some(Ty::F32) => Ok(Const::f32(x as f32)),
            _ => Err("only floats have such a value".to_string()),
        };
        match (word, ty) {
            ("true" | "false", _) if word == text => Ok(Const::bool(word == "true")),
            ("inf", _) => float(f64::INFINITY),
            ("-inf", _) => float(f64::NEG_INFINITY),
            ("nan", _) => float(f64::NAN),
            (_, Some(ty)) if word != text && word.starts_with("0x") => {
                bits(word.trim_start_matches("0x"), ty)
            }
            _ => literal(text),
        }
    }
}

/// Parses a number with an optional suffix. Without one it is a `u64`, or an `f64` if it has a
/// fraction or an exponent.
pub(crate) fn literal(text: &str) -> Result<Const, String> {
    let suffix = Ty::ALL.into_iter().find(|t| text.ends_with(t.name()));
    let digits = suffix.map_or(text, |t| &text[..text.len() - t.name().len()]);
    let fraction = digits.contains(['.', 'e', 'E']);
    let ty = suffix.unwrap_or(if fraction { Ty::F64 } else { Ty::U64 });
    let wrong = || "is not a literal".to_string();
    match ty {
        Ty::F64 => digits.parse().map(Const::f64).map_err(|_| wrong()),
        Ty::F32 => digits.parse().map(Const::f32).map_err(|_| wrong()),
        Ty::Bool => Err("write `true` or `false`".into()),
        _ if fraction => Err(format!("`{ty}` has no fraction or exponent")),
        _ => {
            let value: i128 = digits.parse().map_err(|_| {
                match digits.bytes().skip(1).all(|b| b.is_ascii_digit()) {
                    true => format!("is out of range for `{ty}`"),
                    false => wrong(),
                }
            })?;
            match Const::exactly(ty, value) {
                Some(c) => Ok(c),
                None if value < 0 && suffix.is_none() => {
                    Err("is below 0: write a type behind it, as in `-1i64`".into())
                }
                None => Err(format!("is out of range for `{ty}`")),
            }
        }
    }
}

/// Parses a float given by its bits.
pub(crate) fn bits(digits: &str, ty: Ty) -> Result<Const, String> {
    let bits = u64::from_str_radix(digits, 16).map_err(|_| "is not hexadecimal".to_string())?;
    match ty {
        Ty::F64 => Ok(Const { ty, bits }),
        Ty::F32 if u32::try_from(bits).is_ok() => Ok(Const { ty, bits }),
        Ty::F32 => Err("is out of range for `f32`".into()),
        _ => Err("only floats are written as bits".into()),
    }
}
