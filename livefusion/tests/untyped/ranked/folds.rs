//! Folds and scans along axes.

use super::*;

#[test]
fn folds_along_axes() {
    let (m, cube) = (matrix(), cube());
    for axis in 0..3 {
        let fold = |fold| call("fold").fold(Domain::Along(cube.node(), &[axis]), fold);
        let max = || operator(Op::Max, Ty::I64);
        let associative = fold(Fold::associative(value(5), max()));
        same(
            &associative,
            cube.along(axis).fold(5, |a, b| a.max(b)).node(),
        );
        same(
            &fold(Fold::first(max())),
            cube.along(axis).fold1(|a, b| a.max(b)).node(),
        );
        let sequential = fold(Fold::sequential(value(1), mixed()));
        same(
            &sequential,
            cube.along(axis).fold_seq(1, |a, b| a - b * 2).node(),
        );
        let step = body(&[Ty::U64, Ty::I64], |p| {
            let more = op(Op::Gt, &[p[1], int(0)]).cast(Ty::U64, place());
            op(Op::Add, &[p[0], more])
        });
        let none = body(&[], |_| number(0));
        let aggregate = fold(Fold::aggregate(none, step, operator(Op::Add, Ty::U64)));
        let counts =
            cube.along(axis)
                .aggregate(0u64, |n, x| n + x.gt(0).cast::<u64>(), |a, b| a + b);
        same(&aggregate, counts.node());
        same(
            &call("f").sum(Domain::Along(cube.node(), &[axis])),
            cube.along(axis).sum().node(),
        );
        same(
            &call("f").product(Domain::Along(cube.node(), &[axis])),
            cube.along(axis).product().node(),
        );
        same(
            &call("f").min(Domain::Along(cube.node(), &[axis])),
            cube.along(axis).min().node(),
        );
        same(
            &call("f").max(Domain::Along(cube.node(), &[axis])),
            cube.along(axis).max().node(),
        );
        same(
            &call("f").mean(Domain::Along(cube.node(), &[axis])),
            cube.along(axis).mean().node(),
        );
        same(
            &call("f").var(Domain::Along(cube.node(), &[axis])),
            cube.along(axis).var().node(),
        );
        same(
            &call("f").std(Domain::Along(cube.node(), &[axis])),
            cube.along(axis).std().node(),
        );
        same(
            &call("f").min_index(Domain::Along(cube.node(), &[axis])),
            cube.along(axis).min_index().node(),
        );
        same(
            &call("f").max_index(Domain::Along(cube.node(), &[axis])),
            cube.along(axis).max_index().node(),
        );
        let any = call("f").any(Domain::Along(cube.node(), &[axis]), positive());
        same(&any, cube.along(axis).any(|x| x.gt(0)).node());
        let all = call("f").all(Domain::Along(cube.node(), &[axis]), positive());
        same(&all, cube.along(axis).all(|x| x.gt(0)).node());
        let count = call("f").count(Domain::Along(cube.node(), &[axis]), positive());
        same(&count, cube.along(axis).count(|x| x.gt(0)).node());
    }
    same(
        &call("f").sum(Domain::Along(cube.node(), &[2, 0])),
        cube.along([0, 2]).sum().node(),
    );
    same(
        &call("f").var(Domain::Along(cube.node(), &[0, 1])),
        cube.along([0, 1]).var().node(),
    );
    same(
        &call("f").min(Domain::Along(cube.node(), &[0, 1, 2])),
        cube.min().node(),
    );
    same(
        &call("f").sum(Domain::Along(cube.node(), &[0, 1, 2])),
        cube.sum().node(),
    );
    let floats = m.map(|x| x.cast::<f32>());
    same(
        &call("f").mean(Domain::Along(floats.node(), &[0])),
        floats.along(0).mean().node(),
    );
    same(
        &call("f").product(Domain::Along(floats.node(), &[1])),
        floats.along(1).product().node(),
    );
}

