//! QuickHull's core, sparse matrices, softmax, segment sums: one nested loop each.

use crate::{N, count, floats, numbers, program};
use livefusion::{Array, Force, Ix0, Segmented};
use livefusion_tests::catalog::Program;
use livefusion_tests::catalog::flow::Point;
use livefusion_tests::catalog::segments::{self, Level, Next, Sparse};
use loop_lang::Op;

/// Lengths that add up to `n`, some of them 0.
fn lengths(n: usize) -> Vec<u64> {
    let mut left = n as u64;
    let random = numbers(9, 60).into_iter().map(|x| x.max(0) as u64);
    let mut all: Vec<u64> = random
        .map(|len| {
            let len = len.min(left);
            left -= len;
            len
        })
        .collect();
    all.push(left);
    all
}

/// The slices of these lengths.
fn cut<'a, T>(mut of: &'a [T], lengths: &[u64]) -> Vec<&'a [T]> {
    let mut next = |len: &u64| {
        let (head, tail) = of.split_at(*len as usize);
        of = tail;
        head
    };
    lengths.iter().map(&mut next).collect()
}

/// Points above lines, in plain Rust.
struct Plain {
    lengths: Vec<u64>,
    points: Vec<Point>,
    lines: Vec<(Point, Point)>,
}

impl Plain {
    fn new() -> Plain {
        let lengths = lengths(N);
        let points: Vec<Point> = floats(1, N).into_iter().zip(floats(2, N)).collect();
        let ends = |seed| {
            floats(seed, lengths.len())
                .into_iter()
                .zip(floats(seed + 1, lengths.len()))
        };
        let lines = ends(3).zip(ends(5)).collect();
        Plain {
            lengths,
            points,
            lines,
        }
    }

    fn level(&self) -> Level {
        let column =
            |f: fn(&(Point, Point)) -> f64| -> Array<f64> { self.lines.iter().map(f).collect() };
        Level {
            lengths: Array::from(&self.lengths),
            points: [
                self.points.iter().map(|p| p.0).collect(),
                self.points.iter().map(|p| p.1).collect(),
            ],
            from: [column(|l| l.0.0), column(|l| l.0.1)],
            to: [column(|l| l.1.0), column(|l| l.1.1)],
        }
    }

    /// For each line, the points above it with their distances.
    fn above(&self) -> Vec<Vec<(f64, Point)>> {
        let cross = |(a, b): (Point, Point), p: &Point| {
            (b.0 - a.0) * (p.1 - a.1) - (b.1 - a.1) * (p.0 - a.0)
        };
        let segments = cut(&self.points, &self.lengths)
            .into_iter()
            .zip(&self.lines);
        let of_line = |(points, line): (&[Point], &(Point, Point))| {
            let measured = points.iter().map(|p| (cross(*line, p), *p));
            measured.filter(|(c, _)| *c > 0.0).collect()
        };
        segments.map(of_line).collect()
    }
}

type Corner = (Point, Point, Point, f64);

type Results = (
    Array<Point>,
    Array<u64>,
    Array<Corner>,
    Array<(Point, Point)>,
    Array<(f64, f64, u64), Ix0>,
);

fn results(next: Next) -> Results {
    let Next {
        above,
        lengths,
        corners,
        edges,
        totals,
    } = next;
    (above, lengths, corners, edges, totals)
}

