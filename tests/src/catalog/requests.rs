//! Common requests: price paths, largest elements, joined tables, group quantiles.
//!
//! An external part, such as a sort of the keys, is not a loop of these programs. Its consumers
//! are.

use super::Program;
use livefusion::prelude::*;

/// Estimates the mean payoff of an option, and its mean square.
///
/// The price rises or falls in each of `steps` steps.
pub fn monte_carlo(key: u64, paths: u64, steps: u64) -> (Array<f64, Ix0>, Array<f64, Ix0>) {
    let pays = generate(paths, |path| {
        let (price, _) = iterate(steps, (100.0f64, 0u64), |(price, step)| {
            let up = random::bits_at(key, path * steps + step) & 1;
            (price + up.eq(1).cond(2.0f64, -2.0), step + 1)
        });
        (price - 100.0).max(0.0)
    });
    (pays.mean(), pays.map(|x| x * x).mean())
}

/// Returns the largest filtered elements, with their count and sum.
///
/// The filter keeps odd numbers.
pub fn top_and_sum(xs: &Array<i64>) -> (Array<i64>, Array<u64, Ix0>, Array<i64, Ix0>) {
    let odd = xs.filter(|x| (x % 2).ne(0));
    (odd.top_k(3), odd.len(), odd.sum())
}

/// Joins two tables by key.
///
/// The result counts the left rows for each right row.
pub fn join_counts(left: &Array<u64>, right: &Array<u64>) -> Array<u64> {
    let places = left.join(right).map(|(_, at)| at);
    places.bincount(right.len())
}

/// Returns the interquartile range of each group.
pub fn group_spread(values: &Array<f64>, keys: &Array<u64>) -> (Array<u64>, Array<f64>) {
    let (keys, groups) = values.group_by_key(keys);
    let (low, high) = (groups.quantile(0.25), groups.quantile(0.75));
    (keys, high - low)
}

/// Lists the programs.
pub fn all() -> Vec<Program> {
    let (keys, wanted) = (Array::from(vec![3u64, 1, 3]), Array::from(vec![1u64, 3]));
    let (xs, ys) = (
        Array::from(vec![5i64, 2, 3]),
        Array::from(vec![1.0f64, 4.0, 2.0]),
    );
    vec![
        Program::new("Monte Carlo option", monte_carlo(1, 2, 3)),
        Program::new("top and sum", top_and_sum(&xs)),
        Program::new("join counts", join_counts(&keys, &wanted)),
        Program::new("group spread", group_spread(&ys, &keys)),
    ]
}
