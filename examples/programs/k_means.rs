//! K-means: ten steps of eight clusters of points in a plane.

use crate::harness::{Bench, Measured};
use crate::numbers::Numbers;
use livefusion::prelude::*;
use livefusion_examples::Outcome;

/// The number of clusters.
const K: usize = 8;
/// The number of steps.
const STEPS: usize = 10;

/// A point in the plane.
type Point = (f64, f64);

/// Computes the centres after all steps by array combinators.
pub fn fused(points: &Array<Point>) -> Array<Point> {
    iterate_n(STEPS, &points.take(K), |centres| {
        let distances = points.outer(&centres, |(x, y), (u, v)| {
            (x - u) * (x - u) + (y - v) * (y - v)
        });
        let nearest = distances.along(1).min_index();
        let bins = Bins {
            count: K,
            start: (0.0, 0.0, 0u64),
        };
        let sums = points.map(|(x, y)| (x, y, 1u64)).reduce_by_index(
            &nearest,
            bins,
            |(x, y, n), (u, v, m)| (x + u, y + v, n + m),
        );
        sums.map(|(x, y, n)| (x / n.cast::<f64>(), y / n.cast::<f64>()))
    })
}

/// Computes the same in plain Rust.
pub fn plain(points: &[Point]) -> Vec<Point> {
    let mut centres = points[..K].to_vec();
    for _ in 0..STEPS {
        let mut sums = [(0.0, 0.0, 0u64); K];
        for (x, y) in points {
            let (mut nearest, mut least) = (0, f64::INFINITY);
            for (k, (u, v)) in centres.iter().enumerate() {
                let distance = (x - u) * (x - u) + (y - v) * (y - v);
                if distance < least {
                    (nearest, least) = (k, distance);
                }
            }
            let (sum_x, sum_y, n) = &mut sums[nearest];
            *sum_x += x;
            *sum_y += y;
            *n += 1;
        }
        for (centre, (x, y, n)) in centres.iter_mut().zip(sums) {
            *centre = (x / n as f64, y / n as f64);
        }
    }
    centres
}

/// Compares both forms.
pub fn compare(bench: &Bench) -> Outcome<Measured> {
    let n = bench.size(1_000_000, 300);
    let mut numbers = Numbers::new(11);
    let point = |_| (numbers.uniform(), numbers.uniform());
    let points: Vec<Point> = (0..n).map(point).collect();
    let array = Array::from(&points[..]);
    bench.compare(n * STEPS, 0.0, || fused(&array), || plain(&points))
}

#[cfg(test)]
mod tests {
    use crate::harness::{Plan, check};

    #[test]
    fn k_means__small_input__agrees_with_plain_rust() {
        let most = Plan {
            loops: 3,
            arrays: 7,
            calls: 0,
        };
        check(super::compare, most);
    }
}
