//! Sessions of a visitor: cuts at long gaps, the length of each session, and its pages.

use crate::harness::{Bench, Measured};
use crate::numbers::Numbers;
use livefusion::prelude::*;
use livefusion_examples::Outcome;

/// A longer pause begins a session, in seconds.
const GAP: u64 = 1800;

/// Computes the lengths and the pages of all sessions by array combinators.
pub fn fused(times: &Array<u64>) -> (Array<u64>, Array<u64>) {
    let before = times.shift(1, 0);
    let begins = times.zip_with(&before, |now, before| (now - before).gt(GAP));
    let sessions = Segmented::from_flags(&begins, times);
    sessions.map_segments(|clicks| (&clicks.last() - &clicks.first(), clicks.len()))
}

/// Computes the same in plain Rust.
pub fn plain(times: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let sessions = times.chunk_by(|before, now| now - before <= GAP);
    sessions
        .map(|clicks| (clicks[clicks.len() - 1] - clicks[0], clicks.len() as u64))
        .unzip()
}

/// Compares both forms.
pub fn compare(bench: &Bench) -> Outcome<Measured> {
    let mut numbers = Numbers::new(8);
    let mut now = 1_700_000_000;
    let click = |_| {
        let pause = if numbers.below(12) == 0 { 20_000 } else { 300 };
        now += numbers.below(pause);
        now
    };
    let times: Vec<u64> = (0..bench.size(2_000_000, 400)).map(click).collect();
    let array = Array::from(&times);
    bench.compare(times.len(), 0.0, || fused(&array), || plain(&times))
}

#[cfg(test)]
mod tests {
    use crate::harness::{Plan, check};

    #[test]
    fn sessions__small_input__agrees_with_plain_rust() {
        let most = Plan {
            loops: 1,
            arrays: 2,
            calls: 0,
        };
        check(super::compare, most);
    }
}
