//! General folds: `fold`, `fold1`, `fold_seq`, `aggregate`, `fold_right`.

use super::{Along, Axes, Domain, over};
use crate::array::{Array, Dim, Ix0};
use crate::ast::{Body, Builder, Fold, Node};
use crate::elt::Elt;
use crate::exp::{IntoExp, ToExp, closure, value};
use crate::segmented::Segmented;
use std::sync::Arc;

impl Builder {
    /// Folds the elements, by any fold.
    ///
    /// The style of the fold selects [`fold`](crate::Array::fold), [`fold1`](crate::Array::fold1),
    /// [`fold_seq`](crate::Array::fold_seq) or [`aggregate`](crate::Array::aggregate). Along axes
    /// other than the last ones, each fold goes from left to right.
    ///
    /// ```
    /// use livefusion::ast::{BodyBuilder, Builder, Const, Fold, Op, Ty};
    /// use livefusion::over::Domain;
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 5], [7, 2]]);
    /// let mut max = BodyBuilder::new(&[Ty::I64, Ty::I64]);
    /// let both = [max.param(0), max.param(1)];
    /// let greater = max.op(Op::Max, &both);
    /// let mut start = BodyBuilder::new(&[]);
    /// let zero = start.lit(Const::zero(Ty::I64));
    /// let fold = Fold::associative(start.finish(&[zero]), max.finish(&[greater]));
    /// let columns = Builder::named("fold").fold(Domain::Along(m.node(), &[0]), fold);
    /// assert_eq!(Array::<i64>::from_node(columns)?.force()?, [7, 5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn fold<'a>(self, of: impl Into<Domain<'a>>, fold: Fold) -> Arc<Node> {
        match of.into() {
            Domain::All(xs) => self.fold_all(&self.row_by_row(xs), fold),
            Domain::Along(xs, axes) => self.fold_along(xs, axes, fold),
            Domain::Segments(lengths, data) => self.fold_each(lengths, data, fold),
        }
    }
}

/// Describes the start and the operator's result of a fold.
///
/// Each is an expression of the element type.
#[diagnostic::on_unimplemented(
    message = "a fold of elements of type `{T}` starts from and gives that type, not `{Self}`",
    label = "not an expression of type `{T}`",
    note = "to fold into another type use `aggregate(start, step, combine)`; a literal is `2.0` for floats, `2` for integers"
)]
pub trait Joined<T: Elt>: ToExp<T> {}

#[diagnostic::do_not_recommend]
impl<T: Elt, R: ToExp<T>> Joined<T> for R {}

