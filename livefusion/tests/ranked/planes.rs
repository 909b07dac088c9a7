//! Closures on planes, and closures that give matrices, against the closure on each plane alone.

use crate::common::{counted, engines};
use livefusion::prelude::*;
use livefusion::prepare::prepare_with;
use livefusion::{ErrorKind, Result};

type Plane = Array<i64, Ix2>;

/// Shapes of arrays of planes, also with an empty axis.
const SHAPES: [(usize, usize, usize); 6] = [
    (3, 2, 4),
    (1, 3, 3),
    (2, 1, 5),
    (0, 2, 2),
    (2, 0, 3),
    (2, 3, 0),
];

fn element(i: usize, j: usize, k: usize) -> i64 {
    ((i * 31 + j * 7 + k * 3) % 13) as i64 - 4
}

fn cube((n, p, q): (usize, usize, usize)) -> Array<i64, Ix3> {
    let all =
        (0..n * p * q).map(|at| element(at / (p * q).max(1), at / q.max(1) % p.max(1), at % q));
    Array::from_vec((n, p, q), all.collect::<Vec<_>>())
}

fn plane(i: usize, (_, p, q): (usize, usize, usize)) -> Plane {
    let all = (0..p * q).map(|at| element(i, at / q, at % q));
    Array::from_vec((p, q), all.collect::<Vec<_>>())
}

/// Asserts that a closure gives the same on all planes together as on each alone.
fn each_plane(f: impl Fn(&Plane) -> Plane) -> Result<()> {
    for engine in engines() {
        for of in SHAPES {
            let all = cube(of).along([1, 2]).map(|plane| f(&plane));
            let all = all.force_with(&engine)?;
            let alone: Vec<_> = (0..of.0)
                .map(|i| f(&plane(i, of)).force())
                .collect::<Result<_>>()?;
            assert_eq!(all.shape()[0], of.0);
            for one in &alone {
                assert_eq!(all.shape()[1..], one.shape(), "of {of:?}");
            }
            let alone: Vec<_> = alone
                .into_iter()
                .map(|m| m.into_vec())
                .collect::<Result<_>>()?;
            assert_eq!(all.into_vec()?, alone.concat(), "of {of:?}");
        }
    }
    Ok(())
}

#[test]
fn map_along_two_axes__folds_of_a_plane__are_one_nest() -> Result<()> {
    for engine in engines() {
        let all = cube((3, 2, 4));
        let best = all
            .along([1, 2])
            .map(|plane: Plane| plane.along(1).sum().max());
        let explained = best.explain_with(&engine)?;
        assert_eq!(counted(&explained), (1, 3, 1), "{explained}");
        let expected = |i| {
            (0..2)
                .map(|j| (0..4).map(|k| element(i, j, k)).sum::<i64>())
                .max()
        };
        let expected: Vec<i64> = (0..3).filter_map(expected).collect();
        assert_eq!(best.force_with(&engine)?, expected[..]);
    }
    Ok(())
}

#[test]
fn map_along_two_axes__any_closure__is_the_closure_of_each_plane() -> Result<()> {
    each_plane(|m| m.map(|x| x * x))?;
    each_plane(|m| m.transpose())?;
    each_plane(|m| m.along(0).scan(0, |a, b| a + b).along(1).cummax())?;
    each_plane(|m| m.along(1).sum().broadcast((2, ..)))?;
    each_plane(|m| m.slice((0.., ..)))?;
    each_plane(|m| concatenate(1, [m, &m.map(|x| -x)]))?;
    each_plane(|m| {
        m.stencil2(
            [Boundary::Wrap, Boundary::Clamp],
            |near: [[Exp<i64>; 3]; 3]| near[0][1] - near[2][0],
        )
    })?;
    each_plane(|m| m.map_rows(|row| row.reverse()))?;
    each_plane(|m| m.along(0).map(|column| column.sort()))?;
    each_plane(|m| m.dot(&m.transpose()))?;
    each_plane(|m| iterate_n(3, m, |m| m.along(1).scan(1, |a, b| a + b)))?;
    each_plane(|m| {
        let (total, largest) = (m.sum(), m.along(0).sum());
        m.map_rows(|row| row.zip_with(&largest, |x, y| x - y).map(|x| x * &total))
    })?;
    let around = Array::from([[1i64, 2, 3], [4, 5, 6]]);
    each_plane(|m| {
        m.map_rows(|row| around.map_rows(|other| other.sum() + row.len().map(|n| n.cast::<i64>())))
    })
}

