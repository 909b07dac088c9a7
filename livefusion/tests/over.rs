//! Folds and scans of all elements, along axes, and of segments, against plain loops.

use livefusion::prelude::*;
use livefusion::{ErrorKind, Result};
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use std::sync::Arc;

fn engines() -> Vec<Engine> {
    let interp = Engine::builder().backend(Arc::new(InterpBackend::new()));
    let c = Engine::builder().backend(Arc::new(CBackend::new()));
    vec![interp.build(), c.build()]
}

fn rows() -> Vec<Vec<i64>> {
    vec![vec![3, -1, 4], vec![], vec![5], vec![2, 2, -7, 6, 1]]
}

/// `scan` of each row.
fn each(scan: impl Fn(&[i64]) -> Vec<i64>) -> Vec<Vec<i64>> {
    rows().iter().map(|row| scan(row)).collect()
}

/// No element, one, and several.
fn inputs() -> [Vec<i64>; 3] {
    [vec![], vec![3], vec![3, -1, 4, 1, -5]]
}

/// Functions x -> a x + b. They do not commute.
type Line = (i64, i64);

fn lines(xs: &[i64]) -> Vec<Line> {
    xs.iter().map(|x| (*x, x + 1)).collect()
}

fn after((a, b): Line, (c, d): Line) -> Line {
    (a * c, b * c + d)
}

fn joined(part: &[Line]) -> Line {
    part.iter().copied().reduce(after).unwrap_or((1, 0))
}

/// The inclusive running folds.
fn running(xs: &[i64], start: i64, op: impl Fn(i64, i64) -> i64) -> Vec<i64> {
    let mut state = start;
    let next = |x: &i64| {
        state = op(state, *x);
        state
    };
    xs.iter().map(next).collect()
}

fn reversed(mut xs: Vec<i64>) -> Vec<i64> {
    xs.reverse();
    xs
}

#[test]
fn cumsum_cumprod_cummax_and_cummin__of_segments__start_anew_in_each() -> Result<()> {
    let of = Segmented::from_vecs(rows());
    for engine in engines() {
        let vecs = |s: &Segmented<i64>| -> Result<Vec<Vec<i64>>> {
            let data = s.data().force_with(&engine)?;
            s.with_data(Array::from(&data)).to_vecs()
        };
        let sums = each(|row| running(row, 0, |a, b| a + b));
        assert_eq!(vecs(&of.cumsum())?, sums);
        assert_eq!(vecs(&of.scan(0, |a, b| a + b))?, sums);
        assert_eq!(vecs(&of.scan_seq(0, |a, b| a + b))?, sums);
        assert_eq!(vecs(&of.scan1(|a, b| a + b))?, sums);
        let products = each(|row| running(row, 1, |a, b| a * b));
        assert_eq!(vecs(&of.cumprod())?, products);
        let most = each(|row| running(row, i64::MIN, i64::max));
        assert_eq!(vecs(&of.cummax())?, most);
        assert_eq!(vecs(&of.scan1(|a, b| a.max(b)))?, most);
        let least = each(|row| running(row, i64::MAX, i64::min));
        assert_eq!(vecs(&of.cummin())?, least);
        let backwards = |row: &[i64]| reversed(running(&reversed(row.to_vec()), 0, |a, b| a + b));
        assert_eq!(vecs(&of.scan_right(0, |a, b| a + b))?, each(backwards));
        assert_eq!(vecs(&of.scan1_right(|a, b| a + b))?, each(backwards));
        let behind = |row: &[i64]| {
            let sums = backwards(row).into_iter().skip(1);
            sums.chain(row.first().map(|_| 0)).collect()
        };
        assert_eq!(
            vecs(&of.scan_exclusive_right(0, |a, b| a + b))?,
            each(behind)
        );
    }
    Ok(())
}

#[test]
fn fold1_and_fold_right__of_none_one_and_several__are_plain_loops() -> Result<()> {
    for (xs, engine) in inputs()
        .iter()
        .flat_map(|xs| engines().into_iter().map(move |e| (xs, e)))
    {
        let xs = lines(xs);
        let array = Array::from(xs.clone());
        let right = array.fold_right((1, 5), |(a, b), (c, d)| (a * c, b * c + d));
        let expected = xs.iter().rev().fold((1, 5), |state, x| after(*x, state));
        assert_eq!(right.force_with(&engine)?, expected);
        let first = array.fold1(|(a, b), (c, d)| (a * c, b * c + d));
        match xs.is_empty() {
            false => assert_eq!(first.force_with(&engine)?, joined(&xs)),
            true => {
                let error = first.force_with(&engine).expect_err("no elements");
                assert_eq!((error.combinator, error.kind), ("fold1", ErrorKind::Empty));
            }
        }
    }
    Ok(())
}

