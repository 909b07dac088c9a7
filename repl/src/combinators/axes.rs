//! Combinators of arrays of rank 2 and more.

use super::{Combinator, Elements, F1, F2, Kind, XS, index_of, row};
use crate::eval::{Call, Result};
use crate::value::Value;
use livefusion::ast::{Axis, Body, Builder, Fold, FoldStyle, Node, ScanKind, Shape};
use livefusion::ranked::Border;
use std::sync::Arc;

/// All of them.
#[rustfmt::skip]
pub static ROWS: &[Combinator] = &[
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
    row("pad", &[XS, Kind::Any, Kind::Number], "([T], ((before, after), …), T) => [T]", "[[1, 2], [3, 4]].pad(((1, 0), (0, 1)), 0)", pad).with(Elements::Signed),
    row("diag", &[XS], "[[T]] => [T]", "[[1, 2], [3, 4]].diag()", |c| {
        let xs = c.array(0)?;
        c.give(c.builder.diag(&xs.node), xs.elt)
    }),
    row("triangle_lower", &[XS, Kind::Count, Kind::Number], "([[T]], k, T) => [[T]]", "[[1, 2], [3, 4]].triangle_lower(0, 0)", |c| {
        let (xs, k) = (c.array(0)?, c.distance(1)?);
        let (other, _) = c.scalar(2, Some(&xs.elt))?;
        c.give(c.builder.triangle_lower(&xs.node, k, &other), xs.elt)
    }).with(Elements::Signed),
    row("triangle_upper", &[XS, Kind::Count, Kind::Number], "([[T]], k, T) => [[T]]", "[[1, 2], [3, 4]].triangle_upper(0, 0)", |c| {
        let (xs, k) = (c.array(0)?, c.distance(1)?);
        let (other, _) = c.scalar(2, Some(&xs.elt))?;
        c.give(c.builder.triangle_upper(&xs.node, k, &other), xs.elt)
    }).with(Elements::Signed),
    row("fold_axis", &[XS, Kind::Axis, Kind::Number, F2], "([T], axis, T, (T, T) -> T) => [T]", "[[1, 2], [3, 4]].fold_axis(1, 0, |a, b| a + b)", |c| {
        let (xs, axis) = (c.array(0)?, c.axis(1)?);
        let (start, step, elt) = c.start_and_step(2, &xs.elt)?;
        c.same(2, &elt, &xs.elt)?;
        let style = FoldStyle::Associative;
        c.give(c.builder.fold_axes(&xs.node, &[axis], Fold { start, step, style }), elt)
    }).with(Elements::Signed),
    row("fold_seq_axis", &[XS, Kind::Axis, Kind::Number, F2], "([T], axis, S, (S, T) -> S) => [S]", "[[1, 2], [3, 4]].fold_seq_axis(1, 0, |s, x| s * 10 + x)", |c| {
        let (xs, axis) = (c.array(0)?, c.axis(1)?);
        let (start, step, elt) = c.start_and_step(2, &xs.elt)?;
        let style = FoldStyle::Sequential;
        c.give(c.builder.fold_axes(&xs.node, &[axis], Fold { start, step, style }), elt)
    }).with(Elements::Signed),
    row("fold1_axis", &[XS, Kind::Axis, F2], "([T], axis, (T, T) -> T) => [T]", "[[1, 2], [3, 4]].fold1_axis(0, |a, b| a.max(b))", |c| {
        let (xs, axis) = (c.array(0)?, c.axis(1)?);
        let (step, elt) = c.function(2, &[&xs.elt, &xs.elt], Some(&xs.elt))?;
        let (start, style) = (Body::default(), FoldStyle::First);
        c.give(c.builder.fold_axes(&xs.node, &[axis], Fold { start, step, style }), elt)
    }).with(Elements::Signed),
    row("sum_axis", &[XS, Kind::Axis], "([T], axis) => [T]", "[[1, 2], [3, 4]].sum_axis(0)", |c| along(c, Builder::sum_axes)).with(Elements::Numbers),
    row("product_axis", &[XS, Kind::Axis], "([T], axis) => [T]", "[[1, 2], [3, 4]].product_axis(0)", |c| along(c, Builder::product_axes)).with(Elements::Numbers),
    row("min_axis", &[XS, Kind::Axis], "([T], axis) => [T]", "[[1, 2], [3, 4]].min_axis(0)", |c| along(c, Builder::min_axes)),
    row("max_axis", &[XS, Kind::Axis], "([T], axis) => [T]", "[[1, 2], [3, 4]].max_axis(1)", |c| along(c, Builder::max_axes)),
    row("mean_axis", &[XS, Kind::Axis], "([T], axis) => [float]", "[[1, 2], [3, 4]].mean_axis(1)", |c| along(c, Builder::mean_axes)).with(Elements::Numbers),
    row("var_axis", &[XS, Kind::Axis], "([T], axis) => [float]", "[[1, 2], [3, 4]].var_axis(1)", |c| along(c, Builder::var_axes)).with(Elements::Numbers),
    row("std_axis", &[XS, Kind::Axis], "([T], axis) => [float]", "[[1, 2], [3, 4]].std_axis(1)", |c| along(c, Builder::std_axes)).with(Elements::Numbers),
    row("min_index_axis", &[XS, Kind::Axis], "([T], axis) => [u64]", "[[1, 2], [3, 0]].min_index_axis(1)", |c| along(c, |b, xs, axes| b.min_index_axis(xs, axes[0]))),
    row("max_index_axis", &[XS, Kind::Axis], "([T], axis) => [u64]", "[[1, 2], [3, 0]].max_index_axis(1)", |c| along(c, |b, xs, axes| b.max_index_axis(xs, axes[0]))),
    row("any_axis", &[XS, Kind::Axis, F1], "([T], axis, T -> bool) => [bool]", "[[1, 2], [3, 4]].any_axis(1, _ > 3)", |c| tested_along(c, Builder::any_axes)),
    row("all_axis", &[XS, Kind::Axis, F1], "([T], axis, T -> bool) => [bool]", "[[1, 2], [3, 4]].all_axis(1, _ > 2)", |c| tested_along(c, Builder::all_axes)),
    row("count_axis", &[XS, Kind::Axis, F1], "([T], axis, T -> bool) => [u64]", "[[1, 2], [3, 4]].count_axis(0, _ > 1)", |c| tested_along(c, Builder::count_axes)),
    row("scan_axis", &[XS, Kind::Axis, Kind::Number, F2], "([T], axis, T, (T, T) -> T) => [T]", "[[1, 2], [3, 4]].scan_axis(1, 0, |a, b| a + b)", |c| {
        scan_along(c, |b, xs, axis, fold| b.scan_axis(xs, axis, fold, ScanKind::Inclusive))
    }).with(Elements::Signed),
    row("scan_exclusive_axis", &[XS, Kind::Axis, Kind::Number, F2], "([T], axis, T, (T, T) -> T) => [T]", "[[1, 2], [3, 4]].scan_exclusive_axis(1, 0, |a, b| a + b)", |c| {
        scan_along(c, |b, xs, axis, fold| b.scan_axis(xs, axis, fold, ScanKind::Exclusive))
    }).with(Elements::Signed),
    row("scan_right_axis", &[XS, Kind::Axis, Kind::Number, F2], "([T], axis, T, (T, T) -> T) => [T]", "[[1, 2], [3, 4]].scan_right_axis(1, 0, |a, b| a + b)", |c| {
        scan_along(c, |b, xs, axis, fold| b.scan_right_axis(xs, axis, fold, ScanKind::Inclusive))
    }).with(Elements::Signed),
    row("scan1_axis", &[XS, Kind::Axis, F2], "([T], axis, (T, T) -> T) => [T]", "[[1, 2], [3, 4]].scan1_axis(1, |a, b| a.max(b))", |c| {
        let (xs, axis) = (c.array(0)?, c.axis(1)?);
        let (step, elt) = c.function(2, &[&xs.elt, &xs.elt], Some(&xs.elt))?;
        c.give(c.builder.scan1_axis(&xs.node, axis, step), elt)
    }).with(Elements::Signed),
    row("cumsum_axis", &[XS, Kind::Axis], "([T], axis) => [T]", "[[1, 2], [3, 4]].cumsum_axis(0)", |c| along(c, |b, xs, axes| b.cumsum_axis(xs, axes[0]))).with(Elements::Numbers),
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
    row("concat_axis", &[Kind::Axis, XS, XS], "(axis, [T], [T], …) => [T]", "concat_axis(1, [[1], [2]], [[3], [4]])", |c| joined(c, Builder::concat_axis)).with(Elements::Alike).repeated(),
    row("stack", &[Kind::Axis, XS, XS], "(axis, [T], [T], …) => [[T]]", "stack(0, [1, 2], [3, 4])", |c| joined(c, Builder::stack)).with(Elements::Alike).repeated(),
    row("outer", &[XS, XS, F2], "([T], [U], (T, U) -> V) => [[V]]", "[1, 2].outer([10, 20, 30], |x, y| x * y)", |c| {
        let (xs, ys) = (c.array(0)?, c.array(1)?);
        let (f, elt) = c.function(2, &[&xs.elt, &ys.elt], None)?;
        c.give(c.builder.outer(&xs.node, &ys.node, &f), elt)
    }),
    row("dot", &[XS, XS], "([T], [T]) => T", "[1, 2, 3].dot([4, 5, 6])", |c| {
        let (xs, ys) = (c.numbers(0)?, c.numbers(1)?);
        c.same(1, &ys.elt, &xs.elt)?;
        c.give(c.builder.dot(&xs.node, &ys.node), xs.elt)
    }).with(Elements::Alike),
    row("matmul", &[XS, XS], "([[T]], [[T]]) => [[T]]", "[[1, 2], [3, 4]].matmul([[1, 1], [0, 1]])", |c| {
        let (xs, ys) = (c.numbers(0)?, c.numbers(1)?);
        c.same(1, &ys.elt, &xs.elt)?;
        c.give(c.builder.dot(&xs.node, &ys.node), xs.elt)
    }).with(Elements::Alike),
    row("backpermute", &[XS, Kind::Shape, F1], "([T], shape, index -> index) => [T]", "[[1, 2], [3, 4]].backpermute(2, |i| (i, i))", backpermute),
    row("stencil2", &[XS, Kind::Boundary, F1], "([[T]], boundary, [[T; k]; l] -> U) => [[U]]", "[[1, 2], [3, 4]].stencil2(Boundary::Clamp, |[[a, _], [_, d]]| a + d)", |c| stencil(c, 2)),
    row("stencil1", &[XS, Kind::Boundary, F1], "([T], boundary, [T; k] -> U) => [U]", "[1, 2, 6].stencil1(Boundary::Wrap, |[a, b, c]| c - a)", |c| stencil(c, 1)),
    row("stencil3", &[XS, Kind::Boundary, F1], "([[[T]]], boundary, [[[T; k]; l]; m] -> U) => [[[U]]]", "replicate((2, 2, 2), 1).stencil3(Boundary::Constant(0), |[[[a, b]]]| a + b)", |c| stencil(c, 3)),
    row("broadcast", &[XS, Kind::Shape], "([T], shape) => [T]", "[1, 2, 3].broadcast((2, 3))", |c| {
        let xs = c.array(0)?;
        let rank = xs.node.rank as usize;
        let axes = c.shape(1)?;
        let Some(new) = axes.len().checked_sub(rank) else {
            return c.eval.refuse(format!("expected a shape of {rank} axes or more"), c.at(1));
        };
        let shape = Shape::new(axes);
        // Axes of its own are the last ones.
        let node = c.builder.backpermute(&xs.node, &shape, |i| i[new..].iter().copied().collect());
        c.give(node, xs.elt)
    }),
    row("meshgrid", &[XS, XS], "([T], [U]) => ([[T]], [[U]])", "meshgrid([1, 2, 3], [10, 20])", |c| {
        let (xs, ys) = (c.array(0)?, c.array(1)?);
        let (x, y) = c.builder.meshgrid(&xs.node, &ys.node);
        Ok(Value::Tuple(vec![c.give(x, xs.elt)?, c.give(y, ys.elt)?]))
    }),
];

