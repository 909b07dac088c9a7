//! `merge`, `interleave` and `combine` of computed arrays in one loop.
//!
//! Each input resumes after its last element.
//!
//! `LOOP_BLESS=1 cargo test -p livefusion` rewrites the golden file.

use crate::common::filters::{even, evens, kept, numbers, small, smalls};
use crate::common::{engines, golden, shape};
use livefusion::prelude::*;
use livefusion::{Clustering, ErrorKind, Result};
use std::sync::Arc;

/// Lengths such that either input ends first, or both at once; either may be empty.
const LENGTHS: [(usize, usize); 8] = [
    (0, 0),
    (0, 9),
    (9, 0),
    (1, 1),
    (2, 300),
    (300, 2),
    (300, 300),
    (4_000, 9_000),
];

/// Reference merge: takes from the left while `in_order` holds for the two heads.
fn merged<T: Copy>(left: &[T], right: &[T], in_order: impl Fn(T, T) -> bool) -> Vec<T> {
    let (mut i, mut j, mut all) = (0, 0, Vec::new());
    while i < left.len() || j < right.len() {
        let take_left = i < left.len() && (j == right.len() || in_order(left[i], right[j]));
        let (from, at) = if take_left {
            (left, &mut i)
        } else {
            (right, &mut j)
        };
        all.push(from[*at]);
        *at += 1;
    }
    all
}

#[test]
fn two_filters_are_one_loop() -> Result<()> {
    let (xs, ys) = (Array::from(vec![1i64, -2, 3]), Array::from(vec![-1i64, -4]));
    let (left, right) = (xs.filter(|x| x.gt(0)), ys.filter(|y| y.lt(0)));
    let all = left.merge(&right, |x, y| x.le(y)).map(|x| x * 2);
    assert_eq!(shape(&[all.node().clone()])?, (1, 1));
    let explained = Engine::interp().explain(&[all.node().clone()])?;
    let text = explained.loops[0].program.to_string();
    golden("merge_of_filters.loop", &text);
    Ok(())
}

#[test]
fn sides_end_in_either_order() -> Result<()> {
    for engine in engines() {
        for (n, m) in LENGTHS {
            let (xs, ys) = (numbers(n as u64, n), numbers(m as u64 + 7, m));
            let want = merged(&kept(&xs, even), &kept(&ys, small), |x, y| x <= y);
            let want: Vec<i64> = want.iter().map(|x| 3 * x).collect();
            let (xs, ys) = (Array::from(xs), Array::from(ys));
            let all = evens(&xs)
                .merge(&smalls(&ys), |x, y| x.le(y))
                .map(|x| x * 3);
            assert_eq!(shape(&[all.node().clone()])?, (1, 1));
            assert_eq!(all.force_with(&engine)?, want, "{n} and {m}");
        }
    }
    Ok(())
}

/// Inputs: an array in memory, cheap and expensive index functions, and a filter that could fail
/// after its end.
#[test]
fn sides_in_memory_are_read_at_a_position() -> Result<()> {
    for engine in engines() {
        for (n, m) in LENGTHS {
            let (xs, ys) = (numbers(n as u64, n), numbers(m as u64 + 7, m));
            let (x, y) = (Array::from(xs.clone()), Array::from(ys.clone()));
            let count = iota(m as u64).map(|i| i.cast::<i64>());
            let fails = iota(m as u64).map(|i| (i + 1).cast::<i64>());
            let fails = fails.map(|i| 1000 / i);
            let costly = y.map(|y| (y * y % 7) / 3);
            let right: [(&str, Array<i64>, Vec<i64>); 4] = [
                ("memory", y.clone(), ys.clone()),
                ("indices", count, (0..m as i64).collect()),
                ("fails", fails, (1..=m as i64).map(|i| 1000 / i).collect()),
                (
                    "costly",
                    costly,
                    ys.iter().map(|y| (y * y % 7) / 3).collect(),
                ),
            ];
            for (name, right, values) in right {
                let want = merged(&kept(&xs, even), &values, |x, y| x <= y);
                let all = evens(&x).merge(&right, |x, y| x.le(y));
                assert_eq!(shape(&[all.node().clone()])?, (1, 1), "{name}");
                assert_eq!(all.force_with(&engine)?, want, "{name}, {n} and {m}");
                let want = merged(&values, &kept(&xs, even), |x, y| x < y);
                let all = right.merge(&evens(&x), |x, y| x.lt(y));
                assert_eq!(all.force_with(&engine)?, want, "{name} first, {n} and {m}");
            }
        }
    }
    Ok(())
}

