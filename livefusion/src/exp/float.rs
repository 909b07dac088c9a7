//! The float functions of std.
//!
//! Each transcendental function has one implementation, shared by the CPU backends
//! ([`loop_lang::math`]). The same operand gives the same bits on every backend and machine.
//! Special cases (zeros, infinities, NaN, powers of 0 and 1) follow the C standard. Results may be
//! subnormal.
//!
//! The table lists the largest error in units in the last place, over the whole range of operands.
//! An error of 0.5 means the nearest number.
//!
//! | function | `f32` | `f64` |
//! | --- | --- | --- |
//! | `exp`, `exp2`, `ln`, `ln_1p`, `log2`, `log10`, `sin`, `cos` | 1 | 1 |
//! | `cbrt` | 0.51 | 0.51 |
//! | `powf` | 0.51 | 1.1 |
//! | `acos`, `hypot` | 0.51 | 1.5 |
//! | `asin` | 0.51 | 2 |
//! | `tan`, `atan`, `atan2`, `asinh`, `acosh`, `atanh` | 0.51 | 2.5 |
//! | `sinh` | 0.51 | 3 |
//! | `cosh` | 2 | 2 |
//! | `exp_m1` | 2 | 2.5 |
//! | `tanh` | 3 | 3 |
//!
//! `powi` multiplies repeatedly, in one order everywhere. Its error is below `|n|` units for the
//! exponent `n`.

use crate::elt::Float;
use crate::exp::{Exp, Field, ToExp, apply, trace};
use crate::loc::Loc;
use loop_lang::math::by_squares;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::num::NonZeroU32;

/// The largest literal exponent that `powi` expands to multiplications.
const UNROLLED: u32 = 16;

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {
        /// Functions of one float. Each behaves as the method of that name of `f64`.
        impl<T: Float> Exp<T> {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name(self) -> Exp<T> {
                apply(Op::$op, &[self.field()], Loc::caller())
            })*
        }
    };
}

unary! {
    /// Rounds down to an integer.
    floor Floor;
    /// Rounds up to an integer.
    ceil Ceil;
    /// Rounds to the nearest integer, halves away from zero.
    round Round;
    /// Rounds to the nearest integer, halves to even.
    #[doc(alias = "rint")]
    round_ties_even RoundEven;
    /// Returns the integer part.
    trunc Trunc;
    /// Returns the square root; NaN for negative numbers.
    sqrt Sqrt;
    /// Returns the cube root.
    cbrt Cbrt;
    /// Returns `e` to the power `self`.
    exp Exp;
    /// Returns 2 to the power `self`.
    exp2 Exp2;
    /// Returns `e` to the power `self`, minus 1, accurate near 0.
    #[doc(alias = "expm1")]
    exp_m1 ExpM1;
    /// Returns the natural logarithm.
    #[doc(alias = "log")]
    ln Ln;
    /// Returns the natural logarithm of `1 + self`, accurate near 0.
    #[doc(alias = "log1p")]
    ln_1p Ln1p;
    /// Returns the logarithm to base 2.
    log2 Log2;
    /// Returns the logarithm to base 10.
    log10 Log10;
    /// Returns the sine.
    sin Sin;
    /// Returns the cosine.
    cos Cos;
    /// Returns the tangent.
    tan Tan;
    /// Returns the arc sine.
    #[doc(alias = "arcsin")]
    asin Asin;
    /// Returns the arc cosine.
    #[doc(alias = "arccos")]
    acos Acos;
    /// Returns the arc tangent.
    #[doc(alias = "arctan")]
    atan Atan;
    /// Returns the hyperbolic sine.
    sinh Sinh;
    /// Returns the hyperbolic cosine.
    cosh Cosh;
    /// Returns the hyperbolic tangent.
    tanh Tanh;
    /// Returns the inverse hyperbolic sine.
    #[doc(alias = "arcsinh")]
    asinh Asinh;
    /// Returns the inverse hyperbolic cosine.
    #[doc(alias = "arccosh")]
    acosh Acosh;
    /// Returns the inverse hyperbolic tangent.
    #[doc(alias = "arctanh")]
    atanh Atanh;
}

