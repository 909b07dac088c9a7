//! Python arithmetic: `/` divides exactly, `//` and `%` round down, `**` is a power.

use super::{Eval, Result, Site, wrong};
use crate::diagnostic::Diagnostic;
use crate::syntax::Binary;
use crate::value::{Elt, Value};
use livefusion::Loc;
use livefusion::ast::{Const, Field, Fields, Op, Ty};

/// The largest exponent of a power that expands to multiplications.
const MOST: i128 = 64;

impl Eval<'_> {
    /// `a / b`, always of floats.
    pub(super) fn true_division(&mut self, site: Site<'_>, values: Vec<Value>) -> Result<Value> {
        self.elementwise(site, values, &mut |eval, values| {
            let (ty, sides) = eval.sides(values, site, true)?;
            let loc = eval.loc(site.span);
            Ok(one(Field::op(Op::Div, &sides, loc), ty))
        })
    }

    /// `a // b` or `a % b`.
    pub(super) fn floor_division(
        &mut self,
        op: Binary,
        site: Site<'_>,
        values: Vec<Value>,
    ) -> Result<Value> {
        self.elementwise(site, values, &mut |eval, values| {
            let (ty, [a, b]) = eval.sides(values, site, false)?;
            let loc = eval.loc(site.span);
            let by = b.as_literal().and_then(Const::integer);
            let result = match (op, ty) {
                (Binary::Rem, Ty::F32 | Ty::F64) => float_rem(a, b, ty, loc),
                (_, Ty::F32 | Ty::F64) => float_div(a, b, ty, loc),
                // Unsigned operands and positive divisors use the processor's division.
                (Binary::Rem, ty) if !ty.is_signed() => Field::op(Op::Rem, &[a, b], loc),
                (_, ty) if !ty.is_signed() => Field::op(Op::Div, &[a, b], loc),
                (Binary::Rem, _) if by > Some(0) => Field::op(Op::RemEuclid, &[a, b], loc),
                _ if by > Some(0) => Field::op(Op::DivEuclid, &[a, b], loc),
                (Binary::Rem, ty) => {
                    let (rest, is_off) = rest(a, b, Const::zero(ty), loc);
                    let moved = Field::op(Op::Add, &[rest, b], loc);
                    Field::op(Op::Select, &[is_off, moved, rest], loc)
                }
                (_, ty) => {
                    let (_, is_off) = rest(a, b, Const::zero(ty), loc);
                    let quotient = Field::op(Op::Div, &[a, b], loc);
                    Field::op(Op::Sub, &[quotient, is_off.cast(ty, loc)], loc)
                }
            };
            Ok(one(result, ty))
        })
    }

    /// `a ** b`: integers give an integer, unless the exponent is known to be negative.
    pub(super) fn power(&mut self, site: Site<'_>, values: Vec<Value>) -> Result<Value> {
        let below = matches!(values.get(1), Some(Value::Int(..0)));
        let exponent = match values.get(1) {
            Some(Value::Int(n @ 0..=MOST)) => Some(*n as u32),
            _ => None,
        };
        self.elementwise(site, values, &mut |eval, values| {
            let (ty, [a, b]) = eval.sides(values, site, below)?;
            let loc = eval.loc(site.span);
            let result = match (ty.is_float(), exponent) {
                (true, Some(2)) => Field::op(Op::Mul, &[a, a], loc),
                (true, _) => Field::op(Op::Powf, &[a, b], loc),
                (false, Some(n)) => repeated(a, n, ty, loc),
                (false, None) => raised(a, b, ty, loc),
            };
            Ok(one(result, ty))
        })
    }

    /// Two operands of one numeric type, or of floats if `floats`.
    fn sides(
        &mut self,
        values: &[Value],
        site: Site<'_>,
        floats: bool,
    ) -> Result<(Ty, [Field; 2])> {
        let mut values = values.to_vec();
        if floats {
            values = values.iter().map(Value::floating).collect();
        }
        let (elt, mut values) = self.alike(values, &|k| site.at(k))?;
        let Some(ty) = elt.scalar().filter(|ty| *ty != Ty::Bool || floats) else {
            let message = format!("`{}` does not take {elt} and {elt}", site.name);
            return wrong(message, site.span);
        };
        let to = if floats && !ty.is_float() {
            Ty::F64
        } else {
            ty
        };
        let mut sides = Vec::new();
        for (k, value) in values.drain(..).enumerate() {
            let (fields, _) = self.fields(value, Some(&elt), site.at(k))?;
            let loc = self.loc(site.at(k));
            sides.extend(
                fields
                    .iter()
                    .map(|x| if to == ty { *x } else { x.cast(to, loc) }),
            );
        }
        match <[Field; 2]>::try_from(sides) {
            Ok(sides) => Ok((to, sides)),
            Err(_) => wrong(format!("`{}` takes two numbers", site.name), site.span),
        }
    }
}

