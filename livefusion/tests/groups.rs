//! Combinators built on sorts: factorisation, sums by code, quantiles of segments.

use crate::common::engines;
use livefusion::error::ErrorKind;
use livefusion::prelude::*;
use livefusion::runtime::ExplainedApart;
use std::fmt::Debug;

#[test]
fn factorize__of_each_type__numbers_elements_as_they_appear() {
    fn check<T: Elt + PartialEq + Debug>(xs: Vec<T>, codes: &[u32], found: &[T]) {
        let array = Array::from(xs);
        for engine in engines() {
            let (got, elements) = array.factorize();
            let (got, elements) = (&got, &elements).force_with(&engine).unwrap();
            assert_eq!(got, *codes);
            assert_eq!(elements.to_vec().unwrap(), found);
        }
    }
    check(vec![7u8, 3, 7, 9, 3], &[0, 1, 0, 2, 1], &[7, 3, 9]);
    check(
        vec![-5i64, -5, 1 << 40, 0],
        &[0, 0, 1, 2],
        &[-5, 1 << 40, 0],
    );
    // Integers within the largest range of the dense path, and one beyond it.
    check(vec![-1i64, 3, 0, 3, -1], &[0, 1, 2, 1, 0], &[-1, 3, 0]);
    check(
        vec![u64::MAX, u64::MAX - 2, u64::MAX],
        &[0, 1, 0],
        &[u64::MAX, u64::MAX - 2],
    );
    check(vec![4u16, 0, 4, 4], &[0, 1, 0, 0], &[4, 0]);
    check(vec![9u32], &[0], &[9]);
    check(
        vec![0.0f32, -0.0, 1.5, 0.0],
        &[0, 1, 2, 0],
        &[0.0, -0.0, 1.5],
    );
    check(vec![true, false, true], &[0, 1, 0], &[true, false]);
    check(
        vec![(1u32, true), (1, false), (1, true)],
        &[0, 1, 0],
        &[(1, true), (1, false)],
    );
    check::<u64>(vec![], &[], &[]);
    let nan = Array::from(vec![f64::NAN, 1.0, -f64::NAN]).factorize().0;
    assert_eq!(nan.force().unwrap(), [0, 1, 0]);
}

/// The expected codes and distinct elements, from a hash map.
fn numbered<T: Copy + Eq + std::hash::Hash>(xs: &[T]) -> (Vec<u32>, Vec<T>) {
    let (mut known, mut found) = (std::collections::HashMap::new(), Vec::new());
    let code = |x: &T| {
        *known.entry(*x).or_insert_with(|| {
            found.push(*x);
            found.len() as u32 - 1
        })
    };
    (xs.iter().map(code).collect(), found)
}

#[test]
fn factorize__of_keys_of_many_patterns__agrees_with_a_hash_map() {
    let weyl = |k: u64| k.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // Sizes around the block size, and between.
    for n in [0u64, 1, 2, 255, 256, 257, 511, 513, 3000] {
        let patterns: [(&str, &dyn Fn(u64) -> u64); 12] = [
            ("all equal", &|_| 7 << 40),
            ("all different", &weyl),
            ("consecutive", &|k| k),
            ("far, then consecutive", &|k| k | 1 << 63),
            ("falling", &|k| u64::MAX - k),
            ("multiples of 2^32", &|k| k << 32),
            ("multiples of 2^52", &|k| k << 52),
            ("a few again and again", &move |k| weyl(k % 37)),
            ("more and more", &move |k| weyl(k & (k >> 3))),
            ("runs", &move |k| weyl(k / 100)),
            ("new ones at the end", &move |k| weyl(k.max(n - n / 8))),
            ("one new one behind each block", &move |k| weyl(k / 256)),
        ];
        for (what, key) in patterns {
            let keys: Vec<u64> = (0..n).map(key).collect();
            let (codes, found) = numbered(&keys);
            for engine in engines() {
                let (got, elements) = Array::from(keys.clone()).factorize();
                let (got, elements) = (&got, &elements).force_with(&engine).unwrap();
                assert_eq!(
                    (&got[..], &elements[..]),
                    (&codes[..], &found[..]),
                    "{what}, {n}"
                );
            }
            let alone = Array::from(keys.clone()).factorize().1.force().unwrap();
            assert_eq!(alone, found, "{what}, {n}, without the codes");
        }
    }
}

