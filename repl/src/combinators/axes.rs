//! Combinators on arrays of rank 2 and more.

use super::{Combinator, Elements, F1, F2, Kind, XS, index_of, row};
use crate::eval::{Call, Result};
use crate::value::{Along, Value};
use livefusion::ast::{Axis, Builder, Node, Shape};
use livefusion::ranked::Border;
use std::sync::Arc;

const ALONG: Kind = Kind::Along;

/// Lists the combinators.
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
    row("along", &[XS, Kind::Shape], "([T], axis or axes) => [T] along axes", "[[1, 2], [3, 4]].along(0).sum()", |c| {
        let (array, axes) = (c.array(0)?, c.axes(1)?);
        Ok(Value::Along(Along { array, axes }))
    }),
    row("reverse", &[ALONG], "[T] along axis => [T]", "[[1, 2], [3, 4]].along(1).reverse()", |c| {
        let (xs, axis) = c.along(0)?;
        c.give(c.builder.reverse_along(&xs.node, axis), xs.elt)
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
    row("select", &[XS, Kind::Axis, XS], "([T], axis, [index]) => [T]", "[[1, 2], [3, 4]].select(0, [1, 1, 0])", |c| {
        let (xs, axis, at) = (c.array(0)?, c.axis(1)?, c.indices(2)?);
        c.give(c.builder.select(&xs.node, axis, &at), xs.elt)
    }),
    row("slice", &[ALONG, Kind::Any], "([T] along axis, range) => [T]", "[[1, 2, 3], [4, 5, 6]].along(1).slice(1..)", |c| {
        let ((xs, axis), item) = (c.along(0)?, c.item(1)?);
        c.give(c.builder.slice_along(&xs.node, axis, item), xs.elt)
    }),
    row("at", &[ALONG, Kind::Count], "([T] along axis, index) => [T]", "[[1, 2, 3], [4, 5, 6]].along(1).at(-1)", |c| {
        let ((xs, axis), item) = (c.along(0)?, c.item(1)?);
        c.give(c.builder.slice_along(&xs.node, axis, item), xs.elt)
    }),
    row("concatenate", &[Kind::Axis, XS, XS], "(axis, [T], [T], …) => [T]", "concatenate(1, [[1], [2]], [[3], [4]])", |c| joined(c, Builder::concatenate)).with(Elements::Alike).repeated(),
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
        // The source axes are the last ones of the result index.
        let node = c.builder.backpermute(&xs.node, &shape, |i| i[new..].iter().copied().collect());
        c.give(node, xs.elt)
    }),
    row("meshgrid", &[XS, XS], "([T], [U]) => ([[T]], [[U]])", "meshgrid([1, 2, 3], [10, 20])", |c| {
        let (xs, ys) = (c.array(0)?, c.array(1)?);
        let (x, y) = c.builder.meshgrid(&xs.node, &ys.node);
        Ok(Value::Tuple(vec![c.give(x, xs.elt)?, c.give(y, ys.elt)?]))
    }),
];

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
    // One axis may be given as the pair itself.
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
