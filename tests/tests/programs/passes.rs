//! Appends of filters, runs, scans from the end, shares of a sum.

use crate::{N, count, floats, numbers, program};
use livefusion::Array;
use livefusion_tests::catalog::passes;
use loop_lang::Op;

/// Each filter is a phase of one loop, and writes kept elements directly to their final position.
#[test]
fn append_of_filters() {
    let (xs, ys) = (numbers(1, N), numbers(2, N / 2));
    let want: Vec<i64> = xs.iter().chain(&ys).copied().filter(|x| *x > 0).collect();
    let done = program(
        || passes::append_of_filters(&Array::from(&xs), &Array::from(&ys)),
        [1, 4, 0],
        |(both, total)| {
            assert_eq!(both, want);
            assert_eq!(total, want.iter().sum());
        },
    );
    let (n, kept) = (count(&xs) + count(&ys), count(&want));
    assert_eq!((done.reads(), done.writes()), (n, kept));
    assert_eq!(done.op(Op::Gt), n);
}

/// A run is emitted when the next one begins, and the last run in a phase of its own. Nothing is in
/// memory.
#[test]
fn runs() {
    let xs: Vec<u8> = numbers(1, N).iter().map(|x| u8::from(*x > 40)).collect();
    let want: Vec<(u8, u64)> = xs
        .chunk_by(|a, b| a == b)
        .map(|run| (run[0], count(run)))
        .collect();
    let done = program(
        || passes::runs(&Array::from(&xs)),
        [1, 4, 0],
        |(values, counts)| {
            assert!(values.into_iter().eq(want.iter().map(|w| w.0)));
            assert!(counts.into_iter().eq(want.iter().map(|w| w.1)));
        },
    );
    let (n, runs) = (N as u64, count(&want));
    assert_eq!((done.reads(), done.writes()), (n, 2 * runs));
}

/// The loop runs from the end: sums are written to their final position, and never read.
#[test]
fn scan_right() {
    let xs = numbers(1, N);
    let mut sum = 0;
    let sums = xs.iter().rev().map(|x| {
        sum += x;
        sum >> 1
    });
    let mut want: Vec<i64> = sums.collect();
    want.reverse();
    let done = program(
        || passes::scan_right(&Array::from(&xs)),
        [1, 1, 0],
        |halves| assert_eq!(halves, want),
    );
    let n = N as u64;
    assert_eq!((done.reads(), done.writes()), (n, n));
}

/// Both loops test each element, and only the sum crosses loops.
#[test]
fn shares_of_kept() {
    let xs = floats(1, N);
    let kept: Vec<f64> = xs.iter().copied().filter(|x| *x > 0.0).collect();
    let total: f64 = kept.iter().sum();
    let done = program(
        || passes::shares_of_kept(&Array::from(&xs)),
        [2, 3, 0],
        |shares| assert!(shares.into_iter().eq(kept.iter().map(|x| x / total))),
    );
    let (n, left) = (N as u64, count(&kept));
    assert_eq!((done.reads(), done.writes()), (2 * n, left));
    assert_eq!((done.op(Op::Gt), done.op(Op::Div)), (2 * n, left));
}
