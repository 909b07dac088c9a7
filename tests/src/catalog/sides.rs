//! Streams side by side that advance differently: filters, segments, runs, merges.

use super::Program;
use livefusion::prelude::*;

/// What three filters leave, side by side.
pub fn three_filters(a: &Array<i64>, b: &Array<i64>, c: &Array<i64>) -> Array<i64> {
    let [x, y, z] = [a, b, c].map(|xs| xs.filter(|x| x.gt(0)));
    (&x, &y, &z).zip_with(|x, y, z| x * y - z)
}

/// The sum of products of what two filters leave, as far as the shorter goes.
pub fn shortest_of_filters(a: &Array<i64>, b: &Array<i64>) -> Array<i64, Ix0> {
    let [x, y] = [a, b].map(|xs| xs.filter(|x| x.gt(0)));
    x.zip_shortest(&y).map(|(x, y)| x * y).sum()
}

/// Running sums that begin anew with each segment, by two segmentations of as many elements: by
/// which of them an element is further.
pub fn two_segmentations(left: &Segmented<i64>, right: &Segmented<i64>) -> Array<i64> {
    let [l, r] = [left, right].map(|s| s.scan(0, |a, b| a + b));
    l.data().zip_with(r.data(), |l, r| l - r)
}

/// The product of two vectors that are stored as runs: how long each run is, and its value.
pub fn product_of_runs(
    (left_counts, left): (&Array<u64>, &Array<i64>),
    (right_counts, right): (&Array<u64>, &Array<i64>),
) -> Array<i64, Ix0> {
    let l = Segmented::replicate(left_counts, left);
    let r = Segmented::replicate(right_counts, right);
    l.data().zip_with(r.data(), |l, r| l * r).sum()
}

/// How far what a filter leaves is from what another does, their product, and the sum of the first.
pub fn zip_and_sides(
    a: &Array<i64>,
    b: &Array<i64>,
) -> (Array<i64>, Array<i64, Ix0>, Array<i64, Ix0>) {
    let [x, y] = [a, b].map(|xs| xs.filter(|x| x.gt(0)));
    let product = x.zip_with(&y, |x, y| x * y).sum();
    (x.zip_with(&y, |x, y| x - y), product, x.sum())
}

/// What two filters leave of sorted arrays, sorted.
pub fn merge_of_filters(a: &Array<i64>, b: &Array<i64>) -> Array<i64> {
    let [x, y] = [a, b].map(|xs| xs.filter(|x| x.gt(0)));
    x.merge(&y, |x, y| x.le(y))
}

/// What two filters leave, as many each, in turn.
pub fn filters_in_turn(a: &Array<i64>, b: &Array<i64>) -> Array<i64> {
    let [x, y] = [a, b].map(|xs| xs.filter(|x| x.gt(0)));
    x.interleave(&y)
}

/// What two filters leave, in an order that flags give.
pub fn filters_by_flags(flags: &Array<bool>, a: &Array<i64>, b: &Array<i64>) -> Array<i64> {
    let [x, y] = [a, b].map(|xs| xs.filter(|x| x.gt(0)));
    flags.combine(&x, &y)
}

/// What two filters leave, one behind the other, beside what a third leaves; and the running sum of the first two beside
/// numbers in memory.
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

/// Eight sorted arrays as one, in three rounds.
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