#[test]
fn map_along__axes_in_another_order__places_the_axes_of_results() -> Result<()> {
    for engine in engines() {
        let of = (3, 2, 4);
        let all = cube(of);
        // As many axes: they stay in place.
        let same = all
            .along([0, 2])
            .map(|m| m.map(|x| x + 1))
            .force_with(&engine)?;
        assert_eq!(same, all.map(|x| x + 1).force()?);
        let turned = all.along([2, 0]).map(|m| m.along(0).scan(0, |a, b| a + b));
        assert_eq!(
            turned.force_with(&engine)?,
            all.along(2).scan(0, |a, b| a + b).force()?
        );
        // Fewer: in the place of the first one.
        let sums = all.along([2, 1]).map(|m| m.along(0).sum());
        assert_eq!(sums.force_with(&engine)?, all.along(2).sum().force()?);
        let sums = all.along([0, 1]).map(|m| (m.along(0).sum(), m.sum()));
        let (columns, total) = sums;
        assert_eq!(columns.force_with(&engine)?, all.along(0).sum().force()?);
        assert_eq!(total.force_with(&engine)?, all.along([0, 1]).sum().force()?);
        // All axes: one call.
        let once = all
            .along([0, 1, 2])
            .map(|c| c.along(1).max())
            .force_with(&engine)?;
        assert_eq!(once, all.along(1).max().force()?);
    }
    Ok(())
}

#[test]
fn map_rows__closure_gives_a_matrix__adds_an_axis() -> Result<()> {
    for engine in engines() {
        for (n, k) in [(3, 2), (1, 1), (0, 3), (2, 0)] {
            let data: Vec<i64> = (0..n * k).map(|at| element(at, at / 2, 1)).collect();
            let m = Array::from_vec((n, k), data.clone());
            let products = m.map_rows(|row| {
                let wide = row.broadcast((row.len(), ..));
                wide.zip_with(&wide.transpose(), |x, y| x * y)
            });
            let found = products.force_with(&engine)?;
            assert_eq!(found.shape(), [n, k, k]);
            for (i, a, b) in (0..n).flat_map(|i| (0..k * k).map(move |at| (i, at / k, at % k))) {
                assert_eq!(
                    found.get((i, a, b)),
                    Some(data[i * k + a] * data[i * k + b])
                );
            }
        }
        // Matrices in the middle, and of a shape from the lengths of rows.
        let m = Array::from([[1i64, 2, 3, 4], [5, 6, 7, 8]]);
        let halves = m.map_rows(|row| row.reshape((2, row.len().map(|n| n / 2))).transpose());
        assert_eq!(
            halves.force_with(&engine)?.into_vec()?,
            [1, 3, 2, 4, 5, 7, 6, 8]
        );
        let middle = m.along(0).map(|column| column.broadcast((3, ..)));
        let middle = middle.force_with(&engine)?;
        assert_eq!(
            (middle.shape(), middle.get((2, 1, 3))),
            ([3, 2, 4], Some(8))
        );
    }
    Ok(())
}

#[test]
fn map_along__axes_that_are_wrong__are_errors() {
    let all = cube((2, 2, 2));
    let twice = all.along([1, 1]).map(|m| m.along(0).sum()).force();
    let beyond = all.along([1, 3]).map(|m| m.transpose()).force();
    let none = all.along([]).map(|m| m.map(|x| x + 1)).force();
    for wrong in [twice.err(), beyond.err(), none.err()] {
        let wrong = wrong.expect("an error");
        assert!(matches!(wrong.kind, ErrorKind::Malformed { .. }), "{wrong}");
        assert_eq!(wrong.combinator, "map");
    }
    let varying = all.along([1, 2]).map(|m| m.flatten().filter(|x| x.gt(0)));
    let wrong = varying.force().expect_err("lengths vary").to_string();
    assert!(wrong.contains("of one length"), "{wrong}");
}

#[test]
fn map_along_two_axes__in_a_prepared_program__is_one_nest() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, |c: Array<i64, Ix3>| {
            c.along([1, 2]).map(|plane| plane.along(1).sum().max())
        })?;
        for of in [(3, 2, 4), (2, 1, 3)] {
            let explained = program.explain(&cube(of))?;
            assert_eq!(counted(&explained), (1, 3, 1), "{explained}");
            let found = program.call(&cube(of))?;
            let expected = cube(of).along(2).sum().along(1).max().force()?;
            assert_eq!(found, expected);
        }
    }
    Ok(())
}
