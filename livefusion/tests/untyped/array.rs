//! `livefusion/src/array`.

use crate::{call, error, mistake, place, same};
use livefusion::array::Amount;
use livefusion::ast::{
    Body, Builder, Const, Field, Fields, Fold, Len, Node, Op, ScanKind, Ty, trace,
};
use livefusion::prelude::*;
use livefusion::{Error, ErrorKind};
use std::sync::Arc;

/// A body of one result.
fn body(params: &[Ty], f: impl FnOnce(&[Field]) -> Field) -> Body {
    trace(params, |p| Fields::from_iter([f(p)]))
}

/// An operator of two numbers of a type.
fn operator(op: Op, ty: Ty) -> Body {
    body(&[ty, ty], |p| Field::op(op, p, place()))
}

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

/// A body without parameters that is a number.
fn number(n: i64) -> Body {
    body(&[], |_| Exp::lit(n).field())
}

/// Whether a number is of a kind.
fn odd() -> Body {
    body(&[Ty::I64], |x| {
        let [zero, two] = [0, 2].map(|n| Exp::lit(n as i64).field());
        Field::op(
            Op::Ne,
            &[Field::op(Op::Rem, &[x[0], two], place()), zero],
            place(),
        )
    })
}

fn is_odd(x: Exp<i64>) -> Exp<bool> {
    (x % 2).ne(0)
}

/// An array in memory, a function of the index, a stream.
fn all_kinds() -> [Array<i64>; 3] {
    let xs = Array::from(vec![3i64, 3, -1, 4, 4, 4, 1]);
    let ys = iota(6).map(|i| (i / 2).cast::<i64>());
    let zs = xs.filter(|x| x.gt(0));
    [xs, ys, zs]
}

