//! Running folds of each segment: `scan_s`, `scan_exclusive_s`, `scan_seq_s`.

use super::Segmented;
use crate::array::{Array, operator_of};
use crate::ast::{Body, Builder, Fold, FoldStyle, ScanKind};
use crate::elt::Elt;
use crate::exp::{ToExp, value};

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
    #[track_caller]
    pub fn scan_s<R: ToExp<T>>(
        &self,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Segmented<T> {
        let (builder, start) = (Builder::named("scan_s"), value::<T>(|| start.to_exp()));
        let step = operator_of::<T, R>(op);
        self.scan_by(
            builder,
            (start, step),
            FoldStyle::Associative,
            ScanKind::Inclusive,
        )
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
        self.scan_by(
            builder,
            (start, step),
            FoldStyle::Associative,
            ScanKind::Exclusive,
        )
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
        self.scan_by(
            builder,
            (start, step),
            FoldStyle::Sequential,
            ScanKind::Inclusive,
        )
    }

    fn scan_by(
        &self,
        builder: Builder,
        (start, step): (Body, Body),
        style: FoldStyle,
        kind: ScanKind,
    ) -> Segmented<T> {
        let fold = Fold { start, step, style };
        let scan = builder.scan_s(self.lengths.node(), self.data.node(), fold, kind);
        self.with_data(Array::wrap(scan))
    }
}
