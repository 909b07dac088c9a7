//! Untyped forms of `livefusion/src/segmented`, `nested` and `iterate`.

use crate::{call, error, mistake, place, same, words, words_of};
use livefusion::ErrorKind;
use livefusion::ast::{Axis, Body, Const, Field, Fields, Fold, Node, Op, ScanKind, Ty, trace};
use livefusion::nested::{OfAll, SegmentPart};
use livefusion::over::Domain;
use livefusion::prelude::*;
use livefusion::prepare::values_of;
use livefusion::runtime::Prepared;
use livefusion::segmented::Segments;
use std::sync::Arc;

const NUMBERS: &str = "elements of one number each";

/// A body of one result.
fn body(params: &[Ty], f: impl FnOnce(&[Field]) -> Field) -> Body {
    trace(params, |p| Fields::from_iter([f(p)]))
}

/// A binary operator on one type.
fn operator(op: Op, ty: Ty) -> Body {
    body(&[ty, ty], |p| Field::op(op, p, place()))
}

/// An operator on an element and a number.
fn with(op: Op, k: i64) -> Body {
    let k = Field::literal(Const::int(Ty::I64, k));
    body(&[Ty::I64], |x| Field::op(op, &[x[0], k], place()))
}

fn literal(k: i64) -> Body {
    body(&[], |_| Field::literal(Const::int(Ty::I64, k)))
}

fn rows() -> Segmented<i64> {
    Segmented::from_vecs(vec![vec![3, -1, 4], vec![1], vec![5, 9]])
}

#[track_caller]
fn same_segments<T: Elt>(untyped: &Segments, typed: &Segmented<T>) {
    same(&untyped.lengths, typed.lengths().node());
    same(&untyped.data, typed.data().node());
}

#[test]
fn known_folds() {
    let (typed, of) = (rows(), rows().nodes());
    same(&call("sum").sum(&of), typed.sum().node());
    same(&call("product").product(&of), typed.product().node());
    same(&call("min").min(&of), typed.min().node());
    same(&call("max").max(&of), typed.max().node());
    let (least, most) = (typed.min_index(), typed.max_index());
    same(&call("min_index").min_index(&of), least.node());
    same(&call("max_index").max_index(&of), most.node());
    let (any, all) = (typed.any(|x| x.gt(3)), typed.all(|x| x.gt(3)));
    same(&call("any").any(&of, with(Op::Gt, 3)), any.node());
    same(&call("all").all(&of, with(Op::Gt, 3)), all.node());
    let count = typed.count(|x| x.gt(3));
    same(&call("count").count(&of, with(Op::Gt, 3)), count.node());
    let floats = Segmented::from_vecs(vec![vec![1.5f64, 2.0], vec![3.0]]);
    same(&call("mean").mean(&floats.nodes()), floats.mean().node());
}

#[test]
fn folds_and_scans() {
    let (typed, of) = (rows(), rows().nodes());
    let add = || operator(Op::Add, Ty::I64);
    let fold = Fold::associative(literal(2), add());
    let folded = call("fold").fold(Domain::Segments(&of.lengths, &of.data), fold.clone());
    same(&folded, typed.fold(2, |a, b| a + b).node());
    same(
        &call("fold1").fold(&of, Fold::first(add())),
        typed.fold1(|a, b| a + b).node(),
    );
    let less = call("fold_seq").fold(
        &of,
        Fold::sequential(literal(2), operator(Op::Sub, Ty::I64)),
    );
    same(&less, typed.fold_seq(2, |a, b| a - b).node());
    let step = body(&[Ty::I64, Ty::I64], |p| Field::op(Op::Max, p, place()));
    let most = call("aggregate").fold(
        &of,
        Fold::aggregate(literal(0), step, operator(Op::Max, Ty::I64)),
    );
    let typed_most = typed.aggregate(0i64, |a, b| a.max(b), |a, b| a.max(b));
    same(&most, typed_most.node());
    let scanned = call("scan").scan(
        Domain::Segments(&of.lengths, &of.data),
        fold,
        ScanKind::Inclusive,
    );
    same(&scanned, typed.scan(2, |a, b| a + b).data().node());
    let before = call("scan_exclusive").scan(
        &of,
        Fold::associative(literal(2), add()),
        ScanKind::Exclusive,
    );
    same_segments(
        &of.with_data(before),
        &typed.scan_exclusive(2, |a, b| a + b),
    );
    let less = call("scan_seq").scan(
        &of,
        Fold::sequential(literal(2), operator(Op::Sub, Ty::I64)),
        ScanKind::Inclusive,
    );
    same_segments(&of.with_data(less), &typed.scan_seq(2, |a, b| a - b));
}

