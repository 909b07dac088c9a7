//! Square roots by Newton's method: a loop per element until convergence.

use super::{Agreement, Case, Ours, fused, prepared};
use crate::data::{Data, Input, Random};
use livefusion::prelude::*;

const LIMIT: i64 = 32;
const NEAR: f64 = 1e-9;

/// Computes the roots.
///
/// With contraction a few roots take a step more or less.
pub const CASE: Case = Case {
    name: "newton",
    file: "newton.c",
    large: 1_000_000,
    agreement: Agreement::Within(1e-8),
    input: |n| vec![Data::input(Random::new(1).between(n, 1.0, 1000.0))],
    reference: by_loop,
    ours,
    rust: &[fused(by_loop)],
};

fn ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    prepared(engine, input[0].array::<f64>(), |xs: Array<f64>| {
        xs.map(|x| {
            let (root, _) = while_loop(
                (x, 0i64),
                |(y, n)| (y * y - x).gt(NEAR * x) & n.lt(LIMIT),
                |(y, n)| (0.5 * (y + x / y), n + 1),
            );
            root
        })
    })
}

fn by_loop(input: &Input) -> Vec<Data> {
    let root = |x: &f64| {
        let (mut y, mut n) = (*x, 0);
        while y * y - x > NEAR * x && n < LIMIT {
            y = 0.5 * (y + x / y);
            n += 1;
        }
        y
    };
    let xs = input[0].of::<f64>().iter();
    vec![Data::result(xs.map(root).collect::<Vec<f64>>())]
}
