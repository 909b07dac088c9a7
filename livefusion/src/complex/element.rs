//! A complex number as an element: columns of real and of imaginary parts.

use crate::ast::Types;
use crate::complex::Complex;
use crate::elt::{Elt, Float, Rows, collected};
use crate::exp::{Exp, Field, Fields, IntoExp, ToExp};
use livefusion_backend::Buffer;
use loop_lang::types::Ty;
use std::fmt;
use std::sync::Arc;

/// Holds a [`Complex`] in a closure.
///
/// Each part is an expression.
///
/// ```
/// use livefusion::complex::{Complex, ComplexExp};
/// use livefusion::prelude::*;
/// let xs = Array::from(vec![1.0f64, 2.0]);
/// let zs = xs.map(|x| ComplexExp { re: x, im: -x });
/// assert_eq!(zs.to_vec()?, [Complex::new(1.0, -1.0), Complex::new(2.0, -2.0)]);
/// # Ok::<(), livefusion::Error>(())
/// ```
pub struct ComplexExp<T> {
    /// Holds the real part.
    pub re: Exp<T>,
    /// Holds the imaginary part.
    pub im: Exp<T>,
}

impl<T> Clone for ComplexExp<T> {
    fn clone(&self) -> ComplexExp<T> {
        *self
    }
}

impl<T> Copy for ComplexExp<T> {}

impl<T: Float> fmt::Debug for ComplexExp<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ComplexExp({:?}, {:?})", self.re, self.im)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Float> ToExp<Complex<T>> for ComplexExp<T> {
    fn to_exp(self) -> ComplexExp<T> {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<T: Float> IntoExp for ComplexExp<T> {
    type Elt = Complex<T>;
}

#[diagnostic::do_not_recommend]
impl<T: Float> ToExp<Complex<T>> for Complex<T> {
    fn to_exp(self) -> ComplexExp<T> {
        ComplexExp {
            re: Exp::lit(self.re),
            im: Exp::lit(self.im),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Float> IntoExp for Complex<T> {
    type Elt = Complex<T>;
}

#[diagnostic::do_not_recommend]
impl<T: Float> Elt for Complex<T> {
    type Exp = ComplexExp<T>;
    const FIELDS: u32 = 2;
    fn types(out: &mut Types) {
        out.extend([T::TY, T::TY]);
    }
    fn of_fields(next: &mut dyn FnMut(Ty) -> Field) -> ComplexExp<T> {
        ComplexExp {
            re: Exp::of(next(T::TY)),
            im: Exp::of(next(T::TY)),
        }
    }
    fn fields(e: ComplexExp<T>, out: &mut Fields) {
        out.extend([e.re.field(), e.im.field()]);
    }
    fn split(values: Vec<Complex<T>>, out: &mut Vec<Arc<Buffer>>) {
        let (re, im) = values.into_iter().map(|z| (z.re, z.im)).unzip();
        T::split(re, out);
        T::split(im, out);
    }
    fn join(columns: &mut dyn Iterator<Item = Arc<Buffer>>) -> Option<Vec<Complex<T>>> {
        let (re, im) = (T::join(columns)?, T::join(columns)?);
        let n = re.len().min(im.len());
        let parts = re.into_iter().zip(im);
        collected(n, parts.map(|(re, im)| Complex { re, im }))
    }
    fn read(columns: &mut std::slice::Iter<'_, Arc<Buffer>>, at: usize) -> Option<Complex<T>> {
        Some(Complex {
            re: T::read(columns, at)?,
            im: T::read(columns, at)?,
        })
    }
    fn of_words(next: &mut dyn FnMut() -> u64) -> Complex<T> {
        Complex {
            re: T::of_words(next),
            im: T::of_words(next),
        }
    }
    type Iter<'a> = Rows<'a, Complex<T>>;
    fn iter(columns: &[Arc<Buffer>]) -> Rows<'_, Complex<T>> {
        Rows::new(columns)
    }
    fn show(next: &mut dyn FnMut() -> String, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (re, im) = (next(), next());
        match im.starts_with('-') {
            true => write!(f, "{re}{im}i"),
            false => write!(f, "{re}+{im}i"),
        }
    }
}
