//! Arrays generated from an index: random numbers by Philox4x32-10, and `linspace`.
//!
//! The reference follows the paper.

use super::table::Table;
use super::{Made, Part, converted, literal, one};
use crate::naive::Data;
use crate::program::{Step, random::Making};
use crate::scalar;
use livefusion::array::{Array, Ix0};
use livefusion::ast::{Axis, Body, BodyBuilder, Builder, Const, Len, Node, Op, Ty};
use livefusion::random;
use loop_lang::eval::eval;
use std::sync::Arc;

/// Lists these parts.
///
/// The first input is the key, a delayed scalar.
#[derive(Clone, Copy, Debug)]
pub enum Drawing {
    /// Random words: their number.
    Bits(usize),
    /// Numbers from 0 to 1: their number.
    Uniform(usize),
    /// Pairs of such numbers: their number.
    Uniform2(usize),
    /// Normal numbers: their number.
    Normal(usize),
    /// Integers: their number, and a half-open range.
    Integers(usize, i64, i64),
    /// A random permutation: the number of indices.
    Permutation(usize),
    /// The random words at the indices of a second input.
    At,
    /// A split key: the number of keys.
    Split(u64),
    /// `linspace`: the number of elements, and both ends. It has no key.
    Linspace(usize, f64, f64),
}

/// The four words of a key and a counter, as two pairs (Salmon et al., "Parallel random numbers: as
/// easy as 1, 2, 3", section 3.3).
fn philox(key: u64, index: u64, stream: u64) -> [u64; 2] {
    let words = |x: u64| [x as u32, (x >> 32) as u32];
    let ([mut k0, mut k1], [a, b], [c, d]) = (words(key), words(index), words(stream));
    let mut x = [a, b, c, d];
    for _ in 0..10 {
        let [p, q] =
            [(x[0], 0xD251_1F53u64), (x[2], 0xCD9E_8D57)].map(|(x, m)| words(u64::from(x) * m));
        x = [q[1] ^ x[1] ^ k0, q[0], p[1] ^ x[3] ^ k1, p[0]];
        (k0, k1) = (k0.wrapping_add(0x9E37_79B9), k1.wrapping_add(0xBB67_AE85));
    }
    let pair = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
    [pair(x[0], x[1]), pair(x[2], x[3])]
}

fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1u64 << 53) as f64
}

fn normal([a, b]: [u64; 2]) -> f64 {
    let f = |op, x: f64| f64::from_bits(eval(op, Ty::F64, Ty::F64, &[x.to_bits()]));
    let radius = (-2.0 * f(Op::Ln, 1.0 - unit(a))).sqrt();
    radius * f(Op::Cos, std::f64::consts::TAU * unit(b))
}

/// The value of a delayed scalar.
fn of_scalar(node: &Arc<Node>) -> Body {
    let mut b = BodyBuilder::new(&[]);
    let value = b.scalar(node, 0);
    b.finish(&[value])
}

impl Made for Drawing {
    fn build(&self, b: Builder, inputs: &[Arc<Node>]) -> Arc<Node> {
        let key = || of_scalar(&inputs[0]);
        let len = |n: usize| Len::Known(n as u64);
        let scalar = || Array::<u64, Ix0>::from_node(inputs[0].clone()).expect("a key");
        match *self {
            Drawing::Bits(n) => b.random_bits(len(n), &key()),
            Drawing::Uniform(n) => b.random_uniform(len(n), &key()),
            Drawing::Uniform2(n) => b.random_uniform2(len(n), &key()),
            Drawing::Normal(n) => b.random_normal(len(n), &key()),
            Drawing::Integers(n, low, high) => {
                let [low, high] = [low, high].map(|end| literal(Const::int(Ty::I64, end)));
                b.random_integers(len(n), &key(), &low, &high)
            }
            Drawing::Permutation(n) => b.random_permutation(len(n), &key()),
            Drawing::At => {
                let indices = Array::<u64>::from_node(converted(b, &inputs[1], 0, Ty::U64));
                let key = scalar();
                let words = indices.expect("indices").map(|i| random::bits_at(&key, i));
                words.node().clone()
            }
            Drawing::Split(number) => random::split(scalar(), number).node().clone(),
            Drawing::Linspace(n, low, high) => {
                let [low, high] = [low, high].map(|end| literal(Const::f64(end)));
                b.linspace(Axis::from(n as u64), &low, &high)
            }
        }
    }

