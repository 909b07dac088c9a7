//! Programs over segments: computations for each line, row or group.

use super::Program;
use super::flow::Point;
use livefusion::prelude::*;

/// Holds the points above each line, one segment per line.
///
/// Coordinates are separate arrays, as vectorisation leaves them.
pub struct Level {
    /// The number of points per line.
    pub lengths: Array<u64>,
    /// The points, line by line.
    pub points: [Array<f64>; 2],
    /// The start of each line.
    pub from: [Array<f64>; 2],
    /// The end of each line.
    pub to: [Array<f64>; 2],
}

/// Holds the results of a level of QuickHull.
pub struct Next {
    /// The points strictly left of their lines.
    pub above: Array<Point>,
    /// The number of points per line, for lines with points.
    pub lengths: Array<u64>,
    /// These lines: start, farthest point, end, and the point's distance.
    pub corners: Array<(Point, Point, Point, f64)>,
    /// Lines without points, which are edges of the hull.
    pub edges: Array<(Point, Point)>,
    /// The area of the triangles of lines and farthest points, the length of the edges, and the
    /// number of remaining points.
    pub totals: Array<(f64, f64, u64), Ix0>,
}

/// Runs QuickHull's core like LiveFusion, as a segmented filterMax.
///
/// It finds the points left of each line, the farthest of them, and the lines to continue. Each
/// step is a combinator of its own.
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

/// Holds a sparse matrix in compressed rows.
pub struct Sparse {
    /// The start of each row, and the end of the last row.
    pub offsets: Array<u32>,
    /// The column of each element.
    pub columns: Array<u32>,
    /// The value of each element.
    pub values: Array<f64>,
}

/// Multiplies a sparse matrix by a vector.
pub fn sparse_times(m: &Sparse, x: &Array<f64>) -> Array<f64> {
    let products = m.values.zip_with(&m.columns, |value, column| {
        value * x.at(column.cast::<u64>())
    });
    Segmented::from_offsets(&m.offsets, &products).sum()
}

/// Computes softmax of each segment in three passes.
pub fn softmax(rows: &Segmented<f64>) -> Array<f64> {
    let shifted = rows.zip_with_each(&rows.max(), |x, most| (x - most).exp());
    let shares = shifted.zip_with_each(&shifted.sum(), |x, total| x / total);
    shares.data().clone()
}

/// Sums each segment's squares without the smallest and the largest.
///
/// The squares are sorted first.
pub fn trimmed_sums(rows: &Segmented<i64>) -> Array<i64> {
    rows.map_segments(|row| {
        let (n, sorted) = (row.len(), row.map(|x| x * x).sort());
        let inner = sorted.enumerate().filter(|(k, _)| k.gt(0) & (k + 1).lt(&n));
        inner.map(|(_, x)| x).sum()
    })
}

/// Holds sums, running sums and counts of segments, and the total.
pub struct Sums {
    /// The sum of each segment.
    pub sums: Array<i64>,
    /// The running sums within each segment.
    pub running: Array<i64>,
    /// The number of positive elements.
    pub positive: Array<u64>,
    /// The sum of everything.
    pub total: Array<i64, Ix0>,
}

/// Folds and scans segments, and folds all elements.
pub fn sums(rows: &Segmented<i64>) -> Sums {
    Sums {
        sums: rows.sum(),
        running: rows.scan(0, |a, b| a + b).data().clone(),
        positive: rows.count(|x| x.gt(0)),
        total: rows.data().sum(),
    }
}

/// Holds the results of two filters of segments.
pub struct Left {
    /// The elements.
    pub data: Array<i64>,
    /// The number of elements per segment.
    pub lengths: Array<u64>,
    /// Their sums.
    pub sums: Array<i64>,
    /// The number of elements per segment after the first filter.
    pub before: Array<u64>,
}

/// Filters segments twice, and folds the results.
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

/// Averages row maxima over groups of rows, which are segments of segments.
pub fn mean_of_largest(groups: &Array<u64>, rows: &Segmented<f64>) -> Array<f64> {
    Segmented::new(groups, &rows.max()).mean()
}

/// Analyses the particles of events.
///
/// The results are a histogram of the distance of each pair, and the number of close pairs per
/// event.
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
