//! Random programs of long rows, against plain loops.
//!
//! Programs use stencils with every boundary, rows and columns next to a matrix, and folds of
//! everything. Elements are whole numbers, so that float sums are exact in any order.
//!
//! `ROWS_PROGRAMS=1000 cargo test -p livefusion --test all ranked::rows` runs 1000 programs per
//! engine.

use super::random::Dice;
use livefusion::Result;
use livefusion::prelude::*;

type Matrix = Array<f64, Ix2>;

/// Rows of equal length in plain memory.
#[derive(Clone, Debug)]
struct Plain {
    rows: usize,
    columns: usize,
    data: Vec<f64>,
}

impl Plain {
    fn of(rows: usize, columns: usize, f: impl Fn(usize, usize) -> f64) -> Plain {
        let all = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
        let data = all.map(|(i, j)| f(i, j)).collect();
        Plain {
            rows,
            columns,
            data,
        }
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.columns + j]
    }

    fn map(&self, f: impl Fn(usize, usize, f64) -> f64) -> Plain {
        Plain::of(self.rows, self.columns, |i, j| f(i, j, self.at(i, j)))
    }
}

/// The index that a boundary reads along an axis, or the constant that it gives.
fn inside(boundary: &Boundary<f64>, i: i64, n: usize) -> std::result::Result<usize, f64> {
    let n = n as i64;
    let at = match boundary {
        Boundary::Clamp => i.clamp(0, n - 1),
        Boundary::Wrap => i.rem_euclid(n),
        Boundary::Mirror => {
            let period = (2 * n - 2).max(1);
            let there = i.rem_euclid(period);
            there.min(period - there)
        }
        Boundary::Constant(c) if !(0..n).contains(&i) => return Err(*c),
        Boundary::Constant(_) => i,
    };
    Ok(at as usize)
}

fn boundary(dice: &mut Dice) -> Boundary<f64> {
    match dice.below(4) {
        0 => Boundary::Clamp,
        1 => Boundary::Wrap,
        2 => Boundary::Mirror,
        _ => Boundary::Constant(3.0),
    }
}

/// A stencil of `N` times `M` neighbours with different weights.
fn stencil<const N: usize, const M: usize>(
    (matrix, plain): (Matrix, Plain),
    dice: &mut Dice,
) -> (Matrix, Plain) {
    let edges = [boundary(dice), boundary(dice)];
    let weight = |k: usize| [1.0, -1.0, 2.0, 1.0, 3.0][k % 5];
    let made = matrix.stencil2(edges, move |near: [[Exp<f64>; M]; N]| {
        let weighted = near.into_iter().flatten().enumerate();
        let weighted = weighted.map(|(k, x)| x * weight(k));
        weighted
            .reduce(|a, b| a + b)
            .unwrap_or_else(|| Exp::lit(0.0))
    });
    let around = |at: usize, k: usize, size: usize| at as i64 + k as i64 - (size / 2) as i64;
    let plain = plain.map(|i, j, _| {
        let one = |k: usize| {
            let row = inside(&edges[0], around(i, k / M, N), plain.rows);
            let column = inside(&edges[1], around(j, k % M, M), plain.columns);
            // Of two constants, the later axis wins.
            weight(k)
                * match (row, column) {
                    (Ok(i), Ok(j)) => plain.at(i, j),
                    (_, Err(c)) | (Err(c), _) => c,
                }
        };
        (0..N * M).map(one).sum()
    });
    (made, plain)
}

fn step((matrix, plain): (Matrix, Plain), dice: &mut Dice) -> (Matrix, Plain) {
    let (rows, columns) = (plain.rows, plain.columns);
    let small = |k: usize| (k % 5) as f64 - 2.0;
    match dice.below(8) {
        0 => (
            matrix.map(|x| x * 2.0 - 1.0),
            plain.map(|_, _, x| x * 2.0 - 1.0),
        ),
        1 => {
            let row = Array::from((0..columns).map(small).collect::<Vec<f64>>());
            let row = row.broadcast((rows as i64, ..));
            (&matrix * row, plain.map(|_, j, x| x * small(j)))
        }
        2 => {
            let column = Array::from((0..rows).map(small).collect::<Vec<f64>>());
            let column = column.broadcast((.., columns as i64));
            (&matrix + column, plain.map(|i, _, x| x + small(i)))
        }
        3 => {
            let sums = matrix.along(0).sum().broadcast((rows as i64, ..));
            let sum = |j: usize| (0..rows).map(|i| plain.at(i, j)).sum::<f64>();
            (&matrix - sums, plain.map(|_, j, x| x - sum(j)))
        }
        4 => stencil::<1, 3>((matrix, plain), dice),
        5 => stencil::<3, 1>((matrix, plain), dice),
        6 => stencil::<1, 5>((matrix, plain), dice),
        _ => stencil::<3, 3>((matrix, plain), dice),
    }
}

