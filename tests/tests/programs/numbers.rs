//! One-pass statistics, k-means, primes.

use crate::{N, count, floats, program};
use livefusion::Array;
use livefusion_tests::catalog::flow::Point;
use livefusion_tests::catalog::numbers;
use loop_lang::Op;

#[test]
fn mean_and_variance() {
    let xs = floats(1, N);
    let n = N as f64;
    let mean = xs.iter().sum::<f64>() / n;
    let squares: f64 = xs.iter().map(|x| x * x).sum();
    let done = program(
        || numbers::mean_and_variance(&Array::from(&xs)),
        [1, 1, 0],
        |found| assert_eq!(found, (mean, squares / n - mean * mean)),
    );
    assert_eq!((done.reads(), done.writes()), (N as u64, 0));
}

#[test]
fn correlation() {
    let (xs, ys) = (floats(1, N), floats(2, N));
    let sum =
        |f: &dyn Fn(f64, f64) -> f64| -> f64 { xs.iter().zip(&ys).map(|(x, y)| f(*x, *y)).sum() };
    let (n, sx, sy) = (N as f64, sum(&|x, _| x), sum(&|_, y| y));
    let spread = |s: f64, squares: f64| n * squares - s * s;
    let (dx, dy) = (
        spread(sx, sum(&|x, _| x * x)),
        spread(sy, sum(&|_, y| y * y)),
    );
    let want = (n * sum(&|x, y| x * y) - sx * sy) / (dx * dy).sqrt();
    let done = program(
        || numbers::correlation(&Array::from(&xs), &Array::from(&ys)),
        [1, 1, 0],
        |found| assert_eq!(found, want),
    );
    assert_eq!((done.reads(), done.writes()), (2 * N as u64, 0));
}

/// One loop over the points accumulates sums in memory; one over the centres divides them.
#[test]
fn k_means_step() {
    let points: Vec<Point> = floats(1, N).into_iter().zip(floats(2, N)).collect();
    let mut centres = points[..7].to_vec();
    // No point is near the last centre.
    centres.push((1e6, 1e6));
    let distance = |p: &Point, c: &Point| (p.0 - c.0) * (p.0 - c.0) + (p.1 - c.1) * (p.1 - c.1);
    let mut sums = vec![(0.0, 0.0, 0.0); centres.len()];
    for p in &points {
        let mut nearest = 0;
        for (k, c) in centres.iter().enumerate() {
            if distance(p, c) < distance(p, &centres[nearest]) {
                nearest = k;
            }
        }
        let sum = &mut sums[nearest];
        *sum = (sum.0 + p.0, sum.1 + p.1, sum.2 + 1.0);
    }
    let mean = |(s, c): (&(f64, f64, f64), &Point)| match s.2 {
        0.0 => *c,
        n => (s.0 / n, s.1 / n),
    };
    let want: Vec<Point> = sums.iter().zip(&centres).map(mean).collect();
    let done = program(
        || numbers::k_means_step(&Array::from(&points), &Array::from(&centres)),
        [2, 2, 3],
        |moved| assert_eq!(moved, want),
    );
    // Each distance to each centre is computed once.
    assert_eq!(done.op(Op::Mul), 2 * (N * centres.len()) as u64);
}

/// One loop strikes out multiples, which are never stored; one collects the remaining numbers.
#[test]
fn sieve() {
    let small = [2u64, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31];
    let n = 1000;
    let is_prime = |p: &u64| (2..*p).all(|d| !p.is_multiple_of(d));
    let want: Vec<u64> = (2..n).filter(is_prime).collect();
    let done = program(
        || numbers::sieve(n, &Array::from(small)),
        [2, 4, 1],
        |primes| assert_eq!(primes, want),
    );
    let multiples: u64 = small.iter().map(|p| (n - 1 - p * p) / p + 1).sum();
    // Writes: a table of all numbers, the struck-out ones, and the remaining ones.
    assert_eq!(done.writes(), n + multiples + count(&want));
}
