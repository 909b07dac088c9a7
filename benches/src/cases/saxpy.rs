//! The sum of the square roots of `2.5 x + y`.

use super::{Agreement, Case, Ours, fused, prepared, rayon, unfused};
use crate::data::{Data, Input, uniform};
use livefusion::prelude::*;
use ndarray::ArrayView1;
use rayon::prelude::*;

/// Sums the roots.
pub const CASE: Case = Case {
    name: "saxpySqrtSum",
    file: "folds.c",
    large: 10_000_000,
    agreement: Agreement::Within(1e-9),
    input: |n| vec![uniform(1, n), uniform(2, n)],
    reference: by_iterators,
    ours,
    rust: &[unfused(by_arrays), fused(by_iterators), rayon(in_parallel)],
};

fn ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let columns = (input[0].array::<f64>(), input[1].array::<f64>());
    prepared(engine, columns, |(xs, ys): (Array<f64>, Array<f64>)| {
        xs.zip_with(&ys, |x, y| (2.5 * x + y).sqrt()).sum()
    })
}

fn by_arrays(input: &Input) -> Vec<Data> {
    let [x, y] = [0, 1].map(|k| ArrayView1::from(input[k].of::<f64>()));
    vec![Data::result(vec![(2.5 * &x + y).sqrt().sum()])]
}

fn by_iterators(input: &Input) -> Vec<Data> {
    let pairs = input[0].of::<f64>().iter().zip(input[1].of::<f64>());
    let sum: f64 = pairs.map(|(x, y)| (2.5 * x + y).sqrt()).sum();
    vec![Data::result(vec![sum])]
}

fn in_parallel(input: &Input) -> Vec<Data> {
    let [x, y] = [0, 1].map(|k| input[k].of::<f64>().par_iter());
    let sum: f64 = x.zip(y).map(|(x, y)| (2.5 * x + y).sqrt()).sum();
    vec![Data::result(vec![sum])]
}
