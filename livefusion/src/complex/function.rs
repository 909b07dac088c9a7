//! Functions of complex numbers.

use crate::complex::{Complex, ComplexExp};
use crate::elt::Float;
use crate::exp::{Exp, ToExp};

/// Each function behaves as the one of that name in `num-complex`. Infinities and NaN follow from
/// the formulas.
impl<T: Float> ComplexExp<T> {
    /// Makes a number from its parts, literals or expressions.
    #[track_caller]
    pub fn new(re: impl ToExp<T>, im: impl ToExp<T>) -> ComplexExp<T> {
        ComplexExp {
            re: re.to_exp(),
            im: im.to_exp(),
        }
    }

    /// Returns `r * (cos(theta) + i sin(theta))`.
    #[track_caller]
    pub fn from_polar(r: impl ToExp<T>, theta: impl ToExp<T>) -> ComplexExp<T> {
        ComplexExp::cis(theta).scale(r)
    }

    /// Returns `cos(theta) + i sin(theta)`, a number on the unit circle.
    #[track_caller]
    pub fn cis(theta: impl ToExp<T>) -> ComplexExp<T> {
        let theta = theta.to_exp();
        ComplexExp {
            re: theta.cos(),
            im: theta.sin(),
        }
    }

    /// Returns the absolute value, without intermediate overflow.
    #[doc(alias("norm", "modulus", "magnitude"))]
    #[track_caller]
    pub fn abs(self) -> Exp<T> {
        self.re.hypot(self.im)
    }

    /// Returns the square of the absolute value.
    ///
    /// It needs no square root, but the squares may overflow.
    #[doc(alias("abs2", "power"))]
    #[track_caller]
    pub fn norm_sqr(self) -> Exp<T> {
        self.re * self.re + self.im * self.im
    }

    /// Returns the angle, from -pi to pi.
    #[doc(alias("angle", "phase"))]
    #[track_caller]
    pub fn arg(self) -> Exp<T> {
        self.im.atan2(self.re)
    }

    /// Returns the complex conjugate.
    #[doc(alias = "conjugate")]
    #[track_caller]
    pub fn conj(self) -> ComplexExp<T> {
        ComplexExp {
            re: self.re,
            im: -self.im,
        }
    }

    /// Multiplies the number by a real one.
    #[track_caller]
    pub fn scale(self, by: impl ToExp<T>) -> ComplexExp<T> {
        let by = by.to_exp();
        ComplexExp {
            re: self.re * by,
            im: self.im * by,
        }
    }

    /// Returns `e` to the power of the number.
    #[track_caller]
    pub fn exp(self) -> ComplexExp<T> {
        ComplexExp::from_polar(self.re.exp(), self.im)
    }

    /// Returns the natural logarithm with imaginary part from -pi to pi.
    #[doc(alias = "log")]
    #[track_caller]
    pub fn ln(self) -> ComplexExp<T> {
        ComplexExp {
            re: self.abs().ln(),
            im: self.arg(),
        }
    }

    /// Returns the square root whose real part is not negative.
    #[track_caller]
    pub fn sqrt(self) -> ComplexExp<T> {
        // Compute the part without cancellation, and the other part by `2 re im = self.im`.
        let large = ((self.abs() + self.re.abs()) * T::lit(0.5)).sqrt();
        let is_zero = large.eq(T::lit(0.0));
        let small = is_zero.cond(T::lit(0.0), self.im.abs() / (large + large));
        let is_right = self.re.ge(T::lit(0.0));
        ComplexExp {
            re: is_right.cond(large, small),
            im: is_right.cond(small, large).copysign(self.im),
        }
    }

    /// Tests if both parts are equal.
    #[track_caller]
    pub fn eq(self, other: impl ToExp<Complex<T>>) -> Exp<bool> {
        let other = other.to_exp();
        self.re.eq(other.re) & self.im.eq(other.im)
    }

    /// Tests if a part differs.
    #[track_caller]
    pub fn ne(self, other: impl ToExp<Complex<T>>) -> Exp<bool> {
        !self.eq(other)
    }
}
