//! Fourier transforms of whole arrays and of each segment.
//!
//! They run outside of fused loops. Their producers (a window, say) are in the loop before. Their
//! consumers (the power, a scale) are in the loop after.

use super::transform::{Each, Transform, Whole};
use crate::array::Array;
use crate::ast::{Body, Builder, Function, Gives, Node, Types, show_types};
use crate::complex::Complex;
use crate::elt::{Float, Int};
use crate::error::ErrorKind;
use crate::exp::{Field, Fields, ToExp, trace, value};
use crate::segmented::{Segmented, Segments};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustfft::FftDirection;
use std::sync::Arc;

/// Untyped forms. Complex numbers are pairs of floats.
impl Builder {
    /// Returns the Fourier transform of an array of pairs.
    pub fn fft(self, zs: &Arc<Node>) -> Arc<Node> {
        self.transformed(Transform::Of(FftDirection::Forward), None, zs, None)
    }

    /// Inverts [`fft`](Builder::fft), with the factor `1/n`.
    pub fn ifft(self, zs: &Arc<Node>) -> Arc<Node> {
        let of = Transform::Of(FftDirection::Inverse);
        self.shared_out(&self.transformed(of, None, zs, None))
    }

    /// Returns the first half of the Fourier transform of floats, as pairs.
    ///
    /// The other half is its mirror image.
    pub fn rfft(self, xs: &Arc<Node>) -> Arc<Node> {
        self.transformed(Transform::Real, None, xs, None)
    }

    /// Inverts [`rfft`](Builder::rfft) to an array of `len` floats.
    ///
    /// `len` is a body without parameters that gives a `u64`.
    pub fn irfft(self, zs: &Arc<Node>, len: &Body) -> Arc<Node> {
        let len = self.compute(len.clone());
        self.shared_out(&self.transformed(Transform::ToReal, None, zs, Some(&len)))
    }
}

/// Transforms of segments.
impl Segments {
    /// Returns the Fourier transform of each segment of pairs.
    pub fn fft(&self, builder: Builder) -> Segments {
        builder.of_each(self, |row| builder.fft(row))
    }

    /// Returns the inverse transform of each segment.
    pub fn ifft(&self, builder: Builder) -> Segments {
        builder.of_each(self, |row| builder.ifft(row))
    }

    /// Returns the first half of the Fourier transform of each segment of floats.
    ///
    /// The results are pairs.
    pub fn rfft(&self, builder: Builder) -> Segments {
        let loc = builder.loc();
        let op = |op, n: Field, by| Field::op(op, &[n, Field::literal(Const::u64(by))], loc);
        let halves = trace::trace(&[Ty::U64], |n| {
            let (half, some) = (op(Op::Div, n[0], 2), op(Op::Ne, n[0], 0));
            let some = some.cast(Ty::U64, loc);
            Fields::from_slice(&[Field::op(Op::Add, &[half, some], loc)])
        });
        Segments {
            lengths: builder.map(std::slice::from_ref(&self.lengths), halves),
            data: builder.transformed(Transform::Real, Some(&self.lengths), &self.data, None),
        }
    }

    /// Inverts [`rfft`](Segments::rfft) to segments of these lengths, one integer each.
    pub fn irfft(&self, builder: Builder, lengths: &Arc<Node>) -> Segments {
        let wanted = builder.segments(lengths, &self.data).lengths;
        let to_real = Transform::ToReal;
        let sums = Segments {
            data: builder.transformed(to_real, Some(&self.lengths), &self.data, Some(&wanted)),
            lengths: wanted,
        };
        builder.of_each(&sums, |row| builder.shared_out(row))
    }
}

impl Builder {
    /// Transforms an array, or segments of these lengths. The result has the same length, or the
    /// `wanted` one.
    fn transformed(
        self,
        of: Transform,
        lengths: Option<&Arc<Node>>,
        elements: &Arc<Node>,
        wanted: Option<&Arc<Node>>,
    ) -> Arc<Node> {
        let (from, to) = match of {
            Transform::Of(_) => (2, 2),
            Transform::Real => (1, 2),
            Transform::ToReal => (2, 1),
        };
        let types = &elements.types;
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
        let function: Arc<dyn Function> = match lengths {
            Some(_) => Arc::new(Each(of)),
            None => Arc::new(Whole(of)),
        };
        let inputs = lengths.into_iter().chain([elements]).chain(wanted);
        let inputs: Vec<Arc<Node>> = inputs.cloned().collect();
        self.external(&inputs, gives, function)
    }

    /// Divides each float by the number of elements.
    fn shared_out(self, xs: &Arc<Node>) -> Arc<Node> {
        let (count, loc) = (self.len(xs), self.loc());
        let share = trace::trace(&xs.types, |parts| {
            let count = trace::scalar(&count, 0, Ty::U64, loc);
            let share = |x: &Field| Field::op(Op::Div, &[*x, count.cast(x.ty(), loc)], loc);
            parts.iter().map(share).collect()
        });
        self.map(std::slice::from_ref(xs), share)
    }
}

impl<T: Float> Array<Complex<T>> {
    /// Computes the Fourier transform.
    ///
    /// Element `k` is the sum of all elements `z[j]` times `e^(-2 pi i j k / n)`.
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
    /// *Cost and fusion.* `n log n` steps for any length, on one thread, by `rustfft`. Two more
    /// passes interleave the parts and separate them again. It runs outside of fused loops, as
    /// [`external`](Array::external) functions do. The producer is in the loop before, and the
    /// consumers are in the loop after.
    ///
    /// # Errors
    /// When forced: if there is not enough memory.
    #[track_caller]
    pub fn fft(&self) -> Array<Complex<T>> {
        Array::wrap(Builder::named("fft").fft(self.node()))
    }

