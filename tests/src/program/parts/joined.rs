//! Joins of running folds: one behind the other, or element by element.

use super::table::Table;
use super::{Made, Part, converted, literal, one};
use crate::naive::Data;
use crate::program::random::Making;
use livefusion::ast::{Builder, Const, Field, Fields, Fold, Node, Op, ScanKind, Ty, trace};
use std::sync::Arc;

/// Joins two running folds of numbers. The numbers are the first field of an array as an integer.
#[derive(Clone, Copy, Debug)]
pub enum Joined {
    /// The running folds of the numbers and of their negations, appended.
    Appended([RunningFold; 2]),
    /// The running folds of the odd and of the even numbers, in the places of these.
    Combined([RunningFold; 2]),
}

/// Describes a running fold.
#[derive(Clone, Copy, Debug)]
pub enum RunningFold {
    /// The numbers themselves.
    Nothing,
    /// Sums from 3.
    Sums,
    /// The greatest numbers, without the current one, from 5.
    GreatestBefore,
    /// Sums of running sums.
    SumsOfSums,
}

impl RunningFold {
    fn build(self, b: Builder, xs: &Arc<Node>) -> Arc<Node> {
        let scan = |xs: &Arc<Node>, op: Op, start: i64, kind| {
            let step = trace(&[Ty::I64; 2], |p| {
                Fields::from_slice(&[Field::op(op, p, b.loc())])
            });
            let fold = Fold::associative(literal(Const::int(Ty::I64, start)), step);
            b.scan(xs, fold, kind)
        };
        match self {
            RunningFold::Nothing => xs.clone(),
            RunningFold::Sums => scan(xs, Op::Add, 3, ScanKind::Inclusive),
            RunningFold::GreatestBefore => scan(xs, Op::Max, 5, ScanKind::Exclusive),
            RunningFold::SumsOfSums => {
                let sums = scan(xs, Op::Add, 3, ScanKind::Inclusive);
                scan(&sums, Op::Add, 3, ScanKind::Inclusive)
            }
        }
    }

    fn value(self, xs: Vec<i64>) -> Vec<i64> {
        let sums = |xs: Vec<i64>| -> Vec<i64> {
            let sums = xs.into_iter().scan(3i64, |sum, x| {
                *sum = sum.wrapping_add(x);
                Some(*sum)
            });
            sums.collect()
        };
        match self {
            RunningFold::Nothing => xs,
            RunningFold::Sums => sums(xs),
            RunningFold::GreatestBefore => {
                let before = xs.into_iter().scan(5i64, |best, x| {
                    let before = *best;
                    *best = before.max(x);
                    Some(before)
                });
                before.collect()
            }
            RunningFold::SumsOfSums => sums(sums(xs)),
        }
    }
}

impl Made for Joined {
    fn build(&self, b: Builder, inputs: &[Arc<Node>]) -> Arc<Node> {
        let op = |op, args: &[Field]| Fields::from_slice(&[Field::op(op, args, b.loc())]);
        let number = |x| Field::literal(Const::int(Ty::I64, x));
        let map = |xs: &Arc<Node>, body| b.map(std::slice::from_ref(xs), body);
        let xs = converted(b, &inputs[0], 0, Ty::I64);
        match *self {
            Joined::Appended([first, second]) => {
                let negated = map(&xs, trace(&[Ty::I64], |x| op(Op::Neg, x)));
                b.append(&[first.build(b, &xs), second.build(b, &negated)])
            }
            Joined::Combined([odd, even]) => {
                let last = map(&xs, trace(&[Ty::I64], |x| op(Op::And, &[x[0], number(1)])));
                let is_odd = map(&last, trace(&[Ty::I64], |x| op(Op::Ne, &[x[0], number(0)])));
                let is_even = map(&is_odd, trace(&[Ty::Bool], |x| op(Op::Not, x)));
                let odd = odd.build(b, &b.pack(&xs, &is_odd));
                let even = even.build(b, &b.pack(&xs, &is_even));
                b.combine(&is_odd, &odd, &even)
            }
        }
    }

    fn value(&self, inputs: &[Table<'_>]) -> Data {
        let xs = inputs[0].integers();
        let joined: Vec<i64> = match *self {
            Joined::Appended([first, second]) => {
                let negated = xs.iter().map(|x| x.wrapping_neg()).collect();
                [first.value(xs), second.value(negated)].concat()
            }
            Joined::Combined([odd, even]) => {
                let is_odd = |x: &i64| x & 1 != 0;
                let (odds, evens) = xs.iter().copied().partition(is_odd);
                let mut odds = odd.value(odds).into_iter();
                let mut evens = even.value(evens).into_iter();
                let next = |x| match is_odd(x) {
                    true => odds.next(),
                    false => evens.next(),
                };
                xs.iter().filter_map(next).collect()
            }
        };
        one(joined.into_iter().map(|x| x as u64).collect())
    }
}

impl Making {
    pub(super) fn joined_part(&mut self) -> Option<(Part, Vec<usize>)> {
        let array = self.array()?;
        let all = [
            RunningFold::Nothing,
            RunningFold::Sums,
            RunningFold::GreatestBefore,
            RunningFold::SumsOfSums,
        ];
        let both = [0; 2].map(|_| self.rng.pick(&all));
        let joined = match self.rng.chance(50) {
            true => Joined::Appended(both),
            false => Joined::Combined(both),
        };
        Some((Part::Joined(joined), vec![array]))
    }
}
