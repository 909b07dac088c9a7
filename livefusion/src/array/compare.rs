//! Comparisons of arrays and delayed scalars with what operators take on the right: `lt`, `le`, `gt`, `ge`, `eq`, `ne`.
//!
//! They give arrays of `bool`, which `&`, `|`, `^` and `!` join. Rust's `<` and `==` give a `bool` at once, which a
//! delayed array cannot.
//!
//! ```
//! use livefusion::prelude::*;
//! let xs = Array::from(vec![1.0f64, 2.0, 6.0]);
//! assert_eq!((xs.ge(2.0) & xs.lt(&xs.max())).force()?, [false, true, false]);
//! # Ok::<(), livefusion::Error>(())
//! ```

use crate::array::{Array, Operand, Rank};
use crate::elt::Elt;
use loop_lang::op::Op;

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {
        /// Comparisons, which fuse as maps do. On floats they are IEEE's, as those of [`Exp`](crate::exp::Exp).
        impl<T: Elt, D: Rank> Array<T, D> {
            $($(#[$doc])*
            ///
            /// # Errors
            /// When forced: if lengths or shapes differ.
            #[track_caller]
            pub fn $name<R: Operand<T, D>>(&self, other: R) -> R::Out<bool> {
                other.joined(Op::$op, self)
            })*
        }
    };
}

comparisons! {
    /// Tells for each element whether it equals the other side.
    ///
    /// The right side is what `+` takes: a number, an array of this shape, or a delayed scalar. The result is an array of
    /// `bool`, of two delayed scalars a delayed `bool`. It costs one comparison for each element, and fuses as a map does.
    /// NaN equals nothing, and the zeros are equal.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3i64, 1, 3]);
    /// assert_eq!(xs.eq(3).force()?, [true, false, true]);
    /// assert!(xs.len().eq(3).force()?);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "equal")]
    eq Eq;

    /// Tells for each element whether it differs from the other side.
    ///
    /// Otherwise as [`eq`](Array::eq). NaN differs from all.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3i64, 1, 3]);
    /// assert_eq!(xs.ne(&xs.reverse()).force()?, [false, false, false]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "not_equal")]
    ne Ne;

    /// Tells for each element whether it is less than the other side.
    ///
    /// Otherwise as [`eq`](Array::eq). With NaN on a side it is false. `false` is less than `true`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1.0f64, 2.0, 6.0]);
    /// assert_eq!(xs.lt(xs.mean()).force()?, [true, true, false]);
    /// assert!(xs.sum().lt(1000.0).force()?);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "less")]
    lt Lt;

    /// Tells for each element whether it is at most the other side.
    ///
    /// Otherwise as [`lt`](Array::lt).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (xs, ys) = (Array::from(vec![1i64, 5]), Array::from(vec![1i64, 4]));
    /// assert_eq!(xs.le(&ys).force()?, [true, false]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "less_equal")]
    le Le;

    /// Tells for each element whether it is greater than the other side.
    ///
    /// Otherwise as [`lt`](Array::lt).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1.0f64, 2.0], [3.0, 4.0]]);
    /// assert_eq!(m.gt(2.0).force()?, [[false, false], [true, true]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "greater")]
    gt Gt;

    /// Tells for each element whether it is at least the other side.
    ///
    /// Otherwise as [`lt`](Array::lt). A delayed scalar and an expression give an expression.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1.0f64, 2.0, 6.0]);
    /// let mean = xs.mean();
    /// assert_eq!(xs.filter(|x| mean.ge(x)).force()?, [1.0, 2.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "greater_equal")]
    ge Ge;
}
