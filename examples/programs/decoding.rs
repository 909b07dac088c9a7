//! A decoder: runs of equal differences become samples, with a check sum.

use crate::harness::{Bench, Measured};
use crate::numbers::Numbers;
use livefusion::prelude::*;
use livefusion_examples::Outcome;

/// Computes the samples and their check sum by array combinators.
pub fn fused(counts: &Array<u64>, differences: &Array<i64>) -> (Array<i64>, Array<i64, Ix0>) {
    let runs = Segmented::replicate(counts, differences);
    let samples = runs.concat().cumsum();
    let weighted = samples
        .enumerate()
        .map(|(at, sample)| (at + 1).cast::<i64>() * sample);
    let check = weighted.sum();
    (samples, check)
}

/// Computes the same in plain Rust.
pub fn plain(counts: &[u64], differences: &[i64]) -> (Vec<i64>, i64) {
    let mut samples = Vec::with_capacity(counts.iter().sum::<u64>() as usize);
    let (mut sample, mut check) = (0i64, 0i64);
    for (count, difference) in counts.iter().zip(differences) {
        for _ in 0..*count {
            sample = sample.wrapping_add(*difference);
            samples.push(sample);
            check = check.wrapping_add(sample.wrapping_mul(samples.len() as i64));
        }
    }
    (samples, check)
}

/// Compares both forms.
pub fn compare(bench: &Bench) -> Outcome<Measured> {
    let mut numbers = Numbers::new(15);
    let runs = bench.size(2_000_000, 100);
    let counts: Vec<u64> = (0..runs).map(|_| numbers.below(11)).collect();
    let differences: Vec<i64> = (0..runs)
        .map(|_| numbers.below(2001) as i64 - 1000)
        .collect();
    let samples = counts.iter().sum::<u64>() as usize;
    let (c, d) = (Array::from(&counts), Array::from(&differences));
    bench.compare(
        samples,
        0.0,
        || fused(&c, &d),
        || plain(&counts, &differences),
    )
}

#[cfg(test)]
mod tests {
    use crate::harness::{Plan, check};

    #[test]
    fn decoding__small_input__agrees_with_plain_rust() {
        let most = Plan {
            loops: 1,
            arrays: 1,
            calls: 0,
        };
        check(super::compare, most);
    }
}