/// Functions of several floats.
impl<T: Float> Exp<T> {
    /// Raises the number to a float power.
    #[doc(alias = "power")]
    #[track_caller]
    pub fn powf(self, exponent: impl ToExp<T>) -> Exp<T> {
        apply(
            Op::Powf,
            &[self.field(), exponent.to_exp().field()],
            Loc::caller(),
        )
    }

    /// Raises the number to an integer power, by repeated multiplication.
    ///
    /// A negative exponent gives the reciprocal.
    ///
    /// A literal exponent of at most 16 is expanded to multiplications, which fuse and vectorise.
    /// Each such exponent compiles separately, as [`explain`](crate::Force::explain) shows. Any
    /// other exponent, such as a delayed scalar, is an argument of a call. The bits are the same.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![2.0f64, 10.0]);
    /// assert_eq!(xs.map(|x| x.powi(3)).force()?, [8.0, 1000.0]);
    /// let n = Array::scalar(-2);
    /// assert_eq!(xs.map(|x| x.powi(&n)).force()?, [0.25, 0.01]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "power")]
    #[track_caller]
    pub fn powi(self, exponent: impl ToExp<i32>) -> Exp<T> {
        let (loc, exponent) = (Loc::caller(), exponent.to_exp().field());
        let small = exponent
            .as_literal()
            .and_then(|c| u32::try_from(c.bits).ok());
        match small.filter(|n| *n <= UNROLLED) {
            Some(n) => {
                let times = |a: Exp<T>, b: Exp<T>| apply(Op::Mul, &[a.field(), b.field()], loc);
                let power = by_squares(self, n, times).unwrap_or(Exp::lit(T::ONE));
                if let Some(n) = NonZeroU32::new(n) {
                    trace::is_power(power.field(), n, loc);
                }
                power
            }
            None => apply(Op::Powi, &[self.field(), exponent], loc),
        }
    }

    /// Returns the four-quadrant arc tangent of `self / x`.
    #[doc(alias = "arctan2")]
    #[track_caller]
    pub fn atan2(self, x: impl ToExp<T>) -> Exp<T> {
        apply(
            Op::Atan2,
            &[self.field(), x.to_exp().field()],
            Loc::caller(),
        )
    }

    /// Returns the length of the hypotenuse, without intermediate overflow.
    #[track_caller]
    pub fn hypot(self, other: impl ToExp<T>) -> Exp<T> {
        apply(
            Op::Hypot,
            &[self.field(), other.to_exp().field()],
            Loc::caller(),
        )
    }

    /// Returns the magnitude of `self` with the sign of `sign`.
    #[track_caller]
    pub fn copysign(self, sign: impl ToExp<T>) -> Exp<T> {
        apply(
            Op::Copysign,
            &[self.field(), sign.to_exp().field()],
            Loc::caller(),
        )
    }

    /// Computes `self * a + b` with one rounding.
    #[doc(alias = "fma")]
    #[track_caller]
    pub fn mul_add(self, a: impl ToExp<T>, b: impl ToExp<T>) -> Exp<T> {
        let args = [self.field(), a.to_exp().field(), b.to_exp().field()];
        apply(Op::MulAdd, &args, Loc::caller())
    }

    /// Returns the logarithm to any base, `ln(self) / ln(base)`.
    #[track_caller]
    pub fn log(self, base: impl ToExp<T>) -> Exp<T> {
        let loc = Loc::caller();
        let ln = |x: Exp<T>| apply::<T>(Op::Ln, &[x.field()], loc);
        binary(Op::Div, ln(self), ln(base.to_exp()), loc)
    }

    /// Returns the sine and cosine.
    #[track_caller]
    pub fn sin_cos(self) -> (Exp<T>, Exp<T>) {
        (self.sin(), self.cos())
    }

    /// Returns `1 / self`.
    #[doc(alias = "reciprocal")]
    #[track_caller]
    pub fn recip(self) -> Exp<T> {
        binary(Op::Div, T::lit(1.0), self, Loc::caller())
    }

    /// Returns the fraction, `self - self.trunc()`.
    #[doc(alias = "modf")]
    #[track_caller]
    pub fn fract(self) -> Exp<T> {
        let loc = Loc::caller();
        binary(Op::Sub, self, apply(Op::Trunc, &[self.field()], loc), loc)
    }

