//! Exits: loops that end where a test says so, here after nearly all elements.

use super::{Agreement, Case, Ours, fused, prepared};
use crate::data::{Data, Input, uniform};
use livefusion::prelude::*;

const fn exit(
    name: &'static str,
    reference: fn(&Input) -> Vec<Data>,
    ours: fn(&Engine, &Input) -> livefusion::Result<Ours>,
    rust: &'static [super::Rust],
) -> Case {
    Case {
        name,
        file: "exits.c",
        large: 1_000_000,
        agreement: Agreement::Within(1e-9),
        input,
        reference,
        ours,
        rust,
    }
}

/// Where the first element above 0.99 is.
pub const POSITION: Case = exit(
    "position",
    position,
    |engine, input| {
        prepared(engine, input[0].array::<f64>(), |xs: Array<f64>| {
            xs.position(|x| x.gt(0.99))
        })
    },
    &[fused(position)],
);

/// The sum of the elements before it.
pub const TAKE_WHILE_SUM: Case = exit(
    "takeWhileSum",
    take_while_sum,
    |engine, input| {
        prepared(engine, input[0].array::<f64>(), |xs: Array<f64>| {
            xs.take_while(|x| x.le(0.99)).sum()
        })
    },
    &[fused(take_while_sum)],
);

/// Numbers from 0 to 0.9, but for one, which is among the last.
fn input(n: usize) -> Input {
    let mut numbers: Vec<f64> = uniform(1, n).of::<f64>().iter().map(|x| 0.9 * x).collect();
    if let Some(last) = numbers.iter_mut().rev().nth(n / 100) {
        *last = 1.0;
    }
    vec![Data::input(numbers)]
}

fn position(input: &Input) -> Vec<Data> {
    let at = input[0].of::<f64>().iter().position(|x| *x > 0.99);
    vec![Data::result(vec![at.unwrap_or_default() as u64])]
}

fn take_while_sum(input: &Input) -> Vec<Data> {
    let before = input[0].of::<f64>().iter().take_while(|x| **x <= 0.99);
    vec![Data::result(vec![before.sum::<f64>()])]
}