/// A combinator along an axis.
fn along(
    c: &mut Call<'_, '_>,
    make: fn(Builder, &Arc<Node>, &[usize]) -> Arc<Node>,
) -> Result<Value> {
    let (xs, axis) = (c.numbers(0)?, c.axis(1)?);
    c.give_like(make(c.builder, &xs.node, &[axis]), xs.elt)
}

fn tested_along(
    c: &mut Call<'_, '_>,
    make: fn(Builder, &Arc<Node>, &[usize], Body) -> Arc<Node>,
) -> Result<Value> {
    let (xs, axis) = (c.array(0)?, c.axis(1)?);
    let test = c.test(2, &[&xs.elt])?;
    c.give_like(make(c.builder, &xs.node, &[axis], test), xs.elt)
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
    let all: Vec<usize> = c.from(1).collect();
    c.agree(&all)?;
    let first = c.array(1)?;
    let mut nodes = vec![first.node];
    for k in c.from(2) {
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
    let index = index_of(shape.rank());
    let (node, _) = c.eval.on_scalars(|eval, wrong| {
        builder.backpermute(&xs.node, &shape, |i| {
            eval.on_fields(wrong, &f, i, &index, at)
        })
    })?;
    c.give(node, xs.elt)
}

fn stencil(c: &mut Call<'_, '_>, rank: usize) -> Result<Value> {
    let xs = c.array(0)?;
    let sizes = c.window(2, rank)?;
    let boundary = c.boundary(1, &xs.elt)?;
    let along = vec![Some(boundary); rank];
    let border = Border {
        along,
        outside: None,
    };
    let (f, at, builder) = (c.value(2).clone(), c.at(2), c.builder);
    let (node, elt) = c.eval.on_scalars(|eval, wrong| {
        builder.stencil(&xs.node, &sizes, &border, |w| {
            eval.on_window(wrong, &f, w, &sizes, &xs.elt, at)
        })
    })?;
    c.give(node, elt)
}