#[test]
fn fold_seq_and_aggregate__of_none_one_and_several__are_plain_loops() -> Result<()> {
    for xs in inputs() {
        for engine in engines() {
            let array = Array::from(xs.clone());
            let digits = array.fold_seq(7, |n, d| n * 10 - d);
            let both = array.aggregate(
                (0u64, 1i64),
                |(n, product), x| (n + 1, product * x),
                |(n, p), (m, q)| (n + m, p * q),
            );
            assert_eq!((&digits, &both).explain()?.loops.len(), 1);
            let (digits, both) = (&digits, &both).force_with(&engine)?;
            assert_eq!(digits, xs.iter().fold(7, |n, d| n * 10 - d));
            assert_eq!(both, (xs.len() as u64, xs.iter().product()));
        }
    }
    Ok(())
}

#[test]
fn scan1_scan_seq_and_scan_exclusive__of_none_one_and_several__are_plain_loops() -> Result<()> {
    for xs in inputs() {
        for engine in engines() {
            let array = Array::from(xs.clone());
            let digits = array.scan_seq(7, |n, d| n * 10 - d);
            let expected = running(&xs, 7, |n, d| n * 10 - d);
            assert_eq!(digits.force_with(&engine)?, expected);
            let xs = lines(&xs);
            let array = Array::from(xs.clone());
            let from_first = array.scan1(|(a, b), (c, d)| (a * c, b * c + d));
            let before = array.scan_exclusive((1, 5), |(a, b), (c, d)| (a * c, b * c + d));
            let places = 0..xs.len();
            let expected = places.clone().map(|i| joined(&xs[..=i]));
            assert_eq!(
                from_first.force_with(&engine)?,
                expected.collect::<Vec<_>>()
            );
            let expected = places.map(|i| after((1, 5), joined(&xs[..i])));
            assert_eq!(before.force_with(&engine)?, expected.collect::<Vec<_>>());
        }
    }
    Ok(())
}

#[test]
fn scan_right_scan1_right_and_scan_exclusive_right__of_none_one_and_several__are_plain_loops()
-> Result<()> {
    for xs in inputs() {
        for engine in engines() {
            let xs = lines(&xs);
            let array = Array::from(xs.clone());
            let from = array.scan_right((1, 5), |(a, b), (c, d)| (a * c, b * c + d));
            let from_last = array.scan1_right(|(a, b), (c, d)| (a * c, b * c + d));
            let behind = array.scan_exclusive_right((1, 5), |(a, b), (c, d)| (a * c, b * c + d));
            let places = 0..xs.len();
            let expected = places.clone().map(|i| after(joined(&xs[i..]), (1, 5)));
            assert_eq!(from.force_with(&engine)?, expected.collect::<Vec<_>>());
            let expected = places.clone().map(|i| joined(&xs[i..]));
            assert_eq!(from_last.force_with(&engine)?, expected.collect::<Vec<_>>());
            let expected = places.map(|i| after(joined(&xs[i + 1..]), (1, 5)));
            assert_eq!(behind.force_with(&engine)?, expected.collect::<Vec<_>>());
        }
    }
    Ok(())
}

#[test]
fn scan_with_start_and_scan_with_total__of_none_one_and_several__keep_both_ends() -> Result<()> {
    for xs in inputs() {
        for engine in engines() {
            let array = Array::from(xs.clone());
            let (before, total) = array.scan_with_total(5, |a, b| a + b);
            assert_eq!((&before, &total).explain()?.loops.len(), 1);
            let from = array.scan_with_start(5, |a, b| a + b);
            let (before, total, from) = (&before, &total, &from).force_with(&engine)?;
            let mut all = vec![5];
            all.extend(running(&xs, 5, |a, b| a + b));
            assert_eq!(from, all[..]);
            assert_eq!((&before[..], total), (&all[..xs.len()], all[xs.len()]));
        }
    }
    Ok(())
}

