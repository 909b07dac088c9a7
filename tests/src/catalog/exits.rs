//! Programs with early exits: `take` after filters and segments.

use super::Program;
use livefusion::prelude::*;

/// Divides 100 by the first `n` positive numbers.
pub fn filter_take(xs: &Array<i64>, n: u64) -> Array<i64> {
    xs.filter(|x| x.gt(0)).map(|x| 100 / x).take(n)
}

/// Repeats each number by its count, and keeps the first `n` results.
///
/// Each copy is multiplied by its index.
pub fn flat_map_take(counts: &Array<u64>, xs: &Array<i64>, n: u64) -> Array<i64> {
    let each = Segmented::replicate(counts, xs);
    let numbered = each
        .data()
        .zip_with(&each.local_indices(), |x, i| x * i.cast::<i64>());
    numbered.take(n)
}

pub(super) fn all() -> Vec<Program> {
    let numbers = |n: i64| -> Array<i64> { (1..=n).collect() };
    let counts = Array::from([2u64, 0, 3]);
    vec![
        Program::new("filter then take", filter_take(&numbers(5), 2)),
        Program::new("flat-map then take", flat_map_take(&counts, &numbers(3), 4)),
    ]
}
