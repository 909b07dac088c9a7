//! Zips of streams with different rates: one loop that advances each input to its next element.
//!
//! `LOOP_BLESS=1 cargo test -p livefusion` rewrites the golden file.

use crate::common::filters::{even, evens, kept, numbers, small, smalls};
use crate::common::{engines, golden, shape};
use livefusion::prelude::*;
use livefusion::{Clustering, Elt, Error, ErrorKind, Result};
use std::sync::Arc;

fn error<T: Elt>(xs: &Array<T>, engine: &Engine) -> Error {
    xs.force_with(engine).expect_err("a mistake")
}

/// Numbers with equal counts: as many pass `p` as pass `q` among the other numbers.
fn with_as_many(xs: &[i64], p: fn(&i64) -> bool, q: fn(&i64) -> bool) -> Vec<i64> {
    let mut wanted = xs.iter().filter(|x| p(x)).count();
    let mut ys = numbers(xs.len() as u64 + 7, 3 * xs.len() + 50);
    ys.retain(|y| {
        let admitted = q(y);
        let keep = !admitted || wanted > 0;
        wanted -= usize::from(admitted && keep);
        keep
    });
    ys.extend(std::iter::repeat_n(0, wanted));
    ys
}

const LENGTHS: [usize; 6] = [0, 1, 2, 9, 300, 40_000];

/// A zip's loop cannot be split within an input. An input with too much code for one loop goes
/// through memory.
#[test]
fn a_side_of_much_code_goes_through_memory() -> Result<()> {
    let (xs, ys) = (numbers(3, 400), numbers(5, 400));
    let long = |mut x: i64| {
        for k in 0..700 {
            x ^= k;
        }
        x
    };
    let (a, b) = (kept(&xs, even), kept(&ys, small));
    let len = a.len().min(b.len());
    let want: Vec<i64> = a[..len].iter().zip(&b).map(|(x, y)| long(*x) - y).collect();
    for engine in engines() {
        let mut left = evens(&Array::from(xs.clone())).take(len as u64);
        for k in 0..700i64 {
            left = left.map(move |x| x ^ k);
        }
        let right = smalls(&Array::from(ys.clone())).take(len as u64);
        let zipped = left.zip_with(&right, |x, y| x - y);
        let explained = Engine::interp().explain(&[zipped.node().clone()])?;
        let combinators: Vec<usize> = explained
            .loops
            .iter()
            .map(|l| l.program.combs.len())
            .collect();
        let fits = |n: &usize| *n < 600;
        assert!(
            combinators.len() > 2 && combinators.iter().all(fits),
            "{combinators:?}"
        );
        assert_eq!(zipped.force_with(&engine)?, want);
    }
    Ok(())
}

#[test]
fn two_filters_are_one_loop() -> Result<()> {
    let (xs, ys) = (Array::from(vec![1i64, -2, 3]), Array::from(vec![-1i64, -4]));
    let (left, right) = (xs.filter(|x| x.gt(0)), ys.filter(|y| y.lt(0)));
    let products = left.zip_with(&right, |x, y| x * y);
    assert_eq!(shape(&[products.node().clone()])?, (1, 1));
    let explained = Engine::interp().explain(&[products.node().clone()])?;
    let text = explained.loops[0].program.to_string();
    golden("zip_of_filters.loop", &text);
    let why = "`manifest` advances a stream on demand";
    assert!(explained.to_string().contains(why), "{explained}");
    Ok(())
}

#[test]
fn values() -> Result<()> {
    for engine in engines() {
        for n in LENGTHS {
            let xs = numbers(n as u64, n);
            let ys = with_as_many(&xs, even, small);
            let want = kept(&xs, even).into_iter().zip(kept(&ys, small));
            let want: Vec<i64> = want.map(|(x, y)| 3 * x - y).collect();
            let (xs, ys) = (Array::from(xs), Array::from(ys));
            let zipped = evens(&xs).zip(&smalls(&ys)).map(|(x, y)| x * 3 - y);
            assert_eq!(shape(&[zipped.node().clone()])?, (1, 1));
            assert_eq!(zipped.force_with(&engine)?, want);
        }
    }
    Ok(())
}