over! { folds T: Elt;
    /// Combines the elements by `op`, from `start`.
    ///
    /// `op` must be associative: `(a op b) op c = a op (b op c)`. `start` is combined once, on the
    /// left, and need not be an identity. Without elements the result is `start`.
    ///
    /// The operator need not commute. Its calls may be grouped in any way, so the last bits of a
    /// float result may differ from those of a plain loop. They do not depend on the backend or the
    /// number of threads. Along an axis other than the last, each fold goes from left to right.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3i64, 9, 4]);
    /// assert_eq!(xs.fold(5, |a, b| a.max(b)).force()?, 9);
    /// let m = Array::from([[1i64, 5], [7, 2]]);
    /// let (columns, rows) = (m.along(0).fold(0, |a, b| a.max(b)), m.along(1).fold(0, |a, b| a.max(b)));
    /// assert_eq!((columns.to_vec()?, rows.to_vec()?), (vec![7, 5], vec![5, 7]));
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![], vec![2]]);
    /// assert_eq!(rows.fold(2, |a, b| a.max(b)).force()?, [3, 2, 2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* Memory is read once, in order, for every axis. A fold fuses with its
    /// producer and with other folds of arrays in step. Over segments and along the last axis it
    /// also fuses with the consumers of the result.
    #[doc(alias("reduce", "foldAll", "fold_axis", "fold_axes", "fold_s", "reduceat", "foldSeg"))]
    pub fn fold(start: impl Joined<T>, op: impl FnOnce(T::Exp, T::Exp) -> R) [R: Joined<T>] -> T,
        "Joins the elements by an operator, from a start" => |builder, of| {
            let start = value::<T>(|| start.to_exp());
            builder.fold(of, Fold::associative(start, operator_of::<T, R>(op)))
        };

    /// Combines the elements by `op`, without a start value.
    ///
    /// `op` must be associative. Along an axis other than the last, elements are read across rows.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let none = Array::<i32>::from(vec![]);
    /// assert!(none.fold1(|a, b| a + b).force().is_err());
    /// let m = Array::from([[1i64, 5], [7, 2]]);
    /// assert_eq!((m.fold1(|a, b| a * b).force()?, m.along(0).fold1(|a, b| a * b).to_vec()?), (70, vec![7, 10]));
    /// assert!(m.slice((2.., ..)).fold1(|a, b| a * b).force().is_err());
    /// assert_eq!(m.to_segmented().fold1(|a, b| a - b).force()?, [-4, 5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are no elements.
    #[doc(alias("reduce", "foldl1", "fold1_axis", "fold1_s"))]
    pub fn fold1(op: impl FnOnce(T::Exp, T::Exp) -> R) [R: Joined<T>] -> T,
        "Joins the elements by an operator, without a start" => |builder, of| {
            builder.fold(of, Fold::first(operator_of::<T, R>(op)))
        };

    /// Combines the elements strictly from left to right.
    ///
    /// Any operator is allowed. The result is that of the plain loop, bit for bit. A loop with such
    /// a fold over all elements, or over segments, runs on one thread. Prefer
    /// [`fold`](Array::fold).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let digits = Array::from([[4i64, 0, 7], [1, 2, 3]]);
    /// assert_eq!(digits.fold_seq(0, |n, d| n * 10 + d).force()?, 407_123);
    /// assert_eq!(digits.along(1).fold_seq(0, |n, d| n * 10 + d).force()?, [407, 123]);
    /// assert_eq!(digits.along(0).fold_seq(0, |n, d| n * 10 + d).force()?, [41, 2, 73]);
    /// let digits = Segmented::from_vecs(vec![vec![4i64, 0, 7], vec![1, 2]]);
    /// assert_eq!(digits.fold_seq(0, |n, d| n * 10 + d).force()?, [407, 12]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("foldl", "fold_seq_axis", "fold_seq_s"))]
    pub fn fold_seq(start: impl Joined<T>, op: impl FnOnce(T::Exp, T::Exp) -> R) [R: Joined<T>] -> T,
        "Joins the elements strictly from left to right" => |builder, of| {
            let start = value::<T>(|| start.to_exp());
            builder.fold(of, Fold::sequential(start, operator_of::<T, R>(op)))
        };

    /// Folds the elements into a state of another type.
    ///
    /// `start` is the state without elements. `step` adds one element to a state. `combine` joins
    /// the states of adjacent parts, the left one first, and `combine(start, s)` must be `s`. Along
    /// an axis other than the last, each fold goes from left to right, and elements are read across
    /// rows.
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
    /// let m = Array::from([[1.5f64, -1.0], [2.0, 0.5]]);
    /// let positive = |axis| m.along(axis).aggregate(0u64, |n, x| n + x.gt(0.0).cast::<u64>(), |a, b| a + b);
    /// assert_eq!((positive(1usize).to_vec()?, positive(0).to_vec()?), (vec![1, 2], vec![2, 1]));
    /// let rows = Segmented::from_vecs(vec![vec![3i64, -1], vec![], vec![2]]);
    /// let positive = rows.aggregate(0u64, |n, x| n + x.gt(0).cast::<u64>(), |a, b| a + b);
    /// assert_eq!(positive.force()?, [1, 0, 1]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("fold_with", "aggregate_axis", "aggregate_s"))]
    pub fn aggregate(
        start: S,
        step: impl FnOnce(<S::Elt as Elt>::Exp, T::Exp) -> R,
        combine: impl FnOnce(<S::Elt as Elt>::Exp, <S::Elt as Elt>::Exp) -> C
    ) [S: IntoExp, R: ToExp<S::Elt>, C: ToExp<S::Elt>] -> S::Elt,
        "Folds the elements into a state of another type" => |builder, of| {
            let start = value::<S::Elt>(|| start.to_exp());
            let step = closure::<(S::Elt, T), S::Elt>(|(s, x)| step(s, x).to_exp());
            let join = closure::<(S::Elt, S::Elt), S::Elt>(|(a, b)| combine(a, b).to_exp());
            builder.fold(of, Fold::aggregate(start, step, join))
        };
}

impl<T: Elt> Array<T> {
    /// Combines the elements by `op` from the right, with `start` after the last.
    ///
    /// `op` must be associative. The loop runs from the end, so lanes and chunks of floats are
    /// counted from the end.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// // Functions x -> a x + b, the last one applied first.
    /// let fs = Array::from(vec![(2i64, 1i64), (3, 0)]);
    /// let both = fs.fold_right((1, 0), |(a, b), (c, d)| (a * c, a * d + b));
    /// assert_eq!(both.force()?, (6, 1));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "foldr")]
    #[track_caller]
    pub fn fold_right<R: Joined<T>>(
        &self,
        start: impl Joined<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, Ix0> {
        let builder = Builder::named("fold_right");
        let start = value::<T>(|| start.to_exp());
        let fold = Fold::associative(start, operator_of::<T, R>(op));
        Array::wrap(builder.fold_right(self.node(), fold))
    }
}

/// Traces a binary operator.
pub(crate) fn operator_of<T: Elt, R: ToExp<T>>(op: impl FnOnce(T::Exp, T::Exp) -> R) -> Body {
    closure::<(T, T), T>(|(a, b)| op(a, b).to_exp())
}
