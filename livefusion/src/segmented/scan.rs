//! Running folds of each segment: `scan_s`, `scan_exclusive_s`, `scan_seq_s`.

use super::{Segmented, Segments};
use crate::array::{Array, operator_of};
use crate::ast::{Body, Builder, Fold, ScanKind};
use crate::elt::Elt;
use crate::exp::{ToExp, value};

/// Untyped forms, beside [`Builder::scan_s`] by any fold. A start has no parameters; a step takes the fields of what came before
/// and of an element.
impl Builder {
    /// Running folds that start anew with each segment, each of `start` and the elements of its segment before it, by an
    /// associative step.
    pub fn scan_exclusive_s(self, of: &Segments, start: Body, step: Body) -> Segments {
        let fold = Fold::associative(start, step);
        of.with_data(self.scan_s(&of.lengths, &of.data, fold, ScanKind::Exclusive))
    }

    /// Running folds that start anew with each segment, strictly from left to right, by any step.
    pub fn scan_seq_s(self, of: &Segments, start: Body, step: Body) -> Segments {
        let fold = Fold::sequential(start, step);
        of.with_data(self.scan_s(&of.lengths, &of.data, fold, ScanKind::Inclusive))
    }
}

impl<T: Elt> Segmented<T> {
    /// Running folds that start anew from `start` with each segment: an element joins those of its
    /// segment up to and with itself. Otherwise as [`Array::scan`].
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![], vec![2, 5]]);
    /// let sums = rows.scan_s(0, |a, b| a + b);
    /// assert_eq!(sums.data().force()?, [3, 4, 2, 7]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[doc(alias = "scanlSeg")]
    #[track_caller]
    pub fn scan_s<R: ToExp<T>>(
        &self,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Segmented<T> {
        let (builder, start) = (Builder::named("scan_s"), value::<T>(|| start.to_exp()));
        let fold = Fold::associative(start, operator_of::<T, R>(op));
        let (lengths, data) = (self.lengths.node(), self.data.node());
        self.with_data(Array::wrap(builder.scan_s(
            lengths,
            data,
            fold,
            ScanKind::Inclusive,
        )))
    }

    /// Running folds that start anew with each segment: an element of the result joins `start` and the
    /// elements of its segment before it.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![2, 5]]);
    /// assert_eq!(rows.scan_exclusive_s(0, |a, b| a + b).data().force()?, [0, 3, 0, 2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[track_caller]
    pub fn scan_exclusive_s<R: ToExp<T>>(
        &self,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Segmented<T> {
        let builder = Builder::named("scan_exclusive_s");
        let (start, step) = (value::<T>(|| start.to_exp()), operator_of::<T, R>(op));
        Segmented::wrap(builder.scan_exclusive_s(&self.nodes(), start, step))
    }

    /// Running folds as [`scan_s`](Segmented::scan_s) gives them, strictly from left to right, by any
    /// operator. A loop that holds one runs on one thread.
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[track_caller]
    pub fn scan_seq_s<R: ToExp<T>>(
        &self,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Segmented<T> {
        let (builder, start) = (Builder::named("scan_seq_s"), value::<T>(|| start.to_exp()));
        let step = operator_of::<T, R>(op);
        Segmented::wrap(builder.scan_seq_s(&self.nodes(), start, step))
    }
}
