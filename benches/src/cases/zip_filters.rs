//! Products of the elements above 0.5 of two arrays, pair by pair.
//!
//! Both have equally many such elements.

use super::{Agreement, Case, Ours, fused, prepared, unfused};
use crate::data::{Data, Input, Random};
use livefusion::prelude::*;

/// Zips two filters.
pub const CASE: Case = Case {
    name: "zipFilters",
    file: "zip_filters.c",
    large: 10_000_000,
    agreement: Agreement::Exact,
    input: |n| {
        let xs = Random::new(1).between(n, 0.0, 1.0);
        let ys = xs.iter().rev().copied().collect();
        vec![Data::input(xs), Data::input(ys)]
    },
    reference: by_iterators,
    ours,
    rust: &[unfused(by_passes), fused(by_iterators)],
};

fn ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let columns = (input[0].array::<f64>(), input[1].array::<f64>());
    prepared(engine, columns, |(xs, ys): (Array<f64>, Array<f64>)| {
        let (xs, ys) = (xs.filter(|x| x.gt(0.5)), ys.filter(|y| y.gt(0.5)));
        xs.zip_with(&ys, |x, y| x * y)
    })
}

fn by_iterators(input: &Input) -> Vec<Data> {
    let [xs, ys] = [0, 1].map(|k| input[k].of::<f64>().iter().filter(|x| **x > 0.5));
    vec![Data::result(
        xs.zip(ys).map(|(x, y)| x * y).collect::<Vec<f64>>(),
    )]
}

fn by_passes(input: &Input) -> Vec<Data> {
    let kept = |k: usize| -> Vec<f64> {
        input[k]
            .of::<f64>()
            .iter()
            .copied()
            .filter(|x| *x > 0.5)
            .collect()
    };
    let (xs, ys) = (kept(0), kept(1));
    vec![Data::result(
        xs.iter().zip(&ys).map(|(x, y)| x * y).collect::<Vec<f64>>(),
    )]
}
