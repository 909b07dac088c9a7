//! Reports and pictures: golden texts, and what must hold in each.
//! `LOOP_BLESS=1 cargo test -p livefusion --test explain` writes the golden files anew.

use livefusion::ast::Node;
use livefusion::prelude::*;
use livefusion::runtime::{Explanation, Place};
use std::sync::Arc;

fn golden(name: &str, got: &str) {
    let path = format!("{}/tests/golden/explain/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("LOOP_BLESS").is_some() {
        std::fs::write(&path, got).expect("golden file");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(got, expected, "{path} differs; LOOP_BLESS=1 writes it anew");
}

fn floats() -> Array<f64> {
    vec![0.5, 0.001, 0.25].into()
}

fn explain(roots: &[Arc<Node>]) -> Explanation {
    Engine::interp().explain(roots).expect("it can be planned")
}

/// A filter that is also scanned, a mean, and shares of a total: rates, counters, several loops.
fn shares() -> Explanation {
    let xs = floats();
    let kept = xs.filter(|x| x.gt(0.01));
    let running = kept.scan(0.0, |a, b| a + b);
    let total = kept.sum();
    let shares = kept.map(|x| x / &total);
    let picked = shares.gather(&iota(2));
    let roots = [running.node(), xs.mean().node(), picked.node()].map(Arc::clone);
    explain(&roots)
}

#[test]
fn the_report_of_several_loops() {
    golden("shares.txt", &shares().to_string());
}

#[test]
fn the_pictures_of_several_loops() {
    let explained = shares();
    golden("shares.dot", &explained.dot());
    golden("shares.svg", &explained.svg());
}

#[test]
fn one_loop_moves_each_array_once() {
    let xs = floats();
    let ys = xs.map(|x| x + 1.0);
    let zs = ys.map(|y| y * 2.0);
    let explained = explain(&[ys.node().clone(), zs.sum().node().clone()]);
    assert_eq!(explained.loops.len(), 1);
    let moved = explained.traffic;
    assert_eq!((moved.reads.known, moved.reads.exact), (24, true));
    assert_eq!((moved.writes.known, moved.writes.exact), (24 + 8, true));
    // Three loops read 24 bytes each; the first two write 24, the last one 8.
    assert_eq!(
        (
            explained.unfused.reads.known,
            explained.unfused.writes.known
        ),
        (72, 56)
    );
}

#[test]
fn a_program_of_one_combinator_is_as_it_is_unfused() {
    let explained = explain(&[floats().map(|x| x + 1.0).node().clone()]);
    assert_eq!(explained.traffic, explained.unfused);
}

#[test]
fn what_a_filter_leaves_is_bounded() {
    let kept = floats().filter(|x| x.gt(0.1));
    let explained = explain(&[kept.map(|x| x * 2.0).node().clone()]);
    let writes = explained.traffic.writes;
    assert_eq!(
        (writes.known, writes.exact, writes.per_element),
        (24, false, 0)
    );
}

#[test]
fn what_only_the_run_can_tell_is_per_element() {
    let n = floats().map(|x| x.cast::<u64>()).sum();
    let explained = explain(&[replicate(n, 1.0f64).node().clone()]);
    let writes = explained.traffic.writes;
    assert_eq!((writes.known, writes.per_element), (8, 8), "{explained}");
}

#[test]
fn a_field_that_nobody_wants_moves_nothing() {
    let pairs = zip((&floats(), &floats())).map(|(x, y)| (x + 1.0, y * 2.0));
    let (left, _) = pairs.unzip();
    let explained = explain(&[left.node().clone()]);
    assert_eq!(explained.traffic.reads.known, 24);
    assert_eq!(explained.traffic.writes.known, 24);
}

#[test]
fn a_call_of_several_nodes_is_one() {
    let explained = explain(&[floats().mean().node().clone()]);
    let computed = |p| matches!(p, Place::Loop(_));
    let names: Vec<&str> = explained
        .calls
        .iter()
        .filter(|c| computed(c.place))
        .map(|c| c.name)
        .collect();
    assert_eq!(names, ["mean"]);
    assert_eq!(
        explained.to_string().matches("mean").count(),
        2,
        "{explained}"
    );
}

#[test]
fn calls_on_one_line_are_several() {
    let mut xs = floats();
    for _ in 0..3 {
        xs = xs.map(|x| x + 1.0).filter(|x| x.gt(0.0));
    }
    let explained = explain(&[xs.node().clone()]);
    assert_eq!(explained.calls.len(), 1 + 6, "{explained}");
    assert_eq!(explained.flows.len(), 6);
}

#[test]
fn what_is_forced_is_an_input() {
    let xs = floats().map(|x| x + 1.0);
    xs.force_with(&Engine::interp()).expect("forced");
    assert_eq!(explain(&[xs.node().clone()]).loops.len(), 0);
    let explained = explain(&[xs.sum().node().clone()]);
    assert_eq!(explained.calls[0].place, Place::Input);
    assert_eq!(explained.calls[0].name, "map");
}

#[test]
fn explaining_is_neither_hit_nor_miss() {
    let engine = Engine::interp();
    let total = floats().sum();
    total.explain_with(&engine).expect("explained");
    let before = engine.counters();
    assert_eq!((before.hits, before.misses), (0, 0));
    total.force_with(&engine).expect("forced");
    assert_eq!((engine.counters().hits, engine.counters().misses), (1, 0));
}

#[test]
fn deep_graphs_are_reported_and_too_large_to_draw() {
    let mut xs = floats();
    for _ in 0..1200 {
        xs = xs.filter(|x| x.gt(0.0));
    }
    let explained = explain(&[xs.node().clone()]);
    assert!(explained.to_string().lines().count() > 2400);
    assert!(explained.svg().contains("1201 nodes are too many to draw"));
    assert!(explained.dot().matches(" -> ").count() == 1200);
}
