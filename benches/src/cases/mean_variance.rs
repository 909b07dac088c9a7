//! The mean, and the variance as the mean of squares minus the squared mean.

use super::{Agreement, Case, Ours, fused, prepared, rayon, unfused};
use crate::data::{Data, Input, uniform};
use livefusion::prelude::*;
use ndarray::ArrayView1;
use rayon::prelude::*;

/// Computes both moments.
pub const CASE: Case = Case {
    name: "meanVariance",
    file: "folds.c",
    large: 10_000_000,
    agreement: Agreement::Within(1e-9),
    input: |n| vec![uniform(1, n)],
    reference: by_loop,
    ours,
    rust: &[unfused(by_arrays), fused(by_loop), rayon(in_parallel)],
};

fn ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    prepared(engine, input[0].array::<f64>(), |xs: Array<f64>| {
        let (mean, squares) = (xs.mean(), xs.map(|x| x * x).mean());
        let variance = (&mean, &squares).zip_with(|m, q| q - m * m);
        (mean, variance)
    })
}

fn moments(n: usize, (sum, squares): (f64, f64)) -> Vec<Data> {
    let mean = sum / n as f64;
    [mean, squares / n as f64 - mean * mean]
        .map(|m| Data::result(vec![m]))
        .to_vec()
}

fn by_arrays(input: &Input) -> Vec<Data> {
    let x = ArrayView1::from(input[0].of::<f64>());
    moments(x.len(), (x.sum(), (&x * &x).sum()))
}

fn by_loop(input: &Input) -> Vec<Data> {
    let xs = input[0].of::<f64>();
    moments(
        xs.len(),
        xs.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x)),
    )
}

fn in_parallel(input: &Input) -> Vec<Data> {
    let xs = input[0].of::<f64>();
    let parts = xs.par_chunks(1 << 14);
    let sums = parts.map(|xs| xs.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x)));
    moments(
        xs.len(),
        sums.reduce(|| (0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1)),
    )
}