#[test]
fn two_filters_of_one_array() -> Result<()> {
    for engine in engines() {
        for n in LENGTHS {
            // As many even as odd numbers, in any order.
            let half = numbers(n as u64, n).into_iter().map(|x| 2 * x);
            let mut xs: Vec<i64> = half.flat_map(|x| [x, 199 - x]).collect();
            xs.sort_unstable();
            let [evens, odds] = [0, 1].map(|k| xs.iter().copied().filter(move |x| x % 2 == k));
            let want: Vec<i64> = evens.zip(odds).map(|(x, y)| x * 1000 + y).collect();
            let xs = Array::from(xs);
            let [evens, odds] = [0, 1].map(|k| xs.filter(move |x| (x % 2).eq(k)));
            let zipped = evens.zip_with(&odds, |x, y| x * 1000 + y);
            assert_eq!(shape(&[zipped.node().clone()])?, (1, 1));
            assert_eq!(zipped.force_with(&engine)?, want);
        }
    }
    Ok(())
}

#[test]
fn three_sides_and_one_in_memory() -> Result<()> {
    for engine in engines() {
        for n in LENGTHS {
            let xs = numbers(n as u64, n);
            let ys = with_as_many(&xs, even, small);
            let zs = with_as_many(&xs, even, |z| z % 3 == 0);
            let left = kept(&xs, even);
            let ws = numbers(5, left.len());
            let want = left.iter().zip(kept(&ys, small));
            let want = want.zip(kept(&zs, |z| z % 3 == 0)).zip(&ws);
            let want: Vec<i64> = want.map(|(((x, y), z), w)| x + 7 * y - z * w).collect();
            let [xs, ys, zs, ws] = [xs, ys, zs, ws].map(Array::from);
            // Each input is a pipeline of its own: maps, a scan, filters of filters.
            let x = evens(&xs.map(|x| x + 2)).map(|x| x - 2);
            let sums = ys.scan(0, |a, b| a + b);
            let y = ys.zip(&sums).filter(|(y, _)| y.lt(30)).map(|(y, _)| y);
            let z = zs.filter(|z| z.ge(0)).filter(|z| (z % 3).eq(0));
            let zipped = (&x, &y, &z, &ws).zip_with(|x, y, z, w| x + y * 7 - z * w);
            assert_eq!(shape(&[zipped.node().clone()])?, (1, 1));
            assert_eq!(zipped.force_with(&engine)?, want);
        }
    }
    Ok(())
}

#[test]
fn a_scan_behind_a_filter() -> Result<()> {
    for engine in engines() {
        for n in LENGTHS {
            let xs = numbers(n as u64, n);
            let ys = with_as_many(&xs, even, small);
            let mut sum = 0.0;
            let sums = kept(&xs, even).into_iter().map(|x| {
                sum += x as f64;
                sum
            });
            let want: Vec<f64> = sums
                .zip(kept(&ys, small))
                .map(|(s, y)| s * y as f64)
                .collect();
            let (xs, ys) = (Array::from(xs), Array::from(ys));
            let sums = evens(&xs).map(|x| x.cast::<f64>()).scan(0.0, |a, b| a + b);
            let zipped = sums.zip_with(&smalls(&ys), |s, y| s * y.cast::<f64>());
            assert_eq!(shape(&[zipped.node().clone()])?, (1, 1));
            assert_eq!(zipped.force_with(&engine)?, want);
        }
    }
    Ok(())
}

#[test]
fn consumers_join_the_loop() -> Result<()> {
    for engine in engines() {
        for n in LENGTHS {
            let xs = numbers(n as u64, n);
            let ys = with_as_many(&xs, even, small);
            let sums = kept(&xs, even).into_iter().zip(kept(&ys, small));
            let sums: Vec<i64> = sums.map(|(x, y)| x + y).filter(|s| *s > 40).collect();
            let running = sums.iter().scan(0, |sum, x| {
                *sum += x;
                Some(*sum)
            });
            let (running, most) = (running.collect::<Vec<i64>>(), sums.iter().copied().max());
            let (xs, ys) = (Array::from(xs), Array::from(ys));
            let zipped = evens(&xs).zip_with(&smalls(&ys), |x, y| x + y);
            let above = zipped.filter(|s| s.gt(40));
            let total = above.scan(0, |a, b| a + b);
            let largest = above.fold(i64::MIN, |a, b| a.max(b));
            let count = zipped.len();
            let roots = [total.node(), largest.node(), count.node()].map(Arc::clone);
            assert_eq!(shape(&roots)?, (1, 1));
            let (total, largest, count) = (&total, &largest, &count).force_with(&engine)?;
            assert_eq!(total, running);
            assert_eq!(largest, most.unwrap_or(i64::MIN));
            assert_eq!(count, kept(&xs.to_vec()?, even).len() as u64);
        }
    }
    Ok(())
}

