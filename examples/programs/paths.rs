//! Random walks of ten steps: the highest point of all, and the mean of their highest points.

use crate::harness::{Bench, Measured};
use crate::numbers::Numbers;
use livefusion::prelude::*;
use livefusion_examples::Outcome;

/// The steps of a walk.
const STEPS: usize = 10;

/// Computes the maximum and the mean by array combinators.
pub fn fused(walks: &Array<f64, Ix2>) -> (Array<f64, Ix0>, Array<f64, Ix0>) {
    let highest = walks.map_rows(|steps| steps.cumsum().max());
    (highest.max(), highest.mean())
}

/// Computes the same in plain Rust.
pub fn plain(walks: &[f64]) -> (f64, f64) {
    let (mut most, mut sum) = (f64::NEG_INFINITY, 0.0);
    for walk in walks.chunks_exact(STEPS) {
        let (mut place, mut highest) = (0.0, f64::NEG_INFINITY);
        for step in walk {
            place += step;
            highest = place.max(highest);
        }
        most = highest.max(most);
        sum += highest;
    }
    (most, sum / (walks.len() / STEPS) as f64)
}

/// Compares both forms.
pub fn compare(bench: &Bench) -> Outcome<Measured> {
    let n = bench.size(1_000_000, 70);
    let mut numbers = Numbers::new(6);
    let steps: Vec<f64> = (0..n * STEPS).map(|_| numbers.uniform() - 0.5).collect();
    let walks = Array::from_vec((n, STEPS), steps.clone());
    bench.compare(steps.len(), 1e-9, || fused(&walks), || plain(&steps))
}

#[cfg(test)]
mod tests {
    use crate::harness::{Plan, check};

    #[test]
    fn paths__small_input__agrees_with_plain_rust() {
        let most = Plan {
            loops: 1,
            arrays: 0,
            calls: 0,
        };
        check(super::compare, most);
    }
}
