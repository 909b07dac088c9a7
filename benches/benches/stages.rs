//! What each stage between a graph and its kernels costs: hashing, planning, lowering, optimising, and each
//! backend's compiler.

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use livefusion::ast::Node;
use livefusion::fusion::{plan, rates::known_lengths};
use livefusion::lower::plan_and_lower;
use livefusion::prelude::*;
use livefusion::sharing::{Graph, recover};
use livefusion::{Clustering, KernelCache};
use livefusion_backend::Backend;
use livefusion_bench::{chain, filter_max};
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use loop_lang::Loop;
use std::hint::black_box;
use std::sync::Arc;

/// Small, usual, and long.
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
    recover(roots).expect("a graph")
}

/// The only loop of a program, not optimised yet.
fn lowered(graph: &Graph) -> Loop {
    let lengths = known_lengths(graph, &[]);
    let (_, loops) = plan_and_lower(graph, &lengths, Clustering::default()).expect("it lowers");
    loops.into_iter().next().expect("a loop").program
}

fn stages(c: &mut Criterion) {
    for (name, roots) in programs() {
        let graph = graph(&roots);
        let lengths = known_lengths(&graph, &[]);
        let mut group = c.benchmark_group(format!("stages_of_{name}"));
        group.bench_function("recover", |b| b.iter(|| recover(black_box(&roots))));
        group.bench_function("plan", |b| {
            b.iter(|| plan(black_box(&graph), &lengths, Clustering::default()));
        });
        group.bench_function("plan_and_lower", |b| {
            b.iter(|| {
                plan_and_lower(black_box(&graph), &lengths, Clustering::default()).map(|_| ())
            });
        });
        let made = lowered(&graph);
        group.bench_function("optimize", |b| {
            b.iter_batched(
                || made.clone(),
                |mut program| loop_lang::passes::optimize(&mut program),
                BatchSize::SmallInput,
            );
        });
        group.finish();
    }
}

/// C without its cache on disk, so that each iteration compiles.
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
            let mut program = lowered(&graph(&roots));
            loop_lang::passes::optimize(&mut program);
            group.bench_with_input(BenchmarkId::from_parameter(name), &program, |b, program| {
                b.iter(|| compiler.compile(program).map(drop));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, stages, compilers);
criterion_main!(benches);
