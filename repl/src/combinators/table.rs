//! The combinators, and what builds each: its untyped form of the library, with the types of its elements.

use super::scalars::{MAX, MIN};
use super::{Combinator, Kind};
use crate::eval::{Call, Result};
use crate::value::{Array, Elt, Segmented, Value};
use livefusion::ast::{Axis, Body, Builder, Fold, FoldStyle, Node, ScanKind, Shape};
use loop_lang::Ty;
use std::sync::Arc;

type Build = fn(&mut Call<'_, '_>) -> Result<Value>;

const fn row(
    name: &'static str,
    params: &'static [Kind],
    ty: &'static str,
    example: &'static str,
    build: Build,
) -> Combinator {
    Combinator {
        name,
        aliases: &[],
        params,
        optional: 0,
        repeats: false,
        ty,
        example,
        scalar: None,
        build,
    }
}

impl Combinator {
    const fn also(self, aliases: &'static [&'static str]) -> Combinator {
        Combinator { aliases, ..self }
    }

    const fn repeated(self) -> Combinator {
        Combinator {
            repeats: true,
            ..self
        }
    }
}

const F1: Kind = Kind::Function(1);
const F2: Kind = Kind::Function(2);
const XS: Kind = Kind::Array;

/// All of them.
#[rustfmt::skip]
pub static TABLE: &[Combinator] = &[
    row("map", &[XS, F1], "([T], T -> U) => [U]", "[1, 2, 3].map(_ * 2)", map),
    row("filter", &[XS, F1], "([T], T -> bool) => [T]", "(1..10).filter(_ % 2 == 0)", |c| {
        let xs = c.array(0)?;
        let test = c.test(1, &[&xs.elt])?;
        c.give(c.builder.filter(&xs.node, test), xs.elt)
    }),
    row("pack", &[XS, XS], "([T], [bool]) => [T]", "[1, 2, 3].pack([true, false, true])", |c| {
        let (xs, tags) = (c.array(0)?, c.array(1)?);
        c.give(c.builder.pack(&xs.node, &tags.node), xs.elt)
    }),
    row("zip", &[XS, XS], "([T], [U], …) => [(T, U, …)]", "[1, 2].zip([0.5, 1.5])", zip).repeated(),
    row("zip_with", &[XS, XS, F2], "([T], [U], (T, U) -> V) => [V]", "[1, 2].zip_with([10, 20], |x, y| x + y)", |c| {
        let (xs, ys) = (c.array(0)?, c.array(1)?);
        let (f, elt) = c.function(2, &[&xs.elt, &ys.elt], None)?;
        c.give(c.builder.map(&[xs.node, ys.node], f), elt)
    }),
    row("zip_shortest", &[XS, XS], "([T], [U], …) => [(T, U, …)]", "[1, 2, 3].zip_shortest([0.5])", |c| {
        let (nodes, elt) = arrays(c)?;
        c.give(c.builder.zip_shortest(&nodes), elt)
    }).repeated(),
    row("fold", &[XS, Kind::Number, F2], "([T], T, (T, T) -> T) => T", "(1..=5).fold(1, |a, b| a * b)", |c| {
        let xs = c.array(0)?;
        let (start, step, elt) = c.start_and_step(1, &xs.elt)?;
        let style = if elt == xs.elt { FoldStyle::Associative } else { FoldStyle::Sequential };
        c.give(c.builder.fold(&xs.node, Fold { start, step, style }), elt)
    }).also(&["reduce"]),
    row("fold_seq", &[XS, Kind::Number, F2], "([T], S, (S, T) -> S) => S", "[1, 2, 3].fold_seq(0, |s, x| s * 10 + x)", |c| {
        let xs = c.array(0)?;
        let (start, step, elt) = c.start_and_step(1, &xs.elt)?;
        let style = FoldStyle::Sequential;
        c.give(c.builder.fold(&xs.node, Fold { start, step, style }), elt)
    }),
    row("fold1", &[XS, F2], "([T], (T, T) -> T) => T", "[3, 1, 2].fold1(|a, b| a.max(b))", |c| {
        let xs = c.array(0)?;
        let (step, elt) = c.function(1, &[&xs.elt, &xs.elt], Some(&xs.elt))?;
        let (start, style) = (Body::default(), FoldStyle::First);
        c.give(c.builder.fold(&xs.node, Fold { start, step, style }), elt)
    }),
    row("scan", &[XS, Kind::Number, F2], "([T], T, (T, T) -> T) => [T]", "[1, 2, 3].scan(0, |a, b| a + b)", |c| {
        scan(c, |b, xs, fold| b.scan(xs, fold, ScanKind::Inclusive))
    }),
    row("scan_exclusive", &[XS, Kind::Number, F2], "([T], T, (T, T) -> T) => [T]", "[1, 2, 3].scan_exclusive(0, |a, b| a + b)", |c| {
        scan(c, |b, xs, fold| b.scan(xs, fold, ScanKind::Exclusive))
    }),
    row("sum", &[XS], "[T] => T", "(1..=100).sum()", |c| reduced(c, Builder::sum)),
    row("product", &[XS], "[T] => T", "(1..=5).product()", |c| reduced(c, Builder::product)),
    Combinator { scalar: Some(&MIN), ..row("min", &[XS], "[T] => T", "[3, 1, 2].min()", |c| reduced(c, Builder::min)) },
    Combinator { scalar: Some(&MAX), ..row("max", &[XS], "[T] => T", "[3, 1, 2].max()", |c| reduced(c, Builder::max)) },
    row("mean", &[XS], "[T] => float", "[1, 2, 6].mean()", |c| reduced(c, Builder::mean)),
    row("var", &[XS], "[T] => float", "[2, 4, 4, 4, 5, 5, 7, 9].var()", |c| reduced(c, Builder::var)),
    row("std", &[XS], "[T] => float", "[1.0, 5.0].std()", |c| reduced(c, Builder::std)),
    row("any", &[XS, F1], "([T], T -> bool) => bool", "[1, 2, 3].any(_ > 2)", |c| tested(c, Builder::any)),
    row("all", &[XS, F1], "([T], T -> bool) => bool", "[1, 2, 3].all(_ > 2)", |c| tested(c, Builder::all)),
    row("count", &[XS, F1], "([T], T -> bool) => u64", "[1, 2, 3].count(_ > 1)", |c| tested(c, Builder::count)),
    row("min_index", &[XS], "[T] => u64", "[3, 1, 2].min_index()", |c| reduced(c, Builder::min_index)).also(&["argmin"]),
    row("max_index", &[XS], "[T] => u64", "[3, 1, 2].max_index()", |c| reduced(c, Builder::max_index)).also(&["argmax"]),
    row("first", &[XS], "[T] => T", "[3, 1, 2].first()", |c| {
        let xs = c.array(0)?;
        c.give(c.builder.first(&xs.node), xs.elt)
    }),
    row("last", &[XS], "[T] => T", "[3, 1, 2].last()", |c| {
        let xs = c.array(0)?;
        c.give(c.builder.last(&xs.node), xs.elt)
    }),
    row("find", &[XS, F1], "([T], T -> bool) => T", "[3, 1, 2].find(_ < 3)", |c| {
        let xs = c.array(0)?;
        let test = c.test(1, &[&xs.elt])?;
        c.give(c.builder.find(&xs.node, test), xs.elt)
    }),
    row("position", &[XS, F1], "([T], T -> bool) => u64", "[3, 1, 2].position(_ < 3)", |c| tested(c, Builder::position)),
    row("partition", &[XS, F1], "([T], T -> bool) => ([T], [T])", "[3, 1, 2].partition(_ < 3)", |c| {
        let xs = c.array(0)?;
        let test = c.test(1, &[&xs.elt])?;
        let (yes, no) = c.builder.partition(&xs.node, test);
        Ok(Value::Tuple(vec![c.give(yes, xs.elt.clone())?, c.give(no, xs.elt)?]))
    }),
    row("drop_while", &[XS, F1], "([T], T -> bool) => [T]", "(1..6).drop_while(_ < 4)", |c| {
        let xs = c.array(0)?;
        let test = c.test(1, &[&xs.elt])?;
        c.give(c.builder.drop_while(&xs.node, test), xs.elt)
    }),
    row("enumerate", &[XS], "[T] => [(u64, T)]", "[5, 6].enumerate()", |c| {
        let xs = c.array(0)?;
        let index = Elt::of(&vec![Ty::U64; usize::from(xs.node.rank)]);
        let node = match xs.node.rank {
            1 => c.builder.enumerate(&xs.node),
            _ => c.builder.enumerate_axes(&xs.node),
        };
        c.give(node, Elt::Tuple(vec![index, xs.elt]))
    }),
    row("scan1", &[XS, F2], "([T], (T, T) -> T) => [T]", "[1, 3, 2].scan1(|a, b| a.max(b))", |c| {
        let xs = c.array(0)?;
        let (step, elt) = c.function(1, &[&xs.elt, &xs.elt], Some(&xs.elt))?;
        c.give(c.builder.scan1(&xs.node, step), elt)
    }),
    row("scan_seq", &[XS, Kind::Number, F2], "([T], S, (S, T) -> S) => [S]", "[1, 2, 3].scan_seq(0, |s, x| s * 10 + x)", |c| {
        let xs = c.array(0)?;
        let (start, step, elt) = c.start_and_step(1, &xs.elt)?;
        let style = FoldStyle::Sequential;
        c.give(c.builder.scan(&xs.node, Fold { start, step, style }, ScanKind::Inclusive), elt)
    }),
    row("scan_with_total", &[XS, Kind::Number, F2], "([T], T, (T, T) -> T) => ([T], T)", "[1, 2, 3].scan_with_total(0, |a, b| a + b)", |c| {
        let xs = c.array(0)?;
        let (start, step, elt) = c.start_and_step(1, &xs.elt)?;
        c.same(1, &elt, &xs.elt)?;
        let (all, total) = c.builder.scan_with_total(&xs.node, start, step);
        Ok(Value::Tuple(vec![c.give(all, elt.clone())?, c.give(total, elt)?]))
    }),
    row("scan_right", &[XS, Kind::Number, F2], "([T], T, (T, T) -> T) => [T]", "[1, 2, 3].scan_right(0, |a, b| a + b)", |c| {
        scan(c, |b, xs, fold| b.scan_right(xs, fold, ScanKind::Inclusive))
    }),
    row("scan1_right", &[XS, F2], "([T], (T, T) -> T) => [T]", "[1, 3, 2].scan1_right(|a, b| a.max(b))", |c| {
        let xs = c.array(0)?;
        let (step, elt) = c.function(1, &[&xs.elt, &xs.elt], Some(&xs.elt))?;
        c.give(c.builder.scan1_right(&xs.node, step), elt)
    }),
    row("scan_exclusive_right", &[XS, Kind::Number, F2], "([T], T, (T, T) -> T) => [T]", "[1, 2, 3].scan_exclusive_right(0, |a, b| a + b)", |c| {
        scan(c, |b, xs, fold| b.scan_right(xs, fold, ScanKind::Exclusive))
    }),
    row("fold_right", &[XS, Kind::Number, F2], "([T], T, (T, T) -> T) => T", "[1, 2, 3].fold_right(0, |a, b| a - b)", |c| {
        scan(c, Builder::fold_right)
    }),
    row("cumsum", &[XS], "[T] => [T]", "[1, 2, 3].cumsum()", |c| {
        let xs = c.array(0)?;
        c.give(c.builder.cumsum(&xs.node), xs.elt)
    }),
    row("len", &[Kind::Any], "[T] => u64", "[1, 2, 3].len()", |c| {
        if let Value::Segmented(s) = c.value(0) {
            let lengths = s.lengths.clone();
            return c.give(c.builder.len(&lengths), Elt::Scalar(Ty::U64));
        }
        let xs = c.array(0)?;
        c.give(c.builder.len(&xs.node), Elt::Scalar(Ty::U64))
    }),
    row("take_while", &[XS, F1], "([T], T -> bool) => [T]", "(1..10).take_while(_ < 4)", |c| {
        let xs = c.array(0)?;
        let test = c.test(1, &[&xs.elt])?;
        c.give(c.builder.take_while(&xs.node, test, false), xs.elt)
    }),
    row("append", &[XS, XS], "([T], [T], …) => [T]", "[1, 2].append([3])", |c| {
        let first = c.array(0)?;
        let mut nodes = vec![first.node];
        for k in 1..c.len() {
            let other = c.array(k)?;
            c.same(k, &other.elt, &first.elt)?;
            nodes.push(other.node);
        }
        c.give(c.builder.append(&nodes), first.elt)
    }).repeated().also(&["concat"]),
    row("generate", &[Kind::Shape, F1], "(shape, index -> T) => [T]", "generate(3, |i| i * i)", generate),
    row("iota", &[Kind::Count], "n => [u64]", "iota(3)", |c| {
        let n = c.count(0)?;
        c.give_flat(c.builder.indices(&Shape::new([n])))
    }),
    row("replicate", &[Kind::Shape, Kind::Number], "(shape, T) => [T]", "replicate(3, 1.5)", |c| {
        let axes = c.shape(0)?;
        let (value, elt) = c.scalar(1, None)?;
        c.give(c.builder.replicate(&Shape::new(axes), value), elt)
    }),
    row("reshape", &[XS, Kind::Shape], "([T], shape) => [T]", "(1..=6).reshape((2, 3))", |c| {
        let xs = c.array(0)?;
        let axes = c.shape(1)?;
        let shape = (axes.len() > 1).then(|| Shape::new(axes));
        c.give(c.builder.reshape(&xs.node, shape), xs.elt)
    }),
    row("flatten", &[Kind::Any], "[[T]] => [T]", "[[1, 2], [3, 4]].flatten()", |c| {
        if let Value::Segmented(s) = c.value(0) {
            return Ok(Value::Array(s.data.clone()));
        }
        let xs = c.array(0)?;
        c.give(c.builder.reshape(&xs.node, None), xs.elt)
    }),
    row("scatter", &[XS, XS, XS], "([T], [index], [T]) => [T]", "[0, 0, 0].scatter([2, 0], [7, 8])", |c| {
        let (base, at, values) = (c.array(0)?, c.indices(1)?, c.array(2)?);
        c.give(c.builder.scatter(&base.node, &at, &values.node, None), base.elt)
    }),
    row("scatter_with", &[XS, XS, XS, F2], "([T], [index], [T], (T, T) -> T) => [T]", "[0, 0, 0].scatter_with([2, 2], [7, 8], |a, b| a + b)", |c| {
        let (base, at, values) = (c.array(0)?, c.indices(1)?, c.array(2)?);
        let (f, elt) = c.function(3, &[&base.elt, &base.elt], Some(&base.elt))?;
        c.give(c.builder.scatter(&base.node, &at, &values.node, Some(f)), elt)
    }),
    row("segmented", &[XS, XS], "([length], [T]) => segments", "segmented([2, 1], [1, 2, 3])", |c| {
        let (lengths, data) = (c.indices(0)?, c.array(1)?);
        Ok(Value::Segmented(Segmented { lengths, data }))
    }),
    row("lengths", &[Kind::Segments], "segments => [u64]", "(ragged [[1, 2], [3]]).lengths()", |c| {
        let s = c.segmented(0)?;
        c.give(s.lengths, Elt::Scalar(Ty::U64))
    }),
    row("data", &[Kind::Segments], "segments => [T]", "(ragged [[1, 2], [3]]).data()", |c| Ok(Value::Array(c.segmented(0)?.data))),
    row("transpose", &[XS], "[[T]] => [[T]]", "[[1, 2, 3], [4, 5, 6]].transpose()", |c| {
        let xs = c.array(0)?;
        c.give(c.builder.transpose(&xs.node), xs.elt)
    }),
    row("permute_axes", &[XS, Kind::Shape], "([T], order) => [T]", "generate((2, 3, 1), |(i, j, k)| i + j + k).permute_axes((2, 0, 1))", |c| {
        let xs = c.array(0)?;
        let order = c.axes(1)?;
        c.give(c.builder.permute_axes(&xs.node, &order), xs.elt)
    }),
    row("swap_axes", &[XS, Kind::Axis, Kind::Axis], "([T], axis, axis) => [T]", "[[1, 2, 3]].swap_axes(0, 1)", |c| {
        let xs = c.array(0)?;
        let (a, b) = (c.axis(1)?, c.axis(2)?);
        c.give(c.builder.swap_axes(&xs.node, a, b), xs.elt)
    }),
    row("reverse_axis", &[XS, Kind::Axis], "([T], axis) => [T]", "[[1, 2], [3, 4]].reverse_axis(1)", |c| {
        let xs = c.array(0)?;
        let axis = c.axis(1)?;
        c.give(c.builder.reverse_axis(&xs.node, axis), xs.elt)
    }),
    row("roll", &[XS, Kind::Axis, Kind::Count], "([T], axis, distance) => [T]", "[[1, 2, 3], [4, 5, 6]].roll(1, 1)", |c| {
        let xs = c.array(0)?;
        let (axis, by) = (c.axis(1)?, c.distance(2)?);
        c.give(c.builder.roll(&xs.node, axis, by), xs.elt)
    }),
    row("pad", &[XS, Kind::Any, Kind::Number], "([T], ((before, after), …), T) => [T]", "[[1, 2], [3, 4]].pad(((1, 0), (0, 1)), 0)", pad),
    row("diag", &[XS], "[[T]] => [T]", "[[1, 2], [3, 4]].diag()", |c| {
        let xs = c.array(0)?;
        c.give(c.builder.diag(&xs.node), xs.elt)
    }),
    row("triangle_lower", &[XS, Kind::Count, Kind::Number], "([[T]], k, T) => [[T]]", "[[1, 2], [3, 4]].triangle_lower(0, 0)", |c| {
        let (xs, k) = (c.array(0)?, c.distance(1)?);
        let (other, _) = c.scalar(2, Some(&xs.elt))?;
        c.give(c.builder.triangle_lower(&xs.node, k, &other), xs.elt)
    }),
    row("triangle_upper", &[XS, Kind::Count, Kind::Number], "([[T]], k, T) => [[T]]", "[[1, 2], [3, 4]].triangle_upper(0, 0)", |c| {
        let (xs, k) = (c.array(0)?, c.distance(1)?);
        let (other, _) = c.scalar(2, Some(&xs.elt))?;
        c.give(c.builder.triangle_upper(&xs.node, k, &other), xs.elt)
    }),
    row("fold_axis", &[XS, Kind::Axis, Kind::Number, F2], "([T], axis, T, (T, T) -> T) => [T]", "[[1, 2], [3, 4]].fold_axis(1, 0, |a, b| a + b)", |c| {
        let (xs, axis) = (c.array(0)?, c.axis(1)?);
        let (start, step, elt) = c.start_and_step(2, &xs.elt)?;
        c.same(2, &elt, &xs.elt)?;
        let style = FoldStyle::Associative;
        c.give(c.builder.fold_axes(&xs.node, &[axis], Fold { start, step, style }), elt)
    }),
    row("fold_seq_axis", &[XS, Kind::Axis, Kind::Number, F2], "([T], axis, S, (S, T) -> S) => [S]", "[[1, 2], [3, 4]].fold_seq_axis(1, 0, |s, x| s * 10 + x)", |c| {
        let (xs, axis) = (c.array(0)?, c.axis(1)?);
        let (start, step, elt) = c.start_and_step(2, &xs.elt)?;
        let style = FoldStyle::Sequential;
        c.give(c.builder.fold_axes(&xs.node, &[axis], Fold { start, step, style }), elt)
    }),
    row("fold1_axis", &[XS, Kind::Axis, F2], "([T], axis, (T, T) -> T) => [T]", "[[1, 2], [3, 4]].fold1_axis(0, |a, b| a.max(b))", |c| {
        let (xs, axis) = (c.array(0)?, c.axis(1)?);
        let (step, elt) = c.function(2, &[&xs.elt, &xs.elt], Some(&xs.elt))?;
        let (start, style) = (Body::default(), FoldStyle::First);
        c.give(c.builder.fold_axes(&xs.node, &[axis], Fold { start, step, style }), elt)
    }),
    row("sum_axis", &[XS, Kind::Axis], "([T], axis) => [T]", "[[1, 2], [3, 4]].sum_axis(0)", |c| along(c, Builder::sum_axes)),
    row("product_axis", &[XS, Kind::Axis], "([T], axis) => [T]", "[[1, 2], [3, 4]].product_axis(0)", |c| along(c, Builder::product_axes)),
    row("min_axis", &[XS, Kind::Axis], "([T], axis) => [T]", "[[1, 2], [3, 4]].min_axis(0)", |c| along(c, Builder::min_axes)),
    row("max_axis", &[XS, Kind::Axis], "([T], axis) => [T]", "[[1, 2], [3, 4]].max_axis(1)", |c| along(c, Builder::max_axes)),
    row("mean_axis", &[XS, Kind::Axis], "([T], axis) => [float]", "[[1, 2], [3, 4]].mean_axis(1)", |c| along(c, Builder::mean_axes)),
    row("var_axis", &[XS, Kind::Axis], "([T], axis) => [float]", "[[1, 2], [3, 4]].var_axis(1)", |c| along(c, Builder::var_axes)),
    row("min_index_axis", &[XS, Kind::Axis], "([T], axis) => [u64]", "[[1, 2], [3, 0]].min_index_axis(1)", |c| along(c, |b, xs, axes| b.min_index_axis(xs, axes[0]))),
    row("max_index_axis", &[XS, Kind::Axis], "([T], axis) => [u64]", "[[1, 2], [3, 0]].max_index_axis(1)", |c| along(c, |b, xs, axes| b.max_index_axis(xs, axes[0]))),
    row("any_axis", &[XS, Kind::Axis, F1], "([T], axis, T -> bool) => [bool]", "[[1, 2], [3, 4]].any_axis(1, _ > 3)", |c| tested_along(c, Builder::any_axes)),
    row("all_axis", &[XS, Kind::Axis, F1], "([T], axis, T -> bool) => [bool]", "[[1, 2], [3, 4]].all_axis(1, _ > 2)", |c| tested_along(c, Builder::all_axes)),
    row("count_axis", &[XS, Kind::Axis, F1], "([T], axis, T -> bool) => [u64]", "[[1, 2], [3, 4]].count_axis(0, _ > 1)", |c| tested_along(c, Builder::count_axes)),
    row("scan_axis", &[XS, Kind::Axis, Kind::Number, F2], "([T], axis, T, (T, T) -> T) => [T]", "[[1, 2], [3, 4]].scan_axis(1, 0, |a, b| a + b)", |c| {
        scan_along(c, |b, xs, axis, fold| b.scan_axis(xs, axis, fold, ScanKind::Inclusive))
    }),
    row("scan_exclusive_axis", &[XS, Kind::Axis, Kind::Number, F2], "([T], axis, T, (T, T) -> T) => [T]", "[[1, 2], [3, 4]].scan_exclusive_axis(1, 0, |a, b| a + b)", |c| {
        scan_along(c, |b, xs, axis, fold| b.scan_axis(xs, axis, fold, ScanKind::Exclusive))
    }),
    row("scan_right_axis", &[XS, Kind::Axis, Kind::Number, F2], "([T], axis, T, (T, T) -> T) => [T]", "[[1, 2], [3, 4]].scan_right_axis(1, 0, |a, b| a + b)", |c| {
        scan_along(c, |b, xs, axis, fold| b.scan_right_axis(xs, axis, fold, ScanKind::Inclusive))
    }),
    row("scan1_axis", &[XS, Kind::Axis, F2], "([T], axis, (T, T) -> T) => [T]", "[[1, 2], [3, 4]].scan1_axis(1, |a, b| a.max(b))", |c| {
        let (xs, axis) = (c.array(0)?, c.axis(1)?);
        let (step, elt) = c.function(2, &[&xs.elt, &xs.elt], Some(&xs.elt))?;
        c.give(c.builder.scan1_axis(&xs.node, axis, step), elt)
    }),
    row("cumsum_axis", &[XS, Kind::Axis], "([T], axis) => [T]", "[[1, 2], [3, 4]].cumsum_axis(0)", |c| along(c, |b, xs, axes| b.cumsum_axis(xs, axes[0]))),
    row("select", &[XS, Kind::Axis, XS], "([T], axis, [index]) => [T]", "[[1, 2], [3, 4]].select(0, [1, 1, 0])", |c| {
        let (xs, axis, at) = (c.array(0)?, c.axis(1)?, c.indices(2)?);
        c.give(c.builder.select(&xs.node, axis, &at), xs.elt)
    }),
    row("slice_axis", &[XS, Kind::Axis, Kind::Any], "([T], axis, range) => [T]", "[[1, 2, 3], [4, 5, 6]].slice_axis(1, 1..)", |c| {
        let (xs, axis, item) = (c.array(0)?, c.axis(1)?, c.item(2)?);
        c.give(c.builder.slice_axis(&xs.node, axis, item), xs.elt)
    }),
    row("index_axis", &[XS, Kind::Axis, Kind::Count], "([T], axis, index) => [T]", "[[1, 2, 3], [4, 5, 6]].index_axis(1, -1)", |c| {
        let (xs, axis, item) = (c.array(0)?, c.axis(1)?, c.item(2)?);
        c.give(c.builder.slice_axis(&xs.node, axis, item), xs.elt)
    }),
    row("concat_axis", &[Kind::Axis, XS, XS], "(axis, [T], [T], …) => [T]", "concat_axis(1, [[1], [2]], [[3], [4]])", |c| joined(c, Builder::concat_axis)).repeated(),
    row("stack", &[Kind::Axis, XS, XS], "(axis, [T], [T], …) => [[T]]", "stack(0, [1, 2], [3, 4])", |c| joined(c, Builder::stack)).repeated(),
    row("outer", &[XS, XS, F2], "([T], [U], (T, U) -> V) => [[V]]", "[1, 2].outer([10, 20, 30], |x, y| x * y)", |c| {
        let (xs, ys) = (c.array(0)?, c.array(1)?);
        let (f, elt) = c.function(2, &[&xs.elt, &ys.elt], None)?;
        c.give(c.builder.outer(&xs.node, &ys.node, &f), elt)
    }),
    row("dot", &[XS, XS], "([T], [T]) => T", "[1, 2, 3].dot([4, 5, 6])", |c| {
        let (xs, ys) = (c.array(0)?, c.array(1)?);
        c.same(1, &ys.elt, &xs.elt)?;
        c.give(c.builder.dot(&xs.node, &ys.node), xs.elt)
    }),
    row("matmul", &[XS, XS], "([[T]], [[T]]) => [[T]]", "[[1, 2], [3, 4]].matmul([[1, 1], [0, 1]])", |c| {
        let (xs, ys) = (c.array(0)?, c.array(1)?);
        c.same(1, &ys.elt, &xs.elt)?;
        c.give(c.builder.dot(&xs.node, &ys.node), xs.elt)
    }),
    row("backpermute", &[XS, Kind::Shape, F1], "([T], shape, index -> index) => [T]", "[[1, 2], [3, 4]].backpermute(2, |i| (i, i))", backpermute),
    row("map_rows", &[XS, F1], "([[T]], [T] -> T or [T]) => [T] or [[T]]", "[[1, 2], [3, 4]].map_rows(|row| row.scan(0, |a, b| a + b))", |c| {
        rows_of(c, 1, |b, xs, _, f| b.map_rows(xs, f))
    }),
    row("map_axis", &[XS, Kind::Axis, F1], "([[T]], axis, [T] -> T or [T]) => [T] or [[T]]", "[[1, 2], [3, 4]].map_axis(0, |column| column.scan(0, |a, b| a + b))", |c| {
        rows_of(c, 2, |b, xs, axis, f| b.map_axis(xs, axis, f))
    }),
    row("load", &[Kind::Text], "\"file\" => table or array", "load \"airports.csv\"", crate::eval::files::load),
];

