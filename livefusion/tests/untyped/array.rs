//! `livefusion/src/array`.

use crate::{call, mistake, same};
use livefusion::ast::{Body, Field, Fields, Op, Ty, trace};
use livefusion::prelude::*;

/// A body of one result.
fn body(params: &[Ty], f: impl FnOnce(&[Field]) -> Field) -> Body {
    trace(params, |p| Fields::from_iter([f(p)]))
}

/// An operator of two numbers of a type.
fn operator(op: Op, ty: Ty) -> Body {
    body(&[ty, ty], |p| Field::op(op, p, crate::place()))
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
        body(&[Ty::I64], |x| {
            Field::op(Op::Gt, &[x[0], k], crate::place())
        })
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
    let test = body(&[Ty::Bool], |x| x[0].cast(Ty::U8, crate::place()));
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
