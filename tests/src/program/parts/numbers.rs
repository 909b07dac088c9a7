//! Complex numbers, 16-bit floats, and comparisons with tolerance.

use super::table::Table;
use super::{Made, Part, one};
use crate::naive::Data;
use crate::program::random::Making;
use crate::scalar::{float, is_nan, to_f64};
use half::{bf16, f16};
use livefusion::array::Array;
use livefusion::ast::{Builder, Const, Field, Fields, Node, Op, Ty, trace};
use livefusion::complex::{Complex, ComplexExp};
use livefusion::elt::{Elt, Float};
use livefusion::half::Half;
use loop_lang::eval::eval;
use std::sync::Arc;

/// Lists elementwise parts over one or two inputs.
#[derive(Clone, Copy, Debug)]
pub enum Numbers {
    /// A function of complex `f64` numbers. Their parts are the first and the last field.
    Complex(Of),
    /// Like `Complex`, with `f32`.
    ComplexOfF32(Of),
    /// The low 16 bits of the first field, read as `f16`.
    WidenF16,
    /// The same as `bf16`.
    WidenBf16,
    /// The first field rounded to `f16`.
    NarrowF16,
    /// The first field rounded to `bf16`.
    NarrowBf16,
    /// Whether the first fields are close.
    Isclose,
}

/// Lists functions of complex numbers.
#[derive(Clone, Copy, Debug)]
pub enum Of {
    /// Sums.
    Plus,
    /// Products.
    Times,
    /// Quotients.
    Over,
    /// The conjugate.
    Conj,
    /// The absolute value.
    Abs,
    /// The squared absolute value.
    NormSqr,
    /// Angle.
    Arg,
    /// Exponential.
    Exp,
}

/// A complex number as two words.
type Words = [u64; 2];

impl Of {
    fn is_of_two(self) -> bool {
        matches!(self, Of::Plus | Of::Times | Of::Over)
    }

    fn build<T: Float>(self, pairs: &Arc<Node>) -> Arc<Node>
    where
        (Complex<T>, Complex<T>): Elt<Exp = (ComplexExp<T>, ComplexExp<T>)>,
    {
        let pairs =
            Array::<(Complex<T>, Complex<T>)>::from_node(pairs.clone()).expect("two numbers each");
        match self {
            Of::Plus => pairs.map(|(z, w)| z + w).node().clone(),
            Of::Times => pairs.map(|(z, w)| z * w).node().clone(),
            Of::Over => pairs.map(|(z, w)| z / w).node().clone(),
            Of::Conj => pairs.map(|(z, _)| z.conj()).node().clone(),
            Of::Abs => pairs.map(|(z, _)| z.abs()).node().clone(),
            Of::NormSqr => pairs.map(|(z, _)| z.norm_sqr()).node().clone(),
            Of::Arg => pairs.map(|(z, _)| z.arg()).node().clone(),
            Of::Exp => pairs.map(|(z, _)| z.exp()).node().clone(),
        }
    }

    /// Evaluates it by operators on words.
    fn value(self, ty: Ty, [a, b]: Words, [c, d]: Words) -> Vec<u64> {
        let op = |op, args: &[u64]| eval(op, ty, ty, args);
        let (add, sub) = (|x, y| op(Op::Add, &[x, y]), |x, y| op(Op::Sub, &[x, y]));
        let (mul, div) = (|x, y| op(Op::Mul, &[x, y]), |x, y| op(Op::Div, &[x, y]));
        match self {
            Of::Plus => vec![add(a, c), add(b, d)],
            Of::Times => vec![sub(mul(a, c), mul(b, d)), add(mul(a, d), mul(b, c))],
            Of::Over => {
                // Smith's method: scales by the larger part of the divisor.
                let size = |w| to_f64(ty, w).abs();
                match size(c) >= size(d) {
                    true => {
                        let r = div(d, c);
                        let by = add(c, mul(d, r));
                        let parts = [add(a, mul(b, r)), sub(b, mul(a, r))];
                        parts.map(|x| div(x, by)).to_vec()
                    }
                    false => {
                        let r = div(c, d);
                        let by = add(d, mul(c, r));
                        let im = div(sub(a, mul(b, r)), by);
                        vec![div(add(b, mul(a, r)), by), op(Op::Neg, &[im])]
                    }
                }
            }
            Of::Conj => vec![a, op(Op::Neg, &[b])],
            Of::Abs => vec![op(Op::Hypot, &[a, b])],
            Of::NormSqr => vec![add(mul(a, a), mul(b, b))],
            Of::Arg => vec![op(Op::Atan2, &[b, a])],
            Of::Exp => {
                let size = op(Op::Exp, &[a]);
                [Op::Cos, Op::Sin].map(|f| mul(op(f, &[b]), size)).to_vec()
            }
        }
    }
}

/// The first and the last field of each input as floats of a type; a single input is used twice.
fn parts(b: Builder, inputs: &[Arc<Node>], ty: Ty) -> Arc<Node> {
    let both = [&inputs[0], &inputs[inputs.len() - 1]].map(|xs| {
        let ends = trace(&xs.types, |x| {
            [x[0], x[x.len() - 1]]
                .iter()
                .map(|x| x.cast(ty, b.loc()))
                .collect()
        });
        b.map(std::slice::from_ref(xs), ends)
    });
    b.zip(&both)
}

