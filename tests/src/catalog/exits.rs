//! Programs that are done before their inputs end: the first few of what a filter leaves, of what
//! segments hold.

use super::Program;
use livefusion::prelude::*;

/// Hundredths of the first `n` numbers that are positive.
pub fn filter_take(xs: &Array<i64>, n: u64) -> Array<i64> {
    xs.filter(|x| x.gt(0)).map(|x| 100 / x).take(n)
}

/// Each number as often as its count says, times how often it came before: the first `n` of these.
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
