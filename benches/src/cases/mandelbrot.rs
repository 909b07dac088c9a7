//! Escape times of plane points, at most 256: a loop per element.

use super::{Agreement, Case, Ours, fused, prepared, rayon};
use crate::data::{Data, Input};
use livefusion::prelude::*;
use rayon::prelude::*;

const LIMIT: u32 = 256;

/// Counts the steps of points in memory.
///
/// With contraction a few points at the border escape earlier or later.
pub const CASE: Case = Case {
    name: "mandelbrot",
    file: "mandelbrot.c",
    large: 1_000_000,
    agreement: Agreement::Mostly(0.01),
    input,
    reference: by_iterators,
    ours,
    rust: &[fused(by_iterators), rayon(in_parallel)],
};

/// Counts the steps of generated points.
///
/// The input is the number of points in a row.
pub const GENERATED: Case = Case {
    name: "mandelbrotGenerated",
    file: "mandelbrot.c",
    large: 1_000_000,
    agreement: Agreement::Mostly(0.01),
    input: |n| {
        let side = n.isqrt().max(1) as u64;
        vec![Data::input(vec![side]), Data::input(vec![n as u64])]
    },
    reference: generated,
    ours: |engine, input| {
        let n = input[1].of::<u64>().first().copied().unwrap_or_default();
        prepared(engine, input[0].array::<u64>(), move |side: Array<u64>| {
            let side = &side.first();
            let width = &side.map(|side| side.cast::<f32>());
            generate(n, |i| {
                let place = |k: Exp<u64>, low: f32| 3.0 * k.cast::<f32>() / width + low;
                escapes(place(i % side, -2.25), place(i / side, -1.5))
            })
        })
    },
    rust: &[fused(generated)],
};

/// A square of the plane, row by row.
fn input(n: usize) -> Input {
    let side = n.isqrt().max(1);
    let place = |k: usize, low: f32| low + 3.0 * k as f32 / side as f32;
    let xs = (0..n).map(|i| place(i % side, -2.25));
    let ys = (0..n).map(|i| place(i / side, -1.5));
    vec![Data::input(xs.collect()), Data::input(ys.collect())]
}

fn ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let columns = (input[0].array::<f32>(), input[1].array::<f32>());
    prepared(engine, columns, |(cx, cy): (Array<f32>, Array<f32>)| {
        cx.zip_with(&cy, escapes)
    })
}

/// The number of steps of a point.
fn escapes(cx: Exp<f32>, cy: Exp<f32>) -> Exp<u32> {
    let (.., n) = while_loop(
        (0.0f32, 0.0f32, 0u32),
        |(x, y, n)| (x * x + y * y).le(4.0) & n.lt(LIMIT),
        |(x, y, n)| (x * x - y * y + cx, 2.0 * x * y + cy, n + 1),
    );
    n
}

fn steps(cx: f32, cy: f32) -> u32 {
    let (mut x, mut y, mut n) = (0.0f32, 0.0f32, 0);
    while x * x + y * y <= 4.0 && n < LIMIT {
        (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
        n += 1;
    }
    n
}

fn by_iterators(input: &Input) -> Vec<Data> {
    let points = input[0].of::<f32>().iter().zip(input[1].of::<f32>());
    vec![Data::result(
        points.map(|(x, y)| steps(*x, *y)).collect::<Vec<u32>>(),
    )]
}

fn generated(input: &Input) -> Vec<Data> {
    let number = |k: usize| input[k].of::<u64>().first().copied().unwrap_or_default();
    let (side, n) = (number(0), number(1));
    let place = |k: u64, low: f32| 3.0 * k as f32 / side as f32 + low;
    let all = (0..n).map(|i| steps(place(i % side, -2.25), place(i / side, -1.5)));
    vec![Data::result(all.collect::<Vec<u32>>())]
}

fn in_parallel(input: &Input) -> Vec<Data> {
    let points = input[0].of::<f32>().par_iter().zip(input[1].of::<f32>());
    vec![Data::result(
        points.map(|(x, y)| steps(*x, *y)).collect::<Vec<u32>>(),
    )]
}
