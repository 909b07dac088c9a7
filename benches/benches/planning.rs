//! Planning: the cost for the papers' programs and for growing random programs.
//!
//! The papers' programs run under every clustering. Before measuring, the bench prints each
//! strategy's results.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use livefusion::Clustering;
use livefusion::ast::Node;
use livefusion::prelude::*;
use livefusion::stages::{Graph, graph_of};
use livefusion_bench::{chain, uniform};
use livefusion_tests::catalog::{self, STRATEGIES};
use livefusion_tests::program::{Options, random};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

fn graph(roots: &[Arc<Node>]) -> Graph {
    graph_of(roots).expect("a graph")
}

/// The programs of the literature, and a long chain.
fn programs() -> Vec<(&'static str, Graph)> {
    let catalog = catalog::all().into_iter();
    let mut all: Vec<_> = catalog.map(|p| (p.name, graph(&p.roots))).collect();
    let xs = Array::from(uniform(64));
    all.push(("chain of 40", graph(&[chain(&xs, 40).node().clone()])));
    all
}

fn plan_programs(c: &mut Criterion) {
    let mut group = c.benchmark_group("plan");
    for (name, graph) in programs() {
        for strategy in STRATEGIES {
            let made = graph.plan(strategy);
            let (cost, bound) = (made.cost(), made.bound());
            println!(
                "{name} {strategy}: {} loops, {} bytes, proven at least {} loops, {} bytes",
                cost.loops, cost.bytes, bound.loops, bound.bytes
            );
            let id = BenchmarkId::new(strategy.to_string(), name);
            group.bench_function(id, |b| b.iter(|| black_box(&graph).plan(strategy)));
        }
    }
    group.finish();
}

/// Random programs of up to `steps` combinators.
fn random_graphs(steps: usize) -> Vec<Graph> {
    let options = Options {
        steps,
        ..Options::WIRED
    };
    let graphs = (0..).filter_map(|seed| graph_of(&random(seed, options).build().roots).ok());
    graphs.take(40).collect()
}

fn plan_random(c: &mut Criterion) {
    let mut group = c.benchmark_group("plan_random");
    for steps in [10, 20, 40, 80] {
        let graphs = random_graphs(steps);
        summary(steps, &graphs);
        for strategy in STRATEGIES {
            let mut next = graphs.iter().cycle();
            let id = BenchmarkId::new(strategy.to_string(), steps);
            group.bench_function(id, |b| {
                b.iter(|| next.next().map(|g| black_box(g).plan(strategy)));
            });
        }
    }
    group.finish();
}

/// Prints the share of programs that the default budget proves optimal, and the gaps of the rest.
fn summary(steps: usize, graphs: &[Graph]) {
    let (mut proven, mut better, mut worst, mut longest) = (0, 0, 0.0f64, 0);
    for g in graphs {
        let greedy = g.plan(Clustering::Greedy);
        let start = Instant::now();
        let optimal = g.plan(Clustering::default());
        longest = longest.max(start.elapsed().as_micros());
        let (cost, bound) = (optimal.cost(), optimal.bound());
        proven += optimal.is_proven() as usize;
        better += (cost < greedy.cost()) as usize;
        worst = worst.max((cost.bytes - bound.bytes) as f64 / cost.bytes.max(1) as f64);
    }
    println!(
        "{steps} steps, {} programs: {proven} proven, {better} better than greedy, gap at most {:.1}%, \
         longest {longest} us",
        graphs.len(),
        worst * 100.0
    );
}

criterion_group!(benches, plan_programs, plan_random);
criterion_main!(benches);
