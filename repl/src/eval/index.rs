//! `array[items]`: elements and slices.

use super::{Eval, Result, wrong};
use crate::source::Span;
use crate::syntax::Expr;
use crate::value::{Array, Elt, Env, Value};
use livefusion::ast::{Axis, BodyBuilder, Ensure, Shape, TermId};
use livefusion::exp::{Field, Fields, trace};
use loop_lang::{Const, Op, Ty};

/// One item of a slice, as delayed numbers.
enum Item {
    /// One index: the axis goes.
    At(Array),
    /// From here, so many.
    Part(Array, Axis),
}

impl Eval<'_> {
    /// `array[items]`: an element where all items are indices, a slice where one is a range. In a function that is traced an
    /// element is read where the index says.
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
        let Value::Array(of) = of else {
            return wrong(
                format!("expected an array, got {}", of.describe()),
                array.span,
            );
        };
        let rank = usize::from(of.node.rank);
        if rank != items.len() {
            let message = format!(
                "expected {rank} items, as {of} has so many axes, got {}",
                items.len()
            );
            return wrong(message, span);
        }
        let mut values = Vec::new();
        for item in items {
            values.push(self.expr(env, item)?);
        }
        let axes = match &of.node.shape {
            Some(shape) => shape.axes().to_vec(),
            None => vec![Axis::delayed(self.builder("len", span).len(&of.node))],
        };
        // Elements are read by their places row by row.
        let of = Array {
            node: self.builder("at", span).reshape(&of.node, None),
            elt: of.elt,
        };
        if values.iter().all(|v| !matches!(v, Value::Range(_))) {
            return self.element(&of, &axes, values, items, span);
        }
        if self.has_terms(&values) {
            return wrong(
                "a slice cannot begin or end at an element of a function",
                span,
            );
        }
        self.on_arrays(|eval| eval.slice(&of, &axes, values, items, span))
    }

    fn has_terms(&self, values: &[Value]) -> bool {
        let is = |v: &Value| matches!(v, Value::Scalar(f, _) if f.iter().any(|f| f.as_literal().is_none()));
        values.iter().any(|v| match v {
            Value::Range(r) => r.start.iter().chain(&r.end).any(is),
            other => is(other),
        })
    }

    fn element(
        &mut self,
        of: &Array,
        axes: &[Axis],
        values: Vec<Value>,
        items: &[Expr],
        span: Span,
    ) -> Result<Value> {
        let loc = self.loc(span);
        let read = |eval: &mut Self| {
            let mut at: Option<Field> = None;
            for ((value, item), axis) in values.into_iter().zip(items).zip(axes) {
                let len = trace::scalar(axis.node(), 0, Ty::U64, loc);
                let index = match value {
                    Value::Int(n) if n < 0 => {
                        let back = Field::literal(Const::u64(n.unsigned_abs() as u64));
                        trace::op(Op::Sub, &[len, back], Ty::U64, loc)
                    }
                    Value::Int(n) => Field::literal(Const::u64(n as u64)),
                    value => {
                        let (fields, elt) = eval.fields(value, None, item.span)?;
                        match elt.scalar() {
                            Some(ty) if ty.is_int() => {
                                trace::op(Op::Cast, &[fields[0]], Ty::U64, loc)
                            }
                            _ => return wrong(format!("expected an index, got {elt}"), item.span),
                        }
                    }
                };
                at = Some(match at {
                    None => index,
                    Some(outer) => trace::flat([outer, index, len], true, loc),
                });
            }
            let at = at.unwrap_or(Field::literal(Const::u64(0)));
            let types = of.node.types.iter().enumerate();
            let fields: Fields = types
                .map(|(k, ty)| trace::at(&of.node, k as u32, *ty, at, loc))
                .collect();
            Ok((fields, of.elt.clone()))
        };
        if self.tracing {
            let (fields, elt) = read(self)?;
            return Ok(Value::Scalar(fields, elt));
        }
        let (body, elt) = self.traced(&[], span, |eval, _| read(eval))?;
        let node = self.builder("at", span).compute(body);
        self.array(node, elt, span)
    }

    fn slice(
        &mut self,
        of: &Array,
        axes: &[Axis],
        values: Vec<Value>,
        items: &[Expr],
        span: Span,
    ) -> Result<Value> {
        let mut parts = Vec::new();
        for ((value, item), axis) in values.into_iter().zip(items).zip(axes) {
            parts.push(self.item(value, axis, item.span)?);
        }
        let builder = self.builder("slice", span);
        let kept = parts.iter().filter_map(|p| match p {
            Item::Part(_, len) => Some(len.clone()),
            Item::At(_) => None,
        });
        let kept: Vec<Axis> = kept.collect();
        let shape = Shape::new(kept.clone());
        let indices = builder.indices(&shape);
        let loc = builder.loc();
        let of_shape = axes.to_vec();
        let (body, elt) = self.traced(&indices.types.clone(), span, |_, fields| {
            let mut fields = fields.iter();
            let mut at: Option<Field> = None;
            for (part, axis) in parts.iter().zip(&of_shape) {
                let index = match part {
                    Item::At(n) => trace::scalar(&n.node, 0, Ty::U64, loc),
                    Item::Part(start, _) => {
                        let start = trace::scalar(&start.node, 0, Ty::U64, loc);
                        let inner = fields.next().copied().unwrap_or(start);
                        trace::op(Op::Add, &[start, inner], Ty::U64, loc)
                    }
                };
                let len = trace::scalar(axis.node(), 0, Ty::U64, loc);
                at = Some(match at {
                    None => index,
                    Some(outer) => trace::flat([outer, index, len], true, loc),
                });
            }
            let at = at.unwrap_or(Field::literal(Const::u64(0)));
            let types = of.node.types.iter().enumerate();
            let fields = types
                .map(|(k, ty)| trace::at(&of.node, k as u32, *ty, at, loc))
                .collect();
            Ok((fields, of.elt.clone()))
        })?;
        let elements = builder.map(&[indices], body);
        let shape = Some(shape).filter(|s| s.rank() > 1);
        self.array(builder.reshape(&elements, shape), elt, span)
    }

    /// An item of a slice on an axis of this length, checked against it.
    fn item(&mut self, value: Value, axis: &Axis, span: Span) -> Result<Item> {
        let range = match value {
            Value::Range(range) => *range,
            index => {
                let n = self.count_from(index, axis, span)?;
                return Ok(Item::At(n));
            }
        };
        let start = match range.start {
            Some(value) => self.count_from(value, axis, span)?,
            None => self.count(Value::Int(0), span)?,
        };
        let mut end = match range.end {
            Some(value) => self.count_from(value, axis, span)?,
            None => Array {
                node: axis.node().clone(),
                elt: Elt::Scalar(Ty::U64),
            },
        };
        if range.closed {
            let one = Value::Scalar(
                Fields::from_slice(&[Field::literal(Const::u64(1))]),
                Elt::Scalar(Ty::U64),
            );
            let next = self.operator(Op::Add, "add", vec![Value::Array(end), one], span)?;
            end = self.delayed(next, None, span)?;
        }
        let builder = self.builder("slice", span);
        let mut b = BodyBuilder::new(&[]);
        b.locate(Some(builder.loc()));
        let ends: [TermId; 3] = [&start.node, &end.node, axis.node()].map(|n| b.scalar(n, 0));
        let inside = b.ensure(Ensure::Inside, &ends);
        let len = b.op(Op::Sub, &[ends[1], inside]);
        let node = builder.compute(b.finish(&[len]));
        if let Some(e) = &node.error {
            return Err(self.places.fault(e, span));
        }
        let known = (axis.known(), self.word(&start), self.word(&end));
        let len = match known {
            (Some(n), Some(a), Some(b)) if a <= b && b <= n => builder.length(b - a),
            (Some(len), Some(start), Some(end)) => {
                let kind = livefusion::ErrorKind::SliceRange { start, end, len };
                return wrong(kind.to_string(), span);
            }
            _ => Axis::delayed(node),
        };
        Ok(Item::Part(start, len))
    }

    fn word(&self, a: &Array) -> Option<u64> {
        Axis::delayed(a.node.clone()).known()
    }

    /// An index, from the end if it is negative.
    fn count_from(&mut self, value: Value, axis: &Axis, span: Span) -> Result<Array> {
        match value {
            Value::Int(n) if n < 0 => {
                let n = Value::Int(-n);
                let back = Value::Array(self.count(n, span)?);
                let len = Value::Array(Array {
                    node: axis.node().clone(),
                    elt: Elt::Scalar(Ty::U64),
                });
                let at = self.operator(Op::Sub, "sub", vec![len, back], span)?;
                self.delayed(at, None, span)
            }
            other => self.count(other, span),
        }
    }
}