#[test]
fn in_turn() -> Result<()> {
    for engine in engines() {
        for n in [0usize, 1, 2, 300, 5_000] {
            let xs = numbers(n as u64, n);
            let halves = kept(&xs, even);
            let other: Vec<i64> = halves.iter().map(|x| -x).collect();
            let want: Vec<i64> = halves
                .iter()
                .zip(&other)
                .flat_map(|(x, y)| [*x, *y])
                .collect();
            let (a, b) = (Array::from(xs.clone()), Array::from(xs.clone()));
            let right = evens(&b).map(|x| -x);
            let all = evens(&a).interleave(&right);
            assert_eq!(all.force_with(&engine)?, want, "{n}");
            // Arrays of the same steps cannot advance in turn.
            let (kept, sums) = (evens(&a), evens(&a).scan(0, |a, b| a + b));
            let apart = sums.zip_with(&kept, |sum, x| sum - x);
            let both = kept.interleave(&kept.zip_with(&apart, |x, _| -x));
            assert_eq!(both.force_with(&engine)?, want, "{n}");
            let negated: Array<i64> = xs.iter().map(|x| -x).collect();
            let all = evens(&a).interleave(&evens(&negated));
            assert_eq!(shape(&[all.node().clone()])?, (1, 1));
            assert_eq!(all.force_with(&engine)?, want, "{n}");
        }
    }
    Ok(())
}

#[test]
fn by_flags() -> Result<()> {
    for engine in engines() {
        for n in [0usize, 1, 2, 300, 5_000] {
            let (xs, zs) = (numbers(3, 2 * n + 9), numbers(5, 3 * n + 9));
            let (left, right) = (kept(&xs, even), kept(&zs, small));
            let flags: Vec<bool> = numbers(n as u64, n).iter().map(|x| x % 3 == 0).collect();
            let trues = flags.iter().filter(|f| **f).count();
            let (mut l, mut r) = (left.iter(), right.iter());
            let want = flags.iter().map(|f| if *f { l.next() } else { r.next() });
            let want: Vec<i64> = want.flatten().copied().collect();
            assert_eq!(want.len(), n);
            let (x, z) = (Array::from(xs), Array::from(zs));
            // As many elements as the flags request.
            let (x, z) = (evens(&x).take(trues), smalls(&z).take(n - trues));
            let all = Array::from(flags).combine(&x, &z);
            assert_eq!(shape(&[all.node().clone()])?, (1, 1));
            assert_eq!(all.force_with(&engine)?, want, "{n}");
        }
    }
    Ok(())
}

#[test]
fn lengths_that_do_not_fit() -> Result<()> {
    let clusterings = [
        Clustering::Unfused,
        Clustering::Greedy,
        Clustering::default(),
    ];
    let planned = clusterings.map(|c| Engine::builder().clustering(c).build());
    for engine in engines().into_iter().chain(planned) {
        for (n, m) in [(4i64, 3i64), (3, 4), (5, 3), (3, 5), (0, 1), (0, 2), (9, 0)] {
            let (xs, ys) = (
                crate::common::first_numbers(n),
                crate::common::first_numbers(m),
            );
            let (xs, ys) = (xs.filter(|x| x.gt(0)), ys.filter(|x| x.gt(0)));
            let refused = xs.interleave(&ys).force_with(&engine);
            let kind = refused.map_err(|e| (e.combinator, e.kind));
            assert!(
                matches!(kind, Err(("interleave", ErrorKind::LengthMismatch { .. }))),
                "{n} and {m}: {kind:?}"
            );
            let flags: Array<bool> = (0..n).map(|i| i % 2 == 0).collect();
            let refused = flags.combine(&xs, &ys).force_with(&engine);
            let kind = refused.map_err(|e| (e.combinator, e.kind));
            assert!(
                matches!(kind, Err(("combine", ErrorKind::LengthMismatch { .. }))),
                "{n} and {m}: {kind:?}"
            );
        }
    }
    Ok(())
}

