//! Groups by key: the best three values and the weighted mean of each key.

use crate::harness::{Bench, Measured};
use crate::numbers::Numbers;
use livefusion::prelude::*;
use livefusion_examples::Outcome;

/// The columns of a table. Keys are below a limit, and each has three values or more.
struct Table<U, F> {
    keys: U,
    values: F,
    weights: F,
    limit: usize,
}

/// Finds the best values of all keys, and the means, by array combinators.
fn fused(table: &Table<Array<u32>, Array<f64>>) -> (Array<f64>, Array<f64>) {
    let best = table.values.top_k_by_index(&table.keys, table.limit, 3);
    let weighted = table.values.zip_with(&table.weights, |x, w| (x * w, w));
    let bins = Bins {
        count: table.limit,
        start: (0.0, 0.0),
    };
    let sums = weighted.reduce_by_index(&table.keys, bins, |(x, w), (y, v)| (x + y, w + v));
    (best.concat(), sums.map(|(sum, weight)| sum / weight))
}

/// Computes the same in plain Rust.
fn plain(table: &Table<Vec<u32>, Vec<f64>>) -> (Vec<f64>, Vec<f64>) {
    let mut best = vec![[f64::NEG_INFINITY; 3]; table.limit];
    let mut sums = vec![(0.0, 0.0); table.limit];
    for ((key, x), w) in table.keys.iter().zip(&table.values).zip(&table.weights) {
        let top = &mut best[*key as usize];
        if *x > top[2] {
            top[2] = *x;
            if top[2] > top[1] {
                top.swap(1, 2);
            }
            if top[1] > top[0] {
                top.swap(0, 1);
            }
        }
        let (sum, weight) = &mut sums[*key as usize];
        *sum += x * w;
        *weight += w;
    }
    let means = sums.into_iter().map(|(sum, weight)| sum / weight);
    (best.concat(), means.collect())
}

/// Compares both forms.
pub fn compare(bench: &Bench) -> Outcome<Measured> {
    let (n, limit) = (bench.size(1_000_000, 600), bench.size(1000, 20));
    let mut numbers = Numbers::new(3);
    let table = Table {
        keys: (0..n).map(|_| numbers.below(limit as u64) as u32).collect(),
        values: numbers.uniforms(n),
        weights: numbers.uniforms(n),
        limit,
    };
    let arrays = Table {
        keys: Array::from(&table.keys),
        values: Array::from(&table.values),
        weights: Array::from(&table.weights),
        limit,
    };
    bench.compare(n, 0.0, || fused(&arrays), || plain(&table))
}

#[cfg(test)]
mod tests {
    use crate::harness::{Plan, check};

    #[test]
    fn keys__small_input__agrees_with_plain_rust() {
        let most = Plan {
            loops: 2,
            arrays: 8,
            calls: 0,
        };
        check(super::compare, most);
    }
}