#[test]
fn segments_of_elements() {
    let (typed, of) = (rows(), rows().nodes());
    let values = Array::from(vec![1i64, 2, 3]);
    let (v, few) = (values.node(), Array::from(vec![2u32, 0, 3]));
    let repeated = Segments::replicate(call("replicate"), few.node(), v);
    same_segments(&repeated, &Segmented::replicate(&few, &values));
    same_segments(
        &Segments::indices(call("indices"), few.node()),
        &Segmented::indices(&few),
    );
    let counted = Segments::enum_from_step(call("enum_from_step"), v, v, few.node());
    same_segments(&counted, &Segmented::enum_from_step(&values, &values, &few));
    let scaled = of.zip_with_each(call("zip_with_each"), v, operator(Op::Mul, Ty::I64));
    same_segments(&scaled, &typed.zip_with_each(&values, |x, v| x * v));
    let large = of.filter(call("filter"), with(Op::Gt, 1));
    same_segments(&large, &typed.filter(|x| x.gt(1)));
    let tags = typed.data().map(|x| x.lt(4));
    same_segments(&of.pack(call("pack"), tags.node()), &typed.pack(&tags));
    let other = Segmented::from_vecs(vec![vec![7i64], vec![], vec![8, 9]]);
    let both = of.append(call("append"), &other.nodes());
    same_segments(&both, &typed.append(&other));
    let outer = Array::from(vec![2u8, 1]);
    let fewer = of.flatten(call("flatten"), outer.node());
    same_segments(&fewer, &typed.flatten(&outer));
    same(
        &call("offsets").offsets(&of.lengths),
        typed.offsets().node(),
    );
    let begins = Array::from(vec![0i32, 3, 3, 6]);
    let cut = call("from_offsets").from_offsets(begins.node(), &of.data);
    same_segments(&cut, &Segmented::from_offsets(&begins, typed.data()));
    let pairs = call("from_uniform").from_uniform(Axis::from(2), &of.data);
    same_segments(&pairs, &Segmented::from_uniform(2, typed.data()));
    let m = Array::from([[1i64, 2], [3, 4]]);
    same_segments(
        &call("to_segmented").to_segmented(m.node()),
        &m.to_segmented(),
    );
}

#[test]
fn mistakes_in_segments() {
    let lengths = Array::from(vec![1u64, 1]);
    let flags = Array::from(vec![true, false]);
    let pairs = Array::from(vec![(1i64, 2.0f64), (3, 4.0)]);
    let of = |data: &Arc<Node>| call("segments").segments(lengths.node(), data);
    let (flagged, paired) = (of(flags.node()), of(pairs.node()));
    mistake(&call("sum").sum(&flagged), "sum", NUMBERS, "bool");
    mistake(&call("max").max(&paired), "max", NUMBERS, "(i64, f64)");
    let index = call("min_index").min_index(&paired);
    mistake(&index, "min_index", NUMBERS, "(i64, f64)");
    let mean = call("mean").mean(&flagged);
    mistake(&mean, "mean", NUMBERS, "bool");
    let no_test = call("any").any(&rows().nodes(), with(Op::Add, 1));
    mistake(&no_test, "any", "a test to bool", "i64");
    let kept = rows().nodes().filter(call("filter"), with(Op::Add, 1));
    mistake(&kept.lengths, "filter", "a test to bool", "i64");
    let integers = "lengths of one integer each";
    let wrong = call("segments").segments(flags.node(), flags.node());
    mistake(&wrong.lengths, "segments", integers, "bool");
    let cut = call("from_offsets").from_offsets(pairs.node(), flags.node());
    let wanted = "offsets of one integer each";
    mistake(&cut.lengths, "from_offsets", wanted, "(i64, f64)");
    let both = flagged.append(call("append"), &paired);
    mistake(&both.data, "append", "elements of type bool", "(i64, f64)");
    let cut = call("to_segmented").to_segmented(flags.node());
    let got = "bool of rank 1 from `manifest`";
    mistake(&cut.data, "to_segmented", "an array of rank 2", got);
    mistake(&cut.lengths, "to_segmented", "an array of rank 2", got);
    let half = call("half").constant(&[Const::f64(0.5)]);
    let cut = call("from_uniform").from_uniform(Axis::delayed(half), flags.node());
    mistake(&cut.lengths, "from_uniform", "a length of type u64", "f64");
}

