//! Co-consumers: other consumers of a zip input fuse into its cursor without an intermediate array.

use crate::common::{engines, first_numbers as numbers, shape};
use livefusion::prelude::*;
use livefusion::{ErrorKind, Result};

fn evens(n: i64) -> Array<i64> {
    numbers(n).filter(|x| (x % 2).eq(0))
}

#[test]
fn folds_and_maps_of_a_side() -> Result<()> {
    for engine in engines() {
        let (left, right) = (evens(9), numbers(7).filter(|x| x.gt(3)));
        let zipped = left.zip_with(&right, |l, r| l * r);
        let (sum, count) = (left.map(|x| x + 1).sum(), right.len());
        let most = right.filter(|x| x.lt(6)).fold(0, |a, b| a.max(b));
        let roots = [zipped.node(), sum.node(), count.node(), most.node()];
        assert_eq!(shape(&roots)?, (1, 1));
        let (zipped, sum, count, most) = (&zipped, &sum, &count, &most).force_with(&engine)?;
        assert_eq!(zipped.to_vec()?, [8, 20, 36, 56]);
        assert_eq!((sum, count, most), (24, 4, 5));
    }
    Ok(())
}

#[test]
fn a_side_is_a_result() -> Result<()> {
    for engine in engines() {
        let (left, right) = (evens(9), numbers(7).filter(|x| x.gt(3)));
        let squares = left.map(|x| x * x);
        let zipped = squares.zip_with(&right, |l, r| l - r);
        let running = squares.scan(0, |a, b| a + b);
        let above = running.filter(|x| x.gt(10));
        let roots = [zipped.node(), left.node(), above.node(), running.node()];
        assert_eq!(shape(&roots)?, (1, 4));
        let (zipped, left, above, running) =
            (&zipped, &left, &above, &running).force_with(&engine)?;
        assert_eq!(zipped.to_vec()?, [0, 11, 30, 57]);
        assert_eq!(left.to_vec()?, [2, 4, 6, 8]);
        assert_eq!(above.to_vec()?, [20, 56, 120]);
        assert_eq!(running.to_vec()?, [4, 20, 56, 120]);
    }
    Ok(())
}

#[test]
fn totals_of_scans_and_floats() -> Result<()> {
    for engine in engines() {
        let xs = evens(99).map(|x| x.cast::<f64>() / 2.0);
        let (sums, total) = xs.scan_with_total(0.0, |a, b| a + b);
        let others = numbers(150).filter(|x| (x % 3).eq(0)).filter(|x| x.lt(148));
        let zipped = sums.zip_with(&others, |s, o| s - o.cast::<f64>());
        let largest = xs.fold(0.0, |a, b| a.max(b));
        let ends = [zipped.node(), total.node(), largest.node()];
        assert_eq!(shape(&ends)?, (1, 1));
        let (zipped, total, largest) = (&zipped, &total, &largest).force_with(&engine)?;
        assert_eq!((zipped.len(), total, largest), (49, 1225.0, 49.0));
    }
    Ok(())
}

/// Elements of segments, per-segment values, and both inputs.
#[test]
fn co_consumers_at_elements_and_at_segments() -> Result<()> {
    for engine in engines() {
        let counts = Array::from(vec![2u64, 0, 3]);
        let values = numbers(3).map(|x| x * 10);
        let spread = Segmented::replicate(&counts, &values);
        let right = Segmented::replicate(&Array::from(vec![4u64, 1]), &numbers(2));
        let zipped = spread.data().zip_with(right.data(), |l, r| l + r);
        let of_values = values.sum();
        let of_elements = spread.data().sum();
        let large = right.data().filter(|x| x.gt(1));
        let roots = [
            zipped.node(),
            of_values.node(),
            of_elements.node(),
            large.node(),
        ];
        assert_eq!(shape(&roots)?, (1, 2));
        let all = (&zipped, &of_values, &of_elements, &large).force_with(&engine)?;
        assert_eq!(all.0.to_vec()?, [11, 11, 31, 31, 32]);
        assert_eq!((all.1, all.2, all.3.to_vec()?), (60, 110, vec![2]));
    }
    Ok(())
}

