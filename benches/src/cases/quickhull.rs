//! QuickHull: one step of it, and the whole.

use super::{Agreement, Case, Ours, fused, prepared, unfused};
use crate::data::{Data, Input, uniform};
use livefusion::prelude::*;
use ndarray::{ArrayView1, Zip};

/// A point of the plane.
type Point = (f64, f64);

/// The points on the left of a line, and the farthest of them with its distance. Half of them are kept.
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

fn line(input: &Input) -> (Point, Point) {
    match *input[2].of::<f64>() {
        [ax, ay, bx, by] => ((ax, ay), (bx, by)),
        _ => Default::default(),
    }
}

fn step(engine: &Engine, input: &Input) -> livefusion::Result<Ours> {
    let (a, b) = line(input);
    let columns = (input[0].array::<f64>(), input[1].array::<f64>());
    prepared(engine, columns, |(x, y): (Array<f64>, Array<f64>)| {
        let (left, farthest) = cut(&zip((&x, &y)), a, b);
        (left, farthest)
    })
}

/// As a user writes it.
fn cut(points: &Array<Point>, a: Point, b: Point) -> (Array<Point>, Array<(f64, Point), Ix0>) {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let measured = points.map(|(x, y)| (dx * (y - a.1) - dy * (x - a.0), (x, y)));
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
