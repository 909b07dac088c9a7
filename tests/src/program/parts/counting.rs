//! Histograms, differences, running folds, windows, grids.

use super::table::Table;
use super::{Made, Part, converted, literal, one};
use crate::naive::Data;
use crate::program::random::Making;
use livefusion::ast::{Axis, Buffer, Builder, Const, Field, Fields, Len, Node, Op, Ty, trace};
use livefusion::over::Domain;
use std::sync::Arc;

/// Lists parts over the first field, as an integer or a float.
#[derive(Clone, Copy, Debug)]
pub enum Counting {
    /// The count of each remainder.
    Bincount(u64),
    /// The counts between edges.
    Histogram,
    /// The counts in uniform bins between two numbers.
    HistogramUniform(usize, f64, f64),
    /// Differences of neighbours.
    Diff,
    /// Running products.
    Cumprod,
    /// Running maxima.
    Cummax,
    /// Running minima.
    Cummin,
    /// Running sums that begin with this number.
    ScanWithStart(i64),
    /// Sums of windows of a width, with a stride.
    Windows(usize, usize),
    /// The same with delayed width and stride.
    DelayedWindows(usize, usize),
    /// Row sums of an outer product; the second input runs along the rows.
    Grid,
}

/// Edges of bins.
const EDGES: [f64; 6] = [-100.0, -2.5, 0.0, 1.0, 7.0, 1e4];
/// Ends of uniform bins, including bins narrower than adjacent floats, and none.
const ENDS: [(f64, f64); 7] = [
    (-3.5, 12.0),
    (0.0, 1e-9),
    (1.0, 1.0 + 2.0 * f64::EPSILON),
    (-2.0, -2.0 + 3.0 * f64::EPSILON),
    (4.0, 4.0),
    (3.0, -3.0),
    (-1e300, 1e300),
];

/// NumPy's rule: a bin includes its lower edge, the last one both.
fn binned(xs: &[f64], edges: &[f64]) -> Data {
    let bins = edges.len() - 1;
    let mut counts = vec![0; bins];
    for x in xs {
        let within = |k: &usize| {
            let [low, high] = [edges[*k], edges[k + 1]];
            low <= *x && (*x < high || *k == bins - 1 && *x == high)
        };
        if let Some(k) = (0..bins).find(within) {
            counts[k] += 1;
        }
    }
    one(counts)
}

fn running(xs: Vec<i64>, join: fn(i64, i64) -> i64) -> Data {
    let states = xs.iter().scan(None, |state: &mut Option<i64>, x| {
        *state = Some(state.map_or(*x, |state| join(state, *x)));
        *state
    });
    one(states.map(|x| x as u64).collect())
}

impl Made for Counting {
    fn build(&self, b: Builder, inputs: &[Arc<Node>]) -> Arc<Node> {
        let loc = b.loc();
        let op = |op, args: &[Field]| Field::op(op, args, loc);
        let integers = |k: usize| converted(b, &inputs[k], 0, Ty::I64);
        let floats = || converted(b, &inputs[0], 0, Ty::F64);
        let windows = |width: Axis, stride: Axis| {
            b.sum(Domain::Along(
                &b.sliding_windows(&integers(0), width, stride),
                &[1],
            ))
        };
        match *self {
            Counting::Bincount(n) => {
                let rest = trace(&[Ty::U64], |x| {
                    Fields::from_slice(&[op(Op::Rem, &[x[0], Field::literal(Const::u64(n))])])
                });
                let words = converted(b, &inputs[0], 0, Ty::U64);
                b.bincount(&b.map(&[words], rest), Len::Known(n))
            }
            Counting::Histogram => {
                let edges = b.manifest(vec![Arc::new(Buffer::from_vec(EDGES.to_vec()))]);
                b.histogram(&floats(), &edges)
            }
            Counting::HistogramUniform(n, low, high) => {
                let [low, high] = [low, high].map(|end| literal(Const::f64(end)));
                b.histogram_uniform(&floats(), &low, &high, Axis::from(n as u64))
            }
            Counting::Diff => b.diff(&integers(0)),
            Counting::Cumprod => b.cumprod(&integers(0)),
            Counting::Cummax => b.cummax(&integers(0)),
            Counting::Cummin => b.cummin(&integers(0)),
            Counting::ScanWithStart(start) => {
                let sum = trace(&[Ty::I64; 2], |p| Fields::from_slice(&[op(Op::Add, p)]));
                b.scan_with_start(&integers(0), literal(Const::int(Ty::I64, start)), sum)
            }
            Counting::Windows(width, stride) => {
                windows(Axis::from(width as u64), Axis::from(stride as u64))
            }
            Counting::DelayedWindows(width, stride) => {
                let delayed = |n: usize| b.compute(literal(Const::u64(n as u64)));
                windows(
                    Axis::delayed(delayed(width)),
                    Axis::delayed(delayed(stride)),
                )
            }
            Counting::Grid => {
                let (xs, ys) = b.meshgrid(&integers(1), &integers(0));
                b.sum(Domain::Along(&b.operator(Op::Mul, &[xs, ys]), &[1]))
            }
        }
    }