fn one(field: Field, ty: Ty) -> (Fields, Elt) {
    (Fields::from_slice(&[field]), Elt::Scalar(ty))
}

fn literal(c: Const) -> Field {
    Field::literal(c)
}

fn float(x: f64, ty: Ty) -> Field {
    literal(super::scalar::float(x, ty))
}

/// The remainder of a truncating division, and whether the floor is one below. That holds for a
/// non-zero remainder whose sign differs from the divisor's.
fn rest(a: Field, b: Field, zero: Const, loc: Loc) -> (Field, Field) {
    let rest = Field::op(Op::Rem, &[a, b], loc);
    let some = Field::op(Op::Ne, &[rest, literal(zero)], loc);
    let below = [rest, b].map(|x| Field::op(Op::Lt, &[x, literal(zero)], loc));
    let differ = Field::op(Op::Ne, &below, loc);
    (rest, Field::op(Op::And, &[some, differ], loc))
}

/// `a % b` of floats: the remainder has the sign of the divisor, also if it is zero.
fn float_rem(a: Field, b: Field, ty: Ty, loc: Loc) -> Field {
    let (rest, is_off) = rest(a, b, Const::zero(ty), loc);
    let moved = Field::op(Op::Add, &[rest, b], loc);
    let zero = Field::op(Op::Copysign, &[float(0.0, ty), b], loc);
    let is_zero = Field::op(Op::Eq, &[rest, float(0.0, ty)], loc);
    let rest = Field::op(Op::Select, &[is_off, moved, rest], loc);
    Field::op(Op::Select, &[is_zero, zero, rest], loc)
}

/// `a // b` of floats, from the remainder, because the quotient itself may round up to the next
/// whole number.
fn float_div(a: Field, b: Field, ty: Ty, loc: Loc) -> Field {
    let (left, is_off) = rest(a, b, Const::zero(ty), loc);
    let whole = Field::op(Op::Sub, &[a, left], loc);
    let quotient = Field::op(Op::Div, &[whole, b], loc);
    let less = Field::op(Op::Sub, &[quotient, float(1.0, ty)], loc);
    let quotient = Field::op(Op::Select, &[is_off, less, quotient], loc);
    // Rounding may have moved it off the whole number.
    let floor = Field::op(Op::Floor, &[quotient], loc);
    let beyond = Field::op(Op::Sub, &[quotient, floor], loc);
    let beyond = Field::op(Op::Gt, &[beyond, float(0.5, ty)], loc);
    let more = Field::op(Op::Add, &[floor, float(1.0, ty)], loc);
    let floor = Field::op(Op::Select, &[beyond, more, floor], loc);
    let exact = Field::op(Op::Div, &[a, b], loc);
    let zero = Field::op(Op::Copysign, &[float(0.0, ty), exact], loc);
    let is_zero = Field::op(Op::Eq, &[quotient, float(0.0, ty)], loc);
    let result = Field::op(Op::Select, &[is_zero, zero, floor], loc);
    let by_zero = Field::op(Op::Eq, &[b, float(0.0, ty)], loc);
    Field::op(Op::Select, &[by_zero, exact, result], loc)
}

/// A power by a known exponent, by squaring.
fn repeated(a: Field, n: u32, ty: Ty, loc: Loc) -> Field {
    let (mut power, mut square, mut left) = (None, a, n);
    while left > 0 {
        if left & 1 == 1 {
            power = Some(power.map_or(square, |p| Field::op(Op::Mul, &[p, square], loc)));
        }
        left >>= 1;
        if left > 0 {
            square = Field::op(Op::Mul, &[square, square], loc);
        }
    }
    power.unwrap_or(literal(Const::new(ty, 1)))
}

/// A power of integers, by squaring in a loop. A negative exponent is a division by 0.
fn raised(a: Field, b: Field, ty: Ty, loc: Loc) -> Field {
    let (one, two) = (literal(Const::new(ty, 1)), literal(Const::new(ty, 2)));
    let zero = literal(Const::zero(ty));
    let below = Field::op(Op::Lt, &[b, zero], loc);
    let by = Field::op(Op::Select, &[below, zero, one], loc);
    let b = match ty.is_signed() {
        true => Field::op(Op::Div, &[b, by], loc),
        false => b,
    };
    let goes_on = |s: &[Field]| match s {
        [_, n, _] => Field::op(Op::Gt, &[*n, zero], loc),
        _ => literal(Const::bool(false)),
    };
    let next = |s: &[Field]| match s {
        [square, n, power] => {
            let odd = Field::op(Op::And, &[*n, one], loc);
            let odd = Field::op(Op::Ne, &[odd, zero], loc);
            let more = Field::op(Op::Mul, &[*power, *square], loc);
            let power = Field::op(Op::Select, &[odd, more, *power], loc);
            let square = Field::op(Op::Mul, &[*square, *square], loc);
            Fields::from_slice(&[square, Field::op(Op::Div, &[*n, two], loc), power])
        }
        other => Fields::from_slice(other),
    };
    let state = Field::while_loop(&[a, b, one], goes_on, next, loc);
    state.last().copied().unwrap_or(one)
}

