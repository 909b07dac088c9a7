//! Comparisons of arrays and delayed scalars: `lt`, `le`, `gt`, `ge`, `eq`, `ne`.
//!
//! The right side is any operand that an operator accepts. The results are arrays of `bool`, which
//! `&`, `|`, `^` and `!` combine. Rust's `<` and `==` must return a `bool` at once, so a delayed
//! array cannot implement them.
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
        /// Comparisons, which fuse as maps do. On floats they follow IEEE 754, as those of
        /// [`Exp`](crate::exp::Exp) do.
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
    /// Tests if each element equals the other side.
    ///
    /// The right side is a number, an array of this shape, or a delayed scalar, as for `+`. The
    /// result is an array of `bool`, or a delayed `bool` if both sides are delayed scalars. It
    /// costs one comparison per element, and fuses as a map does. NaN equals nothing, and the two
    /// zeros are equal.
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

    /// Tests if each element differs from the other side.
    ///
    /// Otherwise as [`eq`](Array::eq). NaN differs from every value.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3i64, 1, 3]);
    /// assert_eq!(xs.ne(&xs.reverse()).force()?, [false, false, false]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "not_equal")]
    ne Ne;

    /// Tests if each element is less than the other side.
    ///
    /// Otherwise as [`eq`](Array::eq). If a side is NaN, the result is false. `false` is less than
    /// `true`.
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

    /// Tests if each element is at most the other side.
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

    /// Tests if each element is greater than the other side.
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

    /// Tests if each element is at least the other side.
    ///
    /// Otherwise as [`lt`](Array::lt). Within a closure, a delayed scalar and an expression give an
    /// expression.
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
