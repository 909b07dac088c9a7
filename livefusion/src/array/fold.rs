//! Folds with operators of your own: `fold`, `fold1`, `fold_seq`, `aggregate`.

use crate::array::{Array, Ix0};
use crate::ast::{Body, Builder, Fold};
use crate::elt::Elt;
use crate::exp::{IntoExp, ToExp, closure, value};

/// What a fold may start from, and what its operator may give: an expression of the elements' type.
#[diagnostic::on_unimplemented(
    message = "a fold of elements of type `{T}` starts from and gives that type, not `{Self}`",
    label = "not an expression of type `{T}`",
    note = "to fold into another type use `aggregate(start, step, combine)`; a literal is `2.0` for floats, `2` for integers"
)]
pub trait Joined<T: Elt>: ToExp<T> {}

#[diagnostic::do_not_recommend]
impl<T: Elt, R: ToExp<T>> Joined<T> for R {}

impl<T: Elt> Array<T> {
    /// All elements joined by `op`, which must be associative: `(a op b) op c = a op (b op c)`. `start`
    /// is joined once, on the left; it need not be an identity, and it is the result of no elements.
    ///
    /// The operator need not commute, but its calls may be grouped in any way, so float results differ
    /// in the last bits from a plain loop's. They do not depend on the backend or the number of
    /// threads. Fuses with its input and with other folds of arrays in step.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3i64, 9, 4]);
    /// assert_eq!(xs.fold(5, |a, b| a.max(b)).force()?, 9);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("reduce", "foldAll"))]
    #[track_caller]
    pub fn fold<R: Joined<T>>(
        &self,
        start: impl Joined<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, Ix0> {
        let builder = Builder::named("fold");
        let start = value::<T>(|| start.to_exp());
        let fold = Fold::associative(start, operator_of::<T, R>(op));
        Array::wrap(builder.fold(self.node(), fold))
    }

    /// All elements joined by `op`, which must be associative, with no starting value.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let none = Array::<i32>::from(vec![]);
    /// assert!(none.fold1(|a, b| a + b).force().is_err());
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are no elements.
    #[doc(alias("reduce", "foldl1"))]
    #[track_caller]
    pub fn fold1<R: Joined<T>>(&self, op: impl FnOnce(T::Exp, T::Exp) -> R) -> Array<T, Ix0> {
        let fold = Fold::first(operator_of::<T, R>(op));
        Array::wrap(Builder::named("fold1").fold(self.node(), fold))
    }

    /// All elements joined strictly from left to right, by any operator: the plain loop, bit for bit.
    /// A loop that holds one runs on one thread; prefer [`fold`](Array::fold).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let digits = Array::from(vec![4i64, 0, 7]);
    /// assert_eq!(digits.fold_seq(0, |n, d| n * 10 + d).force()?, 407);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "foldl")]
    #[track_caller]
    pub fn fold_seq<R: Joined<T>>(
        &self,
        start: impl Joined<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, Ix0> {
        let builder = Builder::named("fold_seq");
        let start = value::<T>(|| start.to_exp());
        let fold = Fold::sequential(start, operator_of::<T, R>(op));
        Array::wrap(builder.fold(self.node(), fold))
    }

    /// Elements folded into a state of another type. `start` is the state of no elements, `step` takes
    /// one more element in, and `combine` joins the states of neighbouring parts (the left one first);
    /// `combine(start, s)` must be `s`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3.0f64, -1.0, 4.0]);
    /// let positive = xs.aggregate(
    ///     (0u64, 0.0f64),
    ///     |(n, sum), x| {
    ///         let take = x.gt(0.0);
    ///         (n + take.cast::<u64>(), sum + take.cond(x, 0.0))
    ///     },
    ///     |(n, sum), (m, more)| (n + m, sum + more),
    /// );
    /// assert_eq!(positive.force()?, (2, 7.0));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "fold_with")]
    #[track_caller]
    pub fn aggregate<S: IntoExp, R: ToExp<S::Elt>, C: ToExp<S::Elt>>(
        &self,
        start: S,
        step: impl FnOnce(<S::Elt as Elt>::Exp, T::Exp) -> R,
        combine: impl FnOnce(<S::Elt as Elt>::Exp, <S::Elt as Elt>::Exp) -> C,
    ) -> Array<S::Elt, Ix0> {
        let builder = Builder::named("aggregate");
        let start = value::<S::Elt>(|| start.to_exp());
        let step = closure::<(S::Elt, T), S::Elt>(|(s, x)| step(s, x).to_exp());
        let join = closure::<(S::Elt, S::Elt), S::Elt>(|(a, b)| combine(a, b).to_exp());
        let fold = Fold::aggregate(start, step, join);
        Array::wrap(builder.fold(self.node(), fold))
    }
}

/// Traces a binary operator.
pub(crate) fn operator_of<T: Elt, R: ToExp<T>>(op: impl FnOnce(T::Exp, T::Exp) -> R) -> Body {
    closure::<(T, T), T>(|(a, b)| op(a, b).to_exp())
}
