//! Functions on whole arrays: rows, segments, loop states; and scalar loops.

use super::{Combinator, F1, Kind, XS, row};
use crate::eval::{Call, Form, Result, promote};
use crate::value::{Along, Array, Elt, Value};
use livefusion::ast::{Builder, Field, Node};
use livefusion::nested::OfAll;
use loop_lang::{Const, Op, Ty};
use std::sync::Arc;

/// Lists the combinators.
#[rustfmt::skip]
pub static ROWS: &[Combinator] = &[
    row("map_rows", &[XS, F1], "([[T]], [T] -> T or [T]) => [T] or [[T]]", "[[1, 2], [3, 4]].map_rows(|row| row.scan(0, |a, b| a + b))", |c| {
        let xs = c.array(0)?;
        rows_of(c, &xs, |b, xs, f| b.map_rows(xs, f))
    }),
    row("map", &[Kind::Along, F1], "([[T]] along axes, [T] -> T or [T]) => [T] or [[T]]", "[[1, 2], [3, 4]].along(0).map(|column| column.scan(0, |a, b| a + b))", |c| {
        let Along { array, axes } = c.along_axes(0)?;
        rows_of(c, &array, |b, xs, f| b.map_along(xs, &axes, f))
    }),
    row("map_segments", &[Kind::Any, F1], "(segments, [T] -> T or [T]) => [T] or segments", "(ragged [[1, 2], [3]]).map_segments(|s| s.scan(0, |a, b| a + b))", map_segments),
    row("iterate_n", &[Kind::Count, Kind::Any, F1], "(n, S, S -> S) => S", "iterate_n(3, [1, 10], |xs| xs * 2)", iterate_n),
    row("iterate_while", &[Kind::Any, F1, F1], "(S, S -> bool, S -> S) => S", "iterate_while([1.0, 9.0], |xs| xs.max() > 2.0, |xs| xs / 2)", iterate_while),
    row("while_loop", &[Kind::Any, F1, F1], "(S, S -> bool, S -> S) -> S", "[1, 40, 96].map(|x| while_loop((x, 0), |(x, _)| x % 2 == 0, |(x, n)| (x // 2, n + 1)).1)", while_loop),
    row("iterate", &[Kind::Count, Kind::Any, F1], "(n, S, S -> S) -> S", "[1.0, 4.0].map(|x| iterate(6, x, |r| 0.5 * (r + x / r)))", iterate),
];

/// A function from a node to result nodes.
type OnRow<'f> = &'f mut dyn FnMut(&Arc<Node>) -> Vec<Arc<Node>>;

