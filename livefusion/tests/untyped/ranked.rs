//! `livefusion/src/ranked`.

use crate::{call, error, mistake, place, same};
use livefusion::ErrorKind;
use livefusion::ast::{
    Axis, Body, Builder, Const, Field, Fields, Fold, Node, Op, ScanKind, Shape, Ty, trace,
};
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

/// An operator of two numbers of a type.
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

/// The combinators that take an axis, of it.
fn of_an_axis() -> Vec<(&'static str, Along)> {
    vec![
        ("reverse_axis", |b, x, k| b.reverse_axis(x, k)),
        ("roll", |b, x, k| b.roll(x, k, 1)),
        ("swap_axes", |b, x, k| b.swap_axes(x, 0, k)),
        ("split", |b, x, k| b.split(x, k, &Amount::Known(1)).1),
        ("slice_axis", |b, x, k| b.slice_axis(x, k, Item::ALL)),
        ("index_axis", |b, x, k| {
            b.slice_axis(x, k, Item::One(0.into()))
        }),
        ("sum_axis", |b, x, k| b.sum_axes(x, &[k])),
        ("product_axis", |b, x, k| b.product_axes(x, &[k])),
        ("min_axis", |b, x, k| b.min_axes(x, &[k])),
        ("max_axis", |b, x, k| b.max_axes(x, &[k])),
        ("mean_axis", |b, x, k| b.mean_axes(x, &[k])),
        ("var_axis", |b, x, k| b.var_axes(x, &[k])),
        ("min_index_axis", |b, x, k| b.min_index_axis(x, k)),
        ("max_index_axis", |b, x, k| b.max_index_axis(x, k)),
        ("cumsum_axis", |b, x, k| b.cumsum_axis(x, k)),
        ("any_axis", |b, x, k| b.any_axes(x, &[k], positive())),
        ("all_axis", |b, x, k| b.all_axes(x, &[k], positive())),
        ("count_axis", |b, x, k| b.count_axes(x, &[k], positive())),
        ("fold_axis", |b, x, k| b.fold_axes(x, &[k], sum())),
        ("scan_axis", |b, x, k| {
            b.scan_axis(x, k, sum(), ScanKind::Inclusive)
        }),
        ("scan1_axis", |b, x, k| {
            b.scan1_axis(x, k, operator(Op::Add, Ty::I64))
        }),
        ("scan_right_axis", |b, x, k| {
            b.scan_right_axis(x, k, sum(), ScanKind::Inclusive)
        }),
        ("scan1_right_axis", |b, x, k| {
            b.scan1_right_axis(x, k, operator(Op::Add, Ty::I64))
        }),
        ("map_axis", |b, x, k| {
            let mut all = b.map_axis(x, k, |row| vec![row.clone()]);
            all.remove(0)
        }),
        ("select", |b, x, k| {
            let first = b.replicate(&shape(&[1]), body(&[], |_| number(0)));
            b.select(x, k, &first)
        }),
        ("concat_axis", |b, x, k| {
            b.concat_axis(k, std::slice::from_ref(x))
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
        // A mistake of an array stays the one that it is.
        let wrong = call("wrong").reverse_axis(m.node(), 9);
        assert_eq!(error(&make(call(name), &wrong, 0)).combinator, "wrong");
    }
}

#[test]
fn elements_as_functions_of_their_index() {
    let (three, late) = (Array::from(vec![1i64, 2, 3]), matrix().flatten());
    let n = late.filter(|x| x.gt(0)).len();
    let late = Shape::new([Axis::delayed(n.node().clone()), Axis::from(2)]);
    let digits = |index: &[Field]| -> Fields {
        let ten = |all: Field, i: &Field| op(Op::Add, &[op(Op::Mul, &[all, number(10)]), *i]);
        Fields::from_iter([index.iter().fold(number(0), ten)])
    };
    let table = call("generate").generate_in(&late, digits);
    same(&table, generate((&n, 2), |(i, j)| (i * 10) + j).node());
    let one = call("generate").generate_in(&shape(&[4]), digits);
    same(&one, generate(4, |i| i + 0u64).node());
    let twos = call("replicate").replicate(&shape(&[2, 3]), value(2));
    same(&twos, replicate((2, 3), 2i64).node());
    let of_total = body(&[], |_| Field::value(three.sum().node(), place())[0]);
    let totals = call("replicate").replicate(&shape(&[2]), of_total);
    same(&totals, replicate(2, three.sum()).node());
    let cube = cube();
    let flat = call("flatten").flatten(cube.node());
    same(&flat, cube.flatten().node());
    let other = call("reshape").reshape(cube.node(), Some(shape(&[4, 6])));
    same(&other, cube.reshape((4, 6)).node());
    let other = call("reshape").reshape(cube.node(), Some(shape(&[24])));
    same(&other, cube.reshape(24).node());
}

#[test]
fn shapes_that_are_none() {
    let (m, float) = (matrix(), call("f").constant(&[Const::f64(2.0)]));
    let expected = "a shape for the elements of 6 elements";
    let wrong = call("reshape").reshape(m.node(), Some(shape(&[2, 2])));
    mistake(&wrong, "reshape", expected, "(2, 2)");
    let wrong = call("reshape").reshape(m.node(), Some(shape(&[5])));
    let kind = error(&wrong).kind;
    let (expected, got) = (6, 5);
    assert_eq!(kind, ErrorKind::LengthMismatch { expected, got });
    let none = call("reshape").reshape(m.node(), Some(shape(&[])));
    mistake(&none, "reshape", "a shape of one axis or more", "0 axes");
    let many = call("reshape").reshape(m.node(), Some(shape(&[1; 300])));
    assert_eq!(error(&many).combinator, "reshape");
    for axes in [
        vec![float.clone()],
        vec![float.clone(); 2],
        vec![m.node().clone(); 2],
    ] {
        let wrong = Shape::new(axes.into_iter().map(Axis::delayed));
        let of_index = |index: &[Field]| -> Fields { index.iter().copied().collect() };
        for node in [
            call("generate").generate_in(&wrong, of_index),
            call("generate").replicate(&wrong, value(1)),
            call("generate").reshape(m.node(), Some(wrong.clone())),
            call("generate").backpermute(m.node(), &wrong, |i| [i[0], i[0]].into_iter().collect()),
        ] {
            assert_eq!(error(&node).location, Some(place()));
        }
    }
    let wrong = call("replicate").replicate(&shape(&[2]), positive());
    mistake(&wrong, "replicate", "a function from ()", "one from i64");
}

#[test]
fn elements_elsewhere() {
    let (m, cube, pairs) = (matrix(), cube(), pairs());
    same(
        &call("transpose").transpose(cube.node()),
        cube.transpose().node(),
    );
    same(
        &call("transpose").transpose(pairs.node()),
        pairs.transpose().node(),
    );
    let order = call("permute_axes").permute_axes(cube.node(), &[2, 0, 1]);
    same(&order, cube.permute_axes([2, 0, 1]).node());
    same(
        &call("swap_axes").swap_axes(cube.node(), 0, 2),
        cube.swap_axes(0, 2).node(),
    );
    for axis in 0..3 {
        let reversed = call("reverse_axis").reverse_axis(cube.node(), axis);
        same(&reversed, cube.reverse_axis(axis).node());
        for by in [-3, 0, 1, 9, i64::MIN] {
            let rolled = call("roll").roll(cube.node(), axis, by);
            same(&rolled, cube.roll(axis, by).node());
        }
    }
    let by = |n: u64| (Axis::from(n), Axis::from(n + 1));
    let padded = call("pad").pad(m.node(), &[by(1), by(0)], &value(7));
    same(&padded, m.pad([(1, 2), (0, 1)], 7).node());
    same(&call("diag").diag(m.node()), m.diag().node());
    let lower = call("triangle_lower").triangle_lower(m.node(), 1, &value(7));
    same(&lower, m.triangle_lower(1, 7).node());
    let upper = call("triangle_upper").triangle_upper(m.node(), -1, &value(7));
    same(&upper, m.triangle_upper(-1, 7).node());
    let numbered = call("enumerate").enumerate(pairs.node());
    same(&numbered, pairs.enumerate().node());
}

#[test]
fn elements_elsewhere_that_are_not_there() {
    let (m, cube) = (matrix(), cube());
    let order = |order: &[usize]| call("permute_axes").permute_axes(m.node(), order);
    mistake(&order(&[0]), "permute_axes", "each of 2 axes once", "[0]");
    mistake(
        &order(&[1, 1]),
        "permute_axes",
        "axes that differ",
        "[1, 1]",
    );
    let pad = |by: &[(Axis, Axis)], fill: &Body| call("pad").pad(m.node(), by, fill);
    let one = (Axis::from(1), Axis::from(1));
    let expected = "a pair for each of 2 axes";
    mistake(
        &pad(std::slice::from_ref(&one), &value(0)),
        "pad",
        expected,
        "another number of pairs",
    );
    let float = body(&[], |_| Field::literal(Const::f64(0.0)));
    mistake(
        &pad(&[one.clone(), one], &float),
        "pad",
        "a value to i64",
        "one to f64",
    );
    let far = (Axis::from(u64::MAX), Axis::from(1));
    assert_eq!(
        error(&pad(&[far.clone(), far], &value(0))).combinator,
        "pad"
    );
    let got = "i64 of rank 3 from `map`";
    mistake(&call("diag").diag(cube.node()), "diag", "a matrix", got);
    let lower = call("triangle_lower").triangle_lower(cube.node(), 0, &value(0));
    mistake(&lower, "triangle_lower", "a matrix", got);
    let upper = call("triangle_upper").triangle_upper(m.node(), 0, &float);
    mistake(&upper, "triangle_upper", "a value to i64", "one to f64");
}

fn part(start: i64, end: Option<i64>, step: u64) -> Item {
    Item::Part((start.into(), end.map(Amount::from)), step)
}

#[test]
#[allow(clippy::reversed_empty_ranges)]
fn parts() {
    let (m, cube) = (matrix(), cube());
    let xs = cube.flatten();
    let slice = |items: &[Item]| call("slice").slice(cube.node(), items);
    let at = |n: i64| Item::One(n.into());
    same(
        &slice(&[at(1), at(-1), at(0)]),
        cube.slice((1, -1, 0)).node(),
    );
    same(
        &slice(&[Item::ALL, part(-2, None, 1), part(0, Some(-1), 2)]),
        cube.slice((.., -2.., (..-1).step(2))).node(),
    );
    same(
        &slice(&[at(0), Item::New, part(1, Some(2), 1), Item::ALL]),
        cube.slice((0, NewAxis, 1..2, ..)).node(),
    );
    let one = call("slice").slice(xs.node(), &[part(2, Some(-1), 3)]);
    same(&one, xs.slice((2..-1).step(3)).node());
    let late = xs.filter(|x| x.gt(0)).slice(1..);
    let filtered = xs.filter(|x| x.gt(0));
    let one = call("slice").slice(filtered.node(), &[part(1, None, 1)]);
    same(&one, late.node());
    let n = filtered.len();
    let at_n = Item::One(Amount::Delayed(n.node().clone()));
    let all = call("broadcast").broadcast(m.node(), &[Item::ALL, at_n.clone(), Item::ALL]);
    same(&all, m.broadcast((.., &n, ..)).node());
    let after = call("slice").slice(
        xs.node(),
        &[Item::Part((Amount::Delayed(n.node().clone()), None), 1)],
    );
    same(&after, xs.slice(&n..).node());
    for axis in 0..3 {
        let along = call("slice_axis").slice_axis(cube.node(), axis, part(1, Some(-1), 1));
        same(&along, cube.slice_axis(axis, 1..-1).node());
        let along = call("index_axis").slice_axis(cube.node(), axis, at(-1));
        same(&along, cube.index_axis(axis, -1).node());
        let (left, right) = call("split").split(cube.node(), axis, &Amount::from(1));
        let (first, rest) = cube.split(axis, 1);
        same(&left, first.node());
        same(&right, rest.node());
    }
    let behind = call("broadcast").broadcast(m.node(), &[Item::ALL, Item::ALL, at(2)]);
    same(&behind, m.broadcast((.., .., 2)).node());
}

#[test]
fn parts_that_are_not_there() {
    let (m, xs) = (matrix(), matrix().flatten());
    let slice = |items: &[Item]| call("slice").slice(m.node(), items);
    let at = |n: i64| Item::One(n.into());
    let expected = "an item for each of 2 axes";
    mistake(&slice(&[Item::ALL]), "slice", expected, "1");
    mistake(&slice(&[Item::ALL, Item::New]), "slice", expected, "1");
    mistake(&slice(&[Item::ALL, at(0), at(0)]), "slice", expected, "3");
    let kind = error(&slice(&[at(-3), at(0)])).kind;
    let (index, len) = (-3, 2);
    assert_eq!(kind, ErrorKind::OutOfRange { index, len });
    let kind = error(&slice(&[Item::ALL, part(1, Some(4), 1)])).kind;
    assert!(matches!(kind, ErrorKind::SliceRange { .. }));
    let none = slice(&[part(0, None, 0), Item::ALL]);
    mistake(&none, "slice", "a step of 1 or more", "0");
    let new = call("slice_axis").slice_axis(m.node(), 0, Item::New);
    mistake(&new, "slice_axis", "a range or an index", "a new axis");
    let float = call("f").constant(&[Const::f64(1.0)]);
    for node in [float, m.node().clone()] {
        let late = Amount::Delayed(node);
        let item = Item::One(late.clone());
        assert_eq!(
            error(&slice(&[Item::ALL, item.clone()])).location,
            Some(place())
        );
        let part = Item::Part((late.clone(), Some(late.clone())), 1);
        assert_eq!(
            error(&slice(&[Item::ALL, part.clone()])).location,
            Some(place())
        );
        let of_one = call("slice").slice(xs.node(), &[part]);
        assert_eq!(error(&of_one).location, Some(place()));
        let all = call("broadcast").broadcast(xs.node(), &[Item::ALL, item]);
        assert_eq!(error(&all).location, Some(place()));
        let (left, right) = call("split").split(m.node(), 0, &late);
        assert_eq!(error(&left).location, Some(place()));
        assert_eq!(error(&right).location, Some(place()));
    }
    let broadcast = |items: &[Item]| call("broadcast").broadcast(m.node(), items);
    mistake(&broadcast(&[Item::ALL, at(2)]), "broadcast", expected, "1");
    let negative = broadcast(&[Item::ALL, Item::ALL, at(-1)]);
    mistake(&negative, "broadcast", "a number of 0 or more", "-1");
    let range = broadcast(&[Item::ALL, part(1, None, 1)]);
    mistake(
        &range,
        "broadcast",
        "`..` for an axis, and lengths of new ones",
        "a range",
    );
}

#[test]
fn arrays_beside_each_other() {
    let (m, cube, pairs) = (matrix(), cube(), pairs());
    let two = |a: &Arc<Node>, b: &Arc<Node>| [a.clone(), b.clone()];
    for axis in 0..3 {
        let joined = call("concat_axis").concat_axis(axis, &two(cube.node(), cube.node()));
        same(&joined, concat_axis(axis, &[&cube, &cube]).node());
        let stacked = call("stack").stack(axis, &two(pairs.node(), pairs.node()));
        same(&stacked, stack(axis, &[&pairs, &pairs]).node());
    }
    let none = call("concat_axis").concat_axis(0, &[]);
    mistake(&none, "concat_axis", "at least one array", "none");
    let none = call("stack").stack(0, &[]);
    mistake(&none, "stack", "at least one array", "none");
    let types = call("stack").stack(0, &two(m.node(), pairs.node()));
    mistake(&types, "stack", "elements of type i64", "(i64, f64)");
    let ranks = call("concat_axis").concat_axis(0, &two(m.node(), cube.node()));
    mistake(&ranks, "concat_axis", "arrays of rank 2", "rank 3");
    let turned = m.transpose();
    let shapes = call("stack").stack(0, &two(m.node(), turned.node()));
    assert!(matches!(
        error(&shapes).kind,
        ErrorKind::ShapeMismatch { .. }
    ));
    let beyond = call("stack").stack(3, &two(m.node(), m.node()));
    mistake(&beyond, "stack", "an axis of an array of rank 2", "axis 3");
}

#[test]
fn folds_along_axes() {
    let (m, cube) = (matrix(), cube());
    for axis in 0..3 {
        let fold = |fold| call("fold").fold_axes(cube.node(), &[axis], fold);
        let max = || operator(Op::Max, Ty::I64);
        let associative = fold(Fold::associative(value(5), max()));
        same(
            &associative,
            cube.fold_axis(axis, 5, |a, b| a.max(b)).node(),
        );
        same(
            &fold(Fold::first(max())),
            cube.fold1_axis(axis, |a, b| a.max(b)).node(),
        );
        let sequential = fold(Fold::sequential(value(1), mixed()));
        same(
            &sequential,
            cube.fold_seq_axis(axis, 1, |a, b| a - b * 2).node(),
        );
        let step = body(&[Ty::U64, Ty::I64], |p| {
            let more = op(Op::Gt, &[p[1], int(0)]).cast(Ty::U64, place());
            op(Op::Add, &[p[0], more])
        });
        let none = body(&[], |_| number(0));
        let aggregate = fold(Fold::aggregate(none, step, operator(Op::Add, Ty::U64)));
        let counts =
            cube.aggregate_axis(axis, 0u64, |n, x| n + x.gt(0).cast::<u64>(), |a, b| a + b);
        same(&aggregate, counts.node());
        same(
            &call("f").sum_axes(cube.node(), &[axis]),
            cube.sum_axis(axis).node(),
        );
        same(
            &call("f").product_axes(cube.node(), &[axis]),
            cube.product_axis(axis).node(),
        );
        same(
            &call("f").min_axes(cube.node(), &[axis]),
            cube.min_axis(axis).node(),
        );
        same(
            &call("f").max_axes(cube.node(), &[axis]),
            cube.max_axis(axis).node(),
        );
        same(
            &call("f").mean_axes(cube.node(), &[axis]),
            cube.mean_axis(axis).node(),
        );
        same(
            &call("f").var_axes(cube.node(), &[axis]),
            cube.var_axis(axis).node(),
        );
        same(
            &call("f").min_index_axis(cube.node(), axis),
            cube.min_index_axis(axis).node(),
        );
        same(
            &call("f").max_index_axis(cube.node(), axis),
            cube.max_index_axis(axis).node(),
        );
        let any = call("f").any_axes(cube.node(), &[axis], positive());
        same(&any, cube.any_axis(axis, |x| x.gt(0)).node());
        let all = call("f").all_axes(cube.node(), &[axis], positive());
        same(&all, cube.all_axis(axis, |x| x.gt(0)).node());
        let count = call("f").count_axes(cube.node(), &[axis], positive());
        same(&count, cube.count_axis(axis, |x| x.gt(0)).node());
    }
    same(
        &call("f").sum_axes(cube.node(), &[2, 0]),
        cube.sum_axes([0, 2]).node(),
    );
    same(
        &call("f").var_axes(cube.node(), &[0, 1]),
        cube.var_axes([0, 1]).node(),
    );
    same(
        &call("f").min_axes(cube.node(), &[0, 1, 2]),
        cube.min().node(),
    );
    same(
        &call("f").sum_axes(cube.node(), &[0, 1, 2]),
        cube.sum().node(),
    );
    let floats = m.map(|x| x.cast::<f32>());
    same(
        &call("f").mean_axes(floats.node(), &[0]),
        floats.mean_axis(0).node(),
    );
    same(
        &call("f").product_axes(floats.node(), &[1]),
        floats.product_axis(1).node(),
    );
}

#[test]
fn folds_of_other_elements() {
    let (m, pairs) = (matrix(), pairs());
    let flags = m.map(|x| x.gt(0));
    type Reduction = fn(Builder, &Arc<Node>) -> Arc<Node>;
    let of_numbers: [Reduction; 9] = [
        |b, x| b.sum_axes(x, &[0]),
        |b, x| b.product_axes(x, &[0]),
        |b, x| b.min_axes(x, &[0]),
        |b, x| b.max_axes(x, &[0]),
        |b, x| b.mean_axes(x, &[0]),
        |b, x| b.var_axes(x, &[0]),
        |b, x| b.min_index_axis(x, 0),
        |b, x| b.max_index_axis(x, 0),
        |b, x| b.cumsum_axis(x, 0),
    ];
    for make in of_numbers {
        let numbers = "elements of one number each";
        mistake(&make(call("f"), flags.node()), "f", numbers, "bool");
        mistake(&make(call("f"), pairs.node()), "f", numbers, "(i64, f64)");
    }
    type Tested = fn(Builder, &Arc<Node>, Body) -> Arc<Node>;
    let of_tests: [Tested; 3] = [
        |b, x, t| b.any_axes(x, &[0], t),
        |b, x, t| b.all_axes(x, &[0], t),
        |b, x, t| b.count_axes(x, &[0], t),
    ];
    for make in of_tests {
        let of_pairs = make(call("f"), pairs.node(), positive());
        mistake(&of_pairs, "f", "a function from (i64, f64)", "one from i64");
        let number = make(
            call("f"),
            flags.node(),
            body(&[Ty::Bool], |x| x[0].cast(Ty::U8, place())),
        );
        mistake(&number, "f", "a test to bool", "one to u8");
    }
    let twice = call("f").sum_axes(m.node(), &[1, 1]);
    mistake(&twice, "f", "axes that differ", "[1, 1]");
    let float = body(&[], |_| Field::literal(Const::f64(0.0)));
    for axis in 0..2 {
        for fold in [
            Fold::associative(float.clone(), operator(Op::Add, Ty::I64)),
            Fold::associative(value(0), operator(Op::Add, Ty::F64)),
            Fold::associative(value(0), operator(Op::Lt, Ty::I64)),
            Fold::sequential(float.clone(), operator(Op::Add, Ty::I64)),
            Fold::first(operator(Op::Lt, Ty::I64)),
            Fold::first(positive()),
            Fold::aggregate(value(0), operator(Op::Add, Ty::I64), positive()),
            Fold::associative(Body::default(), operator(Op::Add, Ty::I64)),
        ] {
            let folded = call("f").fold_axes(m.node(), &[axis], fold.clone());
            assert_eq!(error(&folded).combinator, "f");
            let scanned = call("f").scan_axis(m.node(), axis, fold.clone(), ScanKind::Inclusive);
            assert_eq!(error(&scanned).combinator, "f");
            let scanned =
                call("f").scan_right_axis(m.node(), axis, fold.clone(), ScanKind::Inclusive);
            assert_eq!(error(&scanned).combinator, "f");
            let lengths = Array::from(vec![1u64, 2]);
            let parts = call("f").fold_seg(m.node(), lengths.node(), fold);
            assert_eq!(error(&parts).combinator, "f");
        }
        let scanned = call("f").scan1_axis(m.node(), axis, positive());
        mistake(&scanned, "f", "a step from (i64, i64)", "one from i64");
        let scanned = call("f").scan1_right_axis(m.node(), axis, positive());
        mistake(&scanned, "f", "a step from (i64, i64)", "one from i64");
    }
}

/// A start of another type than the elements is that of a sequential fold only, whatever a fold is rewritten to.
#[test]
fn starts_of_another_type() {
    let m = matrix();
    let half = || body(&[], |_| Field::literal(Const::f64(0.5)));
    let step = || {
        body(&[Ty::F64, Ty::I64], |p| {
            op(Op::Add, &[p[0], p[1].cast(Ty::F64, place())])
        })
    };
    let expected = "a starting value to i64";
    for xs in [m.clone(), m.transpose()] {
        for axis in 0..2 {
            let fold = || Fold::associative(half(), step());
            let folded = call("f").fold_axes(xs.node(), &[axis], fold());
            mistake(&folded, "f", expected, "one to f64");
            let scanned = call("f").scan_axis(xs.node(), axis, fold(), ScanKind::Inclusive);
            mistake(&scanned, "f", expected, "one to f64");
            let fold = Fold::sequential(half(), step());
            let sums = call("f").fold_axes(xs.node(), &[axis], fold);
            let floats = xs.map(|x| x.cast::<f64>());
            let typed = floats.fold_seq_axis(axis, 0.5, |a, b| a + b);
            same(&sums, typed.node());
        }
    }
}

#[test]
fn scans_along_axes() {
    let (m, cube, pairs) = (matrix(), cube(), pairs());
    for axis in 0..3 {
        let scan = |fold, kind| call("scan").scan_axis(cube.node(), axis, fold, kind);
        let inclusive = scan(sum(), ScanKind::Inclusive);
        same(&inclusive, cube.scan_axis(axis, 0, |a, b| a + b).node());
        let exclusive = scan(sum(), ScanKind::Exclusive);
        same(
            &exclusive,
            cube.scan_exclusive_axis(axis, 0, |a, b| a + b).node(),
        );
        let sequential = scan(Fold::sequential(value(1), mixed()), ScanKind::Inclusive);
        same(
            &sequential,
            cube.scan_seq_axis(axis, 1, |a, b| a - b * 2).node(),
        );
        let first = call("scan").scan1_axis(cube.node(), axis, operator(Op::Max, Ty::I64));
        same(&first, cube.scan1_axis(axis, |a, b| a.max(b)).node());
        same(
            &call("scan").cumsum_axis(cube.node(), axis),
            cube.cumsum_axis(axis).node(),
        );
        // The step has what comes first on the left.
        let left = || body(&[Ty::I64, Ty::I64], |p| p[0]);
        let right = |kind| {
            let fold = Fold::associative(value(9), left());
            call("scan").scan_right_axis(cube.node(), axis, fold, kind)
        };
        same(
            &right(ScanKind::Inclusive),
            cube.scan_right_axis(axis, 9, |a, _| a).node(),
        );
        let exclusive = cube.scan_exclusive_right_axis(axis, 9, |a, _| a);
        same(&right(ScanKind::Exclusive), exclusive.node());
        let first = call("scan").scan1_right_axis(cube.node(), axis, mixed());
        same(&first, cube.scan1_right_axis(axis, |a, b| a - b * 2).node());
    }
    let types = [Ty::I64, Ty::F64, Ty::I64, Ty::F64];
    let add = |k: usize, p: &[Field]| op(Op::Add, &[p[k], p[k + 2]]);
    let both = trace(&types, |p| Fields::from_iter([add(0, p), add(1, p)]));
    let sums = call("scan").scan1_axis(pairs.node(), 0, both);
    same(
        &sums,
        pairs.scan1_axis(0, |(a, b), (c, d)| (a + c, b + d)).node(),
    );
    let lengths = Array::from(vec![1i32, 0, 2]);
    let parts = call("fold_seg").fold_seg(m.node(), lengths.node(), sum());
    same(&parts, m.fold_seg(&lengths, 0, |a, b| a + b).node());
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
        let b = call("map_axis");
        let all = b.map_axis(cube.node(), axis, |row| {
            let total = b.sum(row);
            let turned = b.reverse_axis(row, 0);
            vec![total, turned]
        });
        let (totals, turned) = cube.map_axis(axis, |row| (row.sum(), row.reverse()));
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
    let got = "rows whose lengths vary, from `filter`";
    mistake(
        &kept[0],
        "map_rows",
        "rows that are known to be of one length",
        got,
    );
    let more = call("map_rows").map_rows(m.node(), |_| vec![m.node().clone()]);
    let got = "i64 of rank 2 from `manifest`";
    mistake(
        &more[0],
        "map_rows",
        "a delayed scalar or an array of rank 1",
        got,
    );
    assert!(
        call("map_rows")
            .map_rows(m.node(), |_| Vec::new())
            .is_empty()
    );
}

#[test]
fn stencils() {
    let (m, cube, xs) = (matrix(), cube(), matrix().flatten());
    let total = |window: &[Fields]| -> Fields {
        let rest = window[1..].iter();
        Fields::from_iter([rest.fold(window[0][0], |all, x| op(Op::Add, &[all, x[0]]))])
    };
    let along = |all: &[Boundary<i64>]| -> Vec<Option<Boundary<Body>>> {
        let one = |boundary: &Boundary<i64>| match boundary {
            Boundary::Clamp => Boundary::Clamp,
            Boundary::Wrap => Boundary::Wrap,
            Boundary::Mirror => Boundary::Mirror,
            Boundary::Constant(c) => Boundary::Constant(value(*c)),
        };
        all.iter().map(|boundary| Some(one(boundary))).collect()
    };
    let all = [
        Boundary::Clamp,
        Boundary::Wrap,
        Boundary::Mirror,
        Boundary::Constant(9),
    ];
    for a in all {
        let border = Border {
            along: along(&[a]),
            outside: None,
        };
        let one = call("stencil1").stencil(xs.node(), &[4], &border, total);
        same(&one, xs.stencil1(a, |[a, b, c, d]| a + b + c + d).node());
        for b in all {
            let border = Border {
                along: along(&[a, b]),
                outside: None,
            };
            let two = call("stencil2").stencil(m.node(), &[2, 3], &border, total);
            let typed = m.stencil2([a, b], |[[a, b, c], [d, e, f]]| a + b + c + d + e + f);
            same(&two, typed.node());
        }
    }
    let border = Border {
        along: along(&[all[0], all[1], all[3]]),
        outside: None,
    };
    let three = call("stencil3").stencil(cube.node(), &[1, 2, 2], &border, total);
    let typed = cube.stencil3([all[0], all[1], all[3]], |[[[a, b], [c, d]]]| a + b + c + d);
    same(&three, typed.node());
    let of_index = |index: &[Field]| -> Fields {
        let ten = op(Op::Mul, &[index[0], int(10)]);
        Fields::from_iter([op(Op::Add, &[ten, index[1]])])
    };
    for clamped in [false, true] {
        let second = clamped.then_some(Boundary::Clamp);
        let border = Border {
            along: vec![None, second],
            outside: Some(&of_index),
        };
        let two = call("stencil2").stencil(m.node(), &[3, 2], &border, total);
        let edges = outside(|[i, j]| i * 10 + j);
        let edges = match clamped {
            true => edges.along(1, Boundary::Clamp),
            false => edges,
        };
        let typed = m.stencil2(edges, |[[a, b], [c, d], [e, f]]| a + b + c + d + e + f);
        same(&two, typed.node());
    }
}

#[test]
fn stencils_of_others() {
    let m = matrix();
    let here = |window: &[Fields]| window.first().cloned().unwrap_or_default();
    let stencil = |sizes: &[usize], along: Vec<Option<Boundary<Body>>>| {
        let border = Border {
            along,
            outside: None,
        };
        call("stencil2").stencil(m.node(), sizes, &border, here)
    };
    let clamp = || Some(Boundary::Clamp);
    let name = "stencil2";
    mistake(
        &stencil(&[1], vec![clamp(), clamp()]),
        name,
        "a size for each of 2 axes",
        "[1]",
    );
    mistake(
        &stencil(&[1, 1], vec![clamp()]),
        name,
        "a boundary for each of 2 axes",
        "1",
    );
    let none = stencil(&[1, 1], vec![clamp(), None]);
    mistake(
        &none,
        name,
        "a boundary along each axis, or a function",
        "neither",
    );
    let float = Boundary::Constant(body(&[], |_| Field::literal(Const::f64(0.0))));
    let other = stencil(&[1, 1], vec![clamp(), Some(float)]);
    mistake(&other, name, "a value to i64", "one to f64");
    let large = stencil(&[usize::MAX, 2], vec![clamp(), clamp()]);
    assert_eq!(error(&large).combinator, name);
    let empty = stencil(&[0, 2], vec![clamp(), clamp()]);
    assert_eq!(error(&empty).combinator, name);
    let two = |_: &[Field]| Fields::from_iter([int(1), int(2)]);
    let border = Border {
        along: vec![None, None],
        outside: Some(&two),
    };
    let float = |_: &[Field]| Fields::from_iter([Field::literal(Const::f64(0.0))]);
    let other = Border {
        along: vec![None, None],
        outside: Some(&float),
    };
    let _ = call(name).stencil(m.node(), &[3, 3], &border, here);
    let wrong = call(name).stencil(m.node(), &[3, 3], &other, here);
    assert_eq!(error(&wrong).combinator, name);
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

#[test]
fn random_access() {
    let (m, cube, pairs) = (matrix(), cube(), pairs());
    let swapped = call("backpermute").backpermute(pairs.node(), &shape(&[3, 2]), |i| {
        [i[1], i[0]].into_iter().collect()
    });
    same(&swapped, pairs.backpermute((3, 2), |(i, j)| (j, i)).node());
    let line = call("backpermute").backpermute(cube.node(), &shape(&[3]), |i| {
        [number(1), i[0], i[0]].into_iter().collect()
    });
    same(&line, cube.backpermute(3, |i| (1, i, i)).node());
    let indices = Array::from(vec![1i32, 1, 0]);
    for axis in 0..2 {
        let chosen = call("select").select(m.node(), axis, indices.node());
        same(&chosen, m.select(axis, &indices).node());
    }
    let base = replicate((3, 2), 100i64);
    let add = || operator(Op::Add, Ty::I64);
    let moved = call("permute").permute(m.node(), base.node(), add(), |i| (None, vec![i[1], i[0]]));
    same(
        &moved,
        m.permute(&base, |a, b| a + b, |(i, j)| (j, i)).node(),
    );
    let some = call("permute").permute(m.node(), base.node(), add(), |i| {
        (Some(op(Op::Ne, i)), vec![i[1], i[0]])
    });
    let typed = m.permute(&base, |a, b| a + b, |(i, j)| i.ne(j).then_some((j, i)));
    same(&some, typed.node());
}

#[test]
fn random_access_to_what_is_not_there() {
    let (m, base) = (matrix(), replicate((3, 2), 100i64));
    let read = |index: Vec<Field>| {
        call("backpermute").backpermute(m.node(), &shape(&[2]), |_| index.into_iter().collect())
    };
    let few = error(&read(vec![number(0)]));
    assert_eq!(few.combinator, "backpermute");
    assert!(few.to_string().contains("an index of 2 parts"), "{few}");
    let float = error(&read(vec![number(0), Field::literal(Const::f64(0.0))]));
    assert!(
        float.to_string().contains("an index of integers"),
        "{float}"
    );
    let beyond = error(&read(vec![number(0), number(3)]));
    let (index, len) = (3, 3);
    assert_eq!(beyond.kind, ErrorKind::OutOfRange { index, len });
    type Target = fn(&[Field]) -> (Option<Field>, Vec<Field>);
    let permute = |op, f: Target| call("permute").permute(m.node(), base.node(), op, f);
    let add = || operator(Op::Add, Ty::I64);
    assert_eq!(
        error(&permute(add(), |i| (None, vec![i[0]]))).combinator,
        "permute"
    );
    assert_eq!(
        error(&permute(add(), |i| (Some(i[0]), i.to_vec()))).combinator,
        "permute"
    );
    assert_eq!(
        error(&permute(positive(), |i| (None, i.to_vec()))).combinator,
        "permute"
    );
    let other = pairs();
    let types = call("permute").permute(other.node(), base.node(), add(), |i| (None, i.to_vec()));
    assert_eq!(error(&types).combinator, "permute");
}

/// Arrays and scalars of many types and ranks, some with mistakes.
fn any_nodes() -> Vec<Arc<Node>> {
    let (m, xs) = (matrix(), matrix().flatten());
    let n = xs.filter(|x| x.gt(0)).len();
    let none: Array<i64> = Array::from(vec![]);
    let wrong = call("wrong").reverse_axis(m.node(), 9);
    vec![
        scalar(),
        call("float").constant(&[Const::f64(2.5)]),
        call("both").constant(&[Const::u64(1), Const::bool(true)]),
        n.node().clone(),
        xs.node().clone(),
        Array::from(vec![1u64, 0]).node().clone(),
        Array::from(vec![true, false]).node().clone(),
        xs.filter(|x| x.gt(0)).node().clone(),
        none.node().clone(),
        none.reshape((0, 3)).node().clone(),
        m.node().clone(),
        pairs().node().clone(),
        m.map(|x| x.gt(0)).node().clone(),
        generate((&n, 2), |(i, j)| i * j).node().clone(),
        cube().node().clone(),
        call("wrong").sum_axes(&wrong, &[0, 1]),
        call("wrong").diag(cube().node()),
        wrong,
    ]
}

/// Bodies of many types, some of which are none.
fn any_bodies() -> Vec<Body> {
    let mut leaked = None;
    trace(&[Ty::I64], |x| {
        leaked = Some(x[0]);
        Fields::new()
    });
    let add = || operator(Op::Add, Ty::I64);
    let (mut empty, mut other, mut turned) = (add(), add(), add());
    empty.terms.clear();
    other.params.clear();
    turned.terms.reverse();
    let leaked = trace(&[Ty::I64, Ty::I64], |_| leaked.into_iter().collect());
    let m = matrix();
    vec![
        Body::default(),
        value(1),
        positive(),
        add(),
        body(&[], |_| Field::value(m.sum().node(), place())[0]),
        body(&[], |_| Field::at(m.node(), &[number(7)], place())[0]),
        body(&[Ty::Bool], |x| x[0]),
        leaked,
        empty,
        other,
        turned,
    ]
}

/// Whatever comes in, nothing panics.
#[test]
fn whatever_comes_in() {
    let (nodes, bodies) = (any_nodes(), any_bodies());
    let run = |node: &Arc<Node>| drop(crate::words(node));
    let part = |k: usize| match k {
        0 => Item::ALL,
        1 => Item::New,
        2 => Item::One(Amount::Negative(5)),
        k => Item::Part(
            (
                Amount::Delayed(nodes[k % nodes.len()].clone()),
                Some(Amount::from(-1)),
            ),
            2,
        ),
    };
    for (k, x) in nodes.iter().enumerate() {
        for axis in [0, 1, 2, usize::MAX] {
            for (_, make) in of_an_axis() {
                run(&make(call("f"), x, axis));
            }
            run(&call("f").slice_axis(x, axis, part(k)));
            let at = Amount::Delayed(x.clone());
            run(&call("f").split(&nodes[10], axis, &at).0);
            run(&call("f").select(&nodes[10], axis, x));
            run(&call("f").select(x, axis, &nodes[5]));
            let all = [x.clone(), nodes[(k + axis % 5) % nodes.len()].clone()];
            run(&call("f").concat_axis(axis, &all));
            run(&call("f").stack(axis, &all));
            run(&call("f").sum_axes(x, &[axis, 0]));
        }
        run(&call("f").transpose(x));
        run(&call("f").permute_axes(x, &[1, 0]));
        run(&call("f").flatten(x));
        run(&call("f").diag(x));
        run(&call("f").enumerate(x));
        run(&call("f").sum_axes(x, &[]));
        let items: Vec<Item> = (0..3).map(|i| part((k + i) % 7)).collect();
        for n in 0..=3 {
            run(&call("f").slice(x, &items[..n]));
            run(&call("f").broadcast(x, &items[..n]));
            run(&call("f").slice(x, &vec![Item::ALL; n]));
        }
        let axis = Axis::delayed(x.clone());
        let of_axis = Shape::new([Axis::from(2), axis.clone()]);
        run(&call("f").generate_in(&of_axis, |i| i.iter().copied().collect()));
        run(&call("f").pad(&nodes[4], &[(axis.clone(), axis)], &value(0)));
        run(&call("f").reshape(&nodes[4], Some(of_axis.clone())));
        for y in &nodes {
            run(&call("f").dot(x, y));
            run(&call("f").outer(x, y, &bodies[3]));
            run(&call("f").permute(x, y, bodies[3].clone(), |i| (None, i.to_vec())));
            run(&call("f").backpermute(x, &of_axis, |i| {
                Field::value(y, place())
                    .into_iter()
                    .chain(i.iter().copied())
                    .collect()
            }));
            for all in call("f").map_rows(x, |row| vec![row.clone(), y.clone()]) {
                run(&all);
            }
        }
        for b in &bodies {
            let border = Border {
                along: vec![Some(Boundary::Constant(b.clone())); x.rank.into()],
                outside: None,
            };
            let sizes = vec![3; x.rank.into()];
            run(&call("f").stencil(x, &sizes, &border, |window| window[0].clone()));
            run(&call("f").stencil(x, &sizes, &border, |window| {
                Field::apply(b, &window[1], place())
            }));
            run(&call("f").replicate(&of_axis, b.clone()));
            run(&call("f").triangle_lower(x, 0, b));
            run(&call("f").any_axes(x, &[0], b.clone()));
            run(&call("f").count_axes(x, &[1], b.clone()));
            run(&call("f").outer(x, x, b));
            run(&call("f").permute(x, x, b.clone(), |i| (Some(i[0]), i.to_vec())));
            for axis in [0, 1] {
                run(&call("f").scan1_axis(x, axis, b.clone()));
                run(&call("f").scan1_right_axis(x, axis, b.clone()));
                for fold in [
                    Fold::first(b.clone()),
                    Fold::associative(b.clone(), bodies[3].clone()),
                    Fold::associative(bodies[1].clone(), b.clone()),
                    Fold::sequential(b.clone(), b.clone()),
                    Fold::aggregate(bodies[1].clone(), bodies[3].clone(), b.clone()),
                ] {
                    run(&call("f").fold_axes(x, &[axis], fold.clone()));
                    run(&call("f").scan_axis(x, axis, fold.clone(), ScanKind::Exclusive));
                    run(&call("f").fold_seg(x, &nodes[5], fold));
                }
            }
        }
    }
}