#[test]
fn closures_on_segments() {
    let typed = rows();
    let weights = Array::from(vec![1i64, 10, 100]);
    let parts = [
        SegmentPart::Segments(typed.nodes()),
        SegmentPart::Array(weights.node().clone()),
    ];
    let results = call("map_segments").map_segments(&parts, |given| {
        let [row, weight] = given else { panic!() };
        let total = call("sum").sum(row);
        let both = call("zip").zip(&[total, weight.clone()]);
        let weighted = call("map").map(&[both], operator(Op::Mul, Ty::I64));
        let large = call("filter").filter(row, with(Op::Gt, 1));
        let length = call("constant").constant(&[Const::u64(1)]);
        let ones = call("replicate").segments(
            &call("map").map(
                std::slice::from_ref(row),
                body(&[Ty::I64], |_| Field::literal(Const::u64(1))),
            ),
            row,
        );
        vec![
            SegmentPart::Array(weighted),
            SegmentPart::Array(large),
            SegmentPart::Segments(ones),
            SegmentPart::Array(length),
        ]
    });
    let [
        OfAll::Each(weighted),
        OfAll::Segments(large),
        OfAll::Nested(counts, ones),
        OfAll::Each(one),
    ] = &results[..]
    else {
        panic!("{results:?}");
    };
    let expected = (&typed, &weights).map_segments(|(row, weight)| {
        let ones = row.map(|_| 1u64);
        (
            row.sum() * weight,
            row.filter(|x| x.gt(1)),
            Segmented::new(&ones, &row),
        )
    });
    same(weighted, expected.0.node());
    same_segments(large, &expected.1);
    same(counts, expected.2.counts().node());
    same_segments(ones, expected.2.segments());
    assert_eq!(words(one), Ok(vec![1, 1, 1]));
}

#[test]
fn mistakes_in_closures_on_segments() {
    let first = |all: Vec<OfAll>| match all.into_iter().next() {
        Some(OfAll::Each(node)) => node,
        Some(OfAll::Segments(of) | OfAll::Nested(_, of)) => of.data,
        None => panic!("no result"),
    };
    let b = call("map_segments");
    let none = b.map_segments(&[], |_| {
        vec![SegmentPart::Array(call("one").constant(&[Const::u64(1)]))]
    });
    let wanted = "at least one part of each segment";
    mistake(&first(none), "map_segments", wanted, "none");
    let one = call("one").constant(&[Const::u64(1)]);
    let scalar = b.map_segments(&[SegmentPart::Array(one)], |given| {
        vec![SegmentPart::Array(given[0].clone())]
    });
    let wanted = "segments, or an array with one element per segment";
    let got = "u64 of rank 0 from `one`";
    mistake(&first(scalar), "map_segments", wanted, got);
    let of = rows().nodes();
    let m = Array::from([[1i64, 2], [3, 4]]);
    // The error of a part is unchanged.
    let sum = call("sum").sum(Array::from(vec![true]).node());
    let flat = call("diag").diag(Array::from(vec![1i64]).node());
    let parts = [
        SegmentPart::Array(sum.clone()),
        SegmentPart::Segments(of.with_data(sum.clone())),
        SegmentPart::Segments(Segments {
            lengths: sum.clone(),
            data: of.data.clone(),
        }),
        SegmentPart::Segments(Segments {
            lengths: of.data.clone(),
            data: sum,
        }),
    ];
    for part in parts {
        let lost = b.map_segments(&[part], |given| vec![SegmentPart::Array(given[0].clone())]);
        mistake(&first(lost), "sum", NUMBERS, "bool");
    }
    let of_matrix = call("to_segmented").to_segmented(&flat);
    mistake(
        &of_matrix.data,
        "diag",
        "a matrix",
        "i64 of rank 1 from `manifest`",
    );
    let parts = [SegmentPart::Segments(of.clone())];
    let matrix = b.map_segments(&parts, |_| vec![SegmentPart::Array(m.node().clone())]);
    let wanted = "a delayed scalar, an array of rank 1, or segments";
    let got = "i64 of rank 2 from `manifest`";
    mistake(&first(matrix), "map_segments", wanted, got);
    let (lengths, data) = (of.data.clone(), of.data.clone());
    let wrong = SegmentPart::Segments(Segments { lengths, data });
    let signed = b.map_segments(&[wrong], |given| vec![SegmentPart::Array(given[0].clone())]);
    let got = "i64 of rank 1 from `manifest`";
    mistake(&first(signed), "map_segments", "lengths of type u64", got);
    let sum = b.map_segments(&parts, |_| {
        vec![SegmentPart::Array(
            call("sum").sum(Array::from(vec![true]).node()),
        )]
    });
    mistake(&first(sum), "sum", NUMBERS, "bool");
}

