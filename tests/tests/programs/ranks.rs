//! Programs on matrices: products, folds and scans along axes, closures, rearrangements.

use crate::{floats, numbers, program};
use livefusion::prelude::*;
use livefusion_tests::catalog::ranks;
use loop_lang::Op;

const N: usize = 12;
const M: usize = 17;

fn matrix(seed: u64, n: usize, m: usize) -> (Vec<f64>, Array<f64, Ix2>) {
    let xs = floats(seed, n * m);
    (xs.clone(), Array::from_vec((n, m), xs))
}

fn whole(seed: u64, n: usize, m: usize) -> (Vec<i64>, Array<i64, Ix2>) {
    let xs = numbers(seed, n * m);
    (xs.clone(), Array::from_vec((n, m), xs))
}

fn close(got: &[f64], want: &[f64]) -> bool {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * b.abs().max(1.0);
    got.len() == want.len() && got.iter().zip(want).all(near)
}

fn product(x: &[f64], y: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; N * N];
    for i in 0..N {
        for j in 0..N {
            out[i * N + j] = (0..M).map(|k| x[i * M + k] * y[k * N + j]).sum();
        }
    }
    out
}

/// Three nested loops, with only both matrices and the product in memory. The columns are the
/// innermost loop. An element of the left matrix is read once. Each element of the right matrix
/// comes with one of a nearby row of sums.
#[test]
fn matrix_product() {
    let ((x, a), (y, b)) = (matrix(1, N, M), matrix(2, M, N));
    let want = product(&x, &y);
    let done = program(
        || ranks::matrix_product(&a, &b),
        [1, 3, 0],
        |out| assert!(close(&out, &want)),
    );
    assert_eq!(done.reads(), (N * M + 2 * N * N * M) as u64);
}

/// The repeated and transposed arrays are not stored: it is the loop of a hand-written product.
#[test]
fn flat_matrix_product() {
    let ((x, a), (y, b)) = (matrix(1, N, M), matrix(2, M, N));
    let want = product(&x, &y);
    let done = program(
        || ranks::flat_matrix_product(&a, &b, (N, N)),
        [1, 3, 0],
        |out| assert!(close(&out, &want)),
    );
    assert_eq!(done.reads(), (2 * N * N * M) as u64);
}

#[test]
fn shorter_ways() {
    let (w, ways) = whole(3, N, N);
    let by = |i: usize, j: usize| (0..N).map(|k| w[i * N + k] + w[k * N + j]).min();
    let want: Vec<i64> = (0..N * N).filter_map(|at| by(at / N, at % N)).collect();
    program(
        || ranks::shorter_ways(&ways, N),
        [1, 3, 0],
        |out| assert_eq!(out.into_vec().expect("room"), want),
    );
}

#[test]
fn largest_of_each_row() {
    let (xs, m) = whole(4, N, M);
    let best = |row: &[i64]| {
        let starts = (0..row.len()).flat_map(|a| (a..=row.len()).map(move |b| (a, b)));
        starts.map(|(a, b)| row[a..b].iter().sum::<i64>()).max()
    };
    let want: Vec<i64> = xs.chunks(M).filter_map(best).collect();
    program(
        || ranks::largest_of_each_row(&m),
        [1, 2, 0],
        |out| assert_eq!(out, want),
    );
}

/// The sum of row sums is the sum of all elements: there is no nested loop.
#[test]
fn sum_of_sums() {
    let (xs, m) = whole(5, N, M);
    let want: i64 = xs.iter().map(|x| x * x).sum();
    program(
        || ranks::sum_of_sums(&m),
        [1, 1, 0],
        |all| assert_eq!(all, want),
    );
}

/// Column sums: the loop over columns is inside. It reads memory once, in order, and loads the
/// column's sum with each element.
#[test]
fn sum_of_rows() {
    let (xs, m) = matrix(6, N, M);
    let mut want = [0.0; M];
    for row in xs.chunks(M) {
        want.iter_mut()
            .zip(row)
            .for_each(|(sum, x)| *sum += x * 0.5);
    }
    let done = program(
        || ranks::sum_of_rows(&m),
        [1, 2, 0],
        |sums| assert!(sums[..] == want[..]),
    );
    assert_eq!(done.reads(), (2 * N * M) as u64);
}

/// Running sums of rows: one row of sums, the only intermediate, is carried from row to row. Memory
/// is read once, in order, with one sum per element.
#[test]
fn running_rows() {
    let (xs, m) = matrix(7, N, M);
    let mut want: Vec<f64> = xs.iter().map(|x| x * 0.5).collect();
    for at in M..want.len() {
        want[at] += want[at - M];
    }
    let done = program(
        || ranks::running_rows(&m),
        [1, 2, 1],
        |out| assert!((&out).into_iter().eq(&want)),
    );
    assert_eq!(done.reads(), (2 * N * M) as u64);
}

/// A plane of sums is carried from plane to plane. Each element is read once, in a loop for each
/// axis.
#[test]
fn planes() {
    let xs = floats(12, 2 * N * M);
    let cube = Array::from_vec((N, 2, M), xs.clone());
    let mut sums: Vec<f64> = xs.iter().map(|x| x * 0.5).collect();
    for at in 2 * M..sums.len() {
        sums[at] += sums[at - 2 * M];
    }
    program(
        || ranks::running_planes(&cube),
        [1, 3, 1],
        |out| assert!((&out).into_iter().eq(&sums)),
    );
    let last = &sums[sums.len() - 2 * M..];
    let done = program(
        || ranks::sum_of_planes(&cube),
        [1, 3, 0],
        |out| assert!(close(&out, last)),
    );
    assert_eq!(done.reads(), (4 * N * M) as u64);
}

