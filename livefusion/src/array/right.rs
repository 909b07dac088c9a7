//! From the last element to the first: `fold_right`, `scan_right`.

use crate::array::fold::{Joined, operator};
use crate::array::slice::reversed;
use crate::array::{Array, Ix0};
use crate::ast::{Builder, Fold, FoldStyle, ScanKind};
use crate::elt::Elt;
use crate::exp::{ToExp, value};

impl<T: Elt> Array<T> {
    /// Running folds from the right: element `i` joins the elements from `i` on, and `start` behind them. `op` must be
    /// associative. One loop that runs from the end: lanes, blocks and chunks of floats are counted from there.
    /// Fuses with maps behind it, which then run from the end, too, and with what can tell its elements by their
    /// indices; what goes by the order of its elements from the first on has a loop of its own.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 3]);
    /// assert_eq!(xs.scan_right(10, |a, b| a + b).force()?, [16, 15, 13]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn scan_right<R: ToExp<T>>(
        &self,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T> {
        let builder = Builder::named("scan_right");
        let fold = Fold {
            start: value::<T>(|| start.to_exp()),
            step: operator::<T, R>(|joined, x| op(x, joined)),
            style: FoldStyle::Associative,
        };
        let backwards = reversed(builder, self.node());
        let scanned = builder.scan(&backwards, fold, ScanKind::Inclusive);
        Array::wrap(reversed(builder, &scanned))
    }

    /// All elements joined from the right, `start` behind the last one. `op` must be associative. The loop runs
    /// from the end: lanes and chunks of floats are counted from there.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// // Functions x -> a x + b, the last one applied first.
    /// let fs = Array::from(vec![(2i64, 1i64), (3, 0)]);
    /// let both = fs.fold_right((1, 0), |(a, b), (c, d)| (a * c, a * d + b));
    /// assert_eq!(both.force()?, (6, 1));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn fold_right<R: Joined<T>>(
        &self,
        start: impl Joined<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, Ix0> {
        let builder = Builder::named("fold_right");
        let start = value::<T>(|| start.to_exp());
        let step = operator::<T, R>(|joined, x| op(x, joined));
        let backwards = Array::<T>::wrap(reversed(builder, self.node()));
        backwards.fold_by(builder, start, step, FoldStyle::Associative)
    }
}
