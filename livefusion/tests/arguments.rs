//! Arguments with several forms: scalars next to arrays, delayed scalars, lists of arrays, rows.

use crate::common::engines;
use livefusion::prelude::*;
use livefusion::{ErrorKind, Result};

#[test]
fn loops_start_from_numbers() -> Result<()> {
    for engine in engines() {
        let start = (iota(4), true, 0u64);
        let (xs, goes_on, steps) = iterate_while(
            start,
            |(_, goes_on, _)| goes_on,
            |(xs, _, steps)| {
                let xs = xs.map(|x| x * 2);
                let goes_on = xs.sum().lt(100);
                (xs, goes_on, steps + 1)
            },
        );
        let (xs, goes_on, steps) = (&xs, &goes_on, &steps).force_with(&engine)?;
        assert_eq!(
            (xs.into_vec()?, goes_on, steps),
            (vec![0, 32, 64, 96], false, 5)
        );
        let halved = iterate_n(3, 1.0, |x| x / 2.0);
        assert_eq!(halved.force_with(&engine)?, 0.125);
        let xs = Array::from([8.0f64, 2.0]);
        let (small, error, steps) = iterate_while(
            (&xs, f64::INFINITY, 0u64),
            |(_, error, steps)| error.gt(1.0) & steps.lt(10),
            |(xs, _, steps)| (&xs / 2.0, xs.max(), steps + 1),
        );
        let ended = (&small.sum(), &error, &steps).force_with(&engine)?;
        assert_eq!(ended, (0.625, 1.0, 4));
    }
    Ok(())
}

#[test]
fn calls_take_values_of_delayed_scalars() -> Result<()> {
    type Scalar<T> = Array<T, Ix0>;
    let power = prepare(|(xs, by, on): (Array<f64>, Scalar<f64>, Scalar<bool>)| {
        xs.map(|x| on.value().cond(x * &by, x)).sum()
    })?;
    let xs = Array::from([1.0f64, 2.0]);
    for by in [3.0, 5.0] {
        assert_eq!(power.call((&xs, by, true))?, 3.0 * by);
        assert_eq!(power.call((&xs, &Array::scalar(by), false))?, 3.0);
        let all = (xs.clone(), Array::scalar(by), Array::scalar(true));
        assert_eq!(power.call(&all)?, 3.0 * by);
    }
    assert_eq!(power.explain((&xs, 2.0, true))?.loops.len(), 1);
    let half = prepare(|x: Scalar<f64>| x / 2.0)?;
    let mut out = half.call(3.0)?;
    half.call_into(5.0, &mut out)?;
    assert_eq!(out, 2.5);
    Ok(())
}

#[test]
fn delayed_scalars_meet_each_element_of_a_zip() -> Result<()> {
    let ys = Array::from([1.0f64, 2.0, 6.0]);
    let m = Array::from([[1i64, 2], [3, 4]]);
    let rows = Segmented::from(vec![vec![1i64, 4], vec![], vec![2, 3]]);
    for engine in engines() {
        let (mean, high) = (ys.mean(), ys.max());
        let above = ys.zip_with(&mean, |y, m| y.gt(m));
        assert_eq!(above.force_with(&engine)?, [false, false, true]);
        let scaled = (&ys, &mean, &high).zip_with(|y, m, h| (y - m) * h);
        assert_eq!(scaled.sum().force_with(&engine)?, 0.0);
        let turned = (&mean, &ys).zip_with(|m, y| m - y);
        assert_eq!(turned.force_with(&engine)?, [2.0, 1.0, -3.0]);
        let scalars = (&mean, &high).zip_with(|m, h| m * h);
        assert_eq!(scalars.force_with(&engine)?, 18.0);
        let both = zip((&mean, &high));
        let within = ys.zip_with(&both, |y, (m, h)| y.gt(m) & y.lt(h));
        assert_eq!(within.force_with(&engine)?, [false, false, false]);
        let (low, top) = (m.min(), m.max());
        let (a, b, c) = (&m, &low, &top);
        let all = (a, b, c, a, b, c).zip_with(|x, l, h, y, _, _| x * h - y * l);
        assert_eq!(all.force_with(&engine)?, [[3, 6], [9, 12]]);
        let shares = rows.map_segments(|row| row.zip_with(&row.sum(), |x, s| s - x));
        let shares = shares.data().force_with(&engine)?;
        assert_eq!(shares, [4, 1, 3, 2]);
        let wrong = ys.zip_with(&iota(2).sum(), |_, n| 1 / n);
        assert!(wrong.force_with(&engine).is_ok());
        let wrong = ys.zip_with(&iota(1).sum(), |_, n| 1 / n);
        let e = wrong.force_with(&engine).expect_err("a division by zero");
        assert!(matches!(e.kind, ErrorKind::Division { .. }), "{e}");
    }
    let scaled = (&ys, &iota(3).sum()).zip_with(|y, n| y * n.cast::<f64>());
    assert_eq!(scaled.sum().explain()?.loops.len(), 2);
    Ok(())
}

