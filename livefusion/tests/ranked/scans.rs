//! Running folds along axes, from both ends, with and without a start.

use livefusion::prelude::*;
use livefusion::{ErrorKind, Force, Result};

/// Functions x -> a x + b. They do not commute.
type Line = (i64, i64);

fn lines() -> Array<Line, Ix3> {
    let number = |at: u64, k: Exp<u64>| (k * at).cast::<i64>() % 5 - 2;
    generate((3, 2, 4), move |(i, j, k)| {
        (number(3, i + 2 * j + k), number(7, 4 * i + j + 3 * k))
    })
}

fn after((a, b): Line, (c, d): Line) -> Line {
    (a * c, b * c + d)
}

/// The expected element of a scan, from the elements along an axis and an index.
type Plain = fn(&[Line], usize) -> Line;

fn joined(part: &[Line]) -> Line {
    part.iter().copied().reduce(after).unwrap_or((1, 0))
}

const START: Line = (1, 5);

fn from(part: &[Line]) -> Line {
    after(START, joined(part))
}

fn before(part: &[Line]) -> Line {
    after(joined(part), START)
}

#[test]
fn each_kind_along_each_axis() -> Result<()> {
    let m = lines();
    let all = m.force()?;
    let step = |(a, b), (c, d)| (a * c, b * c + d);
    for axis in 0..3 {
        let scans: [(Array<Line, Ix3>, Plain); 6] = [
            (m.along(axis).scan(START, step), |xs, i| from(&xs[..=i])),
            (m.along(axis).scan1(step), |xs, i| joined(&xs[..=i])),
            (m.along(axis).scan_exclusive(START, step), |xs, i| {
                from(&xs[..i])
            }),
            (m.along(axis).scan_right(START, step), |xs, i| {
                before(&xs[i..])
            }),
            (m.along(axis).scan1_right(step), |xs, i| joined(&xs[i..])),
            (m.along(axis).scan_exclusive_right(START, step), |xs, i| {
                before(&xs[i + 1..])
            }),
        ];
        for (kind, (scan, plain)) in scans.iter().enumerate() {
            for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
                let scan = scan.map(|x| x).force_with(&engine)?;
                for at in (0..24).map(|p| [p / 8, p / 4 % 2, p % 4]) {
                    let along = |k| {
                        let mut at = at;
                        at[axis] = k;
                        all.get((at[0], at[1], at[2])).unwrap_or((0, 0))
                    };
                    let xs: Vec<Line> = (0..[3, 2, 4][axis]).map(along).collect();
                    let got = scan.get((at[0], at[1], at[2]));
                    assert_eq!(
                        got,
                        Some(plain(&xs, at[axis])),
                        "{kind} along {axis}: {at:?}"
                    );
                }
            }
        }
    }
    Ok(())
}

#[test]
fn of_one_axis() -> Result<()> {
    let xs = Array::from(vec![3.0f64, f64::NAN, 1.0, 4.0]);
    assert_eq!(xs.scan1(|a, b| a.max(b)).force()?, [3.0, 3.0, 3.0, 4.0]);
    assert_eq!(
        xs.scan1_right(|a, b| a.min(b)).force()?,
        [1.0, 1.0, 1.0, 4.0]
    );
    // The first element is unchanged, including the sign of its zero.
    let zeros = Array::from(vec![-0.0f64, -0.0])
        .scan1(|a, b| a + b)
        .force()?;
    assert!(zeros.iter().all(|x| x.is_sign_negative()));
    let none = Array::<i64>::from(vec![]);
    assert!(none.scan1(|a, b| a / b).force()?.is_empty());
    assert!(none.scan1_right(|a, b| a / b).force()?.is_empty());
    // The first element is combined with nothing, and an operator may capture values.
    let by = Array::scalar(10i64);
    let quotients = Array::from(vec![7i64, 1, 2]).scan1(|a, b| &by / (a * b));
    assert_eq!(quotients.force()?, [7, 1, 5]);
    Ok(())
}

#[test]
fn one_loop_as_with_a_start() -> Result<()> {
    let loops = |program: &dyn Fn(&Array<f64>) -> Array<f64>| -> Result<usize> {
        let xs = Array::from(vec![1.5f64; 40]);
        Ok(program(&xs).map(|x| x + 1.0).explain()?.loops.len())
    };
    assert_eq!(loops(&|xs| xs.scan1(|a, b| a + b))?, 1);
    assert_eq!(loops(&|xs| xs.scan1(|a, b| a + b + a * b))?, 1);
    assert_eq!(loops(&|xs| xs.scan1_right(|a, b| a + b))?, 1);
    assert_eq!(loops(&|xs| xs.scan1_right(|a, b| a + b + a * b))?, 1);
    assert_eq!(loops(&|xs| xs.scan_exclusive_right(0.0, |a, b| a + b))?, 1);
    let m = Array::from_vec((5, 8), vec![1.5f64; 40]);
    let rows = |scan: Array<f64, Ix2>| -> Result<usize> {
        Ok(scan.map(|x| x + 1.0).explain()?.loops.len())
    };
    assert_eq!(rows(m.along(1).scan1(|a, b| a + b))?, 1);
    assert_eq!(rows(m.along(1).scan1(|a, b| a + b + a * b))?, 1);
    assert_eq!(rows(m.along(1).scan_exclusive(0.0, |a, b| a + b))?, 1);
    // The loop over a row runs from its end.
    assert_eq!(rows(m.along(1).scan_right(0.0, |a, b| a + b))?, 1);
    assert_eq!(rows(m.along(1).scan1_right(|a, b| a + b))?, 1);
    Ok(())
}

#[test]
fn no_rows_and_no_such_axis() -> Result<()> {
    let empty = generate((0, 3), |(i, j)| i + j);
    for m in [&empty, &empty.transpose()] {
        for axis in 0..2 {
            let shape = m.force()?.shape();
            assert_eq!(m.along(axis).scan1(|a, b| a + b).force()?.shape(), shape);
            assert_eq!(
                m.along(axis).scan1_right(|a, b| a * b + a).force()?.shape(),
                shape
            );
            assert_eq!(
                m.along(axis).scan_right(0, |a, b| a + b).force()?.shape(),
                shape
            );
        }
    }
    for wrong in [
        empty.along(2).scan1(|a, b| a + b),
        empty.along(2).scan_right(0, |a, b| a + b),
        empty.along(2).scan1_right(|a, b| a + b),
        empty.along(2).scan_exclusive_right(0, |a, b| a + b),
    ] {
        let e = wrong.force().unwrap_err();
        assert!(e.location.is_some_and(|l| l.file().ends_with("scans.rs")));
        assert!(matches!(e.kind, ErrorKind::Malformed { .. }), "{e}");
    }
    Ok(())
}
