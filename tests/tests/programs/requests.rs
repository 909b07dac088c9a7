//! Common requests: price paths, largest elements, joined tables, group quantiles.

use crate::{N, floats, numbers, program};
use livefusion::Array;
use livefusion_tests::catalog::requests;

/// One loop over the paths, with the steps of each in its body.
#[test]
fn monte_carlo() {
    let done = program(
        || requests::monte_carlo(7, N as u64, 10),
        [1, 1, 0],
        |(mean, squares)| {
            // For ten steps, the mean positive part is 2.46, and its mean square 20.
            assert!(
                (mean - 2.46).abs() < 0.4 && (squares - 20.0).abs() < 5.0,
                "{mean}, {squares}"
            );
        },
    );
    assert_eq!((done.reads(), done.writes()), (0, 0));
}

/// One loop over the elements, and one over the few largest.
#[test]
fn top_and_sum() {
    let xs = numbers(3, N);
    let mut odd: Vec<i64> = xs.iter().copied().filter(|x| x % 2 != 0).collect();
    let (n, sum) = (odd.len() as u64, odd.iter().sum::<i64>());
    odd.sort_by(|a, b| b.cmp(a));
    let done = program(
        || requests::top_and_sum(&Array::from(&xs)),
        [2, 3, 0],
        |(top, len, total)| {
            assert_eq!(top, odd[..3]);
            assert_eq!((len, total), (n, sum));
        },
    );
    assert_eq!((done.reads(), done.writes()), (N as u64, 3));
}

/// One loop over the left rows, with their searches and pairs in it.
#[test]
fn join_counts() {
    let left: Vec<u64> = numbers(4, N)
        .iter()
        .map(|x| x.unsigned_abs() % 40)
        .collect();
    let right: Vec<u64> = (0..60).map(|k| (k * 7) % 50).collect();
    let want: Vec<u64> = right
        .iter()
        .map(|r| left.iter().filter(|l| *l == r).count() as u64)
        .collect();
    program(
        || requests::join_counts(&Array::from(&left), &Array::from(&right)),
        [1, 2, 0],
        |found| assert_eq!(found, want[..]),
    );
}

/// One loop over the groups consumes their quantiles. Another loop finds the keys of groups.
#[test]
fn group_spread() {
    let (values, keys) = (floats(5, N), numbers(6, N));
    let keys: Vec<u64> = keys.iter().map(|x| x.unsigned_abs() % 5).collect();
    let mut groups = vec![Vec::new(); 5];
    for (key, value) in keys.iter().zip(&values) {
        groups[*key as usize].push(*value);
    }
    let spread = |group: &mut Vec<f64>| {
        group.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (group.len() - 1) as f64;
            let (low, high) = (
                group[place as usize],
                group[(place as usize + 1).min(group.len() - 1)],
            );
            low + (high - low) * place.fract()
        };
        at(0.75) - at(0.25)
    };
    let want: Vec<f64> = groups.iter_mut().map(spread).collect();
    program(
        || requests::group_spread(&Array::from(&values), &Array::from(&keys)),
        [2, 5, 0],
        |(keys, found)| {
            assert_eq!(keys, [0, 1, 2, 3, 4]);
            assert_eq!(found, want[..]);
        },
    );
}
