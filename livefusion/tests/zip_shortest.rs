//! `zip_shortest` of computed arrays: one loop that ends with the shortest input.
//!
//! Each input is advanced to its next element.
//!
//! `LOOP_BLESS=1 cargo test -p livefusion` rewrites the golden file.

use crate::common::filters::{even, evens, kept, numbers, small, smalls};
use crate::common::{engines, golden, shape};
use livefusion::prelude::*;
use livefusion::{Clustering, ErrorKind, Result};
use std::sync::Arc;

/// Lengths such that either input ends first, or both at once; either may be empty.
const LENGTHS: [(usize, usize); 10] = [
    (0, 0),
    (0, 9),
    (9, 0),
    (1, 1),
    (2, 300),
    (300, 2),
    (300, 300),
    (5_000, 40_000),
    (40_000, 5_000),
    (40_000, 40_000),
];

#[test]
fn zip_shortest__of_two_filters__is_one_loop() -> Result<()> {
    let (xs, ys) = (Array::from(vec![1i64, -2, 3]), Array::from(vec![-1i64, -4]));
    let (left, right) = (xs.filter(|x| x.gt(0)), ys.filter(|y| y.lt(0)));
    let products = left.zip_shortest(&right).map(|(x, y)| x * y);
    assert_eq!(shape(&[products.node().clone()])?, (1, 1));
    let explained = Engine::interp().explain(&[products.node().clone()])?;
    let text = explained.loops[0].program.to_string();
    golden("zip_shortest_of_filters.loop", &text);
    Ok(())
}

#[test]
fn zip_shortest__of_sides_that_end_in_either_order__ends_with_the_first() -> Result<()> {
    for engine in engines() {
        for (n, m) in LENGTHS {
            let (xs, ys) = (numbers(n as u64, n), numbers(m as u64 + 7, m));
            let want = kept(&xs, even).into_iter().zip(kept(&ys, small));
            let want: Vec<i64> = want.map(|(x, y)| 3 * x - y).collect();
            let (xs, ys) = (Array::from(xs), Array::from(ys));
            let zipped = evens(&xs).zip_shortest(&smalls(&ys));
            let zipped = zipped.map(|(x, y)| x * 3 - y);
            assert_eq!(shape(&[zipped.node().clone()])?, (1, 1));
            assert_eq!(zipped.force_with(&engine)?, want, "{n} and {m}");
        }
    }
    Ok(())
}

#[test]
fn three_sides_and_one_in_memory() -> Result<()> {
    for engine in engines() {
        for (n, m) in LENGTHS {
            let (xs, ys) = (numbers(n as u64, n), numbers(m as u64 + 7, m));
            let (zs, ws) = (numbers(3, 900), numbers(5, 700));
            let left = kept(&xs, even).into_iter().zip(kept(&ys, small));
            let want = left.zip(kept(&zs, |z| z % 3 == 0)).zip(&ws);
            let want: Vec<i64> = want.map(|(((x, y), z), w)| x + 7 * y - z * w).collect();
            let [xs, ys, zs, ws] = [xs, ys, zs, ws].map(Array::from);
            // Each input is a pipeline of its own: maps, a scan, filters of filters.
            let x = evens(&xs.map(|x| x + 2)).map(|x| x - 2);
            let sums = ys.scan(0, |a, b| a + b);
            let y = ys.zip(&sums).filter(|(y, _)| y.lt(30)).map(|(y, _)| y);
            let z = zs.filter(|z| z.ge(0)).filter(|z| (z % 3).eq(0));
            let zipped = zip_shortest((&x, &y, &z, &ws)).map(|(x, y, z, w)| x + y * 7 - z * w);
            assert_eq!(shape(&[zipped.node().clone()])?, (1, 1));
            assert_eq!(zipped.force_with(&engine)?, want);
        }
    }
    Ok(())
}

#[test]
fn consumers_join_the_loop() -> Result<()> {
    for engine in engines() {
        for (n, m) in LENGTHS {
            let (xs, ys) = (numbers(n as u64, n), numbers(m as u64 + 7, m));
            let sums = kept(&xs, even).into_iter().zip(kept(&ys, small));
            let sums: Vec<i64> = sums.map(|(x, y)| x + y).collect();
            let total: i64 = sums.iter().filter(|s| **s > 40).sum();
            let (xs, ys) = (Array::from(xs), Array::from(ys));
            let zipped = evens(&xs).zip_shortest(&smalls(&ys)).map(|(x, y)| x + y);
            let sum = zipped.filter(|s| s.gt(40)).sum();
            let roots = [zipped.node(), sum.node(), zipped.len().node()].map(Arc::clone);
            assert_eq!(shape(&roots)?, (1, 1));
            let (all, sum, count) = (&zipped, &sum, &zipped.len()).force_with(&engine)?;
            assert_eq!((all.to_vec()?, sum), (sums.clone(), total));
            assert_eq!(count, sums.len() as u64);

            let zipped = evens(&xs).zip_shortest(&smalls(&ys)).map(|(x, y)| x + y);
            let first = zipped.take(20).map(|s| s * 2);
            assert_eq!(shape(&[first.node().clone()])?, (1, 1));
            let want: Vec<i64> = sums.iter().take(20).map(|s| s * 2).collect();
            assert_eq!(first.force_with(&engine)?, want);
        }
    }
    Ok(())
}