#[test]
fn over__statistics_of_segments__are_those_of_arrays() -> Result<()> {
    let of = Segmented::from_vecs(rows());
    for engine in engines() {
        let (mean, var, std) = (&of.mean(), &of.var(), &of.std()).force_with(&engine)?;
        for (k, row) in rows().into_iter().enumerate() {
            let alone = Array::from(row);
            let alone = (&alone.mean(), &alone.var(), &alone.std()).force_with(&engine)?;
            let bits = |(a, b, c): (f64, f64, f64)| [a, b, c].map(f64::to_bits);
            match alone.0.is_nan() {
                true => assert!(mean[k].is_nan() && var[k].is_nan() && std[k].is_nan()),
                false => assert_eq!(bits((mean[k], var[k], std[k])), bits(alone)),
            }
        }
    }
    Ok(())
}

#[test]
fn cumprod_cummax_and_cummin__along_an_axis__go_along_each_row_or_column() -> Result<()> {
    let m = Array::from([[3i64, -1, 4], [2, -7, 6]]);
    for engine in engines() {
        assert_eq!(
            m.along(1).cumprod().force_with(&engine)?,
            [[3, -3, -12], [2, -14, -84]]
        );
        assert_eq!(
            m.along(0).cumprod().force_with(&engine)?,
            [[3, -1, 4], [6, 7, 24]]
        );
        assert_eq!(
            m.along(1).cummax().force_with(&engine)?,
            [[3, 3, 4], [2, 2, 6]]
        );
        assert_eq!(
            m.along(0).cummin().force_with(&engine)?,
            [[3, -1, 4], [2, -7, 4]]
        );
    }
    Ok(())
}

#[test]
fn over__folds_of_all_elements__take_arrays_of_any_rank() -> Result<()> {
    let m = Array::from([[4i64, 0, 7], [1, 2, 3]]);
    assert_eq!(m.fold_seq(0, |n, d| n * 10 + d).force()?, 407_123);
    let even = m.aggregate(0u64, |n, x| n + (x % 2).eq(0).cast::<u64>(), |a, b| a + b);
    assert_eq!(even.force()?, 3);
    let dynamic = m.clone().into_dyn();
    assert_eq!(dynamic.sum().force()?, 17);
    assert_eq!(dynamic.along(0).sum().to_vec()?, [5, 2, 10]);
    assert_eq!(dynamic.along([0]).max().to_vec()?, [4, 2, 7]);
    Ok(())
}

#[cfg(feature = "complex")]
#[test]
fn over__sums_of_complex_numbers__go_along_axes_and_over_segments() -> Result<()> {
    use livefusion::complex::Complex;
    let z = |re: f64| Complex::new(re, -re);
    let zs = Array::from(vec![z(1.0), z(2.0), z(3.0), z(4.0)]);
    let m = zs.reshape((2, 2));
    assert_eq!(m.sum().force()?, z(10.0));
    assert_eq!(m.along(0).sum().to_vec()?, [z(4.0), z(6.0)]);
    assert_eq!(zs.chunks(3).sum().to_vec()?, [z(6.0), z(4.0)]);
    Ok(())
}

#[test]
fn over__mistakes__name_the_combinator_and_the_line_of_its_call() {
    let m = Array::from([[1i64, 2], [3, 4]]);
    let rows = Segmented::new(&Array::from(vec![2u64, 2]), &Array::from(vec![1i64, 2, 3]));
    let line = line!();
    let axis = m.along(2).sum();
    let twice = m.along([1, 1]).max();
    let errors = [axis.force().map(|_| ()), twice.force().map(|_| ())];
    for ((error, name), line) in errors.into_iter().zip(["sum", "max"]).zip(line + 1..) {
        let error = error.expect_err("a mistake");
        assert_eq!(error.combinator, name);
        let at = error.to_string();
        assert!(at.contains(&format!("over.rs:{line}")), "{at}");
        assert!(matches!(error.kind, ErrorKind::Malformed { .. }), "{at}");
    }
    let error = rows
        .cumsum()
        .data()
        .force()
        .expect_err("lengths that do not fit");
    assert!(error.to_string().starts_with("`cumsum` at"), "{error}");
    assert_eq!(
        format!("{:?}", m.along(1)),
        format!("Along {{ array: {m:?}, axes: [1] }}")
    );
}
