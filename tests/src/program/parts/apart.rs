//! External parts: transforms, choices between arrays, user functions, and foreign memory.
//!
//! Transforms compute sums of products of small integers, so results are exact to the bit.

use super::near::Of;
use super::table::Table;
use super::{Made, Part, converted, one};
use crate::naive::Data;
use crate::program::{Step, random::Making};
use livefusion::Exp;
use livefusion::array::Array;
use livefusion::ast::{
    Buffer, Builder, Const, Field, Fields, Function, Gives, Node, Op, Ty, Types, Value, trace,
};
use livefusion::complex::ComplexExp;
use livefusion::error::ErrorKind;
use livefusion::segmented::Segmented;
use std::ptr::NonNull;
use std::sync::Arc;

/// Lists external parts.
#[derive(Clone, Copy, Debug)]
pub enum Apart {
    /// The circular convolution of two inputs by complex transforms. Elements are remainders of
    /// their first fields.
    Convolution,
    /// The same by real transforms.
    RealConvolution,
    /// The convolution of each segment: lengths and two inputs.
    ConvolutionS,
    /// The same by real transforms.
    RealConvolutionS,
    /// The sum of squares, from the power spectrum.
    Power,
    /// The reversed elements, by a user function.
    Turned,
    /// Every second element, by a user function.
    Halved,
    /// An array in memory, as foreign memory.
    Foreign,
    /// The first of two arrays if the sum of the numbers is odd, otherwise the second.
    Chosen([Of; 2]),
}

/// The modulus of the remainders.
const BELOW: i64 = 50;

/// Remainders as floats.
fn small(b: Builder, xs: &Arc<Node>) -> Array<f64> {
    let loc = b.loc();
    let body = trace(&xs.types, |x| {
        let number = [
            x[0].cast(Ty::I64, loc),
            Field::literal(Const::int(Ty::I64, BELOW)),
        ];
        Fields::from_slice(&[Field::op(Op::Rem, &number, loc).cast(Ty::F64, loc)])
    });
    Array::from_node(b.map(std::slice::from_ref(xs), body)).expect("floats")
}

fn smalls(table: &Table<'_>) -> Vec<i64> {
    table.integers().into_iter().map(|x| x % BELOW).collect()
}

/// The circular convolution, by direct sums.
fn convolution(xs: &[i64], ys: &[i64]) -> Vec<u64> {
    let n = xs.len();
    let at = |k: usize| (0..n).map(|i| xs[i] * ys[(n + k - i) % n]).sum::<i64>() as u64;
    (0..n).map(at).collect()
}

fn lengths(node: &Arc<Node>) -> Array<u64> {
    Array::from_node(node.clone()).expect("lengths")
}

/// A user function that reverses, or takes every second element.
#[derive(Clone, Copy)]
struct Taken {
    from_behind: bool,
}

impl Taken {
    fn places(self, n: usize) -> Vec<usize> {
        match self.from_behind {
            true => (0..n).rev().collect(),
            false => (0..n).step_by(2).collect(),
        }
    }
}

impl Function for Taken {
    fn call(&self, inputs: &[Value], _: usize) -> Result<Value, ErrorKind> {
        let [Value::Array(columns)] = inputs else {
            return Err(ErrorKind::Empty);
        };
        let places = self.places(columns.first().map_or(0, |column| column.len()));
        let take = |column: &Arc<Buffer>| {
            let words = places.iter().filter_map(|i| column.get_word(*i));
            crate::program::buffer(column.ty(), &words.collect::<Vec<_>>())
        };
        Ok(Value::Array(columns.iter().map(take).collect()))
    }
}

/// Memory whose owner is another buffer.
fn foreign(column: &Arc<Buffer>) -> Arc<Buffer> {
    let at = NonNull::from(column.as_bytes()).cast();
    // SAFETY: the elements are there and stay as they are as long as the buffer lives, which owns
    // them: it is shared, so nobody changes it.
    let foreign = unsafe { Buffer::foreign(column.ty(), column.len(), at, column.clone()) };
    Arc::new(foreign.expect("memory that is aligned"))
}

