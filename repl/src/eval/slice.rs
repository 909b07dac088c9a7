//! Python slices, `start:end:step`.
//!
//! Negative positions count from the end, positions beyond an end are clamped, and a negative step
//! runs backwards.

use super::{Eval, Result, wrong};
use crate::source::Span;
use crate::value::{Elt, Value};
use livefusion::ast::{Field, Fields, Node, Op, Ty};
use livefusion::ranked::{Amount, Item};
use loop_lang::Const;
use std::sync::Arc;

/// Start, end and step, each optional.
pub(super) type Ends = [Option<Value>; 3];

impl Eval<'_> {
    /// The slice of an axis, and its array. A negative step reverses the axis first.
    pub(super) fn python_slice(
        &mut self,
        of: &Arc<Node>,
        axis: usize,
        [start, end, step]: Ends,
        span: Span,
    ) -> Result<(Arc<Node>, Item)> {
        let step = match &step {
            Some(step) => self.known(step, span)?,
            None => 1,
        };
        let Ok(by) = u64::try_from(step.unsigned_abs()) else {
            return wrong(format!("a step of {step} is too large"), span);
        };
        if step == 0 {
            return wrong("a step of 0 goes nowhere", span);
        }
        let of = match step < 0 {
            true => self.builder("reverse", span).reverse_along(of, axis),
            false => of.clone(),
        };
        if let (None, None) = (&start, &end) {
            return Ok((of, Item::Part((Amount::Known(0), None), by)));
        }
        let shape = of.shape.as_ref().map(|s| s.axes());
        let len = match shape.and_then(|axes| axes.get(axis)) {
            Some(axis) => axis.known(),
            None => of.known_len(),
        };
        let known = |v: &Option<Value>| match v {
            None => Some(None),
            Some(Value::Int(n)) => Some(Some(*n)),
            Some(_) => None,
        };
        if let (Some(start), Some(end)) = (known(&start), known(&end)) {
            if let Some(len) = len {
                let (start, end) = places(start, end, len.into(), step < 0);
                if let Some(notes) = &mut self.notes {
                    notes.slice(span, start, end);
                }
                let ends = (Amount::Known(start), Some(Amount::Known(end)));
                return Ok((of, Item::Part(ends, by)));
            }
            // A prefix or a suffix of a stream needs no length.
            if let (0.., end @ (None | Some(0..)), 1, 1) = (start.unwrap_or(0), end, step, of.rank)
            {
                return Ok((self.stretch(of, start.unwrap_or(0), end, span), Item::ALL));
            }
        }
        let len = match shape.and_then(|axes| axes.get(axis)) {
            Some(axis) => axis.node().clone(),
            None => self.builder("len", span).len(&of),
        };
        let mut ends = Vec::new();
        for which in 0..2 {
            let (start, end, len) = (start.clone(), end.clone(), len.clone());
            let (body, _) = self.traced(&[], span, |eval, _| {
                let both = eval.delayed_places(start, end, &len, step < 0, span)?;
                Ok((Fields::from_slice(&[both[which]]), Elt::Count))
            })?;
            ends.push(self.builder("slice", span).compute(body));
        }
        let mut ends = ends.into_iter().map(Amount::Delayed);
        let start = ends.next().unwrap_or(Amount::Known(0));
        Ok((of, Item::Part((start, ends.next()), by)))
    }

    /// The elements from `start` up to `end`.
    fn stretch(&mut self, of: Arc<Node>, start: i128, end: Option<i128>, span: Span) -> Arc<Node> {
        let amount = |n: i128| Amount::Known(u64::try_from(n).unwrap_or(u64::MAX));
        let builder = self.builder("slice", span);
        let of = match end {
            Some(end) => builder.take_n(&of, amount(end.max(start))),
            None => of,
        };
        match start {
            0 => of,
            start => builder.drop(&of, amount(start)),
        }
    }

    /// Like [`places`], for a delayed length or end.
    fn delayed_places(
        &mut self,
        start: Option<Value>,
        end: Option<Value>,
        len: &Arc<Node>,
        backwards: bool,
        span: Span,
    ) -> Result<[Field; 2]> {
        let loc = self.loc(span);
        let lit = |n: i64| Field::literal(Const::new(Ty::I64, n as u64));
        let len: Fields = Field::value(len, loc)
            .iter()
            .map(|n| n.cast(Ty::I64, loc))
            .collect();
        let Some(&len) = len.first() else {
            return wrong("expected a length", span);
        };
        let last = Field::op(Op::Sub, &[len, lit(1)], loc);
        let mut place = |value: Option<Value>, default: Field| -> Result<Field> {
            let Some(value) = value else {
                return Ok(default);
            };
            let (fields, _) = self.fields(value, Some(&Elt::Scalar(Ty::I64)), span)?;
            let Some(&n) = fields.first() else {
                return wrong("expected an index", span);
            };
            let below = Field::op(Op::Lt, &[n, lit(0)], loc);
            let from_end = Field::op(Op::Add, &[n, len], loc);
            let n = Field::op(Op::Select, &[below, from_end, n], loc);
            let n = match backwards {
                true => Field::op(Op::Sub, &[last, n], loc),
                false => n,
            };
            let n = Field::op(Op::Max, &[n, lit(0)], loc);
            Ok(Field::op(Op::Min, &[n, len], loc))
        };
        let start = place(start, lit(0))?;
        let end = place(end, len)?;
        let end = Field::op(Op::Max, &[start, end], loc);
        Ok([start, end].map(|n| n.cast(Ty::U64, loc)))
    }
}

/// The positions of the first element and of the end, counted from the array's end for backward
/// slices.
fn places(start: Option<i128>, end: Option<i128>, len: i128, backwards: bool) -> (u64, u64) {
    let place = |n: i128| {
        let n = if n < 0 { n + len } else { n };
        let n = if backwards { len - 1 - n } else { n };
        n.clamp(0, len)
    };
    let start = start.map_or(0, place);
    let end = end.map_or(len, place).max(start);
    (start as u64, end as u64)
}