/// Every kind of cursor: elements of segments, arrays with exits, scans, zips.
#[test]
fn all_that_a_cursor_delivers() -> Result<()> {
    for engine in engines() {
        for (n, m) in LENGTHS {
            let (xs, ys) = (numbers(n as u64, n), numbers(m as u64 + 7, m));
            let lengths: Vec<u64> = xs.iter().map(|x| (*x % 4) as u64).collect();
            let runs = lengths.iter().zip(&xs);
            let spread = runs.flat_map(|(k, x)| (0..*k).map(move |_| *x));
            let before = kept(&ys, small).into_iter().take_while(|y| *y != 3);
            let want: Vec<i64> = spread.zip(before).map(|(x, y)| 2 * x - y).collect();
            let (x, y) = (Array::from(xs.clone()), Array::from(ys.clone()));
            let spread = Segmented::replicate(&x.map(|x| (x % 4).cast::<u64>()), &x);
            let before = smalls(&y).take_while(|y| y.ne(3));
            for (zipped, name) in [
                (
                    spread.data().zip_shortest(&before).map(|(x, y)| x * 2 - y),
                    "first",
                ),
                (
                    before.zip_shortest(spread.data()).map(|(y, x)| x * 2 - y),
                    "second",
                ),
            ] {
                assert_eq!(shape(&[zipped.node().clone()])?, (1, 1), "{name}");
                assert_eq!(zipped.force_with(&engine)?, want, "{name}, {n} and {m}");
            }
        }
    }
    Ok(())
}

/// A zip as an input, an input of a zip, and an input of a further zip.
#[test]
fn zips_of_zips() -> Result<()> {
    for engine in engines() {
        let (xs, ys, zs) = (numbers(1, 500), numbers(2, 400), numbers(3, 600));
        let (x, y, z) = (kept(&xs, even), kept(&ys, small), kept(&zs, small));
        let sums: Vec<i64> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
        let [xs, ys, zs] = [xs, ys, zs].map(Array::from);
        let inner = evens(&xs).zip_shortest(&smalls(&ys)).map(|(x, y)| x + y);
        let outer = inner.zip_shortest(&smalls(&zs)).map(|(s, z)| s * z);
        assert_eq!(shape(&[outer.node().clone()])?, (1, 1));
        let want: Vec<i64> = sums.iter().zip(&z).map(|(s, z)| s * z).collect();
        assert_eq!(outer.force_with(&engine)?, want);

        // All inputs of the outer zip end together, those of the inner zip do not.
        let as_many = iota(3 * sums.len() as u64).filter(|i| (i % 3).eq(1));
        let outer = inner.zip_with(&as_many, |s, i| s - i.cast::<i64>());
        assert_eq!(shape(&[outer.node().clone()])?, (1, 1));
        let want = (0..).zip(&sums).map(|(k, s)| s - 3 * k - 1);
        assert_eq!(outer.force_with(&engine)?, want.collect::<Vec<i64>>());

        // The inputs of the inner zip end together, and another consumer of one goes through
        // memory.
        let half = xs.filter(|x| (x % 2).eq(0)).map(|x| x + 1);
        let odd = zs.filter(|z| (z % 2).eq(0));
        let inner = half.zip_with(&odd.take(1_000), |a, b| a - b);
        let longer = iota(9_000).filter(|i| i.ge(10)).map(|i| i.cast::<i64>());
        let outer = longer.zip_shortest(&inner);
        let error = outer
            .force_with(&engine)
            .expect_err("sides of one that must end together");
        assert!(
            matches!(error.kind, ErrorKind::LengthMismatch { .. }),
            "{error}"
        );
    }
    Ok(())
}

