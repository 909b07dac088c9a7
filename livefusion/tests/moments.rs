//! Means, variances and deviations, against exact results.
//!
//! Numbers lie near zero and far from it, with infinities and NaN.

use crate::common::{engines, shape};
use livefusion::Result;
use livefusion::prelude::*;

/// Numbers on a grid: integers times a power of two.
struct Grid {
    numbers: Vec<i64>,
    /// The centre of the numbers.
    offset: i64,
    exponent: i32,
}

impl Grid {
    /// `n` numbers in `offset..offset + width`.
    fn new(seed: u64, n: usize, (offset, width): (i64, u64), exponent: i32) -> Grid {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ mixed >> 31
        };
        let numbers = (0..n).map(|_| offset + (next() % width) as i64).collect();
        Grid {
            numbers,
            offset,
            exponent,
        }
    }

    fn unit(&self) -> f64 {
        2f64.powi(self.exponent)
    }

    fn doubles(&self) -> Vec<f64> {
        self.numbers
            .iter()
            .map(|k| *k as f64 * self.unit())
            .collect()
    }

    fn singles(&self) -> Vec<f32> {
        self.doubles().into_iter().map(|x| x as f32).collect()
    }

    /// The mean, rounded once, and a mean with more precision than an `f64`.
    fn mean(&self) -> f64 {
        let sum: i128 = self.numbers.iter().map(|k| i128::from(*k)).sum();
        ratio(sum, self.numbers.len() as i128) * self.unit()
    }

    /// The variance, rounded once.
    fn var(&self) -> f64 {
        let away = || self.numbers.iter().map(|k| i128::from(*k - self.offset));
        let (sum, squares) = (away().sum::<i128>(), away().map(|x| x * x).sum::<i128>());
        let n = self.numbers.len() as i128;
        ratio(n * squares - sum * sum, n * n) * self.unit() * self.unit()
    }
}

/// A quotient, rounded once.
fn ratio(a: i128, b: i128) -> f64 {
    if a == 0 {
        return 0.0;
    }
    let shift = a.unsigned_abs().leading_zeros() as i32 - 1;
    let (q, r) = ((a << shift) / b, (a << shift) % b);
    let sticky = q | i128::from(r != 0);
    assert!(q.unsigned_abs() >= 1 << 60, "enough bits");
    sticky as f64 * 2f64.powi(-shift)
}

/// The number of floats between two.
trait Ulps: Copy {
    fn ulps(self, other: Self) -> u64;
}

impl Ulps for f64 {
    fn ulps(self, other: f64) -> u64 {
        let order = |x: f64| {
            let bits = x.to_bits() as i64;
            if bits < 0 { i64::MIN - bits } else { bits }
        };
        order(self).abs_diff(order(other))
    }
}

impl Ulps for f32 {
    fn ulps(self, other: f32) -> u64 {
        let order = |x: f32| {
            let bits = x.to_bits() as i32;
            if bits < 0 { i32::MIN - bits } else { bits }
        };
        u64::from(order(self).abs_diff(order(other)))
    }
}

/// Mean and variance of the whole array, along both axes of one row, and of one segment. All but
/// the last two use whole folds.
fn found<T: Float>(xs: &Array<T>, engine: &Engine) -> Result<[(T, T); 3]> {
    let n = xs.len().force_with(engine)?;
    let row = xs.reshape((1u64, n));
    let column = xs.reshape((n, 1u64));
    let first = |x: Array<T>| x.at(0);
    let along = |m: &Array<T, Ix2>, axis| (first(m.along(axis).mean()), first(m.along(axis).var()));
    let ((row_mean, row_var), (column_mean, column_var)) = (along(&row, 1), along(&column, 0));
    let found = (
        &xs.mean(),
        &xs.var(),
        &row_mean,
        &row_var,
        &column_mean,
        &column_var,
    );
    let (a, b, c, d, e, f) = found.force_with(engine)?;
    Ok([(a, b), (c, d), (e, f)])
}