impl Made for Apart {
    fn build(&self, b: Builder, inputs: &[Arc<Node>]) -> Arc<Node> {
        let first = &inputs[0];
        let rounded = |xs: Array<f64>| xs.map(|x| x.round().cast::<i64>()).node().clone();
        let taken = |from_behind: bool| {
            let gives = Gives {
                types: Types::from_slice(&first.types),
                rank: 1,
                like: from_behind.then_some(0),
            };
            b.external(
                std::slice::from_ref(first),
                gives,
                Arc::new(Taken { from_behind }),
            )
        };
        match self {
            Apart::Convolution => {
                let turned = |xs: &Arc<Node>| {
                    let zs = small(b, xs).map(|x| ComplexExp::new(x, 0.0));
                    zs.fft()
                };
                rounded((turned(first) * turned(&inputs[1])).ifft().re())
            }
            Apart::RealConvolution => {
                let (xs, ys) = (small(b, first), small(b, &inputs[1]));
                rounded((xs.rfft() * ys.rfft()).irfft(xs.len()))
            }
            Apart::ConvolutionS => {
                let turned = |xs: &Arc<Node>| {
                    let zs = small(b, xs).map(|x| ComplexExp::new(x, 0.0));
                    Segmented::new(&lengths(first), &zs).fft()
                };
                let (xs, ys) = (turned(&inputs[1]), turned(&inputs[2]));
                let products = xs.with_data(xs.data() * ys.data());
                rounded(products.ifft().data().re())
            }
            Apart::RealConvolutionS => {
                let turned = |xs| Segmented::new(&lengths(first), &small(b, xs)).rfft();
                let (xs, ys) = (turned(&inputs[1]), turned(&inputs[2]));
                let products = xs.with_data(xs.data() * ys.data());
                rounded(products.irfft(&lengths(first)).data().clone())
            }
            Apart::Power => {
                let zs = small(b, first).map(|x| ComplexExp::new(x, x));
                // Half of the squares of both parts.
                let (power, n) = (zs.fft().norm_sqr().sum(), zs.len());
                let power =
                    |i: Exp<u64>| i.cast::<f64>() + power.value() / (n.value().cast::<f64>() * 2.0);
                rounded(livefusion::array::generate(1, power))
            }
            Apart::Turned => taken(true),
            Apart::Halved => taken(false),
            Apart::Foreign => match first.value.get() {
                Some(Value::Array(columns)) => b.manifest(columns.iter().map(foreign).collect()),
                _ => first.clone(),
            },
            Apart::Chosen(of) => {
                let numbers = converted(b, first, 0, Ty::I64);
                let (sides, loc) = (of.map(|of| [of.build(b, &numbers)]), b.loc());
                let sum = b.sum(&numbers);
                let is_odd = trace(&[], |_| {
                    let sum = Field::value(&sum, loc)[0];
                    let [one, zero] = [1, 0].map(|n| Field::literal(Const::int(Ty::I64, n)));
                    let rest = Field::op(Op::And, &[sum, one], loc);
                    Fields::from_slice(&[Field::op(Op::Ne, &[rest, zero], loc)])
                });
                let [then, otherwise] = &sides;
                let chosen = b.cond(&b.compute(is_odd), then, otherwise);
                chosen.into_iter().next().unwrap_or(numbers)
            }
        }
    }

    fn fits(&self, inputs: &[Table<'_>]) -> bool {
        match self {
            Apart::Power => inputs[0].len() > 0,
            Apart::ConvolutionS | Apart::RealConvolutionS => {
                inputs[1..].iter().all(|xs| inputs[0].describes(xs.len()))
            }
            _ => inputs[0].len() == inputs[inputs.len() - 1].len(),
        }
    }

    fn value(&self, inputs: &[Table<'_>]) -> Data {
        let first = &inputs[0];
        let n = first.len();
        match self {
            Apart::Convolution | Apart::RealConvolution => {
                one(convolution(&smalls(first), &smalls(&inputs[1])))
            }
            Apart::ConvolutionS | Apart::RealConvolutionS => {
                let (xs, ys) = (smalls(&inputs[1]), smalls(&inputs[2]));
                let segments = first.segments().into_iter();
                let each = segments.flat_map(|s| convolution(&xs[s.clone()], &ys[s]));
                one(each.collect())
            }
            Apart::Power => one(vec![smalls(first).iter().map(|x| x * x).sum::<i64>() as u64]),
            Apart::Turned => first.rows(&Taken { from_behind: true }.places(n)),
            Apart::Halved => first.rows(&Taken { from_behind: false }.places(n)),
            Apart::Foreign => first.rows(&(0..n).collect::<Vec<_>>()),
            Apart::Chosen([then, otherwise]) => {
                let numbers = first.integers();
                let sum = numbers.iter().fold(0i64, |sum, x| sum.wrapping_add(*x));
                let chosen = if sum & 1 != 0 { then } else { otherwise };
                one(chosen
                    .value(numbers)
                    .into_iter()
                    .map(|x| x as u64)
                    .collect())
            }
        }
    }
}

impl Making {
    pub(super) fn apart_part(&mut self) -> Option<(Part, Vec<usize>)> {
        let array = self.array()?;
        let beside = self.as_long_as(array);
        let beside = self.rng.pick(&beside);
        let (apart, inputs) = match self.rng.below(10) {
            0 => (Apart::Convolution, vec![array, beside]),
            1 => (Apart::RealConvolution, vec![array, beside]),
            2 => (Apart::Power, vec![array]),
            3 => (Apart::Turned, vec![array]),
            4 => (Apart::Halved, vec![array]),
            5 | 6 => {
                let lengths = self.descriptor(array, true)?;
                let kind = self
                    .rng
                    .pick(&[Apart::ConvolutionS, Apart::RealConvolutionS]);
                (kind, vec![lengths, array, beside])
            }
            7 | 8 => {
                let of = [(); 2].map(|()| self.rng.pick(&Of::ALL));
                (Apart::Chosen(of), vec![array])
            }
            _ => {
                let steps = 0..self.program.steps.len();
                let in_memory: Vec<usize> = steps
                    .filter(|i| matches!(self.program.steps[*i], Step::Data(_)))
                    .collect();
                (Apart::Foreign, vec![self.rng.pick(&in_memory)])
            }
        };
        Some((Part::Apart(apart), inputs))
    }
}