/// Co-consumers would need all elements of an input, but its cursor may stop early.
#[test]
fn a_side_that_others_use_goes_through_memory() -> Result<()> {
    for engine in engines() {
        let (xs, ys) = (numbers(1, 500), numbers(2, 90));
        let (x, y) = (kept(&xs, even), kept(&ys, small));
        let (xs, ys) = (Array::from(xs), Array::from(ys));
        let left = evens(&xs);
        let zipped = left.zip_shortest(&smalls(&ys)).map(|(x, y)| x * y);
        let sum = left.sum();
        let roots = [zipped.node(), sum.node()].map(Arc::clone);
        assert_eq!(shape(&roots)?, (2, 2));
        let (zipped, sum) = (&zipped, &sum).force_with(&engine)?;
        assert!(y.len() < x.len());
        assert_eq!(sum, x.iter().sum::<i64>());
        let want: Vec<i64> = x.iter().zip(&y).map(|(x, y)| x * y).collect();
        assert_eq!(zipped.to_vec()?, want);
    }
    Ok(())
}

/// If all inputs are in memory, chunks run in any order, and elements are counted once.
#[test]
fn of_what_is_in_memory_any_chunk_may_run_first() -> Result<()> {
    for engine in engines() {
        for (n, m) in LENGTHS {
            let (xs, ys) = (numbers(n as u64, n), numbers(m as u64 + 7, m));
            let (x, y) = (kept(&xs, even), kept(&ys, small));
            let (xs, ys) = (Array::from(xs), Array::from(ys));
            let (left, right) = (evens(&xs), smalls(&ys));
            let zipped = left.zip_shortest(&right).map(|(x, y)| x * y);
            let (a, b) = (left.sum(), right.sum());
            let roots = [zipped.node(), a.node(), b.node()].map(Arc::clone);
            let explained = Engine::interp().explain(&roots)?;
            let last = explained.loops.last().expect("a loop");
            assert!(last.in_order.is_none(), "{explained}");
            assert!(last.program.groups.is_empty(), "{}", last.program);
            let (zipped, a, b) = (&zipped, &a, &b).force_with(&engine)?;
            assert_eq!((a, b), (x.iter().sum(), y.iter().sum()));
            let want: Vec<i64> = x.iter().zip(&y).map(|(x, y)| x * y).collect();
            assert_eq!(zipped.to_vec()?, want);
        }
    }
    Ok(())
}

/// A field that only a consumer with an exit needs, next to a field that is needed completely.
#[test]
fn fields_that_end_beside_one_that_is_kept() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![3i64, 1, 2]);
        let zipped = evens(&xs.map(|x| x * 2)).zip_shortest(&smalls(&xs));
        let (doubled, small) = zipped.unzip();
        let read = iota(3).map(|i| small.at(2 - i));
        let first = doubled.take(1);
        let (read, first) = (&read, &first).force_with(&engine)?;
        assert_eq!((read.to_vec()?, first.to_vec()?), (vec![2, 1, 3], vec![6]));
        // Also for arrays in step with each other.
        let kept = evens(&xs.map(|x| x * 2));
        let zipped = kept.map(|_| 7i64).zip_shortest(&kept);
        let (sevens, kept) = zipped.unzip();
        let read = iota(3).map(|i| kept.at(2 - i));
        let (read, none) = (&read, &sevens.take(0)).force_with(&engine)?;
        assert_eq!((read.to_vec()?, none.to_vec()?), (vec![4, 2, 6], vec![]));
    }
    Ok(())
}

/// Inputs of provably equal length are one input.
#[test]
fn streams_in_step_are_one_side() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(numbers(1, 5_000));
        let want = kept(&xs.to_vec()?, even);
        let kept = evens(&xs);
        let zipped = kept.map(|x| x + 1).zip_shortest(&kept);
        let differences = zipped.map(|(a, b)| a * 2 - b);
        let explained = Engine::interp().explain(&[differences.node().clone()])?;
        assert_eq!(explained.loops.len(), 1);
        let text = explained.loops[0].program.to_string();
        assert_eq!(text.matches(" cursor ").count(), 1, "{text}");
        let want: Vec<i64> = want.iter().map(|x| x + 2).collect();
        assert_eq!(differences.force_with(&engine)?, want);
    }
    Ok(())
}