/// Lengths, offsets and widths. The last ones stay just within the exact integers of an `f32` or an
/// `f64`.
fn grids(bits: u32, lengths: &[usize]) -> Vec<Grid> {
    let mut all = Vec::new();
    let most = 1i64 << (bits - 1);
    let mut seed = 0;
    for n in lengths {
        for offset in [0, 1, most / 1024, -most, most - most / 2] {
            for width in [2, 1 << 10, 1 << (bits - 2).min(30)] {
                seed += 1;
                let exponent = [-60, -9, 0, 40][seed as usize % 4];
                all.push(Grid::new(seed, *n, (offset, width), exponent));
            }
        }
    }
    all
}

const LENGTHS: &[usize] = &[1, 2, 3, 31, 1000, 16_385, 50_003];

/// The maximum error in ulps of means and variances over all grids, whole and along axes.
fn worst<T: Float + Ulps>(
    grids: &[Grid],
    numbers: impl Fn(&Grid) -> Vec<T>,
    rounded: impl Fn(f64) -> T,
    engine: &Engine,
) -> Result<[(u64, u64); 3]> {
    let mut worst = [(0, 0); 3];
    for grid in grids {
        let xs = Array::from(numbers(grid));
        let (mean, var) = (rounded(grid.mean()), rounded(grid.var()));
        for (worst, got) in worst.iter_mut().zip(found(&xs, engine)?) {
            let off = (got.0.ulps(mean), got.1.ulps(var));
            if (off.0 > 1 && worst.0 < off.0) || (off.1 > 2 && worst.1 < off.1) {
                let (n, offset, e) = (grid.numbers.len(), grid.offset, grid.exponent);
                println!("off by {off:?}: {n} numbers from {offset} times 2^{e}");
            }
            *worst = (worst.0.max(off.0), worst.1.max(off.1));
        }
    }
    Ok(worst)
}

#[test]
fn mean_and_var_f32_over_offsets_and_exponents_are_within_an_ulp() -> Result<()> {
    let grids = grids(24, LENGTHS);
    for engine in engines() {
        let worst = worst(&grids, Grid::singles, |x| x as f32, &engine)?;
        println!("{worst:?}");
        assert!(worst.iter().all(|w| w.0 <= 1 && w.1 <= 1), "{worst:?}");
    }
    Ok(())
}

#[test]
fn mean_and_var_f64_over_offsets_and_exponents_are_within_two_ulps() -> Result<()> {
    let grids = grids(53, LENGTHS);
    for engine in engines() {
        let worst = worst(&grids, Grid::doubles, |x| x, &engine)?;
        println!("{worst:?}");
        assert!(worst.iter().all(|w| w.0 <= 1 && w.1 <= 2), "{worst:?}");
    }
    Ok(())
}

#[test]
fn mean_and_var_f32_near_ten_thousand_are_exact_to_an_ulp() -> Result<()> {
    let grid = Grid::new(1, 1_000_000, (9999 * 1024, 1774), -10);
    let xs = Array::from(grid.singles());
    let (mean, var, std) = (&xs.mean(), &xs.var(), &xs.std()).force()?;
    let std_of = grid.var().sqrt() as f32;
    assert!(mean.ulps(grid.mean() as f32) <= 1, "{mean}");
    assert!(var.ulps(grid.var() as f32) <= 1, "{var}");
    assert!(std.ulps(std_of) <= 1, "{std}");
    Ok(())
}

#[test]
fn var_f64_near_minus_ten_to_the_fifteen_keeps_its_digits() -> Result<()> {
    let grid = Grid::new(2, 100_003, (-8_000_000_000_000_000, 65), -3);
    let xs = Array::from(grid.doubles());
    let (mean, var) = (&xs.mean(), &xs.var()).force()?;
    assert!(mean.ulps(grid.mean()) <= 1, "{mean}");
    assert!(var.ulps(grid.var()) <= 2, "{var} for {}", grid.var());
    Ok(())
}