#[test]
fn both_sides_are_results() -> Result<()> {
    for engine in engines() {
        let xs = numbers(3, 300);
        let ys = with_as_many(&xs, even, small);
        let want = kept(&xs, even).into_iter().zip(kept(&ys, small));
        let want: Vec<(i64, i64)> = want.collect();
        let (xs, ys) = (Array::from(xs), Array::from(ys));
        let zipped = evens(&xs).zip(&smalls(&ys));
        assert_eq!(shape(&[zipped.node().clone()])?, (1, 2));
        assert_eq!(zipped.force_with(&engine)?, want);
    }
    Ok(())
}

#[test]
fn others_that_need_a_side_run_along() -> Result<()> {
    for engine in engines() {
        let xs = numbers(3, 300);
        let ys = with_as_many(&xs, even, small);
        let (left, right) = (kept(&xs, even), kept(&ys, small));
        let want: Vec<i64> = left.iter().zip(&right).map(|(x, y)| x * y).collect();
        let (xs, ys) = (Array::from(xs), Array::from(ys));
        let shared = evens(&xs);
        let zipped = shared.zip_with(&smalls(&ys), |x, y| x * y);
        let sum = shared.sum();
        assert_eq!(shape(&[zipped.node().clone(), sum.node().clone()])?, (1, 1));
        let (zipped, sum) = (&zipped, &sum).force_with(&engine)?;
        assert_eq!((zipped.to_vec()?, sum), (want, left.iter().sum()));
    }
    Ok(())
}

#[test]
fn a_side_that_the_zip_reads_at_random_goes_through_memory() -> Result<()> {
    for engine in engines() {
        let (xs, ys) = (
            Array::from(vec![1i64, 2, 4]),
            Array::from(vec![50i64, 3, 7]),
        );
        let left = evens(&xs);
        let zipped = left.zip_with(&smalls(&ys), |x, y| x + y * left.at(1));
        assert_eq!(shape(&[zipped.node().clone()])?, (3, 2));
        assert_eq!(zipped.force_with(&engine)?, [14, 32]);
    }
    Ok(())
}

#[test]
fn unequal_lengths_are_found() -> Result<()> {
    let of = |n: i64| {
        iota(2 * n as u64)
            .map(|i| i.cast::<i64>())
            .filter(move |i| i.lt(n))
    };
    let in_memory = |n: i64| Array::from((0..n).collect::<Vec<_>>());
    for engine in engines() {
        for (n, m) in [(0, 1), (1, 0), (3, 5), (5, 3), (300, 17)] {
            let lengths = |got: i64, expected: i64| ErrorKind::LengthMismatch {
                got: got as u64,
                expected: expected as u64,
            };
            // The longer input has exactly one element more.
            let (x, y) = (of(n), of(m).map(|i| i + 1));
            let error_of =
                |zip: &Array<i64>| (error(zip, &engine).combinator, error(zip, &engine).kind);
            let least = n.min(m);
            let want = lengths(m.min(least + 1), n.min(least + 1));
            assert_eq!(error_of(&x.zip_with(&y, |x, y| x + y)), ("zip_with", want));
            let zipped = x.zip(&y).map(|(x, y)| x + y);
            assert_eq!(error_of(&zipped).0, "zip");
            // An array in memory has a known length.
            let others = iota(3 * n as u64 + 1).map(|i| i.cast::<i64>());
            let three = (&x, &others.filter(move |x| x.lt(n)), &in_memory(m));
            let want = lengths(m, n.min(least + 1));
            assert_eq!(error_of(&three.zip_with(|a, b, c| a + b + c)).1, want);
            let three = (&x, &x.map(|x| x + 1).filter(|x| x.gt(0)), &in_memory(m));
            let want = lengths(m, n);
            assert_eq!(error_of(&three.zip_with(|a, b, c| a + b + c)).1, want);
            // A filter on the other input leaves fewer elements.
            let fewer = x.zip_with(&x.filter(|x| x.lt(n - 1)), |a, b| a + b);
            let want = (n > 0).then(|| lengths(n - 1, n));
            assert_eq!(fewer.force_with(&engine).err().map(|e| e.kind), want);
        }
    }
    Ok(())
}

#[test]
fn cursor_behind_the_end_does_not_trap() -> Result<()> {
    for engine in engines() {
        let (xs, ys) = (
            Array::from(vec![8i64, 1, 6]),
            Array::from(vec![2i64, 3, 100, 50]),
        );
        let quotients = evens(&xs).zip_with(&smalls(&ys), |x, y| x / y);
        assert_eq!(quotients.force_with(&engine)?, [4, 2]);
        // Nothing is computed for the missing elements; only the length error is reported.
        let fewer = evens(&xs).zip_with(&ys.filter(|y| y.gt(90)), |x, y| y / (x - 6));
        let kind = error(&fewer, &engine).kind;
        assert!(matches!(kind, ErrorKind::LengthMismatch { .. }), "{kind:?}");
    }
    Ok(())
}

