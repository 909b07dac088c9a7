//! Each number doubled, then a constant added and subtracted.

use super::{Agreement, Case, Ours, fused, prepared, rayon, unfused};
use crate::data::{Data, Input, uniform};
use livefusion::prelude::*;
use ndarray::ArrayView1;
use rayon::prelude::*;

/// Maps twice.
pub const CASE: Case = Case {
    name: "mapMap",
    file: "maps.c",
    large: 10_000_000,
    agreement: Agreement::Exact,
    input: |n| vec![uniform(1, n)],
    reference: by_iterators,
    ours,
    rust: &[unfused(by_arrays), fused(by_iterators), rayon(in_parallel)],
};

fn ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    prepared(engine, input[0].array::<f64>(), |xs| crate::map_map(&xs))
}

fn by_arrays(input: &Input) -> Vec<Data> {
    let twice = 2.0 * &ArrayView1::from(input[0].of::<f64>());
    let (up, down) = (&twice + 50.0, &twice - 50.0);
    [up, down]
        .map(|a| Data::result(a.into_raw_vec_and_offset().0))
        .to_vec()
}

fn by_iterators(input: &Input) -> Vec<Data> {
    let both = input[0]
        .of::<f64>()
        .iter()
        .map(|x| (2.0 * x + 50.0, 2.0 * x - 50.0));
    let (up, down): (Vec<f64>, Vec<f64>) = both.unzip();
    vec![Data::result(up), Data::result(down)]
}

fn in_parallel(input: &Input) -> Vec<Data> {
    let both = input[0]
        .of::<f64>()
        .par_iter()
        .map(|x| (2.0 * x + 50.0, 2.0 * x - 50.0));
    let (up, down): (Vec<f64>, Vec<f64>) = both.unzip();
    vec![Data::result(up), Data::result(down)]
}
