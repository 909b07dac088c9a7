//! Large graphs: budgets of loops, correctness of cuts, and growth of plans.

use livefusion::ast::{Node, TermData};
use livefusion::prelude::*;
use livefusion::stages::{self, Loops, Lowered, Reason};
use livefusion::{Clustering, Result};
use std::sync::Arc;

/// The limit on statements of an optimised loop below. It is twice the budget, because weights of
/// combinators are estimates.
const MOST: usize = 512;

// Terms dominate large graphs.
const _: () = assert!(size_of::<TermData>() <= 48);

fn lowered(roots: &[Arc<Node>]) -> Loops {
    let graph = stages::graph_of(roots).expect("a graph");
    let plan = graph.plan(Clustering::default());
    let mut loops = plan.lower().expect("it lowers");
    loops.optimize();
    for l in &loops {
        assert!(statements(l) <= MOST, "{}", statements(l));
    }
    loops
}

fn statements(l: &Lowered) -> usize {
    l.program.blocks.iter().map(|(_, b)| b.stmts.len()).sum()
}

fn node<T: Elt>(xs: &Array<T>) -> Arc<Node> {
    xs.node().clone()
}

fn chain(xs: &Array<f64>, n: usize) -> Array<f64> {
    (0..n).fold(xs.clone(), |ys, k| ys.map(|y| y * 0.5 + k as f64))
}

fn numbers() -> Array<f64> {
    (0..40)
        .map(|i| f64::from(i) * 0.25)
        .collect::<Vec<_>>()
        .into()
}

#[test]
fn a_long_chain_of_maps_is_cut_and_says_why() -> Result<()> {
    let xs = numbers();
    let last = chain(&xs, 1000);
    let loops = lowered(&[node(&last)]);
    let crossings = loops.plan().crossings();
    // 2000 operators in loops of 256 at most.
    assert!((8..=12).contains(&loops.len()), "{}", loops.len());
    // One array crosses from each loop to the next.
    assert_eq!(crossings.len(), loops.len() - 1);
    assert!(crossings.iter().all(|c| c.reason == Reason::Budget));
    assert!(loops.iter().all(|l| l.results.len() == 1));

    let report = last.explain_with(&Engine::interp())?.to_string();
    assert!(
        report.contains("would exceed the limit on its code"),
        "{report}"
    );
    let mut expected = xs.to_vec()?;
    for k in 0..1000 {
        expected
            .iter_mut()
            .for_each(|y| *y = *y * 0.5 + f64::from(k));
    }
    assert_eq!(last.force_with(&Engine::interp())?, expected);
    Ok(())
}

#[test]
fn growth_cuts_between_connected_parts_only() {
    let xs = numbers();
    // A map and its sum: at the budget's limit, the map stays with the sum.
    let sums = (0..400).map(|k| xs.map(|x| x * f64::from(k)).sum());
    let roots: Vec<Arc<Node>> = sums.map(|s| s.node().clone()).collect();
    let loops = lowered(&roots);
    assert!((8..=14).contains(&loops.len()), "{}", loops.len());
    let plan = loops.plan();
    assert!(plan.loops().iter().all(|l| l.arrays.is_empty()));
    assert!(plan.crossings().is_empty());
}

#[test]
fn loops_grow_in_number_and_not_in_size() {
    type Build = fn(usize) -> Vec<Arc<Node>>;
    let graphs: [(&str, Build); 7] = [
        ("maps, each a result", |n| {
            let xs = numbers();
            let maps = (0..n).map(|k| xs.map(|x| x * 0.5 + k as f64));
            maps.map(|m| node(&m)).collect()
        }),
        ("scans of scans", |n| {
            vec![node(
                &(0..n).fold(numbers(), |xs, _| xs.scan(0.0, |a, b| a + b)),
            )]
        }),
        ("delayed scalars", |n| {
            let last = (0..n).fold(numbers().sum(), |s, k| s.map(|s| s * 0.5 + k as f64));
            vec![last.node().clone()]
        }),
        ("merges", |n| {
            let sorted = |k: usize| Array::from(vec![k as u64, 5 + k as u64, 20 + k as u64]);
            let merged = (0..n).map(|k| sorted(k).merge(&sorted(k + 3), |a, b| a.le(b)));
            merged.map(|m| node(&m)).collect()
        }),
        ("filters, scans, maps and zips", |n| vec![node(&mixed(n))]),
        ("appends of appends", |n| {
            let xs = numbers();
            let next = |all: Array<f64>, k: usize| all.append(&xs.filter(|x| x.gt(k as f64)));
            vec![node(&(0..n).fold(xs.map(|x| x + 1.0), next))]
        }),
        ("a chain of filters", |n| {
            let kept = (0..n).fold(numbers(), |xs, k| xs.filter(|x| x.gt(k as f64 - 1e9)));
            vec![node(&kept)]
        }),
    ];
    for (name, build) in graphs {
        let [few, many] = [200, 800].map(|n| lowered(&build(n)).len());
        assert!(few > 1 && many <= 5 * few, "{name}: {few} and {many} loops");
    }
}

