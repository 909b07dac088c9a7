//! Folds along axes.

use livefusion::prelude::*;
use livefusion::{ErrorKind, Result};

fn cube() -> (Array<i64, Ix3>, impl Fn(usize, usize, usize) -> i64) {
    let at = |i: usize, j: usize, k: usize| ((i * 31 + j * 17 + k * 7) % 23) as i64 - 9;
    let mut all = Vec::new();
    for i in 0..3 {
        for j in 0..4 {
            all.extend((0..5).map(|k| at(i, j, k)));
        }
    }
    (Array::from_vec((3, 4, 5), all), at)
}

#[test]
fn sums_along_each_axis_and_several() -> Result<()> {
    let (a, at) = cube();
    let (x, y, z) = (&a.along(0).sum(), &a.along(1).sum(), &a.along(2).sum()).force()?;
    for (j, k) in (0..4).flat_map(|j| (0..5).map(move |k| (j, k))) {
        assert_eq!(x[(j, k)], (0..3).map(|i| at(i, j, k)).sum::<i64>());
    }
    for (i, k) in (0..3).flat_map(|i| (0..5).map(move |k| (i, k))) {
        assert_eq!(y[(i, k)], (0..4).map(|j| at(i, j, k)).sum::<i64>());
    }
    for (i, j) in (0..3).flat_map(|i| (0..4).map(move |j| (i, j))) {
        assert_eq!(z[(i, j)], (0..5).map(|k| at(i, j, k)).sum::<i64>());
    }
    let sum = |pick: &dyn Fn(usize, usize, usize) -> Option<usize>, n: usize| {
        let mut sums = vec![0; n];
        for i in 0..3 {
            for j in 0..4 {
                for k in 0..5 {
                    if let Some(p) = pick(i, j, k) {
                        sums[p] += at(i, j, k);
                    }
                }
            }
        }
        sums
    };
    assert_eq!(a.along([0, 2]).sum().force()?, sum(&|_, j, _| Some(j), 4));
    assert_eq!(a.along([1, 2]).sum().force()?, sum(&|i, _, _| Some(i), 3));
    assert_eq!(a.along([1, 0]).sum().force()?, sum(&|_, _, k| Some(k), 5));
    assert_eq!(
        vec![a.along([0, 1, 2]).sum().force()?],
        sum(&|_, _, _| Some(0), 1)
    );
    assert_eq!(a.along([]).sum().force()?.to_vec()?, a.to_vec()?);
    assert_eq!(a.sum().force()?, a.flatten().sum().force()?);
    Ok(())
}

#[test]
fn folds_without_a_start_and_of_other_states() -> Result<()> {
    let (a, at) = cube();
    let (least, most) = (a.along(1).min().force()?, a.along([0, 2]).max().force()?);
    for i in 0..3 {
        for k in 0..5 {
            assert_eq!(Some(least[(i, k)]), (0..4).map(|j| at(i, j, k)).min());
        }
    }
    let all = |j| (0..3).flat_map(move |i| (0..5).map(move |k| (i, j, k)));
    for j in 0..4 {
        assert_eq!(Some(most[j]), all(j).map(|(i, j, k)| at(i, j, k)).max());
    }
    for axis in 0..3 {
        let found = a.along(axis).min_index().force()?;
        let n = [3, 4, 5][axis];
        for p in 0..found.shape()[0] {
            for q in 0..found.shape()[1] {
                let value = |r| match axis {
                    0 => at(r, p, q),
                    1 => at(p, r, q),
                    _ => at(p, q, r),
                };
                assert_eq!(
                    Some(found[(p, q)] as usize),
                    (0..n).min_by_key(|r| value(*r))
                );
            }
        }
    }
    let last = a.along(0).fold1(|_, b| b).force()?;
    assert_eq!(last[(2, 3)], at(2, 2, 3));
    let digits = a
        .along(1)
        .aggregate(0.0f64, |s, x| s * 2.0 + x.cast::<f64>(), |a, _| a);
    assert_eq!(
        digits.force()?[(1, 2)],
        (0..4).fold(0.0, |s, j| s * 2.0 + at(1, j, 2) as f64)
    );
    let m = generate((2, 0), |(i, j)| i + j);
    assert_eq!(m.along(1).sum().force()?, [0, 0]);
    assert_eq!(m.along(1).min().force().unwrap_err().kind, ErrorKind::Empty);
    assert_eq!(
        m.transpose().along(0).min().force().unwrap_err().kind,
        ErrorKind::Empty
    );
    assert!(m.along(0).min().force()?.is_empty());
    Ok(())
}

