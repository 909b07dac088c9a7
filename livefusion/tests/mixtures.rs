//! Combinations of features: sorts, codes, pairs, `top`, random numbers, complex numbers, halves.
//!
//! Sizes are small, and several chunks, on each engine.

use crate::common::engines;
use livefusion::prelude::*;
use livefusion::{Result, prepare};

const SIZES: [u64; 4] = [0, 1, 37, 70_000];

fn all_engines() -> Vec<Engine> {
    let threads = [
        Engine::builder().threads(4).build(),
        Engine::builder().threads(1).build(),
    ];
    engines().into_iter().chain(threads).collect()
}

/// Random keys and values.
fn drawn(key: u64, n: u64) -> (Array<u64>, Array<i64>) {
    let keys = random::bits(key, n).map(|x| x % 50 * 7);
    (keys, random::integers(key + 1, n, -1000, 1000))
}

#[test]
fn codes_of_filtered_keys_reduce_what_a_scan_gives() -> Result<()> {
    for n in SIZES {
        let (keys, values) = drawn(3, n);
        let (keys, values) = (keys.to_vec()?, values.to_vec()?);
        let mut found: Vec<u64> = Vec::new();
        let (mut sums, mut running) = (Vec::new(), 0i64);
        for (key, x) in keys.iter().zip(&values).filter(|(_, x)| **x % 3 != 0) {
            running += x;
            let at = found.iter().position(|k| k == key).unwrap_or_else(|| {
                found.push(*key);
                sums.push(0i64);
                found.len() - 1
            });
            sums[at] += running;
        }
        for engine in all_engines() {
            let (keys, values) = drawn(3, n);
            let both = zip((&keys, &values)).filter(|(_, x)| (x % 3).ne(0));
            let (keys, values) = both.unzip();
            let (codes, of) = keys.factorize();
            let running = values.cumsum();
            let got = running.reduce_by_index(
                &codes,
                Bins {
                    count: of.len(),
                    start: 0i64,
                },
                |a, b| a + b,
            );
            let (of, got) = (&of, &got).force_with(&engine)?;
            assert_eq!((&of[..], &got[..]), (&found[..], &sums[..]), "{n}");
        }
    }
    Ok(())
}

#[test]
fn the_largest_of_pairs_of_sorted_segments() -> Result<()> {
    for n in SIZES {
        let values = drawn(5, n).1;
        let rows: Vec<Vec<i64>> = values.to_vec()?.chunks(6).map(<[i64]>::to_vec).collect();
        let mut expected: Vec<i64> = Vec::new();
        for row in &rows {
            let mut row = row.clone();
            row.sort_unstable();
            for (i, a) in row.iter().enumerate() {
                expected.extend(row[i + 1..].iter().map(|b| b * 3 - a));
            }
        }
        expected.sort_unstable_by(|a, b| b.cmp(a));
        expected.truncate(5);
        for engine in all_engines() {
            let pairs = drawn(5, n).1.chunks(6).sort().combinations();
            let top = pairs.map(|(a, b)| b * 3 - a).data().top_k(5);
            assert_eq!(top.force_with(&engine)?, expected[..], "{n}");
        }
    }
    Ok(())
}

#[test]
fn prepared_programs_sort_join_and_count() -> Result<()> {
    for engine in all_engines() {
        let program = prepare::prepare_with(&engine, |(left, right): (Array<u64>, Array<u64>)| {
            let places = left.join(&right).map(|(_, at)| at);
            (
                places.bincount(right.len()),
                left.sort().top_k(2),
                left.factorize().1,
            )
        })?;
        for n in SIZES {
            let left = drawn(7, n).0.to_vec()?;
            let right: Vec<u64> = (0..40).map(|k| k * 14).collect();
            let count = |r: &u64| left.iter().filter(|l| *l == r).count() as u64;
            let counts: Vec<u64> = right.iter().map(count).collect();
            let mut top = left.clone();
            top.sort_unstable_by(|a, b| b.cmp(a));
            top.truncate(2);
            let mut found = Vec::new();
            left.iter().for_each(|k| {
                if !found.contains(k) {
                    found.push(*k)
                }
            });
            let (got, largest, keys) = program.call(&(Array::from(left), Array::from(right)))?;
            assert_eq!(
                (&got[..], &largest[..], &keys[..]),
                (&counts[..], &top[..], &found[..]),
                "{n}"
            );
        }
    }
    Ok(())
}

