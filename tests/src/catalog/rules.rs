//! The rules of "A T2 Graph-Reduction Approach To Fusion", one program each.
//!
//! The rules are in figure 14. Two programs cover the surrounding text: the product of an array and
//! its inverse (section 2.3.1), and a sequence of rules.

use super::Program;
use livefusion::prelude::*;

type Floats = Array<f64>;
type Number = Array<i64, Ix0>;

/// Multiplies an array and its negation, and sums the products.
pub fn product_with_inverse(a: &Floats) -> Array<f64, Ix0> {
    let (x, y) = a.map(|x| (x, -x)).unzip();
    (&x * &y).sum()
}

/// Uses a replicated number in two maps, and updates one element of it.
pub fn two_maps_of_a_replicate(
    x: f64,
    b: &Floats,
    c: &Floats,
    n: usize,
) -> (Floats, Floats, Floats) {
    let xs = replicate(n, x);
    let (y, z) = (&xs + b, &xs * c);
    let updated = xs.scatter(&Array::from([1u64]), &Array::from([3.5]));
    (y, z, updated)
}

/// Filters two arrays together, then one of them again.
pub fn filter_of_a_filter(a: &Array<i64>, b: &Array<i64>) -> Array<i64> {
    let kept = a.zip(b).filter(|(a, b)| a.gt(b));
    let (x, _) = kept.unzip();
    x.filter(|x| (x & 1).eq(0))
}

/// Maps over one of a map's two results and another array.
pub fn map_of_a_map(a: &Array<i64>, y: &Array<i64>) -> Array<i64> {
    let (x, _) = a.map(|a| (a * a, a / 7)).unzip();
    x.zip_with(y, |x, y| x - y)
}

/// Reduces a filtered array.
pub fn reduce_of_a_filter(a: &Array<i64>) -> Number {
    a.filter(|a| a.gt(0)).sum()
}

/// Reduces one of a map's two results with another array.
///
/// The reductions are a sum and a maximum.
pub fn reduce_of_a_map(a: &Array<i64>, y: &Array<i64>) -> (Number, Number) {
    let (x, _) = a.map(|a| (a * a, a / 7)).unzip();
    let both = x
        .zip(y)
        .fold((0, i64::MIN), |(s, m), (x, y)| (s + x, m.max(y)));
    both.unzip()
}

/// Reduces one of two arrays that are filtered together.
pub fn reduce_of_a_part(a: &Array<i64>, b: &Array<i64>) -> Number {
    let (x, _) = a.zip(b).filter(|(a, b)| a.gt(b)).unzip();
    x.sum()
}

/// Reduces a map over one of a map's two results and another array.
pub fn redomap_of_a_map(a: &Array<i64>, y: &Array<i64>) -> Number {
    map_of_a_map(a, y).sum()
}

/// Reduces a map of one of two arrays that are filtered together.
pub fn redomap_of_a_filter(a: &Array<i64>, b: &Array<i64>) -> Number {
    let (x, _) = a.zip(b).filter(|(a, b)| a.gt(b)).unzip();
    x.map(|x| x * x).sum()
}

/// Chains a filter, two maps, another filter and a reduction.
pub fn rules_in_a_row(a: &Array<i64>) -> Number {
    let x = a.filter(|a| a.gt(-50)).map(|x| x * x);
    x.map(|x| x ^ 5).filter(|x| (x & 1).eq(0)).sum()
}

pub(super) fn all() -> Vec<Program> {
    let (xs, ys) = (Array::from([3i64, -1, 60]), Array::from([1i64, 2, -3]));
    let (fs, gs) = (
        Array::from([3.0f64, 1.0, 60.0]),
        Array::from([1.0, 2.0, 5.0]),
    );
    let (added, multiplied, updated) = two_maps_of_a_replicate(2.0, &fs, &gs, 3);
    let (sum, most) = reduce_of_a_map(&xs, &ys);
    vec![
        Program::new("product with an inverse", product_with_inverse(&fs)),
        Program::new(
            "two maps of a replicate (figure 14)",
            (&added, &multiplied, &updated),
        ),
        Program::new(
            "filter of a filter (figure 14)",
            filter_of_a_filter(&xs, &ys),
        ),
        Program::new("map of a map (figure 14)", map_of_a_map(&xs, &ys)),
        Program::new("reduce of a filter (figure 14)", reduce_of_a_filter(&xs)),
        Program::new("reduce of a map (figure 14)", (&sum, &most)),
        Program::new(
            "reduce of a part of a filter (figure 14)",
            reduce_of_a_part(&xs, &ys),
        ),
        Program::new("redomap of a map (figure 14)", redomap_of_a_map(&xs, &ys)),
        Program::new(
            "redomap of a filter (figure 14)",
            redomap_of_a_filter(&xs, &ys),
        ),
        Program::new("rules in a row", rules_in_a_row(&xs)),
    ]
}
