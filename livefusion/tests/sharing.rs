//! Sharing recovery: let-bound terms and their scopes.
//!
//! The examples are figure 2 of McDonell et al., "Optimising Purely Functional GPU Programs", 2013,
//! and Black-Scholes. `LOOP_BLESS=1 cargo test -p livefusion` rewrites the golden files.

use crate::common::golden;
use livefusion::ast::{Body, BodyBuilder, Kind};
use livefusion::prelude::*;
use livefusion::stages;
use loop_lang::Op;
use loop_lang::types::{Const, Ty};

fn body_of<T: livefusion::Elt>(array: &Array<T>) -> Body {
    match &array.node().kind {
        Kind::Map(body) => body.clone(),
        other => panic!("expected a map, got {other:?}"),
    }
}

/// `let inc = (+) 1 in let nine = (let three = inc 2 in three * three) in inc nine - nine`: `three`
/// is bound inside the definition of `nine`, and `nine` above the difference.
#[test]
fn figure_2() {
    let mut b = BodyBuilder::new(&[]);
    let one = b.lit(Const::int(Ty::I64, 1));
    let two = b.lit(Const::int(Ty::I64, 2));
    let inc = |b: &mut BodyBuilder, x| b.op(Op::Add, &[one, x]);
    let three = inc(&mut b, two);
    let nine = b.op(Op::Mul, &[three, three]);
    let ten = inc(&mut b, nine);
    let result = b.op(Op::Sub, &[ten, nine]);
    let body = b.finish(&[result]);
    golden("figure_2.txt", &body.to_string());
    // Building the same term again finds the same term: `three` is written twice, computed once.
    let mut b = BodyBuilder::new(&[Ty::I64]);
    let x = b.param(0);
    let one = b.lit(Const::int(Ty::I64, 1));
    let first = b.op(Op::Add, &[one, x]);
    let second = b.op(Op::Add, &[one, x]);
    assert_eq!(first, second);
}

fn horner(coefficients: &[f32], x: Exp<f32>) -> Exp<f32> {
    let (last, rest) = coefficients.split_last().expect("coefficients");
    x * rest
        .iter()
        .rev()
        .fold(last.to_exp(), |acc: Exp<f32>, c| *c + x * acc)
}

fn cnd(d: Exp<f32>) -> Exp<f32> {
    let coefficients = [
        0.319_381_53,
        -0.356_563_78,
        1.781_477_9,
        -1.821_255_9,
        1.330_274_5,
    ];
    let k = 1.0 / (1.0 + 0.231_641_9 * d.abs());
    let c = 0.398_942_3 * (-0.5 * d * d).exp() * horner(&coefficients, k);
    d.gt(0.0).cond(1.0 - c, c)
}

fn black_scholes(options: &Array<(f32, f32, f32)>) -> Array<(f32, f32)> {
    let (riskfree, volatility) = (0.02f32, 0.30f32);
    options.map(|(price, strike, years)| {
        let v_sqrt_t = volatility * years.sqrt();
        let drift = riskfree + 0.5 * volatility * volatility;
        let d1 = ((price / strike).ln() + drift * years) / v_sqrt_t;
        let d2 = d1 - v_sqrt_t;
        let x_exp_rt = strike * (-riskfree * years).exp();
        let call = price * cnd(d1) - x_exp_rt * cnd(d2);
        let put = x_exp_rt * (1.0 - cnd(d2)) - price * (1.0 - cnd(d1));
        (call, put)
    })
}

/// `cnd` is called four times on two arguments. Its exponential is computed twice, next to the
/// discount's.
#[test]
fn black_scholes_shares_cnd() {
    let options: Array<(f32, f32, f32)> = vec![(30.0, 35.0, 1.0)].into();
    let body = body_of(&black_scholes(&options));
    let text = body.to_string();
    assert_eq!(text.matches("= exp ").count(), 3, "{text}");
    assert_eq!(text.matches("= ln ").count(), 1, "{text}");
    assert_eq!(text.matches("= sqrt ").count(), 1, "{text}");
    golden("black_scholes.txt", &text);
}

/// A term that one arm alone uses is bound in that arm; a term of both arms is bound above.
#[test]
fn arms_keep_their_own_terms() {
    let xs: Array<i64> = vec![1i64].into();
    let ys = xs.map(|x| {
        let both = x * 3;
        x.gt(0).cond(100 / x + both, both)
    });
    golden("arms.txt", &body_of(&ys).to_string());
}

/// Terms that the test and the step of a scalar loop share are bound in the test, inside the loop.
#[test]
fn scalar_loops_keep_their_own_terms() {
    let xs: Array<f64> = vec![1.0].into();
    let ys = xs.map(|x| {
        let limit = x + 100.0;
        while_loop(x, |s| (s * s).lt(limit), |s| s * s)
    });
    golden("scalar_loop.txt", &body_of(&ys).to_string());
}

/// Structurally equal nodes are unified, although the user called the function twice.
#[test]
fn equal_nodes_are_unified() {
    let xs: Array<f64> = vec![1.0, 2.0].into();
    let twice = |xs: &Array<f64>| xs.map(|x| x * 2.0);
    let both = (twice(&xs).sum(), twice(&xs).sum());
    let graph = stages::graph(&both).expect("graph");
    assert_eq!(graph.roots()[0], graph.roots()[1]);
    assert_eq!(graph.ids().count(), 3);
    // Another constant is another node, but the same structure.
    let thrice = xs.map(|x| x * 3.0).sum();
    let graph = stages::graph(&(&both.0, &thrice)).expect("graph");
    assert_ne!(graph.roots()[0], graph.roots()[1]);
    let alone = |n| stages::graph(n).expect("graph");
    assert!(alone(&both.0).is_like(&alone(&thrice)));
}