#[cfg(all(feature = "fft", feature = "half"))]
#[test]
fn halves_become_complex_numbers_of_segments() -> Result<()> {
    use livefusion::complex::{Complex, ComplexExp};
    use livefusion::half::f16;
    for n in SIZES {
        let xs = drawn(9, n).1.to_vec()?;
        let stored: Vec<f16> = xs.iter().map(|x| f16::from_f32(*x as f32 / 8.0)).collect();
        let turned = |h: &f16| Complex::new(h.to_f32(), 1.0) * Complex::i();
        let kept = stored.iter().map(turned).filter(|z| z.im > 0.0);
        let expected = kept.fold((0.0f64, 0.0f64), |(a, b), z| {
            (a + f64::from(z.re), b + f64::from(z.im))
        });
        let lengths = stored
            .chunks(9)
            .map(|c| c.iter().filter(|h| h.to_f32() > 0.0).count() as u64);
        let lengths: Vec<u64> = lengths.collect();
        for engine in all_engines() {
            let stored = Array::from(stored.clone());
            let zs = stored
                .to_f32()
                .map(|x| ComplexExp::new(x, 1.0) * Complex::i());
            let rows = zs.chunks(9).filter(|z| z.im.gt(0.0));
            let wide = rows
                .data()
                .map(|z| ComplexExp::new(z.re.cast::<f64>(), z.im.cast::<f64>()));
            let (of, sum) = (rows.lengths(), &wide.sum()).force_with(&engine)?;
            assert_eq!(of, lengths[..], "{n}");
            // Sums of eighths are exact.
            assert_eq!((sum.re, sum.im), expected, "{n}");
            let again = zs.fft().ifft();
            let apart = again.zip_with(&zs, |a, b| (a - b).abs());
            let worst = apart.fold(0.0f32, |a, b| a.max(b)).force_with(&engine)?;
            assert!(worst < 0.02, "{n}: {worst}");
        }
    }
    Ok(())
}

/// The start is computed at run time.
#[test]
fn aggregates_may_start_from_what_was_computed() -> Result<()> {
    for n in SIZES {
        let xs = drawn(11, n).1.to_vec()?;
        let most = xs.iter().copied().max().unwrap_or(0).max(5);
        let expected = xs.iter().fold(most, |a, x| a.max(*x * 2));
        for engine in all_engines() {
            let xs = drawn(11, n).1;
            let most = xs.fold(5i64, |a, b| a.max(b)) + 0;
            let got = xs.aggregate(
                &most,
                |a: Exp<i64>, x| a.max(x * 2),
                |a: Exp<i64>, b| a.max(b),
            );
            assert_eq!(got.force_with(&engine)?, expected, "{n}");
        }
    }
    Ok(())
}

#[test]
fn exclusive_scans_of_scans_beside_a_histogram_have_their_elements() -> Result<()> {
    for n in [4usize, 70, 3000] {
        let xs = Array::from((0..n).map(|i| (i % 5 > 3) as u8).collect::<Vec<_>>());
        let ys = Array::from((0..n).map(|i| i as i64 % 3).collect::<Vec<_>>());
        let edges = Array::from(vec![0.0, 0.5, 1.0, 2.0]);
        for engine in all_engines() {
            let both = xs.zip(&ys);
            let counts = xs.map(|x| x.cast::<f64>()).histogram(&edges);
            let inner = both.scan_exclusive((127u8, 4i64), |(a, b), (c, d)| (a * c, b | d));
            let outer = inner.scan_exclusive((255u8, 18i64), |(a, b), (c, d)| (a * c, b & d));
            let (outer, counts) = (&outer, &counts).force_with(&engine)?;
            let (mut a, mut b, mut expected) = ((127u8, 4i64), (255u8, 18i64), Vec::new());
            for (x, y) in xs.to_vec()?.into_iter().zip(ys.to_vec()?) {
                expected.push(b);
                b = (b.0.wrapping_mul(a.0), b.1 & a.1);
                a = (a.0.wrapping_mul(x), a.1 | y);
            }
            assert_eq!(outer.to_vec()?, expected, "{engine:?}");
            assert_eq!(counts.to_vec()?.iter().sum::<u64>(), n as u64);
        }
    }
    Ok(())
}
