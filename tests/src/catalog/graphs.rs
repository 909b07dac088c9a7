//! Programs of graph reduction: a dense kernel, six unfused cases, maximum segment sum.
//!
//! The authors of the paper do not fuse the six cases.

use super::Program;
use livefusion::prelude::*;

/// Computes a kernel in which most arrays have several uses (figure 8).
///
/// `x1` is used by the result and by a sum, `y1`, `y2` and `y3` are used twice each. Every map has
/// operators of its own.
pub fn kernel(a: &Array<i64>, b: &Array<i64>) -> (Array<i64>, Array<i64, Ix0>) {
    let (x1, x2) = (a.map(|a| a ^ 5), b.map(|b| b | 1));
    let ys = (&x1, &x2).zip_with(|a, b| (a.min(b), a.max(b), a & b));
    let (y1, y2, y3) = ys.unzip();
    let (z1, z2) = (&y1, &y2).zip_with(|a, b| (a * b, a - b)).unzip();
    let (q1, q2) = (&y3, &z1, &y2)
        .zip_with(|y3, z1, y2| (y3.lt(z1).cond(y3, y2), z1 << 1))
        .unzip();
    let result = (&q1, &q2, &z2, &y1, &y3).zip_with(|q1, q2, z2, y1, y3| {
        let (differs, low) = (q1.ne(q2), z2.abs().min(y1));
        differs.cond(low, y3)
    });
    (result, x1.sum())
}

/// Uses an array before and after an update in place (case 1).
///
/// The results are the updated array, and a map of a map of the old one.
pub fn around_an_update(a: &Array<f64>) -> (Array<f64>, Array<f64>) {
    let x = a.map(|a| a + 1.0);
    let updated = a.scatter(&Array::from([1u64]), &Array::from([3.33]));
    (updated, x.map(|x| x * 2.0))
}

/// Zips two arrays filtered by the same predicate (case 2).
pub fn zip_of_filters(a: &Array<i64>, b: &Array<i64>) -> Array<i64> {
    let (x, y) = (a.filter(|a| a.gt(0)), b.filter(|b| b.gt(0)));
    x.zip_with(&y, |x, y| x - y)
}

/// Adds an array repeatedly in a loop (case 3).
pub fn into_a_loop(a: &Array<f64>, times: usize) -> Array<f64> {
    let x = a.map(|a| a.sqrt());
    (0..times).fold(x.clone(), |sum, _| sum.zip_with(&x, |s, x| s + x))
}

/// Uses an array in both branches of a condition and after it (case 4).
pub fn on_both_ways(a: &Array<i64>, way: &Array<bool, Ix0>) -> (Array<i64>, Array<i64>) {
    let x = a.map(|a| a * a);
    let y = x.map(|x| way.value().cond(x / 3, x % 3));
    (y, x.map(|x| x ^ 1))
}

/// Uses only single elements of arrays, `x[i] + y[i]` (case 5).
pub fn single_elements(a: &Array<f64>, i: u64) -> Array<f64, Ix0> {
    let x = a.map(|a| a.sqrt());
    let y = x.map(|x| x * 3.0);
    &x.at(i) + &y.at(i)
}

/// Reduces both results of one map (case 6).
pub fn sum_and_product(a: &Array<i64>) -> (Array<i64, Ix0>, Array<i64, Ix0>) {
    let (x, y) = a.map(|a| (a ^ 1, a | 1)).unzip();
    (x.sum(), y.product())
}

/// Returns the maximum segment sum, which is at least 0.
///
/// It folds tuples of maximum, maximum prefix, maximum suffix and sum.
pub fn largest_segment_sum(xs: &Array<i64>) -> Array<i64, Ix0> {
    let one = |x: Exp<i64>| {
        let positive = x.max(0);
        (positive, positive, positive, x)
    };
    let all = xs
        .map(one)
        .fold((0, 0, 0, 0), |(m, l, r, s), (n, k, q, t)| {
            let largest = m.max(n).max(r + k);
            (largest, l.max(s + k), q.max(r + t), s + t)
        });
    let (largest, ..) = all.unzip();
    largest
}

pub(super) fn all() -> Vec<Program> {
    let (xs, ys) = (Array::from([3i64, -1, 60]), Array::from([1i64, 2, -3]));
    let fs = Array::from([3.0f64, 1.0, 60.0]);
    let (result, total) = kernel(&xs, &ys);
    let (updated, mapped) = around_an_update(&fs);
    let (on_ways, behind) = on_both_ways(&xs, &Array::scalar(true));
    let (sum, product) = sum_and_product(&xs);
    vec![
        Program::new("graph kernel (figure 8)", (&result, &total)),
        Program::new("around an update (case 1)", (&updated, &mapped)),
        Program::new("zip of filters (case 2)", zip_of_filters(&xs, &ys)),
        Program::new("into a loop (case 3)", into_a_loop(&fs, 5)),
        Program::new("on both ways (case 4)", (&on_ways, &behind)),
        Program::new("single elements (case 5)", single_elements(&fs, 1)),
        Program::new("sum and product (case 6)", (&sum, &product)),
        Program::new("largest segment sum", largest_segment_sum(&xs)),
    ]
}
