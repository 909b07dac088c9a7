//! Running folds along axes from the last element to the first: `scan_right_axis`, `scan1_right_axis`,
//! `scan_exclusive_right_axis`.

use super::scan::{Running, Towards};
use crate::array::{Array, Dim, operator_of};
use crate::ast::{Body, Builder, Fold, Node, ScanKind};
use crate::elt::Elt;
use crate::exp::{ToExp, value};
use std::sync::Arc;

/// Running folds along an axis from the last element to the first. Steps are of (an element, what is joined behind it), and are
/// associative. An axis that is not there is a mistake.
///
/// ```
/// use livefusion::ast::{BodyBuilder, Builder, Op, Ty};
/// use livefusion::prelude::*;
/// let m = Array::from([[1i64, 5], [3, 4]]);
/// let mut max = BodyBuilder::new(&[Ty::I64, Ty::I64]);
/// let both = [max.param(0), max.param(1)];
/// let greater = max.op(Op::Max, &both);
/// let max = max.finish(&[greater]);
/// let scan = Builder::named("scan1_right_axis").scan1_right_axis(m.node(), 0, max);
/// assert_eq!(Array::<i64, Ix2>::from_node(scan)?.force()?, [[3, 5], [3, 4]]);
/// # Ok::<(), livefusion::Error>(())
/// ```
impl Builder {
    /// Running folds from the right, with a start behind the last element: it is
    /// [`scan_right_axis`](crate::Array::scan_right_axis) and
    /// [`scan_exclusive_right_axis`](crate::Array::scan_exclusive_right_axis), as the kind says.
    pub fn scan_right_axis(
        self,
        xs: &Arc<Node>,
        axis: usize,
        fold: Fold,
        kind: ScanKind,
    ) -> Arc<Node> {
        let running = Running::From(self.turned_fold(xs, fold), kind);
        self.scanned(xs, axis, Towards::Start, running)
    }

    /// Running folds from the right by an associative step, with no starting value.
    pub fn scan1_right_axis(self, xs: &Arc<Node>, axis: usize, step: Body) -> Arc<Node> {
        let running = Running::First(self.turned(&step, xs.types.len()));
        self.scanned(xs, axis, Towards::Start, running)
    }
}

impl<T: Elt, D: Dim> Array<T, D> {
    /// Running folds along an axis from the right: an element joins itself and those behind it along the axis, and `start`
    /// behind them. `op` must be associative. The elements are read from the last to the first, and the scan is in memory
    /// before it is read so.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(m.scan_right_axis(1, 0, |a, b| a + b).force()?, [[3, 2], [7, 4]]);
    /// assert_eq!(m.scan_right_axis(0, 10, |a, b| a + b).force()?, [[14, 16], [13, 14]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[track_caller]
    pub fn scan_right_axis<R: ToExp<T>>(
        &self,
        axis: usize,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, D> {
        let builder = Builder::named("scan_right_axis");
        let fold = Fold::associative(value::<T>(|| start.to_exp()), operator_of::<T, R>(op));
        Array::wrap(builder.scan_right_axis(self.node(), axis, fold, ScanKind::Inclusive))
    }

    /// Running folds along an axis from the right with no starting value: an element joins itself and those behind it along
    /// the axis. Otherwise as [`scan_right_axis`](Array::scan_right_axis).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 5], [3, 4]]);
    /// assert_eq!(m.scan1_right_axis(0, |a, b| a.max(b)).force()?, [[3, 5], [3, 4]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[track_caller]
    pub fn scan1_right_axis<R: ToExp<T>>(
        &self,
        axis: usize,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, D> {
        let builder = Builder::named("scan1_right_axis");
        let step = operator_of::<T, R>(op);
        Array::wrap(builder.scan1_right_axis(self.node(), axis, step))
    }

    /// Running folds along an axis from the right: an element joins those behind it along the axis, and `start` behind them.
    /// Otherwise as [`scan_right_axis`](Array::scan_right_axis).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(m.scan_exclusive_right_axis(1, 0, |a, b| a + b).force()?, [[2, 0], [4, 0]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[track_caller]
    pub fn scan_exclusive_right_axis<R: ToExp<T>>(
        &self,
        axis: usize,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, D> {
        let builder = Builder::named("scan_exclusive_right_axis");
        let fold = Fold::associative(value::<T>(|| start.to_exp()), operator_of::<T, R>(op));
        Array::wrap(builder.scan_right_axis(self.node(), axis, fold, ScanKind::Exclusive))
    }
}
