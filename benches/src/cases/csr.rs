//! A sparse matrix in compressed rows times a vector.
//!
//! Rows have 0 to 32 elements, in random columns.

use super::{Agreement, Case, Ours, fused, prepared, rayon};
use crate::data::{Data, Input, Random, uniform};
use livefusion::prelude::*;
use rayon::prelude::*;

/// Multiplies the matrix and the vector.
///
/// Its elements are those of the matrix.
pub const CASE: Case = Case {
    name: "csrProduct",
    file: "csr.c",
    large: 10_000_000,
    agreement: Agreement::Within(1e-9),
    input,
    reference: by_rows,
    ours,
    rust: &[fused(by_rows), rayon(in_parallel)],
};

fn input(n: usize) -> Input {
    let (mut random, mut offsets) = (Random::new(2), vec![0u32]);
    let mut end = 0;
    while end < n {
        end = n.min(end + random.below(33) as usize);
        offsets.push(end as u32);
    }
    let width = offsets.len() - 1;
    let columns: Vec<u32> = (0..n).map(|_| random.below(width as u64) as u32).collect();
    vec![
        uniform(1, n),
        Data::input(columns),
        Data::input(offsets),
        uniform(3, width),
    ]
}

type Columns = (Array<f64>, Array<u32>, Array<u32>, Array<f64>);

fn ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let columns: Columns = (
        input[0].array(),
        input[1].array(),
        input[2].array(),
        input[3].array(),
    );
    prepared(engine, columns, |(values, columns, offsets, x): Columns| {
        let products =
            values.zip_with(&columns, |value, column| value * x.at(column.cast::<u64>()));
        Segmented::from_offsets(&offsets, &products).sum()
    })
}

fn row(input: &Input, ends: &[u32]) -> f64 {
    let range = ends[0] as usize..ends[1] as usize;
    let (values, columns) = (
        &input[0].of::<f64>()[range.clone()],
        &input[1].of::<u32>()[range],
    );
    let x = input[3].of::<f64>();
    values
        .iter()
        .zip(columns)
        .map(|(v, c)| v * x[*c as usize])
        .sum()
}

fn by_rows(input: &Input) -> Vec<Data> {
    let rows = input[2].of::<u32>().windows(2);
    vec![Data::result(
        rows.map(|ends| row(input, ends)).collect::<Vec<f64>>(),
    )]
}

fn in_parallel(input: &Input) -> Vec<Data> {
    let rows = input[2].of::<u32>().par_windows(2);
    vec![Data::result(
        rows.map(|ends| row(input, ends)).collect::<Vec<f64>>(),
    )]
}
