//! What it costs to build a graph: tracing closures, making nodes; and to let go of it again.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use livefusion::prelude::*;
use livefusion::sharing::recover;
use livefusion_bench::chain;

fn build(c: &mut Criterion) {
    let xs = Array::from(vec![1.0]);
    let mut group = c.benchmark_group("build");
    for n in [10, 40] {
        group.bench_with_input(BenchmarkId::new("combinators", n), &n, |b, n| {
            b.iter_with_large_drop(|| chain(&xs, *n));
        });
        group.bench_with_input(BenchmarkId::new("combinators and drop", n), &n, |b, n| {
            b.iter(|| chain(&xs, *n));
        });
    }
    group.finish();
}

/// What a graph costs that is like none before it, until its program is looked up.
fn recovered(c: &mut Criterion) {
    let xs = Array::from(vec![1.0]);
    let mut group = c.benchmark_group("recover");
    for n in [10, 40] {
        let roots = [chain(&xs, n).node().clone()];
        group.bench_function(BenchmarkId::new("combinators", n), |b| {
            b.iter(|| recover(&roots));
        });
    }
    group.finish();
}

criterion_group!(benches, build, recovered);
criterion_main!(benches);
