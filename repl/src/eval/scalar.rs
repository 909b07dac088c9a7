//! Scalars: typed numbers, terms in traced functions, nodes for delayed values.

use super::{Eval, Result, mismatch, promote, wrong};
use crate::source::Span;
use crate::value::{Array, Elt, Value};
use livefusion::ast::{Body, Const, Field, Fields, Ty};

/// Returns a float constant of this type.
pub fn float(x: f64, ty: Ty) -> Const {
    match ty {
        Ty::F32 => Const::f32(x as f32),
        _ => Const::f64(x),
    }
}

impl Eval<'_> {
    /// Returns a scalar as fields, converted to `want` if given.
    ///
    /// The fields are terms in a traced function, and literals elsewhere.
    pub fn fields(
        &mut self,
        value: Value,
        want: Option<&Elt>,
        span: Span,
    ) -> Result<(Fields, Elt)> {
        let ty = match want {
            Some(want) => want.scalar(),
            None => value.default_elt().scalar(),
        };
        let (fields, elt) = match value {
            Value::Text(text) => self.text(&text, want, span)?,
            Value::Int(_) | Value::Float(_) => {
                let literal = ty.and_then(|ty| match value {
                    Value::Int(n) if ty.is_float() => Some(float(n as f64, ty)),
                    Value::Int(n) => Const::exactly(ty, n),
                    Value::Float(x) if ty.is_float() => Some(float(x, ty)),
                    _ => None,
                });
                let Some(literal) = literal else {
                    let want = want.cloned().unwrap_or(value.default_elt());
                    return Err(mismatch(&want, &value, span));
                };
                let fields = Fields::from_slice(&[Field::literal(literal)]);
                (fields, Elt::Scalar(literal.ty))
            }
            Value::Scalar(fields, elt) => (fields, elt),
            Value::Array(a) if a.node.rank == 0 && self.tracing => {
                let loc = self.loc(span);
                (Field::value(&a.node, loc), a.elt)
            }
            Value::Tuple(parts) => {
                let wants = want
                    .map(Elt::parts)
                    .filter(|wants| wants.len() == parts.len());
                let (mut fields, mut elts) = (Fields::new(), Vec::new());
                for (k, part) in parts.into_iter().enumerate() {
                    let (own, elt) = self.fields(part, wants.map(|w| &w[k]), span)?;
                    fields.extend(own);
                    elts.push(elt);
                }
                match (want, wants) {
                    (Some(want), Some(parts)) if *parts == elts[..] => (fields, want.clone()),
                    _ => (fields, Elt::Tuple(elts)),
                }
            }
            other => return wrong(format!("expected a scalar, got {}", other.describe()), span),
        };
        match want {
            Some(want) if *want != elt => {
                let loc = self.loc(span);
                match self.retold(&fields, &elt, want, loc) {
                    Some(fields) => Ok((fields, want.clone())),
                    None => Err(mismatch(want, &Value::Scalar(fields, elt), span)),
                }
            }
            _ => Ok((fields, elt)),
        }
    }

    /// Returns a start value or a count as a body without parameters.
    pub fn value_body(
        &mut self,
        value: Value,
        want: Option<&Elt>,
        span: Span,
    ) -> Result<(Body, Elt)> {
        self.traced(&[], span, |eval, _| eval.fields(value, want, span))
    }

    /// Returns a scalar as a delayed scalar.
    pub fn delayed(&mut self, value: Value, want: Option<&Elt>, span: Span) -> Result<Array> {
        if let Value::Array(a) = &value
            && a.node.rank == 0
            && want.is_none_or(|w| *w == a.elt)
        {
            return Ok(a.clone());
        }
        let (body, elt) = self.value_body(value, want, span)?;
        let node = self.builder("scalar", span).compute(body);
        match &node.error {
            Some(e) => Err(self.places.fault(e, span)),
            None => Ok(Array { node, elt }),
        }
    }

    /// Returns a number of elements or an index, as `u64`.
    pub fn count(&mut self, value: Value, span: Span) -> Result<Array> {
        let want = Elt::Scalar(Ty::U64);
        match value.elt().and_then(|e| e.scalar()) {
            Some(Ty::U64) => self.delayed(value, None, span),
            Some(ty) if ty.is_int() && value.is_scalar() => {
                let value = self.cast(value, Ty::U64, span)?;
                self.delayed(value, None, span)
            }
            None if matches!(value, Value::Int(0..)) => self.delayed(value, Some(&want), span),
            _ => wrong(
                match value {
                    Value::Int(n) => format!("a number of elements cannot be negative, and is {n}"),
                    other => format!("expected a number of elements, got {}", other.describe()),
                },
                span,
            ),
        }
    }

    /// Returns a number that must be known at build time.
    ///
    /// Axes and distances are examples.
    pub fn known(&mut self, value: &Value, span: Span) -> Result<i128> {
        let known = match value {
            Value::Int(n) => Some(*n),
            Value::Scalar(fields, _) => match fields.as_slice() {
                [one] => one.as_literal().and_then(Const::integer),
                _ => None,
            },
            _ => None,
        };
        let got = || {
            format!(
                "expected an integer that is known, got {}",
                value.describe()
            )
        };
        known.map_or_else(|| wrong(got(), span), Ok)
    }

    /// Converts scalars to one type that holds the numbers of all.
    ///
    /// Untyped numbers take the type of the others, except floats among integers. Counts become
    /// signed.
    pub fn alike(
        &mut self,
        values: Vec<Value>,
        at: &dyn Fn(usize) -> Span,
    ) -> Result<(Elt, Vec<Value>)> {
        let values = self.meant(values, at)?;
        let want = promote::signed(&common(&values, at)?);
        self.all_of(values, want, at)
    }

    /// Converts an array's elements like [`alike`](Self::alike).
    ///
    /// Counts alone stay counts.
    pub fn elements_alike(
        &mut self,
        values: Vec<Value>,
        at: &dyn Fn(usize) -> Span,
    ) -> Result<(Elt, Vec<Value>)> {
        let values = self.meant(values, at)?;
        let is_typed = values.iter().all(|v| v.elt().is_some());
        let want = common(&values, at)?;
        let want = if is_typed {
            want
        } else {
            promote::signed(&want)
        };
        self.all_of(values, want, at)
    }

    fn all_of(
        &mut self,
        values: Vec<Value>,
        want: Elt,
        at: &dyn Fn(usize) -> Span,
    ) -> Result<(Elt, Vec<Value>)> {
        let mut all = Vec::with_capacity(values.len());
        for (k, value) in values.into_iter().enumerate() {
            let is_array = matches!(value, Value::Array(_) | Value::Segmented(_));
            if !is_array || value.is_scalar() {
                match value.has_delayed() && !self.tracing {
                    true => all.push(Value::Array(self.delayed(value, Some(&want), at(k))?)),
                    false => {
                        let value = self.number(value, &want, at(k))?;
                        let (fields, elt) = self.fields(value, Some(&want), at(k))?;
                        all.push(Value::Scalar(fields, elt));
                    }
                }
            } else if value.elt().as_ref() == Some(&want) {
                all.push(value);
            } else {
                return Err(mismatch(&want, &value, at(k)));
            }
        }
        Ok((want, all))
    }

    /// A boolean as a number, if a number is expected.
    fn number(&mut self, value: Value, want: &Elt, span: Span) -> Result<Value> {
        let is_truth = value.elt() == Some(Elt::Scalar(Ty::Bool)) && *want != Elt::Scalar(Ty::Bool);
        match want.scalar() {
            Some(ty) if is_truth => self.cast(value, ty, span),
            _ => Ok(value),
        }
    }
}

/// The type that holds the numbers of all values.
fn common(values: &[Value], at: &dyn Fn(usize) -> Span) -> Result<Elt> {
    let mut typed: Option<Elt> = None;
    for (k, value) in values.iter().enumerate() {
        let Some(elt) = value.elt() else { continue };
        typed = match typed {
            None => Some(elt),
            Some(before) => match promote::join(&before, &elt) {
                Some(both) => Some(both),
                None => return Err(mismatch(&before, value, at(k))),
            },
        };
    }
    let Some(typed) = typed else {
        let widest = values.iter().map(Value::default_elt).reduce(Elt::wider);
        return Ok(widest.unwrap_or(Elt::Scalar(Ty::I64)));
    };
    let untyped = values.iter().filter(|v| v.elt().is_none());
    let joined = untyped.fold(typed, |want, value| match (value, want.scalar()) {
        (Value::Float(_), Some(ty)) if !ty.is_float() => Elt::Scalar(Ty::F64),
        (Value::Int(_), Some(Ty::Bool)) => value.default_elt(),
        _ => want,
    });
    Ok(joined)
}