/// A consumer that the zip depends on cannot join it: its result is complete only after a loop over
/// the input.
#[test]
fn co_consumer_that_a_zip_waits_for_comes_before_it() -> Result<()> {
    for engine in engines() {
        let left = evens(9);
        let sum = left.sum();
        let right = numbers(7).filter(|x| x.gt(3)).map(|x| x * &sum);
        let zipped = left.zip_with(&right, |l, r| l + r);
        assert_eq!(shape(&[zipped.node(), sum.node()])?.0, 2);
        let (zipped, sum) = (&zipped, &sum).force_with(&engine)?;
        assert_eq!((zipped.to_vec()?, sum), (vec![82, 104, 126, 148], 20));
    }
    Ok(())
}

/// Two zips, each of which needs results of the other's co-consumers: one of them comes first.
#[test]
fn zips_that_wait_for_co_consumers_of_each_other() -> Result<()> {
    for engine in engines() {
        let (a, b) = (evens(9), numbers(7).filter(|x| x.gt(3)));
        let (c, d) = (
            numbers(5).filter(|x| x.ne(2)),
            numbers(8).filter(|x| x.gt(4)),
        );
        let of_c = c.sum();
        let first = a.map(|x| x * &of_c).zip_with(&b, |x, y| x + y);
        let of_a = a.sum();
        let second = c.map(|x| x * &of_a).zip_with(&d, |x, y| x + y);
        let (first, second, of_a, of_c) = (&first, &second, &of_a, &of_c).force_with(&engine)?;
        assert_eq!((of_a, of_c), (20, 13));
        assert_eq!(first.to_vec()?, [30, 57, 84, 111]);
        assert_eq!(second.to_vec()?, [25, 66, 87, 108]);
    }
    Ok(())
}

/// Co-consumers of a zip that is itself an input, and of its inputs.
#[test]
fn co_consumers_of_zips_on_sides() -> Result<()> {
    for engine in engines() {
        let (a, b) = (evens(9), numbers(7).filter(|x| x.gt(3)));
        let pairs = a.zip_with(&b, |x, y| x + y);
        let c = numbers(5).filter(|x| x.gt(2));
        let kept = pairs.filter(|x| x.ne(9));
        let zipped = kept.zip_with(&c, |x, y| x * y);
        let (of_a, of_pairs, of_c) = (a.sum(), pairs.sum(), c.map(|x| -x).sum());
        let roots = [zipped.node(), of_a.node(), of_pairs.node(), of_c.node()];
        assert_eq!(shape(&roots)?, (1, 1));
        let all = (&zipped, &of_a, &of_pairs, &of_c).force_with(&engine)?;
        assert_eq!(
            (all.0.to_vec()?, all.1, all.2, all.3),
            (vec![18, 48, 75], 20, 42, -12)
        );
    }
    Ok(())
}

/// The segments that a filter keeps are a result. Their elements use them from registers, without
/// another read.
#[test]
fn segments_are_results() -> Result<()> {
    for engine in engines() {
        let kept = Array::from(vec![2u64, 9, 1]).filter(|x| x.lt(5));
        let spread = Segmented::replicate(&kept, &kept);
        let others = numbers(5).filter(|x| x.gt(2));
        let zipped = spread.data().zip_with(&others, |k, o| k.cast::<i64>() * o);
        assert_eq!(shape(&[zipped.node(), kept.node()])?, (1, 2));
        let (zipped, kept) = (&zipped, &kept).force_with(&engine)?;
        assert_eq!(
            (zipped.to_vec()?, kept.to_vec()?),
            (vec![6, 8, 5], vec![2, 1])
        );
    }
    Ok(())
}

