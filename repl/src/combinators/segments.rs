//! Combinators on segments.

use super::{COUNT, Combinator, F1, F2, Kind, XS, row};
use crate::value::Elt;
use livefusion::segmented::Segments;

const S: Kind = Kind::Segments;

/// Lists the combinators.
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
    row("filter", &[S, F1], "(segments, T -> bool) => segments", "(ragged [[1, 2], [3]]).filter(_ > 1)", |c| {
        let (s, elt) = c.segments(0)?;
        let test = c.test(1, &[&elt])?;
        c.give_segments(s.filter(c.builder, test), elt)
    }),
    row("pack", &[S, XS], "(segments, [bool]) => segments", "(ragged [[1, 2], [3]]).pack([true, false, true])", |c| {
        let ((s, elt), tags) = (c.segments(0)?, c.array(1)?);
        c.give_segments(s.pack(c.builder, &tags.node), elt)
    }),
    row("append", &[S, S], "(segments, segments) => segments", "(ragged [[1], [2]]).append(ragged [[3, 4], []])", |c| {
        c.agree(&[0, 1])?;
        let ((s, elt), (other, got)) = (c.segments(0)?, c.segments(1)?);
        c.same(1, &got, &elt)?;
        c.give_segments(s.append(c.builder, &other), elt)
    }),
    row("flatten", &[S, XS], "(segments, [n]) => segments", "(ragged [[1], [2, 3], [4]]).flatten([2, 1])", |c| {
        let ((s, elt), outer) = (c.segments(0)?, c.numbers(1)?);
        c.give_segments(s.flatten(c.builder, &outer.node), elt)
    }),
    row("Segmented::replicate", &[XS, XS], "([length], [T]) => segments", "Segmented::replicate([2, 1], [5, 6])", |c| {
        let (lengths, values) = (c.lengths(0)?, c.array(1)?);
        c.give_segments(Segments::replicate(c.builder, &lengths, &values.node), values.elt)
    }),
    row("Segmented::indices", &[XS], "[length] => segments", "Segmented::indices([2, 3])", |c| {
        let lengths = c.lengths(0)?;
        c.give_segments(Segments::indices(c.builder, &lengths), COUNT)
    }),
    row("Segmented::enum_from_step", &[XS, XS, XS], "([T], [T], [length]) => segments", "Segmented::enum_from_step([1, 10], [2, -1], [2, 3])", |c| {
        let (from, step, lengths) = (c.numbers(0)?, c.numbers(1)?, c.numbers(2)?);
        c.give_segments(Segments::enum_from_step(c.builder, &from.node, &step.node, &lengths.node), from.elt)
    }),
    row("broadcast", &[S, XS], "(segments, [U]) => [U]", "(ragged [[1, 2], [3]]).broadcast([10, 20])", |c| {
        let ((s, _), values) = (c.segments(0)?, c.array(1)?);
        c.give(Segments::replicate(c.builder, &s.lengths, &values.node).data, values.elt)
    }),
    row("local_indices", &[S], "segments => [u64]", "(ragged [[1, 2], [3]]).local_indices()", |c| {
        let (s, _) = c.segments(0)?;
        c.give(Segments::indices(c.builder, &s.lengths).data, COUNT)
    }),
    row("zip_with_each", &[S, XS, F2], "(segments, [U], (T, U) -> V) => segments", "(ragged [[1, 2], [3]]).zip_with_each([10, 20], |x, y| x + y)", |c| {
        let ((s, elt), values) = (c.segments(0)?, c.array(1)?);
        let (f, elt) = c.function(2, &[&elt, &values.elt], None)?;
        c.give_segments(s.zip_with_each(c.builder, &values.node, f), elt)
    }),
    row("from_uniform", &[Kind::Count, XS], "(length, [T]) => segments", "from_uniform(2, [1, 2, 3, 4])", |c| {
        let (n, data) = (c.count(0)?, c.array(1)?);
        c.give_segments(c.builder.from_uniform(n, &data.node), data.elt)
    }),
    row("to_segmented", &[XS], "[[T]] => segments", "[[1, 2], [3, 4]].to_segmented()", |c| {
        let xs = c.array(0)?;
        c.give_segments(c.builder.to_segmented(&xs.node), xs.elt)
    }),
    row("flat_map", &[S, F1, F2], "(segments, T -> u64, (T, index) -> U) => segments", "(ragged [[2u64, 0], [3]]).flat_map(|x| x, |x, i| 10 * x + i)", |c| {
        let (s, elt) = c.segments(0)?;
        let (count, _) = c.function(1, &[&elt], Some(&COUNT))?;
        let (f, elt) = c.function(2, &[&elt, &COUNT], None)?;
        c.give_segments(s.flat_map(c.builder, count, &f), elt)
    }),
    row("combinations", &[S], "segments => segments", "(ragged [[1, 2, 3], [4, 5]]).combinations()", |c| {
        let (s, elt) = c.segments(0)?;
        let pair = Elt::Tuple(vec![elt.clone(), elt]);
        c.give_segments(s.combinations(c.builder), pair)
    }),
    row("cartesian", &[S, S], "(segments, segments) => segments", "(ragged [[1, 2], [3]]).cartesian(ragged [[0.5], [1.5, 2.5]])", |c| {
        let ((s, elt), (other, of_other)) = (c.segments(0)?, c.segments(1)?);
        c.give_segments(s.cartesian(c.builder, &other), Elt::Tuple(vec![elt, of_other]))
    }),
    row("take", &[S, Kind::Count], "(segments, n) => segments", "(ragged [[1, 2, 3], [4]]).take(2)", |c| {
        let ((s, elt), n) = (c.segments(0)?, c.amount(1)?);
        c.give_segments(s.take(c.builder, n), elt)
    }),
    row("reverse", &[S], "segments => segments", "(ragged [[1, 2, 3], [4]]).reverse()", |c| {
        let (s, elt) = c.segments(0)?;
        c.give_segments(s.reverse(c.builder), elt)
    }),
    row("gather", &[S, S], "(segments, segments) => segments", "(ragged [[5, 6, 7], [8]]).gather(ragged [[2, 0], [0]])", |c| {
        let ((s, elt), (at, _)) = (c.segments(0)?, c.segments(1)?);
        c.give_segments(s.gather(c.builder, &at), elt)
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
