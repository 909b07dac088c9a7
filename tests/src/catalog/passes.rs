//! Sequences of passes: appends, runs, scans from the end, shares of a sum.

use super::Program;
use livefusion::prelude::*;

/// Appends two filtered arrays, and sums the result.
pub fn append_of_filters(xs: &Array<i64>, ys: &Array<i64>) -> (Array<i64>, Array<i64, Ix0>) {
    let [left, right] = [xs, ys].map(|a| a.filter(|x| x.gt(0)));
    let both = left.append(&right);
    let total = both.sum();
    (both, total)
}

/// Returns the value and the length of each run.
pub fn runs(xs: &Array<u8>) -> (Array<u8>, Array<u64>) {
    xs.group()
}

/// Scans from the right, and halves each suffix sum.
pub fn scan_right(xs: &Array<i64>) -> Array<i64> {
    let from_the_end = xs.reverse().scan(0, |a, b| a + b);
    from_the_end.reverse().map(|sum| sum >> 1)
}

/// Divides the positive numbers by their sum.
pub fn shares_of_kept(xs: &Array<f64>) -> Array<f64> {
    let kept = xs.filter(|x| x.gt(0.0));
    let total = kept.sum();
    kept.map(|x| x / total.value())
}

pub(super) fn all() -> Vec<Program> {
    let numbers = |n: i64| -> Array<i64> { (1..=n).collect() };
    let (both, total) = append_of_filters(&numbers(3), &numbers(4));
    let (values, counts) = runs(&Array::from(*b"aaab"));
    vec![
        Program::new("append of two filters", (&both, &total)),
        Program::new("run-length encoder", (&values, &counts)),
        Program::new("scan to the right", scan_right(&numbers(5))),
        Program::new(
            "shares of the kept",
            shares_of_kept(&Array::from([1.0, -2.0, 3.0])),
        ),
    ]
}