#[test]
fn loops_over_arrays() {
    let (xs, m) = (
        Array::from(vec![1i64, 2, 3]),
        Array::from([[1i64, 2], [3, 4]]),
    );
    let n = Array::scalar(1i64);
    let start = [xs.node().clone(), m.node().clone(), n.node().clone()];
    let step = |state: &[Arc<Node>]| {
        let [xs, m, n] = state else { panic!() };
        let longer = call("append").append(&[xs.clone(), xs.clone()]);
        let more = call("map").map(std::slice::from_ref(m), with(Op::Add, 1));
        let twice = call("map").map(std::slice::from_ref(n), with(Op::Mul, 2));
        vec![longer, more, twice]
    };
    let ended = call("iterate_n").iterate_n(Axis::from(2), &start, step);
    let typed = iterate_n(2, (&xs, &m, &n), |(xs, m, n)| {
        (xs.append(&xs), m.map(|x| x + 1), n.map(|n| n * 2))
    });
    same(&ended[0], typed.0.node());
    same(&ended[1], typed.1.node());
    same(&ended[2], typed.2.node());
    assert_eq!(
        Array::<i64, Ix2>::from_node(ended[1].clone())
            .and_then(|m| m.force())
            .unwrap(),
        [[3, 4], [5, 6]]
    );
    let below = |state: &[Arc<Node>]| call("map").map(&[state[2].clone()], with(Op::Lt, 5));
    let ended = call("iterate_while").iterate_while(&start, below, step);
    let typed = iterate_while(
        (&xs, &m, &n),
        |(_, _, n)| n.map(|n| n.lt(5)),
        |(xs, m, n)| (xs.append(&xs), m.map(|x| x + 1), n.map(|n| n * 2)),
    );
    same(&ended[0], typed.0.node());
    same(&ended[1], typed.1.node());
    same(&ended[2], typed.2.node());
}

#[test]
fn cond_untyped_form_is_the_typed_one_and_checks_its_sides() {
    let xs = Array::from(vec![3i64, 1, 2]);
    let (n, m) = (xs.sum(), xs.reshape((1, 3)));
    let test = n.gt(5);
    let then = [
        xs.reverse().node().clone(),
        m.node().clone(),
        n.node().clone(),
    ];
    let other = [xs.node().clone(), m.transpose().node().clone()];
    let other = [&other[..], &[xs.max().node().clone()]].concat();
    let b = call("cond");
    let ended = b.cond(test.node(), &then, &other);
    let typed = test.cond((xs.reverse(), &m, &n), (&xs, m.transpose(), xs.max()));
    same(&ended[0], typed.0.node());
    same(&ended[1], typed.1.node());
    same(&ended[2], typed.2.node());
    let wanted = "a delayed bool";
    let wrong = b.cond(xs.node(), &then, &other);
    mistake(&wrong[0], "cond", wanted, "i64 of rank 1 from `manifest`");
    let wrong = b.cond(test.node(), &then, &other[..2]);
    mistake(&wrong[2], "cond", "two sides of 3 values", "2");
    let wrong = b.cond(test.node(), &then[..1], &[n.node().clone()]);
    let wanted = "sides of one type and rank, as i64 of rank 1 from `reverse`";
    mistake(&wrong[0], "cond", wanted, "i64 of rank 0 from `sum`");
    let broken = call("sum").sum(Array::from(vec![true]).node());
    let wrong = b.cond(test.node(), std::slice::from_ref(&broken), &other[2..]);
    mistake(&wrong[0], "sum", NUMBERS, "bool");
}