fn check_hull(plain: &Plain, (points, lengths, corners, edges, totals): <Results as Force>::Out) {
    let above = plain.above();
    assert!(
        points
            .into_iter()
            .eq(above.iter().flatten().map(|(_, p)| *p))
    );
    let counts: Vec<u64> = above.iter().map(count).filter(|n| *n > 0).collect();
    assert_eq!(lengths, counts);
    let first = (0.0, (0.0, 0.0));
    let farther = |m: (f64, Point), p: &(f64, Point)| if p.0 > m.0 { *p } else { m };
    let farthest = |of: &Vec<(f64, Point)>| of.iter().fold(first, farther);
    let length = |(a, b): &(Point, Point)| {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        (dx * dx + dy * dy).sqrt()
    };
    let lines = plain.lines.iter().zip(&above);
    let (done, left): (Vec<_>, Vec<_>) = lines.partition(|(_, above)| above.is_empty());
    assert!(edges.into_iter().eq(done.iter().map(|(line, _)| **line)));
    let corner = |(line, above): &(&(Point, Point), &Vec<(f64, Point)>)| {
        let (cross, point) = farthest(above);
        (line.0, point, line.1, cross / length(line))
    };
    assert!(corners.into_iter().eq(left.iter().map(corner)));
    let area: f64 = above.iter().map(|of| farthest(of).0 / 2.0).sum();
    let around: f64 = done.iter().map(|(line, _)| length(line)).sum();
    assert!((totals.0, totals.2) == (area, counts.iter().sum()));
    assert!((totals.1 - around).abs() <= 1e-12 * around);
}

/// The segmented filterMax: a loop over the lines, with a loop over each line's points inside.
/// Distances are computed once. They decide which points to keep, count them, and find the
/// farthest.
#[test]
fn quickhull_core() {
    let plain = Plain::new();
    let done = program(
        || results(segments::quickhull_core(&plain.level())),
        [1, 5, 0],
        |forced| check_hull(&plain, forced),
    );
    let (points, lines) = (N as u64, count(&plain.lines));
    assert_eq!(done.reads(), 2 * points + 5 * lines);
    assert_eq!(done.op(Op::Mul), 2 * points + 2 * lines);
    let above = plain.above();
    let (kept, hit) = (
        count(above.iter().flatten()),
        count(above.iter().filter(|a| !a.is_empty())),
    );
    assert_eq!(done.writes(), 2 * kept + 8 * hit + 4 * (lines - hit));
}

#[test]
fn quickhull_core_is_large() {
    let next = segments::quickhull_core(&Plain::new().level());
    let combinators = Program::new("core", results(next)).combinators();
    assert!(combinators.is_ok_and(|n| n > 40));
}

#[test]
fn sparse_times() {
    let (lengths, values, x) = (lengths(N), floats(1, N), floats(2, 50));
    let mut end = 0;
    let ends = lengths.iter().map(|n| {
        end += *n as u32;
        end
    });
    let offsets: Vec<u32> = [0].into_iter().chain(ends).collect();
    let columns: Vec<u32> = numbers(3, N)
        .iter()
        .map(|k| (k + 100) as u32 % 50)
        .collect();
    let products: Vec<f64> = values
        .iter()
        .zip(&columns)
        .map(|(v, c)| v * x[*c as usize])
        .collect();
    let want: Vec<f64> = cut(&products, &lengths)
        .iter()
        .map(|row| row.iter().sum())
        .collect();
    let done = program(
        || {
            let matrix = Sparse {
                offsets: Array::from(&offsets),
                columns: Array::from(&columns),
                values: Array::from(&values),
            };
            segments::sparse_times(&matrix, &Array::from(&x))
        },
        [1, 2, 0],
        |y| assert_eq!(y, want),
    );
    let rows = count(&lengths);
    assert_eq!((done.op(Op::Mul), done.writes()), (N as u64, rows));
    // Reads: the column, the value and the vector element of each element; the start and the end of
    // each row.
    assert_eq!(done.reads(), 3 * N as u64 + 2 * rows);
}

