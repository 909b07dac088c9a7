//! The largest sum of neighbouring integers.

use super::{Agreement, Case, Ours, fused, prepared, rayon};
use crate::data::{Data, Input, Random};
use livefusion::prelude::*;
use rayon::prelude::*;

/// Finds the largest sum.
pub const CASE: Case = Case {
    name: "maxSegmentSum",
    file: "max_segment_sum.c",
    large: 10_000_000,
    agreement: Agreement::Exact,
    input: |n| {
        let mut random = Random::new(1);
        let numbers = (0..n).map(|_| random.below(2001) as i64 - 1000);
        vec![Data::input(numbers.collect())]
    },
    reference: by_loop,
    ours,
    rust: &[fused(by_loop), rayon(in_parallel)],
};

fn ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    prepared(engine, input[0].array::<i64>(), |xs: Array<i64>| {
        let one = |x: Exp<i64>| {
            let positive = x.max(0);
            (positive, positive, positive, x)
        };
        let all = xs
            .map(one)
            .fold((0, 0, 0, 0), |(m, l, r, s), (n, k, q, t)| {
                (m.max(n).max(r + k), l.max(s + k), q.max(r + t), s + t)
            });
        let (largest, ..) = all.unzip();
        largest
    })
}

fn by_loop(input: &Input) -> Vec<Data> {
    let (mut most, mut last) = (0i64, 0i64);
    for x in input[0].of::<i64>() {
        last = (last + x).max(0);
        most = most.max(last);
    }
    vec![Data::result(vec![most])]
}

fn in_parallel(input: &Input) -> Vec<Data> {
    type Sums = (i64, i64, i64, i64);
    let join = |(m, l, r, s): Sums, (n, k, q, t): Sums| {
        (m.max(n).max(r + k), l.max(s + k), q.max(r + t), s + t)
    };
    let one = |&x: &i64| (x.max(0), x.max(0), x.max(0), x);
    let part = |xs: &[i64]| xs.iter().map(one).fold((0, 0, 0, 0), join);
    let parts = input[0].of::<i64>().par_chunks(1 << 14).map(part);
    vec![Data::result(vec![parts.reduce(|| (0, 0, 0, 0), join).0])]
}