#[test]
fn mistakes_in_loops_over_arrays() {
    let xs = Array::from(vec![1i64, 2, 3]);
    let start = [xs.node().clone()];
    let n = || Axis::from(2);
    let b = call("iterate_n");
    let none = b.iterate_n(n(), &start, |_| Vec::new());
    mistake(&none[0], "iterate_n", "a next state of 1 components", "0");
    let floats = Array::from(vec![1.0f64]);
    let other = b.iterate_n(n(), &start, |_| vec![floats.node().clone()]);
    let wanted = "a next state that is i64 of rank 1";
    mistake(
        &other[0],
        "iterate_n",
        wanted,
        "f64 of rank 1 from `manifest`",
    );
    let sum = b.iterate_n(n(), &start, |state| vec![call("sum").sum(&state[0])]);
    mistake(&sum[0], "iterate_n", wanted, "i64 of rank 0 from `sum`");
    let half = Axis::delayed(call("half").constant(&[Const::f64(0.5)]));
    let often = b.iterate_n(half, &start, |state| state.to_vec());
    let wanted = "a number of steps of type u64";
    mistake(&often[0], "iterate_n", wanted, "f64 of rank 0 from `half`");
    let b = call("iterate_while");
    let test = b.iterate_while(&start, |state| state[0].clone(), |state| state.to_vec());
    let wanted = "a test that gives a delayed bool";
    mistake(
        &test[0],
        "iterate_while",
        wanted,
        "i64 of rank 1 from `manifest`",
    );
    let flags = Array::from(vec![true]);
    let wrong = [call("sum").sum(flags.node())];
    let ended = call("iterate_n").iterate_n(n(), &wrong, |state| state.to_vec());
    mistake(&ended[0], "sum", NUMBERS, "bool");
}

#[test]
fn inputs_of_programs() {
    let mut inputs = Vec::new();
    let b = call("input");
    let m = b.input_of(&[Ty::I64], 2, &mut inputs);
    let k = b.input_of(&[Ty::I64], 0, &mut inputs);
    let of = call("to_segmented").to_segmented(&m);
    let both = [call("sum").sum(&of), k];
    let body = body(&[Ty::I64], |x| x[0]);
    let sums = call("map").map(&both[..1], body);
    let total = call("sum").sum(&sums);
    let wrong = Prepared::new(Engine::default_engine(), vec![b.sum(&of)], Vec::new());
    assert!(wrong.is_err());
    let roots = vec![total, both[1].clone()];
    let program = Prepared::new(Engine::default_engine(), roots, inputs).unwrap();
    let m = Array::from([[1i64, 2], [3, 4], [5, 6]]).map(|x| x * 10);
    let k = Array::scalar(7i64);
    let results = program.call(&values_of([m.node(), k.node()]).unwrap(), &mut []);
    let results: Vec<u64> = results.unwrap().iter().flat_map(words_of).collect();
    assert_eq!(results, [210, 7]);
    let few = program.call(&values_of([m.node()]).unwrap(), &mut []);
    assert!(few.is_err());
    let swapped = program.call(&values_of([k.node(), m.node()]).unwrap(), &mut []);
    assert!(swapped.is_err());
    assert!(values_of([&call("sum").sum(Array::from(vec![true]).node())]).is_err());
}

#[test]
fn errors_of_a_run() {
    let of = rows().nodes();
    let few = Array::from(vec![true]);
    let kept = error(&of.pack(call("pack"), few.node()).data);
    let lengths = ErrorKind::LengthMismatch {
        expected: 6,
        got: 1,
    };
    let is = (kept.combinator, kept.location, kept.kind);
    assert_eq!(is, ("pack", Some(place()), lengths));
    let empty = Segmented::from_vecs(vec![vec![1i64], vec![]]);
    let max = error(&call("max").max(&empty.nodes()));
    let is = (max.combinator, max.location, max.kind);
    assert_eq!(is, ("max", Some(place()), ErrorKind::Empty));
}

