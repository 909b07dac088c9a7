//! Sorts and medians along an axis, against plain loops.

use crate::common::{engines, shape};
use livefusion::prelude::*;
use livefusion::{ErrorKind, Result};

/// Vectors along the last axis of 2 x 3 x 4 numbers, of which many are equal.
fn number(i: usize, j: usize, k: usize) -> i64 {
    ((i * 31 + j * 17 + k * 7) % 5) as i64 - 2
}

fn cube() -> Array<i64, Ix3> {
    let all = (0..24).map(|p| number(p / 12, p / 4 % 3, p % 4));
    Array::from_vec((2, 3, 4), all.collect())
}

/// The numbers along an axis, through an index.
fn along(axis: usize, at: [usize; 3]) -> Vec<i64> {
    let number = |k| {
        let mut at = at;
        at[axis] = k;
        number(at[0], at[1], at[2])
    };
    (0..[2, 3, 4][axis]).map(number).collect()
}

#[test]
fn sort_and_argsort__along_each_axis__order_each_vector() -> Result<()> {
    for engine in engines() {
        for axis in 0..3 {
            let (sorted, places) = (cube().along(axis).sort(), cube().along(axis).argsort());
            let (sorted, places) = (&sorted, &places).force_with(&engine)?;
            assert_eq!((sorted.shape(), places.shape()), ([2, 3, 4], [2, 3, 4]));
            for at in (0..24).map(|p| [p / 12, p / 4 % 3, p % 4]) {
                let xs = along(axis, at);
                let mut order: Vec<usize> = (0..xs.len()).collect();
                order.sort_by_key(|k| xs[*k]);
                let (index, place) = ((at[0], at[1], at[2]), order[at[axis]]);
                assert_eq!(sorted[index], xs[place], "{axis}: {at:?}");
                assert_eq!(places[index], place as u64, "{axis}: {at:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn median__along_each_axis__is_that_of_each_vector() -> Result<()> {
    for engine in engines() {
        for axis in 0..3 {
            let found = cube().along(axis).median().force_with(&engine)?;
            let lengths = [[3, 4], [2, 4], [2, 3]][axis];
            assert_eq!(found.shape(), lengths);
            for (p, q) in (0..lengths[0]).flat_map(|p| (0..lengths[1]).map(move |q| (p, q))) {
                let mut xs = along(axis, [[0, p, q], [p, 0, q], [p, q, 0]][axis]);
                xs.sort();
                let n = xs.len();
                let expected = (xs[(n - 1) / 2] + xs[n / 2]) as f64 / 2.0;
                assert_eq!(found[(p, q)], expected, "{axis}: {p} {q}");
            }
        }
    }
    Ok(())
}

#[test]
fn sort_argsort_and_median__of_one_axis_and_of_none__are_those_of_arrays() -> Result<()> {
    let xs = Array::from(vec![3.0f64, f64::NAN, -1.0]);
    for engine in engines() {
        let sorted = xs.along(0).sort().force_with(&engine)?;
        assert_eq!((&sorted[..2], sorted[2].is_nan()), (&[-1.0, 3.0][..], true));
        assert_eq!(xs.along(0).argsort().force_with(&engine)?, [2, 0, 1]);
        let middle = xs.take(1).along(0).median().force_with(&engine)?;
        assert_eq!(middle, 3.0);
        let dynamic = cube().into_dyn().along(1).sort().force_with(&engine)?;
        assert_eq!(dynamic.to_vec()?, cube().along(1).sort().to_vec()?);
        let none = Array::from_vec((0, 3), Vec::<(i64, bool)>::new());
        for axis in 0..2 {
            let sorted = none.along(axis).sort().force_with(&engine)?;
            assert_eq!(sorted.shape(), [0, 3]);
        }
    }
    Ok(())
}

#[test]
fn sort__along_the_last_axis_between_maps__is_in_their_loop() -> Result<()> {
    let m = generate((20, 30), |(i, j)| (i * 7 + j * 13) % 31);
    let steps = m.map(|x| x * 2).along(1).sort().map(|x| x + 1);
    assert_eq!(shape(&[steps.node()])?, (1, 1));
    // Sorted columns are stored as rows, and then read across.
    let best = m.map(|x| x * 2).along(0).sort().map(|x| x * x).sum();
    assert_eq!(shape(&[best.node()])?, (2, 1));
    Ok(())
}

#[test]
fn sort_argsort_and_median__with_mistakes__are_errors() {
    let m = Array::from([[3i64, 1], [2, 0]]);
    let errors = [
        m.along(2).sort().force().err(),
        m.along(2).argsort().force().err(),
        m.along(2).median().force().err(),
    ];
    for (error, name) in errors.into_iter().zip(["sort", "argsort", "median"]) {
        let error = error.expect("no such axis");
        assert_eq!(error.combinator, name);
        assert!(matches!(error.kind, ErrorKind::Malformed { .. }), "{error}");
    }
    let none = Array::from_vec((2, 0), Vec::<i64>::new());
    let error = none.along(1).median().force().expect_err("no elements");
    assert_eq!((error.combinator, error.kind), ("median", ErrorKind::Empty));
}
