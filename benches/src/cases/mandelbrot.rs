//! How many steps each point of the plane takes to leave a circle, 256 at most: a loop per element.

use super::{Agreement, Case, Ours, fused, prepared, rayon};
use crate::data::{Data, Input};
use livefusion::prelude::*;
use rayon::prelude::*;

const LIMIT: u32 = 256;

/// The case. With contraction a few points at the border leave earlier or later.
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
        cx.zip_with(&cy, |cx, cy| {
            let (.., n) = while_loop(
                (0.0f32, 0.0f32, 0u32),
                |(x, y, n)| (x * x + y * y).le(4.0) & n.lt(LIMIT),
                |(x, y, n)| (x * x - y * y + cx, 2.0 * x * y + cy, n + 1),
            );
            n
        })
    })
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

fn in_parallel(input: &Input) -> Vec<Data> {
    let points = input[0].of::<f32>().par_iter().zip(input[1].of::<f32>());
    vec![Data::result(
        points.map(|(x, y)| steps(*x, *y)).collect::<Vec<u32>>(),
    )]
}