fn map(c: &mut Call<'_, '_>) -> Result<Value> {
    if let Value::Segmented(s) = c.value(0) {
        let s = s.clone();
        let (f, elt) = c.function(1, &[&s.data.elt], None)?;
        let node = c.builder.map(&[s.data.node], f);
        let data = Array { node, elt };
        return Ok(Value::Segmented(Segmented { data, ..s }));
    }
    let xs = c.array(0)?;
    let (f, elt) = c.function(1, &[&xs.elt], None)?;
    c.give(c.builder.map(&[xs.node], f), elt)
}

/// All arguments, and the tuple of their elements.
fn arrays(c: &mut Call<'_, '_>) -> Result<(Vec<Arc<Node>>, Elt)> {
    let (mut nodes, mut elts) = (Vec::new(), Vec::new());
    for k in 0..c.len() {
        let xs = c.array(k)?;
        nodes.push(xs.node);
        elts.push(xs.elt);
    }
    Ok((nodes, Elt::Tuple(elts)))
}

fn zip(c: &mut Call<'_, '_>) -> Result<Value> {
    let (nodes, elt) = arrays(c)?;
    c.give(c.builder.zip(&nodes), elt)
}

/// A fold or scan of the elements' own type.
fn scan(c: &mut Call<'_, '_>, make: fn(Builder, &Arc<Node>, Fold) -> Arc<Node>) -> Result<Value> {
    let xs = c.array(0)?;
    let (start, step, elt) = c.start_and_step(1, &xs.elt)?;
    c.same(1, &elt, &xs.elt)?;
    let style = FoldStyle::Associative;
    c.give(make(c.builder, &xs.node, Fold { start, step, style }), elt)
}

