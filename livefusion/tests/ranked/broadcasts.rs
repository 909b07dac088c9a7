//! Broadcasts along several axes, rows that meet other matrices, and shapes known in a call.

use crate::common::{counted, engines};
use livefusion::prelude::*;
use livefusion::prepare::prepare_with;
use livefusion::{ErrorKind, Result};

fn matrix(n: usize, m: usize) -> Array<f64, Ix2> {
    Array::from_vec((n, m), (0..n * m).map(|k| (k * 5 % 11) as f64).collect())
}

fn at(m: usize, i: usize, j: usize) -> f64 {
    ((i * m + j) * 5 % 11) as f64
}

#[test]
fn broadcast__along_two_new_axes__is_one_nest() -> Result<()> {
    for engine in engines() {
        for (n, d, k) in [(3, 4, 5), (1, 1, 1), (2, 0, 3), (0, 2, 2)] {
            let v = Array::from((0..n).map(|i| i as f64 + 1.0).collect::<Vec<_>>());
            for v in [v.clone(), v.map(|x| x + 0.0)] {
                let wide = v.broadcast((.., d, k));
                let all = wide.zip_with(&matrix(d, k).broadcast((n, .., ..)), |x, y| x * y);
                let sums = all.along(2).sum();
                let explained = sums.explain_with(&engine)?;
                assert_eq!(counted(&explained), (1, 3, 1), "{explained}");
                let sums = sums.force_with(&engine)?;
                assert_eq!(sums.shape(), [n, d]);
                for (i, j) in (0..n).flat_map(|i| (0..d).map(move |j| (i, j))) {
                    let row: f64 = (0..k).map(|l| at(k, j, l)).sum();
                    assert_eq!(sums.get((i, j)), Some((i as f64 + 1.0) * row));
                }
            }
        }
    }
    Ok(())
}

#[test]
fn map_rows__of_another_matrix_in_a_closure__is_one_nest() -> Result<()> {
    for engine in engines() {
        for (n, m, k) in [(4, 3, 5), (1, 1, 1), (0, 3, 2), (2, 0, 4), (2, 3, 0)] {
            let (x, y) = (matrix(n, k), matrix(m, k));
            let met = x.map_rows(|a| y.map_rows(|b| a.zip_with(&b, |p, q| p * q).sum()));
            let dots = x.map_rows(|a| y.dot(&a));
            for program in [met, dots] {
                let explained = program.explain_with(&engine)?;
                assert_eq!(counted(&explained), (1, 3, 1), "{explained}");
                let found = program.force_with(&engine)?;
                assert_eq!(found.shape(), [n, m]);
                for (i, j) in (0..n).flat_map(|i| (0..m).map(move |j| (i, j))) {
                    let sum: f64 = (0..k).map(|l| at(k, i, l) * at(k, j, l)).sum();
                    assert_eq!(found.get((i, j)), Some(sum));
                }
            }
        }
    }
    Ok(())
}

#[test]
fn map_rows__of_a_matrix_with_other_rows__is_an_error_with_its_place() -> Result<()> {
    for engine in engines() {
        let (x, y) = (matrix(2, 3), matrix(2, 4));
        let line = line!() + 1;
        let met = x.map_rows(|a| y.map_rows(|b| a.zip_with(&b, |p, q| p * q).sum()));
        let e = met.force_with(&engine).expect_err("rows of 3 and 4");
        assert!(matches!(e.kind, ErrorKind::LengthMismatch { .. }), "{e}");
        assert_eq!(e.location.map(|l| l.line()), Some(line));
        // Without rows nothing is compared.
        let none = matrix(0, 3).map_rows(|a| y.map_rows(|b| a.zip_with(&b, |p, q| p * q).sum()));
        assert_eq!(none.force_with(&engine)?.shape(), [0, 2]);
    }
    Ok(())
}

