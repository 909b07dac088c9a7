//! Streams beyond plain loops over inputs: merges, appended filters, suffix scans.

use super::{Agreement, Case, Ours, fused, prepared};
use crate::data::{Data, Input, Random, uniform};
use livefusion::prelude::*;

const fn stream(
    name: &'static str,
    agreement: Agreement,
    input: fn(usize) -> Input,
    reference: fn(&Input) -> Vec<Data>,
    ours: fn(&Engine, &Input) -> livefusion::Result<Ours>,
    rust: &'static [super::Rust],
) -> Case {
    Case {
        name,
        file: "streams.c",
        large: 1_000_000,
        agreement,
        input,
        reference,
        ours,
        rust,
    }
}

/// Merges two sorted columns and sums the last bytes of all elements.
///
/// It needs cursors.
pub const MERGE: Case = stream(
    "mergeSum",
    Agreement::Exact,
    |n| {
        let sorted = |seed, n| {
            let mut random = Random::new(seed);
            let mut keys: Vec<u64> = (0..n).map(|_| random.below(1 << 40)).collect();
            keys.sort_unstable();
            Data::input(keys)
        };
        vec![sorted(1, n / 2), sorted(2, n - n / 2)]
    },
    merge,
    |engine, input| {
        let columns = (input[0].array::<u64>(), input[1].array::<u64>());
        prepared(engine, columns, |(xs, ys): (Array<u64>, Array<u64>)| {
            let merged = xs.merge(&ys, |x, y| x.le(y));
            let sum = merged.map(|x| x & 0xff).sum();
            (merged, sum)
        })
    },
    &[fused(merge)],
);

fn merge(input: &Input) -> Vec<Data> {
    let (xs, ys) = (input[0].of::<u64>(), input[1].of::<u64>());
    let (mut merged, mut sum) = (Vec::with_capacity(xs.len() + ys.len()), 0);
    let (mut i, mut j) = (0, 0);
    while i < xs.len() || j < ys.len() {
        let takes_x = j == ys.len() || i < xs.len() && xs[i] <= ys[j];
        let x = if takes_x { xs[i] } else { ys[j] };
        i += usize::from(takes_x);
        j += usize::from(!takes_x);
        sum += x & 0xff;
        merged.push(x);
    }
    vec![Data::result(merged), Data::result(vec![sum])]
}

/// Appends two filters and sums the result.
///
/// It keeps the elements above 0.5 of one column, then those below of another. It needs phases.
pub const APPEND_FILTERS: Case = stream(
    "appendFilters",
    Agreement::Within(1e-9),
    |n| vec![uniform(1, n / 2), uniform(2, n - n / 2)],
    append_filters,
    |engine, input| {
        let columns = (input[0].array::<f64>(), input[1].array::<f64>());
        prepared(engine, columns, |(xs, ys): (Array<f64>, Array<f64>)| {
            let all = xs.filter(|x| x.gt(0.5)).append(&ys.filter(|y| y.lt(0.5)));
            let sum = all.sum();
            (all, sum)
        })
    },
    &[fused(append_filters)],
);

fn append_filters(input: &Input) -> Vec<Data> {
    let large = input[0].of::<f64>().iter().filter(|x| **x > 0.5);
    let small = input[1].of::<f64>().iter().filter(|x| **x < 0.5);
    let all: Vec<f64> = large.chain(small).copied().collect();
    let sum = all.iter().sum::<f64>();
    vec![Data::result(all), Data::result(vec![sum])]
}

/// Scans from the end.
///
/// It sums for each element those from it on, and finds the largest sum.
pub const SUFFIX_SUMS: Case = stream(
    "suffixSums",
    Agreement::Exact,
    |n| {
        let mut random = Random::new(3);
        let numbers = (0..n).map(|_| random.below(201) as i64 - 100);
        vec![Data::input(numbers.collect())]
    },
    suffix_sums,
    |engine, input| {
        prepared(engine, input[0].array::<i64>(), |xs: Array<i64>| {
            let sums = xs.scan_right(0, |a, b| a + b);
            let most = sums.fold(0i64, |a, b| a.max(b));
            (sums, most)
        })
    },
    &[fused(suffix_sums)],
);

fn suffix_sums(input: &Input) -> Vec<Data> {
    let xs = input[0].of::<i64>();
    let (mut sums, mut sum, mut most) = (vec![0; xs.len()], 0, 0);
    for (to, x) in sums.iter_mut().zip(xs).rev() {
        sum += x;
        most = most.max(sum);
        *to = sum;
    }
    vec![Data::result(sums), Data::result(vec![most])]
}