fn narrowed<H: Half>(b: Builder, xs: &Arc<Node>) -> Arc<Node> {
    let loc = b.loc();
    // The bits of a NaN are unspecified.
    let body = trace(&xs.types, |x| {
        let x = x[0].cast(Ty::F32, loc);
        let is_nan = Field::op(Op::Ne, &[x, x], loc);
        let zero = Field::literal(Const::zero(Ty::F32));
        Fields::from_slice(&[Field::op(Op::Select, &[is_nan, zero, x], loc)])
    });
    let floats = Array::<f32>::from_node(b.map(std::slice::from_ref(xs), body)).expect("floats");
    floats.to_half::<H>().node().clone()
}

fn widened<H: Half>(b: Builder, xs: &Arc<Node>) -> Arc<Node> {
    let bits = super::converted(b, xs, 0, Ty::U16);
    Array::<H>::from_node(bits)
        .expect("16 bits each")
        .to_f32()
        .node()
        .clone()
}

impl Made for Numbers {
    fn build(&self, b: Builder, inputs: &[Arc<Node>]) -> Arc<Node> {
        match *self {
            Numbers::Complex(of) => of.build::<f64>(&parts(b, inputs, Ty::F64)),
            Numbers::ComplexOfF32(of) => of.build::<f32>(&parts(b, inputs, Ty::F32)),
            Numbers::WidenF16 => widened::<f16>(b, &inputs[0]),
            Numbers::WidenBf16 => widened::<bf16>(b, &inputs[0]),
            Numbers::NarrowF16 => narrowed::<f16>(b, &inputs[0]),
            Numbers::NarrowBf16 => narrowed::<bf16>(b, &inputs[0]),
            Numbers::Isclose => {
                let parts = Array::<((f64, f64), (f64, f64))>::from_node(parts(b, inputs, Ty::F64));
                let close = parts
                    .expect("floats")
                    .map(|((x, _), (y, _))| x.isclose(y, 0.1, 0.25, true));
                close.node().clone()
            }
        }
    }

    fn fits(&self, inputs: &[Table<'_>]) -> bool {
        inputs[0].len() == inputs[inputs.len() - 1].len()
    }

    fn value(&self, inputs: &[Table<'_>]) -> Data {
        let (left, right) = (&inputs[0], &inputs[inputs.len() - 1]);
        let n = left.len();
        let parts = |table: &Table<'_>, ty| -> Vec<Words> {
            let last = table.types.len() - 1;
            let ends = table.converted(0, ty).zip(table.converted(last, ty));
            ends.map(|(re, im)| [re, im]).collect()
        };
        let each = |to: Ty, f: &dyn Fn(u64) -> u64| one(left.converted(0, to).map(f).collect());
        let narrow = |f: &dyn Fn(f32) -> u16| {
            each(Ty::F32, &|x| match is_nan(Ty::F32, x) {
                true => 0,
                false => u64::from(f(f32::from_bits(x as u32))),
            })
        };
        let widen = |f: &dyn Fn(u16) -> f32| {
            each(Ty::U16, &|bits| float(Ty::F32, f64::from(f(bits as u16))))
        };
        match *self {
            Numbers::Complex(of) | Numbers::ComplexOfF32(of) => {
                let ty = match self {
                    Numbers::Complex(_) => Ty::F64,
                    _ => Ty::F32,
                };
                let both = parts(left, ty).into_iter().zip(parts(right, ty));
                let all: Vec<Vec<u64>> = both.map(|(z, w)| of.value(ty, z, w)).collect();
                let width = of.value(ty, [0; 2], [0; 2]).len();
                let column = |k: usize| all.iter().map(|fields| fields[k]).collect();
                Data::Array((0..width).map(column).collect(), n)
            }
            Numbers::WidenF16 => widen(&|bits| f16::from_bits(bits).to_f32()),
            Numbers::WidenBf16 => widen(&|bits| bf16::from_bits(bits).to_f32()),
            Numbers::NarrowF16 => narrow(&|x| f16::from_f32(x).to_bits()),
            Numbers::NarrowBf16 => narrow(&|x| bf16::from_f32(x).to_bits()),
            Numbers::Isclose => {
                let close = |(x, y): (f64, f64)| {
                    let near = (x - y).abs() <= 0.25 + 0.1 * y.abs() && y.is_finite();
                    near || x == y || x.is_nan() && y.is_nan()
                };
                let both = left.floats(0).into_iter().zip(right.floats(0));
                one(both.map(|pair| u64::from(close(pair))).collect())
            }
        }
    }
}

impl Making {
    pub(super) fn numbers_part(&mut self) -> Option<(Part, Vec<usize>)> {
        let array = self.array()?;
        let beside = self.as_long_as(array);
        let beside = self.rng.pick(&beside);
        let of = self.rng.pick(&[
            Of::Plus,
            Of::Times,
            Of::Over,
            Of::Conj,
            Of::Abs,
            Of::NormSqr,
            Of::Arg,
            Of::Exp,
        ]);
        let of_two = if of.is_of_two() {
            vec![array, beside]
        } else {
            vec![array]
        };
        let (numbers, inputs) = match self.rng.below(9) {
            0..2 => (Numbers::Complex(of), of_two),
            2..4 => (Numbers::ComplexOfF32(of), of_two),
            4 => (Numbers::WidenF16, vec![array]),
            5 => (Numbers::WidenBf16, vec![array]),
            6 => (Numbers::NarrowF16, vec![array]),
            7 => (Numbers::NarrowBf16, vec![array]),
            _ => (Numbers::Isclose, vec![array, beside]),
        };
        Some((Part::Numbers(numbers), inputs))
    }
}
