//! `take` after filters and segments.

use crate::{N, count, numbers, program};
use livefusion::Array;
use livefusion_tests::catalog::exits;
use loop_lang::Op;

/// The loop ends with the last taken element: later elements are not read, tested or divided.
#[test]
fn filter_take() {
    let xs = numbers(1, N);
    let kept = |x: &&i64| **x > 0;
    let want: Vec<i64> = xs.iter().filter(kept).take(5).map(|x| 100 / x).collect();
    let done = program(
        || exits::filter_take(&Array::from(&xs), 5),
        [1, 2, 0],
        |first| assert_eq!(first, want),
    );
    let last = xs.iter().enumerate().filter(|(_, x)| **x > 0).nth(4);
    let looked_at = last.expect("there are more").0 as u64 + 1;
    assert_eq!((done.reads(), done.writes()), (looked_at, 5));
    assert_eq!((done.op(Op::Gt), done.op(Op::Div)), (looked_at, 5));
}

/// The loop ends within a segment, with the last taken element.
#[test]
fn flat_map_take() {
    let xs = numbers(1, N);
    let counts: Vec<u64> = numbers(2, N).iter().map(|x| *x as u64 % 4).collect();
    let each = counts.iter().zip(&xs);
    let all = each.flat_map(|(count, x)| (0..*count as i64).map(move |i| x * i));
    let most = 20;
    let want: Vec<i64> = all.take(most).collect();
    let done = program(
        || exits::flat_map_take(&Array::from(&counts), &Array::from(&xs), most as u64),
        [1, 3, 0],
        |first| assert_eq!(first, want),
    );
    let mut before = 0;
    let segments = count(counts.iter().take_while(|c| {
        let begins = before < most as u64;
        before += **c;
        begins
    }));
    let most = most as u64;
    // Capacity for a few elements is allocated without a sizing pass.
    assert_eq!((done.reads(), done.writes()), (2 * segments, most));
    assert_eq!(done.op(Op::Mul), most);
}
