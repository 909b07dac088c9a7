//! Asian options: the value of calls on a mean price, for eight strikes, by Monte Carlo.

use crate::harness::{Bench, Measured};
use crate::numbers::Numbers;
use livefusion::prelude::*;
use livefusion_examples::Outcome;

/// The steps of a path.
const STEPS: usize = 64;
/// The first price, and the yearly rate.
const PRICE: f64 = 100.0;
const RATE: f64 = 0.03;
/// The fixed part of a step of the price's logarithm, and the factor of its random part.
const DRIFT: f64 = -0.000_02;
const DEVIATION: f64 = 0.03;

/// Computes the value for each strike by array combinators.
pub fn fused(changes: &Array<f64, Ix2>, strikes: &Array<f64>) -> Array<f64> {
    let means = changes.map_rows(|changes| {
        let logs = changes.map(|z| DRIFT + DEVIATION * z).cumsum();
        logs.map(|log| PRICE * log.exp()).mean()
    });
    let payoffs = means.outer(strikes, |mean, strike| (mean - strike).max(0.0));
    payoffs.along(0).mean().map(|mean| (-RATE).exp() * mean)
}

/// Computes the same in plain Rust.
pub fn plain(changes: &[f64], strikes: &[f64]) -> Vec<f64> {
    let paths = changes.len() / STEPS;
    let mut sums = vec![0.0; strikes.len()];
    for path in changes.chunks_exact(STEPS) {
        let (mut log, mut sum) = (0.0f64, 0.0);
        for z in path {
            log += DRIFT + DEVIATION * z;
            sum += PRICE * log.exp();
        }
        let mean = sum / STEPS as f64;
        for (sum, strike) in sums.iter_mut().zip(strikes) {
            *sum += (mean - strike).max(0.0);
        }
    }
    let values = sums
        .into_iter()
        .map(|sum| (-RATE).exp() * sum / paths as f64);
    values.collect()
}

/// Compares both forms.
pub fn compare(bench: &Bench) -> Outcome<Measured> {
    let paths = bench.size(100_000, 50);
    let mut numbers = Numbers::new(12);
    let changes: Vec<f64> = (0..paths * STEPS).map(|_| numbers.normal()).collect();
    let strikes: Vec<f64> = (0..8).map(|k| 80.0 + 5.0 * f64::from(k)).collect();
    let array = Array::from_vec((paths, STEPS), changes.clone());
    let prices = Array::from(&strikes);
    bench.compare(
        changes.len(),
        1e-9,
        || fused(&array, &prices),
        || plain(&changes, &strikes),
    )
}

#[cfg(test)]
mod tests {
    use crate::harness::{Plan, check};

    #[test]
    fn pricing__small_input__agrees_with_plain_rust() {
        let most = Plan {
            loops: 2,
            arrays: 3,
            calls: 0,
        };
        check(super::compare, most);
    }
}