/// One loop over the segments, with three successive loops over each segment's elements inside.
#[test]
fn softmax() {
    let (lengths, xs) = (lengths(N), floats(1, N));
    let lengths: Vec<u64> = lengths.into_iter().filter(|n| *n > 0).collect();
    let want: Vec<f64> = cut(&xs, &lengths)
        .into_iter()
        .flat_map(|row| {
            let most = row.iter().copied().fold(f64::MIN, f64::max);
            let total: f64 = row.iter().map(|x| (x - most).exp()).sum();
            row.iter().map(move |x| (x - most).exp() / total)
        })
        .collect();
    let done = program(
        || segments::softmax(&Segmented::new(&Array::from(&lengths), &Array::from(&xs))),
        [1, 4, 1],
        |shares| {
            let close = |(a, b): (f64, &f64)| (a - b).abs() <= 1e-14 * b.abs();
            assert!(shares.into_iter().zip(&want).all(close));
        },
    );
    assert_eq!((done.op(Op::Exp), done.op(Op::Div)), (N as u64, N as u64));
}

/// One loop over the segments, with two loops over each segment's elements inside, and a sort
/// between them. Squares and the test for inner positions are computed once. Memory holds both
/// arrays of one segment only.
#[test]
fn trimmed_sums() {
    let (lengths, xs) = (lengths(N), numbers(1, N));
    let trimmed = |row: &[i64]| -> i64 {
        let mut squares: Vec<i64> = row.iter().map(|x| x * x).collect();
        squares.sort();
        let inner = squares.iter().skip(1).rev().skip(1);
        inner.sum()
    };
    let want: Vec<i64> = cut(&xs, &lengths).into_iter().map(trimmed).collect();
    let done = program(
        || segments::trimmed_sums(&Segmented::new(&Array::from(&lengths), &Array::from(&xs))),
        [1, 3, 2],
        |sums| assert_eq!(sums, want),
    );
    assert_eq!(done.op(Op::Mul), N as u64);
    // Reads: each element, its square, and whether it is an inner one; each length.
    assert_eq!(done.reads(), 3 * N as u64 + count(&lengths));
}

#[test]
fn sums_of_segments() {
    let (lengths, xs) = (lengths(N), numbers(1, N));
    let rows = cut(&xs, &lengths);
    let sum = |row: &&[i64]| row.iter().sum::<i64>();
    let running = rows.iter().flat_map(|row| {
        row.iter().scan(0, |sum, x| {
            *sum += x;
            Some(*sum)
        })
    });
    let (want, running): (Vec<i64>, Vec<i64>) = (rows.iter().map(sum).collect(), running.collect());
    let positive: Vec<u64> = rows
        .iter()
        .map(|r| count(r.iter().filter(|x| **x > 0)))
        .collect();
    let done = program(
        || {
            let s = segments::sums(&Segmented::new(&Array::from(&lengths), &Array::from(&xs)));
            (s.sums, s.running, s.positive, s.total)
        },
        [1, 2, 0],
        |(sums, scanned, counts, total)| {
            assert_eq!(sums, want);
            assert_eq!(scanned, running);
            assert_eq!(counts, positive);
            assert_eq!(total, xs.iter().sum());
        },
    );
    assert_eq!(done.reads(), N as u64 + count(&lengths));
    assert_eq!(done.writes(), N as u64 + 2 * count(&lengths));
}

/// The lengths of filtered segments are known after each segment. No consumer of the elements waits
/// for them, so one pass over each segment suffices.
#[test]
fn filters_of_segments() {
    let (lengths, xs) = (lengths(N), numbers(1, N));
    let rows = cut(&xs, &lengths);
    let left = |row: &&[i64]| -> Vec<i64> {
        let small = row.iter().filter(|x| (1..50).contains(*x));
        small.copied().collect()
    };
    let want: Vec<Vec<i64>> = rows.iter().map(left).collect();
    let positive = |row: &&[i64]| count(row.iter().filter(|x| **x > 0));
    let done = program(
        || {
            let rows = Segmented::new(&Array::from(&lengths), &Array::from(&xs));
            let left = segments::filters(&rows);
            (left.data, left.lengths, left.sums, left.before)
        },
        [1, 3, 0],
        |(data, counts, sums, before)| {
            assert_eq!(data, want.concat());
            assert!(counts.into_iter().eq(want.iter().map(count)));
            assert!(sums.into_iter().eq(want.iter().map(|r| r.iter().sum())));
            assert!(before.into_iter().eq(rows.iter().map(positive)));
        },
    );
    assert_eq!(done.reads(), N as u64 + count(&lengths));
    assert_eq!(done.op(Op::Gt), N as u64);
}

