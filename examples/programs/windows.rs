//! Sliding statistics: the mean and the standard deviation of each 24 neighbours.

use crate::harness::{Bench, Measured};
use crate::numbers::Numbers;
use livefusion::prelude::*;
use livefusion_examples::Outcome;

/// The length of a window.
const WIDTH: usize = 24;

/// Computes the statistics of each window by array combinators.
pub fn fused(xs: &Array<f64>) -> (Array<f64>, Array<f64>) {
    xs.sliding_windows(WIDTH, 1)
        .map_rows(|window| (window.mean(), window.std()))
}

/// Computes the same in plain Rust.
pub fn plain(xs: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let statistics = |window: &[f64]| {
        let mean = window.iter().sum::<f64>() / WIDTH as f64;
        let squares: f64 = window.iter().map(|x| (x - mean) * (x - mean)).sum();
        (mean, (squares / WIDTH as f64).sqrt())
    };
    xs.windows(WIDTH).map(statistics).unzip()
}

/// Compares both forms.
pub fn compare(bench: &Bench) -> Outcome<Measured> {
    let xs = Numbers::new(1).uniforms(bench.size(2_000_000, 500));
    let array = Array::from(&xs);
    bench.compare(xs.len(), 1e-9, || fused(&array), || plain(&xs))
}

#[cfg(test)]
mod tests {
    use crate::harness::{Plan, check};

    #[test]
    fn windows__small_input__agrees_with_plain_rust() {
        let most = Plan {
            loops: 1,
            arrays: 2,
            calls: 0,
        };
        check(super::compare, most);
    }
}