/// A co-consumer of a zip inside another zip belongs to the outer loop.
#[test]
fn a_co_consumer_comes_behind_the_outermost_zip() -> Result<()> {
    for engine in engines() {
        let rows = Segmented::new(&Array::from(vec![1u64]), &numbers(1));
        let inner = rows
            .scan(0, |a, b| a + b)
            .data()
            .zip_with(&evens(3), |a, b| a + b);
        let outer = numbers(2)
            .filter(|x| x.gt(1))
            .zip_with(&inner, |a, b| a * b);
        let co_consumer = inner.filter(|x| x.gt(1));
        let last = numbers(4)
            .filter(|x| x.gt(3))
            .zip_with(&outer, |a, b| a - b);
        assert_eq!(shape(&[co_consumer.node(), last.node()])?, (1, 2));
        let (co_consumer, last) = (&co_consumer, &last).force_with(&engine)?;
        assert_eq!((co_consumer.to_vec()?, last.to_vec()?), (vec![3], vec![-2]));
    }
    Ok(())
}

/// An array zipped with elements derived from it is read at its own rate.
#[test]
fn co_consumer_of_one_side_is_not_delivered_from_another() -> Result<()> {
    for engine in engines() {
        let rows = Segmented::new(&Array::from(vec![2u64, 0, 1]), &numbers(3));
        let sums = rows.sum();
        let spread = Segmented::replicate(&Array::from(vec![3u64, 0, 0]), &sums);
        let zipped = sums.zip_with(spread.data(), |s, x| s * 10 + x);
        assert_eq!(zipped.force_with(&engine)?, [33, 3, 33]);
    }
    Ok(())
}

/// Segment lengths that depend on a co-consumer, through data that another node cuts by them.
#[test]
fn a_co_consumer_that_lengths_depend_on() -> Result<()> {
    for engine in engines() {
        let (none, zero) = (Array::from(Vec::<i64>::new()), Array::from(vec![0u64]));
        let spread = Segmented::replicate(&zero, &numbers(1));
        let zipped = none.zip_with(spread.data(), |x, y| x + y);
        let count = spread.data().len();
        let counts = Segmented::new(
            &Array::from(vec![0u64]),
            &zero.map(|_| 0u64).filter(|x| x.gt(0)),
        );
        let counts = counts.fold(0, |a, b| a + b + &count).map(|n| n * 1);
        let running =
            Segmented::new(&counts, &Array::from(Vec::<i64>::new())).scan(0, |a, b| a + b);
        let (running, zipped) = (running.data(), &zipped).force_with(&engine)?;
        assert_eq!((running.len(), zipped.len()), (0, 0));
    }
    Ok(())
}

/// An unrelated exit does not end other loops.
#[test]
fn an_end_of_something_else() -> Result<()> {
    for engine in engines() {
        let (left, right) = (evens(9), numbers(7).filter(|x| x.gt(3)));
        let product = left.zip_with(&right, |l, r| l * r).sum();
        let sum = left.sum();
        let first = numbers(8).take_while(|x| x.lt(5)).sum();
        assert_eq!(shape(&[product.node(), sum.node()])?, (1, 0));
        assert_eq!(shape(&[product.node(), sum.node(), first.node()])?, (2, 0));
        let all = (&product, &sum, &first).force_with(&engine)?;
        assert_eq!(all, (120, 20, 10));
    }
    Ok(())
}

/// Other consumers see all elements of an input with an exit, up to that exit.
#[test]
fn a_side_that_ends() -> Result<()> {
    for engine in engines() {
        let kept = numbers(9).filter(|x| (x % 2).eq(0));
        let left = kept.take_while(|x| x.lt(7));
        let right = numbers(6).filter(|x| x.gt(3));
        let product = left.zip_with(&right, |l, r| l * r).sum();
        let (sum, most) = (left.map(|x| x + 1).sum(), right.fold(0, |a, b| a.max(b)));
        let roots = [product.node(), sum.node(), most.node()];
        assert_eq!(shape(&roots)?, (1, 0));
        let all = (&product, &sum, &most).force_with(&engine)?;
        assert_eq!(all, (64, 15, 6));
        // The elements after the exit are requested too.
        let of_kept = kept.sum();
        let (product, of_kept) = (&product, &of_kept).force_with(&engine)?;
        assert_eq!((product, of_kept), (64, 20));
    }
    Ok(())
}

