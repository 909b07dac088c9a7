//! Fourier transforms, by `rustfft` and `realfft`: functions of whole arrays, which run apart. What makes their elements (a window) is in
//! the loop before, what is made of their results (the power, a scale) in the one behind.

use crate::array::Array;
use crate::ast::{Body, Buffer, Builder, Function, Gives, Node, Types, Value, show_types};
use crate::complex::Complex;
use crate::elt::Float;
use crate::error::ErrorKind;
use crate::exp::{Field, ToExp, trace, value};
use crate::external::room;
use livefusion_backend::Prim;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use realfft::{FftNum, RealFftPlanner};
use rustfft::num_traits::Zero;
use rustfft::{FftDirection, FftPlanner};
use std::sync::Arc;

/// Beside the typed methods. Complex numbers are pairs of floats.
impl Builder {
    /// The Fourier transform of an array of pairs.
    pub fn fft(self, zs: &Arc<Node>) -> Arc<Node> {
        self.transformed(&[zs], 2, 2, Transform::Of(FftDirection::Forward))
    }

    /// Its inverse: what [`fft`](Builder::fft) gave back, the factor `1/n` included.
    pub fn ifft(self, zs: &Arc<Node>) -> Arc<Node> {
        let sums = self.transformed(&[zs], 2, 2, Transform::Of(FftDirection::Inverse));
        let len = self.len(&sums);
        self.shared_out(&sums, &len)
    }

    /// The first half of the Fourier transform of an array of floats, as pairs; the other half mirrors it.
    pub fn rfft(self, xs: &Arc<Node>) -> Arc<Node> {
        self.transformed(&[xs], 1, 2, Transform::Real)
    }

    /// What [`rfft`](Builder::rfft) gave back, of so many floats (a body without parameters that gives a `u64`).
    pub fn irfft(self, zs: &Arc<Node>, len: &Body) -> Arc<Node> {
        let len = self.compute(len.clone());
        let sums = self.transformed(&[zs, &len], 2, 1, Transform::ToReal);
        self.shared_out(&sums, &len)
    }

    /// A transform of an array whose elements are so many floats of one type, to another one.
    fn transformed(
        self,
        inputs: &[&Arc<Node>],
        from: usize,
        to: usize,
        of: Transform,
    ) -> Arc<Node> {
        let types = &inputs[0].types;
        let ty = types.first().copied().unwrap_or(Ty::F64);
        let gives = Gives {
            types: Types::from_elem(ty, to),
            rank: 1,
            like: (matches!(of, Transform::Of(_))).then_some(0),
        };
        if types.len() != from || !types.iter().all(|t| *t == ty && t.is_float()) {
            let kind = ErrorKind::Malformed {
                expected: format!("elements of {from} floats of one type"),
                got: show_types(types),
            };
            return self.fault(&gives.types, 1, kind);
        }
        let inputs: Vec<Arc<Node>> = inputs.iter().copied().cloned().collect();
        self.external(&inputs, gives, Arc::new(of))
    }

    /// Each float over a count.
    fn shared_out(self, xs: &Arc<Node>, count: &Arc<Node>) -> Arc<Node> {
        let loc = self.loc();
        let share = trace::trace(&xs.types, |parts| {
            let count = trace::scalar(count, 0, Ty::U64, loc);
            let share = |x: &Field| Field::op(Op::Div, &[*x, count.cast(x.ty(), loc)], loc);
            parts.iter().map(share).collect()
        });
        self.map(std::slice::from_ref(xs), share)
    }
}

/// What is computed.
#[derive(Clone, Copy)]
enum Transform {
    /// Pairs of pairs.
    Of(FftDirection),
    /// Pairs of floats.
    Real,
    /// Floats of pairs and a length, not divided by that.
    ToReal,
}