/// Arbitrary operands never panic.
#[test]
fn anything_gives_a_value_or_an_error() {
    let flags = Array::from(vec![true, false]);
    let nodes = [
        Array::from(vec![1u64, 2]).node().clone(),
        Array::from(vec![-1i64, 3]).node().clone(),
        Array::from(vec![0.5f64]).node().clone(),
        Array::from(vec![(1i64, 2.0f64), (3, 4.0)]).node().clone(),
        flags.node().clone(),
        Array::from([[1u64, 2], [3, 4]]).node().clone(),
        Array::scalar(2u64).node().clone(),
        Array::scalar((2u64, 3u64)).node().clone(),
        call("sum").sum(flags.node()),
        call("map_segments")
            .segments(flags.node(), flags.node())
            .lengths,
    ];
    let by_hand = |change: fn(&mut Body)| {
        let mut f = with(Op::Gt, 1);
        change(&mut f);
        f
    };
    let bodies = || {
        [
            by_hand(|f| f.terms.clear()),
            by_hand(|f| f.terms.reverse()),
            literal(1),
            with(Op::Gt, 1),
            operator(Op::Add, Ty::I64),
            Body::default(),
        ]
    };
    let b = call("any");
    let mut made: Vec<Arc<Node>> = Vec::new();
    let all = |of: Segments| [of.lengths, of.data];
    for x in &nodes {
        made.extend(all(Segments::indices(b, x)));
        made.extend(all(b.to_segmented(x)));
        made.push(b.offsets(x));
        for y in &nodes {
            let raw = Segments {
                lengths: x.clone(),
                data: y.clone(),
            };
            for of in [b.segments(x, y), raw] {
                let folds = [
                    b.sum(&of),
                    b.product(&of),
                    b.min(&of),
                    b.max(&of),
                    b.mean(&of),
                    b.min_index(&of),
                    b.max_index(&of),
                ];
                made.extend(folds);
                for f in bodies() {
                    made.extend([b.any(&of, f.clone()), b.all(&of, f.clone())]);
                    made.extend([b.count(&of, f.clone()), b.fold(&of, Fold::first(f.clone()))]);
                    made.push(b.fold(&of, Fold::sequential(literal(1), f.clone())));
                    made.push(b.fold(&of, Fold::aggregate(literal(1), f.clone(), f.clone())));
                    made.push(b.scan(
                        &of,
                        Fold::associative(literal(1), f.clone()),
                        ScanKind::Exclusive,
                    ));
                    made.push(b.scan(
                        &of,
                        Fold::sequential(f.clone(), f.clone()),
                        ScanKind::Inclusive,
                    ));
                    made.extend(all(of.filter(b, f.clone())));
                    made.extend(all(of.zip_with_each(b, x, f)));
                }
                made.extend(all(of.pack(b, x)));
                made.extend(all(of.flatten(b, x)));
                made.extend(all(of.append(b, &rows().nodes())));
                made.extend(all(rows().nodes().append(b, &of)));
                let parts = [
                    SegmentPart::Segments(of.clone()),
                    SegmentPart::Array(x.clone()),
                ];
                let results = b.map_segments(&parts, |given| {
                    vec![
                        SegmentPart::Array(given[0].clone()),
                        SegmentPart::Array(given[1].clone()),
                        SegmentPart::Array(call("sum").sum(&given[0])),
                        SegmentPart::Segments(Segments {
                            lengths: given[0].clone(),
                            data: given[0].clone(),
                        }),
                        SegmentPart::Array(y.clone()),
                        SegmentPart::Segments(of.clone()),
                    ]
                });
                made.extend(results.into_iter().flat_map(|all| match all {
                    OfAll::Each(node) => vec![node],
                    OfAll::Segments(of) => vec![of.lengths, of.data],
                    OfAll::Nested(counts, of) => vec![counts, of.lengths, of.data],
                }));
            }
            made.extend(all(Segments::replicate(b, x, y)));
            made.extend(all(b.from_offsets(x, y)));
            made.extend(all(Segments::enum_from_step(b, x, y, x)));
            made.extend(all(Segments::enum_from_step(b, x, x, y)));
            made.extend(all(b.from_uniform(Axis::delayed(x.clone()), y)));
            let n = Axis::delayed(x.clone());
            made.extend(b.iterate_n(n, std::slice::from_ref(y), |state| state.to_vec()));
            let state = [x.clone(), y.clone()];
            made.extend(b.iterate_n(Axis::from(2), &state, |state| {
                vec![state[1].clone(), state[0].clone()]
            }));
            let ends = |_: &[Arc<Node>]| flags.node().clone();
            made.extend(b.iterate_while(&state, ends, |state| state.to_vec()));
        }
    }
    let values = made.iter().map(words).filter(|w| w.is_ok()).count();
    assert!(values > 0 && values < made.len());
}
