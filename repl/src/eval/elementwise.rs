//! Scalar operations on arrays: elementwise, with broadcasting of scalars and rows.

use super::{Eval, Result, wrong};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::value::{Elt, Segmented, Value};
use livefusion::ast::{
    Assert, Axis, BodyBuilder, Const, Field, Fields, Node, Op, TermId, Ty, Types, Value as Memory,
};
use livefusion::segmented::Segments;
use std::sync::Arc;

/// Describes the call and the locations of its operands.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The called name.
    pub name: &'static str,
    /// The location of the call.
    pub span: Span,
    /// The locations of its operands; the last one serves for all later operands. Empty if only the
    /// whole has a location.
    pub operands: &'a [Span],
}

impl<'a> Site<'a> {
    /// Returns the location of an operand.
    pub fn at(&self, k: usize) -> Span {
        let own = self.operands.get(k).or(self.operands.last());
        own.copied().unwrap_or(self.span)
    }

    /// Restricts it to one operand.
    pub fn only(self, k: usize) -> Site<'a> {
        let operands = self.operands.get(k..=k).unwrap_or(self.operands);
        Site { operands, ..self }
    }
}

/// A function from scalars to fields.
type OnScalars<'f> = &'f mut dyn FnMut(&mut Eval<'_>, &[Value]) -> Result<(Fields, Elt)>;

impl Eval<'_> {
    /// Applies a scalar function to scalars, or elementwise to arrays of one shape.
    pub fn elementwise(
        &mut self,
        site: Site<'_>,
        mut values: Vec<Value>,
        f: OnScalars<'_>,
    ) -> Result<Value> {
        if let Some(lengths) = self.agreed(site, &mut values)? {
            let data = self.elementwise(site, values, f)?;
            return match data {
                Value::Array(data) => Ok(Value::Segmented(Segmented { lengths, data })),
                other => Ok(other),
            };
        }
        for (k, value) in values.iter_mut().enumerate() {
            if let Value::Range(range) = value {
                *value = Value::Array(self.range((**range).clone(), site.at(k))?);
            }
        }
        for (k, value) in values.iter().enumerate() {
            if !value.is_scalar() && !matches!(value, Value::Array(_)) {
                let message = format!("`{}` takes numbers, got {}", site.name, value.describe());
                return wrong(message, site.at(k));
            }
        }
        let is_array = |v: &Value| matches!(v, Value::Array(a) if a.node.rank > 0);
        if !values.iter().any(is_array) {
            if self.tracing || !values.iter().any(Value::has_delayed) {
                let (fields, elt) = f(self, &values)?;
                // Literal expressions without a value, such as 1 / 0, fail at the force.
                if self.tracing || fields.iter().all(|f| f.as_literal().is_some()) {
                    return Ok(Value::Scalar(fields, elt));
                }
            }
            let (body, elt) = self.traced(&[], site.span, |eval, _| f(eval, &values))?;
            let node = self.builder(site.name, site.span).compute(body);
            return self.array(node, elt, site.span);
        }
        let term = |f: &Field| f.as_literal().is_none();
        if values
            .iter()
            .any(|v| matches!(v, Value::Scalar(f, _) if f.iter().any(term)))
        {
            let wrong = Diagnostic::new("an element of a function meets a whole array", site.span);
            let note = "index the array (`ys[i]`), or go through both in step with `zip_with`";
            return Err(Box::new(wrong.note(note)));
        }
        self.broadcast(&mut values, site)?;
        let mut inputs: Vec<Arc<Node>> = Vec::new();
        let mut types = Types::new();
        for value in &values {
            if let Value::Array(a) = value
                && a.node.rank > 0
            {
                types.extend(a.node.types.iter().copied());
                inputs.push(a.node.clone());
            }
        }
        let (body, elt) = self.traced(&types, site.span, |eval, fields| {
            let mut rest = fields;
            let mut inner = values.clone();
            for value in &mut inner {
                if let Value::Array(a) = value
                    && a.node.rank > 0
                {
                    let (own, others) = rest.split_at(a.elt.fields());
                    rest = others;
                    *value = Value::Scalar(Fields::from_slice(own), a.elt.clone());
                }
            }
            f(eval, &inner)
        })?;
        let node = self.builder(site.name, site.span).map(&inputs, body);
        self.array(node, elt, site.span)
    }

    /// Broadcasts arrays along the outer axes of the largest array. For example, a row meets each
    /// row of a matrix.
    fn broadcast(&mut self, values: &mut [Value], site: Site<'_>) -> Result<()> {
        let arrays = values.iter().filter_map(|v| match v {
            Value::Array(a) => Some(a.clone()),
            _ => None,
        });
        let Some(largest) = arrays.max_by_key(|a| a.node.rank) else {
            return Ok(());
        };
        let Some(shape) = &largest.node.shape else {
            return Ok(());
        };
        for (k, value) in values.iter_mut().enumerate() {
            let Value::Array(a) = value else { continue };
            if a.node.rank == 0 || a.node.rank == largest.node.rank {
                continue;
            }
            let new = usize::from(largest.node.rank - a.node.rank);
            let own: Vec<Option<u64>> = match &a.node.shape {
                Some(own) => own.axes().iter().map(Axis::known).collect(),
                None => vec![a.node.known_len()],
            };
            let differs = |(own, to): (&Option<u64>, &Axis)| match (own, to.known()) {
                (Some(own), Some(to)) => *own != to,
                _ => false,
            };
            if own.iter().zip(&shape.axes()[new..]).any(differs) {
                let message = format!("expected the last axes of {largest}, got {a}");
                return wrong(message, site.at(k));
            }
            let inner = |i: &[Field]| i[new..].iter().copied().collect();
            let builder = self.builder("broadcast", site.span);
            let node = builder.backpermute(&a.node, shape, inner);
            *value = self.array(node, a.elt.clone(), site.span)?;
        }
        Ok(())
    }

    /// Replaces segments by their elements, and returns the common lengths, or `None` without
    /// segments. Lengths that are not known to agree are checked when they or their elements are
    /// computed.
    fn agreed(&mut self, site: Site<'_>, values: &mut [Value]) -> Result<Option<Arc<Node>>> {
        let mut lengths: Option<Arc<Node>> = None;
        for value in values {
            let Value::Segmented(s) = value else { continue };
            let (own, mut data) = (s.lengths.clone(), s.data.clone());
            let known = lengths.get_or_insert_with(|| own.clone());
            if !same(known, &own) {
                let builder = self.builder(site.name, site.span);
                let mut b = BodyBuilder::new(&[Ty::U64; 2]);
                b.locate(Some(builder.loc()));
                let [got, expected] = [0, 1].map(|k| b.param(k));
                let checked = b.ensure(Assert::Equal, &[got, expected]);
                let checked = builder.map(&[own.clone(), known.clone()], b.finish(&[checked]));
                let each = Segments::replicate(builder, &own, &checked).data;
                data.node = builder.map(&[each, data.node.clone()], guarded(&data.node.types));
                for node in [&checked, &data.node] {
                    if let Some(e) = &node.error {
                        return Err(self.places.fault(e, site.span));
                    }
                }
                *known = checked;
            }
            *value = Value::Array(data);
        }
        Ok(lengths)
    }
}

/// Whether two arrays of lengths are known to be equal.
fn same(a: &Arc<Node>, b: &Arc<Node>) -> bool {
    let words = |n: &Arc<Node>| match n.value.get() {
        Some(Memory::Array(columns)) => columns.first()?.as_slice::<u64>().map(<[u64]>::to_vec),
        _ => None,
    };
    Arc::ptr_eq(a, b) || words(a).is_some_and(|own| words(b) == Some(own))
}

/// Unchanged elements that depend on the segment lengths. The lengths are non-zero wherever there
/// is an element.
fn guarded(types: &[Ty]) -> livefusion::ast::Body {
    let params: Vec<Ty> = [Ty::U64].iter().chain(types).copied().collect();
    let mut b = BodyBuilder::new(&params);
    let (length, zero) = (b.param(0), b.lit(Const::u64(0)));
    let is_there = b.op(Op::Ne, &[length, zero]);
    let guard = |(k, ty): (u32, &Ty)| {
        let (x, none) = (b.param(k), b.lit(Const::zero(*ty)));
        b.cond(is_there, x, none)
    };
    let fields: Vec<TermId> = (1..).zip(types).map(guard).collect();
    b.finish(&fields)
}
