//! Untyped forms of `livefusion/src/ranked`.

mod anything;
mod elements;
mod folds;
mod parts;
mod stencils;

use crate::{call, error, mistake, place, same};
use livefusion::ErrorKind;
use livefusion::ast::{
    Axis, Body, Builder, Const, Field, Fields, Fold, Node, Op, ScanKind, Shape, Ty, trace,
};
use livefusion::over::Domain;
use livefusion::prelude::*;
use livefusion::ranked::{Amount, Border, Item};
use std::sync::Arc;

/// A body of one result.
fn body(params: &[Ty], f: impl FnOnce(&[Field]) -> Field) -> Body {
    trace(params, |p| Fields::from_iter([f(p)]))
}

fn op(op: Op, args: &[Field]) -> Field {
    Field::op(op, args, place())
}

/// A binary operator on one type.
fn operator(o: Op, ty: Ty) -> Body {
    body(&[ty, ty], |p| op(o, p))
}

fn value(n: i64) -> Body {
    body(&[], |_| int(n))
}

fn int(n: i64) -> Field {
    Field::literal(Const::int(Ty::I64, n))
}

fn number(n: u64) -> Field {
    Field::literal(Const::u64(n))
}

fn shape(lengths: &[u64]) -> Shape {
    Shape::new(lengths.iter().map(|n| Axis::from(*n)))
}

/// `a - 2 b`, which is neither associative nor commutative.
fn mixed() -> Body {
    body(&[Ty::I64, Ty::I64], |p| {
        let twice = op(Op::Mul, &[p[1], int(2)]);
        op(Op::Sub, &[p[0], twice])
    })
}

fn sum() -> Fold {
    Fold::associative(value(0), operator(Op::Add, Ty::I64))
}

fn matrix() -> Array<i64, Ix2> {
    Array::from([[3i64, -1, 4], [1, -5, 9]])
}

fn cube() -> Array<i64, Ix3> {
    generate((2, 3, 4), |(i, j, k)| 7 * i + 3 * j + 5 * k * k).map(|n| n.cast::<i64>() - 20)
}

fn pairs() -> Array<(i64, f64), Ix2> {
    matrix().map(|x| (x, x.cast::<f64>() / 2.0))
}

fn scalar() -> Arc<Node> {
    call("scalar").constant(&[Const::int(Ty::I64, 1)])
}

type Along = fn(Builder, &Arc<Node>, usize) -> Arc<Node>;

/// The combinators that take an axis.
fn of_an_axis() -> Vec<(&'static str, Along)> {
    vec![
        ("reverse", |b, x, k| b.reverse_along(x, k)),
        ("roll", |b, x, k| b.roll(x, k, 1)),
        ("swap_axes", |b, x, k| b.swap_axes(x, 0, k)),
        ("split", |b, x, k| b.split(x, k, &Amount::Known(1)).1),
        ("slice", |b, x, k| b.slice_along(x, k, Item::ALL)),
        ("at", |b, x, k| b.slice_along(x, k, Item::One(0.into()))),
        ("sum", |b, x, k| b.sum(Domain::Along(x, &[k]))),
        ("product", |b, x, k| b.product(Domain::Along(x, &[k]))),
        ("min", |b, x, k| b.min(Domain::Along(x, &[k]))),
        ("max", |b, x, k| b.max(Domain::Along(x, &[k]))),
        ("mean", |b, x, k| b.mean(Domain::Along(x, &[k]))),
        ("var", |b, x, k| b.var(Domain::Along(x, &[k]))),
        ("std", |b, x, k| b.std(Domain::Along(x, &[k]))),
        ("min_index", |b, x, k| b.min_index(Domain::Along(x, &[k]))),
        ("max_index", |b, x, k| b.max_index(Domain::Along(x, &[k]))),
        ("cumsum", |b, x, k| b.cumsum(Domain::Along(x, &[k]))),
        ("any", |b, x, k| b.any(Domain::Along(x, &[k]), positive())),
        ("all", |b, x, k| b.all(Domain::Along(x, &[k]), positive())),
        ("count", |b, x, k| {
            b.count(Domain::Along(x, &[k]), positive())
        }),
        ("fold", |b, x, k| b.fold(Domain::Along(x, &[k]), sum())),
        ("scan", |b, x, k| {
            b.scan(Domain::Along(x, &[k]), sum(), ScanKind::Inclusive)
        }),
        ("scan1", |b, x, k| {
            b.scan1(Domain::Along(x, &[k]), operator(Op::Add, Ty::I64))
        }),
        ("scan_right", |b, x, k| {
            b.scan_right(Domain::Along(x, &[k]), sum(), ScanKind::Inclusive)
        }),
        ("scan1_right", |b, x, k| {
            b.scan1_right(Domain::Along(x, &[k]), operator(Op::Add, Ty::I64))
        }),
        ("map", |b, x, k| {
            let mut all = b.map_along(x, &[k], |row| vec![row.clone()]);
            all.remove(0)
        }),
        ("select", |b, x, k| {
            let first = b.replicate(&shape(&[1]), body(&[], |_| number(0)));
            b.select(x, k, &first)
        }),
        ("concatenate", |b, x, k| {
            b.concatenate(k, std::slice::from_ref(x))
        }),
    ]
}

fn positive() -> Body {
    body(&[Ty::I64], |x| op(Op::Gt, &[x[0], int(0)]))
}

