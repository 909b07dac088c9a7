//! Prefix compositions of affine maps: a scan by a non-commutative operator.

use super::{Agreement, Case, Ours, fused, prepared};
use crate::data::{Data, Input, Random};
use livefusion::prelude::*;

/// Composes the maps `a x + b` up to each one.
///
/// The factors are near 1, so that nothing overflows or vanishes.
pub const CASE: Case = Case {
    name: "scanAffine",
    file: "scan_affine.c",
    large: 10_000_000,
    agreement: Agreement::Within(1e-9),
    input: |n| {
        let mut random = Random::new(1);
        let factors = random.between(n, 0.999, 1.001);
        vec![
            Data::input(factors),
            Data::input(random.between(n, 0.0, 1.0)),
        ]
    },
    reference: by_loop,
    ours,
    rust: &[fused(by_loop)],
};

fn ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let columns = (input[0].array::<f64>(), input[1].array::<f64>());
    prepared(engine, columns, |(a, b): (Array<f64>, Array<f64>)| {
        zip((&a, &b)).scan((1.0, 0.0), |p, q| (p.0 * q.0, p.1 * q.0 + q.1))
    })
}

fn by_loop(input: &Input) -> Vec<Data> {
    let maps = input[0].of::<f64>().iter().zip(input[1].of::<f64>());
    let all = maps.scan((1.0, 0.0), |p, (a, b)| {
        *p = (p.0 * a, p.1 * a + b);
        Some(*p)
    });
    let (factors, offsets): (Vec<f64>, Vec<f64>) = all.unzip();
    vec![Data::result(factors), Data::result(offsets)]
}
