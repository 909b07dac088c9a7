//! Folds and scans along axes.

use super::*;

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
            &call("f").std_axes(cube.node(), &[axis]),
            cube.std_axis(axis).node(),
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
    let of_numbers: [Reduction; 10] = [
        |b, x| b.sum_axes(x, &[0]),
        |b, x| b.product_axes(x, &[0]),
        |b, x| b.min_axes(x, &[0]),
        |b, x| b.max_axes(x, &[0]),
        |b, x| b.mean_axes(x, &[0]),
        |b, x| b.var_axes(x, &[0]),
        |b, x| b.std_axes(x, &[0]),
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
        mistake(&number, "f", "a test to bool", "u8");
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