#[test]
fn codes_of_what_is_computed_and_filtered() {
    let all: Vec<u64> = (0..2000).map(|k| (k * k) % 613).collect();
    let kept: Vec<u64> = all.iter().filter(|x| **x % 3 != 1).copied().collect();
    for engine in engines() {
        let xs = Array::from(all.clone()).filter(|x| (x % 3).ne(1));
        // One column.
        let (codes, found) = xs.map(|x| x.cast::<f64>() * -0.5).factorize();
        let (codes, found) = (&codes, &found).force_with(&engine).unwrap();
        let (expected, elements) = numbered(&kept);
        assert_eq!(codes, expected);
        let elements: Vec<f64> = elements.iter().map(|x| *x as f64 * -0.5).collect();
        assert_eq!(found, &elements[..]);
        // Several columns, and the distinct elements are filtered again.
        let (codes, found) = xs.map(|x| (x.cast::<i32>() - 300, x % 2)).factorize();
        let even = found.filter(|(_, odd)| odd.eq(0));
        let (codes, found, even) = (&codes, &found, &even).force_with(&engine).unwrap();
        let pairs: Vec<(i32, u64)> = kept.iter().map(|x| (*x as i32 - 300, x % 2)).collect();
        let (expected, mut elements) = numbered(&pairs);
        assert_eq!(codes, expected);
        assert_eq!(found.to_vec().unwrap(), elements);
        elements.retain(|(_, odd)| *odd == 0);
        assert_eq!(even.to_vec().unwrap(), elements);
    }
}

#[test]
fn factorize__of_floats__tells_zeros_apart_and_joins_nans() {
    let xs = vec![f64::NAN, 0.0, -0.0, -f64::NAN, 0.0, f64::INFINITY, -0.0];
    let same = |a: &[f64], b: &[f64]| {
        let pairs = a.iter().zip(b);
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        a.len() == b.len() && pairs.into_iter().all(same)
    };
    for engine in engines() {
        let (codes, found) = Array::from(xs.clone()).factorize();
        let (codes, found) = (&codes, &found).force_with(&engine).unwrap();
        assert_eq!(codes, [0, 1, 2, 0, 1, 3, 2]);
        assert!(
            same(&found, &[f64::NAN, 0.0, -0.0, f64::INFINITY]),
            "{found:?}"
        );
        let pairs = Array::from(xs.clone()).map(|x| (x, 1u8)).factorize();
        let (codes, found) = (&pairs.0, &pairs.1.map(|(x, _)| x))
            .force_with(&engine)
            .unwrap();
        assert_eq!(codes, [0, 1, 2, 0, 1, 3, 2]);
        assert!(
            same(&found, &[f64::NAN, 0.0, -0.0, f64::INFINITY]),
            "{found:?}"
        );
    }
}

#[test]
fn reduce_by_index__of_factorized_keys__is_one_loop() {
    for engine in engines() {
        let keys: Vec<u64> = (0..1000).map(|k| (k * k) % 37 * 1_000_003).collect();
        let values: Vec<i64> = (0..1000).collect();
        let (codes, found) = Array::from(keys.clone()).map(|k| k + 1).factorize();
        let three = Array::from(values.clone()).map(|x| (x, x * x, 1i64));
        let add = |(a, b, c): (Exp<i64>, Exp<i64>, Exp<i64>), (x, y, z)| (a + x, b + y, c + z);
        let sums = three.reduce_by_index(
            &codes,
            Bins {
                count: found.len(),
                start: (0i64, 0i64, 0i64),
            },
            add,
        );
        let explained = Engine::interp().explain(&[sums.node().clone()]).unwrap();
        assert_eq!(explained.loops.len(), 1, "{explained}");
        // The codes, and their count.
        assert_eq!(explained.apart.len(), 2, "{explained}");
        let (found, sums) = (&found, &sums).force_with(&engine).unwrap();
        for (key, sums) in found.iter().zip(sums.iter()) {
            let of = keys
                .iter()
                .zip(&values)
                .filter(|(k, _)| **k + 1 == *key)
                .map(|(_, v)| *v);
            let expected = of.fold((0, 0, 0), |(a, b, c), x| (a + x, b + x * x, c + 1));
            assert_eq!(sums, expected);
        }
    }
}