/// The counting loop does not trap, but still ends on a length error.
#[test]
fn lengths_that_do_not_fit_are_found_while_elements_are_counted() -> Result<()> {
    for engine in engines() {
        let lengths = Array::from(vec![2u64, 3]);
        let left = Segmented::replicate(&lengths, &iota(2));
        let right = iota(9).filter(|i| i.lt(4));
        let all = left.data().interleave(&right);
        let refused = all.force_with(&engine).map_err(|e| e.kind);
        assert!(
            matches!(refused, Err(ErrorKind::LengthMismatch { .. })),
            "{refused:?}"
        );
    }
    Ok(())
}

/// The order is called only for existing elements.
#[test]
fn the_order_is_not_asked_behind_an_end() -> Result<()> {
    for engine in engines() {
        let (xs, ys) = (Array::from(vec![9i64, 8, 7]), Array::from(vec![6i64, 5]));
        let (xs, ys) = (xs.filter(|x| x.gt(0)), ys.filter(|y| y.gt(0)));
        let all = xs.merge(&ys, |x, y| (100 / x).le(100 / y));
        assert_eq!(all.force_with(&engine)?, [9, 8, 7, 6, 5]);
        let nothing = xs
            .filter(|x| x.gt(100))
            .merge(&ys, |x, y| (100 / x).le(100 / y));
        assert_eq!(nothing.force_with(&engine)?, [6, 5]);
    }
    Ok(())
}

#[test]
fn merges_of_merges() -> Result<()> {
    for engine in engines() {
        for n in [0usize, 3, 700] {
            let parts: Vec<Vec<i64>> = (0..8)
                .map(|k| {
                    let mut part = numbers(k as u64 + 1, n + 3 * k);
                    part.sort_unstable();
                    part
                })
                .collect();
            let mut want: Vec<i64> = parts.iter().flat_map(|p| kept(p, even)).collect();
            want.sort_unstable();
            let mut level: Vec<Array<i64>> =
                parts.into_iter().map(|p| evens(&Array::from(p))).collect();
            while level.len() > 1 {
                let pairs = level.chunks(2);
                level = pairs.map(|p| p[0].merge(&p[1], |x, y| x.le(y))).collect();
            }
            assert_eq!(shape(&[level[0].node().clone()])?, (1, 1));
            assert_eq!(level[0].force_with(&engine)?, want);
            let sum = level[0].filter(|x| x.gt(5)).sum();
            assert_eq!(shape(&[sum.node().clone()])?, (1, 0));
        }
    }
    Ok(())
}

/// Every kind of cursor as an input: elements of segments, arrays with exits, scans, zips. Also a
/// merge as an input of a zip.
#[test]
fn all_that_a_cursor_delivers() -> Result<()> {
    for engine in engines() {
        for (n, m) in LENGTHS {
            let (xs, ys) = (numbers(n as u64, n), numbers(m as u64 + 7, m));
            let runs = xs.iter().map(|x| ((*x % 4) as u64 as usize % 4, *x));
            let lengths: Vec<u64> = runs.clone().map(|(k, _)| k as u64).collect();
            let spread: Vec<i64> = runs.flat_map(|(k, x)| (0..k).map(move |_| x)).collect();
            let before: Vec<i64> = kept(&ys, small)
                .into_iter()
                .take_while(|y| *y != 3)
                .collect();
            let sums: Vec<i64> = ys
                .iter()
                .scan(0, |sum, y| {
                    *sum += y;
                    Some(*sum)
                })
                .collect();
            let sums = kept(&sums, small);
            let (x, y) = (Array::from(xs), Array::from(ys.clone()));
            let a = Segmented::replicate(&Array::from(lengths), &x);
            let b = smalls(&y).take_while(|y| y.ne(3));
            let c = smalls(&y.scan(0, |a, b| a + b));
            let le = |x: Exp<i64>, y: Exp<i64>| x.le(y);
            for (name, all, want) in [
                (
                    "segments",
                    a.data().merge(&b, le),
                    merged(&spread, &before, |x, y| x <= y),
                ),
                (
                    "ends",
                    b.merge(a.data(), le),
                    merged(&before, &spread, |x, y| x <= y),
                ),
            ] {
                assert_eq!(shape(&[all.node().clone()])?, (1, 1), "{name}");
                assert_eq!(all.force_with(&engine)?, want, "{name}, {n} and {m}");
            }
            // An input of an input, of a zip and of a merge.
            let ones = merged(&sums, &spread, |x, y| x <= y);
            let want: Vec<i64> = ones.iter().zip(&before).map(|(x, y)| x * 2 - y).collect();
            let all = c
                .merge(a.data(), le)
                .zip_shortest(&b)
                .map(|(x, y)| x * 2 - y);
            assert_eq!(shape(&[all.node().clone()])?, (1, 1));
            assert_eq!(all.force_with(&engine)?, want, "{n} and {m}");
        }
    }
    Ok(())
}

