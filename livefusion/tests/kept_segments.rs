//! Kept elements of segments that are read at an index: they stay in scratch memory for the segment.

use crate::common::{counted, engines};
use livefusion::Result;
use livefusion::ast::Node;
use livefusion::prelude::*;
use loop_lang::chunkable::survey;
use proptest::prelude::*;
use std::sync::Arc;

/// The loops, counters and arrays of a program.
fn form(roots: &[Arc<Node>]) -> Result<(usize, usize, usize)> {
    Ok(counted(&Engine::interp().explain(roots)?))
}

fn even(rows: &Segmented<i64>) -> Segmented<i64> {
    rows.filter(|x| (x % 2).eq(0))
}

fn kept(rows: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let even = |row: &Vec<i64>| row.iter().copied().filter(|x| x % 2 == 0).collect();
    rows.iter().map(even).collect()
}

/// Pairs of elements, as products.
fn products(row: &[i64]) -> Vec<i64> {
    let later =
        |(i, a): (usize, &i64)| -> Vec<i64> { row[i + 1..].iter().map(|b| a * b).collect() };
    row.iter().enumerate().flat_map(later).collect()
}

/// Engines that cut loops into chunks on three threads, at every opportunity, and the others.
fn all_engines() -> Vec<Engine> {
    let eager = |backend: Arc<dyn livefusion_backend::Backend>| {
        let builder = Engine::builder().backend(backend).threads(3).eager();
        builder.build()
    };
    let mut all: Vec<Engine> = engines().into();
    all.push(eager(Arc::new(livefusion_interp::InterpBackend::new())));
    all.push(eager(Arc::new(livefusion_jit::JitBackend::new())));
    all.push(eager(Arc::new(livefusion_c::CBackend::new())));
    all
}

#[test]
fn kept_segments__read_by_pairs_reversed_or_at_an_end__share_the_loop() -> Result<()> {
    let rows = Segmented::from_vecs(vec![vec![2i64, 3, 4], vec![], vec![5, 6]]);
    let pairs = even(&rows).combinations().map(|(a, b)| a * b);
    let best = pairs.filter(|p| p.gt(3)).fold(0, |a, b| a.max(b));
    assert_eq!(form(&[best.node().clone()])?, (1, 6, 1));
    let counts = pairs
        .data()
        .map(|p| p.cast::<f64>())
        .histogram_uniform(0.0, 64.0, 4);
    assert_eq!(
        form(&[counts.node().clone(), best.node().clone()])?,
        (1, 6, 2)
    );
    // The number of pairs is counted first, for their memory.
    assert_eq!(form(&[pairs.data().node().clone()])?.0, 1);
    let turned = even(&rows).map_segments(|k| k.reverse().zip_with(&k, |a, b| 10 * a + b));
    assert_eq!(form(&[turned.sum().node().clone()])?.0, 1);
    assert_eq!(turned.to_vecs()?, [vec![42, 24], vec![], vec![66]]);
    let crossed = even(&rows).map_segments(|k| k.cartesian(&k).map(|(a, b)| a - 2 * b).sum());
    assert_eq!(form(&[crossed.node().clone()])?, (1, 5, 1));
    assert_eq!(crossed.to_vec()?, [-12, 0, -6]);
    Ok(())
}

/// A read of another segment needs all kept elements in memory.
#[test]
fn kept_segments__read_by_other_segments__are_stored() -> Result<()> {
    let rows = Segmented::from_vecs(vec![vec![2i64, 3, 4], vec![8], vec![5, 6]]);
    let all = even(&rows).data().clone();
    let first = even(&rows).map(|x| x + all.at(0));
    assert!(form(&[first.data().node().clone()])?.0 > 1);
    assert_eq!(first.to_vecs()?, [vec![4, 6], vec![10], vec![8]]);
    Ok(())
}

#[test]
fn kept_segments__that_do_not_fit__are_errors_in_one_loop() {
    for engine in all_engines() {
        for last in [4, u64::MAX, u64::MAX - 2] {
            let lengths = Array::from(vec![2u64, last]);
            let rows = Segmented::new(&lengths, &Array::from(vec![2i64, 4, 6, 8, 1]));
            let sums = even(&rows).combinations().map(|(a, b)| a * b).sum();
            let said = sums.force_with(&engine).unwrap_err().to_string();
            assert!(said.contains("segment"), "{said}");
        }
    }
}

