//! Nested rates: `flat_map`, `combinations`, `cartesian`, also of segments.

use crate::common::{engines, shape};
use livefusion::Result;
use livefusion::ast::Node;
use livefusion::prelude::*;
use proptest::prelude::*;
use std::sync::Arc;

/// Events of up to six particles, with three coordinates each.
fn events(n: u64) -> Vec<Vec<(f64, f64, f64)>> {
    let mut state = 7u64;
    let mut next = || {
        state = state
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 40) as f64 / (1 << 24) as f64
    };
    let mut event = |k: u64| (0..k % 7).map(|_| (next(), next(), next())).collect();
    (0..n)
        .map(|k| event(k.wrapping_mul(0x9e37_79b9) >> 3))
        .collect()
}

fn distance(a: (f64, f64, f64), b: (f64, f64, f64)) -> f64 {
    ((a.0 - b.0) * (a.0 - b.0) + (a.1 - b.1) * (a.1 - b.1) + (a.2 - b.2) * (a.2 - b.2)).sqrt()
}

/// The distance of each pair of particles in an event.
fn distances(events: &Segmented<(f64, f64, f64)>) -> Segmented<f64> {
    events.combinations().map(|((ax, ay, az), (bx, by, bz))| {
        let (x, y, z) = (ax - bx, ay - by, az - bz);
        (x * x + y * y + z * z).sqrt()
    })
}

#[test]
fn combinations__in_a_histogram_of_distances__are_in_its_loop() -> Result<()> {
    for engine in engines() {
        let all = events(200);
        let mut expected = [0u64; 20];
        for event in &all {
            for (i, a) in event.iter().enumerate() {
                for b in &event[i + 1..] {
                    expected[(distance(*a, *b) * 10.0) as usize] += 1;
                }
            }
        }
        let events = Segmented::from_vecs(all);
        let bins = distances(&events).map(|d| (d * 10.0).cast::<u64>());
        let ones = bins.map(|_| 1u64);
        let counts = ones.data().reduce_by_index(
            bins.data(),
            Bins {
                count: 20,
                start: 0u64,
            },
            |a, b| a + b,
        );
        // Only the counts are written.
        assert_eq!(shape(&[counts.node()])?, (1, 1));
        assert_eq!(counts.force_with(&engine)?, expected[..]);
    }
    Ok(())
}

#[test]
fn folds_of_each_segment_are_in_the_same_nest() -> Result<()> {
    for engine in engines() {
        let all = events(100);
        let pairs = |event: &Vec<(f64, f64, f64)>| -> Vec<f64> {
            let after = |i: usize| event[i + 1..].iter().map(move |b| distance(event[i], *b));
            (0..event.len()).flat_map(after).collect()
        };
        let events = Segmented::from_vecs(all.clone());
        let weights: Array<f64> = (0..100).map(f64::from).collect();
        let (near, weighted) = {
            let all = distances(&events);
            let near = all.filter(|d| d.lt(0.5));
            (near, all.zip_with_each(&weights, |d, w| d * w))
        };
        let counted = near.count(|d| d.gt(0.1));
        let total = weighted.data().sum();
        let nodes: [&Arc<Node>; 3] = [near.lengths().node(), counted.node(), total.node()];
        assert_eq!(shape(&nodes)?, (1, 2));
        let (lengths, counts, total) = (near.lengths(), &counted, &total).force_with(&engine)?;
        for (k, event) in all.iter().enumerate() {
            let near: Vec<f64> = pairs(event).into_iter().filter(|d| *d < 0.5).collect();
            assert_eq!(lengths[k], near.len() as u64);
            assert_eq!(counts[k], near.iter().filter(|d| **d > 0.1).count() as u64);
        }
        let each = all.iter().enumerate();
        let expected: f64 = each
            .map(|(k, e)| k as f64 * pairs(e).iter().sum::<f64>())
            .sum();
        assert!((total - expected).abs() < 1e-9 * expected);
    }
    Ok(())
}

/// Forces a flattened program, and splits its result by segment.
fn pairs_of<T, U>(engine: &Engine, pairs: &Segmented<(T, U)>) -> Result<Vec<Vec<(T, U)>>>
where
    T: Elt + PartialEq + std::fmt::Debug,
    U: Elt + PartialEq + std::fmt::Debug,
{
    let (lengths, data) = (pairs.lengths(), pairs.data()).force_with(engine)?;
    let (mut data, mut rows) = (data.to_vec()?.into_iter(), Vec::new());
    for n in lengths.iter() {
        rows.push(data.by_ref().take(*n as usize).collect::<Vec<_>>());
    }
    assert!(data.next().is_none());
    Ok(rows)
}

fn combinations<T: Copy>(row: &[T]) -> Vec<(T, T)> {
    let behind = |i: usize| row[i + 1..].iter().map(move |y| (row[i], *y));
    (0..row.len()).flat_map(behind).collect()
}