fn reduced(c: &mut Call<'_, '_>, make: fn(Builder, &Arc<Node>) -> Arc<Node>) -> Result<Value> {
    let xs = c.array(0)?;
    c.give_flat(make(c.builder, &xs.node))
}

fn tested(c: &mut Call<'_, '_>, make: fn(Builder, &Arc<Node>, Body) -> Arc<Node>) -> Result<Value> {
    let xs = c.array(0)?;
    let test = c.test(1, &[&xs.elt])?;
    c.give_flat(make(c.builder, &xs.node, test))
}

fn generate(c: &mut Call<'_, '_>) -> Result<Value> {
    let axes = c.shape(0)?;
    let indices = c.builder.indices(&Shape::new(axes.clone()));
    let index = Elt::of(&indices.types);
    let (body, elt) = c.function(1, &[&index], None)?;
    let node = c.builder.map(&[indices], body);
    shaped(c, node, axes, elt)
}

/// Elements row by row, under a shape.
fn shaped(c: &mut Call<'_, '_>, node: Arc<Node>, axes: Vec<Axis>, elt: Elt) -> Result<Value> {
    let shape = (axes.len() > 1).then(|| Shape::new(axes));
    c.give(c.builder.reshape(&node, shape), elt)
}

/// A combinator along an axis.
fn along(
    c: &mut Call<'_, '_>,
    make: fn(Builder, &Arc<Node>, &[usize]) -> Arc<Node>,
) -> Result<Value> {
    let (xs, axis) = (c.array(0)?, c.axis(1)?);
    c.give_flat(make(c.builder, &xs.node, &[axis]))
}

