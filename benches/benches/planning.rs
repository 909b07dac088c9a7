//! What it costs to plan: programs of the papers under every clustering, and random problems of growing
//! size. Before it measures, it prints what each strategy came to.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use livefusion::Clustering;
use livefusion::ast::Node;
use livefusion::fusion::cluster::{Problem, solve};
use livefusion::fusion::{plan, rates::known_lengths};
use livefusion::prelude::*;
use livefusion::sharing::{Graph, recover};
use livefusion_bench::{chain, uniform};
use livefusion_tests::catalog::{self, STRATEGIES};
use livefusion_tests::problems::random;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

fn graph(roots: &[Arc<Node>]) -> Graph {
    recover(roots).expect("a graph")
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
        let lengths = known_lengths(&graph, &[]);
        for strategy in STRATEGIES {
            let made = plan(&graph, &lengths, strategy);
            println!(
                "{name} {strategy}: {} loops, {} bytes, proven at least {} loops, {} bytes",
                made.cost.loops, made.cost.bytes, made.bound.loops, made.bound.bytes
            );
            let id = BenchmarkId::new(strategy.to_string(), name);
            group.bench_function(id, |b| {
                b.iter(|| plan(black_box(&graph), &lengths, strategy))
            });
        }
    }
    group.finish();
}

fn solve_random(c: &mut Criterion) {
    let mut group = c.benchmark_group("solve");
    for n in [10, 20, 40, 70, 100] {
        let problems: Vec<Problem> = (0..40).map(|seed| random(seed, n)).collect();
        summary(n, &problems);
        for strategy in STRATEGIES {
            let mut next = problems.iter().cycle();
            let id = BenchmarkId::new(strategy.to_string(), n);
            group.bench_function(id, |b| {
                b.iter(|| next.next().map(|p| solve(black_box(p), strategy)));
            });
        }
    }
    group.finish();
}

/// How often the default budget suffices, and what remains where it does not.
fn summary(n: usize, problems: &[Problem]) {
    let (mut proven, mut better, mut worst, mut longest) = (0, 0, 0.0f64, 0);
    for p in problems {
        let greedy = solve(p, Clustering::Greedy);
        let start = Instant::now();
        let optimal = solve(p, Clustering::default());
        longest = longest.max(start.elapsed().as_micros());
        proven += optimal.is_proven() as usize;
        better += (optimal.cost < greedy.cost) as usize;
        let gap = (optimal.cost.bytes - optimal.bound.bytes) as f64 / optimal.cost.bytes as f64;
        worst = worst.max(gap);
    }
    println!(
        "{n} items, {} problems: {proven} proven, {better} better than greedy, gap at most {:.1}%, \
         longest {longest} us",
        problems.len(),
        worst * 100.0
    );
}

criterion_group!(benches, plan_programs, solve_random);
criterion_main!(benches);