    /// Inverts [`fft`](Array::fft).
    ///
    /// Computes the same sums with `e^(2 pi i j k / n)`, divided by `n`. The division fuses with
    /// the consumers.
    ///
    /// # Errors
    /// As for [`fft`](Array::fft).
    #[track_caller]
    pub fn ifft(&self) -> Array<Complex<T>> {
        Array::wrap(Builder::named("ifft").ifft(self.node()))
    }

    /// Inverts [`rfft`](Array::rfft) to `n` real numbers.
    ///
    /// For real numbers some imaginary parts are 0: that of the first element, and for even `n`
    /// that of the last. These parts are ignored.
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
    /// When forced: if there are not `n / 2 + 1` elements, or not enough memory.
    #[track_caller]
    pub fn irfft(&self, n: impl ToExp<u64>) -> Array<T> {
        let len = value::<u64>(|| n.to_exp());
        Array::wrap(Builder::named("irfft").irfft(self.node(), &len))
    }
}

impl<T: Float> Array<T> {
    /// Returns the first `n / 2 + 1` elements of a real [Fourier transform](Array::fft).
    ///
    /// The other elements mirror them: element `n - k` is the conjugate of element `k`.
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
    /// *Cost and fusion.* As for [`fft`](Array::fft), by `realfft`, which transforms half as many
    /// complex numbers.
    ///
    /// # Errors
    /// As for [`fft`](Array::fft).
    #[track_caller]
    pub fn rfft(&self) -> Array<Complex<T>> {
        Array::wrap(Builder::named("rfft").rfft(self.node()))
    }
}

impl<T: Float> Segmented<Complex<T>> {
    /// Transforms each segment separately, as [`Array::fft`] does an array.
    ///
    /// ```
    /// use livefusion::complex::Complex;
    /// use livefusion::prelude::*;
    /// let row = |xs: &[f64]| xs.iter().map(|x| Complex::new(*x, 0.0)).collect();
    /// let rows = Segmented::from_vecs(vec![row(&[1.0, 0.0, 0.0, 0.0]), row(&[]), row(&[3.0, 1.0])]);
    /// assert_eq!(rows.fft().data().re().force()?, [1.0, 1.0, 1.0, 1.0, 4.0, 2.0]);
    /// assert_eq!(rows.fft().ifft().data().re().force()?, [1.0, 0.0, 0.0, 0.0, 3.0, 1.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* As [`Array::fft`], it runs outside of fused loops. The producer is in the
    /// loop before, and the consumers are in the loop after. Segments of equal length share a plan.
    /// Threads divide the segments among themselves.
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data, or there is not enough memory.
    #[doc(alias = "fft_s")]
    #[track_caller]
    pub fn fft(&self) -> Segmented<Complex<T>> {
        Segmented::wrap(self.nodes().fft(Builder::named("fft")))
    }

    /// Inverts [`fft`](Segmented::fft), segment by segment.
    ///
    /// The factor is one over the length of each segment, as in [`Array::ifft`].
    ///
    /// # Errors
    /// As for [`fft`](Segmented::fft).
    #[doc(alias = "ifft_s")]
    #[track_caller]
    pub fn ifft(&self) -> Segmented<Complex<T>> {
        Segmented::wrap(self.nodes().ifft(Builder::named("ifft")))
    }

    /// Inverts [`rfft`](Segmented::rfft), segment by segment.
    ///
    /// The segments of the result have the given lengths. Otherwise as [`Array::irfft`].
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![1.0f64, 2.0, 4.0], vec![], vec![5.0, 0.0]]);
    /// let again = rows.rfft().irfft(rows.lengths());
    /// assert!((again.data() - rows.data()).map(|e| e.abs()).max().force()? < 1e-14);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are not as many lengths as segments. Also if a segment does not have
    /// `n / 2 + 1` elements for a length of `n`, or 0 elements for a length of 0. Also as for
    /// [`fft`](Segmented::fft).
    #[doc(alias = "irfft_s")]
    #[track_caller]
    pub fn irfft<I: Int>(&self, lengths: &Array<I>) -> Segmented<T> {
        Segmented::wrap(self.nodes().irfft(Builder::named("irfft"), lengths.node()))
    }
}

impl<T: Float> Segmented<T> {
    /// Transforms each segment of real numbers separately.
    ///
    /// A segment of `n` numbers gives the first `n / 2 + 1` elements of its transform, as
    /// [`Array::rfft`]. An empty segment gives an empty one. So the lengths of the segments change.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// // A spectrogram. Where is the power, each 64 steps of a signal that goes up from one frequency to the next?
    /// let n = 64u64;
    /// let turn = 2.0 * std::f64::consts::PI / n as f64;
    /// let signal = iota(4 * n).map(|i| ((i / n + 5).cast::<f64>() * i.cast::<f64>() * turn).sin());
    /// let window = iota(4 * n).map(|i| 0.5 - 0.5 * ((i % n).cast::<f64>() * turn).cos());
    /// let power = (signal * window).chunks(n).rfft().map(|z| z.norm_sqr());
    /// assert_eq!(power.lengths().force()?, [33; 4]);
    /// assert_eq!(power.max_index().force()?, [5, 6, 7, 8]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* As for [`fft`](Segmented::fft), with half as many complex numbers. In the
    /// example, the loop before makes the signal and its window. The loop after makes the power and
    /// finds its maximum.
    ///
    /// # Errors
    /// As for [`fft`](Segmented::fft).
    #[doc(alias("spectrogram", "stft", "rfft_s"))]
    #[track_caller]
    pub fn rfft(&self) -> Segmented<Complex<T>> {
        Segmented::wrap(self.nodes().rfft(Builder::named("rfft")))
    }
}
