//! Sums along the axes of a matrix, and their dependents.
//!
//! Each case has a square matrix, and one with rows of ten elements.

use super::{Case, Data, Input, Matrix, Short, Square, case, fused, on};
use livefusion::prelude::*;

const FILE: &str = "rank_sums.c";

/// Sums each row.
pub const ROW_SUMS: Case = rows::<Square>("rowSums");
/// Sums each short row.
pub const ROW_SUMS_SHORT: Case = rows::<Short>("rowSumsShort");
/// Sums each column.
pub const COLUMN_SUMS: Case = columns::<Square>("columnSums");
/// Sums each column of short rows.
pub const COLUMN_SUMS_SHORT: Case = columns::<Short>("columnSumsShort");
/// Computes the running sums of each column.
pub const RUNNING: Case = running::<Square>("runningColumns");
/// Computes the running sums of each column of short rows.
pub const RUNNING_SHORT: Case = running::<Short>("runningColumnsShort");
/// Sums each row and each column.
pub const BOTH_SUMS: Case = both::<Square>("rowAndColumnSums");
/// Sums each short row and each column.
pub const BOTH_SUMS_SHORT: Case = both::<Short>("rowAndColumnSumsShort");
/// Computes the mean and the variance of each row.
pub const MOMENTS: Case = moments::<Square>("rowMeanVariance");
/// Computes the mean and the variance of each short row.
pub const MOMENTS_SHORT: Case = moments::<Short>("rowMeanVarianceShort");
/// Divides the exponentials of each row's elements by their sum.
pub const SOFTMAX: Case = softmax::<Square>("rowSoftmax");
/// Computes the softmax of each short row.
pub const SOFTMAX_SHORT: Case = softmax::<Short>("rowSoftmaxShort");
/// Divides each element by the sum of its column.
pub const NORMALISE: Case = normalise::<Square>("normaliseColumns");
/// Divides each element of short rows by the sum of its column.
pub const NORMALISE_SHORT: Case = normalise::<Short>("normaliseColumnsShort");

const fn rows<M: Matrix>(name: &'static str) -> Case {
    let ours = |e: &Engine, i: &Input| on::<M, _>(e, i, |m| m.along(1).sum());
    case::<M>(
        name,
        FILE,
        row_sums::<M>,
        ours,
        const { &[fused(row_sums::<M>)] },
    )
}

const fn columns<M: Matrix>(name: &'static str) -> Case {
    let ours = |e: &Engine, i: &Input| on::<M, _>(e, i, |m| m.along(0).sum());
    let reference = column_sums::<M>;
    case::<M>(
        name,
        FILE,
        reference,
        ours,
        const { &[fused(column_sums::<M>)] },
    )
}

const fn running<M: Matrix>(name: &'static str) -> Case {
    let ours = |e: &Engine, i: &Input| on::<M, _>(e, i, |m| m.along(0).cumsum().flatten());
    let reference = running_sums::<M>;
    case::<M>(
        name,
        FILE,
        reference,
        ours,
        const { &[fused(running_sums::<M>)] },
    )
}

const fn both<M: Matrix>(name: &'static str) -> Case {
    let ours = |e: &Engine, i: &Input| on::<M, _>(e, i, |m| (m.along(1).sum(), m.along(0).sum()));
    case::<M>(
        name,
        FILE,
        both_sums::<M>,
        ours,
        const { &[fused(both_sums::<M>)] },
    )
}

const fn moments<M: Matrix>(name: &'static str) -> Case {
    let ours = |e: &Engine, i: &Input| on::<M, _>(e, i, |m| (m.along(1).mean(), m.along(1).var()));
    let reference = row_moments::<M>;
    case::<M>(
        name,
        FILE,
        reference,
        ours,
        const { &[fused(row_moments::<M>)] },
    )
}