impl Function for Transform {
    fn call(&self, inputs: &[Value], _: usize) -> Result<Value, ErrorKind> {
        let ty = match inputs {
            [Value::Array(columns), ..] => columns.first().map(|column| column.ty()),
            _ => None,
        };
        match ty {
            Some(Ty::F32) => transform::<f32>(*self, inputs),
            Some(Ty::F64) => transform::<f64>(*self, inputs),
            _ => Err(unfit()),
        }
    }

    fn why(&self) -> &str {
        "a Fourier transform looks at all elements before it gives the first"
    }
}

fn unfit() -> ErrorKind {
    ErrorKind::Malformed {
        expected: "columns of floats".into(),
        got: "something else".into(),
    }
}

fn transform<T: Prim + FftNum>(of: Transform, inputs: &[Value]) -> Result<Value, ErrorKind> {
    let (columns, rest) = match inputs {
        [Value::Array(columns), rest @ ..] => (columns, rest),
        _ => return Err(unfit()),
    };
    let slices: Option<Vec<&[T]>> = columns.iter().map(|column| column.as_slice()).collect();
    match (of, slices.as_deref(), rest) {
        (Transform::Of(direction), Some([re, im]), []) => all(re, im, direction),
        (Transform::Real, Some([xs]), []) => half(xs),
        (Transform::ToReal, Some([re, im]), [Value::Scalar(len)]) => {
            real(re, im, len.first().map_or(0, |len| len.bits))
        }
        _ => Err(unfit()),
    }
}

fn all<T: Prim + FftNum>(re: &[T], im: &[T], direction: FftDirection) -> Result<Value, ErrorKind> {
    let mut zs = pairs(re, im)?;
    if !zs.is_empty() {
        let plan = FftPlanner::new().plan_fft(zs.len(), direction);
        let mut scratch = zeros(plan.get_inplace_scratch_len())?;
        plan.process_with_scratch(&mut zs, &mut scratch);
    }
    columns(&zs)
}

fn half<T: Prim + FftNum>(xs: &[T]) -> Result<Value, ErrorKind> {
    if xs.is_empty() {
        return columns::<T>(&[]);
    }
    let plan = RealFftPlanner::new().plan_fft_forward(xs.len());
    let mut work: Vec<T> = room(xs.len())?;
    work.extend_from_slice(xs);
    let mut zs = zeros(xs.len() / 2 + 1)?;
    let mut scratch = zeros(plan.get_scratch_len())?;
    let done = plan.process_with_scratch(&mut work, &mut zs, &mut scratch);
    done.map_err(|_| unfit())?;
    columns(&zs)
}

fn real<T: Prim + FftNum>(re: &[T], im: &[T], len: u64) -> Result<Value, ErrorKind> {
    let (got, expected) = (re.len() as u64, if len == 0 { 0 } else { len / 2 + 1 });
    if expected != got {
        return Err(ErrorKind::LengthMismatch { expected, got });
    }
    let (mut zs, mut xs) = (pairs(re, im)?, zeros(len as usize)?);
    if let Some(last) = zs.len().checked_sub(1) {
        // Numbers that are their own mirrors have no imaginary part, where the signal is real.
        zs[0].im = T::zero();
        if len.is_multiple_of(2) {
            zs[last].im = T::zero();
        }
        let plan = RealFftPlanner::new().plan_fft_inverse(xs.len());
        let mut scratch = zeros(plan.get_scratch_len())?;
        let done = plan.process_with_scratch(&mut zs, &mut xs, &mut scratch);
        done.map_err(|_| unfit())?;
    }
    Ok(Value::Array(vec![Arc::new(Buffer::from_vec(xs))]))
}

fn pairs<T: Prim>(re: &[T], im: &[T]) -> Result<Vec<Complex<T>>, ErrorKind> {
    let mut zs = room(re.len())?;
    zs.extend(
        re.iter()
            .zip(im)
            .map(|(re, im)| Complex { re: *re, im: *im }),
    );
    Ok(zs)
}