#[test]
fn no_side_is_asked_for_more() -> Result<()> {
    for engine in engines() {
        // The second input ends first. The third would fail at its next element, the first at the
        // element after that.
        let quotients = |by: Vec<i64>| Array::from(by).map(|y| 60 / y).filter(|q| q.gt(0));
        let first = quotients(vec![6, 5, -1, 4, 0]);
        let ends = Array::from(vec![7i64, -3, 8, -9]).filter(|x| x.gt(0));
        let third = quotients(vec![-5, 3, 2, 0]);
        let zipped = zip_shortest((&first, &ends, &third)).map(|(a, b, c)| a * b - c);
        assert_eq!(shape(&[zipped.node().clone()])?, (1, 1));
        assert_eq!(zipped.force_with(&engine)?, [10 * 7 - 20, 12 * 8 - 30]);
        // An array in memory ends the zip before any input advances.
        let two = Array::from(vec![1i64, 2]);
        let zipped = quotients(vec![6, 5, 0])
            .zip_shortest(&two)
            .map(|(a, b)| a * b);
        assert_eq!(zipped.force_with(&engine)?, [10, 24]);
        // Elements before the end are evaluated.
        let zipped = quotients(vec![6, 5, -1, 0, 4]).zip_shortest(&ends.append(&two));
        let error = zipped
            .map(|(a, b)| a + b)
            .force_with(&engine)
            .expect_err("a division");
        assert!(matches!(error.kind, ErrorKind::Division { .. }), "{error}");
    }
    Ok(())
}

/// Segment lengths are checked against their data only by consumers that reach the end.
#[test]
fn lengths_behind_the_end_are_not_looked_at() -> Result<()> {
    for engine in engines() {
        let data = Array::from(vec![1i64, 2, 3, 4, 5, 6]);
        let rows = Segmented::new(&Array::from(vec![2u64, 3]), &data);
        let sums = rows.scan(0, |a, b| a + b);
        let some = |n: u64| {
            iota(2 * n)
                .filter(|i| (i % 2).eq(0))
                .map(|i| i.cast::<i64>())
        };
        for (fewer, more) in [(sums.data(), &some(9)), (&some(9), sums.data())] {
            let error = fewer
                .zip_shortest(more)
                .force_with(&engine)
                .expect_err("segments");
            assert!(matches!(error.kind, ErrorKind::Segments { .. }), "{error}");
        }
        let zipped = sums.data().zip_shortest(&some(4)).map(|(s, i)| s - i);
        assert_eq!(zipped.force_with(&engine)?, [1, 1, -1, 1]);
    }
    Ok(())
}

#[test]
fn unfused_it_reads_memory() -> Result<()> {
    let xs = Array::from(vec![1i64, 2, 3, 4, 6]);
    let zipped = evens(&xs).zip_shortest(&xs.filter(|x| x.gt(3)));
    let engine = Engine::builder().clustering(Clustering::Unfused).build();
    let explained = engine.explain(&[zipped.node().clone()])?;
    assert_eq!(explained.loops.len(), 3);
    assert_eq!(zipped.force_with(&engine)?, [(2, 4), (4, 6)]);
    let longer = evens(&xs).zip_shortest(&xs.filter(|x| x.gt(5)));
    assert_eq!(longer.force_with(&engine)?, [(2, 6)]);
    Ok(())
}

/// A zip or an append below an input ends with that input, so results come from another loop.
#[test]
fn results_below_what_ends_first() -> Result<()> {
    for engine in engines() {
        let (xs, ys) = (Array::from(vec![1i64, 2, 3, 4]), Array::from(vec![5i64, 6]));
        let (left, right) = (xs.filter(|x| x.gt(1)), xs.filter(|x| x.lt(4)));
        let inner = left.zip_with(&right, |l, r| l * r);
        let outer = inner.zip_shortest(&ys.filter(|y| y.gt(5)));
        let (outer, left) = (&outer, &left).force_with(&engine)?;
        assert_eq!(outer.to_vec()?, [(2, 6)]);
        assert_eq!(left.to_vec()?, [2, 3, 4]);
        let part = xs.filter(|x| x.gt(2));
        let outer = ys.zip_shortest(&ys.append(&part));
        let (outer, part) = (&outer, &part).force_with(&engine)?;
        assert_eq!(outer.to_vec()?, [(5, 5), (6, 6)]);
        assert_eq!(part.to_vec()?, [3, 4]);
    }
    Ok(())
}

/// A zip of equally long inputs, as an input of a zip of unequal ones. A result of its inputs is
/// still complete.
#[test]
fn results_on_the_sides_of_a_zip_below_are_whole() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![1i64, 2, 3, 4, 5, 6, 7]);
        let (high, low) = (xs.filter(|x| x.gt(1)), xs.filter(|x| x.lt(7)));
        let pairs = high.zip_with(&low, |h, l| h * 10 + l);
        let few = pairs.zip_shortest(&xs.filter(|x| x.gt(5)));
        let (few, high) = (&few, &high).force_with(&engine)?;
        assert_eq!(few, [(21, 6), (32, 7)]);
        assert_eq!(high, [2, 3, 4, 5, 6, 7]);
    }
    Ok(())
}
