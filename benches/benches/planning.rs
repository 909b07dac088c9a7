//! What it costs to plan: programs of the papers under every clustering, and random problems of growing
//! size. Before it measures, it prints what each strategy came to.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use livefusion::Clustering;
use livefusion::ast::Node;
use livefusion::fusion::cluster::{Problem, solve};
use livefusion::fusion::{plan, rates::known_lengths};
use livefusion::prelude::*;
use livefusion::sharing::{Graph, recover};
use livefusion_benches::{chain, filter_max, filter_sum, map_map, uniform};
use livefusion_tests::problems::random;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const STRATEGIES: [Clustering; 3] = [
    Clustering::Unfused,
    Clustering::Greedy,
    Clustering::Optimal {
        steps: Clustering::STEPS,
    },
];

fn graph(roots: &[&Arc<Node>]) -> Graph {
    let roots: Vec<Arc<Node>> = roots.iter().map(|r| Arc::clone(r)).collect();
    recover(&roots).expect("a graph")
}

/// Distances from a line, the points left of it, the farthest, both halves of what is kept.
fn quickhull(points: &Array<(f64, f64)>) -> Graph {
    let (dx, dy) = (0.25, 0.75);
    let measured = points.map(|(x, y)| (dx * y - dy * x, (x, y)));
    let left = measured.filter(|(d, _)| d.gt(0.0));
    let farthest = left.map(|(d, _)| d).max();
    let (near, far) = (
        left.filter(|(d, _)| d.lt(0.5)),
        left.filter(|(d, _)| d.ge(0.5)),
    );
    let (xs, ys) = left.map(|(_, p)| p).unzip();
    graph(&[
        left.node(),
        farthest.node(),
        near.node(),
        far.len().node(),
        xs.sum().node(),
        ys.sum().node(),
    ])
}

/// The largest sum of neighbours: a tuple of four folded by an associative operator, from the left.
fn segment_sum(xs: &Array<f64>) -> Graph {
    let parts = xs.map(|x| (x.max(0.0), (x.max(0.0), (x.max(0.0), x))));
    let most = parts.fold1(|(m, (i, (f, s))), (n, (j, (g, t)))| {
        let both = m.max(n).max(f + j);
        (both, (i.max(s + j), (g.max(f + t), s + t)))
    });
    graph(&[most.node()])
}

/// Deviations and correlation: sums of one loop used in the next, twice over.
fn correlation(xs: &Array<f64>, ys: &Array<f64>) -> Graph {
    let n = xs.len().map(|n| n.cast::<f64>());
    let (mx, my) = (xs.sum(), ys.sum());
    let dx = zip((xs, &iota(xs.len()))).map(|(x, _)| x - &mx / &n);
    let dy = ys.map(|y| y - &my / &n);
    let both = dx.zip_with(&dy, |a, b| a * b).sum();
    let (vx, vy) = (dx.map(|d| d * d).sum(), dy.map(|d| d * d).sum());
    let spread = (&vx / &n).map(|v| v.sqrt());
    let scaled = dx.map(|d| d / &spread);
    graph(&[both.node(), vx.node(), vy.node(), scaled.node()])
}

fn programs() -> Vec<(&'static str, Graph)> {
    let xs = Array::from(uniform(64));
    let ys = Array::from(uniform(64));
    let points = zip((&xs, &ys));
    let (kept, most) = filter_max(&xs);
    let (half, before, after) = filter_sum(&xs);
    let (up, down) = map_map(&xs);
    let outer = xs.filter(|x| x.gt(0.1));
    let dot = (&xs * &ys).sum();
    let percents = xs.filter(|x| x.ge(0.01)).map(|x| x * 100.0);
    vec![
        ("to_percentages", graph(&[percents.node()])),
        ("filter_max", graph(&[kept.node(), most.node()])),
        ("dot_product", graph(&[dot.node()])),
        ("map_map", graph(&[up.node(), down.node()])),
        (
            "filter_sum",
            graph(&[half.node(), before.node(), after.node()]),
        ),
        (
            "nested_filter",
            graph(&[outer.node(), outer.filter(|x| x.lt(0.5)).node()]),
        ),
        ("quickhull", quickhull(&points)),
        ("segment_sum", segment_sum(&xs)),
        ("correlation", correlation(&xs, &ys)),
        ("chain_40", graph(&[chain(&xs, 40).node()])),
    ]
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
