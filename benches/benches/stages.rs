//! Costs of the stages between a graph and its kernels.
//!
//! The stages are hashing, planning, lowering, optimising, and each backend's compiler.

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use livefusion::ast::Node;
use livefusion::prelude::*;
use livefusion::stages::{Graph, Loops, Lowered, graph_of};
use livefusion::{Clustering, KernelCache};
use livefusion_backend::Backend;
use livefusion_bench::{chain, filter_max};
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use std::hint::black_box;
use std::sync::Arc;

/// A small, a typical and a long program.
fn programs() -> Vec<(&'static str, Vec<Arc<Node>>)> {
    let xs = Array::from(vec![1.0]);
    let (kept, largest) = filter_max(&xs);
    vec![
        (
            "filter_max",
            vec![kept.node().clone(), largest.node().clone()],
        ),
        ("chain_of_10", vec![chain(&xs, 10).node().clone()]),
        ("chain_of_40", vec![chain(&xs, 40).node().clone()]),
        ("chain_of_200", vec![chain(&xs, 200).node().clone()]),
    ]
}

fn graph(roots: &[Arc<Node>]) -> Graph {
    graph_of(roots).expect("a graph")
}

/// Lowered loops, not optimised yet.
fn lowered(graph: &Graph) -> Loops {
    let plan = graph.plan(Clustering::default());
    plan.lower().expect("it lowers")
}

fn stages(c: &mut Criterion) {
    for (name, roots) in programs() {
        let graph = graph(&roots);
        let mut group = c.benchmark_group(format!("stages_of_{name}"));
        group.bench_function("recover", |b| b.iter(|| graph_of(black_box(&roots))));
        group.bench_function("plan", |b| {
            b.iter(|| black_box(&graph).plan(Clustering::default()));
        });
        group.bench_function("plan_and_lower", |b| b.iter(|| lowered(black_box(&graph))));
        let made = lowered(&graph);
        group.bench_function("optimize", |b| {
            b.iter_batched(
                || made.clone(),
                |mut made| made.optimize(),
                BatchSize::SmallInput,
            );
        });
        group.finish();
    }
}

/// The C backend without its disk cache, so that each iteration compiles.
fn compilers(c: &mut Criterion) {
    let backends: [(&str, Box<dyn Backend>); 3] = [
        ("interp", Box::new(InterpBackend::new())),
        ("jit", Box::new(JitBackend::new())),
        (
            "c",
            Box::new(CBackend::new().with_cache(KernelCache::off())),
        ),
    ];
    for (backend, compiler) in backends {
        let mut group = c.benchmark_group(format!("compile_{backend}"));
        group.sample_size(20);
        for (name, roots) in programs() {
            let mut loops = lowered(&graph(&roots));
            loops.optimize();
            group.bench_with_input(BenchmarkId::from_parameter(name), &loops, |b, loops| {
                let compile = |l: &Lowered| compiler.compile(&l.program).map(drop);
                b.iter(|| loops.iter().try_for_each(compile));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, stages, compilers);
criterion_main!(benches);
