//! Segments: sums of short, long and very uneven ones, and the softmax of each.

use super::{Agreement, Case, Ours, Rust, fused, prepared, rayon};
use crate::data::{Data, Input, Random, uniform};
use livefusion::prelude::*;
use rayon::prelude::*;

const SUMS: &[Rust] = &[fused(sums), rayon(sums_in_parallel)];

const fn sum(name: &'static str, input: fn(usize) -> Input) -> Case {
    Case {
        name,
        file: "segmented_sum.c",
        large: 10_000_000,
        agreement: Agreement::Within(1e-9),
        input,
        reference: sums,
        ours: sums_ours,
        rust: SUMS,
    }
}

/// Sums segments of 0 to 16 elements.
pub const SHORT: Case = sum("segmentedSumShort", |n| cut(n, |r| r.below(17)));

/// Sums segments of about a thousand elements.
pub const LONG: Case = sum("segmentedSumLong", |n| cut(n, |r| 500 + r.below(1001)));

/// Sums uneven segments.
///
/// Half of the elements are in one segment, the others in segments of 0, 1, or up to a thousand.
pub const UNEVEN: Case = sum("segmentedSumUneven", |n| {
    let mut is_first = true;
    cut(n, |r| match (std::mem::take(&mut is_first), r.below(100)) {
        (true, _) => n as u64 / 2,
        (_, 0..60) => 0,
        (_, 60..90) => 1,
        _ => r.below(1000),
    })
});

/// Computes the softmax of segments of 1 to 200 elements.
///
/// It divides the exponentials of each segment's elements by their sum.
pub const SOFTMAX: Case = Case {
    name: "segmentSoftmax",
    file: "softmax.c",
    large: 10_000_000,
    agreement: Agreement::Within(1e-12),
    input: |n| {
        let lens = cut(n, |r| 1 + r.below(200)).swap_remove(1);
        vec![Data::input(Random::new(2).between(n, -8.0, 8.0)), lens]
    },
    reference: softmax,
    ours: softmax_ours,
    rust: &[fused(softmax)],
};

/// Sums two levels of nested segments.
///
/// Segments have up to 16 elements on each level.
pub const TWICE: Case = nested("segmentedSumTwice", |n| levels(n, 2));

/// Sums three levels of nested segments.
pub const THRICE: Case = nested("segmentedSumThrice", |n| levels(n, 3));

const NESTED: &[Rust] = &[fused(nested_sums)];

const fn nested(name: &'static str, input: fn(usize) -> Input) -> Case {
    Case {
        name,
        file: "nested_sums.c",
        large: 10_000_000,
        agreement: Agreement::Within(1e-9),
        input,
        reference: nested_sums,
        ours: nested_ours,
        rust: NESTED,
    }
}

/// Data, and the lengths of segments on each level from the innermost on.
fn levels(n: usize, depth: usize) -> Input {
    let mut columns = cut(n, |r| r.below(17));
    while columns.len() <= depth {
        let segments = columns[columns.len() - 1].len();
        columns.extend(cut(segments, |r| r.below(17)).pop());
    }
    columns
}

fn nested_ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let (data, lens) = (input[0].array::<f64>(), &input[1..]);
    let lens: Vec<Array<u64>> = lens.iter().map(Data::array).collect();
    let sums = |data: &Array<f64>, lens: &Array<u64>| rows(data, lens).sum();
    match <[_; 3]>::try_from(lens) {
        Ok([a, b, c]) => prepared(engine, (data, a, b, c), |(data, a, b, c)| {
            sums(&sums(&sums(&data, &a), &b), &c)
        }),
        Err(two) => {
            let columns = (data, two[0].clone(), two[1].clone());
            prepared(engine, columns, |(data, a, b)| sums(&sums(&data, &a), &b))
        }
    }
}

fn nested_sums(input: &Input) -> Vec<Data> {
    let level = |sums: Data, lens: &Data| self::sums(&vec![sums, lens.clone()]).swap_remove(0);
    vec![input[1..].iter().fold(input[0].clone(), level)]
}

/// `n` elements in segments of these lengths. The last segment is cut short.
pub(super) fn cut(n: usize, mut len: impl FnMut(&mut Random) -> u64) -> Input {
    let (mut random, mut lens, mut left) = (Random::new(3), Vec::new(), n as u64);
    while left > 0 {
        let len = len(&mut random).min(left);
        lens.push(len);
        left -= len;
    }
    vec![uniform(1, n), Data::input(lens)]
}

fn rows(data: &Array<f64>, lens: &Array<u64>) -> Segmented<f64> {
    Segmented::new(lens, data)
}

fn sums_ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let columns = (input[0].array::<f64>(), input[1].array::<u64>());
    prepared(engine, columns, |(data, lens)| rows(&data, &lens).sum())
}

/// The segments as slices.
fn slices(input: &Input) -> impl Iterator<Item = &[f64]> {
    let mut rest = input[0].of::<f64>();
    input[1].of::<u64>().iter().map(move |len| {
        let (slice, after) = rest.split_at(rest.len().min(*len as usize));
        rest = after;
        slice
    })
}

fn sums(input: &Input) -> Vec<Data> {
    let sums: Vec<f64> = slices(input).map(|s| s.iter().sum()).collect();
    vec![Data::result(sums)]
}

fn sums_in_parallel(input: &Input) -> Vec<Data> {
    let all: Vec<&[f64]> = slices(input).collect();
    let sums: Vec<f64> = all.par_iter().map(|s| s.iter().sum()).collect();
    vec![Data::result(sums)]
}

fn softmax_ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let columns = (input[0].array::<f64>(), input[1].array::<u64>());
    prepared(engine, columns, |(data, lens)| {
        let rows = rows(&data, &lens);
        let shifted = rows.zip_with_each(&rows.max(), |x, most| (x - most).exp());
        let shares = shifted.zip_with_each(&shifted.sum(), |x, total| x / total);
        shares.data().clone()
    })
}

fn softmax(input: &Input) -> Vec<Data> {
    let mut shares = Vec::with_capacity(input[0].len());
    for segment in slices(input) {
        let (from, most) = (
            shares.len(),
            segment.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        );
        shares.extend(segment.iter().map(|x| (x - most).exp()));
        let total: f64 = shares[from..].iter().sum();
        shares[from..].iter_mut().for_each(|x| *x /= total);
    }
    vec![Data::result(shares)]
}
