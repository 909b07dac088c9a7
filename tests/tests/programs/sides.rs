//! Zips and merges of filters, segmentations and runs.

use crate::{N, count, numbers, program};
use livefusion::{Array, Segmented};
use livefusion_tests::catalog::sides;
use loop_lang::Op;

/// Each input advances to its next element; no intermediate is in memory.
#[test]
fn three_filters() {
    // Equally many positive elements in all.
    let a = numbers(1, N);
    let b: Vec<i64> = a.iter().rev().copied().collect();
    let c: Vec<i64> = [&a[N / 3..], &a[..N / 3]].concat();
    let [x, y, z] = [&a, &b, &c].map(|xs| xs.iter().copied().filter(|x| *x > 0));
    let want: Vec<i64> = x.zip(y).zip(z).map(|((x, y), z)| x * y - z).collect();
    let done = program(
        || {
            let [a, b, c] = [&a, &b, &c].map(Array::from);
            sides::three_filters(&a, &b, &c)
        },
        [1, 5, 0],
        |zipped| assert_eq!(zipped, want),
    );
    let n = N as u64;
    assert_eq!((done.reads(), done.writes()), (3 * n, count(&want)));
    assert_eq!((done.op(Op::Gt), done.op(Op::Mul)), (3 * n, count(&want)));
}

/// Both zips use the delivered elements, and the sum fuses with one of them.
#[test]
fn zip_and_sides() {
    let a = numbers(1, N);
    let b: Vec<i64> = a.iter().rev().copied().collect();
    let [x, y] = [&a, &b].map(|xs| xs.iter().copied().filter(|x| *x > 0));
    let pairs: Vec<(i64, i64)> = x.clone().zip(y).collect();
    let want: Vec<i64> = pairs.iter().map(|(x, y)| x - y).collect();
    let product: i64 = pairs.iter().map(|(x, y)| x * y).sum();
    let done = program(
        || {
            let [a, b] = [&a, &b].map(Array::from);
            sides::zip_and_sides(&a, &b)
        },
        [1, 4, 0],
        |(apart, dot, sum)| {
            assert_eq!(apart, want);
            assert_eq!((dot, sum), (product, x.clone().sum()));
        },
    );
    let n = N as u64;
    assert_eq!((done.reads(), done.writes()), (2 * n, count(&want)));
    assert_eq!((done.op(Op::Gt), done.op(Op::Mul)), (2 * n, count(&want)));
}

/// Neither input advances after one has ended. The first input advances to the element that reveals
/// the end.
#[test]
fn shortest_of_filters() {
    let a = numbers(1, N);
    let positive = |x: &&i64| **x > 0;
    for b in [numbers(2, N / 3), [numbers(2, 2 * N), vec![0; N]].concat()] {
        let [x, y] = [&a, &b].map(|xs| xs.iter().filter(positive));
        let want: i64 = x.clone().zip(y.clone()).map(|(x, y)| x * y).sum();
        let (x, y) = (x.count(), y.count());
        let shorter = x.min(y);
        let done = program(
            || {
                let [a, b] = [&a, &b].map(Array::from);
                sides::shortest_of_filters(&a, &b)
            },
            [1, 3, 0],
            |dot| assert_eq!(dot, want),
        );
        // The number of elements inspected to find `n` kept ones.
        let to = |xs: &[i64], n: usize| {
            let positions = (1..).zip(xs).filter(|(_, x)| **x > 0).map(|(i, _)| i);
            positions.take(n).last().unwrap_or(0)
        };
        let looked_at: usize = match x < y {
            true => a.len() + to(&b, shorter),
            false => to(&a, shorter + 1) + b.len(),
        };
        assert_eq!(done.reads(), looked_at as u64);
        assert_eq!((done.writes(), done.op(Op::Mul)), (0, shorter as u64));
    }
}

/// Lengths of segments that add up to `n`.
fn lengths(seed: u64, most: u64, n: usize) -> Vec<u64> {
    let mut left = n as u64;
    let next = |x: i64| {
        let next = (x.unsigned_abs() % (most + 1)).min(left);
        left -= next;
        (next, left)
    };
    let mut all: Vec<u64> = Vec::new();
    for (next, left) in numbers(seed, n).into_iter().map(next) {
        all.push(next);
        if left == 0 {
            break;
        }
    }
    all
}

/// Running sums that restart with each segment.
fn running(lengths: &[u64], xs: &[i64]) -> Vec<i64> {
    let mut left = xs.iter();
    let segments = lengths.iter().flat_map(|n| {
        let sums = left.by_ref().take(*n as usize).scan(0, |sum, x| {
            *sum += x;
            Some(*sum)
        });
        sums.collect::<Vec<i64>>()
    });
    segments.collect()
}