#[test]
fn unfused_zips_read_memory() -> Result<()> {
    let xs = Array::from(vec![1i64, 2, 3, 4]);
    let zipped = evens(&xs).zip_with(&xs.filter(|x| x.gt(2)), |x, y| x * y);
    let engine = Engine::builder().clustering(Clustering::Unfused).build();
    let explained = engine.explain(&[zipped.node().clone()])?;
    assert_eq!(explained.loops.len(), 3);
    assert_eq!(zipped.force_with(&engine)?, [6, 16]);
    Ok(())
}

/// A count of filtered elements has the filter's rate, which an input of a zip elsewhere lacks.
#[test]
fn cursor_over_counted_elements_is_in_memory_beside_others() -> Result<()> {
    for engine in engines() {
        let kept = Array::from(vec![1.0f64, 2.0, 3.0])
            .map(|x| x + 1.0)
            .filter(|x| x.gt(2.0));
        let ones = generate(kept.len(), |i| i.cast::<f64>() + 1.0);
        let beside = Array::from(vec![5.0f64, 6.0]).map(|x| x * 2.0);
        let both = beside.zip_with(&ones, |a, b| a * b);
        let sums = ones.scan(0.0, |a, b| a + b);
        let zipped = sums.zip_with(&both, |a, b| a - b);
        assert_eq!(zipped.force_with(&engine)?, [-9.0, -21.0]);

        let kept = Array::from(vec![1.0f64, 2.0, 3.0, 9.0, 4.0]).filter(|x| x.lt(9.0));
        let ones = generate(generate(kept.len(), |i| i).len(), |_| 1.0);
        let four = Array::from(vec![1.0f64, 2.0, 3.0, 4.0]);
        let computed = Segmented::replicate(&Array::from(vec![4u64]), &Array::from(vec![10.0]));
        let side = four.zip_with(&ones, |a, b| a + b);
        let zipped = computed.data().zip_with(&side, |a, b| a + b);
        assert_eq!(zipped.force_with(&engine)?, [12.0, 13.0, 14.0, 15.0]);
    }
    Ok(())
}

/// Appends next to inputs with other rates: the cursor advances through their parts in order.
#[test]
fn appends_are_sides() -> Result<()> {
    for engine in engines() {
        for n in LENGTHS {
            let (xs, ys) = (numbers(n as u64, n), numbers(n as u64 + 1, n / 2));
            let mut both = kept(&xs, even);
            both.extend(kept(&ys, small));
            let zs = with_as_many(&both, |_| true, |z| z % 3 == 0);
            let want = both.iter().zip(kept(&zs, |z| z % 3 == 0));
            let want: Vec<i64> = want.map(|(x, z)| x * 1000 - z).collect();
            let [xs, ys, zs] = [xs, ys, zs].map(Array::from);
            let both = evens(&xs).append(&smalls(&ys));
            let thirds = zs.filter(|z| (z % 3).eq(0));
            let zipped = both.zip_with(&thirds, |x, z| x * 1000 - z);
            assert_eq!(shape(&[zipped.node().clone()])?, (1, 1));
            assert_eq!(zipped.force_with(&engine)?, want);
            let sum = thirds.zip_with(&both, |z, x| z - x).sum();
            assert_eq!(shape(&[sum.node().clone()])?, (1, 0));
        }
    }
    Ok(())
}

/// Parts in memory, generated parts, and parts of segments, zips and appends. Consumers of an
/// append continue from part to part.
#[test]
fn parts_of_all_kinds() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![4i64, 7, 2]);
        let counts = Array::from(vec![2u64, 0, 1]);
        let spread = Segmented::replicate(&counts, &xs);
        let pairs = evens(&xs).zip_with(&xs.filter(|x| x.gt(3)), |a, b| a * b);
        let rest = iota(4).map(|i| i.cast::<i64>() * 2);
        let inner = xs.append(&xs.filter(|x| x.lt(5))).map(|x| x + 1);
        let first = concat([&xs, spread.data(), &pairs]);
        let second = concat([&rest, &inner, &xs]);
        let first_want = [4i64, 7, 2, 4, 4, 2, 16, 14];
        let second_want = [0i64, 2, 4, 6, 5, 8, 3, 5, 3, 4, 7, 2];
        for (all, want) in [(first, &first_want[..]), (second, &second_want[..])] {
            let n = want.len() as i64;
            let others = Array::from((0..40).collect::<Vec<i64>>()).filter(|x| (x % 2).eq(0));
            let others = others.take_while(|x| x.lt(2 * n));
            let running = all.scan(0, |a, b| a + b);
            let zipped = running.zip_with(&others, |a, b| a * 100 + b);
            assert_eq!(shape(&[zipped.node().clone()])?, (1, 1));
            let mut sum = 0;
            let want = want.iter().zip(0..).map(|(x, k)| {
                sum += x;
                sum * 100 + 2 * k
            });
            assert_eq!(zipped.force_with(&engine)?, want.collect::<Vec<i64>>());
        }
    }
    Ok(())
}

