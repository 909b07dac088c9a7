//! Primitives for tracing closures.

use super::*;

/// The first error of a front end is the reported one.
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

/// Powers, by repeated multiplication.
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

/// A field whose type differs from the expression's is converted.
#[test]
fn expressions_of_fields() {
    assert_eq!(
        Exp::<f64>::of(Exp::lit(3i64).field()).field().as_literal(),
        Some(Const::f64(3.0))
    );
    let halves = body(&[Ty::I64], |x| (Exp::<f64>::of(x[0]) / 2.0).field());
    let xs = Array::from(vec![1i64, 2]);
    let typed = xs.map(|x| x.cast::<f64>() / 2.0);
    same(&call("map").map(&[xs.node().clone()], halves), typed.node());
}
