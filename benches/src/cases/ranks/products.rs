//! A transpose, a sum with it, a matrix product, all pairs of bodies.

use super::{Case, Data, Input, Ours, Random, Square, by_index, case, fused, on, prepared, side};
use crate::data::uniform;
use livefusion::prelude::*;

const FILE: &str = "rank_products.c";

/// Swaps rows and columns.
pub const TRANSPOSE: Case = case::<Square>(
    "transpose",
    FILE,
    transpose,
    |e, i| on::<Square, _>(e, i, |m| m.transpose().flatten()),
    &[fused(transpose)],
);

/// Adds a matrix and its transpose.
pub const TRANSPOSE_ZIP: Case = case::<Square>(
    "transposeZip",
    FILE,
    transpose_zip,
    |e, i| on::<Square, _>(e, i, |m| (&m + m.transpose()).flatten()),
    &[fused(transpose_zip)],
);

/// Multiplies two matrices.
///
/// An element is one product of numbers.
pub const MATMUL: Case = Case {
    large: 512 * 512 * 512,
    input: |n| {
        let side = (n as f64).cbrt().round() as usize;
        vec![uniform(1, side * side), uniform(2, side * side)]
    },
    ..case::<Square>("matmul", FILE, product, product_ours, &[fused(product)])
};

/// Computes the pull of all bodies on each of them.
///
/// An element is a pair.
pub const ALL_PAIRS: Case = Case {
    large: 4096 * 4096,
    input: |n| {
        let mut random = Random::new(1);
        let mut column = || Data::input(random.between(n.isqrt(), 0.0, 1.0));
        vec![column(), column(), column(), column()]
    },
    ..case::<Square>("allPairs", FILE, pulls, pulls_ours, &[fused(pulls)])
};

/// A softening term, added to the squared distance, so that no body pulls itself.
const SOFT: f64 = 1e-3;

fn product_ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let side = side(input);
    let both = (input[0].array::<f64>(), input[1].array::<f64>());
    prepared(engine, both, |(x, y): (Array<f64>, Array<f64>)| {
        let [x, y] = [x, y].map(|m| m.reshape((side, side)));
        x.matmul(&y).flatten()
    })
}

fn pulls_ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    type Column = Array<f64>;
    let [x, y, z, mass] = [0, 1, 2, 3].map(|k| input[k].array::<f64>());
    prepared(
        engine,
        (x, y, z, mass),
        |(x, y, z, mass): (Column, Column, Column, Column)| {
            let bodies = zip((&x, &y, &z, &mass));
            let pulls = bodies.outer(&bodies, |(x, y, z, _), (to_x, to_y, to_z, mass)| {
                let (x, y, z) = (to_x - x, to_y - y, to_z - z);
                let square = x * x + y * y + z * z + SOFT;
                let pull = mass / (square * square.sqrt());
                (x * pull, y * pull, z * pull)
            });
            (
                pulls.map(|(x, _, _)| x).along(1).sum(),
                pulls.map(|(_, y, _)| y).along(1).sum(),
                pulls.map(|(_, _, z)| z).along(1).sum(),
            )
        },
    )
}

fn transpose(input: &Input) -> Vec<Data> {
    let (side, xs) = (side(input), input[0].of::<f64>());
    vec![Data::result(by_index(side, |i, j| xs[j * side + i]))]
}

fn transpose_zip(input: &Input) -> Vec<Data> {
    let (side, xs) = (side(input), input[0].of::<f64>());
    let sum = |i, j| xs[i * side + j] + xs[j * side + i];
    vec![Data::result(by_index(side, sum))]
}

fn product(input: &Input) -> Vec<Data> {
    let (side, x, y) = (side(input), input[0].of::<f64>(), input[1].of::<f64>());
    let mut out = vec![0.0; side * side];
    for (row, sums) in x.chunks(side.max(1)).zip(out.chunks_mut(side.max(1))) {
        for (a, ys) in row.iter().zip(y.chunks(side)) {
            sums.iter_mut().zip(ys).for_each(|(sum, b)| *sum += a * b);
        }
    }
    vec![Data::result(out)]
}

fn pulls(input: &Input) -> Vec<Data> {
    let [x, y, z, mass] = [0, 1, 2, 3].map(|k| input[k].of::<f64>());
    let mut out = [const { Vec::new() }; 3];
    for i in 0..x.len() {
        let mut sums = [0.0; 3];
        for j in 0..x.len() {
            let to = [x[j] - x[i], y[j] - y[i], z[j] - z[i]];
            let square = to.iter().map(|d| d * d).sum::<f64>() + SOFT;
            let pull = mass[j] / (square * square.sqrt());
            sums.iter_mut()
                .zip(to)
                .for_each(|(sum, d)| *sum += d * pull);
        }
        out.iter_mut()
            .zip(sums)
            .for_each(|(out, sum)| out.push(sum));
    }
    out.map(Data::result).to_vec()
}
