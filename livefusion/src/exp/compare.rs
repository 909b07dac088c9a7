//! Comparisons and related functions: minimum, maximum, clamp, absolute value, sign.

use crate::elt::{Num, Scalar};
use crate::exp::{Exp, ToExp, apply};
use crate::loc::Loc;
use loop_lang::op::Op;

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {
        /// Comparisons. On floats they follow IEEE 754: NaN is unequal to every value, and the two
        /// zeros are equal. `false` is less than `true`.
        impl<T: Scalar> Exp<T> {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name(self, other: impl ToExp<T>) -> Exp<bool> {
                apply(Op::$op, &[self.field(), other.to_exp().field()], Loc::caller())
            })*
        }
    };
}

comparisons! {
    /// Tests `self == other`.
    #[doc(alias = "equal")]
    eq Eq;
    /// Tests `self != other`.
    #[doc(alias = "not_equal")]
    ne Ne;
    /// Tests `self < other`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3i64, 1, 2]);
    /// assert_eq!(xs.map(|x| x.lt(2)).force()?, [false, true, false]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "less")]
    lt Lt;
    /// Tests `self <= other`.
    #[doc(alias = "less_equal")]
    le Le;
    /// Tests `self > other`.
    #[doc(alias = "greater")]
    gt Gt;
    /// Tests `self >= other`.
    #[doc(alias = "greater_equal")]
    ge Ge;
}

impl<T: Num> Exp<T> {
    /// Returns the smaller value.
    ///
    /// For floats NaN is ignored (two NaN give NaN), and -0.0 is below +0.0.
    #[doc(alias = "minimum")]
    #[track_caller]
    pub fn min(self, other: impl ToExp<T>) -> Exp<T> {
        apply(
            Op::Min,
            &[self.field(), other.to_exp().field()],
            Loc::caller(),
        )
    }

    /// Returns the larger value.
    ///
    /// For floats NaN is ignored (two NaN give NaN), and -0.0 is below +0.0.
    #[doc(alias = "maximum")]
    #[track_caller]
    pub fn max(self, other: impl ToExp<T>) -> Exp<T> {
        apply(
            Op::Max,
            &[self.field(), other.to_exp().field()],
            Loc::caller(),
        )
    }

    /// Limits the value to the range from `low` to `high`.
    ///
    /// A value below `low` gives `low`, and one above `high` gives `high`. NaN stays NaN.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![-5i64, 3, 50]);
    /// assert_eq!(xs.map(|x| x.clamp(0, 10)).force()?, [0, 3, 10]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "clip")]
    #[track_caller]
    pub fn clamp(self, low: impl ToExp<T>, high: impl ToExp<T>) -> Exp<T> {
        let loc = Loc::caller();
        let (x, low, high) = (self.field(), low.to_exp().field(), high.to_exp().field());
        let above: Exp<bool> = apply(Op::Gt, &[x, high], loc);
        let upper: Exp<T> = apply(Op::Select, &[above.field(), high, x], loc);
        let below: Exp<bool> = apply(Op::Lt, &[x, low], loc);
        apply(Op::Select, &[below.field(), low, upper.field()], loc)
    }

    /// Returns the absolute value.
    ///
    /// The smallest integer of a signed type stays itself.
    #[doc(alias("absolute", "fabs"))]
    #[track_caller]
    pub fn abs(self) -> Exp<T> {
        apply(Op::Abs, &[self.field()], Loc::caller())
    }

    /// Returns the sign, as Rust's `signum`.
    ///
    /// Integers give -1, 0 or 1. Floats give 1.0 or -1.0 by their sign bit, and NaN for NaN.
    #[doc(alias = "sign")]
    #[track_caller]
    pub fn signum(self) -> Exp<T> {
        apply(Op::Signum, &[self.field()], Loc::caller())
    }
}

/// Error messages for `x == y` and `x < y` on expressions and arrays. They name the methods to use,
/// because no type is `Known`. The bound is on a stand-in for the right side, because the compiler
/// would not show the message of a bound on `Exp`.
mod hint {
    use crate::array::{Array, Rank};
    use crate::elt::Elt;
    use crate::exp::Exp;

    #[diagnostic::on_unimplemented(
        message = "an expression has no value yet, so Rust's `==`, `<`, `>` cannot compare it",
        label = "write `.eq(..)`, `.ne(..)`, `.lt(..)`, `.le(..)`, `.gt(..)` or `.ge(..)`"
    )]
    pub trait Known {}

    #[diagnostic::on_unimplemented(
        message = "a delayed array or scalar has no value yet, so Rust's `==`, `<`, `>` cannot compare it",
        label = "write `.gt(..)`, `.eq(..)` and so on for delayed `bool`s, or force it first: `total.force()? > limit`"
    )]
    pub trait InMemory {}

    /// Matches any type, on the right side of a comparison.
    pub trait RightSide {
        type Of;
    }

    /// Stands in for the right side.
    pub struct Beside<R>(std::marker::PhantomData<R>);

    impl<R> RightSide for R {
        type Of = Beside<R>;
    }

    impl<T: Elt, D: Rank, R: RightSide> PartialEq<R> for Array<T, D>
    where
        R::Of: InMemory,
    {
        fn eq(&self, _: &R) -> bool {
            false
        }
    }

    impl<T: Elt, D: Rank, R: RightSide> PartialOrd<R> for Array<T, D>
    where
        R::Of: InMemory,
    {
        fn partial_cmp(&self, _: &R) -> Option<std::cmp::Ordering> {
            None
        }
    }

    impl<T, R: RightSide> PartialEq<R> for Exp<T>
    where
        R::Of: Known,
    {
        fn eq(&self, _: &R) -> bool {
            false
        }
    }

    impl<T, R: RightSide> PartialOrd<R> for Exp<T>
    where
        R::Of: Known,
    {
        fn partial_cmp(&self, _: &R) -> Option<std::cmp::Ordering> {
            None
        }
    }
}
