//! Nearest neighbours: the place of the nearest point to each query, in eight dimensions.

use crate::harness::{Bench, Measured};
use crate::numbers::Numbers;
use livefusion::prelude::*;
use livefusion_examples::Outcome;

/// The number of dimensions.
const D: usize = 8;

/// Finds the nearest points by array combinators.
pub fn fused(queries: &Array<f64, Ix2>, points: &Array<f64, Ix2>) -> Array<u64> {
    queries.map_rows(|query| {
        let distances = points.map_rows(|point| {
            let squares = point.zip_with(&query, |x, y| (x - y) * (x - y));
            squares.sum()
        });
        distances.min_index()
    })
}

/// Computes the same in plain Rust.
pub fn plain(queries: &[[f64; D]], points: &[[f64; D]]) -> Vec<u64> {
    let nearest = |query: &[f64; D]| {
        let (mut nearest, mut least) = (0, f64::INFINITY);
        for (at, point) in points.iter().enumerate() {
            let squares = query.iter().zip(point).map(|(x, y)| (x - y) * (x - y));
            let distance: f64 = squares.sum();
            if distance < least {
                (nearest, least) = (at as u64, distance);
            }
        }
        nearest
    };
    queries.iter().map(nearest).collect()
}

/// Compares both forms.
pub fn compare(bench: &Bench) -> Outcome<Measured> {
    let mut numbers = Numbers::new(5);
    let mut points = |n: usize| -> Vec<[f64; D]> {
        let point = |_| std::array::from_fn(|_| numbers.uniform());
        (0..n).map(point).collect()
    };
    let (queries, points) = (points(bench.size(500, 7)), points(bench.size(20_000, 50)));
    let [q, p] = [&queries, &points].map(|v| Array::from_vec((v.len(), D), v.concat()));
    let pairs = queries.len() * points.len();
    bench.compare(pairs, 0.0, || fused(&q, &p), || plain(&queries, &points))
}

#[cfg(test)]
mod tests {
    use crate::harness::{Plan, check};

    #[test]
    fn neighbours__small_input__agrees_with_plain_rust() {
        let most = Plan {
            loops: 1,
            arrays: 1,
            calls: 0,
        };
        check(super::compare, most);
    }
}