#[test]
fn folds_of_other_elements() {
    let (m, pairs) = (matrix(), pairs());
    let flags = m.map(|x| x.gt(0));
    type Reduction = fn(Builder, &Arc<Node>) -> Arc<Node>;
    let of_numbers: [Reduction; 10] = [
        |b, x| b.sum(Domain::Along(x, &[0])),
        |b, x| b.product(Domain::Along(x, &[0])),
        |b, x| b.min(Domain::Along(x, &[0])),
        |b, x| b.max(Domain::Along(x, &[0])),
        |b, x| b.mean(Domain::Along(x, &[0])),
        |b, x| b.var(Domain::Along(x, &[0])),
        |b, x| b.std(Domain::Along(x, &[0])),
        |b, x| b.min_index(Domain::Along(x, &[0])),
        |b, x| b.max_index(Domain::Along(x, &[0])),
        |b, x| b.cumsum(Domain::Along(x, &[0])),
    ];
    for make in of_numbers {
        let numbers = "elements of one number each";
        mistake(&make(call("f"), flags.node()), "f", numbers, "bool");
        mistake(&make(call("f"), pairs.node()), "f", numbers, "(i64, f64)");
    }
    type Tested = fn(Builder, &Arc<Node>, Body) -> Arc<Node>;
    let of_tests: [Tested; 3] = [
        |b, x, t| b.any(Domain::Along(x, &[0]), t),
        |b, x, t| b.all(Domain::Along(x, &[0]), t),
        |b, x, t| b.count(Domain::Along(x, &[0]), t),
    ];
    for make in of_tests {
        let of_pairs = make(call("f"), pairs.node(), positive());
        mistake(&of_pairs, "f", "a function from (i64, f64)", "one from i64");
        let number = make(
            call("f"),
            flags.node(),
            body(&[Ty::Bool], |x| x[0].cast(Ty::U8, place())),
        );
        mistake(&number, "f", "a test to bool", "u8");
    }
    let twice = call("f").sum(Domain::Along(m.node(), &[1, 1]));
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
            let folded = call("f").fold(Domain::Along(m.node(), &[axis]), fold.clone());
            assert_eq!(error(&folded).combinator, "f");
            let scanned = call("f").scan(
                Domain::Along(m.node(), &[axis]),
                fold.clone(),
                ScanKind::Inclusive,
            );
            assert_eq!(error(&scanned).combinator, "f");
            let scanned = call("f").scan_right(
                Domain::Along(m.node(), &[axis]),
                fold.clone(),
                ScanKind::Inclusive,
            );
            assert_eq!(error(&scanned).combinator, "f");
            let lengths = Array::from(vec![1u64, 2]);
            let parts = call("f").fold_seg(m.node(), lengths.node(), fold);
            assert_eq!(error(&parts).combinator, "f");
        }
        let scanned = call("f").scan1(Domain::Along(m.node(), &[axis]), positive());
        mistake(&scanned, "f", "a step from (i64, i64)", "one from i64");
        let scanned = call("f").scan1_right(Domain::Along(m.node(), &[axis]), positive());
        mistake(&scanned, "f", "a step from (i64, i64)", "one from i64");
    }
}

/// Only a sequential fold may have a start of another type than the elements, also after a rewrite.
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
            let folded = call("f").fold(Domain::Along(xs.node(), &[axis]), fold());
            mistake(&folded, "f", expected, "one to f64");
            let scanned = call("f").scan(
                Domain::Along(xs.node(), &[axis]),
                fold(),
                ScanKind::Inclusive,
            );
            mistake(&scanned, "f", expected, "one to f64");
            let fold = Fold::sequential(half(), step());
            let sums = call("f").fold(Domain::Along(xs.node(), &[axis]), fold);
            let floats = xs.map(|x| x.cast::<f64>());
            let typed = floats.along(axis).fold_seq(0.5, |a, b| a + b);
            same(&sums, typed.node());
        }
    }
}

#[test]
fn scans_along_axes() {
    let (m, cube, pairs) = (matrix(), cube(), pairs());
    for axis in 0..3 {
        let scan = |fold, kind| call("scan").scan(Domain::Along(cube.node(), &[axis]), fold, kind);
        let inclusive = scan(sum(), ScanKind::Inclusive);
        same(&inclusive, cube.along(axis).scan(0, |a, b| a + b).node());
        let exclusive = scan(sum(), ScanKind::Exclusive);
        same(
            &exclusive,
            cube.along(axis).scan_exclusive(0, |a, b| a + b).node(),
        );
        let sequential = scan(Fold::sequential(value(1), mixed()), ScanKind::Inclusive);
        same(
            &sequential,
            cube.along(axis).scan_seq(1, |a, b| a - b * 2).node(),
        );
        let first = call("scan").scan1(
            Domain::Along(cube.node(), &[axis]),
            operator(Op::Max, Ty::I64),
        );
        same(&first, cube.along(axis).scan1(|a, b| a.max(b)).node());
        same(
            &call("scan").cumsum(Domain::Along(cube.node(), &[axis])),
            cube.along(axis).cumsum().node(),
        );
        // The left argument of the step is the earlier element.
        let left = || body(&[Ty::I64, Ty::I64], |p| p[0]);
        let right = |kind| {
            let fold = Fold::associative(value(9), left());
            call("scan").scan_right(Domain::Along(cube.node(), &[axis]), fold, kind)
        };
        same(
            &right(ScanKind::Inclusive),
            cube.along(axis).scan_right(9, |a, _| a).node(),
        );
        let exclusive = cube.along(axis).scan_exclusive_right(9, |a, _| a);
        same(&right(ScanKind::Exclusive), exclusive.node());
        let first = call("scan").scan1_right(Domain::Along(cube.node(), &[axis]), mixed());
        same(
            &first,
            cube.along(axis).scan1_right(|a, b| a - b * 2).node(),
        );
    }
    let types = [Ty::I64, Ty::F64, Ty::I64, Ty::F64];
    let add = |k: usize, p: &[Field]| op(Op::Add, &[p[k], p[k + 2]]);
    let both = trace(&types, |p| Fields::from_iter([add(0, p), add(1, p)]));
    let sums = call("scan").scan1(Domain::Along(pairs.node(), &[0]), both);
    same(
        &sums,
        pairs.along(0).scan1(|(a, b), (c, d)| (a + c, b + d)).node(),
    );
    let lengths = Array::from(vec![1i32, 0, 2]);
    let parts = call("fold_seg").fold_seg(m.node(), lengths.node(), sum());
    same(&parts, m.fold_seg(&lengths, 0, |a, b| a + b).node());
}