#[test]
fn zips_on_sides_and_merges_on_sides_of_zips() -> Result<()> {
    for engine in engines() {
        for n in [0usize, 1, 5, 900] {
            let (xs, ys, zs) = (numbers(1, n), numbers(2, n), numbers(3, 2 * n + 1));
            let (a, b) = (kept(&xs, even), kept(&ys, even));
            let len = a.len().min(b.len());
            let pairs: Vec<i64> = a[..len].iter().zip(&b).map(|(x, y)| x + y).collect();
            let want = merged(&pairs, &kept(&zs, small), |x, y| x <= y);
            let [x, y, z] = [xs, ys, zs.clone()].map(Array::from);
            let zipped = evens(&x).take(len as u64).zip(&evens(&y).take(len as u64));
            let all = zipped
                .map(|(x, y)| x + y)
                .merge(&smalls(&z), |x, y| x.le(y));
            assert_eq!(shape(&[all.node().clone()])?, (1, 1));
            assert_eq!(all.force_with(&engine)?, want);

            let merged = merged(&a, &kept(&zs, small), |x, y| x <= y);
            let many = numbers(9, merged.len());
            let want: Vec<i64> = merged.iter().zip(&many).map(|(x, y)| x * y).collect();
            let other = Array::from(many).filter(|x| x.lt(1000));
            let all = evens(&x).merge(&smalls(&z), |x, y| x.le(y));
            let all = all.zip(&other).map(|(x, y)| x * y);
            assert_eq!(shape(&[all.node().clone()])?, (1, 1));
            assert_eq!(all.force_with(&engine)?, want);
        }
    }
    Ok(())
}

/// Other consumers of an input fuse into the loop, and so do consumers of the merge or of its
/// prefix.
#[test]
fn consumers_join_the_loop() -> Result<()> {
    for engine in engines() {
        for (n, m) in LENGTHS {
            let (xs, ys) = (numbers(n as u64, n), numbers(m as u64 + 7, m));
            let (a, b) = (kept(&xs, even), kept(&ys, small));
            let want = merged(&a, &b, |x, y| x <= y);
            let (x, y) = (Array::from(xs), Array::from(ys));
            let (left, right) = (evens(&x), smalls(&y));
            let all = left.merge(&right, |x, y| x.le(y));
            let (sum, doubled) = (left.sum(), right.map(|y| y * 2));
            let positive = all.filter(|x| x.gt(0)).len();
            let roots = [all.node(), sum.node(), doubled.node(), positive.node()].map(Arc::clone);
            assert_eq!(shape(&roots)?, (1, 2));
            let (all, sum, doubled, positive) =
                (&all, &sum, &doubled, &positive).force_with(&engine)?;
            assert_eq!(all.to_vec()?, want);
            assert_eq!(sum, a.iter().sum::<i64>());
            assert_eq!(
                doubled.to_vec()?,
                b.iter().map(|y| y * 2).collect::<Vec<i64>>()
            );
            assert_eq!(positive, want.iter().filter(|x| **x > 0).count() as u64);

            let first = evens(&x).merge(&smalls(&y), |x, y| x.le(y)).take(20);
            assert_eq!(shape(&[first.node().clone()])?, (1, 1));
            assert_eq!(first.force_with(&engine)?, want[..want.len().min(20)]);
        }
    }
    Ok(())
}

/// Both inputs come from one stream, or one input contains the other.
#[test]
fn sides_of_one_stream() -> Result<()> {
    for engine in engines() {
        for n in [0usize, 1, 2, 500] {
            let xs = numbers(4, n);
            let a = kept(&xs, even);
            let x = Array::from(xs);
            let left = evens(&x);
            let (up, down) = (left.map(|x| x + 1), left.map(|x| x - 1));
            let want = merged(
                &a.iter().map(|x| x + 1).collect::<Vec<_>>(),
                &a.iter().map(|x| x - 1).collect::<Vec<_>>(),
                |x, y| x <= y,
            );
            let all = up.merge(&down, |x, y| x.le(y));
            assert_eq!(all.force_with(&engine)?, want);
            let all = left.merge(&left, |x, y| x.le(y));
            assert_eq!(all.force_with(&engine)?, merged(&a, &a, |x, y| x <= y));
            let half = left.filter(|x| x.gt(0));
            let b = kept(&a, |x| *x > 0);
            let all = left.merge(&half, |x, y| x.le(y));
            assert_eq!(all.force_with(&engine)?, merged(&a, &b, |x, y| x <= y));
        }
    }
    Ok(())
}

