//! Untyped forms of `livefusion/src/array`.

mod anything;
mod closures;
mod folds;

use crate::{call, error, mistake, place, same};
use livefusion::array::Amount;
use livefusion::ast::{
    Axis, Body, Builder, Const, Field, Fields, Fold, Len, Node, Op, ScanKind, Ty, trace,
};
use livefusion::prelude::*;
use livefusion::{Error, ErrorKind};
use std::sync::Arc;

/// A body of one result.
fn body(params: &[Ty], f: impl FnOnce(&[Field]) -> Field) -> Body {
    trace(params, |p| Fields::from_iter([f(p)]))
}

/// A binary operator on one type.
fn operator(op: Op, ty: Ty) -> Body {
    body(&[ty, ty], |p| Field::op(op, p, place()))
}

/// A constant body without parameters.
fn number(n: i64) -> Body {
    body(&[], |_| Exp::lit(n).field())
}

/// A body that tests whether a number is odd.
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

/// An array in memory, an index function, and a stream.
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
    let one = number(1);
    let bins = || Bins {
        count: Len::Known(3),
        start: &one,
    };
    let sums =
        call("reduce_by_index").reduce_by_index(values.node(), indices.node(), bins(), add());
    let typed = values.reduce_by_index(
        &indices,
        Bins {
            count: 3,
            start: 1i64,
        },
        |a, b| a + b,
    );
    same(&sums, typed.node());
    let flags = Array::from(vec![true, false, true]);
    let sums = call("reduce_by_index").reduce_by_index(values.node(), flags.node(), bins(), add());
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
    // An operand's error takes precedence over an error in the call.
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