/// Each input is a cursor over elements, which asks a cursor over segments for the next non-empty
/// one.
#[test]
fn two_segmentations() {
    let (xs, ys) = (numbers(1, N), numbers(2, N));
    let [fine, coarse] = [lengths(3, 6, N), lengths(4, 60, N)];
    let (l, r) = (running(&fine, &xs), running(&coarse, &ys));
    let want: Vec<i64> = l.iter().zip(&r).map(|(l, r)| l - r).collect();
    let done = program(
        || {
            let left = Segmented::new(&Array::from(&fine), &Array::from(&xs));
            let right = Segmented::new(&Array::from(&coarse), &Array::from(&ys));
            sides::two_segmentations(&left, &right)
        },
        [1, 6, 0],
        |zipped| assert_eq!(zipped, want),
    );
    let (n, segments) = (N as u64, count(&fine) + count(&coarse));
    assert_eq!((done.reads(), done.writes()), (segments + 2 * n, n));
}

/// Each run's value is read once, and carried over its elements.
#[test]
fn product_of_runs() {
    let [fine, coarse] = [lengths(3, 6, N), lengths(4, 60, N)];
    let (xs, ys) = (numbers(1, fine.len()), numbers(2, coarse.len()));
    let decoded = |lengths: &[u64], xs: &[i64]| -> Vec<i64> {
        let runs = lengths.iter().zip(xs);
        runs.flat_map(|(n, x)| vec![*x; *n as usize]).collect()
    };
    let (l, r) = (decoded(&fine, &xs), decoded(&coarse, &ys));
    let want: i64 = l.iter().zip(&r).map(|(l, r)| l * r).sum();
    let done = program(
        || {
            let [fine, coarse] = [&fine, &coarse].map(Array::from);
            let [xs, ys] = [&xs, &ys].map(Array::from);
            sides::product_of_runs((&fine, &xs), (&coarse, &ys))
        },
        [1, 5, 0],
        |product: i64| assert_eq!(product, want),
    );
    let (n, runs) = (N as u64, count(&fine) + count(&coarse));
    assert_eq!((done.reads(), done.writes()), (2 * runs, 0));
    assert_eq!(done.op(Op::Mul), n);
}

/// Each element is read once, and no intermediate is in memory.
#[test]
fn merges_of_filters() {
    let positive = |xs: &[i64]| -> Vec<i64> { xs.iter().copied().filter(|x| *x > 0).collect() };
    let mut a = numbers(1, N);
    let b: Vec<i64> = a.iter().rev().copied().collect();
    let (x, y) = (positive(&a), positive(&b));
    let arrays = || [&a, &b].map(Array::from);
    let n = N as u64;
    let want: Vec<i64> = x.iter().zip(&y).flat_map(|(x, y)| [*x, *y]).collect();
    let done = program(
        || {
            let [a, b] = arrays();
            sides::filters_in_turn(&a, &b)
        },
        [1, 3, 0],
        |all| assert_eq!(all, want),
    );
    assert_eq!((done.reads(), done.writes()), (2 * n, count(&want)));
    let flags: Vec<bool> = (0..want.len()).map(|i| i % 2 == 1).collect();
    let (mut left, mut right) = (x.iter(), y.iter());
    let next = |f: &bool| if *f { left.next() } else { right.next() };
    let want: Vec<i64> = flags.iter().filter_map(next).copied().collect();
    let done = program(
        || {
            let [a, b] = arrays();
            sides::filters_by_flags(&flags.clone().into(), &a, &b)
        },
        [1, 3, 0],
        |all| assert_eq!(all, want),
    );
    // The last attempt finds the end of the flags.
    let flags = flags.len() as u64 + 1;
    assert_eq!((done.reads(), done.writes()), (2 * n + flags, count(&want)));

    a.sort_unstable();
    let b = numbers(2, N / 3);
    let mut b: Vec<i64> = b.iter().map(|x| x + 1).collect();
    b.sort_unstable();
    let mut want = [positive(&a), positive(&b)].concat();
    want.sort_unstable();
    let done = program(
        || {
            let [a, b] = [&a, &b].map(Array::from);
            sides::merge_of_filters(&a, &b)
        },
        [1, 3, 0],
        |all| assert_eq!(all, want),
    );
    let n = (a.len() + b.len()) as u64;
    assert_eq!((done.reads(), done.writes()), (n, count(&want)));
    assert_eq!(done.op(Op::Gt), n);
}

/// One loop for all rounds. The first round reads the next element of both arrays for each element
/// taken; the others read nothing.
#[test]
fn merge_tree() {
    let arrays: Vec<Vec<i64>> = (1..9)
        .map(|seed| {
            let mut xs = numbers(seed, N / 8 + seed as usize);
            xs.sort_unstable();
            xs
        })
        .collect();
    let mut want = arrays.concat();
    want.sort_unstable();
    let build = || {
        let arrays: Vec<Array<i64>> = arrays.iter().map(Array::from).collect();
        sides::merge_tree(&arrays.try_into().expect("eight"))
    };
    let done = program(build, [1, 7, 0], |merged| assert_eq!(merged, want));
    let n = count(&want);
    assert_eq!((done.reads(), done.writes()), (2 * n, n));
}
