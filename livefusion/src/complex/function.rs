//! Functions of complex numbers.

use crate::complex::{Complex, ComplexExp};
use crate::elt::Float;
use crate::exp::{Exp, ToExp};

/// Each is as the one of the same name of `num-complex`; infinities and NaN are what the formula gives.
impl<T: Float> ComplexExp<T> {
    /// The number of these parts, literals or expressions.
    #[track_caller]
    pub fn new(re: impl ToExp<T>, im: impl ToExp<T>) -> ComplexExp<T> {
        ComplexExp {
            re: re.to_exp(),
            im: im.to_exp(),
        }
    }

    /// `r * (cos(theta) + i sin(theta))`.
    #[track_caller]
    pub fn from_polar(r: impl ToExp<T>, theta: impl ToExp<T>) -> ComplexExp<T> {
        ComplexExp::cis(theta).scale(r)
    }

    /// `cos(theta) + i sin(theta)`, a number on the circle around 0.
    #[track_caller]
    pub fn cis(theta: impl ToExp<T>) -> ComplexExp<T> {
        let theta = theta.to_exp();
        ComplexExp {
            re: theta.cos(),
            im: theta.sin(),
        }
    }

    /// The distance from 0, without overflow on the way.
    #[doc(alias("norm", "modulus", "magnitude"))]
    #[track_caller]
    pub fn abs(self) -> Exp<T> {
        self.re.hypot(self.im)
    }

    /// The square of the distance from 0: no root, but squares may overflow.
    #[doc(alias("abs2", "power"))]
    #[track_caller]
    pub fn norm_sqr(self) -> Exp<T> {
        self.re * self.re + self.im * self.im
    }

    /// The angle, from -pi to pi.
    #[doc(alias("angle", "phase"))]
    #[track_caller]
    pub fn arg(self) -> Exp<T> {
        self.im.atan2(self.re)
    }

    /// The number mirrored at the real axis.
    #[doc(alias = "conjugate")]
    #[track_caller]
    pub fn conj(self) -> ComplexExp<T> {
        ComplexExp {
            re: self.re,
            im: -self.im,
        }
    }

    /// The number times a real one.
    #[track_caller]
    pub fn scale(self, by: impl ToExp<T>) -> ComplexExp<T> {
        let by = by.to_exp();
        ComplexExp {
            re: self.re * by,
            im: self.im * by,
        }
    }

    /// `e` to the power of it.
    #[track_caller]
    pub fn exp(self) -> ComplexExp<T> {
        ComplexExp::from_polar(self.re.exp(), self.im)
    }

    /// The natural logarithm whose imaginary part is from -pi to pi.
    #[doc(alias = "log")]
    #[track_caller]
    pub fn ln(self) -> ComplexExp<T> {
        ComplexExp {
            re: self.abs().ln(),
            im: self.arg(),
        }
    }

    /// The square root whose real part is not negative.
    #[track_caller]
    pub fn sqrt(self) -> ComplexExp<T> {
        // The part that has no cancellation, and the other one by `2 re im = self.im`.
        let large = ((self.abs() + self.re.abs()) * T::lit(0.5)).sqrt();
        let is_zero = large.eq(T::lit(0.0));
        let small = is_zero.cond(T::lit(0.0), self.im.abs() / (large + large));
        let is_right = self.re.ge(T::lit(0.0));
        ComplexExp {
            re: is_right.cond(large, small),
            im: is_right.cond(small, large).copysign(self.im),
        }
    }

    /// Whether both parts are equal.
    #[track_caller]
    pub fn eq(self, other: impl ToExp<Complex<T>>) -> Exp<bool> {
        let other = other.to_exp();
        self.re.eq(other.re) & self.im.eq(other.im)
    }

    /// Whether a part differs.
    #[track_caller]
    pub fn ne(self, other: impl ToExp<Complex<T>>) -> Exp<bool> {
        !self.eq(other)
    }
}
