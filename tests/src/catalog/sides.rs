//! Zips and merges of streams with different rates: filters, segments, runs.

use super::Program;
use livefusion::prelude::*;

/// Zips three filtered arrays.
pub fn three_filters(a: &Array<i64>, b: &Array<i64>, c: &Array<i64>) -> Array<i64> {
    let [x, y, z] = [a, b, c].map(|xs| xs.filter(|x| x.gt(0)));
    (&x, &y, &z).zip_with(|x, y, z| x * y - z)
}

/// Sums products of two filtered arrays, up to the shorter one.
pub fn shortest_of_filters(a: &Array<i64>, b: &Array<i64>) -> Array<i64, Ix0> {
    let [x, y] = [a, b].map(|xs| xs.filter(|x| x.gt(0)));
    x.zip_shortest(&y).map(|(x, y)| x * y).sum()
}

/// Compares running sums under two segmentations of equally many elements.
pub fn two_segmentations(left: &Segmented<i64>, right: &Segmented<i64>) -> Array<i64> {
    let [l, r] = [left, right].map(|s| s.scan(0, |a, b| a + b));
    l.data().zip_with(r.data(), |l, r| l - r)
}

/// Multiplies two run-length encoded vectors.
pub fn product_of_runs(
    (left_counts, left): (&Array<u64>, &Array<i64>),
    (right_counts, right): (&Array<u64>, &Array<i64>),
) -> Array<i64, Ix0> {
    let l = Segmented::replicate(left_counts, left);
    let r = Segmented::replicate(right_counts, right);
    l.data().zip_with(r.data(), |l, r| l * r).sum()
}

/// Zips two filtered arrays, and folds their product and the first one.
pub fn zip_and_sides(
    a: &Array<i64>,
    b: &Array<i64>,
) -> (Array<i64>, Array<i64, Ix0>, Array<i64, Ix0>) {
    let [x, y] = [a, b].map(|xs| xs.filter(|x| x.gt(0)));
    let product = x.zip_with(&y, |x, y| x * y).sum();
    (x.zip_with(&y, |x, y| x - y), product, x.sum())
}

/// Merges two filtered sorted arrays.
pub fn merge_of_filters(a: &Array<i64>, b: &Array<i64>) -> Array<i64> {
    let [x, y] = [a, b].map(|xs| xs.filter(|x| x.gt(0)));
    x.merge(&y, |x, y| x.le(y))
}

/// Interleaves two filtered arrays of equal length.
pub fn filters_in_turn(a: &Array<i64>, b: &Array<i64>) -> Array<i64> {
    let [x, y] = [a, b].map(|xs| xs.filter(|x| x.gt(0)));
    x.interleave(&y)
}

/// Combines two filtered arrays by flags.
pub fn filters_by_flags(flags: &Array<bool>, a: &Array<i64>, b: &Array<i64>) -> Array<i64> {
    let [x, y] = [a, b].map(|xs| xs.filter(|x| x.gt(0)));
    flags.combine(&x, &y)
}

/// Zips an append of two filtered arrays with a third one.
///
/// It also zips the running sum of the append with numbers in memory.
pub fn append_beside_filter(
    (a, b): (&Array<i64>, &Array<i64>),
    c: &Array<i64>,
    weights: &Array<i64>,
) -> (Array<i64>, Array<i64, Ix0>) {
    let [x, y, z] = [a, b, c].map(|xs| xs.filter(|x| x.gt(0)));
    let both = x.append(&y);
    let weighted = both.scan(0, |s, x| s + x).zip_with(weights, |s, w| s * w);
    (both.zip_with(&z, |x, z| x - z), weighted.sum())
}

/// Merges eight sorted arrays in three rounds.
pub fn merge_tree(arrays: &[Array<i64>; 8]) -> Array<i64> {
    let mut round = arrays.to_vec();
    while round.len() > 1 {
        let pairs = round.chunks(2);
        round = pairs.map(|p| p[0].merge(&p[1], |x, y| x.le(y))).collect();
    }
    round.swap_remove(0)
}

pub(super) fn all() -> Vec<Program> {
    let numbers = |n: i64| -> Array<i64> { (1..=n).collect() };
    let [fine, coarse] = [Array::from([2u64, 0, 1, 3]), Array::from([4u64, 2])];
    vec![
        Program::new(
            "zip of three filters",
            three_filters(&numbers(3), &numbers(4), &numbers(5)),
        ),
        Program::new(
            "zips beside their sides",
            zip_and_sides(&numbers(3), &numbers(4)),
        ),
        Program::new(
            "shortest of two filters",
            shortest_of_filters(&numbers(3), &numbers(4)),
        ),
        Program::new(
            "zip of two segmentations",
            two_segmentations(
                &Segmented::new(&fine, &numbers(6)),
                &Segmented::new(&coarse, &numbers(6)),
            ),
        ),
        Program::new(
            "zip of two run-length decodes",
            product_of_runs((&fine, &numbers(4)), (&coarse, &numbers(2))),
        ),
        Program::new(
            "merge of two filters",
            merge_of_filters(&numbers(3), &numbers(4)),
        ),
        Program::new(
            "two filters in turn",
            filters_in_turn(&numbers(3), &numbers(4)),
        ),
        Program::new(
            "two filters by flags",
            filters_by_flags(&[true, false, true].into(), &numbers(3), &numbers(4)),
        ),
        Program::new(
            "append beside a filter",
            append_beside_filter((&numbers(3), &numbers(4)), &numbers(7), &numbers(7)),
        ),
        Program::new(
            "merge tree of eight",
            merge_tree(&[1, 2, 3, 4, 5, 6, 7, 8].map(numbers)),
        ),
    ]
}
