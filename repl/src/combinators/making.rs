//! Array constructors, and `print`, with the names of NumPy and Python.

use super::{Combinator, Kind, row};
use crate::eval::{Call, Result};
use crate::syntax::Binary;
use crate::value::{Elt, Range, Value};
use livefusion::ast::{Body, Const, Field, Fields, Shape};
use loop_lang::Ty;

/// Lists the combinators.
#[rustfmt::skip]
pub static ROWS: &[Combinator] = &[
    row("array", &[Kind::Any], "[T] => [T]", "array([1, 2, 3])", |c| c.array(0).map(Value::Array)).also(&["asarray"]),
    row("arange", &[Kind::Number], "(start, end, step) => [T]", "arange(0, 10, 2)", arange).repeated(),
    row("zeros", &[Kind::Shape], "shape => [float]", "zeros((2, 3))", |c| filled(c, 0.0)),
    row("ones", &[Kind::Shape], "shape => [float]", "ones(3)", |c| filled(c, 1.0)),
    row("astype", &[Kind::Any, Kind::Any], "([T], type) => [U]", "[1, 2].astype(float)", |c| {
        let (of, ty, at) = (c.value(0).clone(), c.value(1).clone(), c.at(1));
        c.eval.as_type(of, &ty, at)
    }),
    row("print", &[Kind::Any], "value => value", "print([1, 2])", |c| {
        let mut all: Vec<Value> = c.from(0).map(|k| c.value(k).clone()).collect();
        Ok(match all.len() {
            1 => all.remove(0),
            _ => Value::Tuple(all),
        })
    }).repeated(),
];

fn filled(c: &mut Call<'_, '_>, with: f64) -> Result<Value> {
    let axes = c.shape(0)?;
    let (value, elt) = c.constant(Const::f64(with))?;
    c.give(c.builder.replicate(&Shape::new(axes), value), elt)
}

/// Numbers from a start (0 by default) to an exclusive end.
fn arange(c: &mut Call<'_, '_>) -> Result<Value> {
    let given: Vec<Value> = c.from(0).map(|k| c.value(k).clone()).collect();
    let (start, end, step) = match given.as_slice() {
        [end] => (Value::Int(0), end.clone(), Value::Int(1)),
        [start, end] => (start.clone(), end.clone(), Value::Int(1)),
        [start, end, step] => (start.clone(), end.clone(), step.clone()),
        _ => {
            return c
                .eval
                .refuse("`arange` takes a start, an end and a step", c.span);
        }
    };
    let is_float = |v: &Value| v.default_elt().scalar().is_some_and(Ty::is_float);
    let floats = [&start, &end, &step].into_iter().any(is_float);
    if matches!(step, Value::Int(1)) && !floats {
        let (start, end) = (Some(start), Some(end));
        let range = Range {
            start,
            end,
            closed: false,
        };
        return c.eval.range(range, c.span).map(Value::Array);
    }
    let (site_span, at) = (c.span, c.at(0));
    let site = crate::eval::Site {
        name: "arange",
        span: site_span,
        operands: &[],
    };
    // The number of steps that begin before the end.
    let way = c
        .eval
        .arithmetic(Binary::Sub, site, vec![end, start.clone()])?;
    let back = c
        .eval
        .arithmetic(Binary::Mul, site, vec![way, Value::Int(-1)])?;
    let steps = c
        .eval
        .arithmetic(Binary::FloorDiv, site, vec![back, step.clone()])?;
    let steps = c
        .eval
        .arithmetic(Binary::Mul, site, vec![steps, Value::Int(-1)])?;
    let steps = match steps {
        Value::Int(n) => Value::Int(n.max(0)),
        Value::Float(x) => Value::Int(x.max(0.0) as i128),
        other => other,
    };
    let n = c.eval.count(steps, at)?;
    let n = livefusion::ast::Axis::delayed(n.node).len();
    let (ends, elt) = c.alike_values(vec![start, step])?;
    c.give(c.builder.enum_from_step(n, &ends[0], &ends[1]), elt)
}

impl Call<'_, '_> {
    /// A constant as a body without parameters.
    fn constant(&mut self, of: Const) -> Result<(Body, Elt)> {
        let elt = Elt::Scalar(of.ty);
        let value = Value::Scalar(Fields::from_slice(&[Field::literal(of)]), elt);
        self.eval.value_body(value, None, self.span)
    }
}
