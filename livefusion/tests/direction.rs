//! Loops that run from the end.
//!
//! A reversed result is written backwards in the loop that computes it.

use crate::common::{counted, engines, loops};
use livefusion::prelude::*;
use livefusion::{Engine, Result};

fn xs(n: u64) -> Array<i64> {
    Array::from((0..n as i64).map(|i| i * 7 % 11 - 5).collect::<Vec<_>>())
}

/// Sums from the right.
fn suffixes(xs: &[i64]) -> Vec<i64> {
    let mut sums: Vec<i64> = xs.to_vec();
    for i in (1..sums.len()).rev() {
        sums[i - 1] += sums[i];
    }
    sums
}

#[test]
fn a_scan_from_the_right_is_one_loop() -> Result<()> {
    for n in [0, 1, 2, 7, 1000, 40_000] {
        let xs = xs(n);
        let expected = suffixes(&xs.to_vec()?);
        let right = xs.scan_right(0, |a, b| a + b);
        assert_eq!(loops(&[right.node().clone()])?, (1, 0));
        for engine in engines() {
            let right = xs.scan_right(0, |a, b| a + b);
            assert_eq!(right.force_with(&engine)?.to_vec()?, expected, "{n}");
        }
    }
    Ok(())
}

#[test]
fn a_map_behind_the_reverse_of_a_scan_is_in_its_loop() -> Result<()> {
    let xs = xs(1000);
    let (data, sums) = (xs.to_vec()?, suffixes(&xs.to_vec()?));
    let expected: Vec<i64> = sums.iter().zip(&data).map(|(s, x)| 3 * s - x).collect();
    for engine in engines() {
        let left = xs.reverse().scan(0, |a, b| a + b);
        let mapped = left.reverse().zip_with(&xs, |s, x| s * 3 - x);
        let roots = [mapped.node().clone(), left.node().clone()];
        assert_eq!(loops(&roots)?, (1, 0));
        let (mapped, left) = (&mapped, &left).force_with(&engine)?;
        assert_eq!(mapped.to_vec()?, expected);
        assert!(left.iter().rev().eq(&sums));
    }
    Ok(())
}

#[test]
fn both_directions_of_what_is_computed_once_are_one_loop() -> Result<()> {
    let xs = Array::from((0..100).map(f64::from).collect::<Vec<_>>());
    for engine in engines() {
        let roots = xs.map(|x| x.sqrt());
        let scanned = roots.scan(0.0, |a, b| a.max(b));
        let twice = scanned.reverse().reverse();
        let back = scanned.reverse();
        let all = [
            scanned.node().clone(),
            back.node().clone(),
            twice.node().clone(),
        ];
        assert_eq!(loops(&all)?, (1, 0));
        let (scanned, back, twice) = (&scanned, &back, &twice).force_with(&engine)?;
        assert!(scanned.iter().eq(twice.iter()));
        assert!(scanned.iter().rev().eq(back.iter()));
    }
    Ok(())
}

#[test]
fn reverse_is_in_memory_for_ordered_consumers() -> Result<()> {
    for engine in engines() {
        let sums = xs(50).scan(0, |a, b| a + b);
        let again = sums.reverse().scan(0, |a, b| a + b);
        assert_eq!(loops(&[again.node().clone()])?.0, 2);
        let sums = sums.to_vec()?;
        let back: Vec<i64> = sums.into_iter().rev().collect();
        let expected: Vec<i64> = (1..=50).map(|n| back[..n].iter().sum()).collect();
        assert_eq!(again.force_with(&engine)?.to_vec()?, expected);
    }
    Ok(())
}

