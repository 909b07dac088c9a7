//! Long programs: 200 maps in a row, and 40 sums of one array.

use super::{Agreement, Case, fused, prepared};
use crate::data::{Data, Input, uniform};
use livefusion::prelude::*;

const MAPS: usize = 200;
const SUMS: usize = 40;

/// Applies 200 maps in a row.
pub const CHAIN: Case = Case {
    name: "mapChain200",
    file: "wide.c",
    large: 1_000_000,
    agreement: Agreement::Within(1e-12),
    input: |n| vec![uniform(1, n)],
    reference: chain,
    ours: |engine, input| {
        prepared(engine, input[0].array::<f64>(), |xs: Array<f64>| {
            (0..MAPS).fold(xs, |ys, _| ys.map(|y| 0.5 * y + 1.0))
        })
    },
    rust: &[fused(chain)],
};

/// Sums `|x - k / 40|` for all k.
///
/// It has more results than there are registers.
pub const RESULTS: Case = Case {
    name: "results40",
    file: "wide.c",
    large: 1_000_000,
    agreement: Agreement::Within(1e-9),
    input: |n| vec![uniform(1, n)],
    reference: sums,
    ours: |engine, input| {
        prepared(engine, input[0].array::<f64>(), |xs: Array<f64>| {
            let sum = |k| xs.map(|x| (x - k as f64 / SUMS as f64).abs()).sum();
            (0..SUMS).map(sum).collect::<Vec<_>>()
        })
    },
    rust: &[fused(sums)],
};

fn chain(input: &Input) -> Vec<Data> {
    let all = |x: &f64| (0..MAPS).fold(*x, |y, _| 0.5 * y + 1.0);
    vec![Data::result(
        input[0].of::<f64>().iter().map(all).collect::<Vec<f64>>(),
    )]
}

fn sums(input: &Input) -> Vec<Data> {
    let mut sums = [0.0; SUMS];
    for x in input[0].of::<f64>() {
        for (k, sum) in sums.iter_mut().enumerate() {
            *sum += (x - k as f64 / SUMS as f64).abs();
        }
    }
    sums.map(|s| Data::result(vec![s])).to_vec()
}
