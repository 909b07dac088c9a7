//! Graph reduction's kernel, the six unfused cases, and maximum segment sum.
//!
//! Each case's test describes fusion here, and shows that it duplicates no work.

use crate::{N, count, floats, numbers, program};
use livefusion::{Array, Ix0};
use livefusion_tests::catalog::graphs;
use loop_lang::Op;

/// Every array of the kernel costs one loop's work, regardless of its number of uses. The paper
/// starts a second kernel for the sum; here it is in the same loop.
#[test]
fn kernel_of_figure_8() {
    let (a, b) = (numbers(1, N), numbers(2, N));
    let kernel = |(a, b): (&i64, &i64)| {
        let (x1, x2) = (a ^ 5, b | 1);
        let (y1, y2, y3) = (x1.min(x2), x1.max(x2), x1 & x2);
        let (z1, z2) = (y1 * y2, y1 - y2);
        let (q1, q2) = (if y3 < z1 { y3 } else { y2 }, z1 << 1);
        if q1 != q2 { z2.abs().min(y1) } else { y3 }
    };
    let want: Vec<i64> = a.iter().zip(&b).map(kernel).collect();
    let done = program(
        || graphs::kernel(&Array::from(&a), &Array::from(&b)),
        [1, 1, 0],
        |(result, total)| {
            assert_eq!(result, want);
            assert_eq!(total, a.iter().map(|a| a ^ 5).sum());
        },
    );
    let n = N as u64;
    assert_eq!((done.reads(), done.writes()), (2 * n, n));
    let once = [Op::Xor, Op::Or, Op::Max, Op::And, Op::Mul, Op::Sub, Op::Shl];
    assert_eq!(once.map(|op| done.op(op)), [n; 7]);
}

/// Case 1. The paper must not move a use of an array across its update. Here arrays are values: a
/// use after the update sees the old array, so both maps are one loop, in any order of loops. The
/// update has one step per updated element, and so its own loop. It copies, because the user holds
/// the array.
#[test]
fn case_1_update_in_place() {
    let a = floats(1, N);
    let mut updated = a.clone();
    updated[1] = 3.33;
    let done = program(
        || graphs::around_an_update(&Array::from(&a)),
        [2, 2, 0],
        |(after, mapped)| {
            assert_eq!(after, updated);
            assert!(mapped.iter().zip(&a).all(|(m, a)| *m == (a + 1.0) * 2.0));
        },
    );
    assert_eq!(
        (done.op(Op::Mul), done.reads()),
        (N as u64, 2 * N as u64 + 2)
    );
}

/// Case 2. Two filters skip different elements, so a loop over both results has no common counter.
/// The paper needs three loops. Here one loop advances each input by its own counter to its next
/// element. No element is read or tested twice, and no filtered element goes through memory.
#[test]
fn case_2_zip_of_filters() {
    // Equally many positive elements in both.
    let a = numbers(1, N);
    let b: Vec<i64> = a.iter().rev().copied().collect();
    let positive = |xs: &[i64]| xs.iter().copied().filter(|x| *x > 0).collect::<Vec<_>>();
    let (x, y) = (positive(&a), positive(&b));
    let done = program(
        || graphs::zip_of_filters(&Array::from(&a), &Array::from(&b)),
        [1, 4, 0],
        |z| assert!(z.into_iter().eq(x.iter().zip(&y).map(|(x, y)| x - y))),
    );
    let (n, kept) = (N as u64, count(&x));
    assert_eq!(done.op(Op::Gt), 2 * n);
    assert_eq!((done.reads(), done.writes()), (2 * n, kept));
}

/// Case 3. Fusing a map into a loop that uses it repeatedly would recompute it in each iteration.
/// Here the user's loop has built one graph of all iterations. The map is computed once per element
/// for all of them.
#[test]
fn case_3_into_a_loop() {
    let a: Vec<f64> = numbers(1, N).iter().map(|x| (x * x) as f64).collect();
    let done = program(
        || graphs::into_a_loop(&Array::from(&a), 7),
        [1, 1, 0],
        |sums| assert!(sums.iter().zip(&a).all(|(s, a)| *s == a.sqrt() * 8.0)),
    );
    assert_eq!((done.op(Op::Sqrt), done.reads()), (N as u64, N as u64));
}

/// Case 4. The array is used on two exclusive paths, and after them. One loop computes it once for
/// all three uses; each element takes one of the two paths.
#[test]
fn case_4_on_both_ways() {
    let a = numbers(1, N);
    for way in [true, false] {
        let on_way = |x: i64| if way { x / 3 } else { x % 3 };
        let done = program(
            || graphs::on_both_ways(&Array::from(&a), &Array::scalar(way)),
            [1, 1, 0],
            |(y, z)| {
                assert!(y.iter().zip(&a).all(|(y, a)| *y == on_way(a * a)));
                assert!(z.iter().zip(&a).all(|(z, a)| *z == (a * a) ^ 1));
            },
        );
        let n = N as u64;
        assert_eq!((done.op(Op::Mul), done.op(Op::Xor)), (n, n));
        let taken = (done.op(Op::Div), done.op(Op::Rem));
        assert_eq!(taken, if way { (n, 0) } else { (0, n) });
    }
}

/// Case 5. Arrays used at single indices are not streams. The paper computes them completely. Here
/// only the used elements are computed, without a loop.
#[test]
fn case_5_single_elements() {
    let a: Vec<f64> = numbers(1, N).iter().map(|x| (x * x) as f64).collect();
    let at = 7;
    let done = program(
        || graphs::single_elements(&Array::from(&a), at as u64),
        [0, 0, 0],
        |sum| assert_eq!(sum, a[at].sqrt() * 4.0),
    );
    assert!(done.reads() <= 2 && done.op(Op::Sqrt) <= 2);
    assert_eq!(done.writes(), 0);
}

/// Case 6. Both results of a map are used once, in different reductions. The paper would compute
/// the map twice; here both reductions share its loop.
#[test]
fn case_6_sum_and_product() {
    let a: Vec<i64> = numbers(1, N).iter().map(|x| x & 3).collect();
    let done = program(
        || graphs::sum_and_product(&Array::from(&a)),
        [1, 1, 0],
        |(sum, product)| {
            assert_eq!(sum, a.iter().map(|a| a ^ 1).sum());
            let product_of_all = a.iter().fold(1i64, |p, a| p.wrapping_mul(a | 1));
            assert_eq!(product, product_of_all);
        },
    );
    let n = N as u64;
    assert_eq!((done.reads(), done.op(Op::Xor), done.op(Op::Or)), (n, n, n));
}

#[test]
fn largest_segment_sum() {
    let xs = numbers(1, N);
    let (mut here, mut want) = (0, 0);
    for x in &xs {
        here = (here + x).max(0);
        want = want.max(here);
    }
    let done = program(
        || graphs::largest_segment_sum(&Array::from(&xs)),
        [1, 1, 0],
        |largest| assert_eq!(largest, want),
    );
    assert_eq!((done.reads(), done.writes()), (N as u64, 0));
}

/// A delayed scalar may be a part of the program or a given value.
#[test]
fn a_way_that_is_computed() {
    let a = numbers(1, N);
    let is_long = |xs: &Array<i64>| -> Array<bool, Ix0> { xs.sum().map(|s| s.gt(1_000_000)) };
    program(
        || {
            let xs = Array::from(&a);
            graphs::on_both_ways(&xs, &is_long(&xs))
        },
        [2, 2, 0],
        |(y, _)| assert!(y.iter().zip(&a).all(|(y, a)| *y == (a * a) % 3)),
    );
}
