//! Combinators on arrays of rank 1, and elementwise ones for any rank.

use super::scalars::{MAX, MIN};
use super::{COUNT, Combinator, Elements, F1, F2, Keywords, Kind, OVER, XS, index_of, row};
use crate::eval::{Call, Result};
use crate::meaning::Time;
use crate::value::{Array, Elt, Segmented, Value};
use livefusion::Boundary;
use livefusion::array::Bins;
use livefusion::ast::{
    Body, Builder, Const, Field, Fields, Fold, FoldStyle, Node, Places, ScanKind, Shape,
};
use livefusion::over::Domain;
use loop_lang::Ty;
use std::sync::Arc;

/// The named arguments of combinators by index.
const BINS: Keywords = Keywords::At(&[("count", 2), ("start", 3)]);

/// Lists the combinators.
#[rustfmt::skip]
pub static ROWS: &[Combinator] = &[
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
    row("fold", &[OVER, Kind::Number, F2], "([T], T, (T, T) -> T) => T", "(1..=5).fold(1, |a, b| a * b)", |c| {
        let xs = c.over(0)?;
        let (start, step, elt) = c.start_and_step(1, xs.elt())?;
        let style = match elt == *xs.elt() {
            false if xs.is_all() => FoldStyle::Sequential,
            _ => c.same(1, &elt, xs.elt()).map(|()| FoldStyle::Associative)?,
        };
        c.give(c.builder.fold(xs.domain(), Fold { start, step, style }), elt)
    }).with(Elements::Signed).also(&["reduce"]),
    row("fold_seq", &[OVER, Kind::Number, F2], "([T], S, (S, T) -> S) => S", "[1, 2, 3].fold_seq(0, |s, x| s * 10 + x)", |c| {
        let xs = c.over(0)?;
        let (start, step, elt) = c.start_and_step(1, xs.elt())?;
        let style = FoldStyle::Sequential;
        c.give(c.builder.fold(xs.domain(), Fold { start, step, style }), elt)
    }).with(Elements::Signed),
    row("fold1", &[OVER, F2], "([T], (T, T) -> T) => T", "[3, 1, 2].fold1(|a, b| a.max(b))", |c| {
        let xs = c.over(0)?;
        let (step, elt) = c.function(1, &[xs.elt(), xs.elt()], Some(xs.elt()))?;
        let (start, style) = (Body::default(), FoldStyle::First);
        c.give(c.builder.fold(xs.domain(), Fold { start, step, style }), elt)
    }).with(Elements::Signed),
    row("scan", &[OVER, Kind::Number, F2], "([T], T, (T, T) -> T) => [T]", "[1, 2, 3].scan(0, |a, b| a + b)", |c| running_fold(c, |b, of, fold| b.scan(of, fold, ScanKind::Inclusive))).with(Elements::Signed),
    row("scan_exclusive", &[OVER, Kind::Number, F2], "([T], T, (T, T) -> T) => [T]", "[1, 2, 3].scan_exclusive(0, |a, b| a + b)", |c| running_fold(c, |b, of, fold| b.scan(of, fold, ScanKind::Exclusive))).with(Elements::Signed),
    row("sum", &[OVER], "[T] => T", "(1..=100).sum()", |c| reduced(c, |b, of| b.sum(of))).with(Elements::Numbers),
    row("product", &[OVER], "[T] => T", "(1..=5).product()", |c| reduced(c, |b, of| b.product(of))).with(Elements::Numbers),
    Combinator { scalar: Some(&MIN), ..row("min", &[OVER], "[T] => T", "[3, 1, 2].min()", |c| chosen(c, |b, of| b.min(of))) },
    Combinator { scalar: Some(&MAX), ..row("max", &[OVER], "[T] => T", "[3, 1, 2].max()", |c| chosen(c, |b, of| b.max(of))) },
    row("mean", &[OVER], "[T] => float", "[1, 2, 6].mean()", |c| reduced(c, |b, of| b.mean(of))).with(Elements::Numbers),
    row("var", &[OVER], "[T] => float", "[2, 4, 4, 4, 5, 5, 7, 9].var()", |c| reduced(c, |b, of| b.var(of))).with(Elements::Numbers),
    row("std", &[OVER], "[T] => float", "[1.0, 5.0].std()", |c| reduced(c, |b, of| b.std(of))).with(Elements::Numbers),
    row("any", &[OVER, F1], "([T], T -> bool) => bool", "[1, 2, 3].any(_ > 2)", |c| tested(c, |b, of, test| b.any(of, test))),
    row("all", &[OVER, F1], "([T], T -> bool) => bool", "[1, 2, 3].all(_ > 2)", |c| tested(c, |b, of, test| b.all(of, test))),
    row("count", &[OVER, F1], "([T], T -> bool) => u64", "[1, 2, 3].count(_ > 1)", |c| tested(c, |b, of, test| b.count(of, test))),
    row("min_index", &[OVER], "[T] => u64", "[3, 1, 2].min_index()", |c| placed(c, |b, of| b.min_index(of))).also(&["argmin"]),
    row("max_index", &[OVER], "[T] => u64", "[3, 1, 2].max_index()", |c| placed(c, |b, of| b.max_index(of))).also(&["argmax"]),
    row("first", &[XS], "[T] => T", "[3, 1, 2].first()", |c| kept(c, Builder::first)),
    row("last", &[XS], "[T] => T", "[3, 1, 2].last()", |c| kept(c, Builder::last)),
    row("find", &[XS, F1], "([T], T -> bool) => T", "[3, 1, 2].find(_ < 3)", |c| {
        let xs = c.array(0)?;
        let test = c.test(1, &[&xs.elt])?;
        c.give(c.builder.find(&xs.node, test), xs.elt)
    }),
    row("position", &[XS, F1], "([T], T -> bool) => u64", "[3, 1, 2].position(_ < 3)", position),
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
        let index = index_of(usize::from(xs.node.rank));
        c.give(c.builder.enumerate(&xs.node), Elt::Tuple(vec![index, xs.elt]))
    }),
    row("scan1", &[OVER, F2], "([T], (T, T) -> T) => [T]", "[1, 3, 2].scan1(|a, b| a.max(b))", |c| {
        let xs = c.over(0)?;
        let (step, elt) = c.function(1, &[xs.elt(), xs.elt()], Some(xs.elt()))?;
        c.give_over(&xs, c.builder.scan1(xs.domain(), step), elt)
    }).with(Elements::Signed),
    row("scan_seq", &[OVER, Kind::Number, F2], "([T], S, (S, T) -> S) => [S]", "[1, 2, 3].scan_seq(0, |s, x| s * 10 + x)", |c| {
        let xs = c.over(0)?;
        let (start, step, elt) = c.start_and_step(1, xs.elt())?;
        if !xs.is_all() {
            c.same(1, &elt, xs.elt())?;
        }
        let style = FoldStyle::Sequential;
        c.give_over(&xs, c.builder.scan(xs.domain(), Fold { start, step, style }, ScanKind::Inclusive), elt)
    }).with(Elements::Signed),
    row("scan_with_total", &[XS, Kind::Number, F2], "([T], T, (T, T) -> T) => ([T], T)", "[1, 2, 3].scan_with_total(0, |a, b| a + b)", |c| {
        let xs = c.array(0)?;
        let (start, step, elt) = c.start_and_step(1, &xs.elt)?;
        c.same(1, &elt, &xs.elt)?;
        let (all, total) = c.builder.scan_with_total(&xs.node, start, step);
        Ok(Value::Tuple(vec![c.give(all, elt.clone())?, c.give(total, elt)?]))
    }).with(Elements::Signed),
    row("scan_right", &[OVER, Kind::Number, F2], "([T], T, (T, T) -> T) => [T]", "[1, 2, 3].scan_right(0, |a, b| a + b)", |c| running_fold(c, |b, of, fold| b.scan_right(of, fold, ScanKind::Inclusive))).with(Elements::Signed),
    row("scan1_right", &[OVER, F2], "([T], (T, T) -> T) => [T]", "[1, 3, 2].scan1_right(|a, b| a.max(b))", |c| {
        let xs = c.over(0)?;
        let (step, elt) = c.function(1, &[xs.elt(), xs.elt()], Some(xs.elt()))?;
        c.give_over(&xs, c.builder.scan1_right(xs.domain(), step), elt)
    }).with(Elements::Signed),
    row("scan_exclusive_right", &[OVER, Kind::Number, F2], "([T], T, (T, T) -> T) => [T]", "[1, 2, 3].scan_exclusive_right(0, |a, b| a + b)", |c| running_fold(c, |b, of, fold| b.scan_right(of, fold, ScanKind::Exclusive))).with(Elements::Signed),
    row("fold_right", &[XS, Kind::Number, F2], "([T], T, (T, T) -> T) => T", "[1, 2, 3].fold_right(0, |a, b| a + b)", |c| {
        scan(c, Builder::fold_right)
    }).with(Elements::Signed),
    row("scan_with_start", &[XS, Kind::Number, F2], "([T], T, (T, T) -> T) => [T]", "[1, 2, 3].scan_with_start(0, |a, b| a + b)", |c| {
        scan(c, |b, xs, fold| b.scan_with_start(xs, fold.start, fold.step))
    }).with(Elements::Signed),
    row("cumsum", &[OVER], "[T] => [T]", "[1, 2, 3].cumsum()", |c| running(c, |b, of| b.cumsum(of))).with(Elements::Numbers),
    row("cumprod", &[OVER], "[T] => [T]", "[1, 2, 3].cumprod()", |c| running(c, |b, of| b.cumprod(of))).with(Elements::Numbers),
    row("cummax", &[OVER], "[T] => [T]", "[3, 1, 4].cummax()", |c| best(c, |b, of| b.cummax(of))),
    row("cummin", &[OVER], "[T] => [T]", "[3, 1, 4].cummin()", |c| best(c, |b, of| b.cummin(of))),
    row("diff", &[XS], "[T] => [T]", "[1, 4, 9].diff()", |c| {
        let xs = c.array(0)?;
        let elt = match xs.elt {
            Elt::Time(time) => Elt::Time(Time::of(false, time.is_fine())),
            elt => c.of_numbers(0, &elt).map(|()| elt)?,
        };
        c.give(c.builder.diff(&xs.node), elt)
    }).with(Elements::Signed),
    row("len", &[Kind::Any], "[T] => u64", "[1, 2, 3].len()", |c| {
        if let Value::Segmented(s) = c.value(0) {
            let lengths = s.lengths.clone();
            return c.give(c.builder.len(&lengths), COUNT);
        }
        if let Value::Table(table) = c.value(0)
            && table.rows().is_err()
        {
            let n = Const::u64(table.read.len() as u64);
            return Ok(Value::Scalar(Fields::from_slice(&[Field::literal(n)]), COUNT));
        }
        let xs = c.array(0)?;
        c.give(c.builder.len(&xs.node), COUNT)
    }),
    row("take_while", &[XS, F1], "([T], T -> bool) => [T]", "(1..10).take_while(_ < 4)", |c| {
        let xs = c.array(0)?;
        let test = c.test(1, &[&xs.elt])?;
        c.give(c.builder.take_while(&xs.node, test, false), xs.elt)
    }),
    row("append", &[XS, XS], "([T], [T], …) => [T]", "[1, 2].append([3])", |c| {
        let all: Vec<usize> = c.from(0).collect();
        c.agree(&all)?;
        let first = c.array(0)?;
        let mut nodes = vec![first.node];
        for k in c.from(1) {
            let other = c.array(k)?;
            c.same(k, &other.elt, &first.elt)?;
            nodes.push(other.node);
        }
        c.give(c.builder.append(&nodes), first.elt)
    }).with(Elements::Alike).repeated().also(&["concat"]),
    row("generate", &[Kind::Shape, F1], "(shape, index -> T) => [T]", "generate(3, |i| i * i)", |c| {
        let shape = Shape::new(c.shape(0)?);
        let (f, at, builder) = (c.value(1).clone(), c.at(1), c.builder);
        let index = index_of(shape.rank());
        let (node, elt) = c.eval.on_scalars(|eval, wrong| {
            builder.generate_in(&shape, |i| eval.on_fields(wrong, &f, i, &index, at))
        })?;
        c.give(node, elt)
    }),
    row("iota", &[Kind::Count], "n => [u64]", "iota(3)", |c| {
        let n = c.count(0)?.len();
        c.give(c.builder.iota(n), COUNT)
    }),
    row("replicate", &[Kind::Shape, Kind::Number], "(shape, T) => [T]", "replicate(3, 1.5)", |c| {
        let axes = c.shape(0)?;
        let (value, elt) = c.scalar(1, None)?;
        c.give(c.builder.replicate(&Shape::new(axes), value), elt)
    }).also(&["full"]),
    row("reshape", &[XS, Kind::Shape], "([T], shape) => [T]", "(1..=6).reshape((2, 3))", |c| {
        let xs = c.array(0)?;
        let axes = c.shape_of(1, &xs)?;
        let shape = (axes.len() > 1).then(|| Shape::new(axes));
        c.give(c.builder.reshape(&xs.node, shape), xs.elt)
    }).repeated(),
    row("flatten", &[Kind::Any], "[[T]] => [T]", "[[1, 2], [3, 4]].flatten()", |c| {
        if let Value::Segmented(s) = c.value(0) {
            return Ok(Value::Array(s.data.clone()));
        }
        let xs = c.array(0)?;
        c.give(c.builder.reshape(&xs.node, None), xs.elt)
    }),
    row("scatter", &[XS, XS, XS], "([T], [index], [T]) => [T]", "[0, 0, 0].scatter([2, 0], [7, 8])", |c| {
        c.agree(&[0, 2])?;
        let (base, at, values) = (c.array(0)?, c.indices(1)?, c.array(2)?);
        c.give(c.builder.scatter(&base.node, &at, &values.node, None), base.elt)
    }).with(Elements::Signed),
    row("scatter_with", &[XS, XS, XS, F2], "([T], [index], [T], (T, T) -> T) => [T]", "[0, 0, 0].scatter_with([2, 2], [7, 8], |a, b| a + b)", |c| {
        c.agree(&[0, 2])?;
        let (base, at, values) = (c.array(0)?, c.indices(1)?, c.array(2)?);
        let (f, elt) = c.function(3, &[&base.elt, &base.elt], Some(&base.elt))?;
        c.give(c.builder.scatter(&base.node, &at, &values.node, Some(f)), elt)
    }).with(Elements::Signed),
    row("take", &[XS, Kind::Count], "([T], n) => [T]", "(1..10).take(3)", |c| {
        let (xs, n) = (c.array(0)?, c.amount(1)?);
        c.give(c.builder.take_n(&xs.node, n), xs.elt)
    }),
    row("drop", &[XS, Kind::Count], "([T], n) => [T]", "(1..10).drop(6)", |c| {
        let (xs, n) = (c.array(0)?, c.amount(1)?);
        c.give(c.builder.drop(&xs.node, n), xs.elt)
    }).also(&["skip"]),
    row("reverse", &[XS], "[T] => [T]", "[1, 2, 3].reverse()", |c| kept(c, Builder::reverse)),
    row("shift", &[XS, Kind::Count, Kind::Number], "([T], distance, T) => [T]", "[1, 2, 3].shift(1, 0)", |c| {
        c.agree(&[0, 2])?;
        let (xs, by) = (c.array(0)?, c.distance(1)?);
        let (fill, _) = c.scalar(2, Some(&xs.elt))?;
        c.give(c.builder.shift(&xs.node, by, &fill), xs.elt)
    }).with(Elements::Signed),
    row("gather", &[XS, XS], "([T], [index]) => [T]", "[5, 6, 7].gather([2, 0, 0])", |c| {
        let (xs, at) = (c.array(0)?, c.numbers(1)?);
        c.give(c.builder.gather(&xs.node, &at.node), xs.elt)
    }),
    row("unique", &[XS], "[T] => [T]", "[1, 1, 2, 1].unique()", |c| kept(c, Builder::unique)),
    row("unique_by", &[XS, F2], "([T], (T, T) -> bool) => [T]", "[1, 3, 2, 4].unique_by(|a, b| a % 2 == b % 2)", |c| {
        let xs = c.array(0)?;
        let same = c.test(1, &[&xs.elt, &xs.elt])?;
        c.give(c.builder.unique_by(&xs.node, &same), xs.elt)
    }),
    row("group", &[XS], "[T] => ([T], [u64])", "[1, 1, 2, 1].group()", |c| {
        let xs = c.array(0)?;
        let runs = c.builder.group(&xs.node);
        grouped(c, runs, xs.elt)
    }),
    row("combine", &[XS, XS, XS], "([bool], [T], [T]) => [T]", "[true, false, true].combine([1, 2], [-1])", |c| {
        c.agree(&[1, 2])?;
        let (flags, xs, ys) = (c.array(0)?, c.array(1)?, c.array(2)?);
        c.give(c.builder.combine(&flags.node, &xs.node, &ys.node), xs.elt)
    }),
    row("interleave", &[XS, XS], "([T], [T]) => [T]", "[1, 3].interleave([2, 4])", |c| {
        c.agree(&[0, 1])?;
        let (xs, ys) = (c.array(0)?, c.array(1)?);
        c.give(c.builder.interleave(&xs.node, &ys.node), xs.elt)
    }).with(Elements::Alike),
    row("merge", &[XS, XS, F2], "([T], [T], (T, T) -> bool) => [T]", "[1, 4].merge([2, 3], |a, b| a <= b)", |c| {
        c.agree(&[0, 1])?;
        let (xs, ys) = (c.array(0)?, c.array(1)?);
        let in_order = c.test(2, &[&xs.elt, &xs.elt])?;
        c.give(c.builder.merge_sorted(&xs.node, &ys.node, &in_order), xs.elt)
    }).with(Elements::Alike),
    row("update", &[XS, Kind::Count, Kind::Number], "([T], index, T) => [T]", "[1, 2, 3].update(1, 9)", |c| {
        c.agree(&[0, 2])?;
        let xs = c.array(0)?;
        let at = c.count_body(1)?;
        let (value, _) = c.scalar(2, Some(&xs.elt))?;
        c.give(c.builder.update(&xs.node, &at, &value), xs.elt)
    }).with(Elements::Signed),
    row("at", &[XS, Kind::Any], "([T], index) => T", "[[1, 2], [3, 4]].at((1, 0))", |c| {
        let xs = c.array(0)?;
        let (index, _) = c.scalar(1, None)?;
        c.give(c.builder.item(&xs.node, &index), xs.elt)
    }),
    row("reduce_by_index", &[XS, XS, Kind::Count, Kind::Number, F2], "([T], [index], n, T, (T, T) -> T) => [T]", "[5, 6, 7].reduce_by_index([0, 1, 0], count = 2, start = 0, |a, b| a + b)", |c| {
        let (values, at, n) = (c.array(0)?, c.indices(1)?, c.count(2)?.len());
        let (start, _) = c.scalar(3, Some(&values.elt))?;
        let (step, elt) = c.function(4, &[&values.elt, &values.elt], Some(&values.elt))?;
        let bins = Bins { count: n, start: &start };
        c.give(c.builder.reduce_by_index(&values.node, &at, bins, step), elt)
    }).named(BINS),
    row("scan_by_index", &[XS, XS, Kind::Count, Kind::Number, F2], "([T], [index], n, T, (T, T) -> T) => [T]", "[5, 6, 7].scan_by_index([0, 1, 0], count = 2, start = 0, |a, b| a + b)", |c| by_index(c, ScanKind::Inclusive)).named(BINS),
    row("scan_exclusive_by_index", &[XS, XS, Kind::Count, Kind::Number, F2], "([T], [index], n, T, (T, T) -> T) => [T]", "[5, 6, 7].scan_exclusive_by_index([0, 1, 0], count = 2, start = 0, |a, b| a + b)", |c| by_index(c, ScanKind::Exclusive)).named(BINS),
    row("enum_from_step", &[Kind::Count, Kind::Number, Kind::Number], "(n, T, T) => [T]", "enum_from_step(4, 10, -3)", |c| {
        let n = c.count(0)?.len();
        let (ends, elt) = c.alike(1..3)?;
        c.give(c.builder.enum_from_step(n, &ends[0], &ends[1]), elt)
    }),
    row("aggregate", &[OVER, Kind::Number, F2, F2], "([T], S, (S, T) -> S, (S, S) -> S) => S", "[1, 2, 3].aggregate(0.0, |s, x| s + x as f64, |a, b| a + b)", |c| {
        let xs = c.over(0)?;
        let (start, step, elt) = c.start_and_step(1, xs.elt())?;
        let (combine, _) = c.function(3, &[&elt, &elt], Some(&elt))?;
        let style = FoldStyle::Aggregate(combine);
        c.give(c.builder.fold(xs.domain(), Fold { start, step, style }), elt)
    }).with(Elements::Signed),
    row("Boundary::Constant", &[Kind::Number], "T => boundary", "[1, 2, 4].windows(Boundary::Constant(0), |[a, b]| b - a)", |c| {
        Ok(Value::Boundary(Boundary::Constant(Box::new(c.value(0).clone()))))
    }),
    row("windows", &[XS, Kind::Boundary, F1], "([T], boundary, [T; k] -> U) => [U]", "[1, 2, 6].windows(Boundary::Clamp, |[a, b, c]| a + b + c)", |c| {
        let xs = c.array(0)?;
        let sizes = c.window(2, 1)?;
        let along = c.boundary(1, &xs.elt)?;
        let (f, at, builder) = (c.value(2).clone(), c.at(2), c.builder);
        let (node, elt) = c.eval.on_scalars(|eval, wrong| {
            builder.windows(&xs.node, sizes[0], &along, |w| eval.on_window(wrong, &f, w, &sizes, &xs.elt, at))
        })?;
        c.give(node, elt)
    }),
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
    row("sliding_windows", &[XS, Kind::Count, Kind::Count], "([T], width, stride) => [[T]]", "[1, 2, 4, 8].sliding_windows(3, 1)", |c| {
        let (xs, width, stride) = (c.array(0)?, c.count(1)?, c.count(2)?);
        c.give(c.builder.sliding_windows(&xs.node, width, stride), xs.elt)
    }),
    row("bincount", &[XS, Kind::Count], "([index], n) => [u64]", "[2, 0, 2].bincount(3)", |c| {
        let (at, n) = (c.indices(0)?, c.count(1)?.len());
        c.give(c.builder.bincount(&at, n), COUNT)
    }),
    row("histogram", &[XS, XS], "([T], [T]) => [u64]", "[0.5, 1.0, 3.0].histogram([0.0, 1.0, 3.0])", |c| {
        let (xs, edges) = (c.numbers(0)?, c.numbers(1)?);
        c.give(c.builder.histogram(&xs.node, &edges.node), COUNT)
    }),
    row("histogram_uniform", &[XS, Kind::Number, Kind::Number, Kind::Count], "([T], low, high, n) => [u64]", "[0.5, 1.0, 3.0].histogram_uniform(0, 3, 3)", |c| {
        let xs = c.numbers(0)?;
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

/// All arguments as nodes, and the tuple of their element types.
fn arrays(c: &mut Call<'_, '_>) -> Result<(Vec<Arc<Node>>, Elt)> {
    let (mut nodes, mut elts) = (Vec::new(), Vec::new());
    for k in c.from(0) {
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

/// A fold or scan whose state has the element type.
fn scan(c: &mut Call<'_, '_>, make: fn(Builder, &Arc<Node>, Fold) -> Arc<Node>) -> Result<Value> {
    let xs = c.array(0)?;
    let (start, step, elt) = c.start_and_step(1, &xs.elt)?;
    c.same(1, &elt, &xs.elt)?;
    let style = FoldStyle::Associative;
    c.give(make(c.builder, &xs.node, Fold { start, step, style }), elt)
}

/// A scan whose state has the element type.
fn running_fold(
    c: &mut Call<'_, '_>,
    make: fn(Builder, Domain<'_>, Fold) -> Arc<Node>,
) -> Result<Value> {
    let xs = c.over(0)?;
    let (start, step, elt) = c.start_and_step(1, xs.elt())?;
    c.same(1, &elt, xs.elt())?;
    let style = FoldStyle::Associative;
    let node = make(c.builder, xs.domain(), Fold { start, step, style });
    c.give_over(&xs, node, elt)
}

/// A constructor of a fold.
type Reduce = fn(Builder, Domain<'_>) -> Arc<Node>;

fn reduced(c: &mut Call<'_, '_>, make: Reduce) -> Result<Value> {
    let xs = c.over(0)?;
    c.of_numbers(0, xs.elt())?;
    let node = make(c.builder, xs.domain());
    match xs.is_all() {
        true => c.give_flat(node),
        false => c.give_like(node, xs.elt().clone()),
    }
}

/// A fold that returns one of the elements.
fn chosen(c: &mut Call<'_, '_>, make: Reduce) -> Result<Value> {
    let xs = c.over(0)?;
    c.give(make(c.builder, xs.domain()), xs.elt().clone())
}

/// A fold that returns the index of one of the elements.
fn placed(c: &mut Call<'_, '_>, make: Reduce) -> Result<Value> {
    let xs = c.over(0)?;
    c.give_like(make(c.builder, xs.domain()), xs.elt().clone())
}

fn tested(c: &mut Call<'_, '_>, make: fn(Builder, Domain<'_>, Body) -> Arc<Node>) -> Result<Value> {
    let xs = c.over(0)?;
    let test = c.test(1, &[xs.elt()])?;
    c.give_like(make(c.builder, xs.domain(), test), xs.elt().clone())
}

/// A scan that keeps the element type.
fn best(c: &mut Call<'_, '_>, make: Reduce) -> Result<Value> {
    let xs = c.over(0)?;
    c.give_over(&xs, make(c.builder, xs.domain()), xs.elt().clone())
}

/// A scan of numbers.
fn running(c: &mut Call<'_, '_>, make: Reduce) -> Result<Value> {
    let xs = c.over(0)?;
    c.of_numbers(0, xs.elt())?;
    best(c, make)
}

fn position(c: &mut Call<'_, '_>) -> Result<Value> {
    let xs = c.elements(0)?;
    let test = c.test(1, &[&xs.elt])?;
    c.give_like(c.builder.position(&xs.node, test), xs.elt)
}

/// A combinator that keeps the element type.
fn kept(c: &mut Call<'_, '_>, make: fn(Builder, &Arc<Node>) -> Arc<Node>) -> Result<Value> {
    let xs = c.array(0)?;
    c.give(make(c.builder, &xs.node), xs.elt)
}

fn grouped(
    c: &mut Call<'_, '_>,
    (first, lengths): (Arc<Node>, Arc<Node>),
    elt: Elt,
) -> Result<Value> {
    let lengths = c.give(lengths, COUNT)?;
    Ok(Value::Tuple(vec![c.give(first, elt)?, lengths]))
}

fn by_index(c: &mut Call<'_, '_>, kind: ScanKind) -> Result<Value> {
    let (values, at, n) = (c.array(0)?, c.indices(1)?, c.count(2)?.len());
    let (start, _) = c.scalar(3, Some(&values.elt))?;
    let (step, elt) = c.function(4, &[&values.elt, &values.elt], Some(&values.elt))?;
    let bins = c.builder.bins(n, &start);
    let node = c
        .builder
        .scan_by_index([&bins, &at, &values.node], step, kind, Places::Anywhere);
    c.give(node, elt)
}
