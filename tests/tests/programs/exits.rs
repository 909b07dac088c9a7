//! The first few of what a filter leaves, of what segments hold.

use crate::{N, count, numbers, program};
use livefusion::Array;
use livefusion_tests::catalog::exits;
use loop_lang::Op;

/// All that the filter leaves is divided, and in memory, before the first few are read.
#[test]
fn filter_take() {
    let xs = numbers(1, N);
    let kept: Vec<i64> = xs.iter().copied().filter(|x| *x > 0).collect();
    let want: Vec<i64> = kept.iter().take(5).map(|x| 100 / x).collect();
    let done = program(
        || exits::filter_take(&Array::from(&xs), 5),
        [2, 3, 1],
        |first| assert_eq!(first, want),
    );
    let (n, kept) = (N as u64, count(kept));
    assert_eq!((done.reads(), done.writes()), (n + 5, kept + 5));
    assert_eq!((done.op(Op::Gt), done.op(Op::Div)), (n, kept));
}

/// All that the segments hold is in memory before the first few are read.
#[test]
fn flat_map_take() {
    let xs = numbers(1, N);
    let counts: Vec<u64> = numbers(2, N).iter().map(|x| *x as u64 % 4).collect();
    let each = counts.iter().zip(&xs);
    let all = each.flat_map(|(count, x)| (0..*count as i64).map(move |i| x * i));
    let all: Vec<i64> = all.collect();
    let most = 20;
    let done = program(
        || exits::flat_map_take(&Array::from(&counts), &Array::from(&xs), most),
        [2, 3, 1],
        |first| assert_eq!(first, all[..most as usize]),
    );
    let n = N as u64;
    // The counts are read once more, for their sum: only that says how many elements there are.
    assert_eq!(
        (done.reads(), done.writes()),
        (3 * n + most, count(&all) + most)
    );
    assert_eq!(done.op(Op::Mul), count(&all));
}
