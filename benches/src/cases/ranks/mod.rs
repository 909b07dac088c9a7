//! Matrices: sums along axes, products, stencils, edge detection, and loops over them.

mod edges;
mod products;
mod stencils;
mod steps;
mod sums;

pub use edges::EDGES;
pub use products::{ALL_PAIRS, MATMUL, TRANSPOSE, TRANSPOSE_ZIP};
pub use stencils::{
    BLUR, GRID5, GRID5_CONSTANT, GRID5_MIRROR, GRID5_WRAP, GRID9, GRID25, STENCIL_TWICE,
};
pub use steps::{FLOYD_WARSHALL, HEAT, LIFE, LU};
pub use sums::{
    BOTH_SUMS, BOTH_SUMS_SHORT, COLUMN_SUMS, COLUMN_SUMS_SHORT, MOMENTS, MOMENTS_SHORT, NORMALISE,
    NORMALISE_SHORT, ROW_SUMS, ROW_SUMS_SHORT, RUNNING, RUNNING_SHORT, SOFTMAX, SOFTMAX_SHORT,
};

use super::{Agreement, Case, Ours, Rust, fused, prepared};
use crate::data::{Columns, Data, Input, Random, uniform};
use livefusion::prelude::*;

/// The largest shape with at most so many elements.
trait Matrix {
    /// The number of rows and columns.
    fn shape(elements: usize) -> [usize; 2];
}

/// As many rows as columns.
struct Square;

/// Many rows of ten elements.
struct Short;

impl Matrix for Square {
    fn shape(elements: usize) -> [usize; 2] {
        [elements.isqrt(); 2]
    }
}

impl Matrix for Short {
    fn shape(elements: usize) -> [usize; 2] {
        [elements / 10, 10]
    }
}

/// A case on a matrix of numbers from 0 to 1.
const fn case<M: Matrix>(
    name: &'static str,
    file: &'static str,
    reference: fn(&Input) -> Vec<Data>,
    ours: fn(&Engine, &Input) -> livefusion::Result<Ours>,
    rust: &'static [Rust],
) -> Case {
    Case {
        name,
        file,
        large: 10_000_000,
        agreement: Agreement::Within(1e-9),
        input: |n| {
            let [rows, columns] = M::shape(n);
            vec![uniform(1, rows * columns)]
        },
        reference,
        ours,
        rust,
    }
}

/// A prepared program on the matrix.
fn on<M: Matrix, O: Force + 'static>(
    engine: &Engine,
    input: &Input,
    program: impl FnOnce(Array<f64, Ix2>) -> O,
) -> livefusion::Result<Ours>
where
    O::Out: Columns,
{
    let [rows, columns] = M::shape(input[0].len());
    prepared(engine, input[0].array::<f64>(), |xs: Array<f64>| {
        program(xs.reshape((rows, columns)))
    })
}

/// The side of the first input, which is square.
fn side(input: &Input) -> usize {
    input[0].len().isqrt()
}

/// `f` of each row and column of a square, row by row.
fn by_index<T>(side: usize, f: impl Fn(usize, usize) -> T) -> Vec<T> {
    let row = |i| (0..side).map(move |j| (i, j));
    (0..side).flat_map(row).map(|(i, j)| f(i, j)).collect()
}
