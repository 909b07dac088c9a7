//! Scans between two transposes.

use crate::common::{engines, shape};
use livefusion::Result;
use livefusion::prelude::*;

const SHAPES: [(u64, u64); 5] = [(0, 3), (3, 0), (1, 4), (3, 5), (70, 130)];

fn numbers(n: u64, m: u64) -> Array<i64, Ix2> {
    let all: Vec<i64> = (0..n * m).map(|i| i as i64 * 5 % 19 - 7).collect();
    Array::from(all).reshape((n, m))
}

/// Compares a program of matrices with another one on each engine, and its loops and written arrays
/// with the expected ones.
fn check(
    build: impl Fn(&Array<i64, Ix2>) -> Array<i64, Ix2>,
    same: impl Fn(&Array<i64, Ix2>) -> Array<i64, Ix2>,
    loops_and_arrays: (usize, usize),
) -> Result<()> {
    for (n, m) in SHAPES {
        for engine in engines() {
            let built = build(&numbers(n, m));
            assert_eq!(shape(&[built.node()])?, loops_and_arrays, "{n} by {m}");
            let (got, expected) = (built.force_with(&engine)?, same(&numbers(n, m)).force()?);
            assert_eq!(got.shape(), expected.shape());
            assert_eq!(got.to_vec()?, expected.to_vec()?, "{n} by {m}");
        }
    }
    Ok(())
}

#[test]
fn scan_along_rows__between_transposes__runs_along_columns() -> Result<()> {
    check(
        |m| m.transpose().along(1).scan(0, |a, b| a + b).transpose(),
        |m| m.along(0).scan(0, |a, b| a + b),
        (1, 1),
    )?;
    check(
        |m| {
            let running = m.transpose().along(1).scan_exclusive(3, |a, b| a.max(b));
            running.transpose().map(|x| x * 2)
        },
        |m| m.along(0).scan_exclusive(3, |a, b| a.max(b)).map(|x| x * 2),
        (1, 1),
    )?;
    // A fold from left to right, whose step is no operator.
    check(
        |m| {
            m.transpose()
                .along(1)
                .scan_seq(1, |a, x| a * 3 - x)
                .transpose()
        },
        |m| m.along(0).scan_seq(1, |a, x| a * 3 - x),
        (1, 1),
    )
}

#[test]
fn scan_along_columns__between_transposes__runs_along_rows() -> Result<()> {
    check(
        |m| m.transpose().along(0).scan(0, |a, b| a + b).transpose(),
        |m| m.along(1).scan(0, |a, b| a + b),
        (1, 1),
    )
}

/// A scan that is read in its own order, or has other rows, stays as it is.
#[test]
fn scan_along_rows__then_other_axes__is_stored() -> Result<()> {
    check(
        |m| m.along(1).scan(0, |a, b| a + b).transpose(),
        |m| m.transpose().along(0).scan(0, |a, b| a + b),
        (2, 2),
    )?;
    let m = numbers(2, 6);
    for engine in engines() {
        let running = m.transpose().along(1).scan(0, |a, b| a + b);
        let other = running.reshape((3, 4)).transpose().force_with(&engine)?;
        let plain = running.force()?.to_vec()?;
        let expected: Vec<i64> = (0..12).map(|k| plain[k % 3 * 4 + k / 3]).collect();
        assert_eq!(other.to_vec()?, expected);
    }
    Ok(())
}

/// Scans of floats along rows and along columns may differ in their last bits.
#[test]
fn float_scan__between_transposes__keeps_its_bits() -> Result<()> {
    for engine in engines() {
        let all: Vec<f64> = (0..600).map(|i| f64::from(i * 7 % 19) * 0.1).collect();
        let m = Array::from(all).reshape((30, 20));
        let running = m.transpose().along(1).scan(0.0, |a, b| a + b);
        let back = running.transpose().force_with(&engine)?;
        let (plain, back) = (running.force_with(&engine)?.to_vec()?, back.to_vec()?);
        let expected: Vec<f64> = (0..600).map(|k| plain[k % 20 * 30 + k / 20]).collect();
        assert_eq!(back, expected);
    }
    Ok(())
}