fn cartesian<T: Copy, U: Copy>(xs: &[T], ys: &[U]) -> Vec<(T, U)> {
    xs.iter()
        .flat_map(|x| ys.iter().map(move |y| (*x, *y)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn combinations_and_cartesian__of_segments__are_nested_plain_loops(
        rows in prop::collection::vec((prop::collection::vec(-9i64..9, 0..6), prop::collection::vec(0u8..9, 0..6)), 0..6),
    ) {
        for engine in engines() {
            let (xs, ys): (Vec<Vec<i64>>, Vec<Vec<u8>>) = rows.iter().cloned().unzip();
            let (left, right) = (Segmented::from_vecs(xs.clone()), Segmented::from_vecs(ys));
            let expected: Vec<_> = xs.iter().map(|row| combinations(row)).collect();
            prop_assert_eq!(pairs_of(&engine, &left.combinations())?, expected);
            let expected: Vec<_> = rows.iter().map(|(x, y)| cartesian(x, y)).collect();
            prop_assert_eq!(pairs_of(&engine, &left.cartesian(&right))?, expected);
            // A filtered input arrives as a stream.
            let some = left.filter(|x| (x % 2).eq(0)).cartesian(&right);
            let even = |x: &[i64]| x.iter().copied().filter(|x| x % 2 == 0).collect::<Vec<_>>();
            let expected: Vec<_> = rows.iter().map(|(x, y)| cartesian(&even(x), y)).collect();
            prop_assert_eq!(pairs_of(&engine, &some)?, expected);
            // Pairs of filtered elements need them in memory first.
            let some = left.filter(|x| (x % 2).eq(0)).combinations();
            let expected: Vec<_> = xs.iter().map(|row| combinations(&even(row))).collect();
            prop_assert_eq!(pairs_of(&engine, &some)?, expected);
            // Pairs of pairs: four nested loops.
            let four = left.combinations().combinations().map(|((a, b), (c, d))| a * b - c * d).sum();
            let four_of = |row: &Vec<i64>| -> i64 {
                combinations(&combinations(row)).iter().map(|((a, b), (c, d))| a * b - c * d).sum()
            };
            let expected: Vec<i64> = xs.iter().map(four_of).collect();
            prop_assert_eq!(four.force_with(&engine)?.to_vec()?, expected.clone());
        }
    }

    #[test]
    fn each_level_may_have_others(
        rows in prop::collection::vec(prop::collection::vec(0u64..4, 0..5), 0..6),
    ) {
        for engine in engines() {
            let xs = Segmented::from_vecs(rows.clone());
            let two = xs.flat_map(|x| x, |x, i| x + i).flat_map(|x| x % 3, |x, i| 10 * x + i);
            let many = |row: &Vec<u64>| -> Vec<u64> {
                let first = row.iter().flat_map(|x| (0..*x).map(move |i| x + i));
                first.flat_map(|x| (0..x % 3).map(move |i| 10 * x + i)).collect()
            };
            let expected: Vec<Vec<u64>> = rows.iter().map(many).collect();
            let sums: Vec<u64> = expected.iter().map(|r| r.iter().sum()).collect();
            let totals = two.sum();
            // If there are as many segments as elements, both lengths form one class.
            if rows.len() != rows.concat().len() {
                prop_assert_eq!(shape(&[totals.node()])?, (1, 1));
            }
            // As a closure on whole segments.
            let nested = xs.map_segments(|row| {
                    row.flat_map(|x| x, |x, i| x + i).flat_map(|x| x % 3, |x, i| 10 * x + i)
            });
            prop_assert_eq!(two.data().force_with(&engine)?.to_vec()?, expected.concat());
            prop_assert_eq!(nested.data().force_with(&engine)?.to_vec()?, expected.concat());
            prop_assert_eq!(totals.force_with(&engine)?.to_vec()?, sums.clone());
            prop_assert_eq!(nested.sum().force_with(&engine)?.to_vec()?, sums.clone());
        }
    }
}

#[test]
fn combinations_and_cartesian__of_arrays_and_in_closures__are_nested_plain_loops() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![3i64, 1, 4, 1, 5]);
        let ys = Array::from(vec![10i64, 20]);
        let (pairs, both) = (xs.combinations(), xs.cartesian(&ys));
        let inversions = pairs.count(|(a, b)| a.gt(b));
        assert_eq!(shape(&[inversions.node()])?, (1, 0));
        let rows = Segmented::from_vecs(vec![vec![3i64, 1, 4], vec![], vec![1, 5]]);
        let most = rows.map_segments(|row| row.combinations().map(|(a, b)| a * b).sum());
        assert_eq!(shape(&[most.node()])?, (1, 1));
        let outside = rows.map_segments(|row| row.cartesian(&ys).map(|(a, b)| a * b));
        let xs = [3, 1, 4, 1, 5];
        assert_eq!(pairs.force_with(&engine)?.to_vec()?, combinations(&xs));
        assert_eq!(
            both.force_with(&engine)?.to_vec()?,
            cartesian(&xs, &[10, 20])
        );
        assert_eq!(inversions.force_with(&engine)?, 3);
        assert_eq!(most.force_with(&engine)?, [19, 0, 5]);
        assert_eq!(outside.sum().force_with(&engine)?, [240, 0, 180]);
    }
    Ok(())
}

