//! Programs on matrices.
//!
//! Most are from "A T2 Graph-Reduction Approach To Fusion". They cover matrix products (figure 15)
//! and reshapes, which do not prevent fusion (section 4.1). Further ones are rewrites of folds and
//! scans (section 4.2), LU factors (section 2.2), and the test programs P3 and P5.

use super::Program;
use super::graphs::largest_segment_sum;
use livefusion::prelude::*;

type Matrix = Array<f64, Ix2>;

/// Multiplies two matrices.
pub fn matrix_product(x: &Matrix, y: &Matrix) -> Matrix {
    x.matmul(y)
}

/// Multiplies two matrices by flat parallelism (figure 15, P4).
///
/// Both matrices are repeated along a new axis, one of them transposed. They are multiplied element
/// by element, and summed along the last axis. `n` is the number of rows of `x`, `m` the number of
/// columns of `y`.
pub fn flat_matrix_product(x: &Matrix, y: &Matrix, (n, m): (usize, usize)) -> Matrix {
    let rows = x.broadcast((.., m, ..));
    let columns = y.transpose().broadcast((n, .., ..));
    (&rows * &columns).along(2).sum()
}

/// Runs one step of shortest paths (P3).
///
/// It minimises over all paths through one intermediate vertex, like a matrix product.
pub fn shorter_ways(ways: &Array<i64, Ix2>, n: usize) -> Array<i64, Ix2> {
    let (from, to) = (
        ways.broadcast((.., n, ..)),
        ways.transpose().broadcast((n, .., ..)),
    );
    (&from + &to).along(2).fold(i64::MAX, |a, b| a.min(b))
}

/// Returns the maximum segment sum of each row (P5).
pub fn largest_of_each_row(m: &Array<i64, Ix2>) -> Array<i64> {
    m.map_rows(|row| largest_segment_sum(&row))
}

/// Returns the sum of row sums of squares (RedFlat).
pub fn sum_of_sums(m: &Array<i64, Ix2>) -> Array<i64, Ix0> {
    m.map(|x| x * x).map_rows(|row| row.sum()).sum()
}

/// Sums rows elementwise (IRWIM).
pub fn sum_of_rows(m: &Matrix) -> Array<f64> {
    m.map(|x| x * 0.5).along(0).sum()
}

/// Computes running sums of rows, elementwise (ISWIM).
pub fn running_rows(m: &Matrix) -> Matrix {
    m.map(|x| x * 0.5).along(0).cumsum()
}

/// Scans planes by two nested maps (figure 17).
///
/// The result is their running sums.
pub fn running_planes(a: &Array<f64, Ix3>) -> Array<f64, Ix3> {
    a.map(|x| x * 0.5).along(0).cumsum()
}

/// Sums planes elementwise (figure 17, for a reduction).
pub fn sum_of_planes(a: &Array<f64, Ix3>) -> Matrix {
    a.map(|x| x * 0.5).along(0).sum()
}

/// Sums squares by three nested reductions (RedFlat of three axes).
pub fn sum_of_sums_of_sums(a: &Array<i64, Ix3>) -> Array<i64, Ix0> {
    let of_rows = a.map(|x| x * x).map_rows(|row| row.sum());
    of_rows.map_rows(|row| row.sum()).sum()
}

/// Maps over a map in another shape.
pub fn across_a_reshape(m: &Matrix, (n, k): (usize, usize)) -> Matrix {
    let x = m.map(|x| x.abs().sqrt()).flatten().map(|x| x + 1.0);
    x.reshape((k, n)).map(|x| x * 2.0)
}

/// Runs a step of LU factorisation without pivots (section 2.2).
///
/// Both factors share the matrix. Column `k` below the diagonal gets the multipliers of row `k`.
/// The later rows and columns get the remainder.
pub fn lu_step(a: &Matrix, k: &Array<u64, Ix0>, n: usize) -> Matrix {
    generate((n, n), |(i, j)| {
        let (here, k) = (a.at((i, j)), k.value());
        let factor = a.at((i, k)) / a.at((k, k));
        let rest = j.gt(k).cond(here - factor * a.at((k, j)), here);
        i.gt(k).cond(j.eq(k).cond(factor, rest), here)
    })
}

