//! Rearranged axes, against plain loops.

use crate::common::engines;
use livefusion::prelude::*;
use livefusion::{ErrorKind, Result};

const SHAPES: [(i64, i64); 5] = [(0, 3), (2, 0), (1, 1), (3, 2), (2, 5)];

fn at(i: i64, j: i64) -> i64 {
    10 * i + j + 1
}

fn plain(n: i64, m: i64, f: impl Fn(i64, i64) -> i64) -> Vec<i64> {
    let f = &f;
    (0..n).flat_map(|i| (0..m).map(move |j| f(i, j))).collect()
}

fn matrix(n: i64, m: i64) -> Array<i64, Ix2> {
    Array::from_vec((n, m), plain(n, m, at))
}

#[test]
fn diag_and_flatten__of_each_shape__are_plain_loops() -> Result<()> {
    for (engine, (n, m)) in engines()
        .iter()
        .flat_map(|e| SHAPES.map(|shape| (e, shape)))
    {
        let a = matrix(n, m);
        let (diag, flat) = (&a.diag(), &a.flatten()).force_with(engine)?;
        assert_eq!(diag, (0..n.min(m)).map(|i| at(i, i)).collect::<Vec<_>>());
        assert_eq!(flat, plain(n, m, at));
    }
    Ok(())
}

#[test]
fn roll__along_each_axis__wraps_around() -> Result<()> {
    for (engine, (n, m)) in engines()
        .iter()
        .flat_map(|e| SHAPES.map(|shape| (e, shape)))
    {
        let a = matrix(n, m);
        for by in [0, 1, -1, 7, i64::MIN] {
            let (down, right) = (&a.roll(0, by), &a.roll(1, by)).force_with(engine)?;
            let from = |i: i64, n: i64| (i - by.rem_euclid(n)).rem_euclid(n);
            assert_eq!(
                down.to_vec()?,
                plain(n, m, |i, j| at(from(i, n), j)),
                "{by}"
            );
            assert_eq!(
                right.to_vec()?,
                plain(n, m, |i, j| at(i, from(j, m))),
                "{by}"
            );
        }
    }
    let error = matrix(2, 2).roll(2, 1).force().expect_err("no such axis");
    assert_eq!(error.combinator, "roll");
    assert!(matches!(error.kind, ErrorKind::Malformed { .. }), "{error}");
    Ok(())
}

#[test]
fn pad__of_each_shape__surrounds_it() -> Result<()> {
    for (engine, (n, m)) in engines()
        .iter()
        .flat_map(|e| SHAPES.map(|shape| (e, shape)))
    {
        let padded = matrix(n, m).pad([(1, 0), (2, 3)], -4).force_with(engine)?;
        assert_eq!(padded.shape(), [n as usize + 1, m as usize + 5]);
        let inside = |i: i64, j: i64| (0..n).contains(&i) && (0..m).contains(&j);
        let value = |i, j| {
            if inside(i - 1, j - 2) {
                at(i - 1, j - 2)
            } else {
                -4
            }
        };
        assert_eq!(padded.to_vec()?, plain(n + 1, m + 5, value));
    }
    for by in [vec![(1, 0)], vec![(0, 0); 3], vec![(0, 0), (0, -1)]] {
        let error = matrix(2, 2).pad(by, 0).force().expect_err("a mistake");
        assert_eq!(error.combinator, "pad");
    }
    Ok(())
}

#[test]
fn triangle_lower_and_triangle_upper__of_each_diagonal__keep_one_side() -> Result<()> {
    for (engine, (n, m)) in engines()
        .iter()
        .flat_map(|e| SHAPES.map(|shape| (e, shape)))
    {
        let a = matrix(n, m);
        for k in -3..=3 {
            let both = (&a.triangle_lower(k, -4), &a.triangle_upper(k, -4));
            let (lower, upper) = both.force_with(engine)?;
            let kept = |i, j, keeps: bool| if keeps { at(i, j) } else { -4 };
            assert_eq!(
                lower.to_vec()?,
                plain(n, m, |i, j| kept(i, j, j <= i + k)),
                "{k}"
            );
            assert_eq!(
                upper.to_vec()?,
                plain(n, m, |i, j| kept(i, j, j >= i + k)),
                "{k}"
            );
        }
    }
    Ok(())
}

#[test]
fn swap_axes_and_permute_axes__of_a_cube__read_moved_indices() -> Result<()> {
    let a = generate((2, 3, 4), |(i, j, k)| 100 * i + 10 * j + k);
    let number = |at: [usize; 3]| 100 * at[0] as u64 + 10 * at[1] as u64 + at[2] as u64;
    for engine in engines() {
        for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]] {
            let moved = a.permute_axes(order).force_with(&engine)?;
            let lengths = order.map(|axis| [2, 3, 4][axis]);
            assert_eq!(moved.shape(), lengths);
            for at in [[0, 0, 0], lengths.map(|n| n - 1), [1, 0, 1]] {
                let mut from = [0; 3];
                for (axis, i) in order.into_iter().zip(at) {
                    from[axis] = i;
                }
                assert_eq!(moved[(at[0], at[1], at[2])], number(from), "{order:?}");
            }
        }
        let swapped = a.swap_axes(0, 2).force_with(&engine)?;
        assert_eq!(swapped, a.permute_axes([2, 1, 0]).force_with(&engine)?);
        assert_eq!(
            a.swap_axes(1, 1).force_with(&engine)?,
            a.force_with(&engine)?
        );
    }
    Ok(())
}