fn tested_along(
    c: &mut Call<'_, '_>,
    make: fn(Builder, &Arc<Node>, &[usize], Body) -> Arc<Node>,
) -> Result<Value> {
    let (xs, axis) = (c.array(0)?, c.axis(1)?);
    let test = c.test(2, &[&xs.elt])?;
    c.give_flat(make(c.builder, &xs.node, &[axis], test))
}

fn scan_along(
    c: &mut Call<'_, '_>,
    make: fn(Builder, &Arc<Node>, usize, Fold) -> Arc<Node>,
) -> Result<Value> {
    let (xs, axis) = (c.array(0)?, c.axis(1)?);
    let (start, step, elt) = c.start_and_step(2, &xs.elt)?;
    c.same(2, &elt, &xs.elt)?;
    let style = FoldStyle::Associative;
    c.give(
        make(c.builder, &xs.node, axis, Fold { start, step, style }),
        elt,
    )
}

fn joined(
    c: &mut Call<'_, '_>,
    make: fn(Builder, usize, &[Arc<Node>]) -> Arc<Node>,
) -> Result<Value> {
    let axis = c.axis(0)?;
    let first = c.array(1)?;
    let mut nodes = vec![first.node];
    for k in 2..c.len() {
        let other = c.array(k)?;
        c.same(k, &other.elt, &first.elt)?;
        nodes.push(other.node);
    }
    c.give(make(c.builder, axis, &nodes), first.elt)
}

