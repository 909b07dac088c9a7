//! What people ask for: paths of prices, the largest few, tables joined, quantiles of groups.
//!
//! What runs apart (a sort of the keys) is no loop of these programs; what is made of it is.

use super::Program;
use livefusion::prelude::*;

/// What an option pays on average, and the mean of its squares: a price goes up or down in each of so many steps.
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

/// The largest few of what a filter keeps, and their number and sum.
pub fn top_and_sum(xs: &Array<i64>) -> (Array<i64>, Array<u64, Ix0>, Array<i64, Ix0>) {
    let odd = xs.filter(|x| (x % 2).ne(0));
    (odd.top_k(3), odd.len(), odd.sum())
}

/// Two tables joined by a key: how many rows of the left one belong to each of the right one.
pub fn join_counts(left: &Array<u64>, right: &Array<u64>) -> Array<u64> {
    let places = left.join(right).map(|(_, at)| at);
    places.bincount(right.len())
}

/// How wide the middle half of each group's values is.
pub fn group_spread(values: &Array<f64>, keys: &Array<u64>) -> (Array<u64>, Array<f64>) {
    let (keys, groups) = values.group_by_key(keys);
    let (low, high) = (groups.quantile(0.25), groups.quantile(0.75));
    (keys, high - low)
}

/// All of them.
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
