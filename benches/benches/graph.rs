//! Graph construction: the cost of tracing closures, making nodes, and dropping them.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use livefusion::prelude::*;
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

criterion_group!(benches, build);
criterion_main!(benches);