    /// Converts radians to degrees.
    #[doc(alias = "rad2deg")]
    #[track_caller]
    pub fn to_degrees(self) -> Exp<T> {
        binary(
            Op::Mul,
            self,
            Exp::lit(T::DEGREES_PER_RADIAN),
            Loc::caller(),
        )
    }

    /// Converts degrees to radians.
    #[doc(alias = "deg2rad")]
    #[track_caller]
    pub fn to_radians(self) -> Exp<T> {
        binary(
            Op::Mul,
            self,
            Exp::lit(T::RADIANS_PER_DEGREE),
            Loc::caller(),
        )
    }

    /// Returns the midpoint of two numbers, without intermediate overflow.
    #[track_caller]
    pub fn midpoint(self, other: impl ToExp<T>) -> Exp<T> {
        let loc = Loc::caller();
        let (a, b, half) = (self, other.to_exp(), T::lit(0.5));
        let sum = binary(Op::Add, a, b, loc);
        let halves = binary(
            Op::Add,
            binary(Op::Mul, a, half, loc),
            binary(Op::Mul, b, half, loc),
            loc,
        );
        let fits = finite(sum.field(), T::TY, loc);
        select(fits, binary(Op::Mul, sum, half, loc), halves, loc)
    }

    /// Tests if `|self - other| <= atol + rtol * |other|`.
    ///
    /// Equal infinities are close. NaN is close to NaN if `equal_nan` is true. NumPy's tolerances
    /// are `1e-5` and `1e-8`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (xs, ys) = (Array::from(vec![1.0f64, 1.0, f64::NAN]), Array::from(vec![1.000001, 1.1, f64::NAN]));
    /// let close = xs.zip_with(&ys, |x, y| x.isclose(y, 1e-5, 1e-8, false));
    /// assert_eq!(close.force()?, [true, false, false]);
    /// let all = xs.zip_with(&ys, |x, y| x.isclose(y, 0.2, 0.0, true)).all(|c| c);
    /// assert!(all.force()?);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("allclose", "is_close", "approx_eq"))]
    #[track_caller]
    pub fn isclose(
        self,
        other: impl ToExp<T>,
        rtol: impl ToExp<T>,
        atol: impl ToExp<T>,
        equal_nan: impl ToExp<bool>,
    ) -> Exp<bool> {
        let (other, rtol, atol) = (
            other.to_exp().field(),
            rtol.to_exp().field(),
            atol.to_exp().field(),
        );
        Exp::of(
            self.field()
                .isclose(other, rtol, atol, equal_nan.to_exp().field(), Loc::caller()),
        )
    }

    /// Tests if the number is NaN.
    #[doc(alias = "isnan")]
    #[track_caller]
    pub fn is_nan(self) -> Exp<bool> {
        test(Op::Ne, self, self, Loc::caller())
    }

    /// Tests if the number is positive or negative infinity.
    #[doc(alias = "isinf")]
    #[track_caller]
    pub fn is_infinite(self) -> Exp<bool> {
        let loc = Loc::caller();
        test(Op::Eq, absolute(self, loc), T::lit(f64::INFINITY), loc)
    }

    /// Tests if the number is neither infinite nor NaN.
    #[doc(alias = "isfinite")]
    #[track_caller]
    pub fn is_finite(self) -> Exp<bool> {
        finite(self.field(), T::TY, Loc::caller())
    }

    /// Tests if the number is neither zero, infinite, subnormal nor NaN.
    #[track_caller]
    pub fn is_normal(self) -> Exp<bool> {
        let loc = Loc::caller();
        let large = test(Op::Ge, absolute(self, loc), Exp::lit(T::MIN_POSITIVE), loc);
        both(large, finite(self.field(), T::TY, loc), loc)
    }

    /// Tests if the number is subnormal.
    #[track_caller]
    pub fn is_subnormal(self) -> Exp<bool> {
        let loc = Loc::caller();
        let small = test(Op::Lt, absolute(self, loc), Exp::lit(T::MIN_POSITIVE), loc);
        both(small, test(Op::Ne, self, T::lit(0.0), loc), loc)
    }

