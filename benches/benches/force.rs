//! The overhead of `force` on cached programs, prepared programs, and the first time.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use livefusion::prelude::*;
use livefusion_bench::{chain, filter_max, uniform};
use std::hint::black_box;

/// A force caches its result in the node, so each iteration uses a fresh graph, built outside the
/// measured time. Measured are recovery, keys, lookup, binding, and a run on one element.
fn cached(c: &mut Criterion) {
    let engine = Engine::builder().build();
    let xs = Array::from(vec![1.0]);
    let mut group = c.benchmark_group("cached_force_of_1_element");
    for n in [10, 40] {
        group.bench_with_input(BenchmarkId::new("combinators", n), &n, |b, n| {
            b.iter_batched(
                || chain(&xs, *n),
                |sum| sum.force_with(&engine),
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

/// The same by number of elements. The graph is a filter with two folds.
fn cached_by_size(c: &mut Criterion) {
    let engine = Engine::builder().build();
    let mut group = c.benchmark_group("cached_force_of_filter_max");
    group.sample_size(20);
    for n in [1, 1_000, 10_000, 1_000_000, 10_000_000] {
        let xs = Array::from(uniform(n));
        group.throughput(Throughput::Elements(n as u64));
        group.bench_with_input(BenchmarkId::new("elements", n), &xs, |b, xs| {
            b.iter_batched(
                || filter_max(xs),
                |(kept, largest)| (&kept, &largest).force_with(&engine).map(drop),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

fn prepared(c: &mut Criterion) {
    let xs = Array::from(vec![1.0]);
    let mut group = c.benchmark_group("prepared_call_of_1_element");
    for n in [10, 40] {
        let program = prepare(|xs: Array<f64>| chain(&xs, n)).expect("the chain compiles");
        group.bench_function(BenchmarkId::new("combinators", n), |b| {
            b.iter(|| black_box(program.call(&xs)));
        });
    }
    group.finish();
}

/// A fresh engine per iteration: planning, lowering, compiling, running on one element.
fn first(c: &mut Criterion) {
    let xs = Array::from(vec![1.0]);
    let mut group = c.benchmark_group("first_force");
    group.sample_size(20);
    for (name, engine) in [
        ("interp", Engine::interp as fn() -> Engine),
        ("c", Engine::c),
    ] {
        group.bench_function(BenchmarkId::new("filter_max", name), |b| {
            b.iter_batched(
                || (engine(), filter_max(&xs)),
                |(engine, (kept, largest))| (&kept, &largest).force_with(&engine).map(|_| engine),
                BatchSize::PerIteration,
            );
        });
        group.bench_function(BenchmarkId::new("chain_of_40", name), |b| {
            b.iter_batched(
                || (engine(), chain(&xs, 40)),
                |(engine, sum)| sum.force_with(&engine).map(|_| engine),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, cached, cached_by_size, prepared, first);
criterion_main!(benches);