#[test]
fn prepare__of_shapes_that_are_equal_in_a_call__is_one_nest() -> Result<()> {
    for engine in engines() {
        let line = line!() + 2;
        let program = prepare_with(&engine, |(m, r): (Array<f64, Ix2>, Array<f64>)| {
            m.zip_with(&r.broadcast((3, ..)), |x, y| x * y)
                .along(1)
                .sum()
        })?;
        let row = |n: usize| Array::from(vec![2.0; n]);
        for k in [4, 3, 0] {
            let explained = program.explain(&(matrix(3, k), row(k)))?;
            assert_eq!(counted(&explained), (1, 2, 1), "{explained}");
            let sums = program.call(&(matrix(3, k), row(k)))?;
            let expected = (0..3).map(|i| (0..k).map(|j| 2.0 * at(k, i, j)).sum());
            assert_eq!(sums, expected.collect::<Vec<f64>>());
        }
        // One program serves all of these shapes, and another one each kind of mistake.
        let misses = engine.counters().misses;
        program.call(&(matrix(3, 7), row(7)))?;
        assert_eq!(engine.counters().misses, misses);
        for (m, r) in [
            (matrix(2, 4), row(4)),
            (matrix(3, 4), row(5)),
            (matrix(3, 0), row(1)),
        ] {
            let e = program.call(&(m, r)).expect_err("shapes differ");
            assert!(matches!(e.kind, ErrorKind::LengthMismatch { .. }), "{e}");
            assert_eq!(e.location.map(|l| l.line()), Some(line));
        }
    }
    Ok(())
}

#[test]
fn iterate_n__of_a_min_plus_product__is_one_nest_a_step() -> Result<()> {
    let n = 5;
    let start = Array::from_vec((n, n), (0..n * n).map(|k| (k * 7 % 13) as f64).collect());
    let closer = |d: Array<f64, Ix2>| {
        let to = d.transpose();
        let paths = d.broadcast((.., n, ..));
        paths
            .zip_with(&to.broadcast((n, .., ..)), |a, b| a + b)
            .along(2)
            .min()
    };
    let mut expected: Vec<f64> = (0..n * n).map(|k| (k * 7 % 13) as f64).collect();
    for _ in 0..3 {
        let was = expected.clone();
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let through = (0..n).map(|k| was[i * n + k] + was[k * n + j]);
            expected[i * n + j] = through.fold(f64::INFINITY, f64::min);
        }
    }
    for engine in engines() {
        let ended = iterate_n(3, &start, closer);
        let explained = ended.explain_with(&engine)?;
        let steps = explained.apart.iter().flat_map(|part| part.parts());
        let shapes: Vec<_> = steps.map(counted).filter(|s| s.0 > 0).collect();
        assert_eq!(shapes, [(1, 3, 1)], "{explained}");
        assert_eq!(ended.force_with(&engine)?.into_vec()?, expected);
    }
    Ok(())
}

/// The bins of an extremum begin with its identity, so no element is read twice.
#[test]
fn min__along_an_outer_axis_of_a_computed_array__is_one_nest() -> Result<()> {
    let sums = |n: usize| {
        let d = matrix(n, n);
        let to = d.broadcast((.., .., n));
        to.zip_with(&d.broadcast((n, .., ..)), |a, b| a + b)
    };
    for engine in engines() {
        for n in [4, 1] {
            let least = sums(n).along(1).min();
            let explained = least.explain_with(&engine)?;
            assert_eq!(counted(&explained), (1, 3, 1), "{explained}");
            let least = least.force_with(&engine)?;
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let through = (0..n).map(|k| at(n, i, k) + at(n, k, j));
                assert_eq!(
                    least.get((i, j)),
                    Some(through.fold(f64::INFINITY, f64::min))
                );
            }
        }
        assert_eq!(sums(0).along(1).min().force_with(&engine)?.shape(), [0, 0]);
        let none = matrix(0, 2).along(0).max().force_with(&engine);
        assert_eq!(none.expect_err("no elements").kind, ErrorKind::Empty);
        let late = |n: u64| iota(9).filter(move |x| x.lt(n)).len();
        let made = |n, m| {
            generate((&late(n), &late(m)), |(i, j)| i + j)
                .along(0)
                .max()
        };
        assert_eq!(made(2, 3).force_with(&engine)?, [1, 2, 3]);
        assert_eq!(made(0, 0).force_with(&engine)?, []);
        let e = made(0, 3).force_with(&engine).expect_err("no elements");
        assert_eq!(
            (e.combinator, e.kind),
            ("max", ErrorKind::OutOfRange { index: 0, len: 0 })
        );
        let nans = Array::from([[f64::NAN, 1.0], [f64::NAN, f64::NAN]]);
        let least = nans.along(0).min().force_with(&engine)?;
        assert!(least[0].is_nan());
        assert_eq!(least[1], 1.0);
    }
    Ok(())
}
