//! Fused loops beside the loops that one would write by hand in Rust, on data in and out of the cache.
//! Both sides make their results anew each time.

use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main,
};
use livefusion::prelude::*;
use livefusion_bench::{filter_max, filter_sum, map_map, uniform};
use std::hint::black_box;

const SIZES: [usize; 2] = [10_000, 1_000_000];

/// Measures a prepared program and a plain loop for each size.
fn compare<O: Force, R>(
    c: &mut Criterion,
    name: &str,
    fused: impl Fn(Array<f64>) -> O,
    by_hand: impl Fn(&[f64]) -> R,
) {
    let mut group: BenchmarkGroup<'_, WallTime> = c.benchmark_group(name);
    let program = prepare(fused).expect("the program compiles");
    for n in SIZES {
        let data = uniform(n);
        let xs = Array::from(&data);
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(BenchmarkId::new("livefusion", n), |b| {
            b.iter(|| program.call(black_box(&xs)).expect("the program runs"));
        });
        group.bench_function(BenchmarkId::new("rust", n), |b| {
            b.iter(|| by_hand(black_box(&data)))
        });
    }
    group.finish();
}

fn dot_product(c: &mut Criterion) {
    let mut group = c.benchmark_group("dot_product");
    let program =
        prepare(|(xs, ys): (Array<f64>, Array<f64>)| xs.zip_with(&ys, |x, y| x * y).sum())
            .expect("the program compiles");
    for n in SIZES {
        let (a, b) = (
            uniform(n),
            uniform(n).into_iter().rev().collect::<Vec<f64>>(),
        );
        let inputs = (Array::from(&a), Array::from(&b));
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(BenchmarkId::new("livefusion", n), |bench| {
            bench.iter(|| program.call(black_box(&inputs)).expect("the program runs"));
        });
        group.bench_function(BenchmarkId::new("rust", n), |bench| {
            bench.iter(|| {
                black_box(&a)
                    .iter()
                    .zip(black_box(&b))
                    .map(|(x, y)| x * y)
                    .sum::<f64>()
            });
        });
    }
    group.finish();
}

fn map_map_bench(c: &mut Criterion) {
    compare(
        c,
        "map_map",
        |xs| map_map(&xs),
        |xs| {
            let (mut up, mut down) = (Vec::with_capacity(xs.len()), Vec::with_capacity(xs.len()));
            for x in xs {
                let twice = 2.0 * x;
                up.push(twice + 50.0);
                down.push(twice - 50.0);
            }
            (up, down)
        },
    );
}

fn filter_sum_bench(c: &mut Criterion) {
    compare(
        c,
        "filter_sum",
        |xs| filter_sum(&xs),
        |xs| {
            let (mut kept, mut before, mut after) = (Vec::with_capacity(xs.len()), 0.0, 0.0);
            for &x in xs {
                before += x;
                if x > 0.5 {
                    after += x;
                    kept.push(x);
                }
            }
            (kept, before, after)
        },
    );
}

fn filter_max_bench(c: &mut Criterion) {
    compare(
        c,
        "filter_max",
        |xs| filter_max(&xs),
        |xs| {
            let (mut kept, mut largest) = (Vec::with_capacity(xs.len()), 0.0f64);
            for x in xs {
                let y = x + 1.0;
                if y > 1.5 {
                    largest = largest.max(y);
                    kept.push(y);
                }
            }
            (kept, largest)
        },
    );
}

criterion_group!(
    benches,
    dot_product,
    map_map_bench,
    filter_sum_bench,
    filter_max_bench
);
criterion_main!(benches);
