//! Python arithmetic in generated Rust, and conversions of operands.

use super::code::{Code, float, integer, level};
use super::expression::{Writer, refuse};
use super::notes::Note;
use crate::eval::{Result, promote};
use crate::syntax::{Binary, Expr};
use crate::value::Elt;
use loop_lang::{Const, Ty};

/// A function from the operands' texts to an element's text.
type Make = Box<dyn Fn(&[Code]) -> Code>;

impl Writer<'_> {
    /// Returns the type of an operation on these values.
    ///
    /// Returns `None` if all are untyped integers.
    pub fn common(&self, values: &[&Expr]) -> Result<Option<Ty>> {
        let mut found: Option<Elt> = None;
        let (mut floats, mut integers) = (false, false);
        for v in values {
            let note = self.note(v)?;
            floats |= matches!(note, Note::Float(_));
            integers |= matches!(note, Note::Int(_));
            let elt = match note {
                Note::Tuple(_) => None,
                Note::Range(Some((.., ty))) => Some(Elt::Scalar(*ty)),
                note => note.elt().cloned(),
            };
            found = match (found, elt) {
                (Some(a), Some(b)) => promote::join(&a, &b),
                (a, b) => a.or(b),
            };
        }
        let typed = found
            .map(|elt| promote::signed(&elt))
            .and_then(|elt| elt.scalar());
        Ok(match typed {
            Some(ty) if floats && !ty.is_float() => Some(Ty::F64),
            Some(Ty::Bool) if integers => Some(Ty::I64),
            None if floats => Some(Ty::F64),
            typed => typed,
        })
    }

    /// Converts a typed value to the type `want`.
    pub fn converted(&self, code: Code, e: &Expr, want: Option<Ty>) -> Result<Code> {
        let note = self.note(e)?;
        let own = match note {
            Note::Range(_) => Some(Ty::I64),
            Note::Tuple(_) => None,
            note => note.elt().and_then(Elt::scalar),
        };
        let Some(to) = want.filter(|to| own.is_some_and(|own| own != *to)) else {
            return Ok(code);
        };
        Ok(match note {
            Note::Known(fields, _) => match fields.as_slice() {
                [c] if to.is_float() => float(c.number(), to, true),
                [c] => match c.integer() {
                    Some(n) => integer(n, to, true),
                    None => code,
                },
                _ => code,
            },
            Note::Term(_) => code.call(&format!("cast::<{to}>"), &[]),
            _ => code.call("map", &[format!("|x| x.cast::<{to}>()")]),
        })
    }

    /// Writes `a // b`, `a % b` or `a ** b`, element by element.
    pub fn python(&mut self, e: &Expr, op: Binary, [a, b]: [&Expr; 2]) -> Result<Code> {
        let known = match self.note(b)? {
            Note::Int(n) => Some(*n),
            Note::Known(fields, _) => fields.first().and_then(|c| Const::integer(*c)),
            _ => None,
        };
        let mut ty = self.common(&[a, b])?.unwrap_or(Ty::I64);
        if op == Binary::Pow && matches!(self.note(b)?, Note::Int(..0)) && !ty.is_float() {
            ty = Ty::F64;
        }
        let make: Make = match (op, ty.is_float()) {
            (Binary::Pow, true) if known == Some(2) => Box::new(move |x| squares(&x[0], 2, ty)),
            (Binary::Pow, true) => Box::new(|x| x[0].clone().call("powf", &[x[1].text.clone()])),
            (Binary::Pow, false) => match known.and_then(|n| u32::try_from(n).ok()) {
                Some(n @ 0..=64) => Box::new(move |x| squares(&x[0], n, ty)),
                _ => {
                    return refuse(
                        "a power by an exponent that is not known has no short form",
                        e.span,
                    );
                }
            },
            (Binary::Rem, false) if !ty.is_signed() => Box::new(|x| native(x, "%")),
            (_, false) if !ty.is_signed() => Box::new(|x| native(x, "/")),
            (Binary::Rem, false) if known > Some(0) => method("rem_euclid"),
            (_, false) if known > Some(0) => method("div_euclid"),
            (Binary::Rem, false) => Box::new(move |x| block(x, ty, "is_off.cond(r + y, r)")),
            (_, false) => {
                let text = format!("x / y - is_off.cast::<{ty}>()");
                Box::new(move |x| block(x, ty, &text))
            }
            (Binary::Rem, true) => Box::new(move |x| {
                let zero = float(0.0, ty, true).text;
                let text = format!(
                    "r.eq({zero}).cond(Exp::lit({zero}).copysign(y), is_off.cond(r + y, r))"
                );
                block(x, ty, &text)
            }),
            (_, true) => Box::new(move |x| {
                let [zero, one, half] = [0.0, 1.0, 0.5].map(|n| float(n, ty, true).text);
                let text = format!(
                    "{{ let q = (x - r) / y; let q = is_off.cond(q - {one}, q); let f = q.floor(); \
                     let f = (q - f).gt({half}).cond(f + {one}, f); \
                     let f = q.eq({zero}).cond(Exp::lit({zero}).copysign(x / y), f); y.eq({zero}).cond(x / y, f) }}"
                );
                block(x, ty, &text)
            }),
        };
        self.each(e, &[a, b], [Some(ty), Some(ty)], &make)
    }
}

fn method(name: &'static str) -> Make {
    Box::new(move |x| x[0].clone().call(name, &[x[1].text.clone()]))
}

fn native(x: &[Code], op: &str) -> Code {
    x[0].clone().operator(op, level::PRODUCT, x[1].clone())
}

/// A block in which `x` and `y` are the operands, `r` is the remainder, and `is_off` tells that the
/// floor is one below.
fn block(x: &[Code], ty: Ty, value: &str) -> Code {
    let zero = match ty.is_float() {
        true => float(0.0, ty, true).text,
        false => integer(0, ty, true).text,
    };
    let (a, b) = (&x[0].text, &x[1].text);
    let rest = "let r = x % y";
    let is_off = format!("let is_off = r.ne({zero}).and(r.lt({zero}).ne(y.lt({zero})))");
    Code::atom(format!(
        "{{ let (x, y): (Exp<{ty}>, Exp<{ty}>) = (({a}).to_exp(), ({b}).to_exp()); {rest}; {is_off}; {value} }}"
    ))
}

/// A power by squaring, with multiplications in the shell's order.
fn squares(x: &Code, n: u32, ty: Ty) -> Code {
    if n == 0 {
        return Code::atom(format!("Exp::lit(1{ty})"));
    }
    let mut text = format!("{{ let s = {}; ", x.text);
    let (mut left, mut power) = (n, String::new());
    while left > 0 {
        if left & 1 == 1 && power.is_empty() {
            text += "let p = s; ";
            power = "p".into();
        } else if left & 1 == 1 {
            text += "let p = p * s; ";
        }
        left >>= 1;
        if left > 0 {
            text += "let s = s * s; ";
        }
    }
    Code::atom(text + "p }")
}
