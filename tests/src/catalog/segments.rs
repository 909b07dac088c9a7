//! Programs over segments: what runs for every line, row or group at once.

use super::Program;
use super::flow::Point;
use livefusion::prelude::*;

/// Points above lines, line by line: a segment for each line. Coordinates are arrays of their own,
/// as vectorisation leaves them.
pub struct Level {
    /// How many points each line has.
    pub lengths: Array<u64>,
    /// The points, line by line.
    pub points: [Array<f64>; 2],
    /// Where each line begins.
    pub from: [Array<f64>; 2],
    /// Where it ends.
    pub to: [Array<f64>; 2],
}

/// What a level of QuickHull gives.
pub struct Next {
    /// The points strictly on the left of their lines.
    pub above: Array<Point>,
    /// How many there are, for lines that have any.
    pub lengths: Array<u64>,
    /// These lines: begin, farthest point, end, and how far the point is.
    pub corners: Array<(Point, Point, Point, f64)>,
    /// Lines that have none: edges of the hull.
    pub edges: Array<(Point, Point)>,
    /// The area of the triangles of lines and farthest points, the length of the edges, and how
    /// many points are left.
    pub totals: Array<(f64, f64, u64), Ix0>,
}

/// QuickHull's core as LiveFusion runs it, a filterMax of segments: the points on the left of each
/// line, the farthest of them, and which lines go on. Each step is a combinator of its own.
pub fn quickhull_core(level: &Level) -> Next {
    let ([px, py], [x1, y1], [x2, y2]) = (&level.points, &level.from, &level.to);
    let (dx, dy) = (x2 - x1, y2 - y1);
    let points = Segmented::new(&level.lengths, px);
    let (right, up) = (px - points.broadcast(x1), py - points.broadcast(y1));
    let (wide, high) = (points.broadcast(&dx), points.broadcast(&dy));
    let cross = points.with_data((wide * up) - (high * right));
    let is_above = cross.data().map(|c| c.gt(0.0));
    let (xs, ys) = (
        points.pack(&is_above),
        points.with_data(py.clone()).pack(&is_above),
    );
    let crosses = cross.pack(&is_above);
    let counts = crosses.lengths();

    let above = xs.data().zip(ys.data());
    let measured = crosses.with_data(crosses.data().zip(&above));
    let farthest = measured.fold((0.0, (0.0, 0.0)), |p, q| q.0.gt(p.0).cond(q, p));
    let (far, corner) = farthest.unzip();
    let line = ((&dx * &dx) + (&dy * &dy)).map(|square| square.sqrt());
    let distance = &far / &line;

    let goes_on = counts.map(|n| n.gt(0));
    let ends = goes_on.map(|any| !any);
    let [a, b] = [(x1, y1), (x2, y2)].map(|(x, y)| x.pack(&goes_on).zip(&y.pack(&goes_on)));
    let [c, d] = [(x1, y1), (x2, y2)].map(|(x, y)| x.pack(&ends).zip(&y.pack(&ends)));
    let (corner, distance) = (corner.pack(&goes_on), distance.pack(&goes_on));
    let area = far.map(|cross| cross / 2.0).sum();
    let around = line.pack(&ends).sum();
    Next {
        above,
        lengths: counts.pack(&goes_on),
        corners: zip((&a, &corner, &b, &distance)),
        edges: c.zip(&d),
        totals: zip((&area, &around, &counts.sum())),
    }
}

/// A sparse matrix in compressed rows: where each row begins (and where the last one ends), the
/// columns and the values of its elements.
pub struct Sparse {
    /// One more than there are rows.
    pub offsets: Array<u32>,
    /// Of each element.
    pub columns: Array<u32>,
    /// Of each element.
    pub values: Array<f64>,
}

/// A sparse matrix times a vector.
pub fn sparse_times(m: &Sparse, x: &Array<f64>) -> Array<f64> {
    let products = m.values.zip_with(&m.columns, |value, column| {
        value * x.at(column.cast::<u64>())
    });
    Segmented::from_offsets(&m.offsets, &products).sum()
}

/// Softmax of each segment: three passes over a segment, one after the other.
pub fn softmax(rows: &Segmented<f64>) -> Array<f64> {
    let shifted = rows.zip_with_each(&rows.max(), |x, most| (x - most).exp());
    let shares = shifted.zip_with_each(&shifted.sum(), |x, total| x / total);
    shares.data().clone()
}

