//! Comparisons of arrays and delayed scalars: `lt`, `le`, `gt`, `ge`, `eq`, `ne`.

use crate::common::engines;
use livefusion::ErrorKind;
use livefusion::prelude::*;

/// Results of `lt`, `le`, `gt`, `ge`, `eq`, `ne`, as bits.
macro_rules! six {
    ($a:expr, $b:expr, $engine:expr) => {{
        let (a, b) = (&$a, &$b);
        let all = (&a.lt(b), &a.le(b), &a.gt(b), &a.ge(b), &a.eq(b), &a.ne(b));
        let (lt, le, gt, ge, eq, ne) = all.force_with($engine).expect("six arrays");
        [lt, le, gt, ge, eq, ne].map(|bits| bits.into_vec().expect("bits"))
    }};
}

#[test]
fn lt_le_gt_ge_eq_and_ne__of_arrays__compare_their_elements() {
    let values = [f64::NAN, -0.0, 0.0, 1.5, f64::INFINITY];
    let pairs = || values.iter().flat_map(|x| values.map(|y| (*x, y)));
    let (xs, ys) = Array::from_iter(pairs()).unzip();
    for engine in engines() {
        let [lt, le, gt, ge, eq, ne] = six!(xs, ys, &engine);
        assert!(pairs().map(|(x, y)| x < y).eq(lt));
        assert!(pairs().map(|(x, y)| x <= y).eq(le));
        assert!(pairs().map(|(x, y)| x > y).eq(gt));
        assert!(pairs().map(|(x, y)| x >= y).eq(ge));
        assert!(pairs().map(|(x, y)| x == y).eq(eq));
        assert!(pairs().map(|(x, y)| x != y).eq(ne));
    }
}

#[test]
fn the_right_side_of_a_comparison_is_an_operators() {
    let (xs, ys) = (
        Array::from([1.0f64, 2.0, 6.0]),
        Array::from([1.0f64, 3.0, 5.0]),
    );
    let m = Array::from([[1i64, 2], [3, 4]]);
    for engine in engines() {
        let of = |a: Array<bool>| a.force_with(&engine).expect("bits").into_vec();
        assert_eq!(of(xs.gt(1.5)).unwrap(), [false, true, true]);
        assert_eq!(of(xs.le(&ys)).unwrap(), [true, true, false]);
        assert_eq!(of(xs.le(ys.clone())).unwrap(), [true, true, false]);
        assert_eq!(of(xs.lt(xs.mean())).unwrap(), [true, true, false]);
        assert_eq!(of(xs.mean().gt(&xs)).unwrap(), [true, true, false]);
        let scalars = (
            &xs.len().gt(0),
            &xs.sum().lt(1000.0),
            &xs.sum().ne(ys.sum()),
        );
        assert_eq!(scalars.force_with(&engine).unwrap(), (true, true, false));
        let rows = m.along(1).sum();
        let found = (&m.gt(2), &m.eq(&m.transpose()), &rows.ge(4));
        let (above, same, rows) = found.force_with(&engine).unwrap();
        assert_eq!(above, [[false, false], [true, true]]);
        assert_eq!(same, [[true, false], [false, true]]);
        assert_eq!(rows, [false, true]);
    }
}

#[test]
fn comparisons_are_joined_by_operators_for_bits() {
    let xs = Array::from([1i64, 5, 9, 12]);
    for engine in engines() {
        let within = xs.gt(1) & xs.lt(10);
        let outside = !&within | xs.eq(5);
        let all = (&within, &outside, &(xs.ge(5) ^ xs.ge(12)));
        let (within, outside, between) = all.force_with(&engine).unwrap();
        assert_eq!(within, [false, true, true, false]);
        assert_eq!(outside, [true, true, false, true]);
        assert_eq!(between, [false, true, true, false]);
        let flags = Array::from([true, false]);
        assert_eq!(flags.eq(false).force_with(&engine).unwrap(), [false, true]);
        assert_eq!(flags.gt(false).force_with(&engine).unwrap(), [true, false]);
    }
}

#[test]
fn delayed_scalars_are_compared_in_closures_and_loops() {
    let xs = Array::from([8.0f64, 2.0, 5.0]);
    let rows = Segmented::from_vecs(vec![vec![1i64, 4], vec![], vec![2, 3]]);
    for engine in engines() {
        let mean = xs.mean();
        let above = xs.filter(|x| mean.lt(x));
        assert_eq!(above.force_with(&engine).unwrap(), [8.0]);
        let small = iterate_while(&xs, |xs| xs.sum().gt(1.0), |xs| xs / 2.0);
        assert_eq!(small.sum().force_with(&engine).unwrap(), 0.9375);
        let large = rows.map_segments(|row| row.sum().gt(4) & row.len().gt(0));
        let large = large.force_with(&engine).unwrap();
        assert_eq!(large, [true, false, true]);
    }
}

#[test]
fn comparisons_fuse_and_name_themselves_in_errors() {
    let xs = Array::from([1i64, 2, 3]);
    for engine in engines() {
        let small = xs.map(|x| x * x).lt(5).map(|t| t.cast::<u64>()).sum();
        assert_eq!(small.explain().unwrap().loops.len(), 1);
        assert_eq!(small.force_with(&engine).unwrap(), 2);
        let odd = xs.filter(|x| (x % 2).eq(1));
        let e = xs.lt(&odd).force_with(&engine).expect_err("2 and 3");
        assert_eq!(e.combinator, "lt");
        assert!(matches!(e.kind, ErrorKind::LengthMismatch { .. }), "{e}");
    }
}
