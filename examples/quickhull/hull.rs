//! QuickHull, one line at a time.
//!
//! A cut by a line keeps the points on its right and finds the farthest one. It is a filter with
//! two consumers, which fuse into one loop. The recursion is plain Rust.

use livefusion::prelude::*;

/// Names a longitude and a latitude.
pub type Point = (f64, f64);

/// Names a distance from a line and its point, as expressions.
pub type Measured = (Exp<f64>, (Exp<f64>, Exp<f64>));

/// Holds the result of a cut by a line.
pub struct Cut {
    /// The points strictly on its right.
    pub kept: Array<Point>,
    /// The farthest of them, with its (scaled) distance.
    pub farthest: Array<(f64, Point), Ix0>,
}

/// Cuts points by the line from `a` to `b`.
///
/// The numbers become parameters of the compiled loop, so that all cuts run the same code.
pub fn cut(points: &Array<Point>, a: Point, b: Point) -> Cut {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let measured = points.map(|(x, y)| (dy * (x - a.0) - dx * (y - a.1), (x, y)));
    let right = measured.filter(|(distance, _)| distance.gt(0.0));
    let farthest = right.fold((0.0, (0.0, 0.0)), farther);
    Cut {
        kept: right.map(|(_, point)| point),
        farthest,
    }
}

/// Returns the one with the larger distance.
///
/// Of several at the same distance it returns the first in lexicographic order, which is certainly
/// a corner.
pub fn farther(p: Measured, q: Measured) -> Measured {
    let (same, before) = (q.0.eq(p.0), precedes(q.1, p.1));
    (q.0.gt(p.0) | same & before).cond(q, p)
}

fn precedes(p: (Exp<f64>, Exp<f64>), q: (Exp<f64>, Exp<f64>)) -> Exp<bool> {
    p.0.lt(q.0) | p.0.eq(q.0) & p.1.lt(q.1)
}

/// Finds the leftmost and the rightmost point.
///
/// Of several it takes the lowest and the highest.
pub fn extremes(engine: &Engine, points: &Array<Point>) -> livefusion::Result<(Point, Point)> {
    let leftmost = points.fold1(|p, q| precedes(q, p).cond(q, p));
    let rightmost = points.fold1(|p, q| precedes(p, q).cond(q, p));
    // One loop computes both, and the points themselves if they are delayed.
    let (_, left, right) = (points, &leftmost, &rightmost).force_with(engine)?;
    Ok((left, right))
}

/// Computes the corners of the convex hull.
///
/// They are in counter-clockwise order from the leftmost point.
pub fn quickhull(engine: &Engine, points: &Array<Point>) -> livefusion::Result<Vec<Point>> {
    let (left, right) = extremes(engine, points)?;
    let mut corners = vec![left];
    if left != right {
        side(engine, points, left, right, &mut corners)?;
        corners.push(right);
        side(engine, points, right, left, &mut corners)?;
    }
    Ok(corners)
}

/// Appends the corners strictly right of the line from `a` to `b`, in order.
fn side(
    engine: &Engine,
    points: &Array<Point>,
    a: Point,
    b: Point,
    corners: &mut Vec<Point>,
) -> livefusion::Result<()> {
    let cut = cut(points, a, b);
    let (kept, (_, far)) = (&cut.kept, &cut.farthest).force_with(engine)?;
    if kept.is_empty() {
        return Ok(());
    }
    side(engine, &cut.kept, a, far, corners)?;
    corners.push(far);
    side(engine, &cut.kept, far, b, corners)
}
