//! Elements plus 1 that are above 1.5, and their maximum.

use super::{Agreement, Case, Ours, fused, prepared, rayon, unfused};
use crate::data::{Data, Input, uniform};
use livefusion::prelude::*;
use ndarray::ArrayView1;
use rayon::prelude::*;

/// Filters and takes the maximum.
pub const CASE: Case = Case {
    name: "filterMax",
    file: "filter_max.c",
    large: 10_000_000,
    agreement: Agreement::Exact,
    input: |n| vec![uniform(1, n)],
    reference: by_loop,
    ours,
    rust: &[unfused(by_passes), fused(by_loop), rayon(in_parallel)],
};

fn ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    prepared(engine, input[0].array::<f64>(), |xs| crate::filter_max(&xs))
}

fn results(kept: Vec<f64>, largest: f64) -> Vec<Data> {
    vec![Data::result(kept), Data::result(vec![largest])]
}

fn by_passes(input: &Input) -> Vec<Data> {
    let more = 1.0 + &ArrayView1::from(input[0].of::<f64>());
    let kept: Vec<f64> = more.iter().copied().filter(|y| *y > 1.5).collect();
    let largest = kept.iter().copied().fold(0.0, f64::max);
    results(kept, largest)
}

fn by_loop(input: &Input) -> Vec<Data> {
    let xs = input[0].of::<f64>();
    let (mut kept, mut largest) = (Vec::with_capacity(xs.len()), 0.0f64);
    for x in xs {
        let y = x + 1.0;
        if y > 1.5 {
            largest = largest.max(y);
            kept.push(y);
        }
    }
    results(kept, largest)
}

fn in_parallel(input: &Input) -> Vec<Data> {
    let more = input[0].of::<f64>().par_iter().map(|x| x + 1.0);
    let kept: Vec<f64> = more.filter(|y| *y > 1.5).collect();
    let largest = kept.par_iter().copied().reduce(|| 0.0, f64::max);
    results(kept, largest)
}