fn check(seed: u64, engine: &Engine) -> Result<()> {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let (rows, columns) = (1 + dice.below(6), 1 + dice.below(90));
    let plain = Plain::of(rows, columns, |i, j| ((i * 7 + j * 13) % 11) as f64 - 5.0);
    let made = Array::from_vec((rows, columns), plain.data.clone());
    let mut both = (made, plain);
    for _ in 0..1 + dice.below(2) {
        both = step(both, &mut dice);
    }
    let (matrix, plain) = both;
    let program = format!("seed {seed}: {matrix}");
    let folded = |along: usize, n: usize, f: &dyn Fn(&[f64]) -> f64| -> Vec<f64> {
        let of = |k: usize| -> Vec<f64> {
            let all = 0..(rows * columns) / n;
            all.map(|l| {
                if along == 1 {
                    plain.at(k, l)
                } else {
                    plain.at(l, k)
                }
            })
            .collect()
        };
        (0..n).map(|k| f(&of(k))).collect()
    };
    let sum = |xs: &[f64]| xs.iter().sum();
    let rows_are = folded(1, rows, &sum);
    let columns_are = folded(0, columns, &sum);
    let most_are = folded(1, rows, &|xs| xs.iter().copied().fold(f64::MIN, f64::max));
    let all_is: f64 = plain.data.iter().sum();
    let (sums, totals) = (matrix.along(1).sum(), matrix.along(0).sum());
    let (all, most) = (matrix.sum(), matrix.along(1).max());
    let fails = |e: livefusion::Error| -> livefusion::Error { panic!("{program}: {e}") };
    // Some of the results, in one loop where they fit.
    match dice.below(6) {
        0 => {
            let results = (&matrix, &sums, &totals, &all, &most);
            let (elements, sums, totals, all, most) = results.force_with(engine).map_err(fails)?;
            assert_eq!(elements.into_vec()?, plain.data, "{program}");
            assert_eq!(sums.into_vec()?, rows_are, "{program}");
            assert_eq!(totals.into_vec()?, columns_are, "{program}");
            assert_eq!((all, most.into_vec()?), (all_is, most_are), "{program}");
        }
        1 => {
            let (sums, totals) = (&sums, &totals).force_with(engine).map_err(fails)?;
            assert_eq!(sums.into_vec()?, rows_are, "{program}");
            assert_eq!(totals.into_vec()?, columns_are, "{program}");
        }
        2 => {
            let (elements, all) = (&matrix, &all).force_with(engine).map_err(fails)?;
            assert_eq!(
                (elements.into_vec()?, all),
                (plain.data, all_is),
                "{program}"
            );
        }
        3 => {
            let (sums, all) = (&sums, &all).force_with(engine).map_err(fails)?;
            assert_eq!((sums.into_vec()?, all), (rows_are, all_is), "{program}");
        }
        4 => {
            let most = most.force_with(engine).map_err(fails)?;
            assert_eq!(most.into_vec()?, most_are, "{program}");
        }
        _ => {
            let totals = totals.force_with(engine).map_err(fails)?;
            assert_eq!(totals.into_vec()?, columns_are, "{program}");
        }
    }
    Ok(())
}

fn check_all(engine: &Engine, usual: u64) -> Result<()> {
    let n = std::env::var("ROWS_PROGRAMS").ok();
    let n = n.and_then(|n| n.parse().ok()).unwrap_or(usual);
    (0..n).try_for_each(|seed| check(seed, engine))
}

#[test]
fn random_rows() -> Result<()> {
    check_all(&Engine::interp(), 200)?;
    check_all(&Engine::jit(), 200)?;
    check_all(&Engine::builder().threads(3).eager().build(), 50)
}

#[test]
fn random_rows_in_c() -> Result<()> {
    check_all(&Engine::c(), 30)
}
