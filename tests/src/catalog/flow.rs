//! Programs of flow fusion: few combinators, with several consumers per result.

use super::Program;
use livefusion::prelude::*;

/// Describes a point of the plane.
pub type Point = (f64, f64);

/// Increments numbers, keeps the positive ones, and finds their maximum.
///
/// The maximum is at least 0.
pub fn filter_max(xs: &Array<i64>) -> (Array<i64>, Array<i64, Ix0>) {
    let kept = xs.map(|x| x + 1).filter(|x| x.gt(0));
    let most = kept.fold(0, |a, b| a.max(b));
    (kept, most)
}

/// Returns the sum of dot products of pairs of plane vectors.
///
/// The vectors are four arrays.
pub fn dot_product(
    (x1, y1): (&Array<f64>, &Array<f64>),
    (x2, y2): (&Array<f64>, &Array<f64>),
) -> Array<f64, Ix0> {
    ((x1 * x2) + (y1 * y2)).sum()
}

/// Doubles numbers, then adds a constant, and subtracts it.
pub fn map_map(xs: &Array<i64>) -> (Array<i64>, Array<i64>) {
    let twice = xs.map(|x| x * 2);
    (twice.map(|x| x + 50), twice.map(|x| x - 50))
}

/// Returns the positive numbers, the sum of all, and their sum.
pub fn filter_sum(xs: &Array<i64>) -> (Array<i64>, Array<i64, Ix0>, Array<i64, Ix0>) {
    let kept = xs.filter(|x| x.gt(0));
    let (before, after) = (xs.sum(), kept.sum());
    (kept, before, after)
}

/// Filters numbers, then filters the result.
pub fn nested_filter(xs: &Array<i64>) -> (Array<i64>, Array<i64>) {
    let outer = xs.filter(|x| x.gt(0));
    let inner = outer.filter(|x| x.lt(50));
    (outer, inner)
}

/// Finds the leftmost and the rightmost point, QuickHull's first step.
pub fn quickhull_ends(points: &Array<Point>) -> (Array<Point, Ix0>, Array<Point, Ix0>) {
    let left = points.fold1(|p, q| q.0.lt(p.0).cond(q, p));
    let right = points.fold1(|p, q| q.0.gt(p.0).cond(q, p));
    (left, right)
}

/// Finds the points left of a line, and the farthest of them.
///
/// This is QuickHull's other step. The distance is scaled by the length of the line.
pub fn quickhull_step(
    points: &Array<Point>,
    (a, b): (Point, Point),
) -> (Array<Point>, Array<(f64, Point), Ix0>) {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let measured = points.map(|(x, y)| (dx * (y - a.1) - dy * (x - a.0), (x, y)));
    let left = measured.filter(|(distance, _)| distance.gt(0.0));
    let farthest = left.fold((0.0, (0.0, 0.0)), |p, q| q.0.gt(p.0).cond(q, p));
    (left.map(|(_, point)| point), farthest)
}

/// Converts fractions of at least one per cent to percentages.
pub fn to_percentages(xs: &Array<f64>) -> Array<f64> {
    xs.filter(|x| x.ge(0.01)).map(|x| x * 100.0)
}

pub(super) fn all() -> Vec<Program> {
    let xs = Array::from(vec![3i64, -1, 60]);
    let [us, v1, v2, v3] = [0.5f64, 1.5, 2.5, 3.5].map(|u| Array::from(vec![u, 0.25]));
    let points = Array::from(vec![(0.0, 0.0), (1.0, 2.0), (2.0, 0.0)]);
    let (kept, most) = filter_max(&xs);
    let (up, down) = map_map(&xs);
    let (some, before, after) = filter_sum(&xs);
    let (outer, inner) = nested_filter(&xs);
    let (leftmost, rightmost) = quickhull_ends(&points);
    let (above, farthest) = quickhull_step(&points, ((0.0, 0.0), (2.0, 0.0)));
    vec![
        Program::new("filterMax", (&kept, &most)),
        Program::new("dotProduct", dot_product((&us, &v1), (&v2, &v3))),
        Program::new("mapMap", (&up, &down)),
        Program::new("filterSum", (&some, &before, &after)),
        Program::new("nestedFilter", (&outer, &inner)),
        Program::new("QuickHull, ends", (&leftmost, &rightmost)),
        Program::new("QuickHull, one line", (&above, &farthest)),
        Program::new("percentages", to_percentages(&us)),
    ]
}
