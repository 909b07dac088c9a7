//! The elements above 0.5, and those among them below 0.75.

use super::{Agreement, Case, Ours, fused, prepared, rayon, unfused};
use crate::data::{Data, Input, uniform};
use livefusion::prelude::*;
use rayon::prelude::*;

/// Filters twice.
pub const CASE: Case = Case {
    name: "nestedFilter",
    file: "nested_filter.c",
    large: 10_000_000,
    agreement: Agreement::Exact,
    input: |n| vec![uniform(1, n)],
    reference: by_loop,
    ours,
    rust: &[unfused(by_passes), fused(by_loop), rayon(in_parallel)],
};

fn ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    prepared(engine, input[0].array::<f64>(), |xs: Array<f64>| {
        let outer = xs.filter(|x| x.gt(0.5));
        let inner = outer.filter(|x| x.lt(0.75));
        (outer, inner)
    })
}

fn results(outer: Vec<f64>, inner: Vec<f64>) -> Vec<Data> {
    vec![Data::result(outer), Data::result(inner)]
}

fn by_passes(input: &Input) -> Vec<Data> {
    let xs = input[0].of::<f64>();
    let outer: Vec<f64> = xs.iter().copied().filter(|x| *x > 0.5).collect();
    let inner = outer.iter().copied().filter(|x| *x < 0.75).collect();
    results(outer, inner)
}

fn by_loop(input: &Input) -> Vec<Data> {
    let xs = input[0].of::<f64>();
    let (mut outer, mut inner) = (Vec::with_capacity(xs.len()), Vec::with_capacity(xs.len()));
    for &x in xs {
        if x > 0.5 {
            outer.push(x);
            if x < 0.75 {
                inner.push(x);
            }
        }
    }
    results(outer, inner)
}

fn in_parallel(input: &Input) -> Vec<Data> {
    let xs = input[0].of::<f64>();
    let outer: Vec<f64> = xs.par_iter().copied().filter(|x| *x > 0.5).collect();
    let inner = outer.par_iter().copied().filter(|x| *x < 0.75).collect();
    results(outer, inner)
}
