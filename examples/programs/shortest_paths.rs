//! Shortest paths between all nodes, by squares of the matrix of distances.

use crate::harness::{Bench, Measured};
use crate::numbers::Numbers;
use livefusion::prelude::*;
use livefusion_examples::Outcome;

/// Counts the squares that cover paths of up to `n` edges.
fn squares(n: usize) -> u32 {
    n.next_power_of_two().ilog2()
}

/// Computes the distances of all pairs by array combinators.
pub fn fused(distances: &Array<f64, Ix2>, n: usize) -> Array<f64, Ix2> {
    iterate_n(u64::from(squares(n)), distances, |d| {
        let first = d.broadcast((.., .., n));
        let second = d.broadcast((n, .., ..));
        first.zip_with(&second, |a, b| a + b).along(1).min()
    })
}

/// Computes the same in plain Rust.
pub fn plain(distances: &[f64], n: usize) -> Vec<f64> {
    let mut d = distances.to_vec();
    for _ in 0..squares(n) {
        let mut next = vec![f64::INFINITY; n * n];
        for (out, from) in next.chunks_exact_mut(n).zip(d.chunks_exact(n)) {
            for (first, over) in from.iter().zip(d.chunks_exact(n)) {
                for (out, second) in out.iter_mut().zip(over) {
                    *out = out.min(first + second);
                }
            }
        }
        d = next;
    }
    d
}

/// Compares both forms.
pub fn compare(bench: &Bench) -> Outcome<Measured> {
    let n = bench.size(300, 12);
    let mut numbers = Numbers::new(13);
    let distance = |k: usize| match numbers.below(8) {
        _ if k.is_multiple_of(n + 1) => 0.0,
        0 => 1.0 + numbers.uniform(),
        _ => f64::INFINITY,
    };
    let distances: Vec<f64> = (0..n * n).map(distance).collect();
    let array = Array::from_vec((n, n), distances.clone());
    let sums = n * n * n * squares(n) as usize;
    bench.compare(sums, 0.0, || fused(&array, n), || plain(&distances, n))
}

#[cfg(test)]
mod tests {
    use crate::harness::{Plan, check};

    #[test]
    fn shortest_paths__small_input__agrees_with_plain_rust() {
        let most = Plan {
            loops: 1,
            arrays: 1,
            calls: 0,
        };
        check(super::compare, most);
    }
}
