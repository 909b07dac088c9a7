//! Array literals: vectors, matrices, segments, ranges.

use super::{Eval, Result, wrong};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::{Expr, ExprKind};
use crate::value::{Array, Elt, Env, Range, Segmented, Value};
use livefusion::ast::{self, Axis, Buffer, Const, Field, Fields, Kind, Len, Node, Op, Shape, Ty};
use std::sync::Arc;

impl Eval<'_> {
    /// The array of a vector's elements. Rows of equal length form a matrix.
    pub(super) fn vector(
        &mut self,
        values: Vec<Value>,
        spans: &[Span],
        span: Span,
    ) -> Result<Value> {
        let at = |k: usize| spans.get(k).copied().unwrap_or(span);
        if values
            .iter()
            .any(|v| matches!(v, Value::Array(a) if a.node.rank > 0))
        {
            let values = self.meant(values, &at)?;
            return self.rows(values, &at, span);
        }
        let (elt, rows) = self.untraced(|eval| eval.elements_alike(values, &at))?;
        if rows.iter().any(|r| matches!(r, Value::Array(_))) {
            let builder = self.builder("vector", span);
            let mut nodes = Vec::new();
            for row in rows {
                let node = self.delayed(row, Some(&elt), span)?.node;
                let types = [Ty::U64];
                let (body, _) = self.traced(&types, span, |_, _| {
                    Ok((ast::Field::value(&node, builder.loc()), elt.clone()))
                })?;
                nodes.push(builder.generate(ast::Len::Known(1), body));
            }
            let node = match nodes.as_slice() {
                [one] => one.clone(),
                all => builder.append(all),
            };
            return self.array(node, elt, span);
        }
        let types = elt.types();
        let mut columns = Vec::new();
        for (k, ty) in types.iter().enumerate() {
            let Some(mut column) = Buffer::zeroed(*ty, rows.len()) else {
                return wrong("there is no room for so many elements", span);
            };
            for (i, row) in rows.iter().enumerate() {
                let Value::Scalar(fields, _) = row else {
                    continue;
                };
                match fields[k].as_literal() {
                    Some(c) => column.set_word(i, c.bits),
                    None => {
                        let message = "an element of a function cannot be put into an array";
                        return wrong(message, at(i));
                    }
                };
            }
            columns.push(Arc::new(column));
        }
        let node = self.builder("vector", span).manifest(columns);
        self.array(node, elt, span)
    }

    /// A matrix, or an array of higher rank, from its rows.
    fn rows(
        &mut self,
        values: Vec<Value>,
        at: &dyn Fn(usize) -> Span,
        span: Span,
    ) -> Result<Value> {
        let mut first: Option<Array> = None;
        let mut nodes = Vec::new();
        for (k, value) in values.into_iter().enumerate() {
            let Value::Array(row) = value else {
                return wrong(format!("expected a row, got {}", value.describe()), at(k));
            };
            let known = |a: &Array| match &a.node.shape {
                Some(shape) => shape.known(),
                None => a.node.known_len().map(|n| vec![n]),
            };
            let like = first.get_or_insert_with(|| row.clone());
            if row.elt != like.elt || known(&row) != known(like) || known(&row).is_none() {
                let message = format!("expected a row like the first, {like}, got {row}");
                let wrong = Diagnostic::new(message, at(k));
                let note = "rows of different lengths are segments: `ragged [[1, 2], [3]]`";
                return Err(Box::new(wrong.note(note)));
            }
            nodes.push(row.node);
        }
        let Some(first) = first else {
            return wrong("expected at least one row", span);
        };
        let builder = self.builder("vector", span);
        let node = match in_memory(&nodes) {
            Some(columns) => {
                let mut axes = vec![Axis::from(nodes.len() as u64)];
                match &first.node.shape {
                    Some(shape) => axes.extend(shape.axes().iter().cloned()),
                    None => axes.extend(first.node.known_len().map(Axis::from)),
                }
                builder.reshape(&builder.manifest(columns), Some(Shape::new(axes)))
            }
            None => builder.stack(0, &nodes),
        };
        self.array(node, first.elt, span)
    }

    /// Segments from rows.
    pub(super) fn ragged(&mut self, env: &Env, rows: &[Expr], span: Span) -> Result<Value> {
        let (mut values, mut spans, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            let ExprKind::Vector(parts) = &row.kind else {
                return wrong("expected a row in brackets, `[1, 2]`", row.span);
            };
            lengths.push(parts.len() as u64);
            for part in parts {
                values.push(self.expr(env, part)?);
                spans.push(part.span);
            }
        }
        let Value::Array(data) = self.vector(values, &spans, span)? else {
            return wrong("expected elements", span);
        };
        let lengths = Buffer::from_vec(lengths);
        let lengths = self
            .builder("ragged", span)
            .manifest(vec![Arc::new(lengths)]);
        Ok(Value::Segmented(Segmented { lengths, data }))
    }

    /// Returns `a..b` as an array.
    pub fn range(&mut self, range: Range, span: Span) -> Result<Array> {
        let Some(end) = range.end else {
            return wrong("expected an array, got a range without an end", span);
        };
        let start = range.start.unwrap_or(Value::Int(0));
        let (elt, ends) = self.untraced(|eval| eval.alike(vec![start, end], &|_| span))?;
        let Some(ty) = elt.scalar().filter(|t| t.is_int()) else {
            return wrong(
                format!("expected a range of integers, got one of {elt}"),
                span,
            );
        };
        let mut known = Vec::new();
        for e in &ends {
            known.extend(self.known(e, span).ok());
        }
        let builder = self.builder("range", span);
        let loc = builder.loc();
        let more = i128::from(range.closed);
        let len = match known.as_slice() {
            [start, end] => Len::Known((end - start + more).clamp(0, i128::from(u64::MAX)) as u64),
            _ => {
                let ends = ends.clone();
                let (body, _) = self.traced(&[], span, |eval, _| {
                    let mut sides = Fields::new();
                    for e in ends {
                        sides.extend(eval.fields(e, None, span)?.0);
                    }
                    // The difference of two numbers may overflow their own type.
                    let [start, end] = [0, 1].map(|k| sides[k].cast(Ty::I64, loc));
                    let size = Field::op(Op::Sub, &[end, start], loc);
                    let more = Field::literal(Const::u64(more as u64));
                    let size = Field::op(Op::Add, &[size.cast(Ty::U64, loc), more], loc);
                    let before = if range.closed { Op::Le } else { Op::Lt };
                    let some = Field::op(before, &[sides[0], sides[1]], loc);
                    let zero = Field::literal(Const::u64(0));
                    let size = Field::op(Op::Select, &[some, size, zero], loc);
                    Ok((Fields::from_slice(&[size]), Elt::Scalar(Ty::U64)))
                })?;
                Len::Delayed(builder.renamed("length").compute(body))
            }
        };
        let first = ends[0].clone();
        let (body, elt) = self.traced(&[Ty::U64], span, |eval, i| {
            let (start, elt) = eval.fields(first, None, span)?;
            let i = i[0].cast(ty, loc);
            let x = Field::op(Op::Add, &[start[0], i], loc);
            Ok((Fields::from_slice(&[x]), elt))
        })?;
        let node = builder.generate(len, body);
        match &node.error {
            Some(e) => Err(self.places.fault(e, span)),
            None => Ok(Array { node, elt }),
        }
    }
}

/// The concatenated elements of literal rows: vectors, and matrices of vectors.
fn in_memory(rows: &[Arc<Node>]) -> Option<Vec<Arc<Buffer>>> {
    let columns = |n: &Arc<Node>| match n.value.get() {
        Some(ast::Value::Array(columns)) => Some(columns.clone()),
        _ => None,
    };
    let of = |n: &Arc<Node>| match (&n.kind, n.inputs.as_slice()) {
        (Kind::Manifest, _) => columns(n),
        (Kind::Zip, [under]) => columns(under),
        _ => None,
    };
    let all: Option<Vec<_>> = rows.iter().map(of).collect();
    let all = all?;
    let first = all.first()?;
    let join = |(k, like): (usize, &Arc<Buffer>)| {
        let len = all.iter().map(|c| c[k].len()).sum();
        let mut column = Buffer::zeroed(like.ty(), len)?;
        let words = all
            .iter()
            .flat_map(|c| (0..c[k].len()).map(move |i| c[k].get_word(i)));
        for (at, word) in words.enumerate() {
            column.set_word(at, word?);
        }
        Some(Arc::new(column))
    };
    first.iter().enumerate().map(join).collect()
}
