//! Running folds along axes from the last element to the first: `scan_right_axis`, `scan1_right_axis`,
//! `scan_exclusive_right_axis`.

use super::scan::{Running, Towards};
use crate::array::{Array, Dim, associative, from_right};
use crate::ast::{Builder, ScanKind};
use crate::elt::Elt;
use crate::exp::{ToExp, value};

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
        let fold = associative(value::<T>(|| start.to_exp()), from_right::<T, R>(op));
        let running = Running::From(fold, ScanKind::Inclusive);
        self.scanned(builder, axis, Towards::Start, running)
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
        let running = Running::First(from_right::<T, R>(op));
        self.scanned(builder, axis, Towards::Start, running)
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
        let fold = associative(value::<T>(|| start.to_exp()), from_right::<T, R>(op));
        let running = Running::From(fold, ScanKind::Exclusive);
        self.scanned(builder, axis, Towards::Start, running)
    }
}
