//! Zips of segment elements: a cursor over elements asks a cursor over their segments.
//!
//! The outer cursor advances to the next non-empty segment.

use crate::common::{engines, first_numbers as numbers, shape};
use livefusion::prelude::*;
use livefusion::{Clustering, Elt, Error, ErrorKind, Result};

/// Builds an array in one loop, with only its result in memory, and runs it on every engine.
fn one_loop<T: Elt + PartialEq + std::fmt::Debug>(
    build: impl Fn() -> Array<T>,
    want: &[T],
) -> Result<()> {
    assert_eq!(shape(&[build().node()])?, (1, 1));
    everywhere(build, want)
}

fn everywhere<T: Elt + PartialEq + std::fmt::Debug>(
    build: impl Fn() -> Array<T>,
    want: &[T],
) -> Result<()> {
    for engine in engines() {
        assert_eq!(build().force_with(&engine)?.to_vec()?, want);
    }
    Ok(())
}

fn errors<T: Elt>(build: impl Fn() -> Array<T>) -> Vec<ErrorKind> {
    let error = |engine: Engine| -> Error { build().force_with(&engine).expect_err("a mistake") };
    engines().into_iter().map(|e| error(e).kind).collect()
}

fn lengths<const N: usize>(all: [u64; N]) -> Array<u64> {
    Array::from(all.to_vec())
}

/// Elements of runs, with empty runs at the beginning, in the middle and at the end. The other
/// input has another number of runs.
#[test]
fn decodes_of_runs() -> Result<()> {
    let build = || {
        let left = Segmented::replicate(&lengths([0, 2, 0, 0, 3, 0]), &numbers(6));
        let right = Segmented::replicate(&lengths([4, 1]), &numbers(2).map(|x| x * 10));
        left.data().zip_with(right.data(), |l, r| l + r)
    };
    one_loop(build, &[12, 12, 15, 15, 25])?;
    let none = || {
        let left = Segmented::replicate(&lengths([0, 0]), &numbers(2));
        let right = Segmented::replicate(&lengths([]), &numbers(0));
        left.data().zip_with(right.data(), |l, r| l + r)
    };
    one_loop(none, &[])
}

/// Lengths, values and elements are computed in the loop; indices count within each segment.
#[test]
fn streams_of_segments_compute_for_segments_and_elements() -> Result<()> {
    let build = || {
        let counts = numbers(3).map(|x| (x % 2).cast::<u64>() * 2);
        let indices = Segmented::indices(&counts);
        let doubled = indices.broadcast(&numbers(3).map(|x| x * 100));
        let left = indices
            .data()
            .zip_with(&doubled, |i, x| x + i.cast::<i64>());
        let right = numbers(9).filter(|x| x.gt(5));
        left.zip_with(&right, |l, r| l * 10 + r)
    };
    one_loop(build, &[1006, 1017, 3008, 3019])
}

/// Scans restart with each segment, of floats and of states, inclusive and exclusive.
#[test]
fn scans_of_segments() -> Result<()> {
    let build = || {
        let xs = numbers(7);
        let left = Segmented::new(&lengths([3, 0, 4]), &xs.map(|x| x.cast::<f64>() / 2.0));
        let right = Segmented::new(&lengths([1, 6]), &xs.map(|x| x * x));
        let sums = left.scan(0.25, |a, b| a + b);
        let most = right.scan(3, |a, b| a.max(b));
        sums.data()
            .zip_with(most.data(), |s, m| s + m.cast::<f64>())
    };
    let sums = [0.75, 1.75, 3.25, 2.25, 4.75, 7.75, 11.25];
    let most = [3.0, 4.0, 9.0, 16.0, 25.0, 36.0, 49.0];
    let want: Vec<f64> = sums.iter().zip(most).map(|(s, m)| s + m).collect();
    one_loop(build, &want)
}

/// Scans of filtered segments, also where a segment begins with dropped elements.
#[test]
fn scans_of_what_filters_leave_of_segments() -> Result<()> {
    let build = || {
        let rows = Segmented::new(
            &lengths([3, 2, 3]),
            &Array::from(vec![1i64, 0, 2, 0, 0, 0, 3, 4]),
        );
        let kept = rows.filter(|x| x.ne(0)).scan(0, |a, b| a + b);
        let counted = Segmented::replicate(&lengths([1, 3]), &numbers(2));
        kept.data().zip_with(counted.data(), |k, c| k * 10 + c)
    };
    one_loop(build, &[11, 32, 32, 72])
}

/// Segments of segments: a cursor over elements, one over segments, and one over the source of
/// these.
#[test]
fn segments_of_segments() -> Result<()> {
    let build = || {
        // Runs of 1 2 2 0 4 4 4, and of each of these as many as its value.
        let outer = Segmented::replicate(
            &lengths([1, 2, 0, 1, 3]),
            &numbers(5).map(|x| (x % 5).cast::<u64>()),
        );
        let (counts, tags) = (
            outer.data().map(|x| x / 2),
            outer.data().map(|x| x.cast::<i64>()),
        );
        let inner = Segmented::replicate(&counts, &tags);
        let flat = numbers(20).filter(|x| x.gt(16));
        inner.data().zip_with(&flat, |i, f| i * 100 + f)
    };
    one_loop(build, &[217, 218, 419, 420])
}