#[test]
fn quantiles_of_segments_are_those_of_each() {
    let inf = f64::INFINITY;
    let rows = vec![
        vec![3.0, 1.0, 2.0, 8.0],
        vec![f64::NAN, 1.0],
        vec![-inf, inf, 0.5],
        vec![7.0],
        vec![-0.0, 0.0],
    ];
    let segments = Segmented::from_vecs(rows.clone());
    for engine in engines() {
        for share in [0.0, 0.25, 0.5, 0.9, 1.0] {
            let got = segments.quantile(share).force_with(&engine).unwrap();
            for (row, got) in rows.iter().zip(&got) {
                let alone = Array::from(row.clone()).quantile(share);
                let expected = alone.force_with(&engine).unwrap();
                assert!(
                    *got == expected || (got.is_nan() && expected.is_nan()),
                    "{row:?}, {share}: {got}"
                );
            }
        }
        for share in [-0.1, 1.5, f64::NAN] {
            let error = segments.quantile(share).force_with(&engine).map(|_| ());
            assert!(error.unwrap_err().to_string().contains("quantile"));
        }
    }
    let with_none = Segmented::from_vecs(vec![vec![1.0f64], vec![]]);
    let error = with_none.median().force().map(|_| ()).unwrap_err();
    assert_eq!(
        (error.combinator, &error.kind),
        ("median", &ErrorKind::Empty)
    );
    // One earlier loop computes the elements.
    let doubled = segments.map(|x| x * 2.0).quantile(0.5);
    let explained = Engine::interp().explain(&[doubled.node().clone()]).unwrap();
    let [ExplainedApart::External(apart)] = &explained.apart[..] else {
        panic!("{explained}");
    };
    assert_eq!(apart.inputs.loops.len(), 2, "{explained}");
    let of_integers = Segmented::from_vecs(vec![vec![1u8, 2], vec![9]]).median();
    assert_eq!(of_integers.force().unwrap(), [1.5, 9.0]);
}

/// The smallest node of each component, by relabelling for each edge.
fn labels(n: usize, edges: &[(u64, u64)]) -> Vec<u64> {
    let mut labels: Vec<u64> = (0..n as u64).collect();
    for (from, to) in edges {
        let (a, b) = (labels[*from as usize], labels[*to as usize]);
        let joined = labels.iter_mut().filter(|label| **label == a.max(b));
        joined.for_each(|label| *label = a.min(b));
    }
    labels
}

#[test]
fn components__of_random_graphs__have_their_smallest_node_as_label() {
    let mut seed = 7u64;
    let mut below = |n: usize| {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (seed >> 33) % n as u64
    };
    for (n, edges) in [
        (1, 3),
        (2, 1),
        (9, 5),
        (40, 20),
        (40, 60),
        (300, 200),
        (300, 299),
    ] {
        let edges: Vec<(u64, u64)> = (0..edges).map(|_| (below(n), below(n))).collect();
        let expected = labels(n, &edges);
        let wide = Array::from(edges);
        let narrow = wide.map(|(a, b)| (a.cast::<u32>(), b.cast::<u32>()));
        let signed = wide.map(|(a, b)| (a.cast::<i16>(), b.cast::<u8>().cast::<u64>()));
        for engine in engines() {
            assert_eq!(wide.components(n).force_with(&engine).unwrap(), expected);
            assert_eq!(narrow.components(n).force_with(&engine).unwrap(), expected);
            if n < 256 {
                assert_eq!(signed.components(n).force_with(&engine).unwrap(), expected);
            }
        }
    }
}

/// A path, a star and a comb, whose trees are as deep as can be.
#[test]
fn components__of_long_paths__are_one_component() {
    let n = 20_000u64;
    let path: Vec<(u64, u64)> = (1..n).map(|i| (i - 1, i)).collect();
    let back: Vec<(u64, u64)> = path.iter().rev().copied().collect();
    let star: Vec<(u64, u64)> = (0..n).map(|i| (n - 1, n - 1 - i)).collect();
    let comb: Vec<(u64, u64)> = (0..n / 2)
        .map(|i| (i, n - 1 - i))
        .chain(path.clone())
        .collect();
    for edges in [path, back, star, comb] {
        let labels = Array::from(edges).components(n).force().unwrap();
        assert!(labels.iter().all(|label| *label == 0));
    }
}

#[test]
fn components__of_an_edge_outside__is_an_error_with_its_place() {
    let of = |index, len| ErrorKind::OutOfRange { index, len };
    for engine in engines() {
        let line = line!() + 2;
        let e = Array::from(vec![(0i64, -1i64)])
            .components(4)
            .force_with(&engine);
        let e = e.unwrap_err();
        assert_eq!((e.combinator, e.kind), ("components", of(-1, 4)));
        assert_eq!(e.location.map(|l| l.line()), Some(line));
        let e = Array::from(vec![(0u64, u64::MAX)])
            .components(4)
            .force_with(&engine);
        assert_eq!(e.unwrap_err().kind, of(i128::from(u64::MAX), 4));
        let none = Array::from(Vec::<(u32, u32)>::new());
        assert_eq!(none.components(3).force_with(&engine).unwrap(), [0, 1, 2]);
        assert_eq!(none.components(0).force_with(&engine).unwrap(), []);
        let e = Array::from(vec![(0u32, 0u32)])
            .components(0)
            .force_with(&engine);
        assert_eq!(e.unwrap_err().kind, of(0, 0));
    }
}

