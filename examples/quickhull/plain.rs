//! A convex hull in plain Rust, for comparison: Andrew's monotone chain.

use crate::hull::Point;
use std::cmp::Ordering;

/// Orders points lexicographically.
pub fn order(p: &Point, q: &Point) -> Ordering {
    p.0.total_cmp(&q.0).then(p.1.total_cmp(&q.1))
}

/// Computes the corners of the hull.
///
/// Points in the middle of an edge are excluded.
pub fn hull(points: &[Point]) -> Vec<Point> {
    let mut sorted = points.to_vec();
    sorted.sort_by(order);
    sorted.dedup();
    if sorted.len() < 3 {
        return sorted;
    }
    let mut corners = half(sorted.iter());
    corners.extend(half(sorted.iter().rev()));
    corners
}

/// One half of the hull, without its last point, which begins the other half.
fn half<'p>(points: impl Iterator<Item = &'p Point>) -> Vec<Point> {
    let mut chain: Vec<Point> = Vec::new();
    for p in points {
        while let [.., a, b] = chain[..] {
            if (b.0 - a.0) * (p.1 - a.1) - (b.1 - a.1) * (p.0 - a.0) > 0.0 {
                break;
            }
            chain.pop();
        }
        chain.push(*p);
    }
    chain.pop();
    chain
}