#[test]
fn kept_segments__with_a_trap_in_a_pair__name_the_row() {
    let rows = Segmented::from_vecs(vec![vec![2i64, 3, 4], vec![1], vec![6, 5, 6, 8]]);
    for engine in all_engines() {
        let shares = even(&rows).combinations().map(|(a, b)| 100 / (a - b));
        let error = shares.sum().force_with(&engine).unwrap_err();
        assert_eq!((error.combinator, error.row), ("map", Some(2)), "{error}");
    }
}

/// Chunks begin with segments, which threads find by the tests of the filter. Each has its scratch
/// memory.
#[test]
fn kept_segments__on_several_threads__are_as_on_one() -> Result<()> {
    let rows: Vec<Vec<i64>> = (0..40_000i64)
        .map(|k| (0..k * k % 9).map(|i| (k * 7 + i * 5) % 23).collect())
        .collect();
    let expected: Vec<i64> = kept(&rows)
        .iter()
        .map(|row| products(row).iter().sum())
        .collect();
    let segments = Segmented::from_vecs(rows);
    let sums = || even(&segments).combinations().map(|(a, b)| a * b).sum();
    let explained = Engine::interp().explain(&[sums().node().clone()])?;
    let [only] = &explained.loops[..] else {
        panic!("{explained}");
    };
    assert!(explained.to_string().contains("chunks in any order"));
    let survey = survey(&only.program).expect("blocks can be counted");
    assert_eq!(survey.inner.len(), 3);
    for engine in all_engines() {
        assert_eq!(sums().force_with(&engine)?, expected);
    }
    Ok(())
}

/// Scratch memory is counted. Without room for one part for each thread, chunks run in order.
#[test]
fn kept_segments__under_a_memory_limit__are_right_or_an_error() -> Result<()> {
    let rows: Vec<Vec<i64>> = (0..3000i64)
        .map(|k| (0..k % 9).map(|i| k + i).collect())
        .collect();
    let expected: Vec<i64> = kept(&rows)
        .iter()
        .map(|row| products(row).iter().sum())
        .collect();
    let segments = Segmented::from_vecs(rows);
    let sums = || even(&segments).combinations().map(|(a, b)| a * b).sum();
    for (limit, fits) in [(1u64 << 10, false), (160 << 10, true), (1 << 20, true)] {
        let engine = Engine::builder()
            .threads(3)
            .eager()
            .memory_limit(limit)
            .build();
        let got = sums().force_with(&engine);
        match fits {
            true => assert_eq!(got?, expected),
            false => assert!(got.is_err()),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// One giant segment, many empty ones, and others, in chunks and in order.
    #[test]
    fn kept_segments__of_any_lengths__are_plain_loops(
        lengths in prop::collection::vec(prop_oneof![3 => 0usize..6, 1 => 0usize..90], 0..60),
        seed in 0i64..1000,
    ) {
        let element = |(r, i): (usize, usize)| ((r as i64 * 31 + i as i64 * 17) ^ seed) % 50;
        let row = |(r, n): (usize, &usize)| (0..*n).map(|i| element((r, i))).collect();
        let rows: Vec<Vec<i64>> = lengths.iter().enumerate().map(row).collect();
        let pairs: Vec<Vec<i64>> = kept(&rows).iter().map(|row| products(row)).collect();
        let turned = kept(&rows).into_iter().map(|row| row.into_iter().rev().collect::<Vec<_>>());
        let turned: Vec<Vec<i64>> = turned.collect();
        let segments = Segmented::from_vecs(rows);
        for engine in all_engines() {
            let made = even(&segments).combinations().map(|(a, b)| a * b);
            let (sums, data) = (made.sum(), made.data().clone());
            let (sums, data) = (&sums, &data).force_with(&engine)?;
            let expected = pairs.iter().map(|p| p.iter().sum::<i64>());
            prop_assert_eq!(sums.to_vec()?, expected.collect::<Vec<_>>());
            prop_assert_eq!(data.to_vec()?, pairs.concat());
            let back = even(&segments).reverse();
            let (lengths, back) = (&back.lengths(), &back.data().clone()).force_with(&engine)?;
            let expected = turned.iter().map(|row| row.len() as u64);
            prop_assert_eq!(lengths.to_vec()?, expected.collect::<Vec<_>>());
            prop_assert_eq!(back.to_vec()?, turned.concat());
        }
    }
}