/// One very long segment among empty ones: the same loop, with as many steps as elements and
/// segments.
#[test]
fn one_giant_segment() {
    let (n, others) = if cfg!(debug_assertions) {
        (100_000, 10_000)
    } else {
        (10_000_000, 1_000_000)
    };
    let mut lengths = vec![0u64; others];
    lengths[others / 3] = n as u64;
    let mut want = vec![0i64; others];
    want[others / 3] = (0..n as i64).sum();
    let done = program(
        || {
            let data = livefusion::array::iota(n as u64).map(|i| i.cast::<i64>());
            Segmented::new(&Array::from(&lengths), &data).sum()
        },
        [1, 2, 0],
        |sums| assert_eq!(sums, want),
    );
    assert_eq!(
        (done.reads(), done.writes()),
        (others as u64, others as u64)
    );
}

/// Groups of rows: three nested loops.
#[test]
fn mean_of_largest() {
    let (lengths, xs) = (lengths(N), floats(1, N));
    let lengths: Vec<u64> = lengths.into_iter().filter(|n| *n > 0).collect();
    let groups = [3, 0, lengths.len() as u64 - 3];
    let most: Vec<f64> = cut(&xs, &lengths)
        .iter()
        .map(|r| r.iter().copied().fold(f64::MIN, f64::max))
        .collect();
    let mean = |group: &[f64]| group.iter().sum::<f64>() / group.len() as f64;
    let want: Vec<f64> = cut(&most, &groups).into_iter().map(mean).collect();
    let done = program(
        || {
            let rows = Segmented::new(&Array::from(&lengths), &Array::from(&xs));
            segments::mean_of_largest(&Array::from(groups), &rows)
        },
        [1, 3, 0],
        |means| {
            assert!(means[1].is_nan());
            assert_eq!([means[0], means[2]], [want[0], want[2]]);
        },
    );
    assert_eq!(
        (done.reads(), done.writes()),
        (N as u64 + count(&lengths) + 3, 3)
    );
}

/// All pairs within events: three nested loops, and no pair in memory.
#[test]
fn pairs_of_particles() {
    let (lengths, xs) = (lengths(N), floats(1, N));
    let events = cut(&xs, &lengths);
    let apart = |event: &[f64]| -> Vec<f64> {
        let behind = |i: usize| event[i + 1..].iter().map(move |b| (event[i] - b).abs());
        (0..event.len()).flat_map(behind).collect()
    };
    let all: Vec<Vec<f64>> = events.into_iter().map(apart).collect();
    let mut want = [0u64; 10];
    for d in all.iter().flatten().filter(|d| **d <= 100.0) {
        want[((d / 10.0) as usize).min(9)] += 1;
    }
    let close: Vec<u64> = all
        .iter()
        .map(|event| count(event.iter().filter(|d| **d < 5.0)))
        .collect();
    let done = program(
        || {
            let events = Segmented::new(&Array::from(&lengths), &Array::from(&xs));
            segments::pairs_of_particles(&events)
        },
        [1, 3, 0],
        |(counts, of_each)| {
            assert_eq!(counts, want);
            assert_eq!(of_each, close);
        },
    );
    let pairs = all.iter().map(Vec::len).sum::<usize>() as u64;
    // Reads: the second particle of each pair, and the bin that it increments.
    assert_eq!(done.reads(), count(&lengths) + N as u64 + 2 * pairs);
    // One distance, whose place among the bins and whose nearest edge are a product each.
    assert_eq!(done.op(Op::Abs), pairs);
    assert_eq!(done.op(Op::Mul), 2 * pairs);
}
