//! Folds of each segment: `fold_s`, `fold1_s`, `fold_seq_s`, `aggregate_s`.

use super::{Segmented, Segments};
use crate::array::{Array, operator_of};
use crate::ast::{Body, Builder, Fold, Node};
use crate::elt::Elt;
use crate::exp::{IntoExp, ToExp, closure, value};
use std::sync::Arc;

/// Untyped forms, beside [`Builder::fold_s`] by any fold. A start has no parameters; a step takes the fields of what came before
/// and of an element.
impl Builder {
    /// Each segment's elements joined by `step`, which must be associative; no segment may be empty.
    pub fn fold1_s(self, of: &Segments, step: Body) -> Arc<Node> {
        self.fold_s(&of.lengths, &of.data, Fold::first(step))
    }

    /// Each segment's elements joined strictly from left to right, by any step.
    pub fn fold_seq_s(self, of: &Segments, start: Body, step: Body) -> Arc<Node> {
        self.fold_s(&of.lengths, &of.data, Fold::sequential(start, step))
    }

    /// Each segment's elements folded into a state of another type; `combine` joins two states.
    pub fn aggregate_s(self, of: &Segments, start: Body, step: Body, combine: Body) -> Arc<Node> {
        let fold = Fold::aggregate(start, step, combine);
        self.fold_s(&of.lengths, &of.data, fold)
    }
}

impl<T: Elt> Segmented<T> {
    /// Each segment's elements joined by `op`, which must be associative, from `start`: one result per
    /// segment, `start` for an empty one. Otherwise as [`Array::fold`].
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![], vec![2]]);
    /// assert_eq!(rows.fold_s(2, |a, b| a.max(b)).force()?, [3, 2, 2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[doc(alias("reduceat", "foldSeg"))]
    #[track_caller]
    pub fn fold_s<R: ToExp<T>>(
        &self,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T> {
        let builder = Builder::named("fold_s");
        let start = value::<T>(|| start.to_exp());
        let fold = Fold::associative(start, operator_of::<T, R>(op));
        Array::wrap(builder.fold_s(self.lengths.node(), self.data.node(), fold))
    }

    /// Each segment's elements joined by `op`, which must be associative.
    ///
    /// # Errors
    /// When forced: if a segment is empty, or the lengths do not match the data.
    #[track_caller]
    pub fn fold1_s<R: ToExp<T>>(&self, op: impl FnOnce(T::Exp, T::Exp) -> R) -> Array<T> {
        let builder = Builder::named("fold1_s");
        Array::wrap(builder.fold1_s(&self.nodes(), operator_of::<T, R>(op)))
    }

    /// Each segment's elements joined strictly from left to right, by any operator. A loop that holds one
    /// runs on one thread; prefer [`fold_s`](Segmented::fold_s).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let digits = Segmented::from_vecs(vec![vec![4i64, 0, 7], vec![1, 2]]);
    /// assert_eq!(digits.fold_seq_s(0, |n, d| n * 10 + d).force()?, [407, 12]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[track_caller]
    pub fn fold_seq_s<R: ToExp<T>>(
        &self,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T> {
        let builder = Builder::named("fold_seq_s");
        let start = value::<T>(|| start.to_exp());
        let step = operator_of::<T, R>(op);
        Array::wrap(builder.fold_seq_s(&self.nodes(), start, step))
    }

    /// Each segment's elements folded into a state of another type, as [`Array::aggregate`].
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3i64, -1], vec![], vec![2]]);
    /// let positive = rows.aggregate_s(0u64, |n, x| n + x.gt(0).cast::<u64>(), |a, b| a + b);
    /// assert_eq!(positive.force()?, [1, 0, 1]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[track_caller]
    pub fn aggregate_s<S: IntoExp, R: ToExp<S::Elt>, C: ToExp<S::Elt>>(
        &self,
        start: S,
        step: impl FnOnce(<S::Elt as Elt>::Exp, T::Exp) -> R,
        combine: impl FnOnce(<S::Elt as Elt>::Exp, <S::Elt as Elt>::Exp) -> C,
    ) -> Array<S::Elt> {
        let builder = Builder::named("aggregate_s");
        let start = value::<S::Elt>(|| start.to_exp());
        let step = closure::<Pair<S::Elt, T>, S::Elt>(|(s, x)| step(s, x).to_exp());
        let combine = closure::<Pair<S::Elt, S::Elt>, S::Elt>(|(a, b)| combine(a, b).to_exp());
        Array::wrap(builder.aggregate_s(&self.nodes(), start, step, combine))
    }
}

type Pair<A, B> = (A, B);
