//! Matrices of as many rows as columns: sums along both axes, a transpose, a transpose that is added, a stencil of five
//! points, a product.

use super::{Agreement, Case, Ours, fused, prepared};
use crate::data::{Data, Input, uniform};
use livefusion::prelude::*;

const fn case(
    name: &'static str,
    reference: fn(&Input) -> Vec<Data>,
    ours: fn(&Engine, &Input) -> livefusion::Result<Ours>,
    rust: &'static [super::Rust],
) -> Case {
    Case {
        name,
        file: "ranks.c",
        large: 10_000_000,
        agreement: Agreement::Within(1e-9),
        input: |n| {
            let side = n.isqrt();
            vec![uniform(1, side * side)]
        },
        reference,
        ours,
        rust,
    }
}

/// The sum of each row.
pub const ROW_SUMS: Case = case(
    "rowSums",
    row_sums,
    |e, i| on_matrix(e, i, |m| m.sum_axis(1)),
    &[fused(row_sums)],
);

/// The sum of each column.
pub const COLUMN_SUMS: Case = case(
    "columnSums",
    column_sums,
    |e, i| on_matrix(e, i, |m| m.sum_axis(0)),
    &[fused(column_sums)],
);

/// Rows and columns in each other's place.
pub const TRANSPOSE: Case = case(
    "transpose",
    transpose,
    |e, i| on_matrix(e, i, |m| m.transpose().flatten()),
    &[fused(transpose)],
);

/// A matrix and its transpose, added.
pub const TRANSPOSE_ZIP: Case = case(
    "transposeZip",
    transpose_zip,
    |e, i| on_matrix(e, i, |m| (&m + m.transpose()).flatten()),
    &[fused(transpose_zip)],
);

/// Each point with its four neighbours; at a border it stands for the one that is not there.
pub const GRID: Case = case(
    "grid5",
    grid,
    |e, i| {
        on_matrix(e, i, |m| {
            let next = m.stencil2(Boundary::Clamp, |[[_, n, _], [w, here, e], [_, s, _]]| {
                0.5 * here + 0.125 * ((n + s) + (w + e))
            });
            next.flatten()
        })
    },
    &[fused(grid)],
);

/// The product of two matrices. An element is one product of numbers.
pub const MATMUL: Case = Case {
    large: 512 * 512 * 512,
    input: |n| {
        let side = (n as f64).cbrt().round() as usize;
        vec![uniform(1, side * side), uniform(2, side * side)]
    },
    ..case("matmul", product, product_ours, &[fused(product)])
};

fn on_matrix(
    engine: &Engine,
    input: &Input,
    f: impl Fn(Array<f64, Ix2>) -> Array<f64>,
) -> livefusion::Result<Ours> {
    let side = side(input);
    prepared(engine, input[0].array::<f64>(), |xs: Array<f64>| {
        f(xs.reshape((side, side)))
    })
}

fn product_ours(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let side = side(input);
    let both = (input[0].array::<f64>(), input[1].array::<f64>());
    prepared(engine, both, |(x, y): (Array<f64>, Array<f64>)| {
        let [x, y] = [x, y].map(|m| m.reshape((side, side)));
        x.matmul(&y).flatten()
    })
}

fn side(input: &Input) -> usize {
    input[0].len().isqrt()
}

fn row_sums(input: &Input) -> Vec<Data> {
    let (side, xs) = (side(input), input[0].of::<f64>());
    let rows = xs.chunks(side.max(1)).map(|row| row.iter().sum::<f64>());
    vec![Data::result(rows.collect::<Vec<f64>>())]
}

fn column_sums(input: &Input) -> Vec<Data> {
    let (side, xs) = (side(input), input[0].of::<f64>());
    let mut sums = vec![0.0; side];
    for row in xs.chunks(side.max(1)) {
        sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    vec![Data::result(sums)]
}

fn by_index(input: &Input, f: impl Fn(&[f64], usize, usize, usize) -> f64) -> Vec<Data> {
    let (side, xs) = (side(input), input[0].of::<f64>());
    let mut out = Vec::with_capacity(side * side);
    for i in 0..side {
        out.extend((0..side).map(|j| f(xs, side, i, j)));
    }
    vec![Data::result(out)]
}

fn transpose(input: &Input) -> Vec<Data> {
    by_index(input, |xs, side, i, j| xs[j * side + i])
}

fn transpose_zip(input: &Input) -> Vec<Data> {
    by_index(input, |xs, side, i, j| xs[i * side + j] + xs[j * side + i])
}

fn grid(input: &Input) -> Vec<Data> {
    by_index(input, |xs, side, i, j| {
        let at = |i: usize, j: usize| xs[i * side + j];
        let (north, south) = (at(i.saturating_sub(1), j), at((i + 1).min(side - 1), j));
        let (west, east) = (at(i, j.saturating_sub(1)), at(i, (j + 1).min(side - 1)));
        0.5 * at(i, j) + 0.125 * ((north + south) + (west + east))
    })
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
