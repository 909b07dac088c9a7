//! Type promotion: common types, and conversions to them.

use super::{Eval, Result, Site};
use crate::source::Span;
use crate::value::{Array, Elt, Value};
use livefusion::Loc;
use livefusion::ast::{Field, Fields, Ty};

/// Returns the type with the numbers of both, by NumPy's rules.
///
/// Returns `None` if there is no such type.
pub fn join(a: &Elt, b: &Elt) -> Option<Elt> {
    match (a, b) {
        _ if a == b => Some(a.clone()),
        (Elt::Count, Elt::Scalar(Ty::U64)) | (Elt::Scalar(Ty::U64), Elt::Count) => {
            Some(Elt::Scalar(Ty::U64))
        }
        (Elt::Count, Elt::Scalar(ty)) | (Elt::Scalar(ty), Elt::Count) => {
            types(Ty::I64, *ty).map(Elt::Scalar)
        }
        (Elt::Scalar(a), Elt::Scalar(b)) => types(*a, *b).map(Elt::Scalar),
        // Tuples, rows, texts and times.
        _ => a.common(b),
    }
}

fn types(a: Ty, b: Ty) -> Option<Ty> {
    match (a, b) {
        _ if a == b => Some(a),
        (Ty::Bool, other) | (other, Ty::Bool) => Some(other),
        _ if a.is_float() || b.is_float() => Some(Ty::F64),
        _ if a.is_signed() == b.is_signed() => Some(if a.bits() > b.bits() { a } else { b }),
        (Ty::U64, _) | (_, Ty::U64) => None,
        _ => Some(Ty::I64),
    }
}

/// Returns the arithmetic type of such values.
///
/// Counts are signed in arithmetic.
pub fn signed(elt: &Elt) -> Elt {
    match elt {
        Elt::Count => Elt::Scalar(Ty::I64),
        Elt::Tuple(parts) => Elt::Tuple(parts.iter().map(signed).collect()),
        other => other.clone(),
    }
}

/// Returns the type in sums, where booleans are 0 and 1.
pub fn numbers(elt: &Elt) -> Elt {
    match elt {
        Elt::Scalar(Ty::Bool) => Elt::Scalar(Ty::I64),
        other => other.clone(),
    }
}

/// Whether values of `from` may replace values of `to` without loss.
fn widens(from: &Elt, to: &Elt) -> bool {
    match (from, to) {
        (Elt::Scalar(Ty::Bool), Elt::Scalar(_) | Elt::Count) => from == to,
        (Elt::Scalar(ty), Elt::Count) => ty.is_int(),
        _ => join(from, to).as_ref() == Some(to),
    }
}

/// Converts fields to another type, where that loses nothing.
pub fn widened(fields: &[Field], from: &Elt, to: &Elt, loc: Loc) -> Option<Fields> {
    match (from, to) {
        (Elt::Tuple(own), Elt::Tuple(others)) if own.len() == others.len() => {
            let (mut rest, mut all) = (fields, Fields::new());
            for (own, other) in own.iter().zip(others) {
                let (part, more) = rest.split_at_checked(own.fields())?;
                all.extend(widened(part, own, other, loc)?);
                rest = more;
            }
            Some(all)
        }
        _ if !widens(from, to) => None,
        _ => cast(fields, from, to, loc),
    }
}

/// Casts a scalar's field to another type.
pub fn cast(fields: &[Field], from: &Elt, to: &Elt, loc: Loc) -> Option<Fields> {
    let (from, to) = (from.scalar()?, to.scalar()?);
    match fields {
        [x] if from != to => Some(Fields::from_slice(&[x.cast(to, loc)])),
        fields => Some(Fields::from_slice(fields)),
    }
}

impl Eval<'_> {
    /// Converts the elements of an array to another type, where allowed.
    pub fn retyped(&mut self, array: Array, want: &Elt, span: Span) -> Result<Array> {
        if array.elt == *want {
            return Ok(array);
        }
        let is_meant = array.elt.is_meant() || want.is_meant();
        if !is_meant && array.elt.types() == want.types() {
            let elt = want.clone();
            return Ok(Array { elt, ..array });
        }
        let site = Site {
            name: "cast",
            span,
            operands: &[],
        };
        let cast = self.elementwise(site, vec![Value::Array(array)], &mut |eval, values| {
            let value = values.first().cloned().unwrap_or(Value::Int(0));
            match (&value, want) {
                (Value::Scalar(fields, elt @ Elt::Scalar(Ty::Bool)), Elt::Scalar(_)) => {
                    let loc = eval.loc(span);
                    let fields = cast(fields, elt, want, loc).unwrap_or_default();
                    Ok((fields, want.clone()))
                }
                _ => eval.fields(value, Some(want), span),
            }
        })?;
        match cast {
            Value::Array(array) => Ok(array),
            other => self.refuse(format!("expected an array, got {}", other.describe()), span),
        }
    }
}
