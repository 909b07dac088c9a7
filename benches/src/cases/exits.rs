//! Exits at every rate: loops that a test ends, here after nearly all elements.

use super::mixtures::{lengths, segments};
use super::{Agreement, Case, Ours, fused, prepared};
use crate::data::{Data, Input, uniform};
use livefusion::prelude::*;

const fn exit(
    name: &'static str,
    input: fn(usize) -> Input,
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

/// Finds the first element above 0.99.
pub const POSITION: Case = exit(
    "position",
    input,
    position,
    |engine, input| {
        prepared(engine, input[0].array::<f64>(), |xs: Array<f64>| {
            xs.position(|x| x.gt(0.99))
        })
    },
    &[fused(position)],
);

/// Sums the elements before it.
pub const TAKE_WHILE_SUM: Case = exit(
    "takeWhileSum",
    input,
    take_while_sum,
    |engine, input| {
        prepared(engine, input[0].array::<f64>(), |xs: Array<f64>| {
            xs.take_while(|x| x.le(0.99)).sum()
        })
    },
    &[fused(take_while_sum)],
);

/// Filters before the exit.
///
/// It keeps the elements above 0.5 before the first above 0.99, and sums them.
pub const FILTER_TAKE_WHILE: Case = exit(
    "filterTakeWhile",
    input,
    filter_take_while,
    |engine, input| {
        prepared(engine, input[0].array::<f64>(), |xs: Array<f64>| {
            let kept = xs.filter(|x| x.gt(0.5)).take_while(|x| x.le(0.99));
            let sum = kept.sum();
            (kept, sum)
        })
    },
    &[fused(filter_take_while)],
);

/// Exits from a loop over segments.
///
/// It sums segments before the first sum above a limit.
pub const SEGMENT_TAKE_WHILE: Case = exit(
    "segmentTakeWhile",
    segmented,
    segment_take_while,
    |engine, input| {
        let columns = (input[0].array::<f64>(), input[1].array::<u64>());
        prepared(engine, columns, |(xs, lens): (Array<f64>, Array<u64>)| {
            let sums = Segmented::new(&lens, &xs).sum();
            sums.take_while(|sum| sum.le(MOST))
        })
    },
    &[fused(segment_take_while)],
);

/// Exits from within segments.
///
/// It sums products with a factor per segment, before the first product above a limit.
pub const NESTED_TAKE_WHILE: Case = exit(
    "nestedTakeWhile",
    |n| {
        let mut columns = segmented(n);
        columns.push(uniform(4, columns[1].len()));
        columns
    },
    nested_take_while,
    |engine, input| {
        let columns = (
            input[0].array::<f64>(),
            input[1].array::<u64>(),
            input[2].array::<f64>(),
        );
        prepared(engine, columns, |(xs, lens, factors)| {
            let products =
                Segmented::new(&lens, &xs).zip_with_each(&factors, |x, factor| x * (factor + 1.0));
            products.data().take_while(|x| x.le(MOST)).sum()
        })
    },
    &[fused(nested_take_while)],
);

/// More than the sum of any 64 numbers.
const MOST: f64 = 100.0;

/// Numbers as below with one large one, and the lengths of segments.
fn segmented(n: usize) -> Input {
    let column = input(n).swap_remove(0);
    let numbers = column.of::<f64>().iter();
    let numbers = numbers.map(|x| if *x == 1.0 { 1000.0 } else { *x });
    vec![Data::input(numbers.collect()), lengths(n)]
}

/// Numbers from 0 to 0.9, except one near the end.
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

fn filter_take_while(input: &Input) -> Vec<Data> {
    let large = input[0].of::<f64>().iter().copied().filter(|x| *x > 0.5);
    let kept: Vec<f64> = large.take_while(|x| *x <= 0.99).collect();
    let sum = kept.iter().sum::<f64>();
    vec![Data::result(kept), Data::result(vec![sum])]
}

fn segment_take_while(input: &Input) -> Vec<Data> {
    let xs = input[0].of::<f64>();
    let sums = segments(input, |range| xs[range].iter().sum());
    let before = sums.into_iter().take_while(|sum| *sum <= MOST);
    vec![Data::result(before.collect::<Vec<f64>>())]
}

fn nested_take_while(input: &Input) -> Vec<Data> {
    let (xs, factors) = (input[0].of::<f64>(), input[2].of::<f64>());
    let (mut from, mut sum) = (0, 0.0);
    'all: for (len, factor) in input[1].of::<u64>().iter().zip(factors) {
        for x in &xs[from..from + *len as usize] {
            let product = x * (factor + 1.0);
            if product > MOST {
                break 'all;
            }
            sum += product;
        }
        from += *len as usize;
    }
    vec![Data::result(vec![sum])]
}
