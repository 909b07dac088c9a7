//! Random numbers: functions of a key and an index.

use super::{Combinator, Kind, row};
use crate::eval::{Call, Result};
use crate::value::{Elt, Value};
use livefusion::ast::{Body, Builder, Len, Node};
use loop_lang::Ty;
use std::sync::Arc;

const KEY: Kind = Kind::Count;
const N: Kind = Kind::Count;
const WORD: Elt = Elt::Scalar(Ty::U64);
const INTEGER: Elt = Elt::Scalar(Ty::I64);
const NUMBER: Elt = Elt::Scalar(Ty::F64);

/// Lists the combinators.
#[rustfmt::skip]
pub static ROWS: &[Combinator] = &[
    row("random::bits", &[KEY, N], "(key, n) => [u64]", "random::bits(7, 2)", |c| drawn(c, WORD, Builder::random_bits)),
    row("random::uniform", &[KEY, N], "(key, n) => [f64]", "random::uniform(7, 2)", |c| {
        drawn(c, NUMBER, Builder::random_uniform)
    }),
    row("random::uniform2", &[KEY, N], "(key, n) => [(f64, f64)]", "random::uniform2(7, 1)", |c| {
        drawn(c, Elt::Tuple(vec![NUMBER, NUMBER]), Builder::random_uniform2)
    }),
    row("random::normal", &[KEY, N], "(key, n) => [f64]", "random::normal(7, 2)", |c| {
        drawn(c, NUMBER, Builder::random_normal)
    }),
    row("random::normal2", &[KEY, N], "(key, n) => [(f64, f64)]", "random::normal2(7, 1)", |c| {
        drawn(c, Elt::Tuple(vec![NUMBER, NUMBER]), Builder::random_normal2)
    }),
    row("random::integers", &[KEY, N, Kind::Number, Kind::Number], "(key, n, low, high) => [i64]", "random::integers(7, 5, 1, 7)", |c| {
        let [low, high] = [c.scalar(2, Some(&INTEGER))?.0, c.scalar(3, Some(&INTEGER))?.0];
        drawn(c, INTEGER, |builder, n, key| builder.random_integers(n, key, &low, &high))
    }),
    row("random::permutation", &[KEY, N], "(key, n) => [u64]", "random::permutation(7, 5)", |c| {
        drawn(c, WORD, Builder::random_permutation)
    }),
];

fn drawn(
    c: &mut Call<'_, '_>,
    elt: Elt,
    make: impl FnOnce(Builder, Len, &Body) -> Arc<Node>,
) -> Result<Value> {
    let key = c.count_body(0)?;
    let n = c.count(1)?.len();
    c.give(make(c.builder, n, &key), elt)
}