/// A zip with an early exit has not read all elements of its inputs.
#[test]
fn a_zip_that_ends() -> Result<()> {
    for engine in engines() {
        let (left, right) = (evens(9), numbers(7).filter(|x| x.gt(3)));
        let first = left.zip_with(&right, |l, r| l * r).find(|x| x.gt(10));
        let sum = left.sum();
        let (first, sum) = (&first, &sum).force_with(&engine)?;
        assert_eq!((first, sum), (20, 20));
    }
    Ok(())
}

/// Co-consumers of two arrays of one input, and of an input with an unfused input in memory.
#[test]
fn co_consumers_of_several_arrays() -> Result<()> {
    for engine in engines() {
        let (left, right) = (evens(9), numbers(7).filter(|x| x.gt(3)));
        let halves = left.map(|x| x / 2);
        let zipped = halves.zip_with(&right, |l, r| l * r);
        // Two arrays of the input, one of which is a co-consumer's result; and one array in memory.
        let running = left.scan(0, |a, b| a + b);
        let both = left.zip_with(&running, |l, s| s - l).sum();
        let weights = Array::from(vec![1i64, 10, 100, 1000]);
        let weighted = (&halves, &weights).zip_with(|h, w| h * w).sum();
        let large = running.pack(&halves.map(|h| h.gt(2))).sum();
        let tags = Array::from(vec![true, false, false, true]);
        let chosen = left.pack(&tags);
        let pairs = chosen.zip(&halves.pack(&tags));
        let roots = [
            zipped.node(),
            both.node(),
            weighted.node(),
            large.node(),
            pairs.node(),
        ];
        let packs_by_one = chosen.zip_with(&chosen.map(|x| -x), |a, b| a * b).sum();
        assert_eq!(shape(&roots[..4])?, (1, 1));
        assert_eq!(
            shape(&[zipped.node(), chosen.node(), packs_by_one.node()])?,
            (1, 2)
        );
        let sums = (&both, &weighted, &large, &packs_by_one).force_with(&engine)?;
        assert_eq!(sums, (20, 4321, 32, -68));
        let (zipped, pairs) = (&zipped, &pairs).force_with(&engine)?;
        assert_eq!(zipped.to_vec()?, [4, 10, 18, 28]);
        assert_eq!(pairs.to_vec()?, [(2, 1), (8, 4)]);
    }
    Ok(())
}

/// A co-consumer reports an unfused input whose length differs from the zip input.
#[test]
fn an_array_of_another_length_beside_a_co_consumer() -> Result<()> {
    for engine in engines() {
        for n in [3, 5] {
            let (left, right) = (evens(9), numbers(7).filter(|x| x.gt(3)));
            let zipped = left.zip_with(&right, |l, r| l * r);
            let beside = left.zip_with(&numbers(n), |l, n| l * n).sum();
            assert_eq!(shape(&[zipped.node(), beside.node()])?, (1, 1));
            let found = (&zipped, &beside).force_with(&engine);
            let kind = found.err().map(|e| e.kind);
            let is_length = matches!(kind, Some(ErrorKind::LengthMismatch { .. }));
            assert!(is_length, "{kind:?}");
        }
    }
    Ok(())
}

/// Elements of segments next to an array in memory, and next to each other.
#[test]
fn co_consumers_of_several_arrays_at_elements() -> Result<()> {
    for engine in engines() {
        let counts = Array::from(vec![2u64, 0, 3]);
        let spread = Segmented::replicate(&counts, &numbers(3));
        let right = numbers(9).filter(|x| (x % 2).eq(1));
        let zipped = spread.data().zip_with(&right, |l, r| l * r);
        let beside = spread.data().zip_with(&numbers(5), |x, n| x * n).sum();
        let running = spread.data().scan(0, |a, b| a + b);
        let both = running.zip_with(spread.data(), |s, x| s - x).sum();
        let roots = [zipped.node(), beside.node(), both.node()];
        assert_eq!(shape(&roots)?, (1, 1));
        let all = (&zipped, &beside, &both).force_with(&engine)?;
        assert_eq!(all.0.to_vec()?, [1, 3, 15, 21, 27]);
        assert_eq!((all.1, all.2), (39, 16));
    }
    Ok(())
}