    fn fits(&self, inputs: &[Table<'_>]) -> bool {
        inputs.first().is_none_or(|key| key.types == [Ty::U64])
    }

    fn value(&self, inputs: &[Table<'_>]) -> Data {
        let key = match inputs.first().map(|key| key.data) {
            Some(Data::Scalar(fields)) => fields[0],
            _ => 0,
        };
        let words = |index: usize| philox(key, index as u64, 0);
        let all = |n: usize, of: &dyn Fn(usize) -> u64| one((0..n).map(of).collect());
        match *self {
            Drawing::Bits(n) => all(n, &|i| words(i)[0]),
            Drawing::Uniform(n) => all(n, &|i| unit(words(i)[0]).to_bits()),
            Drawing::Uniform2(n) => {
                let column = |k: usize| (0..n).map(|i| unit(words(i)[k]).to_bits()).collect();
                Data::Array(vec![column(0), column(1)], n)
            }
            Drawing::Normal(n) => all(n, &|i| normal(words(i)).to_bits()),
            Drawing::Integers(n, low, high) => {
                let span = high.wrapping_sub(low) as u64;
                let above = |i| ((u128::from(words(i)[0]) * u128::from(span)) >> 64) as i64;
                let some = low < high;
                all(n, &|i| {
                    low.wrapping_add(if some { above(i) } else { 0 }) as u64
                })
            }
            Drawing::Permutation(n) => {
                let mut places: Vec<usize> = (0..n).collect();
                places.sort_by_key(|i| words(*i)[0]);
                one(places.into_iter().map(|i| i as u64).collect())
            }
            Drawing::At => {
                let indices = inputs[1].converted(0, Ty::U64);
                one(indices.map(|i| philox(key, i, 0)[0]).collect())
            }
            Drawing::Split(number) => Data::Scalar(vec![philox(key, number, 1)[0]]),
            Drawing::Linspace(n, low, high) => {
                let last = n.saturating_sub(1).max(1);
                let step = (high - low) / last as f64;
                let at = |i| {
                    if i == last {
                        high
                    } else {
                        low + i as f64 * step
                    }
                };
                all(n, &|i| at(i).to_bits())
            }
        }
    }
}

impl Making {
    pub(super) fn drawing_part(&mut self) -> Option<(Part, Vec<usize>)> {
        let keys = (0..self.data.len())
            .filter(|i| matches!(self.data[*i], Data::Scalar(_)) && self.types(*i) == [Ty::U64]);
        let keys: Vec<usize> = keys.filter(|i| self.is_exact(*i)).collect();
        let key = match keys.is_empty() || self.rng.chance(30) {
            true => {
                let key = scalar::random(&mut self.rng, Ty::U64);
                self.add(Step::Constant(vec![Const::u64(key)]))?
            }
            false => self.rng.pick(&keys),
        };
        let n = self.rng.pick(&self.lengths);
        let [low, high] = [(); 2].map(|()| scalar::random(&mut self.rng, Ty::I64) as i64);
        let small = self.rng.below(20);
        Some(match self.rng.below(9) {
            0 => (Part::Drawing(Drawing::Bits(n)), vec![key]),
            1 => (Part::Drawing(Drawing::Uniform(n)), vec![key]),
            2 => (Part::Drawing(Drawing::Uniform2(n)), vec![key]),
            3 => (Part::Drawing(Drawing::Normal(n)), vec![key]),
            4 => (Part::Drawing(Drawing::Integers(n, low, high)), vec![key]),
            5 => (Part::Drawing(Drawing::Permutation(n)), vec![key]),
            6 => (Part::Drawing(Drawing::At), vec![key, self.array()?]),
            7 => (Part::Drawing(Drawing::Split(small as u64)), vec![key]),
            _ => {
                let ends = (low as i8 as f64, high as i8 as f64);
                (Part::Drawing(Drawing::Linspace(n, ends.0, ends.1)), vec![])
            }
        })
    }
}
