//! Parsing of numbers and strings.

use crate::diagnostic::shown;
use crate::syntax::Literal;
use loop_lang::Ty;

/// A number. `negated` means that a minus precedes it, so that the minimal `i8` can be written as
/// `-128i8`.
pub(crate) fn number(text: &str, negated: bool) -> Result<Literal, String> {
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    let radix = match digits.get(..2) {
        Some("0x") => 16,
        Some("0o") => 8,
        Some("0b") => 2,
        _ => return decimal(&digits, negated),
    };
    let (digits, ty) = suffix(&digits[2..], |c| c.is_digit(radix))?;
    integer(digits, radix, ty, negated)
}

fn decimal(text: &str, negated: bool) -> Result<Literal, String> {
    let exponent = |rest: &str| {
        let after = rest[1..].trim_start_matches(['+', '-']);
        rest.starts_with(['e', 'E']) && after.starts_with(|c: char| c.is_ascii_digit())
    };
    let letter = text.find(|c: char| c.is_ascii_alphabetic());
    let end = match letter {
        Some(at) if exponent(&text[at..]) => {
            let tail = text[at + 1..].find(|c: char| c.is_ascii_alphabetic());
            tail.map_or(text.len(), |n| at + 1 + n)
        }
        Some(at) => at,
        None => text.len(),
    };
    let (digits, ty) = (&text[..end], ty_of(&text[end..])?);
    let is_float = digits.contains(['.', 'e', 'E']);
    match ty {
        Some(ty) if is_float && !ty.is_float() => Err(format!("`{}` is no `{ty}`", shown(digits))),
        Some(ty) if ty.is_float() => float(digits, Some(ty)),
        None if is_float => float(digits, None),
        _ => integer(digits, 10, ty, negated),
    }
}

fn float(digits: &str, ty: Option<Ty>) -> Result<Literal, String> {
    let value = match ty {
        Some(Ty::F32) => digits.parse::<f32>().ok().map(f64::from),
        _ => digits.parse::<f64>().ok(),
    };
    match value {
        Some(x) if x.is_finite() => Ok(Literal::Float(x, ty)),
        Some(_) => Err(format!("too large for `{}`", ty.unwrap_or(Ty::F64))),
        None => Err("no number".into()),
    }
}

fn integer(digits: &str, radix: u32, ty: Option<Ty>, negated: bool) -> Result<Literal, String> {
    if digits.is_empty() {
        return Err("digits are missing".into());
    }
    let largest = match ty {
        Some(ty) if ty.is_signed() => (u64::MAX >> (65 - ty.bits())) + u64::from(negated),
        Some(ty) => u64::MAX >> (64 - ty.bits()),
        None => u64::MAX,
    };
    let ty_name = ty.unwrap_or(Ty::U64);
    match u64::from_str_radix(digits, radix) {
        Ok(n) if n <= largest => Ok(Literal::Int(n, ty)),
        _ if !digits.chars().all(|c| c.is_digit(radix)) => Err("no number".into()),
        _ => {
            let least = match ty_name.is_signed() {
                true => -1 - (u64::MAX >> (65 - ty_name.bits())) as i128,
                false => 0,
            };
            let largest = largest - u64::from(ty_name.is_signed() && negated);
            Err(format!(
                "{digits} does not fit in `{ty_name}`, which holds {least} to {largest}"
            ))
        }
    }
}

/// The digits, and the type suffix.
fn suffix(text: &str, is_digit: impl Fn(char) -> bool) -> Result<(&str, Option<Ty>), String> {
    let end = text.find(|c| !is_digit(c)).unwrap_or(text.len());
    if text[end..].starts_with(|c: char| c.is_ascii_digit()) {
        return Err(format!("`{}` is no digit here", &text[end..end + 1]));
    }
    let ty = ty_of(&text[end..])?;
    match ty {
        Some(ty) if ty.is_float() => Err(format!("`{ty}` is written with decimal digits")),
        _ => Ok((&text[..end], ty)),
    }
}

fn ty_of(suffix: &str) -> Result<Option<Ty>, String> {
    match Ty::from_name(suffix) {
        _ if suffix.is_empty() => Ok(None),
        Some(ty) if ty.is_num() => Ok(Some(ty)),
        _ => Err(format!("`{}` is no type of numbers", shown(suffix))),
    }
}

/// The contents of a string, unescaped. An error has the bytes of the invalid part and a message.
pub(crate) fn string(quoted: &str) -> Result<String, (usize, usize, String)> {
    let inner = &quoted[1..quoted.len() - 1];
    let mut text = String::new();
    let mut rest = inner.char_indices();
    while let Some((at, c)) = rest.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        let escape = rest.next().map(|(_, c)| c);
        text.push(match escape {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('0') => '\0',
            Some(c @ ('\\' | '"' | '\'')) => c,
            other => {
                let end = at + 1 + other.map_or(0, char::len_utf8);
                let what = format!("`{}` is no escape", shown(&inner[at..end]));
                return Err((at + 1, end + 1, what));
            }
        });
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let int = |n, ty| Ok(Literal::Int(n, ty));
        assert_eq!(number("1_000", false), int(1000, None));
        assert_eq!(number("0xff_u8", false), int(255, Some(Ty::U8)));
        assert_eq!(number("0b101", false), int(5, None));
        assert_eq!(number("0o17i16", false), int(15, Some(Ty::I16)));
        assert_eq!(number("128i8", true), int(128, Some(Ty::I8)));
        assert_eq!(number("18446744073709551615", false), int(u64::MAX, None));
        assert_eq!(
            number("9223372036854775808i64", true),
            int(1 << 63, Some(Ty::I64))
        );
        let float = |x, ty| Ok(Literal::Float(x, ty));
        assert_eq!(number("1.5", false), float(1.5, None));
        assert_eq!(number("1e-3", false), float(1e-3, None));
        assert_eq!(number("2f32", false), float(2.0, Some(Ty::F32)));
        assert_eq!(number("1E2_f64", false), float(100.0, Some(Ty::F64)));
        assert_eq!(number("0.1f32", false), float(0.1f32.into(), Some(Ty::F32)));
    }

    #[test]
    fn literal_that_is_no_number_is_an_error() {
        let wrong = |text, what| assert_eq!(number(text, false), Err(String::from(what)));
        wrong("128i8", "128 does not fit in `i8`, which holds -128 to 127");
        wrong("256u8", "256 does not fit in `u8`, which holds 0 to 255");
        wrong(
            "18446744073709551616",
            "18446744073709551616 does not fit in `u64`, which holds 0 to 18446744073709551615",
        );
        wrong("1e999", "too large for `f64`");
        wrong("1e39f32", "too large for `f32`");
        wrong("1.5i32", "`1.5` is no `i32`");
        wrong("1e", "`e` is no type of numbers");
        wrong("1bool", "`bool` is no type of numbers");
        wrong("10px", "`px` is no type of numbers");
        wrong("0x", "digits are missing");
        wrong("0b102", "`2` is no digit here");
        wrong("0b1f32", "`f32` is written with decimal digits");
        assert!(number("1e+_", false).is_err());
    }

    #[test]
    fn strings() {
        assert_eq!(string(r#""a\n\"b\"\\""#), Ok("a\n\"b\"\\".into()));
        assert_eq!(
            string(r#""a\qb""#),
            Err((2, 4, r"`\q` is no escape".into()))
        );
    }
}
