//! The rules of figure 14: each becomes one loop with nothing in memory.
//!
//! The paper's rules achieve the same, and programs beyond them fuse too. Dead results are not
//! computed.

use crate::{N, count, floats, numbers, program};
use livefusion::Array;
use livefusion_tests::catalog::rules;
use loop_lang::Op;

fn two() -> (Vec<i64>, Vec<i64>) {
    (numbers(1, N), numbers(2, N))
}

/// The elements of the first that exceed those of the second.
fn more(a: &[i64], b: &[i64]) -> Vec<i64> {
    let both = a.iter().zip(b).filter(|(a, b)| a > b);
    both.map(|(a, _)| *a).collect()
}

#[test]
fn product_with_inverse() {
    let a = floats(1, N);
    let want: f64 = a.iter().map(|x| x * -x).sum();
    let done = program(
        || rules::product_with_inverse(&Array::from(&a)),
        [1, 1, 0],
        |sum| assert_eq!(sum, want),
    );
    assert_eq!((done.reads(), done.op(Op::Mul)), (N as u64, N as u64));
}

/// The repeated number is stored only for its update, which has its own loop (case 1 of figure 9).
#[test]
fn two_maps_of_a_replicate() {
    let (b, c) = (floats(1, N), floats(2, N));
    let done = program(
        || rules::two_maps_of_a_replicate(2.0, &Array::from(&b), &Array::from(&c), N),
        [2, 2, 0],
        |(y, z, updated)| {
            assert!(y.iter().zip(&b).all(|(y, b)| *y == 2.0 + b));
            assert!(z.iter().zip(&c).all(|(z, c)| *z == 2.0 * c));
            let all = updated.iter().enumerate();
            assert!(
                all.into_iter()
                    .all(|(i, x)| *x == if i == 1 { 3.5 } else { 2.0 })
            );
        },
    );
    assert_eq!(done.reads(), 2 * N as u64 + 2);
}

#[test]
fn filter_of_a_filter() {
    let (a, b) = two();
    let mut want = more(&a, &b);
    want.retain(|x| x & 1 == 0);
    let done = program(
        || rules::filter_of_a_filter(&Array::from(&a), &Array::from(&b)),
        [1, 2, 0],
        |kept| assert_eq!(kept, want),
    );
    assert_eq!((done.reads(), done.writes()), (2 * N as u64, count(&want)));
}

/// The unused quotient is never computed.
#[test]
fn map_of_a_map() {
    let (a, y) = two();
    let done = program(
        || rules::map_of_a_map(&Array::from(&a), &Array::from(&y)),
        [1, 1, 0],
        |out| assert!(out.into_iter().eq(a.iter().zip(&y).map(|(a, y)| a * a - y))),
    );
    assert_eq!((done.op(Op::Div), done.op(Op::Mul)), (0, N as u64));
}

#[test]
fn reduce_of_a_filter() {
    let a = numbers(1, N);
    let want: i64 = a.iter().filter(|a| **a > 0).sum();
    let done = program(
        || rules::reduce_of_a_filter(&Array::from(&a)),
        [1, 1, 0],
        |sum| assert_eq!(sum, want),
    );
    assert_eq!((done.reads(), done.writes()), (N as u64, 0));
}

#[test]
fn reduce_of_a_map() {
    let (a, y) = two();
    let want = (a.iter().map(|a| a * a).sum::<i64>(), y.iter().max());
    let done = program(
        || rules::reduce_of_a_map(&Array::from(&a), &Array::from(&y)),
        [1, 1, 0],
        |(sum, most)| assert_eq!((sum, Some(&most)), want),
    );
    assert_eq!((done.reads(), done.op(Op::Div)), (2 * N as u64, 0));
}

#[test]
fn reduce_of_a_part() {
    let (a, b) = two();
    let want: i64 = more(&a, &b).iter().sum();
    let done = program(
        || rules::reduce_of_a_part(&Array::from(&a), &Array::from(&b)),
        [1, 1, 0],
        |sum| assert_eq!(sum, want),
    );
    assert_eq!((done.reads(), done.writes()), (2 * N as u64, 0));
}

#[test]
fn redomap_of_a_map() {
    let (a, y) = two();
    let want: i64 = a.iter().zip(&y).map(|(a, y)| a * a - y).sum();
    let done = program(
        || rules::redomap_of_a_map(&Array::from(&a), &Array::from(&y)),
        [1, 1, 0],
        |sum| assert_eq!(sum, want),
    );
    assert_eq!((done.reads(), done.writes()), (2 * N as u64, 0));
}

#[test]
fn redomap_of_a_filter() {
    let (a, b) = two();
    let kept = more(&a, &b);
    let want: i64 = kept.iter().map(|x| x * x).sum();
    let done = program(
        || rules::redomap_of_a_filter(&Array::from(&a), &Array::from(&b)),
        [1, 1, 0],
        |sum| assert_eq!(sum, want),
    );
    assert_eq!(done.op(Op::Mul), count(&kept));
}

/// Elements dropped by the first filter reach no map.
#[test]
fn rules_in_a_row() {
    let a = numbers(1, N);
    let kept: Vec<i64> = a.iter().copied().filter(|a| *a > -50).collect();
    let want: i64 = kept
        .iter()
        .map(|x| (x * x) ^ 5)
        .filter(|x| x & 1 == 0)
        .sum();
    let done = program(
        || rules::rules_in_a_row(&Array::from(&a)),
        [1, 1, 0],
        |sum| assert_eq!(sum, want),
    );
    assert_eq!((done.reads(), done.op(Op::Mul)), (N as u64, count(&kept)));
}