/// A filter keeps some of the segments themselves.
#[test]
fn segments_that_a_filter_leaves() -> Result<()> {
    let build = || {
        let pairs = lengths([2, 9, 0, 1, 9])
            .zip(&numbers(5))
            .filter(|(n, _)| n.lt(5));
        let (counts, values) = pairs.unzip();
        let left = Segmented::replicate(&counts, &values);
        let right = Segmented::replicate(&lengths([3]), &numbers(1));
        left.data().zip_with(right.data(), |l, r| l + r)
    };
    one_loop(build, &[2, 2, 5])
}

/// An input of segment sums: its iterations are segments, each with an inner loop.
#[test]
fn sums_of_segments() -> Result<()> {
    let build = || {
        let rows = Segmented::new(&lengths([2, 0, 3]), &numbers(5));
        let big = rows.sum().filter(|s| s.gt(0));
        let others = numbers(4).filter(|x| (x % 2).eq(0));
        big.zip_with(&others, |b, o| b * o)
    };
    one_loop(build, &[6, 48])
}

/// An input that is a filtered zip of inputs.
#[test]
fn zips_of_zips() -> Result<()> {
    let build = || {
        let odd = numbers(9).filter(|x| (x % 2).eq(1));
        let runs = Segmented::replicate(&lengths([2, 3]), &numbers(2).map(|x| x * 10));
        let pairs = odd.zip(runs.data()).filter(|(o, _)| o.ne(5));
        let others = numbers(6).filter(|x| x.gt(2));
        let pairs = pairs.zip_with(&others, |(o, r), x| o * 100 + r + x);
        let fewer = pairs.scan(0, |a, b| a + b).filter(|s| (s % 2).eq(0));
        let last = Segmented::replicate(&lengths([1, 1]), &numbers(2));
        fewer.zip_with(last.data(), |f, l| f + l)
    };
    // 113, 314, 725, 926; sums 113, 427, 1152, 2078.
    one_loop(build, &[1153, 2080])
}

/// Segment lengths that do not add up to the data, and inputs of different lengths.
#[test]
fn lengths_that_do_not_fit() {
    let flat = |lens: &[u64]| {
        let rows = Segmented::new(&Array::from(lens.to_vec()), &numbers(4));
        rows.scan(0, |a, b| a + b).data().clone()
    };
    let zipped = |lens: &'static [u64], runs: u64| {
        errors(move || {
            let runs = Segmented::replicate(&lengths([runs]), &numbers(1));
            flat(lens).zip_with(runs.data(), |a, b| a + b)
        })
    };
    for (lens, runs) in [
        (&[1, 2][..], 3),
        (&[2, 3], 4),
        (&[4, 1], 4),
        (&[9], 4),
        (&[4, u64::MAX], 4),
    ] {
        let found = zipped(lens, runs);
        let is = |e: &ErrorKind| matches!(e, ErrorKind::Segments { .. });
        assert!(found.iter().all(is), "{lens:?}: {found:?}");
    }
    for runs in [0, 3, 5] {
        let found = zipped(&[3, 0, 1, 0], runs);
        let is = |e: &ErrorKind| matches!(e, ErrorKind::LengthMismatch { .. });
        assert!(found.iter().all(is), "{runs}: {found:?}");
    }
}

/// An unfused input of the elements and the consumers of the zip, in the same loop.
#[test]
fn streams_of_segments_join_the_consumers_of_a_zip() -> Result<()> {
    for engine in engines() {
        let left = Segmented::replicate(&lengths([2, 1, 2]), &numbers(3));
        let right = Segmented::replicate(&lengths([4, 1]), &numbers(2));
        let zipped = left.data().zip_with(right.data(), |l, r| l * r);
        let (sum, kept) = (zipped.sum(), zipped.filter(|x| x.gt(1)));
        let loops = engine
            .explain(&[sum.node().clone(), kept.node().clone()])?
            .loops;
        assert_eq!(loops.len(), 1);
        let (sum, kept) = (&sum, &kept).force_with(&engine)?;
        assert_eq!((sum, kept.to_vec()?), (13, vec![2, 3, 6]));
    }
    Ok(())
}

/// Maps that also feed the lengths do not run over their segments.
#[test]
fn data_that_is_made_of_its_lengths() -> Result<()> {
    let build = || {
        let three = lengths([0, 1, 2]);
        let total = Segmented::new(&lengths([3]), &three).sum().sum();
        let counts = three.map(|n| n / 2 * 3);
        let data = counts.zip_with(&three, |n, x| n + x);
        let rows = Segmented::new(&counts, &data).scan(0, |a, b| a + b);
        rows.data().map(|x| x * &total)
    };
    everywhere(build, &[0, 3, 18])
}