#[test]
fn axes_that_are_not_there() {
    let m = matrix();
    for (name, make) in of_an_axis() {
        let expected = "an axis of an array of rank 2";
        mistake(&make(call(name), m.node(), 2), name, expected, "axis 2");
        let one = make(call(name), &scalar(), 0);
        let why = error(&one);
        assert_eq!(
            (why.combinator, why.location),
            (name, Some(place())),
            "{why}"
        );
        assert!(why.to_string().contains("expected"), "{why}");
        // The error of an array is unchanged.
        let wrong = call("wrong").reverse_along(m.node(), 9);
        assert_eq!(error(&make(call(name), &wrong, 0)).combinator, "wrong");
    }
}

#[test]
fn lengths_and_indices_of_others() {
    let (m, xs) = (matrix(), matrix().flatten());
    let floats = Array::from(vec![1.0f64]);
    let integers = "integers of rank 1";
    let got = "f64 of rank 1 from `manifest`";
    let parts = call("fold_seg").fold_seg(m.node(), floats.node(), sum());
    mistake(&parts, "fold_seg", integers, got);
    let vector = call("fold_seg").fold_seg(xs.node(), Array::from(vec![6u64]).node(), sum());
    let got_vector = "i64 of rank 1 from `flatten`";
    mistake(
        &vector,
        "fold_seg",
        "an array of rank 2 or more",
        got_vector,
    );
    let chosen = call("select").select(m.node(), 0, floats.node());
    mistake(&chosen, "select", integers, got);
    let chosen = call("select").select(m.node(), 0, m.node());
    assert_eq!(error(&chosen).combinator, "select");
}

#[test]
fn rows() {
    let (m, cube) = (matrix(), cube());
    for axis in 0..3 {
        let b = call("map");
        let all = b.map_along(cube.node(), &[axis], |row| {
            let total = b.sum(row);
            let turned = b.reverse_along(row, 0);
            vec![total, turned]
        });
        let (totals, turned) = cube.along(axis).map(|row| (row.sum(), row.reverse()));
        same(&all[0], totals.node());
        same(&all[1], turned.node());
    }
    let all = call("map_rows").map_rows(m.node(), |row| vec![call("max").max(row)]);
    same(&all[0], m.map_rows(|row| row.max()).node());
    let xs = m.flatten();
    let all = call("map_rows").map_rows(xs.node(), |row| vec![call("max").max(row), row.clone()]);
    same(&all[0], xs.max().node());
    same(&all[1], xs.node());
    let kept =
        call("map_rows").map_rows(m.node(), |row| vec![call("filter").filter(row, positive())]);
    let got = "rows whose lengths vary, from `filter`; of those `.to_segmented().map_segments(..)` makes \
               segments, and of the first k of all rows `.gather(&iota(k))` a row";
    mistake(
        &kept[0],
        "map_rows",
        "rows that are known to be of one length",
        got,
    );
    let more = call("map_rows").map_rows(m.node(), |_| vec![m.node().clone()]);
    same(&more[0], m.map_rows(|_| m.clone()).node());
    assert!(
        call("map_rows")
            .map_rows(m.node(), |_| Vec::new())
            .is_empty()
    );
}

#[test]
fn products() {
    let (m, xs) = (
        matrix().map(|x| x.cast::<f64>()),
        Array::from(vec![1.0f64, 2.0, 4.0]),
    );
    let turned = m.transpose();
    let dot = |a: &Arc<Node>, b: &Arc<Node>| call("dot").dot(a, b);
    same(&dot(m.node(), turned.node()), m.dot(&turned).node());
    same(
        &call("matmul").dot(m.node(), turned.node()),
        m.matmul(&turned).node(),
    );
    same(&dot(m.node(), xs.node()), m.dot(&xs).node());
    same(&dot(xs.node(), turned.node()), xs.dot(&turned).node());
    same(&dot(xs.node(), xs.node()), xs.dot(&xs).node());
    let flags = Array::from(vec![true, false]);
    let less = body(&[Ty::F64, Ty::Bool], |p| {
        let one = op(Op::Gt, &[p[0], Field::literal(Const::f64(1.5))]);
        op(Op::And, &[one, p[1]])
    });
    let outer = call("outer").outer(xs.node(), flags.node(), &less);
    same(
        &outer,
        xs.outer(&flags, |x, flag| x.gt(1.5).and(flag)).node(),
    );
    let numbers = "elements of one number each";
    mistake(&dot(flags.node(), flags.node()), "dot", numbers, "bool");
    mistake(
        &dot(m.node(), matrix().node()),
        "dot",
        "elements of type f64",
        "i64",
    );
    let cube = cube();
    let got = "i64 of rank 3 from `map`";
    mistake(
        &dot(cube.node(), matrix().node()),
        "dot",
        "a vector or a matrix",
        got,
    );
    assert!(matches!(
        error(&dot(m.node(), m.node())).kind,
        ErrorKind::ShapeMismatch { .. }
    ));
    let wrong = call("outer").outer(xs.node(), xs.node(), &less);
    mistake(
        &wrong,
        "outer",
        "a function from (f64, f64)",
        "one from (f64, bool)",
    );
    let wrong = call("outer").outer(matrix().node(), flags.node(), &less);
    mistake(
        &wrong,
        "outer",
        "an array of rank 1",
        "i64 of rank 2 from `manifest`",
    );
}