#[test]
fn mean_axis_of_long_columns_of_f32_is_exact_to_an_ulp() -> Result<()> {
    let columns: Vec<Grid> = (0..3)
        .map(|k| Grid::new(k, 1 << 18, (9_999 * 1024, 2048), -10))
        .collect();
    let singles: Vec<Vec<f32>> = columns.iter().map(Grid::singles).collect();
    let flat: Vec<f32> = (0..1 << 18)
        .flat_map(|i| singles.iter().map(move |c| c[i]).collect::<Vec<f32>>())
        .collect();
    let m = Array::from(flat).reshape((1 << 18, 3));
    let (means, vars) = (&m.along(0).mean(), &m.along(0).var()).force()?;
    for (k, grid) in columns.iter().enumerate() {
        assert!(means[k].ulps(grid.mean() as f32) <= 1, "{}", means[k]);
        assert!(vars[k].ulps(grid.var() as f32) <= 1, "{}", vars[k]);
    }
    Ok(())
}

#[test]
fn mean_s_of_segments_far_from_zero_is_exact_to_an_ulp() -> Result<()> {
    let lengths = [1usize, 0, 7, 40_000, 8, 9, 33, 17_000];
    let grids: Vec<Grid> = (0..)
        .zip(lengths)
        .map(|(k, n)| Grid::new(k, n, (1 << 50, 1 << 20), -40))
        .collect();
    for engine in engines() {
        let rows = Segmented::from_vecs(grids.iter().map(Grid::doubles).collect());
        let means = rows.mean().force_with(&engine)?;
        for (mean, grid) in means.iter().zip(&grids) {
            let none = grid.numbers.is_empty();
            assert!(
                none && mean.is_nan() || mean.ulps(grid.mean()) <= 1,
                "{mean}"
            );
        }
    }
    Ok(())
}

#[test]
fn mean_and_var_of_what_is_not_finite_are_what_the_docs_say() -> Result<()> {
    let of = |xs: Vec<f64>| {
        let xs = Array::from(xs);
        (&xs.mean(), &xs.var()).force()
    };
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for xs in [vec![inf, 1.0], vec![1.0, inf], vec![inf], vec![inf, inf]] {
        let (mean, var) = of(xs)?;
        assert!(mean == inf && var.is_nan(), "{mean} {var}");
    }
    for xs in [
        vec![],
        vec![nan],
        vec![1.0, nan],
        vec![nan, 1.0],
        vec![inf, -inf],
    ] {
        let (mean, var) = of(xs)?;
        assert!(mean.is_nan() && var.is_nan(), "{mean} {var}");
    }
    // Sums and squares that overflow.
    assert_eq!(of(vec![1.7e308, 1.7e308])?.0, inf);
    assert_eq!(of(vec![1e200, 3e200])?, (2e200, inf));
    // The variance of one element, or of equal ones, is 0.
    for x in [0.0, 0.1, -1e300, f64::MIN_POSITIVE / 8.0] {
        assert_eq!(of(vec![x])?, (x, 0.0));
        assert_eq!(of(vec![x; 33_333]).map(|m| m.1)?, 0.0);
    }
    assert_eq!(of(vec![0.1; 33_333])?.0, 0.1);
    // An `f32` accumulates as an `f64`.
    let large = Array::from(vec![f32::MAX, f32::MAX, f32::MAX, -f32::MAX]);
    assert_eq!(large.mean().force()?, f32::MAX / 2.0);
    Ok(())
}

#[test]
fn mean_of_integers_is_rounded_once() -> Result<()> {
    let narrow = Array::from(
        (0..100_001)
            .map(|k| 4_000_000_000 + k % 3)
            .collect::<Vec<u32>>(),
    );
    let sum: i128 = (0..100_001).map(|k| 4_000_000_000 + k % 3).sum();
    assert_eq!(narrow.mean().force()?, ratio(sum, 100_001));
    let grid = Grid::new(3, 70_000, ((1 << 52) - 5, 1 << 20), 0);
    let wide = Array::from(grid.numbers.clone());
    assert_eq!(wide.mean().force()?, grid.mean());
    assert!(wide.var().force()?.ulps(grid.var()) <= 2);
    Ok(())
}

