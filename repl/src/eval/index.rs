//! `array[items]`: elements and slices.

use super::{Eval, Result, Site, wrong};
use crate::source::Span;
use crate::syntax::Expr;
use crate::value::{Array, Env, Value};
use livefusion::ast::Field;
use livefusion::ranked::{Amount, Item};
use loop_lang::{Const, Op};

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
        if let ([item], true) = (items, of.columns().is_some())
            && let Value::Text(name) = self.expr(env, item)?
        {
            return self.column(&of, &name, item.span);
        }
        let of = match of {
            Value::Table(table) => Value::Array(self.rows_of(&table, array.span)?),
            other => other,
        };
        let Value::Array(of) = of else {
            let message = format!("expected an array, got {}", of.describe());
            return wrong(message, array.span);
        };
        let rank = usize::from(of.node.rank);
        if rank != items.len() {
            let s = if rank == 1 { "" } else { "s" };
            let message = format!("expected {rank} item{s} to index {of}, got {}", items.len());
            return wrong(message, span);
        }
        let mut values = Vec::new();
        for item in items {
            values.push((self.expr(env, item)?, item.span));
        }
        let is_range = |v: &(Value, Span)| matches!(v.0, Value::Range(_));
        if self.tracing && !values.iter().any(is_range) {
            return self.element(&of, values, span);
        }
        self.untraced(|eval| {
            let mut parts = Vec::new();
            for (value, at) in values {
                parts.push(eval.item(value, at)?);
            }
            let name = match parts.iter().all(|p| matches!(p, Item::One(_))) {
                true => "at",
                false => "slice",
            };
            let node = eval.builder(name, span).slice(&of.node, &parts);
            eval.array(node, of.elt, span)
        })
    }

    /// The element at an index, in the function that is traced.
    fn element(&mut self, of: &Array, values: Vec<(Value, Span)>, span: Span) -> Result<Value> {
        let builder = self.builder("at", span);
        let mut index = Vec::new();
        for (k, (value, at)) in values.into_iter().enumerate() {
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

    /// An item of a slice.
    pub fn item(&mut self, value: Value, span: Span) -> Result<Item> {
        let range = match value {
            Value::Range(range) => *range,
            index => return self.amount(index, 0, span).map(Item::One),
        };
        let start = match range.start {
            Some(value) => self.amount(value, 0, span)?,
            None => Amount::Known(0),
        };
        let end = match range.end {
            // Up to the last one.
            Some(Value::Int(-1)) if range.closed => None,
            Some(value) => Some(self.amount(value, i128::from(range.closed), span)?),
            None => None,
        };
        Ok(Item::Part((start, end), 1))
    }

    /// A position, so many behind the value's; what is negative counts from the end.
    pub fn amount(&mut self, value: Value, behind: i128, span: Span) -> Result<Amount> {
        if let Value::Int(n) = value {
            let n = n + behind;
            return Ok(u64::try_from(n).map_or(Amount::Negative(n), Amount::Known));
        }
        let value = Value::Array(self.count(value, span)?);
        let site = Site {
            name: "add",
            span,
            operands: &[],
        };
        let at = self.operator(Op::Add, site, vec![value, Value::Int(behind)])?;
        Ok(Amount::Delayed(self.delayed(at, None, span)?.node))
    }
}