/// Generates Sobol numbers (section 4.3, P0).
///
/// The Gray code of a number selects directions by its bits, and `xor` combines them. This is a
/// reduction of a filter in a map.
pub fn sobol(numbers: &Array<u64>, directions: &Array<u64>) -> Array<u64> {
    let named = numbers.outer(&directions.enumerate(), |n, (bit, direction)| {
        let gray = n ^ (n >> 1);
        (((gray >> bit) & 1).eq(1), direction)
    });
    named.map_rows(|row| {
        let chosen = row.filter(|(is_named, _)| is_named);
        chosen.map(|(_, direction)| direction).fold(0, |a, b| a ^ b)
    })
}

/// Maps over a transpose of a map.
pub fn across_a_transpose(m: &Matrix) -> Matrix {
    m.map(|x| x.abs().sqrt()).transpose().map(|x| x + 1.0)
}

/// Multiplies both halves of a map's rows in step.
///
/// The program also requests their number of rows.
pub fn across_a_split(m: &Matrix, n: usize) -> Array<f64> {
    let x = m.map(|x| x + 1.0);
    let (low, high) = x.split(0, n / 2);
    let rows = low.shape()[0].clone();
    low.zip_with(&high, |a, b| a * b)
        .along(1)
        .sum()
        .map(|s| s / rows.value().cast::<f64>())
}

/// Divides rows by their sums, as a closure on a row.
pub fn shares_of_rows(m: &Matrix) -> Matrix {
    m.map_rows(|row| {
        let total = row.sum();
        row.map(|x| x / &total)
    })
}

/// Sums rows, columns, and all elements.
pub fn sums(m: &Array<i64, Ix2>) -> (Array<i64>, Array<i64>, Array<i64, Ix0>) {
    (m.along(1).sum(), m.along(0).sum(), m.sum())
}

pub(super) fn all() -> Vec<Program> {
    let m = generate((4, 4), |(i, j)| (i + 2 * j).cast::<f64>());
    let m = Array::from_vec((4, 4), m.to_vec().unwrap_or_default());
    let k = Array::from_vec((4, 4), (0..16i64).map(|k| k % 5 - 2).collect());
    let cube = Array::from_vec((2, 2, 4), (0..16).map(f64::from).collect());
    let whole = Array::from_vec((2, 2, 4), (0..16i64).collect());
    let (rows, columns, all) = sums(&k);
    vec![
        Program::new("matrix product", matrix_product(&m, &m)),
        Program::new(
            "flat matrix product (figure 15, P4)",
            flat_matrix_product(&m, &m, (4, 4)),
        ),
        Program::new("shorter ways (P3)", shorter_ways(&k, 4)),
        Program::new("largest sum of each row (P5)", largest_of_each_row(&k)),
        Program::new("sum of sums of rows (RedFlat)", sum_of_sums(&k)),
        Program::new("sum of rows (IRWIM)", sum_of_rows(&m)),
        Program::new("running rows (ISWIM)", running_rows(&m)),
        Program::new("running planes (figure 17)", running_planes(&cube)),
        Program::new("sum of planes (figure 17)", sum_of_planes(&cube)),
        Program::new(
            "sum of sums of sums (figure 17)",
            sum_of_sums_of_sums(&whole),
        ),
        Program::new("maps across a reshape", across_a_reshape(&m, (4, 4))),
        Program::new(
            "step of LU (section 2.2)",
            lu_step(&m, &Array::scalar(1u64), 4),
        ),
        Program::new(
            "Sobol numbers (P0)",
            sobol(&Array::from([1u64, 2, 3]), &Array::from([4u64, 6, 7, 9])),
        ),
        Program::new("maps across a transpose", across_a_transpose(&m)),
        Program::new("halves of a map", across_a_split(&m, 4)),
        Program::new("shares of rows", shares_of_rows(&m)),
        Program::new("sums of rows, columns, all", (&rows, &columns, &all)),
    ]
}
