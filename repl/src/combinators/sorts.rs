//! Sorts and combinators built on them.

use super::tables::join_tables;
use super::{COUNT, Combinator, F2, Keywords, Kind, XS, row};
use crate::eval::{Call, Result};
use crate::value::{Elt, Value};
use livefusion::ast::{Builder, Node};
use loop_lang::Ty;
use std::sync::Arc;

const S: Kind = Kind::Segments;

/// Lists the combinators.
#[rustfmt::skip]
pub static ROWS: &[Combinator] = &[
    row("sort", &[XS], "[T] => [T]", "[3, 1, 2].sort()", |c| {
        let xs = c.array(0)?;
        c.give(c.builder.sort(&xs.node), xs.elt)
    }).also(&["sorted"]),
    row("argsort", &[XS], "[T] => [u64]", "[30, 10, 20].argsort()", |c| {
        let xs = c.array(0)?;
        c.give(c.builder.argsort(&xs.node), COUNT)
    }),
    row("sort_by_key", &[XS, XS], "([T], [key]) => [T]", "[7, 8, 9].sort_by_key([2, 1, 2])", |c| {
        let (xs, keys) = (c.array(0)?, c.array(1)?);
        c.give(c.builder.sort_by_key(&xs.node, &keys.node), xs.elt)
    }),
    row("sort_by", &[XS, Kind::Key], "([T], T -> key or (T, T) -> bool) => [T]", "[3, 11, 2].sort_by(|a, b| a % 10 < b % 10)", |c| {
        let xs = c.array(0)?;
        if c.parameters(1) == Some(1) {
            let (key, _) = c.function(1, &[&xs.elt], None)?;
            let keys = c.builder.map(std::slice::from_ref(&xs.node), key);
            return c.give(c.builder.sort_by_key(&xs.node, &keys), xs.elt);
        }
        let is_before = c.test(1, &[&xs.elt, &xs.elt])?;
        c.give(c.builder.sort_by(&xs.node, &is_before), xs.elt)
    }),
    row("top_k", &[XS, Kind::Count], "([T], k) => [T]", "[3, 9, 4].top_k(2)", |c| {
        let (xs, k) = (c.array(0)?, c.few(1)?);
        c.give(c.builder.top_k(&xs.node, k), xs.elt)
    }),
    row("argtop_k", &[XS, Kind::Count], "([T], k) => [u64]", "[30, 90, 40].argtop_k(2)", |c| {
        let (xs, k) = (c.array(0)?, c.few(1)?);
        c.give(c.builder.argtop_k(&xs.node, k), COUNT)
    }),
    row("join", &[XS, XS], "([key], [key]) => [(u64, u64)], or (table, table, \"column\", …) => table", "[7, 3, 9].join([3, 7, 3])", |c| {
        if c.value(0).columns().is_some() || !c.from(2).is_empty() {
            return join_tables(c);
        }
        c.agree(&[0, 1])?;
        let (left, right) = (c.array(0)?, c.array(1)?);
        let pair = Elt::Tuple(vec![COUNT, COUNT]);
        c.give(c.builder.join(&left.node, &right.node), pair)
    }).repeated().named(Keywords::Last("on")),
    row("left_join", &[XS, XS], "([key], [key]) => [(u64, u64, bool)]", "[7, 5, 3].left_join([3, 7])", |c| {
        c.agree(&[0, 1])?;
        let (left, right) = (c.array(0)?, c.array(1)?);
        let pair = Elt::Tuple(vec![COUNT, COUNT, Elt::Scalar(Ty::Bool)]);
        c.give(c.builder.left_join(&left.node, &right.node), pair)
    }),
    row("median", &[XS], "[T] => f64", "[4.0, 1.0, 3.0].median()", |c| {
        let xs = c.all_numbers(0)?;
        c.give_flat(c.builder.median(&xs.node))
    }),
    row("quantile", &[XS, Kind::Number], "([T], f64) => f64", "(0..=10).quantile(0.9)", |c| {
        let xs = c.all_numbers(0)?;
        let (share, _) = c.scalar(1, Some(&Elt::Scalar(Ty::F64)))?;
        c.give_flat(c.builder.quantile(&xs.node, &share))
    }).also(&["percentile"]),
    row("quantiles", &[XS, XS], "([T], [f64]) => [f64]", "(0..=10).quantiles([0.1, 0.9])", |c| {
        let (xs, shares) = (c.all_numbers(0)?, c.array(1)?);
        c.give_flat(c.builder.quantiles(&xs.node, &shares.node))
    }),
    row("unique_counts", &[XS], "[T] => [(T, u64)]", "[3, 1, 3, 2, 3].unique_counts()", |c| {
        let xs = c.array(0)?;
        let elt = Elt::Tuple(vec![xs.elt, COUNT]);
        c.give(c.builder.unique_counts(&xs.node), elt)
    }),
    row("group_by_key", &[XS, XS], "([T], [key]) => ([key], segments)", "[1, 2, 3, 4].group_by_key([7, 5, 7, 5])", |c| {
        let (values, keys) = (c.array(0)?, c.array(1)?);
        let (found, groups) = c.builder.group_by_key(&values.node, &keys.node);
        let groups = c.give_segments(groups, values.elt)?;
        Ok(Value::Tuple(vec![c.give(found, keys.elt)?, groups]))
    }),
    row("factorize", &[XS], "[T] => ([u32], [T])", "[70, 30, 70, 50, 30].factorize()", |c| {
        let xs = c.array(0)?;
        let (codes, found) = c.builder.factorize(&xs.node);
        let codes = c.give(codes, Elt::Scalar(Ty::U32))?;
        Ok(Value::Tuple(vec![codes, c.give(found, xs.elt)?]))
    }),
    row("top_k_by_index", &[XS, XS, Kind::Count, Kind::Count], "([T], [index], n, k) => segments",
        "[4, 7, 9, 5].top_k_by_index([1, 0, 1, 1], 3, 2)", |c| {
        let (values, at, n) = (c.array(0)?, c.indices(1)?, c.count(2)?.len());
        let k = c.few(3)?;
        c.give_segments(c.builder.top_k_by_index(&values.node, &at, n, k), values.elt)
    }),
    row("top_k_by_key", &[XS, XS, Kind::Count], "([T], [key], k) => ([key], segments)",
        "[4, 6, 9, 5].top_k_by_key([7, 5, 7, 7], 2)", |c| {
        let (values, keys) = (c.array(0)?, c.array(1)?);
        let k = c.few(2)?;
        let (found, best) = c.builder.top_k_by_key(&values.node, &keys.node, k);
        let best = c.give_segments(best, values.elt)?;
        Ok(Value::Tuple(vec![c.give(found, keys.elt)?, best]))
    }),
    row("reduce_by_key", &[XS, XS, Kind::Number, F2], "([T], [key], S, (S, T) -> S) => ([key], [S])",
        "[1, 2, 3].reduce_by_key([7, 5, 7], 0, |sum, x| sum + x)", |c| {
        let (values, keys) = (c.array(0)?, c.array(1)?);
        let (start, step, elt) = c.start_and_step(2, &values.elt)?;
        let (found, states) = c.builder.reduce_by_key(&values.node, &keys.node, &start, step);
        let states = c.give(states, elt)?;
        Ok(Value::Tuple(vec![c.give(found, keys.elt)?, states]))
    }),
    row("components", &[XS, Kind::Count], "([(int, int)], n) => [u64]", "[(1, 4), (5, 3), (4, 2)].components(6)", |c| {
        let (edges, n) = (c.array(0)?, c.count(1)?);
        c.give(c.builder.components(&edges.node, &n), Elt::Scalar(Ty::U64))
    }),
    row("searchsorted", &[XS, XS], "([T], [T]) => [u64]", "[10, 20, 20, 30].searchsorted([20, 5])", |c| {
        places(c, Builder::searchsorted)
    }),
    row("searchsorted_right", &[XS, XS], "([T], [T]) => [u64]", "[10, 20, 20, 30].searchsorted_right([20, 5])", |c| {
        places(c, Builder::searchsorted_right)
    }),
    row("digitize", &[XS, XS], "([T], [T]) => [u64]", "[0.5, 1.0, 99.0].digitize([0.0, 1.0, 10.0])", |c| {
        places(c, |builder, xs, edges| builder.searchsorted_right(edges, xs))
    }),
    row("sort", &[Kind::Along], "[T] along axis => [T]", "[[3, 1, 2], [0, 9, 4]].along(1).sort()", |c| {
        let (xs, axis) = c.along(0)?;
        c.give(c.builder.sort_along(&xs.node, axis), xs.elt)
    }),
    row("argsort", &[Kind::Along], "[T] along axis => [u64]", "[[3, 1, 2], [0, 9, 4]].along(1).argsort()", |c| {
        let (xs, axis) = c.along(0)?;
        c.give(c.builder.argsort_along(&xs.node, axis), COUNT)
    }),
    row("median", &[Kind::Along], "[T] along axis => [f64]", "[[3, 1, 2], [0, 9, 4]].along(0).median()", |c| {
        let (xs, axis) = c.along(0)?;
        c.of_numbers(0, &xs.elt)?;
        c.give_flat(c.builder.median_along(&xs.node, axis))
    }),
    row("sort", &[S], "segments => segments", "(ragged [[3, 1, 2], [5, 4]]).sort()", |c| {
        let (s, elt) = c.segments(0)?;
        c.give_segments(s.sort(c.builder), elt)
    }),
    row("argsort", &[S], "segments => segments", "(ragged [[3, 1, 2], [5, 4]]).argsort()", |c| {
        let (s, _) = c.segments(0)?;
        c.give_segments(s.argsort(c.builder), COUNT)
    }),
    row("median", &[S], "segments => [f64]", "(ragged [[3, 1, 2], [5, 4]]).median()", |c| {
        let (s, elt) = c.segments(0)?;
        c.of_numbers(0, &elt)?;
        c.give_flat(s.median(c.builder))
    }),
    row("quantile", &[S, Kind::Number], "(segments, f64) => [f64]", "(ragged [[3, 1, 2], [5, 4]]).quantile(0.75)", |c| {
        let (s, elt) = c.segments(0)?;
        c.of_numbers(0, &elt)?;
        let (share, _) = c.scalar(1, Some(&Elt::Scalar(Ty::F64)))?;
        c.give_flat(s.quantile(c.builder, &share))
    }),
];

/// A combinator that gives a count for each element of an array.
fn places(
    c: &mut Call<'_, '_>,
    make: fn(Builder, &Arc<Node>, &Arc<Node>) -> Arc<Node>,
) -> Result<Value> {
    c.agree(&[0, 1])?;
    let (xs, ys) = (c.array(0)?, c.array(1)?);
    c.give(make(c.builder, &xs.node, &ys.node), COUNT)
}