/// Pairs, with zeros of both signs and NaN.
fn pairs() -> Array<(i64, f64)> {
    Array::from(vec![
        (1, 0.0),
        (1, -0.0),
        (1, f64::NAN),
        (2, f64::NAN),
        (2, 1.5),
        (2, 1.5),
    ])
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
        // Steps see what comes first on the left.
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

/// States from the right are joined with what is on the left on the left.
#[test]
fn states_from_the_right() {
    // Functions y -> 3 y + x, the last one applied first, as what they multiply by and what they add.
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

#[test]
fn searches_and_parts() {
    for xs in all_kinds() {
        let n = xs.node();
        same(&call("first").first(n), xs.first().node());
        same(&call("last").last(n), xs.last().node());
        same(&call("find").find(n, odd()), xs.find(is_odd).node());
        same(
            &call("position").position(n, odd()),
            xs.position(is_odd).node(),
        );
        let (left, right) = call("partition").partition(n, odd());
        let (typed, others) = xs.partition(is_odd);
        same(&left, typed.node());
        same(&right, others.node());
        same(
            &call("take_while").take_while(n, odd(), false),
            xs.take_while(is_odd).node(),
        );
        same(
            &call("drop_while").drop_while(n, odd()),
            xs.drop_while(is_odd).node(),
        );
        for k in [0, 2, 9] {
            same(&call("take").take_n(n, Amount::Known(k)), xs.take(k).node());
            same(&call("drop").drop(n, Amount::Known(k)), xs.drop(k).node());
        }
        let len = xs.filter(is_odd).len();
        let delayed = Amount::Delayed(len.node().clone());
        same(
            &call("take").take_n(n, delayed.clone()),
            xs.take(&len).node(),
        );
        same(&call("drop").drop(n, delayed), xs.drop(&len).node());
        same(&call("reverse").reverse(n), xs.reverse().node());
        for by in [-2, 0, 1, i64::MIN] {
            same(
                &call("shift").shift(n, by, &number(7)),
                xs.shift(by, 7).node(),
            );
        }
        same(&call("enumerate").enumerate(n), xs.enumerate().node());
        same(
            &call("zip_shortest").zip_cut(&[n.clone(), n.clone()]),
            xs.zip_shortest(&xs).node(),
        );
    }
    let xs = Array::from(vec![1i64, 2]);
    let test = operator(Op::Add, Ty::I64);
    let found = call("find").find(xs.node(), test);
    mistake(&found, "find", "a function from i64", "one from (i64, i64)");
    let same_type = body(&[Ty::I64], |x| x[0]);
    let (wrong, _) = call("partition").partition(xs.node(), same_type.clone());
    mistake(&wrong, "partition", "a test to bool", "one to i64");
    mistake(
        &call("find").find(xs.node(), same_type.clone()),
        "find",
        "a test to bool",
        "i64",
    );
    let dropped = call("drop_while").drop_while(xs.node(), same_type);
    mistake(&dropped, "drop_while", "a test to bool", "i64");
    let dropped = call("drop").drop(xs.node(), Amount::Delayed(xs.sum().node().clone()));
    mistake(
        &dropped,
        "drop",
        "a length of type u64",
        "i64 of rank 0 from `sum`",
    );
    let taken = call("take").take_n(xs.node(), Amount::Negative(-1));
    mistake(&taken, "take", "a number of 0 or more", "-1");
    let filled = call("shift").shift(xs.node(), 1, &body(&[], |_| Exp::lit(1.5).field()));
    mistake(
        &filled,
        "shift",
        "a bool and two arms of one type",
        "bool, i64, f64",
    );
    let scalar = Array::scalar(1i64);
    let (rank, got) = ("an array of rank 1", "i64 of rank 0 from `scalar`");
    mistake(
        &call("reverse").reverse(scalar.node()),
        "reverse",
        rank,
        got,
    );
    mistake(&call("first").first(scalar.node()), "first", rank, got);
}

#[test]
fn windows() {
    for xs in all_kinds() {
        let n = xs.node();
        let sum = |window: &[Fields]| {
            let all = window.iter().map(|f| f[0]);
            all.reduce(|a, b| Field::op(Op::Add, &[a, b], place()))
                .into_iter()
                .collect()
        };
        let around = [
            Boundary::Clamp,
            Boundary::Wrap,
            Boundary::Mirror,
            Boundary::Constant(9),
        ];
        for typed in around {
            let untyped = match typed {
                Boundary::Clamp => Boundary::Clamp,
                Boundary::Wrap => Boundary::Wrap,
                Boundary::Mirror => Boundary::Mirror,
                Boundary::Constant(c) => Boundary::Constant(number(c)),
            };
            let typed = xs.windows(typed, |[a, b, c]| a + b + c);
            same(&call("windows").windows(n, 3, &untyped, sum), typed.node());
        }
    }
    let xs = Array::from(vec![1i64, 2]);
    let first = |window: &[Fields]| window[0].clone();
    let many = call("windows").windows(xs.node(), 1 << 20, &Boundary::Clamp, first);
    mistake(
        &many,
        "windows",
        "windows of at most 65536 elements",
        "1048576",
    );
    let wrong = Boundary::Constant(body(&[Ty::I64], |x| x[0]));
    let wrong = call("windows").windows(xs.node(), 2, &wrong, first);
    mistake(&wrong, "windows", "a function from ()", "one from i64");
}

#[test]
fn index_functions_and_reads() {
    let [xs, ys, zs] = all_kinds();
    same(&call("iota").iota(Len::Known(4)), iota(4).node());
    let steps = call("enum_from_step").enum_from_step(Len::Known(4), &number(10), &number(-3));
    same(&steps, enum_from_step(4, 10i64, -3).node());
    let wrong = body(&[], |_| Exp::lit(1.5).field());
    let steps = call("enum_from_step").enum_from_step(Len::Known(4), &number(10), &wrong);
    mistake(
        &steps,
        "enum_from_step",
        "operands that `mul` takes",
        "(i64, f64)",
    );
    let indices = Array::from(vec![2i32, 0, 0]);
    for source in [&xs, &ys, &zs] {
        let read = call("gather").gather(source.node(), indices.node());
        same(&read, source.gather(&indices).node());
        let third = body(&[], |_| Exp::lit(2u8).field());
        same(&call("at").item(source.node(), &third), source.at(2).node());
    }
    let m = Array::from([[1i64, 2], [3, 4]]);
    let corner = trace(&[], |_| Fields::from_elem(Exp::lit(1u64).field(), 2));
    same(&call("at").item(m.node(), &corner), m.at((1, 1)).node());
    let whole = "an index of integers for an array of rank 2";
    mistake(&call("at").item(m.node(), &number(0)), "at", whole, "i64");
    let outside = error(&call("at").item(xs.node(), &number(-1)));
    let kind = ErrorKind::OutOfRange { index: -1, len: 7 };
    assert_eq!((outside.kind, outside.location), (kind, Some(place())));
    let floats = Array::from(vec![1.5f64]);
    let read = call("gather").gather(xs.node(), floats.node());
    mistake(&read, "gather", "indices of an integer type", "f64");
}

#[test]
fn joins() {
    let kinds = all_kinds();
    for xs in &kinds {
        for ys in &kinds {
            let parts = [xs.node().clone(), ys.node().clone()];
            same(&call("concat").concat(&parts), concat([xs, ys]).node());
            let at_most = operator(Op::Le, Ty::I64);
            let merged = call("merge").merge_sorted(xs.node(), ys.node(), &at_most);
            same(&merged, xs.merge(ys, |a, b| a.le(b)).node());
            let (xs, ys) = (
                xs.take(3),
                ys.drop(3).append(&Array::from(vec![1, 2])).take(3),
            );
            let both = call("interleave").interleave(xs.node(), ys.node());
            same(&both, xs.interleave(&ys).node());
            let flags = Array::from(vec![true, false, false, true, true, false]);
            let both = call("combine").combine(flags.node(), xs.node(), ys.node());
            same(&both, flags.combine(&xs, &ys).node());
        }
    }
    let (xs, fs) = (Array::from(vec![1i64]), Array::from(vec![1.5f64]));
    let (expected, got) = ("elements of type i64", "f64 of rank 1 from `manifest`");
    let parts = [xs.node().clone(), fs.node().clone()];
    mistake(&call("concat").concat(&parts), "concat", expected, got);
    let both = call("interleave").interleave(xs.node(), fs.node());
    mistake(&both, "interleave", expected, got);
    let at_most = operator(Op::Le, Ty::I64);
    let merged = call("merge").merge_sorted(xs.node(), fs.node(), &at_most);
    mistake(&merged, "merge", expected, got);
    let merged = call("merge").merge_sorted(fs.node(), fs.node(), &at_most);
    let (from, one) = ("a function from (f64, f64)", "one from (i64, i64)");
    mistake(&merged, "merge", from, one);
    let both = call("combine").combine(xs.node(), xs.node(), xs.node());
    mistake(&both, "combine", "flags of type bool", "i64");
    mistake(
        &call("concat").concat(&[]),
        "concat",
        "an element of at least one field",
        "none",
    );
}

#[test]
fn neighbours_that_are_equal() {
    let equal = || operator(Op::Eq, Ty::I64);
    for xs in all_kinds() {
        let n = xs.node();
        same(&call("unique").unique(n), xs.unique().node());
        let by = call("unique_by").unique_by(n, &equal());
        same(&by, xs.unique_by(|a, b| a.eq(b)).node());
        let (values, lengths) = call("group").group(n);
        let (typed, typed_lengths) = xs.group();
        same(&values, typed.node());
        same(&lengths, typed_lengths.node());
        let (values, lengths) = call("group_by").group_by(n, &operator(Op::Le, Ty::I64));
        let (typed, typed_lengths) = xs.group_by(|a, b| a.le(b));
        same(&values, typed.node());
        same(&lengths, typed_lengths.node());
    }
    let xs = pairs();
    same(&call("unique").unique(xs.node()), xs.unique().node());
    let (values, lengths) = call("group").group(xs.node());
    let (typed, typed_lengths) = xs.group();
    same(&values, typed.node());
    same(&lengths, typed_lengths.node());
    let by = call("unique_by").unique_by(xs.node(), &equal());
    let (from, got) = (
        "a function from (i64, f64, i64, f64)",
        "one from (i64, i64)",
    );
    mistake(&by, "unique_by", from, got);
    let (_, lengths) = call("group_by").group_by(xs.node(), &equal());
    mistake(&lengths, "group_by", from, got);
}

#[test]
fn scatters() {
    let base = Array::from(vec![0i64, 0, 5]);
    let (indices, values) = (Array::from(vec![2i64, 0, 2]), Array::from(vec![7i64, 8, 9]));
    let add = || operator(Op::Add, Ty::I64);
    let places = call("scatter").indices_of(indices.node());
    let put = call("scatter").scatter(base.node(), &places, values.node(), Some(add()));
    same(
        &put,
        base.scatter_with(&indices, &values, |a, b| a + b).node(),
    );
    let updated = call("update").update(base.node(), &number(1), &number(4));
    same(&updated, base.update(1, 4).node());
    let bins = (Len::Known(3), &number(1));
    let sums =
        call("reduce_by_index").reduce_by_index(bins.clone(), indices.node(), values.node(), add());
    let typed = reduce_by_index(3, 1i64, &indices, &values, |a, b| a + b);
    same(&sums, typed.node());
    let flags = Array::from(vec![true, false, true]);
    let sums = call("reduce_by_index").reduce_by_index(bins, flags.node(), values.node(), add());
    mistake(
        &sums,
        "reduce_by_index",
        "indices of type u64",
        "bool of rank 1 from `manifest`",
    );
    let updated = call("update").update(
        base.node(),
        &number(1),
        &body(&[], |_| Exp::lit(1.5).field()),
    );
    mistake(
        &updated,
        "update",
        "values of type i64",
        "f64 of rank 1 from `update`",
    );
}

#[test]
fn operators() {
    let xs = Array::from(vec![1i64, 2]);
    let total = xs.sum();
    let both = call("add").operator(Op::Add, &[xs.node().clone(), total.node().clone()]);
    same(&both, (&xs + &total).node());
    same(
        &call("neg").operator(Op::Neg, &[xs.node().clone()]),
        (-&xs).node(),
    );
    let fs = Array::from(vec![1.5f64, 2.5]);
    let wrong = call("add").operator(Op::Add, &[xs.node().clone(), fs.node().clone()]);
    mistake(&wrong, "add", "operands that `add` takes", "(i64, f64)");
    let wrong = call("add").operator(Op::Add, &[pairs().node().clone(), fs.node().clone()]);
    let one_each = "elements of one scalar each";
    mistake(&wrong, "add", one_each, "(i64, f64)");
    let pair = Array::scalar((1i64, 2.0f64));
    let wrong = call("add").operator(Op::Add, &[xs.node().clone(), pair.node().clone()]);
    mistake(&wrong, "add", one_each, "(i64, f64)");
    // What an operand has wrong comes before what is wrong with them.
    let sum = call("sum").sum(Array::from(vec![true]).node());
    let wrong = call("add").operator(Op::Add, &[pairs().node().clone(), sum]);
    mistake(&wrong, "sum", "elements of one number each", "bool");
    let m = Array::from([[1i64, 2]]);
    let wrong = call("add").operator(Op::Add, &[xs.node().clone(), m.node().clone()]);
    assert!(
        error(&wrong)
            .to_string()
            .starts_with("`add` at test.lf:3:14")
    );
    mistake(
        &call("add").operator(Op::Add, &[]),
        "add",
        "at least one input",
        "none",
    );
}

/// The first mistake that a front end makes is the one that comes out.
#[test]
fn mistakes_in_closures() {
    let xs = Array::from(vec![1i64]);
    let map = |f: &dyn Fn(Field) -> Field| {
        let node = call("map").map(&[xs.node().clone()], body(&[Ty::I64], |x| f(x[0])));
        let Error { location, kind, .. } = error(&node);
        assert_eq!(location, Some(place()));
        let ErrorKind::Malformed { expected, got } = kind else {
            panic!("{kind:?}");
        };
        (expected, got)
    };
    let half = Field::literal(Const::f64(0.5));
    let expected = |a: &str, b: &str| (a.to_string(), b.to_string());
    let added = expected("operands that `add` takes", "(i64, f64)");
    assert_eq!(map(&|x| Field::op(Op::Add, &[x, half], place())), added);
    let twice = |x| {
        Field::op(
            Op::Add,
            &[Field::op(Op::Add, &[x, half], place()), half],
            place(),
        )
    };
    assert_eq!(map(&twice), added);
    let cond = |x: Field| x.cond(&[x], &[half], place())[0];
    assert_eq!(
        map(&cond),
        expected("a bool and two arms of one type", "i64, i64, f64")
    );
    let index = |_| Field::at(xs.node(), &[half], place())[0];
    assert_eq!(
        map(&index),
        expected("an index of integers for an array of rank 1", "f64")
    );
    let whole = |_| Field::value(xs.node(), place())[0];
    assert_eq!(
        map(&whole),
        expected("a field of a delayed scalar", "field 0 of i64 of rank 1")
    );
    let known = Field::op(
        Op::Div,
        &[Exp::lit(1i64).field(), Exp::lit(0i64).field()],
        place(),
    );
    let node = call("map").map(&[xs.node().clone()], body(&[Ty::I64], |_| known));
    let kind = ErrorKind::Division {
        dividend: 1,
        divisor: 0,
    };
    assert_eq!(error(&node).kind, kind);
    let broken = Builder::at("sum", place()).sum(Array::from(vec![true]).node());
    let node = call("map").map(
        &[xs.node().clone()],
        body(&[Ty::I64], |_| Field::value(&broken, place())[0]),
    );
    mistake(&node, "sum", "elements of one number each", "bool");
}

/// Powers, by products.
#[test]
fn repetition_in_closures() {
    let xs = Array::from(vec![1i64, -2, 3]);
    let powers = |n: Field| {
        let times = |s: &[Field], x: Field| Field::op(Op::Mul, &[s[0], x], place());
        body(&[Ty::I64], |x| {
            let one = [Exp::lit(1i64).field()];
            let next = |s: &[Field]| Fields::from_slice(&[times(s, x[0])]);
            Field::iterate(n, &one, next, place())[0]
        })
    };
    let node = xs.node().clone();
    let cubes = call("map").map(std::slice::from_ref(&node), powers(Exp::lit(3u64).field()));
    same(&cubes, xs.map(|x| x * x * x).node());
    let wrong = call("map").map(&[node], powers(Exp::lit(3i64).field()));
    mistake(&wrong, "map", "operands that `lt` takes", "(u64, i64)");
}

/// `while n != 1 { n = if n is odd { 3 n + 1 } else { n / 2 }; steps += 1 }`.
#[test]
fn loops_in_closures() {
    let xs = Array::from(vec![1i64, 6, 7]);
    let n = |n: i64| Exp::lit(n).field();
    let op = |op, args: &[Field]| Field::op(op, args, place());
    let steps = body(&[Ty::I64], |x| {
        let test = |s: &[Field]| op(Op::Ne, &[s[0], n(1)]);
        let next = |s: &[Field]| {
            let is_odd = op(Op::Eq, &[op(Op::Rem, &[s[0], n(2)]), n(1)]);
            let up = op(Op::Add, &[op(Op::Mul, &[s[0], n(3)]), n(1)]);
            let down = op(Op::Div, &[s[0], n(2)]);
            let mut next = is_odd.cond(&[up], &[down], place());
            next.push(op(Op::Add, &[s[1], n(1)]));
            next
        };
        Field::while_loop(&[x[0], n(0)], test, next, place())[1]
    });
    let steps = call("map").map(&[xs.node().clone()], steps);
    same(&steps, Array::from(vec![0i64, 8, 16]).node());
}

/// Whatever an untyped form is given, it gives nodes, which have a value or an error when they are forced.
#[test]
fn nothing_panics() {
    let kind = || ErrorKind::Empty;
    let xs = Array::from(vec![2i64, 0]);
    let nodes = [
        xs.node().clone(),
        xs.filter(is_odd).node().clone(),
        xs.map(|x| x.cast::<f64>()).node().clone(),
        Array::from(vec![true, false]).node().clone(),
        pairs().node().clone(),
        xs.sum().node().clone(),
        xs.len().node().clone(),
        Array::scalar((1.5f64, true)).node().clone(),
        Array::from([[1i64, 2], [3, 4]]).node().clone(),
        call("none").fault(&[], 1, kind()),
        call("none").fault(&[], 0, kind()),
        call("none").fault(&[Ty::I64], 2, kind()),
    ];
    let leaked = std::cell::Cell::new(None);
    let pass = |x: &[Field]| Fields::from_slice(x);
    let bodies = [
        number(1),
        body(&[], |_| Field::literal(Const::bool(true))),
        odd(),
        operator(Op::Add, Ty::I64),
        operator(Op::Lt, Ty::I64),
        body(&[Ty::I64], |x| {
            leaked.set(Some(x[0]));
            x[0]
        }),
        body(&[], |_| leaked.get().unwrap_or(Exp::lit(1u8).field())),
        body(&[Ty::F64], |x| {
            Field::op(Op::Rem, &[x[0], Exp::lit(1i64).field()], place())
        }),
        trace(&[Ty::I64, Ty::F64], pass),
        trace(&[Ty::Bool], pass),
        trace(&[], pass),
        Body::default(),
    ];
    let b = call("any");
    let mut made = Vec::new();
    for (x, of_one) in nodes.iter().map(|x| (x, of_one(b, x))) {
        made.extend(of_one);
        for f in &bodies {
            made.extend(of_body(b, x, f));
        }
        for y in &nodes {
            made.extend(of_two(b, x, y, &bodies));
        }
    }
    let engine = Engine::interp();
    let values = made.iter().filter(|node| {
        let value = livefusion::runtime::force_nodes(&engine, std::slice::from_ref(node));
        value.is_ok()
    });
    // Most do not fit.
    assert!((100..made.len() / 2).contains(&values.count()));
}

fn of_one(b: Builder, x: &Arc<Node>) -> Vec<Arc<Node>> {
    let (values, lengths) = b.group(x);
    let mut all = vec![values, lengths];
    let two = |w: &[Fields]| Fields::from_slice(&[w[0][..].to_vec(), w[1][..].to_vec()].concat());
    let boundary = [
        Boundary::Clamp,
        Boundary::Wrap,
        Boundary::Mirror,
        Boundary::Constant(number(1)),
    ];
    all.extend(
        boundary
            .iter()
            .map(|boundary| b.windows(x, 2, boundary, two)),
    );
    all.extend([
        b.sum(x),
        b.product(x),
        b.min(x),
        b.max(x),
        b.mean(x),
        b.var(x),
        b.std(x),
    ]);
    all.extend([
        b.min_index(x),
        b.max_index(x),
        b.cumsum(x),
        b.first(x),
        b.last(x),
        b.reverse(x),
    ]);
    all.extend([
        b.enumerate(x),
        b.unique(x),
        b.indices_of(x),
        b.zip_cut(std::slice::from_ref(x)),
    ]);
    all.extend(
        [Op::Neg, Op::Sqrt, Op::Add, Op::Select].map(|op| b.operator(op, std::slice::from_ref(x))),
    );
    for n in [
        Amount::Known(1),
        Amount::Negative(-1),
        Amount::Delayed(x.clone()),
    ] {
        all.extend([b.take_n(x, n.clone()), b.drop(x, n)]);
    }
    all
}

fn of_body(b: Builder, x: &Arc<Node>, f: &Body) -> Vec<Arc<Node>> {
    let (kept, others) = b.partition(x, f.clone());
    let (scan, total) = b.scan_with_total(x, number(1), f.clone());
    let (values, lengths) = b.group_by(x, f);
    let fold = || Fold::associative(number(1), f.clone());
    let mut all = vec![kept, others, scan, total, values, lengths];
    all.extend([
        b.any(x, f.clone()),
        b.all(x, f.clone()),
        b.count(x, f.clone()),
    ]);
    all.extend([
        b.find(x, f.clone()),
        b.position(x, f.clone()),
        b.drop_while(x, f.clone()),
    ]);
    all.extend([
        b.scan1(x, f.clone()),
        b.scan1_right(x, f.clone()),
        b.fold_right(x, fold()),
    ]);
    all.push(b.scan_right(x, fold(), ScanKind::Exclusive));
    all.extend([
        b.unique_by(x, f),
        b.shift(x, 1, f),
        b.item(x, f),
        b.bins(Len::Known(2), f),
    ]);
    all.extend([b.update(x, f, &number(1)), b.update(x, &number(1), f)]);
    all.push(b.windows(x, 3, &Boundary::Constant(f.clone()), |w| w[0].clone()));
    all.push(b.enum_from_step(Len::Delayed(x.clone()), f, &number(1)));
    all
}

fn of_two(b: Builder, x: &Arc<Node>, y: &Arc<Node>, bodies: &[Body]) -> Vec<Arc<Node>> {
    let both = [x.clone(), y.clone()];
    let mut all = vec![
        b.concat(&both),
        b.zip_cut(&both),
        b.gather(x, y),
        b.interleave(x, y),
    ];
    all.extend([
        b.combine(x, y, y),
        b.combine(y, x, y),
        b.operator(Op::Add, &both),
    ]);
    for f in bodies {
        all.push(b.merge_sorted(x, y, f));
        all.push(b.reduce_by_index((Len::Known(2), f), x, y, operator(Op::Add, Ty::I64)));
        all.push(b.reduce_by_index((Len::Known(2), &number(1)), x, y, f.clone()));
    }
    all
}