fn rows_of(
    c: &mut Call<'_, '_>,
    xs: &Array,
    make: impl FnOnce(Builder, &Arc<Node>, OnRow<'_>) -> Vec<Arc<Node>>,
) -> Result<Value> {
    let (f, at, builder) = (c.value(1).clone(), c.at(1), c.builder);
    let mut form = None;
    let nodes = c.eval.on_arrays(|eval, wrong| {
        make(builder, &xs.node, &mut |row| {
            let row = Value::Array(Array {
                node: row.clone(),
                elt: xs.elt.clone(),
            });
            let made = eval.call(&f, vec![row], at).and_then(|v| eval.nodes(v, at));
            let (nodes, made) = wrong.keep(made).unzip();
            form = made;
            nodes.unwrap_or_default()
        })
    })?;
    let form = form.unwrap_or(Form::Tuple(Vec::new()));
    c.eval.formed(&form, &mut nodes.into_iter(), at)
}

fn map_segments(c: &mut Call<'_, '_>) -> Result<Value> {
    let (of, at) = (c.value(0).clone(), c.at(0));
    let mut parts = Vec::new();
    let given = c.eval.parts_of(of, &mut parts, at)?;
    let (f, at, builder) = (c.value(1).clone(), c.at(1), c.builder);
    let mut form = None;
    let all = c.eval.on_arrays(|eval, wrong| {
        builder.map_segments(&parts, |nodes| {
            // A segment is an array within the closure, and an array's element is a scalar.
            let args = eval.formed(&given.within(), &mut nodes.iter().cloned(), at);
            let mut results = Vec::new();
            let made = args
                .and_then(|args| eval.call(&f, vec![args], at))
                .and_then(|v| eval.parts_of(v, &mut results, at));
            form = wrong.keep(made);
            results
        })
    })?;
    let form = form.unwrap_or(Form::Tuple(Vec::new()));
    of_all(c, &form, &mut all.into_iter())
}

/// The results of all segments as a value.
fn of_all(
    c: &mut Call<'_, '_>,
    form: &Form,
    all: &mut dyn Iterator<Item = OfAll>,
) -> Result<Value> {
    let (elt, at) = match form {
        Form::Array(elt) | Form::Segments(elt) => (elt.clone(), c.at(1)),
        Form::Tuple(parts) => {
            let mut values = Vec::new();
            for part in parts {
                values.push(of_all(c, part, all)?);
            }
            return Ok(Value::Tuple(values));
        }
    };
    match all.next() {
        Some(OfAll::Each(node)) => c.give(node, elt),
        Some(OfAll::Segments(s)) => c.give_segments(s, elt),
        Some(OfAll::Nested(counts, s)) => {
            let counts = c.give(counts, Elt::Count)?;
            Ok(Value::Tuple(vec![counts, c.give_segments(s, elt)?]))
        }
        None => c.eval.refuse("expected a result of the function", at),
    }
}

fn iterate_n(c: &mut Call<'_, '_>) -> Result<Value> {
    let n = c.count(0)?;
    let (start, at) = (c.value(1).clone(), c.at(1));
    let (nodes, form) = c.eval.nodes(start, at)?;
    let (f, at, builder) = (c.value(2).clone(), c.at(2), c.builder);
    let all = c.eval.on_arrays(|eval, wrong| {
        builder.iterate_n(n, &nodes, |state| eval.next(wrong, &f, &form, state, at))
    })?;
    c.eval.formed(&form, &mut all.into_iter(), at)
}

fn iterate_while(c: &mut Call<'_, '_>) -> Result<Value> {
    let (start, at) = (c.value(0).clone(), c.at(0));
    let (nodes, form) = c.eval.nodes(start, at)?;
    let (test, next) = (c.value(1).clone(), c.value(2).clone());
    let (test_at, at, builder) = (c.at(1), c.at(2), c.builder);
    let all = c.eval.on_arrays(|eval, wrong| {
        // Both functions need the evaluator, one after the other.
        let shared = std::cell::RefCell::new((eval, wrong));
        let goes_on = |state: &[Arc<Node>]| {
            let (eval, wrong) = &mut *shared.borrow_mut();
            let want = Elt::Scalar(Ty::Bool);
            let result = eval
                .formed(&form, &mut state.iter().cloned(), test_at)
                .and_then(|v| eval.call(&test, vec![v], test_at))
                .and_then(|v| eval.delayed(v, Some(&want), test_at));
            let node = wrong.keep(result).map(|a| a.node);
            node.unwrap_or_else(|| builder.constant(&[Const::bool(false)]))
        };
        builder.iterate_while(&nodes, goes_on, |state| {
            let (eval, wrong) = &mut *shared.borrow_mut();
            eval.next(wrong, &next, &form, state, at)
        })
    })?;
    c.eval.formed(&form, &mut all.into_iter(), at)
}

/// A traced scalar loop: its start, then its test and step on the state.
fn while_loop(c: &mut Call<'_, '_>) -> Result<Value> {
    let (start, test, next) = (c.value(0).clone(), c.value(1).clone(), c.value(2).clone());
    let (at, test_at, next_at, loc) = (c.at(0), c.at(1), c.at(2), c.builder.loc());
    c.eval.scalars("while_loop", at, |eval, wrong| {
        let want = promote::signed(&start.default_elt());
        let (start, elt) = eval.fields(start, Some(&want), at)?;
        // Both functions need the evaluator, one after the other.
        let shared = std::cell::RefCell::new((eval, wrong));
        let test = |state: &[Field]| {
            let (eval, wrong) = &mut *shared.borrow_mut();
            let want = Elt::Scalar(Ty::Bool);
            let result = eval.applied(&test, state, &elt, Some(&want), test_at);
            let holds = wrong.keep(result).and_then(|f| f.first().copied());
            holds.unwrap_or(Field::literal(Const::bool(false)))
        };
        let next = |state: &[Field]| {
            let (eval, wrong) = &mut *shared.borrow_mut();
            let result = eval.applied(&next, state, &elt, Some(&elt), next_at);
            wrong
                .keep(result)
                .unwrap_or_else(|| state.iter().copied().collect())
        };
        Ok((Field::while_loop(&start, test, next, loc), elt.clone()))
    })
}

fn iterate(c: &mut Call<'_, '_>) -> Result<Value> {
    let (n, start, next) = (c.value(0).clone(), c.value(1).clone(), c.value(2).clone());
    let (n_at, at, next_at, loc) = (c.at(0), c.at(1), c.at(2), c.builder.loc());
    c.eval.scalars("iterate", at, |eval, wrong| {
        let steps = n.default_elt().scalar().filter(|ty| ty.is_int());
        let Some(ty) = steps.filter(|_| !matches!(n, Value::Int(..0))) else {
            let message = format!("expected a number of steps, got {}", n.describe());
            return eval.refuse(message, n_at);
        };
        let n = eval.fields(n, None, n_at)?.0[0];
        // As for a range, a delayed negative number gives no steps.
        let least = Field::literal(Const::zero(ty));
        let n = Field::op(Op::Max, &[n, least], loc).cast(Ty::U64, loc);
        let want = promote::signed(&start.default_elt());
        let (start, elt) = eval.fields(start, Some(&want), at)?;
        let next = |state: &[Field]| {
            let result = eval.applied(&next, state, &elt, Some(&elt), next_at);
            let next = wrong.keep(result);
            next.unwrap_or_else(|| state.iter().copied().collect())
        };
        Ok((Field::iterate(n, &start, next, loc), elt.clone()))
    })
}
