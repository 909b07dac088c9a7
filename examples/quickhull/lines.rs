//! QuickHull of all lines at once.
//!
//! The lines of a level are the polygon's edges in order. Each is split in two at the farthest point of its segment.

use crate::hull::{Point, extremes, farther};
use livefusion::prelude::*;
use livefusion::runtime::Explanation;

/// Holds the edges of a polygon, counter-clockwise, and the points outside.
pub struct Lines {
    /// The start of each line. Every array except `points` has one element per line.
    pub begin: Array<Point>,
    /// The farthest of its points. Meaningless if it has none.
    pub peak: Array<Point>,
    /// The end of each line.
    pub end: Array<Point>,
    /// The points strictly on its right, line after line.
    pub points: Segmented<Point>,
}

/// Holds the points that remain outside of the lines.
pub struct Outside {
    /// The points strictly on the right.
    pub points: Segmented<Point>,
    /// The farthest of them, for each line that has any.
    pub peak: Array<Point>,
}

/// Cuts each segment of points by a line of its own: the segmented form of [`cut`](crate::hull::cut).
fn outside(points: &Segmented<Point>, from: &Array<Point>, to: &Array<Point>) -> Outside {
    let lines = from.zip_with(to, |a, b| (a, (b.0 - a.0, b.1 - a.1)));
    let measured = points.zip_with_each(&lines, |(x, y), (a, (dx, dy))| {
        (dy * (x - a.0) - dx * (y - a.1), (x, y))
    });
    let right = measured.filter(|(distance, _)| distance.gt(0.0));
    let farthest = right.fold((0.0, (0.0, 0.0)), farther);
    Outside {
        points: right.map(|(_, point)| point),
        peak: farthest.map(|(_, point)| point),
    }
}

impl Lines {
    /// Creates a line there and back, so that the first level is like others.
    pub fn between(left: Point, right: Point, points: &Array<Point>) -> Lines {
        let one = |point: Point| Array::from(vec![point]);
        let all = replicate(1, &points.len());
        Lines {
            begin: one(left),
            peak: one(right),
            end: one(left),
            points: Segmented::new(&all, points),
        }
    }

    /// Cuts the points of each line by the line's two halves.
    ///
    /// This is the core of a level: one nested loop that visits each point once.
    pub fn halves(&self) -> (Outside, Outside) {
        (
            outside(&self.points, &self.begin, &self.peak),
            outside(&self.points, &self.peak, &self.end),
        )
    }

    /// Replaces lines that have points by their halves, and keeps the other lines.
    pub fn split(&self) -> Lines {
        let (first, second) = self.halves();
        let is_split = self.points.lengths().map(|n| n.gt(0));
        let always = is_split.map(|_| true);
        let stays = always.interleave(&is_split);
        let whole = (&is_split, &self.peak, &self.end);
        let first_end = whole.zip_with(|is_split, peak, end| is_split.cond(peak, end));
        let lengths = first.points.lengths().interleave(second.points.lengths());
        let points = first.points.append(&second.points);
        Lines {
            begin: self.begin.interleave(&self.peak).pack(&stays),
            peak: first.peak.interleave(&second.peak).pack(&stays),
            end: first_end.interleave(&self.end).pack(&stays),
            points: Segmented::new(&lengths.pack(&stays), points.data()),
        }
    }

    /// Computes the arrays.
    pub fn force(&self, engine: &Engine) -> livefusion::Result<()> {
        self.arrays().force_with(engine).map(|_| ())
    }

    /// Explains the loops of `force`.
    pub fn explain(&self, engine: &Engine) -> livefusion::Result<Explanation> {
        self.arrays().explain_with(engine)
    }

    fn arrays(&self) -> Arrays<'_> {
        let (lengths, points) = (self.points.lengths(), self.points.data());
        (&self.begin, &self.peak, &self.end, lengths, points)
    }

    /// Returns the state of a loop over levels.
    fn state(self) -> State {
        (self.begin, self.peak, self.end, self.points)
    }

    fn of((begin, peak, end, points): State) -> Lines {
        Lines {
            begin,
            peak,
            end,
            points,
        }
    }
}

type State = (Array<Point>, Array<Point>, Array<Point>, Segmented<Point>);

type Points<'a> = &'a Array<Point>;
type Arrays<'a> = (
    Points<'a>,
    Points<'a>,
    Points<'a>,
    &'a Array<u64>,
    Points<'a>,
);

/// Computes the corners of the convex hull.
///
/// They are in counter-clockwise order from the leftmost point. The levels are one loop over
/// arrays, until no line has points.
pub fn quickhull(engine: &Engine, points: &Array<Point>) -> livefusion::Result<Vec<Point>> {
    let (left, right) = extremes(engine, points)?;
    if left == right {
        return Ok(vec![left]);
    }
    let (corners, ..) = iterate_while(
        Lines::between(left, right, points).state(),
        |(.., points)| points.data().len().gt(0),
        |lines| Lines::of(lines).split().state(),
    );
    corners.force_with(engine)?.into_vec()
}
