//! The sum of dot products of plane vectors, stored in four arrays.

use super::{Agreement, Case, Ours, fused, prepared, rayon, unfused};
use crate::data::{Data, Input, uniform};
use livefusion::prelude::*;
use ndarray::ArrayView1;
use rayon::prelude::*;

/// Sums the dot products.
pub const CASE: Case = Case {
    name: "dotProduct",
    file: "folds.c",
    large: 10_000_000,
    agreement: Agreement::Within(1e-9),
    input: |n| (1..5).map(|seed| uniform(seed, n)).collect(),
    reference: by_iterators,
    ours,
    rust: &[unfused(by_arrays), fused(by_iterators), rayon(in_parallel)],
};

type Column = Array<f64>;

fn ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let [a, b, c, d] = [0, 1, 2, 3].map(|k| input[k].array::<f64>());
    prepared(
        engine,
        (a, b, c, d),
        |(a, b, c, d): (Column, Column, Column, Column)| ((a * c) + (b * d)).sum(),
    )
}

fn by_arrays(input: &Input) -> Vec<Data> {
    let [a, b, c, d] = [0, 1, 2, 3].map(|k| ArrayView1::from(input[k].of::<f64>()));
    vec![Data::result(vec![(&a * &c + &b * &d).sum()])]
}

fn by_iterators(input: &Input) -> Vec<Data> {
    let [a, b, c, d] = [0, 1, 2, 3].map(|k| input[k].of::<f64>());
    let pairs = a.iter().zip(b).zip(c).zip(d);
    let sum: f64 = pairs.map(|(((a, b), c), d)| a * c + b * d).sum();
    vec![Data::result(vec![sum])]
}

fn in_parallel(input: &Input) -> Vec<Data> {
    let [a, b, c, d] = [0, 1, 2, 3].map(|k| input[k].of::<f64>().par_iter());
    let pairs = a.zip(b).zip(c).zip(d);
    let sum: f64 = pairs.map(|(((a, b), c), d)| a * c + b * d).sum();
    vec![Data::result(vec![sum])]
}