fn pad(c: &mut Call<'_, '_>) -> Result<Value> {
    let xs = c.array(0)?;
    let at = c.at(1);
    let Value::Tuple(axes) = c.value(1).clone() else {
        let got = c.value(1).describe();
        return c.eval.refuse(
            format!("expected (before, after) of each axis, got {got}"),
            at,
        );
    };
    // Of one axis the pair itself will do.
    let axes = match axes.iter().any(|a| matches!(a, Value::Tuple(_))) {
        true => axes,
        false => vec![Value::Tuple(axes)],
    };
    let mut by = Vec::new();
    for axis in axes {
        let Value::Tuple(ends) = axis else {
            return c.eval.refuse(
                format!("expected (before, after), got {}", axis.describe()),
                at,
            );
        };
        let [before, after] = match <[Value; 2]>::try_from(ends) {
            Ok(ends) => ends,
            Err(ends) => {
                return c.eval.refuse(
                    format!("expected (before, after), got {} values", ends.len()),
                    at,
                );
            }
        };
        let before = Axis::delayed(c.eval.count(before, at)?.node);
        by.push((before, Axis::delayed(c.eval.count(after, at)?.node)));
    }
    let (fill, _) = c.scalar(2, Some(&xs.elt))?;
    c.give(c.builder.pad(&xs.node, &by, &fill), xs.elt)
}