/// The sum of each segment's squares but for the least and the largest: what stands between them in ascending order.
pub fn trimmed_sums(rows: &Segmented<i64>) -> Array<i64> {
    rows.map_segments(|row| {
        let (n, sorted) = (row.len(), row.map(|x| x * x).sort());
        let inner = sorted.enumerate().filter(|(k, _)| k.gt(0) & (k + 1).lt(&n));
        inner.map(|(_, x)| x).sum()
    })
}

/// Sums, running sums and counts of segments, and the sum of all.
pub struct Sums {
    /// Of each segment.
    pub sums: Array<i64>,
    /// Of each segment's elements up to each.
    pub running: Array<i64>,
    /// How many are positive.
    pub positive: Array<u64>,
    /// Of everything.
    pub total: Array<i64, Ix0>,
}

/// Folds and scans of segments beside a fold of all.
pub fn sums(rows: &Segmented<i64>) -> Sums {
    Sums {
        sums: rows.sum(),
        running: rows.scan(0, |a, b| a + b).data().clone(),
        positive: rows.count(|x| x.gt(0)),
        total: rows.data().sum(),
    }
}

/// What two filters leave of segments, its lengths and sums, and what the first one left of each.
pub struct Left {
    /// The elements.
    pub data: Array<i64>,
    /// How many each segment has.
    pub lengths: Array<u64>,
    /// Their sums.
    pub sums: Array<i64>,
    /// How many the first filter left.
    pub before: Array<u64>,
}

/// Filters of segments, and folds of what they leave.
pub fn filters(rows: &Segmented<i64>) -> Left {
    let positive = rows.filter(|x| x.gt(0));
    let small = positive.filter(|x| x.lt(50));
    Left {
        data: small.data().clone(),
        lengths: small.lengths().clone(),
        sums: small.sum(),
        before: positive.lengths().clone(),
    }
}

/// The mean over each group of rows of the rows' largest elements: segments of segments.
pub fn mean_of_largest(groups: &Array<u64>, rows: &Segmented<f64>) -> Array<f64> {
    Segmented::new(groups, &rows.max()).mean()
}

/// An analysis of events, each of which has some particles: a histogram of how far apart the particles of each pair are, and how many
/// pairs of each event are close.
pub fn pairs_of_particles(events: &Segmented<f64>) -> (Array<u64>, Array<u64>) {
    let apart = events.combinations().map(|(a, b)| (a - b).abs());
    let counts = apart.data().histogram_uniform(0.0, 100.0, 10);
    (counts, apart.count(|d| d.lt(5.0)))
}

pub(super) fn all() -> Vec<Program> {
    let floats = |n: usize| -> Array<f64> { (0..n).map(|k| k as f64).collect() };
    let lengths = Array::from([2u64, 0, 4]);
    let next = quickhull_core(&Level {
        lengths: lengths.clone(),
        points: [floats(6), floats(6)],
        from: [floats(3), floats(3)],
        to: [floats(3), floats(3)],
    });
    let sparse = Sparse {
        offsets: Array::from([0u32, 2, 2, 6]),
        columns: Array::from([0u32, 1, 2, 0, 1, 2]),
        values: floats(6),
    };
    let rows = Segmented::new(&lengths, &floats(6));
    let ints = Segmented::new(&lengths, &Array::from([1i64, -2, 3, 4, 5, -6]));
    let (s, left) = (sums(&ints), filters(&ints));
    let groups = Array::from([1u64, 2]);
    let apart = pairs_of_particles(&rows);
    vec![
        Program::new(
            "QuickHull, all lines",
            (
                &next.above,
                &next.lengths,
                &next.corners,
                &next.edges,
                &next.totals,
            ),
        ),
        Program::new(
            "sparse matrix times vector",
            sparse_times(&sparse, &floats(3)),
        ),
        Program::new("softmax of segments", softmax(&rows)),
        Program::new("trimmed sums of segments", trimmed_sums(&ints)),
        Program::new(
            "sums of segments",
            (&s.sums, &s.running, &s.positive, &s.total),
        ),
        Program::new(
            "filters of segments",
            (&left.data, &left.lengths, &left.sums, &left.before),
        ),
        Program::new("segments of segments", mean_of_largest(&groups, &rows)),
        Program::new("pairs of particles", (&apart.0, &apart.1)),
    ]
}
