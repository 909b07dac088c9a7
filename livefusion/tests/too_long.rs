//! Arrays longer than a `u64` counts: errors at the length or at the force.

use crate::common::engines;
use livefusion::array::{Extent, IntoLen, Ix0};
use livefusion::prelude::*;

/// Checks the error of lengths that depend on a number, both known and delayed.
fn check(name: &str, n: u64, got: [&str; 2], of: impl Fn(Extent) -> Array<u64, Ix0>) {
    for engine in engines() {
        let delayed = Array::from(vec![n]).sum();
        let lengths = [n.into_len(), (&delayed).into_len()];
        for (n, got) in lengths.into_iter().zip(got) {
            let error = of(n).force_with(&engine).expect_err("too many elements");
            let text = format!("expected as many elements as a u64 counts, got {got}");
            assert_eq!(error.combinator, name);
            assert!(error.to_string().ends_with(&text), "{error}");
            assert!(
                error
                    .location
                    .is_some_and(|at| at.file().ends_with("too_long.rs"))
            );
        }
    }
}

#[test]
fn length_of_arrays_behind_each_other_that_no_u64_holds_is_an_error() {
    let half = 1u64 << 63;
    let sum = ["9223372036854775808 + 9223372036854775808"; 2];
    check("append", half, sum, |n| {
        iota(n.clone()).append(&iota(n)).len()
    });
    check("concat", half, sum, |n| {
        concat([iota(n.clone()), iota(n), iota(3)]).len()
    });
    check("interleave", half, sum, |n| {
        iota(n.clone()).interleave(&iota(n)).len()
    });
    check("merge", half, sum, |n| {
        iota(n.clone()).merge(&iota(n), |a, b| a.le(b)).len()
    });
    let flags = Array::from(vec![true]);
    check("combine", half, sum, |n| {
        flags.combine(&iota(n.clone()), &iota(n)).len()
    });
    // Forced without a request for the length, and an append in phases.
    let both = iota(half).append(&iota(half));
    assert!(both.take(2).force().is_err() && both.force().is_err());
    let phases = iota(half).map(|i| i * i).append(&iota(half).map(|i| i + 1));
    let error = phases.len().force().expect_err("too many elements");
    assert!(error.to_string().ends_with(sum[0]), "{error}");
    // The largest `u64` is a valid length.
    let most = iota(u64::MAX - 2).append(&iota(2)).len();
    assert_eq!(most.force().expect("a length"), u64::MAX);
}

#[test]
fn length_of_a_shape_that_no_u64_holds_is_an_error() {
    let n = 1u64 << 33;
    let got = [
        "the shape (8589934592, 8589934592)",
        "8589934592 * 8589934592",
    ];
    check("replicate", n, got, |n| {
        replicate((n.clone(), n), 1u64).flatten().len()
    });
    // A length of 0 makes the product 0.
    let zero = Array::from(vec![0u64]).sum();
    let none = replicate((n, n, &zero), 1u64).flatten().len();
    assert_eq!(none.force().expect("a length"), 0);
}

/// A loop over rows has its own, lower limit.
#[test]
fn length_of_rows_that_no_u64_holds_is_an_error() {
    let (n, long) = (1u64 << 33, 1u64 << 62);
    let late = |n: u64| Array::from(vec![n]).sum();
    let (eight, wide) = (iota(late(8)), iota(late(long)));
    let lengths = [
        generate((&late(n), &late(n)), |(i, j)| i + j)
            .flatten()
            .len(),
        eight.outer(&wide, |a, b| a + b).flatten().len(),
        iota(2).broadcast((.., &late(n), &late(n))).flatten().len(),
        iota(8).cartesian(&iota(long)).len(),
        eight.cartesian(&wide).len(),
        iota(8).flat_map(|_| long, |x, _| x).len(),
        eight.flat_map(|x| x + long, |x, _| x).len(),
    ];
    for length in lengths {
        let error = length.force().expect_err("too many elements");
        let is_told = error
            .to_string()
            .contains("expected segment lengths that match the data")
            || error
                .to_string()
                .contains("expected as many elements as a u64 counts");
        assert!(is_told, "{error}");
    }
}
