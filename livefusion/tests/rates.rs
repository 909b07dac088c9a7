//! Derived rates used again: what segments fold to is cut, passed over twice and read once more, what a
//! filter leaves meets data of its length. Each program gives what plain Rust gives, whichever of its
//! results is asked for first, on every engine and under every clustering.

use livefusion::ast::Node;
use livefusion::prelude::*;
use livefusion::{Clustering, Result};
use livefusion_interp::InterpBackend;
use std::sync::Arc;

fn engines() -> Vec<Engine> {
    let interp = |clustering| {
        let backend = Arc::new(InterpBackend::new());
        let engine = Engine::builder().backend(backend);
        engine.clustering(clustering).build()
    };
    vec![
        interp(Clustering::Unfused),
        interp(Clustering::Greedy),
        interp(Clustering::default()),
        Engine::jit(),
    ]
}

/// Forces two results together, in both orders.
fn both<A: Force, B: Force>(
    results: impl Fn() -> (A, B),
    check: impl Fn(A::Out, B::Out),
) -> Result<()> {
    for engine in engines() {
        let (a, b) = results();
        let (a, b) = (a, b).force_with(&engine)?;
        check(a, b);
        let (a, b) = results();
        let (b, a) = (b, a).force_with(&engine)?;
        check(a, b);
    }
    Ok(())
}

/// How many loops a program is under the default clustering.
fn loops(roots: &[&Arc<Node>]) -> usize {
    let roots: Vec<Arc<Node>> = roots.iter().map(|r| Arc::clone(r)).collect();
    let e = Engine::interp().explain(&roots).expect("it can be planned");
    e.loops.len()
}

fn cells() -> Segmented<f64> {
    Segmented::from_vecs(vec![vec![1.0f64, 2.0], vec![3.0], vec![4.0, 5.0]])
}

/// Each cell's share of its group.
fn shares(cells: &Segmented<f64>) -> Segmented<f64> {
    let groups = Segmented::new(&Array::from(vec![2u64, 1]), &cells.sum_s());
    groups.map_s(&groups.sum_s(), |a, t| a / t)
}

#[test]
fn sums_of_segments_that_are_cut_passed_over_twice_and_read_again() -> Result<()> {
    let build = || {
        let cells = cells();
        (shares(&cells).data().clone(), cells.sum_s().sum())
    };
    let (a, b) = build();
    assert_eq!(loops(&[a.node(), b.node()]), 1);
    both(build, |shares, total| {
        assert_eq!(shares, [0.5, 0.5, 1.0]);
        assert_eq!(total, 15.0);
    })
}

#[test]
fn sums_of_segments_that_are_read_again_for_one_result() -> Result<()> {
    for engine in engines() {
        let cells = cells();
        let one = &shares(&cells).data().sum() + &cells.sum_s().sum();
        assert_eq!(one.force_with(&engine)?, 17.0);
    }
    Ok(())
}

#[test]
fn a_scan_and_a_filter_of_what_was_passed_over_twice() -> Result<()> {
    let build = || {
        let cells = cells();
        let shares = shares(&cells);
        let running = cells.sum_s().scan(0.0, |a, b| a + b);
        let large = cells.sum_s().filter(|x| x.gt(3.0)).map(|x| x - 1.0);
        ((shares.data().clone(), running), large)
    };
    both(build, |(shares, running), large| {
        assert_eq!(shares, [0.5, 0.5, 1.0]);
        assert_eq!(running, [3.0, 6.0, 15.0]);
        assert_eq!(large, [8.0]);
    })
}

#[test]
fn three_levels_of_segments_each_passed_over_twice() -> Result<()> {
    let build = || {
        let cells = cells();
        let rows = cells.map_s(&cells.sum_s(), |x, t| x / t);
        let groups = Segmented::new(&Array::from(vec![2u64, 1]), &cells.sum_s());
        let parts = groups.map_s(&groups.sum_s(), |a, t| a / t);
        let all = Segmented::new(&Array::from(vec![2u64]), &groups.sum_s());
        let shares = all.map_s(&all.sum_s(), |g, t| g / t);
        let rest = (cells.sum_s().sum(), groups.sum_s().max());
        (
            (rows.data().sum(), parts.data().clone()),
            (shares.data().clone(), rest),
        )
    };
    both(build, |(rows, parts), (shares, (total, most))| {
        assert_eq!(rows, 3.0);
        assert_eq!(parts, [0.5, 0.5, 1.0]);
        assert_eq!(shares, [0.4, 0.6]);
        assert_eq!((total, most), (15.0, 9.0));
    })
}