#[test]
fn other_indices_than_the_reversed_are_other_programs() -> Result<()> {
    // The programs differ in one number, which decides whether the loop is a reversed one.
    let engine = Engine::interp();
    let at = |less: u64| {
        let sums = xs(20).scan(0, |a, b| a + b);
        let n = sums.len();
        let read = generate(sums.len(), |i| sums.at((&n - less - i).min(19)));
        Ok::<_, livefusion::Error>((read.force_with(&engine)?.to_vec()?, sums.to_vec()?))
    };
    for less in [1, 2, 1, 3] {
        let (read, sums) = at(less)?;
        let index = |i: u64| (20u64.wrapping_sub(less + i)).min(19) as usize;
        let expected: Vec<i64> = (0..20).map(|i| sums[index(i)]).collect();
        assert_eq!(read, expected, "{less}");
    }
    Ok(())
}

/// A slice, whose elements depend on their index alone, keeps its order although its reversed copy
/// runs in the loop.
#[test]
fn a_slice_is_kept_beside_its_reverse() -> Result<()> {
    for engine in engines() {
        let slice = xs(6).drop(4);
        let sums = slice.reverse().scan_seq(0, |a, b| a * 3 + b);
        let (slice, sums) = (&slice, &sums).force_with(&engine)?;
        let all = xs(6).to_vec()?;
        assert_eq!(slice.to_vec()?, all[4..]);
        assert_eq!(sums.to_vec()?, [all[5], 3 * all[5] + all[4]]);
    }
    Ok(())
}

/// An unfused input in memory is read backwards next to a result that the loop makes backwards.
#[test]
fn a_reverse_of_pairs_of_which_one_side_is_in_memory() -> Result<()> {
    for engine in engines() {
        for n in [0, 1, 5, 100, 20_000] {
            let xs = xs(n);
            // The length is a count from a loop, so only a loop that checks it computes the zip.
            let count = xs.map(|_| 1u64).sum();
            let made = generate(&count, |i| i.cast::<i64>()).zip_with(&xs, |i, x| i + x);
            let pairs = xs.zip(&made).reverse();
            let kept = pairs.filter(|(x, _)| x.ge(0));
            let tags = generate(pairs.len(), |i| (i % 3).ne(1));
            let packed = pairs.pack(&tags);
            let sums = pairs.map(|(x, r)| x - r).scan_seq(0, |sum, d| sum * 2 + d);
            let (kept, packed, sums) = (&kept, &packed, &sums).force_with(&engine)?;
            let pairs = (0..).zip(xs.to_vec()?).map(|(i, x)| (x, i + x));
            let mut back: Vec<(i64, i64)> = pairs.collect();
            back.reverse();
            let is_kept = back.iter().copied().filter(|(x, _)| *x >= 0);
            assert_eq!(kept.to_vec()?, is_kept.collect::<Vec<_>>(), "{n}");
            let tagged = (0..).zip(&back).filter(|(i, _)| i % 3 != 1);
            assert_eq!(
                packed.to_vec()?,
                tagged.map(|(_, x)| *x).collect::<Vec<_>>()
            );
            let mut sum = 0i64;
            let all = back.iter().map(|(x, r)| {
                sum = sum.wrapping_mul(2).wrapping_add(x - r);
                sum
            });
            assert_eq!(sums.to_vec()?, all.collect::<Vec<_>>());
        }
    }
    Ok(())
}

/// Rows and segments of these lengths, whose sums from the right are known.
fn rows_of(n: usize, width: usize) -> (Array<i64, Ix2>, Vec<i64>) {
    let xs: Vec<i64> = (0..(n * width) as i64).map(|i| i * 7 % 11 - 5).collect();
    let sums = xs.chunks(width.max(1)).flat_map(suffixes).collect();
    (Array::from_vec((n, width), xs), sums)
}