#[test]
#[expect(
    clippy::needless_borrows_for_generic_args,
    reason = "forms that users write"
)]
fn concat_stack_and_concatenate__of_lists_of_any_form__are_equal() -> Result<()> {
    let (a, b) = (Array::from([1i64, 2]), Array::from([3i64, 4]));
    let owned = || vec![a.clone(), b.clone()];
    let lent: Vec<&Array<i64>> = vec![&a, &b];
    let all = [
        concat([&a, &b]),
        concat(&[&a, &b]),
        concat(owned()),
        concat(&owned()),
        concat(&lent),
        concat(lent.iter().rev().rev()),
    ];
    for joined in all {
        assert_eq!(joined.force()?, [1, 2, 3, 4]);
    }
    let all = [
        stack(0, [&a, &b]),
        stack(0, &[&a, &b]),
        stack(0, owned()),
        stack(0, &owned()),
        stack(0, &lent),
    ];
    for stacked in all {
        assert_eq!(stacked.force()?, [[1, 2], [3, 4]]);
    }
    let m = stack(1, lent);
    for wide in [concatenate(1, [&m, &m]), concatenate(1, &[&m, &m])] {
        assert_eq!(wide.force()?, [[1, 3, 1, 3], [2, 4, 2, 4]]);
    }
    Ok(())
}

#[test]
fn from__vectors_of_rows__gives_a_matrix_or_segments() -> Result<()> {
    let m = Array::from(vec![[1i64, 2, 3], [4, 5, 6]]);
    assert_eq!(m.force()?, [[1, 2, 3], [4, 5, 6]]);
    let none = Array::from(Vec::<[i64; 3]>::new());
    assert_eq!(none.force()?.shape(), [0, 3]);
    let pairs = Array::from(vec![[(1u8, 0.5f64)], [(2, 1.5)]]);
    assert_eq!(
        pairs.map(|(n, x)| n.cast::<f64>() * x).force()?,
        [[0.5], [3.0]]
    );
    let rows = Segmented::from(vec![vec![3i64, 1], vec![], vec![2]]);
    assert_eq!(rows.to_vecs()?, [vec![3, 1], vec![], vec![2]]);
    Ok(())
}

#[test]
fn integers_of_any_type_are_indices() -> Result<()> {
    let xs = Array::from([1.5f64, 2.5, 3.5]);
    let m = Array::from([[1i64, 2], [3, 4]]);
    let (k, i) = (2usize, -1i64);
    for engine in engines() {
        let found = (&xs.at(1), &xs.at(k), &xs.at(0u8), &m.at((k - 1, 0)));
        assert_eq!(found.force_with(&engine)?, (2.5, 3.5, 1.5, 3));
        for wrong in [
            xs.at(-1),
            xs.at(i),
            xs.at(3),
            m.at([-1, 0]).map(|n| n.cast()),
        ] {
            let e = wrong.force_with(&engine).expect_err("an index outside");
            assert!(matches!(e.kind, ErrorKind::OutOfRange { .. }), "{e}");
        }
        let e = xs.at(-1).force_with(&engine).expect_err("a negative index");
        assert!(
            e.to_string().ends_with("expected an index below 3, got -1"),
            "{e}"
        );
    }
    Ok(())
}

#[test]
fn expressions_are_added_up_by_iterators() -> Result<()> {
    let xs = Array::from([1i64, 2, 3]);
    for engine in engines() {
        let (a, b) = (
            xs.map(|x| [x, x * x, 1 + x].iter().sum::<Exp<i64>>()),
            xs.map(|x| (1..4).map(|k| x + k).product::<Exp<i64>>()),
        );
        let (sums, products) = (&a, &b).force_with(&engine)?;
        assert_eq!(sums, [4, 9, 16]);
        assert_eq!(products, [24, 60, 120]);
        let none =
            xs.map(|x| x + [].iter().sum::<Exp<i64>>() * x + [].iter().product::<Exp<i64>>());
        assert_eq!(none.force_with(&engine)?, [2, 3, 4]);
        let lit = xs.map(|x| Exp::from(2i64) * x);
        assert_eq!(lit.force_with(&engine)?, [2, 4, 6]);
    }
    Ok(())
}