/// Edges are computed in the loop before, and labels are counted in the loop after.
#[test]
fn components__between_loops__fuse_with_both() {
    let edges = iota(10).map(|i| (i, (i * 3) % 10));
    let labels = edges.components(10);
    let own = labels.enumerate().map(|(node, label)| node.eq(label));
    let number = own.filter(|own| own).len();
    let explained = number.explain().unwrap();
    assert_eq!(
        (explained.loops.len(), explained.apart.len()),
        (1, 1),
        "{explained}"
    );
    // 0; 1 3 9 7; 2 6 8 4; 5.
    assert_eq!(number.force().unwrap(), 4);
}

/// The largest `k` elements of each bin.
fn best(n: usize, bins: &[u32], xs: &[(f64, u8)], k: usize) -> Vec<Vec<(f64, u8)>> {
    let mut all = vec![Vec::new(); n];
    bins.iter()
        .zip(xs)
        .for_each(|(bin, x)| all[*bin as usize].push(*x));
    for bin in &mut all {
        bin.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        bin.truncate(k);
    }
    all
}

#[test]
fn top_k_by_index__of_bins_of_all_sizes__agrees_with_sorts() {
    let mut seed = 5u64;
    let mut below = |n: u64| {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (seed >> 33) % n
    };
    for (n, bins) in [(0, 3), (1, 1), (40, 7), (400, 3), (400, 300)] {
        let index: Vec<u32> = (0..n).map(|_| below(bins) as u32).collect();
        let xs: Vec<(f64, u8)> = (0..n)
            .map(|_| {
                (
                    (below(9) as f64 - 4.0) * 0.0_f64.max(below(3) as f64),
                    below(4) as u8,
                )
            })
            .collect();
        let (at, values) = (Array::from(index.clone()), Array::from(xs.clone()));
        // 20 rows of two fields are sorted.
        for k in [0, 1, 2, 3, 20] {
            let expected = best(bins as usize, &index, &xs, k);
            for engine in engines() {
                let found = values.top_k_by_index(&at, bins, k);
                let found = (found.lengths(), found.data()).force_with(&engine).unwrap();
                let lengths: Vec<u64> = expected.iter().map(|bin| bin.len() as u64).collect();
                assert_eq!(found.0, lengths);
                assert_eq!(found.1.to_vec().unwrap(), expected.concat());
            }
        }
    }
}

#[test]
fn top_k_by_key__and_reduce_by_key__number_keys_as_they_appear() {
    let keys = Array::from(vec![70u64, 30, 70, 50, 30, 70]);
    let xs = Array::from(vec![1i64, 2, 9, 4, 5, 6]);
    for engine in engines() {
        let (found, best) = xs.map(|x| x * 2).top_k_by_key(&keys, 2);
        let best = (&found, best.lengths(), best.data())
            .force_with(&engine)
            .unwrap();
        assert_eq!(
            (&best.0[..], &best.1[..]),
            (&[70, 30, 50][..], &[2, 2, 1][..])
        );
        assert_eq!(best.2, [18, 12, 10, 4, 8]);
        let (found, sums) = xs.reduce_by_key(&keys, (0u32, 0.0), |(n, sum), x| {
            (n + 1, sum + x.cast::<f64>())
        });
        let (found, sums) = (&found, &sums).force_with(&engine).unwrap();
        assert_eq!(
            (&found[..], sums.to_vec().unwrap()),
            (&[70, 30, 50][..], vec![(3, 16.0), (2, 7.0), (1, 4.0)])
        );
        let short = xs.take(4).top_k_by_key(&keys, 2).1;
        let e = (short.lengths(), short.data())
            .force_with(&engine)
            .unwrap_err();
        assert_eq!(
            e.kind,
            ErrorKind::LengthMismatch {
                expected: 6,
                got: 4
            }
        );
    }
}

/// One pass finds the best and the sums of all bins; another writes the best.
#[test]
fn top_k_by_index__beside_sums__shares_their_loop() {
    let at = Array::from((0..90u32).map(|i| i % 7).collect::<Vec<_>>());
    let xs = Array::from((0..90).map(|i| f64::from(i * 37 % 90)).collect::<Vec<_>>());
    let ys = xs.map(|x| x + 1.0);
    let best = ys.top_k_by_index(&at, 7, 3);
    let bins = Bins {
        count: 7,
        start: 0.0,
    };
    let sums = ys.reduce_by_index(&at, bins, |sum, x| sum + x);
    let explained = (best.data(), &sums).explain().unwrap();
    assert_eq!(
        (explained.loops.len(), explained.apart.len()),
        (2, 0),
        "{explained}"
    );
}