fn zeros<Z: Zero + Clone>(len: usize) -> Result<Vec<Z>, ErrorKind> {
    let mut zeros = room(len)?;
    zeros.resize(len, Z::zero());
    Ok(zeros)
}

fn columns<T: Prim>(zs: &[Complex<T>]) -> Result<Value, ErrorKind> {
    let column = |part: fn(&Complex<T>) -> T| {
        let mut column = room(zs.len())?;
        column.extend(zs.iter().map(part));
        Ok(Arc::new(Buffer::from_vec(column)))
    };
    Ok(Value::Array(vec![column(|z| z.re)?, column(|z| z.im)?]))
}

impl<T: Float> Array<Complex<T>> {
    /// The Fourier transform: number `k` is the sum of all elements `z[j]` times `e^(-2 pi i j k / n)`.
    ///
    /// ```
    /// use livefusion::complex::Complex;
    /// use livefusion::prelude::*;
    /// let zs = Array::from([1.0, 0.0, 0.0, 0.0].map(|x| Complex::new(x, 0.0)).to_vec());
    /// assert_eq!(zs.fft().re().force()?, [1.0; 4]);
    /// assert_eq!(zs.fft().ifft().re().force()?, [1.0, 0.0, 0.0, 0.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* `n log n` steps for any length, on one thread, by `rustfft`, and two passes that put the parts side by side and
    /// apart. It runs apart, as [`external`](Array::external) functions do: what makes the elements is in the loop before it, what is made
    /// of the result in the one behind.
    ///
    /// # Errors
    /// When forced: if there is no memory for it.
    #[track_caller]
    pub fn fft(&self) -> Array<Complex<T>> {
        Array::wrap(Builder::named("fft").fft(self.node()))
    }

    /// The inverse of [`fft`](Array::fft): the same sums with `e^(2 pi i j k / n)`, over `n`, which is done where the result is used.
    ///
    /// # Errors
    /// As of [`fft`](Array::fft).
    #[track_caller]
    pub fn ifft(&self) -> Array<Complex<T>> {
        Array::wrap(Builder::named("ifft").ifft(self.node()))
    }

    /// The `n` real numbers of which [`rfft`](Array::rfft) gave this. Imaginary parts that are 0 for real numbers, the first one and for even
    /// `n` the last one, are not looked at.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1.0f64, 2.0, 4.0, 9.0, 0.0]);
    /// let again = xs.rfft().irfft(5);
    /// assert!((&again - &xs).map(|e| e.abs()).max().force()? < 1e-14);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are not `n / 2 + 1` elements, or no memory.
    #[track_caller]
    pub fn irfft(&self, n: impl ToExp<u64>) -> Array<T> {
        let len = value::<u64>(|| n.to_exp());
        Array::wrap(Builder::named("irfft").irfft(self.node(), &len))
    }
}

impl<T: Float> Array<T> {
    /// The first `n / 2 + 1` numbers of the [Fourier transform](Array::fft) of real numbers. The others are their mirror: number `n - k` is
    /// the conjugate of number `k`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// // Which frequency is it? The window before and the power behind are loops of their own; nothing of them is in memory but what
    /// // goes in and out.
    /// let n = 256u64;
    /// let turn = 2.0 * std::f64::consts::PI / n as f64;
    /// let signal = iota(n).map(|i| (i.cast::<f64>() * (turn * 20.0)).sin());
    /// let window = signal.enumerate().map(|(i, x)| x * (0.5 - 0.5 * (i.cast::<f64>() * turn).cos()));
    /// let power = window.rfft().norm_sqr();
    /// assert_eq!(power.max_index().force()?, 20);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* As of [`fft`](Array::fft), by `realfft`, which transforms half as many complex numbers.
    ///
    /// # Errors
    /// As of [`fft`](Array::fft).
    #[track_caller]
    pub fn rfft(&self) -> Array<Complex<T>> {
        Array::wrap(Builder::named("rfft").rfft(self.node()))
    }
}