/// No intermediate sums are in memory.
#[test]
fn sum_of_sums_of_sums() {
    let xs = numbers(13, 2 * N * M);
    let cube = Array::from_vec((N, 2, M), xs.clone());
    let want: i64 = xs.iter().map(|x| x * x).sum();
    let done = program(
        || ranks::sum_of_sums_of_sums(&cube),
        [1, 1, 0],
        |all| assert_eq!(all, want),
    );
    assert_eq!((done.reads(), done.writes()), ((2 * N * M) as u64, 0));
}

#[test]
fn across_a_reshape() {
    let (xs, m) = matrix(14, N, M);
    let done = program(
        || ranks::across_a_reshape(&m, (N, M)),
        [1, 1, 0],
        |out| {
            assert!(
                out.iter()
                    .zip(&xs)
                    .all(|(y, x)| *y == (x.abs().sqrt() + 1.0) * 2.0)
            )
        },
    );
    assert_eq!(done.op(Op::Sqrt), (N * M) as u64);
}

/// A step is a loop over rows with a nested loop over columns. As many steps as rows give both
/// factors.
#[test]
fn lu() {
    let (xs, m) = matrix(15, N, N);
    let heavy = generate((N, N), |(i, j)| m.at((i, j)) + i.eq(j).cond(10000.0, 0.0));
    let heavy = Array::from_vec((N, N), heavy.to_vec().expect("room"));
    program(
        || ranks::lu_step(&heavy, &Array::scalar(0u64), N),
        [1, 2, 0],
        |_| {},
    );
    let start = (&heavy, &Array::scalar(0u64));
    let (factors, _) = iterate_n(N as u64, start, |(a, k)| (ranks::lu_step(&a, &k, N), k + 1));
    let factors = factors.to_vec().expect("it runs");
    let left = |i: usize, k: usize| match i.cmp(&k) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Greater => factors[i * N + k],
    };
    let right = |k: usize, j: usize| if k <= j { factors[k * N + j] } else { 0.0 };
    for (at, x) in xs.iter().enumerate() {
        let (i, j) = (at / N, at % N);
        let product: f64 = (0..N).map(|k| left(i, k) * right(k, j)).sum();
        let want = x + if i == j { 10000.0 } else { 0.0 };
        assert!(
            (product - want).abs() < 1e-6,
            "{i}, {j}: {product}, not {want}"
        );
    }
}

/// The filter is in the loop over the directions, and its result is not stored.
#[test]
fn sobol() {
    let directions: Vec<u64> = (0..16).map(|k| (1u64 << (31 - k)) | (k << 3)).collect();
    let numbers: Vec<u64> = (0..100).collect();
    let of = |n: &u64| {
        let gray = n ^ (n >> 1);
        let named = directions
            .iter()
            .enumerate()
            .filter(|(k, _)| gray >> k & 1 == 1);
        named.fold(0, |all, (_, direction)| all ^ direction)
    };
    let want: Vec<u64> = numbers.iter().map(of).collect();
    program(
        || ranks::sobol(&Array::from(&numbers), &Array::from(&directions)),
        [1, 2, 0],
        |out| assert_eq!(out, want),
    );
}

#[test]
fn across_a_transpose() {
    let (xs, m) = matrix(8, N, M);
    let at = |k: usize| xs[k % N * M + k / N].abs().sqrt() + 1.0;
    let want: Vec<f64> = (0..N * M).map(at).collect();
    let done = program(
        || ranks::across_a_transpose(&m),
        [1, 2, 0],
        |out| assert!(*out == *want),
    );
    assert_eq!(done.op(Op::Sqrt), (N * M) as u64);
}

#[test]
fn across_a_split() {
    let (xs, m) = matrix(9, N, M);
    let half = N / 2;
    let of = |i: usize| {
        let each = (0..M).map(|j| (xs[i * M + j] + 1.0) * (xs[(i + half) * M + j] + 1.0));
        each.sum::<f64>() / half as f64
    };
    let want: Vec<f64> = (0..half).map(of).collect();
    program(
        || ranks::across_a_split(&m, N),
        [1, 2, 0],
        |out| assert!(close(&out, &want)),
    );
}

/// Two loops over each row, within one over the rows.
#[test]
fn shares_of_rows() {
    let (xs, m) = matrix(10, N, M);
    let share = |row: &[f64]| {
        let total: f64 = row.iter().sum();
        row.iter().map(|x| x / total).collect::<Vec<f64>>()
    };
    let want: Vec<f64> = xs.chunks(M).flat_map(share).collect();
    program(
        || ranks::shares_of_rows(&m),
        [1, 3, 0],
        |out| assert!(close(&out, &want)),
    );
}

/// Each element is read once for all three sums, together with the sum of its column.
#[test]
fn sums_along_all_axes() {
    let (xs, m) = whole(11, N, M);
    let rows: Vec<i64> = xs.chunks(M).map(|row| row.iter().sum()).collect();
    let columns: Vec<i64> = (0..M).map(|j| xs.iter().skip(j).step_by(M).sum()).collect();
    let done = program(
        || ranks::sums(&m),
        [1, 2, 0],
        |(r, c, all)| {
            assert_eq!(
                (r == rows, c == columns, all),
                (true, true, rows.iter().sum())
            )
        },
    );
    assert_eq!(done.reads(), (2 * N * M) as u64);
}
