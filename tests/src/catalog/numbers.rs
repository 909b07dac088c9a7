//! One-pass statistics, k-means, primes.

use super::Program;
use super::flow::Point;
use livefusion::prelude::*;

/// Computes mean and variance from count, sum and sum of squares.
pub fn mean_and_variance(xs: &Array<f64>) -> (Array<f64, Ix0>, Array<f64, Ix0>) {
    let n = xs.len().map(|n| n.cast::<f64>());
    let mean = xs.sum() / &n;
    let squares = xs.map(|x| x * x).sum() / &n;
    let variance = squares - &mean * &mean;
    (mean, variance)
}

/// Computes the correlation of two arrays from five sums.
pub fn correlation(xs: &Array<f64>, ys: &Array<f64>) -> Array<f64, Ix0> {
    let n = xs.len().map(|n| n.cast::<f64>());
    let (sx, sy, sxy) = (xs.sum(), ys.sum(), (xs * ys).sum());
    let (sxx, syy) = ((xs * xs).sum(), (ys * ys).sum());
    let spread = |s: &Array<f64, Ix0>, squares: Array<f64, Ix0>| &n * squares - s * s;
    let both = &n * sxy - &sx * &sy;
    let (dx, dy) = (spread(&sx, sxx), spread(&sy, syy));
    let scale = (dx * dy).map(|d| d.sqrt());
    both / scale
}

/// Runs a step of k-means.
///
/// Each point goes to the nearest centre, and each centre moves to the mean of its points. A centre
/// without points stays.
pub fn k_means_step(points: &Array<Point>, centres: &Array<Point>) -> Array<Point> {
    let k = centres.len();
    let nearest = points.map(|(x, y)| {
        let start = (0u64, f64::INFINITY, 0u64);
        let (nearest, ..) = iterate(&k, start, |(best, least, c)| {
            let (cx, cy) = centres.at(c);
            let (dx, dy) = (x - cx, y - cy);
            let distance = dx * dx + dy * dy;
            let is_less = distance.lt(least);
            (is_less.cond(c, best), distance.min(least), c + 1)
        });
        nearest
    });
    let ones = points.map(|(x, y)| (x, y, 1.0));
    let sums: Array<(f64, f64, f64)> = ones.reduce_by_index(
        &nearest,
        Bins {
            count: &k,
            start: (0.0, 0.0, 0.0),
        },
        |(a, b, n), (x, y, m)| (a + x, b + y, n + m),
    );
    sums.zip_with(centres, |(x, y, n), (cx, cy)| {
        n.gt(0.0).cond((x / n, y / n), (cx, cy))
    })
}

/// Computes the primes below `n` from those up to its root.
///
/// The multiples of each prime, from its square on, are struck out.
pub fn sieve(n: u64, small: &Array<u64>) -> Array<u64> {
    let squares = small * small;
    let lengths =
        (small, &squares).zip_with(|p, square| square.lt(n).cond((n - 1 - square) / p + 1, 0));
    let multiples = Segmented::enum_from_step(&squares, small, &lengths);
    let struck = multiples.data().map(|_| false);
    let is_prime = replicate(n, true).scatter(multiples.data(), &struck);
    iota(n).pack(&is_prime).filter(|p| p.ge(2))
}

pub(super) fn all() -> Vec<Program> {
    let floats = |n: usize| -> Array<f64> { (0..n).map(|k| k as f64).collect() };
    let (mean, variance) = mean_and_variance(&floats(3));
    let points = Array::from([(0.0, 0.0), (1.0, 0.0), (5.0, 5.0), (6.0, 5.0)]);
    let centres = Array::from([(0.0, 1.0), (5.0, 6.0)]);
    vec![
        Program::new("mean and variance", (&mean, &variance)),
        Program::new("correlation", correlation(&floats(3), &floats(3))),
        Program::new("k-means step", k_means_step(&points, &centres)),
        Program::new("sieve", sieve(30, &Array::from([2u64, 3, 5]))),
    ]
}