#[test]
fn combinations_and_cartesian__of_segments_that_do_not_fit__are_errors() {
    for engine in engines() {
        let data = Array::from(vec![1i64, 2, 3]);
        let long = |last: u64| Segmented::new(&Array::from(vec![2u64, last]), &data);
        let one = Segmented::new(&Array::from(vec![3u64]), &data);
        for last in [2, 1 << 40, u64::MAX - 1, u64::MAX] {
            let sum = long(last).combinations().map(|(_, b)| b).data().sum();
            let said = sum.force_with(&engine).unwrap_err().to_string();
            assert!(
                said.starts_with("`combinations`") && said.contains("segment"),
                "{said}"
            );
            let sum = one.cartesian(&long(last)).map(|(_, b)| b).data().sum();
            assert!(sum.force_with(&engine).is_err());
            let sum = long(1).cartesian(&long(last)).map(|(_, b)| b).data().sum();
            assert!(sum.force_with(&engine).is_err());
        }
    }
}

/// The products of all pairs of a row.
fn products(row: &[i64]) -> Vec<i64> {
    let firsts = row.iter().enumerate();
    firsts
        .flat_map(|(i, a)| row[i + 1..].iter().map(move |b| a * b))
        .collect()
}

/// The kept elements of a segment are in scratch memory, where its pairs read them.
#[test]
fn combinations__of_kept_elements__are_in_the_loop_of_the_filter() -> Result<()> {
    let rows: Vec<Vec<i64>> = (0..40i64)
        .map(|k| (0..k % 7).map(|i| (k * 5 + i * 3) % 11 - 4).collect())
        .collect();
    let kept: Vec<Vec<i64>> = rows
        .iter()
        .map(|row| row.iter().copied().filter(|x| *x > 0).collect())
        .collect();
    let pairs: Vec<Vec<i64>> = kept.iter().map(|row| products(row)).collect();
    let heavy = |row: &Vec<i64>| -> Vec<i64> { row.iter().copied().filter(|p| *p > 8).collect() };
    let heavy: Vec<Vec<i64>> = pairs.iter().map(heavy).collect();
    for engine in engines() {
        let segments = Segmented::from_vecs(rows.clone());
        let keep = || segments.filter(|x| x.gt(0));
        let product = |s: &Segmented<i64>| s.combinations().map(|(a, b)| a * b);

        // Two consumers of the filtered pairs.
        let filtered = product(&keep()).filter(|p| p.gt(8));
        let largest = filtered.fold(0, |a, b| a.max(b));
        let all = filtered.data().sum();
        let roots = [largest.node().clone(), all.node().clone()];
        assert_eq!(shape(&roots)?, (1, 1));
        let (largest, all) = (&largest, &all).force_with(&engine)?;
        let most = heavy.iter().map(|row| row.iter().copied().max());
        assert_eq!(largest, most.map(|m| m.unwrap_or(0)).collect::<Vec<_>>());
        assert_eq!(all, heavy.iter().flatten().sum::<i64>());

        // A fold of the kept elements and a zip with it are in that loop, too.
        let (one, scaled) = (keep(), keep().map(|x| x * 3));
        let (sums, masses) = (one.sum(), product(&one).sum());
        let both = sums.zip_with(&masses, |a, b| a * 1000 + b);
        let both_expected = kept.iter().zip(&pairs);
        let both_expected: Vec<i64> = both_expected
            .map(|(row, pairs)| row.iter().sum::<i64>() * 1000 + pairs.iter().sum::<i64>())
            .collect();
        assert_eq!(shape(&[both.node().clone()])?, (1, 1));
        assert_eq!(both.force_with(&engine)?, both_expected);

        // Maps and second filters of kept elements, and their own pairs.
        let twice = keep().filter(|x| x.lt(6));
        let (twice, scaled) = (product(&twice).sum(), product(&scaled).sum());
        let small =
            |row: &Vec<i64>| -> Vec<i64> { row.iter().copied().filter(|x| *x < 6).collect() };
        let small = kept.iter().map(|row| products(&small(row)).iter().sum());
        let (twice, scaled) = (&twice, &scaled).force_with(&engine)?;
        assert_eq!(twice, small.collect::<Vec<i64>>());
        let nine = pairs.iter().map(|row| row.iter().sum::<i64>() * 9);
        assert_eq!(scaled, nine.collect::<Vec<_>>());

        // Pairs with the elements of other segments.
        let crossed = keep().cartesian(&segments).map(|(a, b)| a * b).sum();
        let crossed_expected = kept.iter().zip(&rows);
        let crossed_expected: Vec<i64> = crossed_expected
            .map(|(a, b)| a.iter().sum::<i64>() * b.iter().sum::<i64>())
            .collect();
        assert_eq!(crossed.force_with(&engine)?, crossed_expected);
        let lengths = (product(&keep()).lengths(), keep().data()).force_with(&engine)?;
        assert_eq!(
            lengths.0,
            pairs.iter().map(|p| p.len() as u64).collect::<Vec<_>>()
        );
        assert_eq!(lengths.1, kept.concat());
    }
    Ok(())
}