    fn value(&self, inputs: &[Table<'_>]) -> Data {
        let (of, xs) = (&inputs[0], inputs[0].integers());
        let words = |xs: &mut dyn Iterator<Item = i64>| one(xs.map(|x| x as u64).collect());
        let sum = |xs: &[i64]| xs.iter().fold(0i64, |a, x| a.wrapping_add(*x));
        match *self {
            Counting::Bincount(n) => {
                let mut counts = vec![0; n as usize];
                of.converted(0, Ty::U64)
                    .for_each(|x| counts[(x % n) as usize] += 1);
                one(counts)
            }
            Counting::Histogram => binned(&of.floats(0), &EDGES),
            Counting::HistogramUniform(n, low, high) => {
                let step = (high - low) / n as f64;
                let mut edges: Vec<f64> = (0..n).map(|k| low + k as f64 * step).collect();
                edges.push(high);
                binned(&of.floats(0), &edges)
            }
            Counting::Diff => words(&mut xs.windows(2).map(|w| w[1].wrapping_sub(w[0]))),
            Counting::Cumprod => running(xs, i64::wrapping_mul),
            Counting::Cummax => running(xs, i64::max),
            Counting::Cummin => running(xs, i64::min),
            Counting::ScanWithStart(start) => {
                running([&[start], &xs[..]].concat(), i64::wrapping_add)
            }
            Counting::Windows(width, stride) | Counting::DelayedWindows(width, stride) => {
                let begins = (0..=xs.len())
                    .step_by(stride)
                    .filter(|at| at + width <= xs.len());
                words(&mut begins.map(|at| sum(&xs[at..at + width])))
            }
            Counting::Grid => {
                let all = sum(&inputs[1].integers());
                words(&mut xs.iter().map(|x| x.wrapping_mul(all)))
            }
        }
    }
}

impl Making {
    pub(super) fn counting_part(&mut self) -> Option<(Part, Vec<usize>)> {
        let array = self.array()?;
        let (n, width, stride) = (
            self.rng.range(1, 12),
            self.rng.below(6),
            self.rng.range(1, 4),
        );
        let counting = match self.rng.below(11) {
            0 => Counting::Bincount(n as u64),
            1 => Counting::Histogram,
            2 => {
                let (low, high) = self.rng.pick(&ENDS);
                Counting::HistogramUniform(n, low, high)
            }
            3 => Counting::Diff,
            4 => Counting::Cumprod,
            5 => Counting::Cummax,
            6 => Counting::Cummin,
            7 => Counting::ScanWithStart(n as i64 - 6),
            8 => Counting::Windows(width, stride),
            9 => Counting::DelayedWindows(width, stride),
            _ => return Some((Part::Counting(Counting::Grid), vec![array, self.array()?])),
        };
        Some((Part::Counting(counting), vec![array]))
    }
}