/// Consumers of elements whose segments only a zip knows run over them without segments.
#[test]
fn elements_of_segments_of_a_side_are_elsewhere_without_them() -> Result<()> {
    for clustering in [Clustering::Greedy, Clustering::default()] {
        let one = Array::from(vec![3i64]);
        let doubled = one.map(|x| x * 2);
        let counts = lengths([]).map(|n| n + 1);
        let rows = Segmented::new(&counts, &Array::from(vec![1i64])).scan(0, |a, b| a + b);
        let none = Array::from(Vec::<i64>::new());
        let kept = none.pack(&Array::from(Vec::<bool>::new()));
        let kept = kept.zip_with(&Array::from(vec![5i64]), |k, x| k + x);
        let zipped = kept.zip_with(rows.data(), |k, r| k + r);
        let others = lengths([]).map(|n| n + 2);
        let running = Segmented::new(&others, &zipped).scan(0, |a, b| a + b);
        let roots = [doubled.node().clone(), running.data().node().clone()];
        let engine = Engine::builder().clustering(clustering).build();
        engine.explain(&roots)?;
        assert_eq!(doubled.force_with(&engine)?, [6]);
    }
    Ok(())
}

/// Lengths as many as the kept elements, rematerialised in a loop with the tags but without the
/// kept elements.
#[test]
fn lengths_computed_again_where_tags_are() -> Result<()> {
    for engine in engines() {
        let tags = Array::from(vec![true, false, true]);
        let kept = numbers(3).pack(&tags);
        let counts = generate(kept.len(), |_| 2u64);
        let values = Segmented::replicate(&lengths([1, 2, 1]), &numbers(3));
        let sums = Segmented::new(&counts, values.data()).scan_exclusive(0, |a, b| a + b);
        let others = numbers(3).map(|x| x * 10 + kept.at((x % 2).cast::<u64>()));
        let forced = (&counts, &others.pack(&tags), sums.data()).force_with(&engine)?;
        let (counts, others, sums) = forced;
        assert_eq!(
            (counts.to_vec()?, others.to_vec()?),
            (vec![2, 2], vec![13, 33])
        );
        assert_eq!(sums.to_vec()?, [0, 1, 0, 2]);
    }
    Ok(())
}

/// The capacity for a `take` of segment elements: the taken count if small, else the number of
/// elements.
#[test]
fn room_for_what_is_taken_of_segments() -> Result<()> {
    for engine in engines() {
        let lengths = lengths([3, 0, 200_000, 2]);
        let elements = Segmented::replicate(&lengths, &numbers(4));
        for n in [
            0u64,
            2,
            5,
            1 << 17,
            (1 << 17) + 1,
            200_003,
            200_009,
            u64::MAX,
        ] {
            let few = elements.data().take(n).force_with(&engine)?;
            assert_eq!(few.len() as u64, n.min(200_005), "{n}");
            // Two takes in one loop, and an unlimited consumer.
            let odd = elements.data().filter(|x| (x % 2).eq(1)).take(n);
            let (few, odd) = (&elements.data().take(4), &odd).force_with(&engine)?;
            assert_eq!((few.len() as u64, odd.len() as u64), (4, n.min(200_003)));
            let (few, sums) =
                (&elements.data().take(n), &elements.data().map(|x| x + 1)).force_with(&engine)?;
            assert_eq!((few.len() as u64, sums.len()), (n.min(200_005), 200_005));
        }
    }
    Ok(())
}

/// Counts of tags are needed until a take ends. There is a tag for every element, but not for the
/// kept ones.
#[test]
fn counts_that_are_needed_until_their_expansion_ends() -> Result<()> {
    for engine in engines() {
        // As many elements as segments: tags and data have the elements' rate.
        let tags = Array::from(vec![false, true]);
        let rows = Segmented::new(&lengths([2, 0]), &numbers(2));
        let counts = rows.pack(&tags).lengths().clone();
        let spread = Segmented::replicate(&counts, &counts);
        let first = spread.data().take_while(|n| n.lt(9));
        let sums = rows.scan(0, |a, b| a + b);
        let (first, sums) = (&first, sums.data()).force_with(&engine)?;
        assert_eq!(first, [1u64]);
        assert_eq!(sums, [1, 3]);
    }
    Ok(())
}

/// Takes of segments over the parts of an append, next to an exit. The sizing counters have names
/// of their own.
#[test]
fn streams_of_segments_take_over_parts() -> Result<()> {
    for engine in engines() {
        let part = |x: f64| Array::from(vec![x]).map(|x| x + 1.0);
        let both = part(1.0).append(&part(2.0));
        let spread = Segmented::replicate(&both.map(|x| x.cast::<u64>()), &both);
        let sum = spread.data().take_while(|x| x.lt(3.0)).sum();
        let (first, sum) = (&spread.data().take(4), &sum).force_with(&engine)?;
        assert_eq!((first.to_vec()?, sum), (vec![2.0, 2.0, 3.0, 3.0], 4.0));
    }
    Ok(())
}
