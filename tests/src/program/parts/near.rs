//! Neighbours of an array's elements beside the elements: shifts, windows, parts of equal length.

use super::table::Table;
use super::{Made, Part, converted, literal, one};
use crate::naive::Data;
use crate::program::random::Making;
use livefusion::array::{Amount, Boundary};
use livefusion::ast::{
    Body, BodyBuilder, Builder, Const, Field, Fields, Fold, Node, Op, ScanKind, Ty, trace,
};
use std::sync::Arc;

/// Pairs an array with its neighbours. The array is made from the first field as an integer.
#[derive(Clone, Copy, Debug)]
pub enum Near {
    /// The elements so many places before, or this number.
    Shift(Of, i64, i64),
    /// Windows of two to six elements.
    Windows(Of, Edge, usize),
    /// All elements but so many first ones, and all but so many last ones.
    Parts(Of, usize),
}

/// Describes the array whose neighbours are read.
#[derive(Clone, Copy, Debug)]
pub enum Of {
    /// The numbers themselves.
    Numbers,
    /// Their running sums.
    Sums,
    /// The odd ones.
    Odd,
    /// Their thirds, which are costly to compute twice.
    Thirds,
}

/// Describes the elements outside.
#[derive(Clone, Copy, Debug)]
pub enum Edge {
    Clamp,
    Wrap,
    Mirror,
    Constant(i64),
}

fn number(x: i64) -> Field {
    Field::literal(Const::int(Ty::I64, x))
}

impl Of {
    pub(super) const ALL: [Of; 4] = [Of::Numbers, Of::Sums, Of::Odd, Of::Thirds];

    pub(super) fn build(self, b: Builder, xs: &Arc<Node>) -> Arc<Node> {
        let loc = b.loc();
        let with = |op: Op, y: i64| {
            trace(&[Ty::I64], |x| {
                Fields::from_slice(&[Field::op(op, &[x[0], number(y)], loc)])
            })
        };
        match self {
            Of::Numbers => xs.clone(),
            Of::Sums => {
                let sum = trace(&[Ty::I64; 2], |p| {
                    Fields::from_slice(&[Field::op(Op::Add, p, loc)])
                });
                let fold = Fold::associative(literal(Const::int(Ty::I64, 0)), sum);
                b.scan(xs, fold, ScanKind::Inclusive)
            }
            Of::Odd => {
                let odd = trace(&[Ty::I64], |x| {
                    let rest = Field::op(Op::And, &[x[0], number(1)], loc);
                    Fields::from_slice(&[Field::op(Op::Ne, &[rest, number(0)], loc)])
                });
                b.filter(xs, odd)
            }
            Of::Thirds => b.map(std::slice::from_ref(xs), with(Op::Div, 3)),
        }
    }

    pub(super) fn value(self, xs: Vec<i64>) -> Vec<i64> {
        match self {
            Of::Numbers => xs,
            Of::Sums => {
                let sums = xs.iter().scan(0i64, |sum, x| {
                    *sum = sum.wrapping_add(*x);
                    Some(*sum)
                });
                sums.collect()
            }
            Of::Odd => xs.into_iter().filter(|x| x & 1 != 0).collect(),
            Of::Thirds => xs.into_iter().map(|x| x / 3).collect(),
        }
    }
}

impl Edge {
    fn boundary(self) -> Boundary<Body> {
        match self {
            Edge::Clamp => Boundary::Clamp,
            Edge::Wrap => Boundary::Wrap,
            Edge::Mirror => Boundary::Mirror,
            Edge::Constant(c) => Boundary::Constant(literal(Const::int(Ty::I64, c))),
        }
    }

    /// The element of a nonempty array at an index that may be outside.
    fn at(self, xs: &[i64], i: i64) -> i64 {
        let n = xs.len() as i64;
        let inside = match self {
            Edge::Clamp => i.clamp(0, n - 1),
            Edge::Wrap => i.rem_euclid(n),
            Edge::Mirror => {
                let period = (2 * n - 2).max(1);
                let there = i.rem_euclid(period);
                there.min(period - there)
            }
            Edge::Constant(c) => match (0..n).contains(&i) {
                true => i,
                false => return c,
            },
        };
        xs[inside as usize]
    }
}

