//! QuickHull: one step, and the whole algorithm.

use super::{Agreement, Case, Ours, fused, prepared, unfused};
use crate::data::{Data, Input, Random, uniform};
use livefusion::prelude::*;
use livefusion::prepare::{Program, prepare_with};
use ndarray::{ArrayView1, Zip};
use std::rc::Rc;

/// A point of the plane.
type Point = (f64, f64);

/// Finds the points left of a line, and the farthest with its distance.
///
/// Half of the points are kept.
pub const STEP: Case = Case {
    name: "quickHullStep",
    file: "quickhull_step.c",
    large: 10_000_000,
    agreement: Agreement::Within(1e-12),
    input: |n| {
        vec![
            uniform(1, n),
            uniform(2, n),
            Data::input(vec![0.0, 0.0, 1.0, 1.0]),
        ]
    },
    reference: step_by_loop,
    ours: step,
    rust: &[unfused(step_by_passes), fused(step_by_loop)],
};

/// Computes the convex hull of points in a disc.
///
/// Corners are in counter-clockwise order from the leftmost point. The recursion is plain Rust;
/// each cut is a call of one prepared program.
pub const WHOLE: Case = Case {
    name: "quickHull",
    file: "quickhull.c",
    large: 10_000_000,
    agreement: Agreement::Exact,
    input: disc,
    reference: hull_by_hand,
    ours: hull,
    rust: &[fused(hull_by_hand)],
};

fn line(input: &Input) -> (Point, Point) {
    match *input[2].of::<f64>() {
        [ax, ay, bx, by] => ((ax, ay), (bx, by)),
        _ => Default::default(),
    }
}

fn step(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let (a, b) = line(input);
    let columns = (input[0].array::<f64>(), input[1].array::<f64>());
    let [a, b] = [a, b].map(Array::scalar);
    prepared(engine, columns, |(x, y): (Array<f64>, Array<f64>)| {
        cut(&zip((&x, &y)), &a, &b)
    })
}

/// The points left of a line, and the farthest of them with its distance.
type Parts = (Array<Point>, Array<(f64, Point), Ix0>);

/// The user's version of a cut.
fn cut(points: &Array<Point>, a: &Array<Point, Ix0>, b: &Array<Point, Ix0>) -> Parts {
    let measured = points.map(|(x, y)| {
        let ((ax, ay), (bx, by)) = (a.value(), b.value());
        ((bx - ax) * (y - ay) - (by - ay) * (x - ax), (x, y))
    });
    let left = measured.filter(|(distance, _)| distance.gt(0.0));
    let farthest = left.fold((0.0, (0.0, 0.0)), |p, q| q.0.gt(p.0).cond(q, p));
    (left.map(|(_, point)| point), farthest)
}

fn step_results(xs: Vec<f64>, ys: Vec<f64>, far: [f64; 3]) -> Vec<Data> {
    let far = far.map(|x| Data::result(vec![x]));
    [Data::result(xs), Data::result(ys)]
        .into_iter()
        .chain(far)
        .collect()
}

fn step_by_passes(input: &Input) -> Vec<Data> {
    let (a, b) = line(input);
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let [x, y] = [0, 1].map(|k| ArrayView1::from(input[k].of::<f64>()));
    let distance = dx * (&y - a.1) - dy * (&x - a.0);
    let mut left = Vec::with_capacity(x.len());
    Zip::from(&distance).and(&x).and(&y).for_each(|d, x, y| {
        if *d > 0.0 {
            left.push((*d, *x, *y));
        }
    });
    let far = left
        .iter()
        .fold((0.0, 0.0, 0.0), |p, q| if q.0 > p.0 { *q } else { p });
    let (xs, ys) = left.iter().map(|(_, x, y)| (x, y)).unzip();
    step_results(xs, ys, far.into())
}

fn step_by_loop(input: &Input) -> Vec<Data> {
    let (a, b) = line(input);
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (x, y) = (input[0].of::<f64>(), input[1].of::<f64>());
    let (mut xs, mut ys) = (Vec::with_capacity(x.len()), Vec::with_capacity(x.len()));
    let mut far = [0.0; 3];
    for (&x, &y) in x.iter().zip(y) {
        let d = dx * (y - a.1) - dy * (x - a.0);
        if d > 0.0 {
            xs.push(x);
            ys.push(y);
            if d > far[0] {
                far = [d, x, y];
            }
        }
    }
    step_results(xs, ys, far)
}

