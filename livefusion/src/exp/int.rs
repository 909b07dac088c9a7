//! Functions of integers.
//!
//! Division and remainder by zero, and `MIN / -1`, are errors when forced.

use crate::elt::{Int, Num};
use crate::exp::{Exp, ToExp, apply};
use crate::loc::Loc;
use loop_lang::math::by_squares;
use loop_lang::op::Op;

impl<T: Num> Exp<T> {
    /// Returns the Euclidean quotient, as Rust's `div_euclid`.
    #[doc(alias = "floor_divide")]
    #[track_caller]
    pub fn div_euclid(self, divisor: impl ToExp<T>) -> Exp<T> {
        apply(
            Op::DivEuclid,
            &[self.field(), divisor.to_exp().field()],
            Loc::caller(),
        )
    }

    /// Returns the Euclidean remainder, never negative, as Rust's `rem_euclid`.
    #[doc(alias = "mod")]
    #[track_caller]
    pub fn rem_euclid(self, divisor: impl ToExp<T>) -> Exp<T> {
        apply(
            Op::RemEuclid,
            &[self.field(), divisor.to_exp().field()],
            Loc::caller(),
        )
    }
}

impl<T: Int> Exp<T> {
    /// Raises the number to a power, wrapping.
    ///
    /// The exponent is a Rust number.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![2i64, 3]).map(|x| x.pow(5)).force()?, [32, 243]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn pow(self, exponent: u32) -> Exp<T> {
        let loc = Loc::caller();
        let mul = |a: Exp<T>, b: Exp<T>| apply::<T>(Op::Mul, &[a.field(), b.field()], loc);
        by_squares(self, exponent, mul).unwrap_or(Exp::lit(T::ONE))
    }

    /// Counts the one bits.
    #[doc(alias("bitwise_count", "popcount"))]
    #[track_caller]
    pub fn count_ones(self) -> Exp<T> {
        apply(Op::CountOnes, &[self.field()], Loc::caller())
    }

    /// Counts the leading zero bits.
    #[track_caller]
    pub fn leading_zeros(self) -> Exp<T> {
        apply(Op::LeadingZeros, &[self.field()], Loc::caller())
    }

    /// Counts the trailing zero bits.
    #[track_caller]
    pub fn trailing_zeros(self) -> Exp<T> {
        apply(Op::TrailingZeros, &[self.field()], Loc::caller())
    }
}