#[test]
fn floats_go_from_left_to_right_along_another_axis() -> Result<()> {
    let xs: Vec<f32> = (0..600).map(|k| 1.0 / (k + 1) as f32).collect();
    let sums = Array::from_vec((200, 3), xs.clone())
        .along(0)
        .sum()
        .force()?;
    for j in 0..3 {
        assert_eq!(sums[j], (0..200).fold(0.0, |s, i| s + xs[3 * i + j]));
    }
    Ok(())
}

#[test]
fn means_and_variances() -> Result<()> {
    let (a, at) = cube();
    for axis in 0..3 {
        let (mean, var) = (&a.along(axis).mean(), &a.along(axis).var()).force()?;
        let std = a.along(axis).std().force()?;
        let n = [3, 4, 5][axis];
        for p in 0..mean.shape()[0] {
            for q in 0..mean.shape()[1] {
                let value = |r| match axis {
                    0 => at(r, p, q) as f64,
                    1 => at(p, r, q) as f64,
                    _ => at(p, q, r) as f64,
                };
                let m = (0..n).map(value).sum::<f64>() / n as f64;
                let v = (0..n).map(|r| (value(r) - m).powi(2)).sum::<f64>() / n as f64;
                assert!((mean[(p, q)] - m).abs() < 1e-12 && (var[(p, q)] - v).abs() < 1e-9);
                assert_eq!(std[(p, q)], var[(p, q)].sqrt());
            }
        }
    }
    Ok(())
}

#[test]
fn swap_axes_and_permute_axes__of_wrong_axes__are_errors() {
    let (a, _) = cube();
    let malformed = |kind| matches!(kind, ErrorKind::Malformed { .. });
    let error = a.along(3).sum().force().unwrap_err();
    assert!(
        error
            .location
            .is_some_and(|l| l.file().ends_with("folds.rs"))
    );
    assert!(malformed(error.kind));
    assert!(malformed(a.along([1, 1]).sum().force().unwrap_err().kind));
    assert!(malformed(a.swap_axes(0, 3).force().unwrap_err().kind));
    assert!(malformed(a.permute_axes([0, 1]).force().unwrap_err().kind));
}

#[test]
fn delayed_lengths() -> Result<()> {
    let n = Array::from(vec![1i64, 2, 3]).filter(|x| x.gt(1)).len();
    let a = generate((&n, 3), |(i, j)| 10 * i + j);
    assert_eq!(a.along(0).sum().force()?, [10, 12, 14]);
    assert_eq!(a.along(1).sum().force()?, [3, 33]);
    assert_eq!(a.transpose().along(0).max().force()?, [2, 12]);
    assert_eq!(a.transpose().force()?, [[0, 10], [1, 11], [2, 12]]);
    assert_eq!(a.along(0).mean().force()?, [5.0, 6.0, 7.0]);
    Ok(())
}

#[test]
fn row_sums_and_a_map_of_them_are_one_loop() -> Result<()> {
    let m = Array::from_vec((30, 40), vec![0.5f64; 1200]);
    let scaled = m.map(|x| x + 1.0).along(1).sum().map(|s| s * 2.0);
    assert_eq!(scaled.explain()?.loops.len(), 1);
    assert!(scaled.force()?.iter().all(|x| *x == 120.0));
    let columns = m.map(|x| x + 1.0).along(0).sum();
    println!("{}", columns.explain()?);
    Ok(())
}
