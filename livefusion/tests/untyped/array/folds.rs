//! Folds and scans.

use super::*;

#[test]
fn known_folds() {
    let xs = Array::from(vec![3i64, -1, 4, 1]);
    let n = xs.node();
    same(&call("sum").sum(n), xs.sum().node());
    same(&call("product").product(n), xs.product().node());
    same(&call("min").min(n), xs.min().node());
    same(&call("max").max(n), xs.max().node());
    same(&call("mean").mean(n), xs.mean().node());
    same(&call("var").var(n), xs.var().node());
    same(&call("std").std(n), xs.std().node());
    let above = |k: i64| {
        let k = Exp::lit(k).field();
        body(&[Ty::I64], |x| Field::op(Op::Gt, &[x[0], k], place()))
    };
    same(&call("any").any(n, above(3)), xs.any(|x| x.gt(3)).node());
    same(&call("all").all(n, above(3)), xs.all(|x| x.gt(3)).node());
    same(
        &call("count").count(n, above(1)),
        xs.count(|x| x.gt(1)).node(),
    );
    let m = Array::from([[1.5f64, 2.0], [3.0, 4.5]]);
    same(&call("sum").sum(m.node()), m.sum().node());
    same(&call("var").var(m.node()), m.var().node());
}

#[test]
fn known_folds_of_others() {
    let flags = Array::from(vec![true, false]);
    let pairs = Array::from(vec![(1i64, 2.0f64)]);
    let numbers = "elements of one number each";
    mistake(&call("sum").sum(flags.node()), "sum", numbers, "bool");
    mistake(&call("max").max(pairs.node()), "max", numbers, "(i64, f64)");
    let test = || operator(Op::Add, Ty::I64);
    let count = call("count").count(pairs.node(), test());
    mistake(
        &count,
        "count",
        "a function from (i64, f64)",
        "one from (i64, i64)",
    );
    let test = body(&[Ty::Bool], |x| x[0].cast(Ty::U8, place()));
    let any = call("any").any(flags.node(), test.clone());
    mistake(&any, "any", "a test to bool", "u8");
    let count = call("count").count(flags.node(), test);
    mistake(&count, "count", "a test to bool", "u8");
    let none = call("sum").sum(Array::scalar(1i64).node());
    mistake(
        &none,
        "sum",
        "an array of rank 1",
        "i64 of rank 0 from `scalar`",
    );
}

#[test]
fn scans() {
    for xs in all_kinds() {
        let n = xs.node();
        let sub = || operator(Op::Sub, Ty::I64);
        let add = || operator(Op::Add, Ty::I64);
        let max = || operator(Op::Max, Ty::I64);
        let seq = Fold::sequential(number(1), sub());
        same(
            &call("scan_seq").scan(n, seq, ScanKind::Inclusive),
            xs.scan_seq(1, |a, b| a - b).node(),
        );
        let fold = || Fold::associative(number(5), add());
        same(
            &call("scan").scan(n, fold(), ScanKind::Inclusive),
            xs.scan(5, |a, b| a + b).node(),
        );
        same(
            &call("scan1").scan1(n, max()),
            xs.scan1(|a, b| a.max(b)).node(),
        );
        same(&call("cumsum").cumsum(n), xs.cumsum().node());
        let (scan, total) = call("scan_with_total").scan_with_total(n, number(5), add());
        let (typed, typed_total) = xs.scan_with_total(5, |a, b| a + b);
        same(&scan, typed.node());
        same(&total, typed_total.node());
        same(
            &call("fold_right").fold_right(n, fold()),
            xs.fold_right(5, |a, b| a + b).node(),
        );
        let right = call("scan_right").scan_right(n, fold(), ScanKind::Exclusive);
        same(&right, xs.scan_exclusive_right(5, |a, b| a + b).node());
        same(
            &call("scan1_right").scan1_right(n, max()),
            xs.scan1_right(|a, b| a.max(b)).node(),
        );
        // The left argument of a step is the earlier element.
        let minus = || Fold::associative(number(5), sub());
        let right = call("fold_right").fold_right(n, minus());
        same(&right, xs.fold_right(5, |a, b| a - b).node());
        let right = call("scan_right").scan_right(n, minus(), ScanKind::Inclusive);
        same(&right, xs.scan_right(5, |a, b| a - b).node());
        same(&call("min_index").min_index(n), xs.min_index().node());
        same(&call("max_index").max_index(n), xs.max_index().node());
    }
    let numbers = "elements of one number each";
    mistake(
        &call("cumsum").cumsum(pairs().node()),
        "cumsum",
        numbers,
        "(i64, f64)",
    );
    mistake(
        &call("max_index").max_index(pairs().node()),
        "max_index",
        numbers,
        "(i64, f64)",
    );
    let step = operator(Op::Add, Ty::I64);
    let scan = call("scan1").scan1(pairs().node(), step);
    let (from, got) = ("a step from (i64, f64, i64, f64)", "one from (i64, i64)");
    mistake(&scan, "scan1", from, got);
}

/// A fold from the right combines each state with an element on its left.
#[test]
fn states_from_the_right() {
    // Functions y -> 3 y + x, the last one applied first, as pairs of a factor and a summand.
    let with = |op: Op, a: Field, b: Field| Field::op(op, &[a, b], place());
    let state = [Ty::I64, Ty::I64];
    let start = trace(&[], |_| {
        [1, 0]
            .map(|n| Exp::lit(n as i64).field())
            .into_iter()
            .collect()
    });
    let step = trace(&[Ty::I64; 3], |p| {
        let three = Exp::lit(3i64).field();
        let added = with(Op::Mul, p[2], three);
        Fields::from_iter([with(Op::Mul, p[1], three), with(Op::Add, added, p[0])])
    });
    let join = trace(&[state, state].concat(), |p| {
        let added = with(Op::Mul, p[0], p[3]);
        Fields::from_iter([with(Op::Mul, p[0], p[2]), with(Op::Add, added, p[1])])
    });
    let numbers: Vec<i64> = (0..100_000).map(|i| i * i % 1000 - 500).collect();
    let expected = numbers.iter().rev().fold((1i64, 0i64), |(a, b), x| {
        (a.wrapping_mul(3), b.wrapping_mul(3).wrapping_add(*x))
    });
    let xs = Array::from(numbers);
    let folds = [
        Fold::sequential(start.clone(), step.clone()),
        Fold::aggregate(start, step, join),
    ];
    for fold in folds {
        let folded = call("fold_right").fold_right(xs.node(), fold);
        let folded: Array<(i64, i64), Ix0> = Array::from_node(folded).unwrap();
        assert_eq!(folded.force().unwrap(), expected);
    }
}
