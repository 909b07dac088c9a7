//! A stencil of five points: a weighted mean, with repeated ends.

use super::{Agreement, Case, Ours, fused, prepared, rayon, unfused};
use crate::data::{Data, Input, uniform};
use livefusion::prelude::*;
use ndarray::{Array1, s};
use rayon::prelude::*;

/// Computes the stencil of five points.
pub const CASE: Case = Case {
    name: "stencil5",
    file: "stencil.c",
    large: 10_000_000,
    agreement: Agreement::Within(1e-12),
    input: |n| vec![uniform(1, n)],
    reference: by_index,
    ours,
    rust: &[unfused(by_arrays), fused(by_windows), rayon(in_parallel)],
};

fn ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    prepared(engine, input[0].array::<f64>(), |xs: Array<f64>| {
        xs.windows(Boundary::Clamp, |[a, b, c, d, e]| {
            0.1 * a + 0.2 * b + 0.4 * c + 0.2 * d + 0.1 * e
        })
    })
}

fn weighted(a: f64, b: f64, c: f64, d: f64, e: f64) -> f64 {
    0.1 * a + 0.2 * b + 0.4 * c + 0.2 * d + 0.1 * e
}

fn at(xs: &[f64], i: usize) -> f64 {
    let near = |k: usize| xs[(i + k).saturating_sub(2).min(xs.len() - 1)];
    weighted(near(0), near(1), near(2), near(3), near(4))
}

fn by_index(input: &Input) -> Vec<Data> {
    let xs = input[0].of::<f64>();
    vec![Data::result(
        (0..xs.len()).map(|i| at(xs, i)).collect::<Vec<f64>>(),
    )]
}

fn by_windows(input: &Input) -> Vec<Data> {
    let xs = input[0].of::<f64>();
    let n = xs.len();
    if n < 4 {
        return by_index(input);
    }
    let mut out = Vec::with_capacity(n);
    out.extend([at(xs, 0), at(xs, 1)]);
    out.extend(
        xs.windows(5)
            .map(|w| weighted(w[0], w[1], w[2], w[3], w[4])),
    );
    out.extend([at(xs, n - 2), at(xs, n - 1)]);
    vec![Data::result(out)]
}

fn by_arrays(input: &Input) -> Vec<Data> {
    let xs = input[0].of::<f64>();
    let (Some(first), Some(last), n) = (xs.first(), xs.last(), xs.len()) else {
        return vec![Data::result(Vec::<f64>::new())];
    };
    let padded: Array1<f64> = [*first; 2]
        .iter()
        .chain(xs)
        .chain(&[*last; 2])
        .copied()
        .collect();
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|k| padded.slice(s![k..k + n]));
    let sum = 0.1 * &a + 0.2 * &b + 0.4 * &c + 0.2 * &d + 0.1 * &e;
    vec![Data::result(sum.into_raw_vec_and_offset().0)]
}

fn in_parallel(input: &Input) -> Vec<Data> {
    let xs = input[0].of::<f64>();
    let all = (0..xs.len()).into_par_iter().map(|i| at(xs, i));
    vec![Data::result(all.collect::<Vec<f64>>())]
}