/// Exact arithmetic on untyped numbers, whose result is untyped too.
pub(super) fn known(op: Binary, values: &[Value]) -> std::result::Result<Option<Value>, String> {
    match values {
        [Value::Int(a), Value::Int(b)] => integers(op, *a, *b),
        [
            Value::Int(_) | Value::Float(_),
            Value::Int(_) | Value::Float(_),
        ] => {
            let number = |v: &Value| match v {
                Value::Int(n) => *n as f64,
                Value::Float(x) => *x,
                _ => f64::NAN,
            };
            let (x, y) = (number(&values[0]), number(&values[1]));
            Ok(floats(op, x, y).map(Value::Float))
        }
        _ => Ok(None),
    }
}

/// An exact operator on integers, or its error. `None` for non-arithmetic operators.
fn integers(op: Binary, a: i128, b: i128) -> std::result::Result<Option<Value>, String> {
    let divided =
        |what: Option<i128>| what.ok_or_else(|| "an integer cannot be divided by zero".to_string());
    let by = u32::try_from(b).ok();
    let exact = match op {
        Binary::Add => a.checked_add(b),
        Binary::Sub => a.checked_sub(b),
        Binary::Mul => a.checked_mul(b),
        Binary::Div => return Ok(floats(op, a as f64, b as f64).map(Value::Float)),
        Binary::FloorDiv => {
            let (quotient, rest) = (divided(a.checked_div(b))?, divided(a.checked_rem(b))?);
            Some(quotient - i128::from(rest != 0 && (rest < 0) != (b < 0)))
        }
        Binary::Rem => {
            let rest = divided(a.checked_rem(b))?;
            Some(if rest != 0 && (rest < 0) != (b < 0) {
                rest + b
            } else {
                rest
            })
        }
        Binary::Pow if b < 0 && a == 0 => return Err("0 has no power below 0".to_string()),
        Binary::Pow if b < 0 => return Ok(floats(op, a as f64, b as f64).map(Value::Float)),
        Binary::Pow => match a {
            0 | 1 => Some(if b == 0 { 1 } else { a }),
            -1 => Some(if b % 2 == 0 { 1 } else { -1 }),
            _ => by.and_then(|n| a.checked_pow(n)),
        },
        Binary::BitAnd => Some(a & b),
        Binary::BitOr => Some(a | b),
        Binary::Shl | Binary::Shr if b < 0 => {
            return Err("numbers are shifted by 0 bits or more".to_string());
        }
        Binary::Shl => match by.filter(|n| *n < 64) {
            Some(n) => a.checked_mul(1i128 << n),
            None if a == 0 => Some(0),
            None => None,
        },
        Binary::Shr => Some(a >> by.unwrap_or(u32::MAX).min(127)),
        _ => return Ok(None),
    };
    let room = i128::from(i64::MIN)..=i128::from(u64::MAX);
    match exact.filter(|n| room.contains(n)) {
        Some(n) => Ok(Some(Value::Int(n))),
        None => Err(format!("{a} {} {b} does not fit in 64 bits", op.text())),
    }
}

fn floats(op: Binary, x: f64, y: f64) -> Option<f64> {
    let rest = x % y;
    let is_off = rest != 0.0 && (rest < 0.0) != (y < 0.0);
    Some(match op {
        Binary::Add => x + y,
        Binary::Sub => x - y,
        Binary::Mul => x * y,
        Binary::Div => x / y,
        Binary::FloorDiv if y == 0.0 => x / y,
        Binary::FloorDiv => {
            let quotient = (x - rest) / y - f64::from(u8::from(is_off));
            let floor = quotient.floor();
            match quotient == 0.0 {
                true => 0f64.copysign(x / y),
                false => floor + f64::from(u8::from(quotient - floor > 0.5)),
            }
        }
        Binary::Rem if rest == 0.0 => 0f64.copysign(y),
        Binary::Rem => rest + if is_off { y } else { 0.0 },
        Binary::Pow if y == 2.0 => x * x,
        // As in loops.
        Binary::Pow => power(x, y)?,
        _ => return None,
    })
}

/// A power of floats with the bits that loops give.
fn power(x: f64, y: f64) -> Option<f64> {
    let sides = [x, y].map(|x| literal(Const::f64(x)));
    let power = Field::op(Op::Powf, &sides, Loc::caller());
    power.as_literal().map(Const::number)
}

/// The error of an operator on known numbers.
pub(super) fn misfit<T>(message: String, site: Site<'_>) -> Result<T> {
    let wrong = Diagnostic::new(message.clone(), site.span);
    Err(Box::new(match message.ends_with("64 bits") {
        true => wrong.note("a float has room for it, and rounds: `2.0 ** 70`"),
        false => wrong,
    }))
}