const fn softmax<M: Matrix>(name: &'static str) -> Case {
    let ours = |e: &Engine, i: &Input| {
        on::<M, _>(e, i, |m| {
            let shares = m.map_rows(|row| {
                let most = row.max();
                let powers = row.map(|x| (x - &most).exp());
                let total = powers.sum();
                powers.map(|x| x / &total)
            });
            shares.flatten()
        })
    };
    let reference = row_softmax::<M>;
    case::<M>(
        name,
        FILE,
        reference,
        ours,
        const { &[fused(row_softmax::<M>)] },
    )
}

const fn normalise<M: Matrix>(name: &'static str) -> Case {
    let ours = |e: &Engine, i: &Input| {
        on::<M, _>(e, i, |m| {
            let [rows, _] = M::shape(i[0].len());
            let sums = m.along(0).sum().broadcast((rows, ..));
            (&m / &sums).flatten()
        })
    };
    let reference = columns_normalised::<M>;
    case::<M>(
        name,
        FILE,
        reference,
        ours,
        const { &[fused(columns_normalised::<M>)] },
    )
}

fn rows_of<M: Matrix>(input: &Input) -> std::slice::ChunksExact<'_, f64> {
    let [_, columns] = M::shape(input[0].len());
    input[0].of::<f64>().chunks_exact(columns.max(1))
}

fn row_sums<M: Matrix>(input: &Input) -> Vec<Data> {
    let sums = rows_of::<M>(input).map(|row| row.iter().sum::<f64>());
    vec![Data::result(sums.collect::<Vec<f64>>())]
}

fn sums_of_columns<M: Matrix>(input: &Input) -> Vec<f64> {
    let [_, columns] = M::shape(input[0].len());
    let mut sums = vec![0.0; columns];
    for row in rows_of::<M>(input) {
        sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    sums
}

fn column_sums<M: Matrix>(input: &Input) -> Vec<Data> {
    vec![Data::result(sums_of_columns::<M>(input))]
}

fn running_sums<M: Matrix>(input: &Input) -> Vec<Data> {
    let [_, columns] = M::shape(input[0].len());
    let mut sums = vec![0.0; columns];
    let mut out = Vec::with_capacity(input[0].len());
    for row in rows_of::<M>(input) {
        sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        out.extend_from_slice(&sums);
    }
    vec![Data::result(out)]
}

fn both_sums<M: Matrix>(input: &Input) -> Vec<Data> {
    let [_, columns] = M::shape(input[0].len());
    let mut sums = vec![0.0; columns];
    let rows = rows_of::<M>(input).map(|row| {
        let mut all = 0.0;
        for (sum, x) in sums.iter_mut().zip(row) {
            *sum += x;
            all += x;
        }
        all
    });
    let rows: Vec<f64> = rows.collect();
    vec![Data::result(rows), Data::result(sums)]
}

fn row_moments<M: Matrix>(input: &Input) -> Vec<Data> {
    let of = |row: &[f64]| {
        let n = row.len() as f64;
        let mean = row.iter().sum::<f64>() / n;
        let squares = row.iter().map(|x| (x - mean) * (x - mean));
        (mean, squares.sum::<f64>() / n)
    };
    let (means, variances): (Vec<f64>, Vec<f64>) = rows_of::<M>(input).map(of).unzip();
    vec![Data::result(means), Data::result(variances)]
}

fn row_softmax<M: Matrix>(input: &Input) -> Vec<Data> {
    let mut out = Vec::with_capacity(input[0].len());
    for row in rows_of::<M>(input) {
        let most = row.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
        let (start, mut total) = (out.len(), 0.0);
        for x in row {
            let power = (x - most).exp();
            total += power;
            out.push(power);
        }
        out[start..].iter_mut().for_each(|x| *x /= total);
    }
    vec![Data::result(out)]
}

fn columns_normalised<M: Matrix>(input: &Input) -> Vec<Data> {
    let sums = sums_of_columns::<M>(input);
    let shares = rows_of::<M>(input).flat_map(|row| row.iter().zip(&sums).map(|(x, s)| x / s));
    vec![Data::result(shares.collect::<Vec<f64>>())]
}
