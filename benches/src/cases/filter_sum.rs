//! The elements above 0.5, and the sums before and after this filter.
//!
//! Half of the elements are kept, in random order.

use super::{Agreement, Case, Ours, fused, prepared, rayon, unfused};
use crate::data::{Data, Input, uniform};
use livefusion::prelude::*;
use ndarray::ArrayView1;
use rayon::prelude::*;

/// Filters and sums before and after.
pub const CASE: Case = Case {
    name: "filterSum",
    file: "filter_sum.c",
    large: 10_000_000,
    agreement: Agreement::Within(1e-9),
    input: |n| vec![uniform(1, n)],
    reference: by_loop,
    ours,
    rust: &[unfused(by_passes), fused(by_loop), rayon(in_parallel)],
};

fn ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    prepared(engine, input[0].array::<f64>(), |xs| crate::filter_sum(&xs))
}

fn results(kept: Vec<f64>, before: f64, after: f64) -> Vec<Data> {
    let sums = [before, after].map(|s| Data::result(vec![s]));
    [Data::result(kept)].into_iter().chain(sums).collect()
}

fn by_passes(input: &Input) -> Vec<Data> {
    let xs = input[0].of::<f64>();
    let kept: Vec<f64> = xs.iter().copied().filter(|x| *x > 0.5).collect();
    let (before, after) = (ArrayView1::from(xs).sum(), ArrayView1::from(&kept).sum());
    results(kept, before, after)
}

fn by_loop(input: &Input) -> Vec<Data> {
    let xs = input[0].of::<f64>();
    let (mut kept, mut before, mut after) = (Vec::with_capacity(xs.len()), 0.0, 0.0);
    for &x in xs {
        before += x;
        if x > 0.5 {
            after += x;
            kept.push(x);
        }
    }
    results(kept, before, after)
}

fn in_parallel(input: &Input) -> Vec<Data> {
    let xs = input[0].of::<f64>();
    let kept: Vec<f64> = xs.par_iter().copied().filter(|x| *x > 0.5).collect();
    let (before, after) = (xs.par_iter().sum(), kept.par_iter().sum());
    results(kept, before, after)
}
