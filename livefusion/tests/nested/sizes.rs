//! Long segments, and long pipelines.

use super::*;

/// Segments longer than a chunk, whose partial results are combined.
#[test]
fn long_segments() {
    let lengths = [50_000usize, 0, 70_001, 3, 16_384];
    let n: usize = lengths.iter().sum();
    let mut numbers = (0..n as i64).map(|i| (i * 7919) % 1013);
    let rows: Vec<Vec<i64>> = lengths
        .iter()
        .map(|n| numbers.by_ref().take(*n).collect())
        .collect();
    let all = Segmented::from_vecs(rows.clone());
    for engine in [Engine::interp(), Engine::jit()] {
        let (most, from, in_order, states) = all.map_segments(|row| {
            let (m, n) = (row.sum() % 1000, row.len().map(|n| n.cast::<i64>() % 977));
            (
                row.fold(0, |a, b| a.max(b).min(&m)),
                row.fold(&n, |a, b| a.max(b)),
                row.fold_seq(&n, |a, x| (a * 2 + x * &n) % 10_007),
                row.aggregate(&n, |s, x| s.max(x), |s, t| s.max(t)),
            )
        });
        let (scans, ended) = all.map_segments(|row| {
            let m = row.sum() % 1000 + 5;
            (
                row.scan_exclusive(0, |a, b| a.max(b).min(&m)).sum(),
                row.map(|x| 1_000_000 / (x - 5000))
                    .take_while(|x| x.ne(-250))
                    .len(),
            )
        });
        let results = (&most, &from, &in_order, &states, &scans, &ended).force_with(&engine);
        let (most, from, in_order, states, scans, ended) = results.unwrap();
        for (k, row) in rows.iter().enumerate() {
            let (sum, n) = (row.iter().sum::<i64>(), row.len() as i64 % 977);
            let largest = row.iter().copied().max().unwrap_or(0);
            assert_eq!(most[k], largest.min(sum % 1000));
            assert_eq!((from[k], states[k]), (largest.max(n), largest.max(n)));
            let digits = |a, x: &i64| (a * 2 + x * n) % 10_007;
            assert_eq!(in_order[k], row.iter().fold(n, digits));
            let (mut before, mut total) = (0, 0);
            for x in row {
                total += before;
                before = before.max(*x).min(sum % 1000 + 5);
            }
            assert_eq!(scans[k], total);
            let before = row.iter().take_while(|x| 1_000_000 / (**x - 5000) != -250);
            assert_eq!(ended[k], before.count() as u64);
        }
    }
}

/// Deep graphs work.
#[test]
fn ten_thousand_steps() {
    let all = Segmented::from_vecs(vec![vec![1i64, 2], vec![3]]);
    let deep = all.map_segments(|row| {
        let mut at = row;
        for _ in 0..10_000 {
            at = at.map(|x| x + 1);
        }
        at
    });
    drop(deep);
}

/// Each step uses both arrays of the one before, so there are very many ways to the filter.
#[test]
fn reverse_of_arrays_with_many_uses__is_found_in_one_walk() {
    each_engine(&ints(), |r| {
        let kept = r.filter(|x| x.gt(0));
        let (mut x, mut y) = (kept.map(|x| x + 1), kept);
        for _ in 0..40 {
            let next = x.zip_with(&y, |x, y| (x + y) % 101);
            (y, x) = (x.zip_with(&y, |x, y| (x - y) % 97), next);
        }
        x.reverse().zip_with(&y.reverse(), |x, y| x - y)
    });
}
