//! Small parts: several elements for each, histograms, grids, arrays in pieces.

use super::{Combinator, F1, F2, Kind, XS, row};
use crate::eval::{Call, Result};
use crate::value::{Elt, Value};
use livefusion::ast::Builder;
use livefusion::segmented::Segments;
use loop_lang::Ty;

const S: Kind = Kind::Segments;
const COUNT: Elt = Elt::Scalar(Ty::U64);

/// All of them.
#[rustfmt::skip]
pub static ROWS: &[Combinator] = &[
    row("flat_map", &[XS, F1, F2], "([T], T -> u64, (T, index) -> U) => [U]", "[2u64, 0, 3].flat_map(|x| x, |x, i| 10 * x + i)", |c| {
        let xs = c.array(0)?;
        let (count, _) = c.function(1, &[&xs.elt], Some(&COUNT))?;
        let (f, elt) = c.function(2, &[&xs.elt, &COUNT], None)?;
        c.give(c.builder.flat_map(&xs.node, count, &f), elt)
    }),
    row("combinations", &[XS], "[T] => [(T, T)]", "[1, 2, 3].combinations()", |c| {
        let xs = c.array(0)?;
        let pair = Elt::Tuple(vec![xs.elt.clone(), xs.elt]);
        c.give(c.builder.combinations(&xs.node), pair)
    }),
    row("cartesian", &[XS, XS], "([T], [U]) => [(T, U)]", "[1, 2].cartesian([0.5, 1.5])", |c| {
        let (xs, ys) = (c.array(0)?, c.array(1)?);
        let pair = Elt::Tuple(vec![xs.elt, ys.elt]);
        c.give(c.builder.cartesian(&xs.node, &ys.node), pair)
    }),
    row("flat_map_s", &[S, F1, F2], "(segments, T -> u64, (T, index) -> U) => segments", "(ragged [[2u64, 0], [3]]).flat_map_s(|x| x, |x, i| 10 * x + i)", |c| {
        let (s, elt) = c.segments(0)?;
        let (count, _) = c.function(1, &[&elt], Some(&COUNT))?;
        let (f, elt) = c.function(2, &[&elt, &COUNT], None)?;
        c.give_segments(c.builder.flat_map_s(&s, count, &f), elt)
    }),
    row("combinations_s", &[S], "segments => segments", "(ragged [[1, 2, 3], [4, 5]]).combinations_s()", |c| {
        let (s, elt) = c.segments(0)?;
        let pair = Elt::Tuple(vec![elt.clone(), elt]);
        c.give_segments(c.builder.combinations_s(&s), pair)
    }),
    row("cartesian_s", &[S, S], "(segments, segments) => segments", "(ragged [[1, 2], [3]]).cartesian_s(ragged [[0.5], [1.5, 2.5]])", |c| {
        let ((s, elt), (other, of_other)) = (c.segments(0)?, c.segments(1)?);
        c.give_segments(c.builder.cartesian_s(&s, &other), Elt::Tuple(vec![elt, of_other]))
    }),
    row("take_s", &[S, Kind::Count], "(segments, n) => segments", "(ragged [[1, 2, 3], [4]]).take_s(2)", |c| {
        let ((s, elt), n) = (c.segments(0)?, c.amount(1)?);
        c.give_segments(c.builder.take_s(&s, n), elt)
    }),
    row("reverse_s", &[S], "segments => segments", "(ragged [[1, 2, 3], [4]]).reverse_s()", |c| same(c, Builder::reverse_s)),
    row("gather_s", &[S, S], "(segments, segments) => segments", "(ragged [[5, 6, 7], [8]]).gather_s(ragged [[2, 0], [0]])", |c| {
        let ((s, elt), (at, _)) = (c.segments(0)?, c.segments(1)?);
        c.give_segments(c.builder.gather_s(&s, &at), elt)
    }),
    row("chunks", &[XS, Kind::Count], "([T], length) => segments", "[1, 2, 3, 4, 5].chunks(2)", |c| {
        let (xs, length) = (c.array(0)?, c.count(1)?);
        c.give_segments(c.builder.chunks(&xs.node, length), xs.elt)
    }),
    row("from_flags", &[XS, XS], "([bool], [T]) => segments", "from_flags([true, false, true], [1, 2, 3])", |c| {
        let (flags, xs) = (c.array(0)?, c.array(1)?);
        c.give_segments(c.builder.from_flags(&flags.node, &xs.node), xs.elt)
    }),
    row("sliding_windows", &[XS, Kind::Count, Kind::Count], "([T], width, stride) => [[T]]", "[1, 2, 4, 8].sliding_windows(3, 1)", |c| {
        let (xs, width, stride) = (c.array(0)?, c.count(1)?, c.count(2)?);
        c.give(c.builder.sliding_windows(&xs.node, width, stride), xs.elt)
    }),
    row("bincount", &[XS, Kind::Count], "([index], n) => [u64]", "[2, 0, 2].bincount(3)", |c| {
        let (at, n) = (c.indices(0)?, c.count(1)?.len());
        c.give(c.builder.bincount(&at, n), COUNT)
    }),
    row("histogram", &[XS, XS], "([T], [T]) => [u64]", "[0.5, 1.0, 3.0].histogram([0.0, 1.0, 3.0])", |c| {
        let (xs, edges) = (c.array(0)?, c.array(1)?);
        c.give(c.builder.histogram(&xs.node, &edges.node), COUNT)
    }),
    row("histogram_uniform", &[XS, Kind::Number, Kind::Number, Kind::Count], "([T], low, high, n) => [u64]", "[0.5, 1.0, 3.0].histogram_uniform(0, 3, 3)", |c| {
        let xs = c.array(0)?;
        let [low, high] = [c.scalar(1, Some(&xs.elt))?.0, c.scalar(2, Some(&xs.elt))?.0];
        let n = c.count(3)?;
        c.give(c.builder.histogram_uniform(&xs.node, &low, &high, n), COUNT)
    }),
    row("linspace", &[Kind::Number, Kind::Number, Kind::Count], "(start, stop, n) => [float]", "linspace(0, 1, 5)", |c| {
        let float = Elt::Scalar(Ty::F64);
        let [start, stop] = [c.scalar(0, Some(&float))?.0, c.scalar(1, Some(&float))?.0];
        let n = c.count(2)?;
        c.give(c.builder.linspace(n, &start, &stop), float)
    }),
    row("meshgrid", &[XS, XS], "([T], [U]) => ([[T]], [[U]])", "meshgrid([1, 2, 3], [10, 20])", |c| {
        let (xs, ys) = (c.array(0)?, c.array(1)?);
        let (x, y) = c.builder.meshgrid(&xs.node, &ys.node);
        Ok(Value::Tuple(vec![c.give(x, xs.elt)?, c.give(y, ys.elt)?]))
    }),
];

fn same(c: &mut Call<'_, '_>, make: fn(Builder, &Segments) -> Segments) -> Result<Value> {
    let (s, elt) = c.segments(0)?;
    c.give_segments(make(c.builder, &s), elt)
}
