//! Histograms of keys.

use super::{Agreement, Case, Ours, Rust, fused, prepared, rayon};
use crate::data::{Data, Input, Random};
use livefusion::prelude::*;
use rayon::prelude::*;

const RUST: &[Rust] = &[fused(by_loop), rayon(in_parallel)];

const fn histogram(name: &'static str, input: fn(usize) -> Input) -> Case {
    Case {
        name,
        file: "histogram.c",
        large: 10_000_000,
        agreement: Agreement::Exact,
        input,
        reference: by_loop,
        ours,
        rust: RUST,
    }
}

/// Counts in 256 bins.
///
/// They fit in the first-level cache.
pub const SMALL: Case = histogram("histogram256", |n| keys(n, 256));

/// Counts in a million bins.
///
/// They exceed a second-level cache.
pub const LARGE: Case = histogram("histogram1M", |n| keys(n, 1_000_000));

fn keys(n: usize, bins: u64) -> Input {
    let mut random = Random::new(1);
    let keys = (0..n).map(|_| random.below(bins) as u32);
    vec![Data::input(keys.collect()), Data::input(vec![bins])]
}

fn bins(input: &Input) -> usize {
    input[1].of::<u64>().first().map_or(0, |b| *b as usize)
}

fn ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let bins = bins(input) as u64;
    prepared(engine, input[0].array::<u32>(), |keys: Array<u32>| {
        let ones = keys.map(|_| Exp::lit(1u64));
        ones.reduce_by_index(
            &keys,
            Bins {
                count: bins,
                start: 0u64,
            },
            |a, b| a + b,
        )
    })
}

fn count(counts: &mut [u64], keys: &[u32]) {
    keys.iter().for_each(|k| counts[*k as usize] += 1);
}

fn by_loop(input: &Input) -> Vec<Data> {
    let mut counts = vec![0; bins(input)];
    count(&mut counts, input[0].of());
    vec![Data::result(counts)]
}

fn in_parallel(input: &Input) -> Vec<Data> {
    let (bins, keys) = (bins(input), input[0].of::<u32>());
    let size = keys.len().div_ceil(rayon::current_num_threads()).max(1);
    let tables = keys.par_chunks(size).map(|keys| {
        let mut counts = vec![0; bins];
        count(&mut counts, keys);
        counts
    });
    let add = |mut a: Vec<u64>, b: Vec<u64>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    vec![Data::result(
        tables.reduce_with(add).unwrap_or_else(|| vec![0; bins]),
    )]
}