/// One array in memory serves as several parts, and an append is empty.
#[test]
fn one_array_as_several_parts() -> Result<()> {
    for engine in engines() {
        for n in LENGTHS {
            let xs = numbers(n as u64, n);
            let want: Vec<i64> = xs.iter().chain(&xs).chain(&xs).copied().collect();
            let ys = with_as_many(&want, |_| true, small);
            let want = want.iter().zip(kept(&ys, small)).map(|(x, y)| x - y);
            let want: Vec<i64> = want.collect();
            let (xs, ys) = (Array::from(xs), Array::from(ys));
            let thrice = concat(&[xs.clone(), xs.clone(), xs]);
            let zipped = thrice.zip_with(&smalls(&ys), |x, y| x - y);
            assert_eq!(shape(&[zipped.node().clone()])?, (1, 1));
            assert_eq!(zipped.force_with(&engine)?, want);
        }
    }
    Ok(())
}

/// Segment lengths that come from an append, an unfused input, inner segments, and other consumers
/// of the append and its parts.
#[test]
fn cursor_over_an_append_maps_and_filters() -> Result<()> {
    for engine in engines() {
        let counts = Array::from(vec![2u64, 9, 1]).filter(|n| n.lt(5));
        let more = Array::from(vec![0u64, 7, 3]).filter(|n| n.lt(5));
        let all = counts.append(&more);
        let spread = Segmented::replicate(&all, &all.map(|n| n * 10));
        let others = iota(12).filter(|i| (i % 2).eq(0));
        let zipped = spread.data().zip_with(&others, |x, i| x + i);
        assert_eq!(shape(&[zipped.node().clone()])?, (1, 1));
        assert_eq!(zipped.force_with(&engine)?, [20, 22, 14, 36, 38, 40]);

        let beside = all.zip_with(&Array::from(vec![1u64, 2, 3, 4]), |n, k| n * k);
        let odds = iota(8).filter(|i| (i % 2).eq(1));
        let zipped = beside.zip_with(&odds, |x, i| x + i);
        let (sum, of_more) = (all.sum(), more.map(|n| n + 1).sum());
        let roots = [zipped.node(), all.node(), sum.node(), of_more.node()];
        assert_eq!(shape(&roots)?, (1, 2));
        let found = (&zipped, &all, &sum, &of_more).force_with(&engine)?;
        assert_eq!(found.0.to_vec()?, [3, 5, 5, 19]);
        assert_eq!(
            (found.1.to_vec()?, found.2, found.3),
            (vec![2, 1, 0, 3], 6, 5)
        );
    }
    Ok(())
}

/// The length of an append is checked against the other inputs and against arrays in memory.
#[test]
fn unequal_lengths_of_appends_are_found() -> Result<()> {
    let of = |n: i64| {
        iota(2 * n as u64)
            .map(|i| i.cast::<i64>())
            .filter(move |i| i.lt(n))
    };
    for engine in engines() {
        for (n, m, k) in [(2, 1, 2), (1, 0, 2), (3, 5, 7), (5, 3, 9), (300, 17, 0)] {
            let both = of(n).append(&of(m));
            let zipped = both.zip_with(&of(k), |x, y| x + y);
            let kind = error(&zipped, &engine).kind;
            assert!(matches!(kind, ErrorKind::LengthMismatch { .. }), "{kind:?}");
            let beside = Array::from((0..k).collect::<Vec<i64>>());
            let zipped = both.zip_with(&beside, |x, y| x + y);
            let zipped = zipped.zip_with(&of(n + m), |x, y| x + y);
            let kind = error(&zipped, &engine).kind;
            assert!(matches!(kind, ErrorKind::LengthMismatch { .. }), "{kind:?}");
        }
    }
    Ok(())
}
