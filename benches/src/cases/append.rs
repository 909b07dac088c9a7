//! One array after the other, each mapped first.

use super::{Agreement, Case, Ours, fused, prepared, unfused};
use crate::data::{Data, Input, uniform};
use livefusion::prelude::*;
use ndarray::{ArrayView1, Axis, concatenate};

/// Appends two mapped arrays.
///
/// Its elements are those of the result.
pub const CASE: Case = Case {
    name: "append",
    file: "maps.c",
    large: 10_000_000,
    agreement: Agreement::Exact,
    input: |n| vec![uniform(1, n / 2), uniform(2, n - n / 2)],
    reference: by_iterators,
    ours,
    rust: &[unfused(by_arrays), fused(by_iterators)],
};

fn ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let columns = (input[0].array::<f64>(), input[1].array::<f64>());
    prepared(engine, columns, |(xs, ys): (Array<f64>, Array<f64>)| {
        xs.map(|x| 2.0 * x).append(&ys.map(|y| y + 1.0))
    })
}

fn by_arrays(input: &Input) -> Vec<Data> {
    let [x, y] = [0, 1].map(|k| ArrayView1::from(input[k].of::<f64>()));
    let (twice, more) = (2.0 * &x, &y + 1.0);
    let both = concatenate(Axis(0), &[twice.view(), more.view()]);
    vec![Data::result(both.map_or_else(
        |_| Vec::new(),
        |a| a.into_raw_vec_and_offset().0,
    ))]
}

fn by_iterators(input: &Input) -> Vec<Data> {
    let (xs, ys) = (input[0].of::<f64>(), input[1].of::<f64>());
    let mut all = Vec::with_capacity(xs.len() + ys.len());
    all.extend(xs.iter().map(|x| 2.0 * x));
    all.extend(ys.iter().map(|y| y + 1.0));
    vec![Data::result(all)]
}
