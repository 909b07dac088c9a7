//! Small combinators in untyped form.
//!
//! The sources are `livefusion/src/array/{flat_map,histogram,adjacent,windows}.rs` and
//! `segmented/{pairs,cut,within}.rs`.

use crate::{call, error, mistake, place, same};
use livefusion::ErrorKind;
use livefusion::array::Amount;
use livefusion::ast::{Axis, Body, Const, Field, Fields, Len, Op, Ty, trace};
use livefusion::prelude::*;
use livefusion::segmented::Segments;

const NUMBERS: &str = "elements of one number each";

fn number(x: f64) -> Body {
    trace(&[], |_| {
        Fields::from_slice(&[Field::literal(Const::f64(x))])
    })
}

/// A binary operator on one type.
fn operator(op: Op, ty: Ty) -> Body {
    trace(&[ty, ty], |p| {
        Fields::from_slice(&[Field::op(op, p, place())])
    })
}

#[track_caller]
fn same_segments<T: Elt>(untyped: &Segments, typed: &Segmented<T>) {
    same(&untyped.lengths, typed.lengths().node());
    same(&untyped.data, typed.data().node());
}

#[test]
fn arrays() {
    let (xs, ys) = (
        Array::from(vec![2u64, 0, 3]),
        Array::from(vec![0.5f64, 1.5]),
    );
    let itself = || trace(&[Ty::U64], Fields::from_slice);
    let sum = operator(Op::Add, Ty::U64);
    let many = call("flat_map").flat_map(xs.node(), itself(), &sum);
    same(&many, xs.flat_map(|x| x, |x, i| x + i).node());
    let (x, y) = (xs.node(), ys.node());
    same(
        &call("combinations").combinations(x),
        xs.combinations().node(),
    );
    same(&call("cartesian").cartesian(x, y), xs.cartesian(&ys).node());
    let (wide, high) = call("meshgrid").meshgrid(x, y);
    let grid = xs.meshgrid(&ys);
    same(&wide, grid.0.node());
    same(&high, grid.1.node());
    same(&call("diff").diff(x), xs.diff().node());
    same(&call("cumprod").cumprod(x), xs.cumprod().node());
    same(&call("cummax").cummax(x), xs.cummax().node());
    same(&call("cummin").cummin(x), xs.cummin().node());
    let start = trace(&[], |_| {
        Fields::from_slice(&[Field::literal(Const::u64(7))])
    });
    let more = call("scan_with_start").scan_with_start(x, start, operator(Op::Add, Ty::U64));
    same(&more, xs.scan_with_start(7, |a, b| a + b).node());
    same(
        &call("bincount").bincount(x, Len::Known(4)),
        xs.bincount(4).node(),
    );
    let edges = Array::from(vec![0.0, 1.0, 1.5]);
    same(
        &call("histogram").histogram(y, edges.node()),
        ys.histogram(&edges).node(),
    );
    let even =
        call("histogram_uniform").histogram_uniform(y, &number(0.0), &number(2.0), Axis::from(4));
    same(&even, ys.histogram_uniform(0.0, 2.0, 4).node());
    let line = call("linspace").linspace(Axis::from(5), &number(0.0), &number(2.0));
    same(&line, linspace(0.0, 2.0, 5).node());
    let windows = call("sliding_windows").sliding_windows(x, Axis::from(2), Axis::from(1));
    same(&windows, xs.sliding_windows(2, 1).node());
}

#[test]
fn segments() {
    let rows = Segmented::from_vecs(vec![vec![2u64, 0, 1], vec![], vec![3]]);
    let of = rows.nodes();
    let itself = trace(&[Ty::U64], Fields::from_slice);
    let many = of.flat_map(call("flat_map"), itself, &operator(Op::Add, Ty::U64));
    same_segments(&many, &rows.flat_map(|x| x, |x, i| x + i));
    same_segments(&of.combinations(call("combinations")), &rows.combinations());
    same_segments(
        &of.cartesian(call("cartesian"), &of),
        &rows.cartesian(&rows),
    );
    same_segments(&of.take(call("take"), Amount::Known(2)), &rows.take(2));
    same_segments(&of.reverse(call("reverse")), &rows.reverse());
    let at = Segmented::from_vecs(vec![vec![2u8, 2], vec![], vec![0]]);
    same_segments(&of.gather(call("gather"), &at.nodes()), &rows.gather(&at));
    let cut = call("chunks").chunks(&of.data, Axis::from(3));
    same_segments(&cut, &rows.data().chunks(3));
    let flags = Array::from(vec![false, true, false, true]);
    let cut = call("from_flags").from_flags(flags.node(), &of.data);
    same_segments(&cut, &Segmented::from_flags(&flags, rows.data()));
}

#[test]
fn mistakes() {
    let (xs, pairs) = (
        Array::from(vec![2u64, 0]),
        Array::from(vec![(1i64, 2.0f64)]),
    );
    let (x, p) = (xs.node(), pairs.node());
    mistake(&call("diff").diff(p), "diff", NUMBERS, "(i64, f64)");
    mistake(
        &call("cumprod").cumprod(p),
        "cumprod",
        NUMBERS,
        "(i64, f64)",
    );
    mistake(
        &call("histogram").histogram(p, x),
        "histogram",
        NUMBERS,
        "(i64, f64)",
    );
    let wanted = "edges of the elements' type";
    mistake(
        &call("histogram").histogram(x, p),
        "histogram",
        wanted,
        "(i64, f64)",
    );
    let even = call("even").histogram_uniform(x, &number(0.0), &number(1.0), Axis::from(2));
    mistake(&even, "even", "elements of one float each", "u64");
    let line = call("linspace").linspace(Axis::from(2), &number(0.0), &operator(Op::Add, Ty::F64));
    mistake(&line, "linspace", "a float from ()", "one from (f64, f64)");
    let cut = call("from_flags").from_flags(x, x);
    mistake(&cut.lengths, "from_flags", "flags of type bool", "u64");
    let rows = Segmented::new(&Array::from(vec![1u64, 1]), &xs);
    let read = rows.nodes().gather(
        call("gather"),
        &rows.with_data(rows.data().map(|_| 0.5f64)).nodes(),
    );
    mistake(&read.data, "gather", "indices of an integer type", "f64");
    let no_count = trace(&[Ty::U64], |x| {
        Fields::from_slice(&[x[0].cast(Ty::F64, place())])
    });
    let none = call("flat_map").flat_map(x, no_count, &operator(Op::Add, Ty::U64));
    assert!(matches!(error(&none).kind, ErrorKind::Malformed { .. }));
    let many = call("flat_map").flat_map(x, trace(&[Ty::U64], Fields::from_slice), &number(1.0));
    assert!(matches!(error(&many).kind, ErrorKind::Malformed { .. }));
    let far = rows.gather(&Segmented::from_vecs(vec![vec![0u8], vec![1]]));
    assert!(matches!(
        error(far.data().node()).kind,
        ErrorKind::OutOfRange { .. }
    ));
}