/// Pairs: the fields of an element move together, and unused fields are not computed.
#[test]
fn pairs_by_key() -> Result<()> {
    for engine in engines() {
        let keys: Array<(i64, f64)> = (0..900).map(|i| (i / 3, i as f64)).collect();
        let left = keys.filter(|(k, _)| (k % 2).eq(0));
        let right = keys.filter(|(k, _)| (k % 3).eq(0));
        let all = left.merge(&right, |(a, _), (b, _)| a.le(b));
        let of = |m: i64| {
            (0..900i64)
                .map(|i| (i / 3, i as f64))
                .filter(move |p| p.0 % m == 0)
        };
        let (a, b): (Vec<_>, Vec<_>) = (of(2).collect(), of(3).collect());
        assert_eq!(
            all.force_with(&engine)?.to_vec()?,
            merged(&a, &b, |x, y| x.0 <= y.0)
        );
        let keys = left.merge(&right, |(a, _), (b, _)| a.le(b)).map(|(k, _)| k);
        assert_eq!(keys.len().force_with(&engine)?, (a.len() + b.len()) as u64);
    }
    Ok(())
}

/// An append as an input of a merge, and a merge as a part of an append.
#[test]
fn appends_on_sides_and_merges_in_appends() -> Result<()> {
    for engine in engines() {
        for (n, m) in LENGTHS {
            let (xs, ys, zs) = (
                numbers(n as u64, n),
                numbers(m as u64 + 7, m),
                numbers(5, 40),
            );
            let (a, b, c) = (kept(&xs, even), kept(&ys, small), kept(&zs, even));
            let [x, y, z] = [xs, ys, zs].map(Array::from);
            let want = merged(&[a.clone(), b.clone()].concat(), &c, |x, y| x <= y);
            let both = evens(&x).append(&smalls(&y));
            let all = both.merge(&evens(&z), |x, y| x.le(y));
            assert_eq!(shape(&[all.node().clone()])?, (1, 1));
            assert_eq!(all.force_with(&engine)?, want, "{n} and {m}");

            let want = [merged(&a, &b, |x, y| x <= y), c].concat();
            let both = evens(&x).merge(&smalls(&y), |x, y| x.le(y));
            let all = both.append(&evens(&z));
            assert_eq!(all.force_with(&engine)?, want, "{n} and {m}");
        }
    }
    Ok(())
}

/// Per-segment values in memory have one element per segment, regardless of how often a cursor
/// advances.
#[test]
fn values_of_segments_on_a_side() -> Result<()> {
    for engine in engines() {
        for n in [0u64, 1, 3] {
            // A filter's result has another rate than the lengths in memory, and is read next to
            // them.
            let (lengths, all) = (Array::from(vec![2u64; n as usize]), iota(2 * n));
            let values = all.filter(|x| (x % 2).eq(0));
            let spread = Segmented::replicate(&lengths, &values);
            let others = iota(9).filter(|x| x.gt(4));
            let want: Vec<u64> = (0..n).flat_map(|x| [2 * x, 2 * x]).collect();
            let merged = spread.data().merge(&others, |x, y| x.le(y));
            let all = [want.clone(), vec![5, 6, 7, 8]].concat();
            assert_eq!(merged.force_with(&engine)?, all, "{n}");
            let few = spread.data().append(&others).zip_shortest(&others);
            let few = few.map(|(x, _)| x).force_with(&engine)?;
            assert_eq!(few, all[..4], "{n}");
            let short = Segmented::replicate(&Array::from(vec![2u64; n as usize + 1]), &values);
            let merged = short.data().merge(&others, |x, y| x.le(y));
            let refused = merged.force_with(&engine).map(|m| m.to_vec());
            let kind = refused.map_err(|e| e.kind);
            assert!(
                matches!(kind, Err(ErrorKind::LengthMismatch { .. })),
                "{kind:?}"
            );
        }
    }
    Ok(())
}
