//! Statistics of a log: for each status the count, the means of two columns, and a quantile.

use crate::harness::{Bench, Measured};
use crate::numbers::Numbers;
use livefusion::prelude::*;
use livefusion_examples::Outcome;
use std::collections::BTreeMap;

/// Statuses, counts, mean sizes, mean latencies, and the latencies that one line of a hundred exceeds.
type Statistics<U, N, F> = (U, N, F, F, F);

/// The share of the lines below the quantile.
const SHARE: f64 = 0.99;

/// Computes the statistics by array combinators.
pub fn fused(
    status: &Array<u16>,
    bytes: &Array<u64>,
    latency: &Array<f64>,
) -> Statistics<Array<u16>, Array<u64>, Array<f64>> {
    let (statuses, lines) = bytes.zip(latency).group_by_key(status);
    let sizes = lines.map(|(bytes, _)| bytes);
    let latencies = lines.map(|(_, latency)| latency);
    let counts = lines.lengths().clone();
    (
        statuses,
        counts,
        sizes.mean(),
        latencies.mean(),
        latencies.quantile(SHARE),
    )
}

/// Computes the same in plain Rust.
pub fn plain(
    status: &[u16],
    bytes: &[u64],
    latency: &[f64],
) -> Statistics<Vec<u16>, Vec<u64>, Vec<f64>> {
    let mut groups: BTreeMap<u16, (u64, Vec<f64>)> = BTreeMap::new();
    for ((status, bytes), latency) in status.iter().zip(bytes).zip(latency) {
        let (total, latencies) = groups.entry(*status).or_default();
        *total += bytes;
        latencies.push(*latency);
    }
    let mut statistics = (vec![], vec![], vec![], vec![], vec![]);
    for (status, (total, mut latencies)) in groups {
        let n = latencies.len();
        statistics.0.push(status);
        statistics.1.push(n as u64);
        statistics.2.push(total as f64 / n as f64);
        statistics.3.push(latencies.iter().sum::<f64>() / n as f64);
        statistics.4.push(quantile(&mut latencies));
    }
    statistics
}

/// Computes the quantile, linear between two elements. It reorders them.
fn quantile(xs: &mut [f64]) -> f64 {
    let place = SHARE * (xs.len() - 1) as f64;
    let (_, low, above) = xs.select_nth_unstable_by(place as usize, f64::total_cmp);
    let high = above.iter().copied().min_by(f64::total_cmp);
    let low = *low;
    low + place.fract() * (high.unwrap_or(low) - low)
}

/// Compares both forms.
pub fn compare(bench: &Bench) -> Outcome<Measured> {
    let n = bench.size(1_000_000, 500);
    let mut numbers = Numbers::new(14);
    let codes = [200, 200, 200, 200, 301, 304, 404, 500];
    let status: Vec<u16> = (0..n).map(|_| codes[numbers.below(8) as usize]).collect();
    let bytes: Vec<u64> = (0..n).map(|_| numbers.below(1 << 20)).collect();
    let latency: Vec<f64> = (0..n)
        .map(|_| -numbers.uniform().max(1e-300).ln())
        .collect();
    let (s, b, l) = (
        Array::from(&status),
        Array::from(&bytes),
        Array::from(&latency),
    );
    bench.compare(
        n,
        1e-9,
        || fused(&s, &b, &l),
        || plain(&status, &bytes, &latency),
    )
}

#[cfg(test)]
mod tests {
    use crate::harness::{Plan, check};

    #[test]
    fn log_statistics__small_input__agrees_with_plain_rust() {
        let most = Plan {
            loops: 2,
            arrays: 6,
            calls: 2,
        };
        check(super::compare, most);
    }
}
