//! Loops over arrays whose steps change few elements.

use super::{Agreement, Case, Ours, fused, prepared};
use crate::data::{Data, Input, Random};
use livefusion::prelude::*;

/// Runs the sieve of Eratosthenes.
///
/// An element is a number.
pub const SIEVE: Case = Case {
    name: "sieve",
    file: "updates.c",
    large: 10_000_000,
    agreement: Agreement::Exact,
    input: |n| vec![Data::input(vec![1u8; n])],
    reference: sieve,
    ours: sieve_ours,
    rust: &[fused(sieve)],
};

/// Updates one element in ten thousand, a hundred times.
///
/// Each step adds a number to them. An element is one of the array.
pub const FEW: Case = Case {
    name: "updateFew",
    file: "updates.c",
    large: 10_000_000,
    agreement: Agreement::Exact,
    input: |n| {
        let mut random = Random::new(1);
        let indices = (0..n.div_ceil(10_000)).map(|_| random.below(n as u64) as u32);
        let indices = indices.collect();
        vec![
            Data::input((0..n as u64).collect()),
            Data::input::<u32>(indices),
        ]
    },
    reference: few,
    ours: few_ours,
    rust: &[fused(few)],
};

const STEPS: u64 = 100;

fn sieve_ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let n = input[0].len() as u64;
    prepared(engine, input[0].array::<u8>(), move |all: Array<u8>| {
        let start = (&all, &Array::scalar(2u64));
        let step = |(prime, k): (Array<u8>, Array<u64, Ix0>)| {
            let count = k.map(|k| prime.at(k).eq(1).cond((n - 1) / k + 1 - k, 0));
            let multiples = generate(&count, |j| (j + k.value()) * k.value());
            (prime.scatter(&multiples, &replicate(&count, 0u8)), k + 1)
        };
        iterate_n(n.isqrt().saturating_sub(1), start, step).0
    })
}

fn sieve(input: &Input) -> Vec<Data> {
    let mut prime = input[0].of::<u8>().to_vec();
    for k in 2..=prime.len().isqrt() {
        if prime[k] == 1 {
            prime[k * k..].iter_mut().step_by(k).for_each(|p| *p = 0);
        }
    }
    vec![Data::result(prime)]
}

fn few_ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let inputs = (input[0].array::<u64>(), input[1].array::<u32>());
    prepared(
        engine,
        inputs,
        |(counts, indices): (Array<u64>, Array<u32>)| {
            let start = (&counts, &Array::scalar(0u64));
            let step = |(counts, k): (Array<u64>, Array<u64, Ix0>)| {
                let more = indices.map(|_| k.value());
                (counts.scatter_with(&indices, &more, |a, b| a + b), k + 1)
            };
            iterate_n(STEPS, start, step).0
        },
    )
}

fn few(input: &Input) -> Vec<Data> {
    let mut counts = input[0].of::<u64>().to_vec();
    for k in 0..STEPS {
        let indices = input[1].of::<u32>().iter();
        indices.for_each(|i| counts[*i as usize] += k);
    }
    vec![Data::result(counts)]
}