    /// Tests if the sign bit is set, as it is for -0.0.
    #[doc(alias = "signbit")]
    #[track_caller]
    pub fn is_sign_negative(self) -> Exp<bool> {
        apply(Op::SignBit, &[self.field()], Loc::caller())
    }

    /// Tests if the sign bit is not set.
    #[track_caller]
    pub fn is_sign_positive(self) -> Exp<bool> {
        !self.is_sign_negative()
    }

    /// Returns the bit pattern as an unsigned integer of the same width.
    #[track_caller]
    pub fn to_bits(self) -> Exp<T::Bits> {
        apply(Op::Bitcast, &[self.field()], Loc::caller())
    }

    /// Returns the float with this bit pattern.
    #[track_caller]
    pub fn from_bits(bits: impl ToExp<T::Bits>) -> Exp<T> {
        apply(Op::Bitcast, &[bits.to_exp().field()], Loc::caller())
    }

    /// Returns the smallest number greater than `self`.
    #[track_caller]
    pub fn next_up(self) -> Exp<T> {
        self.neighbour(f64::INFINITY, Loc::caller())
    }

    /// Returns the largest number less than `self`.
    #[track_caller]
    pub fn next_down(self) -> Exp<T> {
        self.neighbour(f64::NEG_INFINITY, Loc::caller())
    }

    /// Returns the next float towards an infinity. Bit patterns of one sign are ordered by
    /// magnitude.
    fn neighbour(self, towards: f64, loc: Loc) -> Exp<T> {
        let bits: Exp<T::Bits> = apply(Op::Bitcast, &[self.field()], loc);
        let one = Exp::lit(<T::Bits as livefusion_backend::Prim>::from_word(1));
        let [up, down] =
            [Op::Add, Op::Sub].map(|op| apply::<T::Bits>(op, &[bits.field(), one.field()], loc));
        let (away, back) = if towards > 0.0 {
            (up, down)
        } else {
            (down, up)
        };
        let positive = test(Op::Gt, self, T::lit(0.0), loc);
        let stepped = apply::<T::Bits>(
            Op::Select,
            &[positive.field(), away.field(), back.field()],
            loc,
        );
        let stepped: Exp<T> = apply(Op::Bitcast, &[stepped.field()], loc);
        let smallest: Exp<T> = apply(Op::Bitcast, &[one.field()], loc);
        let smallest = apply::<T>(
            Op::Copysign,
            &[smallest.field(), T::lit(towards).field()],
            loc,
        );
        let zero = test(Op::Eq, self, T::lit(0.0), loc);
        let result = select(zero, smallest, stepped, loc);
        let nan = test(Op::Ne, self, self, loc);
        let end = test(Op::Eq, self, T::lit(towards), loc);
        let stays: Exp<bool> = apply(Op::Or, &[nan.field(), end.field()], loc);
        select(stays, self, result, loc)
    }
}

fn binary<T: Float>(op: Op, a: Exp<T>, b: Exp<T>, loc: Loc) -> Exp<T> {
    apply(op, &[a.field(), b.field()], loc)
}

fn test<T: Float>(op: Op, a: Exp<T>, b: Exp<T>, loc: Loc) -> Exp<bool> {
    apply(op, &[a.field(), b.field()], loc)
}

fn both(a: Exp<bool>, b: Exp<bool>, loc: Loc) -> Exp<bool> {
    apply(Op::And, &[a.field(), b.field()], loc)
}

fn absolute<T: Float>(x: Exp<T>, loc: Loc) -> Exp<T> {
    apply(Op::Abs, &[x.field()], loc)
}

fn select<T: Float>(c: Exp<bool>, a: Exp<T>, b: Exp<T>, loc: Loc) -> Exp<T> {
    apply(Op::Select, &[c.field(), a.field(), b.field()], loc)
}

/// Tests if `x - x == 0`. For infinities and NaN the difference is NaN.
fn finite(x: Field, ty: Ty, loc: Loc) -> Exp<bool> {
    let difference = crate::exp::trace::op(Op::Sub, &[x, x], ty, loc);
    let zero = Field::literal(loop_lang::Const::zero(ty));
    apply(Op::Eq, &[difference, zero], loc)
}
