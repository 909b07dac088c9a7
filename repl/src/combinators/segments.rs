//! Combinators of segments.

use super::{COUNT, Combinator, Elements, F1, F2, Kind, XS, row};
use crate::eval::{Call, Result};
use crate::value::{Elt, Value};
use livefusion::ast::{Body, Builder, Fold, FoldStyle, Node, ScanKind};
use livefusion::segmented::Segments;
use std::sync::Arc;

const S: Kind = Kind::Segments;

/// All of them.
#[rustfmt::skip]
pub static ROWS: &[Combinator] = &[
    row("segmented", &[XS, XS], "([length], [T]) => segments", "segmented([2, 1], [1, 2, 3])", |c| {
        let (lengths, data) = (c.numbers(0)?, c.array(1)?);
        let s = c.builder.segments(&lengths.node, &data.node);
        c.give_segments(s, data.elt)
    }),
    row("lengths", &[S], "segments => [u64]", "(ragged [[1, 2], [3]]).lengths()", |c| {
        let (s, _) = c.segments(0)?;
        c.give(s.lengths, COUNT)
    }),
    row("data", &[S], "segments => [T]", "(ragged [[1, 2], [3]]).data()", |c| {
        let (s, elt) = c.segments(0)?;
        c.give(s.data, elt)
    }),
    row("offsets", &[S], "segments => [u64]", "(ragged [[1, 2], [3]]).offsets()", |c| {
        let (s, _) = c.segments(0)?;
        c.give(c.builder.offsets(&s.lengths), COUNT)
    }),
    row("with_data", &[S, XS], "(segments, [T]) => segments", "(ragged [[1, 2], [3]]).with_data([7, 8, 9])", |c| {
        let ((s, _), data) = (c.segments(0)?, c.array(1)?);
        c.give_segments(s.with_data(data.node), data.elt)
    }),
    row("sum_s", &[S], "segments => [T]", "(ragged [[1, 2], [3]]).sum_s()", |c| reduced(c, Builder::sum_s)),
    row("product_s", &[S], "segments => [T]", "(ragged [[1, 2], [3]]).product_s()", |c| reduced(c, Builder::product_s)),
    row("min_s", &[S], "segments => [T]", "(ragged [[1, 2], [3]]).min_s()", |c| chosen(c, Builder::min_s)),
    row("max_s", &[S], "segments => [T]", "(ragged [[1, 2], [3]]).max_s()", |c| chosen(c, Builder::max_s)),
    row("mean_s", &[S], "segments => [float]", "(ragged [[1.0, 2.0], [3.0]]).mean_s()", |c| reduced(c, Builder::mean_s)),
    row("min_index_s", &[S], "segments => [u64]", "(ragged [[1, 2], [3]]).min_index_s()", |c| placed(c, Builder::min_index_s)),
    row("max_index_s", &[S], "segments => [u64]", "(ragged [[1, 2], [3]]).max_index_s()", |c| placed(c, Builder::max_index_s)),
    row("any_s", &[S, F1], "(segments, T -> bool) => [bool]", "(ragged [[1, 2], [3]]).any_s(_ > 2)", |c| tested(c, Builder::any_s)),
    row("all_s", &[S, F1], "(segments, T -> bool) => [bool]", "(ragged [[1, 2], [3]]).all_s(_ > 1)", |c| tested(c, Builder::all_s)),
    row("count_s", &[S, F1], "(segments, T -> bool) => [u64]", "(ragged [[1, 2], [3]]).count_s(_ > 1)", |c| tested(c, Builder::count_if_s)),
    row("filter_s", &[S, F1], "(segments, T -> bool) => segments", "(ragged [[1, 2], [3]]).filter_s(_ > 1)", |c| {
        let (s, elt) = c.segments(0)?;
        let test = c.test(1, &[&elt])?;
        c.give_segments(c.builder.filter_s(&s, test), elt)
    }),
    row("pack_s", &[S, XS], "(segments, [bool]) => segments", "(ragged [[1, 2], [3]]).pack_s([true, false, true])", |c| {
        let ((s, elt), tags) = (c.segments(0)?, c.array(1)?);
        c.give_segments(c.builder.pack_s(&s, &tags.node), elt)
    }),
    row("fold_s", &[S, Kind::Number, F2], "(segments, T, (T, T) -> T) => [T]", "(ragged [[1, 2], [3]]).fold_s(0, |a, b| a + b)", |c| {
        let (s, elt) = c.segments(0)?;
        let (start, step, state) = c.start_and_step(1, &elt)?;
        c.same(1, &state, &elt)?;
        let style = FoldStyle::Associative;
        c.give(c.builder.fold_s(&s.lengths, &s.data, Fold { start, step, style }), elt)
    }).with(Elements::Signed),
    row("fold1_s", &[S, F2], "(segments, (T, T) -> T) => [T]", "(ragged [[1, 2], [3]]).fold1_s(|a, b| a.max(b))", |c| {
        let (s, elt) = c.segments(0)?;
        let (step, _) = c.function(1, &[&elt, &elt], Some(&elt))?;
        c.give(c.builder.fold1_s(&s, step), elt)
    }).with(Elements::Signed),
    row("fold_seq_s", &[S, Kind::Number, F2], "(segments, T, (T, T) -> T) => [T]", "(ragged [[4, 0, 7], [1, 2]]).fold_seq_s(0, |n, d| n * 10 + d)", |c| {
        let (s, elt) = c.segments(0)?;
        let (start, step, state) = c.start_and_step(1, &elt)?;
        c.give(c.builder.fold_seq_s(&s, start, step), state)
    }).with(Elements::Signed),
    row("aggregate_s", &[S, Kind::Number, F2, F2], "(segments, S, (S, T) -> S, (S, S) -> S) => [S]", "(ragged [[1, 2], [3]]).aggregate_s(0.0, |s, x| s + x as f64, |a, b| a + b)", |c| {
        let (s, elt) = c.segments(0)?;
        let (start, step, state) = c.start_and_step(1, &elt)?;
        let (combine, _) = c.function(3, &[&state, &state], Some(&state))?;
        c.give(c.builder.aggregate_s(&s, start, step, combine), state)
    }).with(Elements::Signed),
    row("scan_s", &[S, Kind::Number, F2], "(segments, T, (T, T) -> T) => segments", "(ragged [[1, 2], [3]]).scan_s(0, |a, b| a + b)", |c| {
        scan(c, |b, s, start, step| {
            let style = FoldStyle::Associative;
            s.with_data(b.scan_s(&s.lengths, &s.data, Fold { start, step, style }, ScanKind::Inclusive))
        })
    }).with(Elements::Signed),
    row("scan_exclusive_s", &[S, Kind::Number, F2], "(segments, T, (T, T) -> T) => segments", "(ragged [[1, 2], [3]]).scan_exclusive_s(0, |a, b| a + b)", |c| scan(c, Builder::scan_exclusive_s)).with(Elements::Signed),
    row("scan_seq_s", &[S, Kind::Number, F2], "(segments, T, (T, T) -> T) => segments", "(ragged [[1, 2], [3]]).scan_seq_s(0, |s, x| s * 10 + x)", |c| scan(c, Builder::scan_seq_s)).with(Elements::Signed),
    row("append_s", &[S, S], "(segments, segments) => segments", "(ragged [[1], [2]]).append_s(ragged [[3, 4], []])", |c| {
        c.agree(&[0, 1])?;
        let ((s, elt), (other, got)) = (c.segments(0)?, c.segments(1)?);
        c.same(1, &got, &elt)?;
        c.give_segments(c.builder.append_s(&s, &other), elt)
    }),
    row("flatten_s", &[S, XS], "(segments, [n]) => segments", "(ragged [[1], [2, 3], [4]]).flatten_s([2, 1])", |c| {
        let ((s, elt), outer) = (c.segments(0)?, c.numbers(1)?);
        c.give_segments(c.builder.flatten_s(&s, &outer.node), elt)
    }),
    row("replicate_s", &[XS, XS], "([length], [T]) => segments", "replicate_s([2, 1], [5, 6])", |c| {
        let (lengths, values) = (c.lengths(0)?, c.array(1)?);
        c.give_segments(c.builder.replicate_s(&lengths, &values.node), values.elt)
    }),
    row("indices_s", &[XS], "[length] => segments", "indices_s([2, 3])", |c| {
        let lengths = c.lengths(0)?;
        c.give_segments(c.builder.indices_s(&lengths), COUNT)
    }),
    row("enum_from_step_s", &[XS, XS, XS], "([T], [T], [length]) => segments", "enum_from_step_s([1, 10], [2, -1], [2, 3])", |c| {
        let (from, step, lengths) = (c.numbers(0)?, c.numbers(1)?, c.numbers(2)?);
        c.give_segments(c.builder.enum_from_step_s(&from.node, &step.node, &lengths.node), from.elt)
    }),
    row("map_s", &[S, XS, F2], "(segments, [U], (T, U) -> V) => segments", "(ragged [[1, 2], [3]]).map_s([10, 20], |x, y| x + y)", |c| {
        let ((s, elt), values) = (c.segments(0)?, c.array(1)?);
        let (f, elt) = c.function(2, &[&elt, &values.elt], None)?;
        c.give_segments(c.builder.map_s(&s, &values.node, f), elt)
    }),
    row("from_uniform", &[Kind::Count, XS], "(length, [T]) => segments", "from_uniform(2, [1, 2, 3, 4])", |c| {
        let (n, data) = (c.count(0)?, c.array(1)?);
        c.give_segments(c.builder.from_uniform(n, &data.node), data.elt)
    }),
    row("to_segmented", &[XS], "[[T]] => segments", "[[1, 2], [3, 4]].to_segmented()", |c| {
        let xs = c.array(0)?;
        c.give_segments(c.builder.to_segmented(&xs.node), xs.elt)
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
    row("reverse_s", &[S], "segments => segments", "(ragged [[1, 2, 3], [4]]).reverse_s()", |c| {
        let (s, elt) = c.segments(0)?;
        c.give_segments(c.builder.reverse_s(&s), elt)
    }),
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
];

fn reduced(c: &mut Call<'_, '_>, make: fn(Builder, &Segments) -> Arc<Node>) -> Result<Value> {
    let (s, elt) = c.segments(0)?;
    c.of_numbers(0, &elt)?;
    c.give_like(make(c.builder, &s), elt)
}

/// One element of each segment.
fn chosen(c: &mut Call<'_, '_>, make: fn(Builder, &Segments) -> Arc<Node>) -> Result<Value> {
    let (s, elt) = c.segments(0)?;
    c.give(make(c.builder, &s), elt)
}

/// The place of one element in each segment.
fn placed(c: &mut Call<'_, '_>, make: fn(Builder, &Segments) -> Arc<Node>) -> Result<Value> {
    let (s, _) = c.segments(0)?;
    c.give(make(c.builder, &s), COUNT)
}

fn tested(c: &mut Call<'_, '_>, make: fn(Builder, &Segments, Body) -> Arc<Node>) -> Result<Value> {
    let (s, elt) = c.segments(0)?;
    let test = c.test(1, &[&elt])?;
    c.give_like(make(c.builder, &s, test), elt)
}

fn scan(
    c: &mut Call<'_, '_>,
    make: fn(Builder, &Segments, Body, Body) -> Segments,
) -> Result<Value> {
    let (s, elt) = c.segments(0)?;
    let (start, step, state) = c.start_and_step(1, &elt)?;
    c.same(1, &state, &elt)?;
    c.give_segments(make(c.builder, &s, start, step), elt)
}