#[test]
fn scans_from_the_right_of_rows_are_one_nest() -> Result<()> {
    for (n, width) in [(0, 3), (3, 0), (1, 1), (2, 5), (37, 64), (3, 20_000)] {
        for engine in engines() {
            let (m, expected) = rows_of(n, width);
            let along = m.along(1).scan_right(0, |a, b| a + b);
            let mapped = m.map_rows(|row| {
                row.map(|x| x * 2)
                    .scan_right(0, |a, b| a + b)
                    .map(|x| x / 2)
            });
            for right in [along, mapped] {
                assert_eq!(counted(&right.explain()?), (1, 2, 1));
                assert_eq!(
                    right.force_with(&engine)?.into_vec()?,
                    expected,
                    "{n} {width}"
                );
            }
        }
    }
    let cube = generate((2, 2, 3), |(i, j, k)| 100 * i + 10 * j + k);
    let right = cube.along(2).scan_right(0, |a, b| a + b);
    assert_eq!(counted(&right.explain()?), (1, 3, 1));
    let expected = [3, 3, 2, 33, 23, 12, 303, 203, 102, 333, 223, 112];
    assert_eq!(right.force()?.into_vec()?, expected);
    Ok(())
}

#[test]
fn scans_from_the_right_of_segments_are_one_nest() -> Result<()> {
    let lengths = [3u64, 0, 1, 40, 2];
    let all = xs(lengths.iter().sum());
    let mut rest = &all.to_vec()?[..];
    let mut expected = Vec::new();
    for n in lengths {
        let (segment, others) = rest.split_at(n as usize);
        expected.extend(suffixes(segment));
        rest = others;
    }
    for engine in engines() {
        let segments = || Segmented::new(&Array::from(lengths.to_vec()), &xs(46));
        let own = segments().scan_right(0, |a, b| a + b);
        let mapped = segments().map_segments(|s| s.scan_right(0, |a, b| a + b));
        for right in [own, mapped] {
            let right = right.data();
            assert_eq!(counted(&right.explain()?), (1, 2, 1));
            assert_eq!(right.force_with(&engine)?.to_vec()?, expected);
        }
        // The elements that are left are in memory before they are read from the end.
        let left = segments().map_segments(|s| s.filter(|x| x.gt(0)).scan_right(0, |a, b| a + b));
        let sums = left.data().force_with(&engine)?;
        let kept = segments().map_segments(|s| s.filter(|x| x.gt(0)));
        let again: Vec<i64> = kept.to_vecs()?.iter().flat_map(|s| suffixes(s)).collect();
        assert_eq!(sums.to_vec()?, again);
    }
    Ok(())
}

/// A second pass over the row reads the scan's buffer from its end.
#[test]
fn both_scans_of_a_row_are_two_inner_loops() -> Result<()> {
    for engine in engines() {
        let (m, right) = rows_of(5, 70);
        let left = |row: &Array<i64>| row.scan(0, |a, b| a + b);
        let both = m.map_rows(|row| row.scan_right(0, |a, b| a + b) * left(&row));
        assert_eq!(counted(&both.explain()?), (1, 3, 1));
        let xs = m.to_vec()?;
        let lefts = xs.chunks(70).flat_map(|row| {
            row.iter().scan(0, |sum, x| {
                *sum += x;
                Some(*sum)
            })
        });
        let expected: Vec<i64> = lefts.zip(&right).map(|(l, r)| l * r).collect();
        assert_eq!(both.force_with(&engine)?.into_vec()?, expected);
        // Without a common consumer one loop has both.
        let (m, right) = rows_of(5, 70);
        let both = m.map_rows(|row| (row.scan_right(0, |a, b| a + b), left(&row)));
        assert_eq!(counted(&(&both.0, &both.1).explain()?), (1, 2, 2));
        assert_eq!(both.0.force_with(&engine)?.into_vec()?, right);
    }
    Ok(())
}

/// A mistake in a row names the row and the element, from the first on.
#[test]
fn a_failing_scan_from_the_right_names_the_element() {
    let (mut xs, width) = (vec![1i64; 12], 4);
    xs[6] = 0;
    for engine in engines() {
        let m = Array::from_vec((3, width), xs.clone());
        let right = m.map_rows(|row| row.map(|x| 12 / x).scan_right(0, |a, b| a + b));
        let error = right.force_with(&engine).unwrap_err();
        assert_eq!((error.row, error.element), (Some(1), Some(2)), "{error}");
    }
}