/// `3 a - b`.
fn joined(a: i64, b: i64) -> u64 {
    a.wrapping_mul(3).wrapping_sub(b) as u64
}

impl Made for Near {
    fn build(&self, b: Builder, inputs: &[Arc<Node>]) -> Arc<Node> {
        let loc = b.loc();
        let op = |op, args: &[Field]| Field::op(op, args, loc);
        let join = |p: &[Field]| op(Op::Sub, &[op(Op::Mul, &[p[0], number(3)]), p[1]]);
        let (Near::Shift(of, ..) | Near::Windows(of, ..) | Near::Parts(of, _)) = *self;
        let xs = of.build(b, &converted(b, &inputs[0], 0, Ty::I64));
        let (left, right) = match *self {
            Near::Shift(_, by, fill) => {
                let fill = literal(Const::int(Ty::I64, fill));
                (b.shift(&xs, by, &fill), xs)
            }
            Near::Windows(_, edge, size) => {
                let sum = |window: &[Fields]| {
                    let all = window.iter().map(|x| x[0]);
                    let all = all.reduce(|a, x| join(&[a, x]));
                    Fields::from_slice(&[all.unwrap_or(number(0))])
                };
                (b.windows(&xs, size, &edge.boundary(), sum), xs)
            }
            Near::Parts(_, lead) => {
                let late = b.drop(&xs, Amount::Known(lead as u64));
                let least = xs.known_len().map(|n| n.saturating_sub(lead as u64));
                match least {
                    Some(n) => (late, b.take_n(&xs, Amount::Known(n))),
                    None if lead == 1 => {
                        let mut n = BodyBuilder::new(&[]);
                        let (all, one) = (n.scalar(&b.len(&xs), 0), n.lit(Const::u64(1)));
                        let less = n.op(Op::Sub, &[all, one]);
                        let n = Amount::Delayed(b.compute(n.finish(&[less])));
                        (late, b.take_n(&xs, n))
                    }
                    None => {
                        let all = b.zip_cut(&[late, xs]);
                        (b.fields(&all, 0..1), b.fields(&all, 1..2))
                    }
                }
            }
        };
        let body = trace(&[Ty::I64; 2], |p| Fields::from_slice(&[join(p)]));
        b.map(&[left, right], body)
    }

    fn value(&self, inputs: &[Table<'_>]) -> Data {
        let (Near::Shift(of, ..) | Near::Windows(of, ..) | Near::Parts(of, _)) = *self;
        let xs = of.value(inputs[0].integers());
        let places = 0..xs.len() as i64;
        one(match *self {
            Near::Shift(_, by, fill) => {
                let beside = |i: i64| joined(Edge::Constant(fill).at(&xs, i - by), xs[i as usize]);
                places.map(beside).collect()
            }
            Near::Windows(_, edge, size) => {
                let beside = |i: i64| {
                    let from = i - (size / 2) as i64;
                    let window = (from..from + size as i64).map(|i| edge.at(&xs, i));
                    let all = window.reduce(|a, x| joined(a, x) as i64);
                    joined(all.unwrap_or(0), xs[i as usize])
                };
                places.map(beside).collect()
            }
            Near::Parts(_, lead) => {
                let pairs = xs.iter().skip(lead).zip(&xs);
                pairs.map(|(a, b)| joined(*a, *b)).collect()
            }
        })
    }
}

impl Making {
    pub(super) fn near_part(&mut self) -> Option<(Part, Vec<usize>)> {
        let array = self.array()?;
        let of = self.rng.pick(&Of::ALL);
        let edges = [Edge::Clamp, Edge::Wrap, Edge::Mirror, Edge::Constant(5)];
        let near = match self.rng.below(3) {
            0 => Near::Shift(of, self.rng.range(0, 14) as i64 - 3, 9),
            1 => Near::Windows(of, self.rng.pick(&edges), self.rng.range(2, 7)),
            _ => Near::Parts(of, self.rng.below(11)),
        };
        Some((Part::Near(near), vec![array]))
    }
}