fn mixed(n: usize) -> Array<f64> {
    let next = |xs: Array<f64>, k: usize| match k % 4 {
        0 => xs.filter(|x| x.gt(k as f64 - 1e6)),
        1 => xs.scan(k as f64, |a, b| a.max(b)),
        2 => xs.map(|x| x * 0.5 + k as f64),
        _ => xs.zip_with(&xs.map(|x| x + 1.0), |a, b| a + b),
    };
    (0..n).fold(numbers(), next)
}

/// Some elements pass no filter, so conditions within conditions differ from step to step.
#[test]
fn long_conditions_are_cut_into_pieces() -> Result<()> {
    let pieces = |n: usize| {
        let xs: Array<f64> = (0..2000).map(|i| f64::from(i * 7919 % 1009)).collect();
        let next = |xs: Array<f64>, k: usize| match k % 4 {
            0 => xs.filter(|x| (x * 0.75).floor().ne(k as f64)),
            1 => xs.scan(k as f64, |a, b| a * 0.5 + b),
            2 => xs.map(|x| x * 0.5 + k as f64),
            _ => xs.zip_with(&xs.map(|x| x + 1.0), |a, b| a + b),
        };
        (0..n).fold(xs, next).sum()
    };
    for (n, loops, arrays) in [(10, 1, 0), (40, 2, 1)] {
        assert_eq!(
            crate::common::shape(&[pieces(n).node()])?,
            (loops, arrays),
            "{n}"
        );
        let [interp, jit, c] = crate::common::engines();
        let want = pieces(n).force_with(&interp)?.to_bits();
        assert_eq!(pieces(n).force_with(&jit)?.to_bits(), want, "{n}");
        assert_eq!(pieces(n).force_with(&c)?.to_bits(), want, "{n}");
    }
    Ok(())
}

#[test]
fn growth_cut_plans_give_unfused_results() -> Result<()> {
    let unfused = Engine::builder()
        .backend(Arc::new(livefusion_interp::InterpBackend::new()))
        .clustering(Clustering::Unfused)
        .build();
    let expected = mixed(300).force_with(&unfused)?.into_vec()?;
    for engine in [Engine::interp(), Engine::jit()] {
        let (kept, n) = {
            let kept = mixed(300);
            let n = kept.len();
            (&kept, &n).force_with(&engine)?
        };
        assert_eq!(
            (kept.into_vec()?, n),
            (expected.clone(), expected.len() as u64)
        );
    }
    Ok(())
}

#[test]
fn segments_are_cut_too() -> Result<()> {
    let cells = Segmented::from_vecs(vec![vec![1.0f64, 2.0], vec![], vec![3.0, 4.0, 5.0]]);
    let scaled = (0..200).fold(cells.clone(), |c, k| c.map(|x| x + f64::from(k)));
    let total = (0..200).map(|k| scaled.map(|x| x * f64::from(k)).sum());
    let sums: Vec<Array<f64>> = total.collect();
    let roots: Vec<Arc<Node>> = sums.iter().map(node).collect();
    let loops = lowered(&roots);
    assert!(loops.len() > 4, "{}", loops.len());
    let added = f64::from((0..200).sum::<i32>());
    let of = [3.0 + 2.0 * added, 0.0, 12.0 + 3.0 * added];
    for (k, sum) in sums.iter().enumerate().step_by(40) {
        let expected: Vec<f64> = of.iter().map(|s| s * k as f64).collect();
        assert_eq!(sum.force_with(&Engine::interp())?, expected);
    }
    Ok(())
}

/// Fresh names continue from the last number. Trying all numbers again would take minutes.
#[test]
fn a_closure_of_many_terms() -> Result<()> {
    let xs = Array::from(vec![1i64, 2, 3]);
    let many = 10_000;
    let ys = xs.map(|x| (0..many).fold(x, |y, k| (y ^ k) + x));
    let expected = |x: i64| (0..many).fold(x, |y, k| (y ^ k).wrapping_add(x));
    assert_eq!(ys.force_with(&Engine::interp())?, [1, 2, 3].map(expected));
    // A combinator is never split: it gets a loop of its own, regardless of the budget.
    let graph = stages::graph(&ys.map(|y| y + 1))?;
    let loops = graph.plan(Clustering::default()).lower()?;
    assert!(loops.plan().loops().iter().all(|l| l.nodes.len() == 1));
    Ok(())
}
