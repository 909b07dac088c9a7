//! Random numbers without memory: points in a quarter circle, a sum of normal numbers.

use super::{Agreement, Case, Ours, fused, prepared};
use crate::data::{Data, Input};
use livefusion::prelude::*;

const KEY: u64 = 0x0123_4567_89ab_cdef;

const fn drawn(
    name: &'static str,
    agreement: Agreement,
    reference: fn(&Input) -> Vec<Data>,
    ours: fn(&Engine, &Input) -> livefusion::Result<Ours>,
    rust: &'static [super::Rust],
) -> Case {
    Case {
        name,
        file: "random.c",
        large: 10_000_000,
        agreement,
        input: |n| vec![Data::input(vec![n as u64]), Data::input(vec![KEY])],
        reference,
        ours,
        rust,
    }
}

/// Counts the points of a square within a quarter circle.
pub const PI: Case = drawn(
    "randomPi",
    Agreement::Exact,
    inside,
    |engine, input| {
        let n = input[0].of::<u64>().first().copied().unwrap_or_default();
        prepared(engine, input[1].array::<u64>(), move |key: Array<u64>| {
            let points = random::uniform2(key.first(), n);
            points.count(|(x, y)| (x * x + y * y).lt(1.0))
        })
    },
    &[fused(inside)],
);

/// Sums normal numbers.
pub const NORMAL: Case = drawn(
    "randomNormal",
    Agreement::Within(1e-6),
    normal,
    |engine, input| {
        let n = input[0].of::<u64>().first().copied().unwrap_or_default();
        prepared(engine, input[1].array::<u64>(), move |key: Array<u64>| {
            random::normal2(key.first(), n).map(|(x, y)| x + y).sum()
        })
    },
    &[fused(normal)],
);

/// The words of Philox4x32-10.
fn words(key: u64, index: u64) -> [u64; 2] {
    let [mut a, mut b, mut c, mut d] = [index as u32, (index >> 32) as u32, 0, 0];
    let (mut k, mut l) = (key as u32, (key >> 32) as u32);
    for _ in 0..10 {
        let (p, q) = (0xd251_1f53 * u64::from(a), 0xcd9e_8d57 * u64::from(c));
        let high = |x: u64| (x >> 32) as u32;
        (a, b, c, d) = (high(q) ^ b ^ k, q as u32, high(p) ^ d ^ l, p as u32);
        (k, l) = (k.wrapping_add(0x9e37_79b9), l.wrapping_add(0xbb67_ae85));
    }
    [(a, b), (c, d)].map(|(low, high)| u64::from(high) << 32 | u64::from(low))
}

fn pairs(input: &Input) -> impl Iterator<Item = [f64; 2]> {
    let [n, key] = [0, 1].map(|k| input[k].of::<u64>().first().copied().unwrap_or_default());
    let unit = |x: u64| (x >> 11) as f64 / (1u64 << 53) as f64;
    (0..n).map(move |i| words(key, i).map(unit))
}

fn inside(input: &Input) -> Vec<Data> {
    let inside = pairs(input).filter(|[x, y]| x * x + y * y < 1.0).count();
    vec![Data::result(vec![inside as u64])]
}

fn normal(input: &Input) -> Vec<Data> {
    let sums = pairs(input).map(|[a, b]| {
        let (radius, angle) = ((-2.0 * (1.0 - a).ln()).sqrt(), std::f64::consts::TAU * b);
        radius * angle.cos() + radius * angle.sin()
    });
    vec![Data::result(vec![sums.sum::<f64>()])]
}