fn disc(n: usize) -> Input {
    let mut random = Random::new(1);
    let (mut xs, mut ys) = (Vec::with_capacity(n), Vec::with_capacity(n));
    while xs.len() < n {
        let (x, y) = (2.0 * random.unit() - 1.0, 2.0 * random.unit() - 1.0);
        if x * x + y * y <= 1.0 {
            xs.push(x);
            ys.push(y);
        }
    }
    vec![Data::input(xs), Data::input(ys)]
}

fn hull(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let cut: Cut = prepare_with(engine, |(points, a, b)| cut(&points, &a, &b))?;
    let all = Rc::new((engine.clone(), cut, input.clone()));
    let again = all.clone();
    Ok(Ours {
        run: Box::new(move || corners(&all.0, &all.1, &all.2).map(drop)),
        results: Box::new(move || {
            let (xs, ys) = corners(&again.0, &again.1, &again.2)?.into_iter().unzip();
            Ok([xs, ys].map(Data::result::<f64>).to_vec())
        }),
    })
}

/// A compiled cut.
type Cut = Program<(Array<Point>, Array<Point, Ix0>, Array<Point, Ix0>), Parts>;

fn corners(engine: &Engine, cut: &Cut, input: &Input) -> livefusion::Result<Vec<Point>> {
    let points = zip((&input[0].array::<f64>(), &input[1].array::<f64>()));
    let leftmost = points.fold1(|p, q| q.0.lt(p.0).cond(q, p));
    let rightmost = points.fold1(|p, q| q.0.gt(p.0).cond(q, p));
    let (points, left, right) = (&points, &leftmost, &rightmost).force_with(engine)?;
    let points = Array::from(points);
    let mut corners = vec![left];
    side(cut, &points, left, right, &mut corners)?;
    corners.push(right);
    side(cut, &points, right, left, &mut corners)?;
    Ok(corners)
}

/// Appends the corners strictly right of the line from `a` to `b`. They are the corners left of the
/// reverse line.
fn side(
    cut: &Cut,
    points: &Array<Point>,
    a: Point,
    b: Point,
    corners: &mut Vec<Point>,
) -> livefusion::Result<()> {
    let ends = (points.clone(), Array::scalar(b), Array::scalar(a));
    let (kept, (_, far)) = cut.call(&ends)?;
    if kept.is_empty() {
        return Ok(());
    }
    let kept = Array::from(kept);
    side(cut, &kept, a, far, corners)?;
    corners.push(far);
    side(cut, &kept, far, b, corners)
}

fn hull_by_hand(input: &Input) -> Vec<Data> {
    let points: Vec<Point> = {
        let both = input[0].of::<f64>().iter().zip(input[1].of::<f64>());
        both.map(|(x, y)| (*x, *y)).collect()
    };
    let by_x = |p: &&Point, q: &&Point| p.0.total_cmp(&q.0);
    let ends = (points.iter().min_by(by_x), points.iter().max_by(by_x));
    let mut corners = Vec::new();
    if let (Some(left), Some(right)) = ends {
        corners.push(*left);
        side_by_hand(&points, *left, *right, &mut corners);
        corners.push(*right);
        side_by_hand(&points, *right, *left, &mut corners);
    }
    let (xs, ys) = corners.into_iter().unzip();
    [xs, ys].map(Data::result::<f64>).to_vec()
}

fn side_by_hand(points: &[Point], a: Point, b: Point, corners: &mut Vec<Point>) {
    let (dx, dy) = (a.0 - b.0, a.1 - b.1);
    let (mut kept, mut far) = (Vec::new(), (0.0, (0.0, 0.0)));
    for &(x, y) in points {
        let d = dx * (y - b.1) - dy * (x - b.0);
        if d > 0.0 {
            kept.push((x, y));
            if d > far.0 {
                far = (d, (x, y));
            }
        }
    }
    if !kept.is_empty() {
        side_by_hand(&kept, a, far.1, corners);
        corners.push(far.1);
        side_by_hand(&kept, far.1, b, corners);
    }
}