fn backpermute(c: &mut Call<'_, '_>) -> Result<Value> {
    let xs = c.array(0)?;
    let shape = Shape::new(c.shape(1)?);
    let (f, at, builder) = (c.value(2).clone(), c.at(2), c.builder);
    let index = Elt::of(&vec![Ty::U64; shape.rank()]);
    let node = c.eval.inside(|eval, wrong| {
        builder.backpermute(&xs.node, &shape, |fields| {
            let args = crate::eval::split(fields, std::slice::from_ref(&index));
            let result = eval
                .call(&f, args, at)
                .and_then(|v| eval.fields(v, None, at));
            wrong
                .keep(result.map(|(fields, _)| fields))
                .unwrap_or_default()
        })
    })?;
    c.give(node, xs.elt)
}

/// What a function that makes nodes of a node is called with.
type OnRow<'f> = &'f mut dyn FnMut(&Arc<Node>) -> Vec<Arc<Node>>;

fn rows_of(
    c: &mut Call<'_, '_>,
    k: usize,
    make: fn(Builder, &Arc<Node>, usize, OnRow<'_>) -> Vec<Arc<Node>>,
) -> Result<Value> {
    let xs = c.array(0)?;
    let axis = if k == 2 { c.axis(1)? } else { 0 };
    let (f, at, builder) = (c.value(k).clone(), c.at(k), c.builder);
    let mut form = None;
    let nodes = c.eval.on_arrays(|eval| {
        let mut first = None;
        let nodes = make(builder, &xs.node, axis, &mut |row| {
            let row = Value::Array(Array {
                node: row.clone(),
                elt: xs.elt.clone(),
            });
            let result = eval.call(&f, vec![row], at);
            let mut all = Vec::new();
            match result.and_then(|v| eval.results(v, &mut all, at)) {
                Ok(made) => form = Some(made),
                Err(e) => first = Some(e),
            }
            all
        });
        first.map_or(Ok(nodes), Err)
    })?;
    let mut nodes = nodes.into_iter();
    let form = form.unwrap_or(crate::eval::Form::Tuple(Vec::new()));
    c.eval.formed(&form, &mut nodes, at)
}