#[test]
fn var_with_a_first_element_far_from_all_others_keeps_its_digits() -> Result<()> {
    let mut grid = Grid::new(4, 80_000, (1 << 30, 1 << 8), -20);
    grid.numbers[0] = 0;
    let var = Array::from(grid.doubles()).var().force()?;
    // One lane of a chunk, of 2048 elements, takes its squares relative to that element.
    assert!(var.ulps(grid.var()) <= 4096, "{var} for {}", grid.var());
    Ok(())
}

#[test]
fn mean_and_var_of_a_map_of_a_filter_are_one_loop_without_arrays() -> Result<()> {
    let kept = || {
        let xs: Array<f64> = (0..100_000).map(|k| 1e15 + f64::from(k % 7)).collect();
        xs.filter(|x| (x % 2.0).eq(0.0)).map(|x| x + 3.0)
    };
    let statistics =
        |kept: &Array<f64>| [kept.mean(), kept.var(), kept.std()].map(|s| s.node().clone());
    for node in statistics(&kept()) {
        assert_eq!(shape(&[node])?, (1, 0));
    }
    assert_eq!(shape(&statistics(&kept()))?, (1, 0));
    let mut bits = Vec::new();
    for engine in engines() {
        let kept = kept();
        let (mean, var) = (&kept.mean(), &kept.var()).force_with(&engine)?;
        bits.push((mean.to_bits(), var.to_bits()));
    }
    assert!(bits.windows(2).all(|b| b[0] == b[1]), "{bits:?}");
    let values: Vec<i64> = (0..100_000)
        .map(|k| k % 7)
        .filter(|k| (1_000_000_000_000_000 + k) % 2 == 0)
        .collect();
    let grid = Grid {
        numbers: values.iter().map(|k| k + 1_000_000_000_000_003).collect(),
        offset: 1_000_000_000_000_003,
        exponent: 0,
    };
    let (mean, var) = bits[0];
    assert!(f64::from_bits(mean).ulps(grid.mean()) <= 1);
    assert!(f64::from_bits(var).ulps(grid.var()) <= 2);
    Ok(())
}

#[test]
fn mean_and_var_on_several_threads_have_the_same_bits() -> Result<()> {
    let grid = Grid::new(5, 3_000_000, (1 << 50, 1 << 20), -30);
    let xs = Array::from(grid.doubles());
    let mut bits = Vec::new();
    for threads in [1, 3] {
        let engine = Engine::builder().threads(threads).build();
        let xs = xs.map(|x| x * 1.0);
        let (mean, var) = (&xs.mean(), &xs.var()).force_with(&engine)?;
        bits.push((mean.to_bits(), var.to_bits()));
        assert!(
            mean.ulps(grid.mean()) <= 1 && var.ulps(grid.var()) <= 2,
            "{mean} {var}"
        );
    }
    assert_eq!(bits[0], bits[1]);
    Ok(())
}

/// The examples at full length, with `LF_MOMENTS=100000000` in a release build.
#[test]
fn mean_and_var_of_very_many_elements_keep_their_digits() -> Result<()> {
    let Some(n) = std::env::var("LF_MOMENTS")
        .ok()
        .and_then(|n| n.parse().ok())
    else {
        return Ok(());
    };
    let single = Grid::new(6, n, (9_999 * 1024, 1774), -10);
    let xs = Array::from(single.singles());
    let (mean, var) = (&xs.mean(), &xs.var()).force()?;
    println!(
        "f32: {mean} for {}, {var} for {}",
        single.mean(),
        single.var()
    );
    assert!(mean.ulps(single.mean() as f32) <= 1 && var.ulps(single.var() as f32) <= 1);
    let double = Grid::new(7, n, (-8_000_000_000_000_000, 65), -3);
    let xs = Array::from(double.doubles());
    let (mean, var) = (&xs.mean(), &xs.var()).force()?;
    println!(
        "f64: {mean} for {}, {var} for {}",
        double.mean(),
        double.var()
    );
    assert!(mean.ulps(double.mean()) <= 1 && var.ulps(double.var()) <= 2);
    Ok(())
}
