//! Indexing, `array[items]`: elements and slices.

use super::slice::Ends;
use super::{Eval, Result, Site, wrong};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::{Expr, ExprKind};
use crate::value::{Array, Elt, Env, Segmented, Value};
use livefusion::ast::{Axis, Field, Fields, Node};
use livefusion::ranked::{Amount, Item};
use loop_lang::{Const, Op, Ty};
use std::sync::Arc;

/// An item between brackets, for one axis.
enum Part {
    /// An index, a range by Rust's rules, an array of indices or of booleans.
    Value(Value),
    /// A slice by Python's rules.
    Slice(Box<Ends>),
}

impl Eval<'_> {
    /// `array[items]`: an element if all items are indices, else a slice. In a traced function, an
    /// element is read at a traced index.
    pub(super) fn index(
        &mut self,
        env: &Env,
        array: &Expr,
        items: &[Expr],
        span: Span,
    ) -> Result<Value> {
        let of = match self.expr(env, array)? {
            Value::Range(range) => Value::Array(self.range(*range, array.span)?),
            other => other,
        };
        let mut parts = Vec::new();
        for item in items {
            parts.push((self.part(env, item)?, item.span));
        }
        if let ([(Part::Value(Value::Text(name)), at)], true) =
            (parts.as_slice(), of.columns().is_some())
        {
            return self.column(&of, name, *at);
        }
        let of = match of {
            Value::Array(of) if of.node.rank > 0 => of,
            Value::Table(table) => self.rows_of(&table, array.span)?,
            Value::Segmented(s) => return self.segment(&s, parts, span),
            of => {
                let message = format!("expected an array, got {}", of.describe());
                return wrong(message, array.span);
            }
        };
        let rank = usize::from(of.node.rank);
        if rank < parts.len() {
            let s = if rank == 1 { "is" } else { "es" };
            let message = format!(
                "{of} has {rank} ax{s}, and {} indices are given",
                parts.len()
            );
            return wrong(message, span);
        }
        let is_part =
            |p: &(Part, Span)| matches!(p.0, Part::Slice(_) | Part::Value(Value::Range(_)));
        if self.tracing && !parts.iter().any(is_part) {
            if rank != parts.len() {
                let message = format!(
                    "{of} has {rank} axes, and {} of their indices are given",
                    parts.len()
                );
                let wrong = Diagnostic::new(message, span);
                let note = "in a function of elements, an index says which element is read";
                return Err(Box::new(wrong.note(note)));
            }
            return self.element(&of, parts, span);
        }
        self.untraced(|eval| eval.sliced(of, parts, span))
    }

    /// Evaluates an item between brackets.
    fn part(&mut self, env: &Env, item: &Expr) -> Result<Part> {
        let ExprKind::Slice(ends) = &item.kind else {
            return self.expr(env, item).map(Part::Value);
        };
        let mut values = [const { None }; 3];
        for (value, end) in values.iter_mut().zip(ends.iter()) {
            *value = end.as_ref().map(|e| self.expr(env, e)).transpose()?;
        }
        Ok(Part::Slice(Box::new(values)))
    }

    /// A part of an array; axes without an item are kept whole.
    fn sliced(&mut self, of: Array, parts: Vec<(Part, Span)>, span: Span) -> Result<Value> {
        if let [(Part::Value(Value::Array(at)), at_span)] = parts.as_slice()
            && at.node.rank > 0
        {
            return self.chosen(&of, at, *at_span, span);
        }
        let (mut node, mut items) = (of.node, Vec::new());
        for (axis, (part, at)) in parts.into_iter().enumerate() {
            let item = match part {
                Part::Value(value) => self.item(value, at)?,
                Part::Slice(ends) => {
                    let (turned, item) = self.python_slice(&node, axis, *ends, at)?;
                    node = turned;
                    item
                }
            };
            items.push(item);
        }
        items.resize(usize::from(node.rank), Item::ALL);
        if let [Item::Part((Amount::Known(0), None), 1)] = items.as_slice() {
            return self.array(node, of.elt, span);
        }
        let name = match items.iter().all(|p| matches!(p, Item::One(_))) {
            true => "at",
            false => "slice",
        };
        let node = self.builder(name, span).slice(&node, &items);
        self.array(node, of.elt, span)
    }

    /// The elements or rows selected by an array of booleans or of indices.
    fn chosen(&mut self, of: &Array, at: &Array, at_span: Span, span: Span) -> Result<Value> {
        let ty = at.elt.scalar();
        let is_mask = ty == Some(Ty::Bool);
        if !is_mask && !ty.is_some_and(Ty::is_int) {
            let message = format!(
                "an index is a whole number, or an array of them or of truth values; got {at}"
            );
            return wrong(message, at_span);
        }
        if is_mask && at.node.rank == of.node.rank {
            let builder = self.builder("pack", span);
            let flat = |node: &Arc<Node>| builder.reshape(node, None);
            let node = builder.pack(&flat(&of.node), &flat(&at.node));
            return self.array(node, of.elt.clone(), span);
        }
        if at.node.rank != 1 {
            return wrong(format!("expected an index of one axis, got {at}"), at_span);
        }
        let indices = match is_mask {
            true => {
                let builder = self.builder("pack", span);
                let len = builder.renamed("len").len(&at.node);
                let all = builder.renamed("iota").iota(Axis::delayed(len).len());
                builder.pack(&all, &at.node)
            }
            false => self.retyped(at.clone(), &Elt::Count, at_span)?.node,
        };
        let node = match of.node.rank {
            1 => self.builder("gather", span).gather(&of.node, &indices),
            _ => self.builder("select", span).select(&of.node, 0, &indices),
        };
        self.array(node, of.elt.clone(), span)
    }

    /// One segment, as an array.
    fn segment(&mut self, s: &Segmented, parts: Vec<(Part, Span)>, span: Span) -> Result<Value> {
        let [(Part::Value(value), at)] =
            <[_; 1]>::try_from(parts).unwrap_or([(Part::Slice(Box::default()), span)])
        else {
            return wrong("segments have one index, which is a number", span);
        };
        if self.tracing {
            return wrong("a segment cannot be read in a function of elements", span);
        }
        let one = [self.item(value, at)?];
        let builder = self.builder("at", span);
        let [start, len] = [builder.offsets(&s.lengths), s.lengths.clone()].map(|n| {
            let node = builder.slice(&n, &one);
            Array {
                node,
                elt: Elt::Count,
            }
        });
        let site = Site {
            name: "add",
            span,
            operands: &[],
        };
        let ends = vec![Value::Array(start.clone()), Value::Array(len)];
        let end = self.operator(Op::Add, site, ends)?;
        let end = self.count(end, span)?;
        let part = (Amount::Delayed(start.node), Some(Amount::Delayed(end.node)));
        let node = self
            .builder("slice", span)
            .slice(&s.data.node, &[Item::Part(part, 1)]);
        self.array(node, s.data.elt.clone(), span)
    }

    /// The element at an index, in the traced function.
    fn element(&mut self, of: &Array, parts: Vec<(Part, Span)>, span: Span) -> Result<Value> {
        let builder = self.builder("at", span);
        let mut index = Vec::new();
        for (k, (part, at)) in parts.into_iter().enumerate() {
            let Part::Value(value) = part else { continue };
            index.push(match value {
                Value::Int(n) if n < 0 => {
                    let axis = match &of.node.shape {
                        Some(shape) => shape.axes()[k].node().clone(),
                        None => builder.renamed("len").len(&of.node),
                    };
                    let len = Field::value(&axis, builder.loc());
                    let back = Field::literal(Const::u64(n.unsigned_abs() as u64));
                    Field::op(Op::Sub, &[len[0], back], builder.loc())
                }
                Value::Int(n) => Field::literal(Const::u64(n as u64)),
                value => {
                    let (fields, elt) = self.fields(value, None, at)?;
                    match (fields.as_slice(), elt.scalar()) {
                        ([field], Some(ty)) if ty.is_int() => *field,
                        _ => return wrong(format!("expected an index, got {elt}"), at),
                    }
                }
            });
        }
        let fields = Field::at(&of.node, &index, builder.loc());
        Ok(Value::Scalar(fields, of.elt.clone()))
    }

    /// Returns an item of a slice.
    pub fn item(&mut self, value: Value, span: Span) -> Result<Item> {
        let range = match value {
            Value::Range(range) => *range,
            Value::Float(_) | Value::Text(_) => {
                let message = format!("an index is a whole number, got {}", value.describe());
                return wrong(message, span);
            }
            index => return self.amount(index, 0, span).map(Item::One),
        };
        let start = match range.start {
            Some(value) => self.amount(value, 0, span)?,
            None => Amount::Known(0),
        };
        let end = match range.end {
            // Up to the last element.
            Some(Value::Int(-1)) if range.closed => None,
            Some(value) => Some(self.amount(value, i128::from(range.closed), span)?),
            None => None,
        };
        Ok(Item::Part((start, end), 1))
    }

    /// Returns a position plus an offset.
    ///
    /// A negative position counts from the end.
    pub fn amount(&mut self, value: Value, behind: i128, span: Span) -> Result<Amount> {
        if let Value::Int(n) = value {
            let n = n + behind;
            return Ok(u64::try_from(n).map_or(Amount::Negative(n), Amount::Known));
        }
        let count = self.count(value, span)?;
        if behind == 0 {
            return Ok(Amount::Delayed(count.node));
        }
        let behind = Const::u64(behind.unsigned_abs() as u64);
        let behind = Fields::from_slice(&[Field::literal(behind)]);
        let behind = Value::Scalar(behind, Elt::Scalar(Ty::U64));
        let site = Site {
            name: "add",
            span,
            operands: &[],
        };
        let at = self.operator(Op::Add, site, vec![Value::Array(count), behind])?;
        Ok(Amount::Delayed(self.delayed(at, None, span)?.node))
    }
}
