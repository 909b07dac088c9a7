//! From the last element to the first: `fold_right`, `scan_right`, `scan1_right`, `scan_exclusive_right`.

use crate::array::fold::{Joined, operator_of};
use crate::array::{Array, Ix0};
use crate::ast::{Body, Builder, Field, Fold, FoldStyle, Node, ScanKind, trace};
use crate::elt::Elt;
use crate::exp::{ToExp, value};
use std::sync::Arc;

/// Steps are what the typed forms' operators are: of (an element, what is joined behind it).
impl Builder {
    /// All elements joined from the right, by any fold. A join of two states gets that of the elements on the left first.
    pub fn fold_right(self, xs: &Arc<Node>, fold: Fold) -> Arc<Node> {
        let fold = self.turned_fold(xs, fold);
        self.fold(&self.reverse(xs), fold)
    }

    /// Running folds from the right by an associative step.
    pub fn scan_right(self, xs: &Arc<Node>, fold: Fold, kind: ScanKind) -> Arc<Node> {
        let fold = self.turned_fold(xs, fold);
        self.reverse(&self.scan(&self.reverse(xs), fold, kind))
    }

    /// Running folds from the right with no starting value, by an associative step.
    pub fn scan1_right(self, xs: &Arc<Node>, step: Body) -> Arc<Node> {
        let step = self.turned(&step, xs.types.len());
        self.reverse(&self.scan1(&self.reverse(xs), step))
    }

    /// A fold of elements from the last to the first.
    pub(crate) fn turned_fold(self, xs: &Node, fold: Fold) -> Fold {
        let Fold { start, step, style } = fold;
        let style = match style {
            FoldStyle::Aggregate(join) => {
                FoldStyle::Aggregate(self.turned(&join, start.results.len()))
            }
            FoldStyle::Exact(join) => FoldStyle::Exact(self.turned(&join, start.results.len())),
            FoldStyle::Dealt(join) => FoldStyle::Dealt(self.turned(&join, start.results.len())),
            style => style,
        };
        let step = self.turned(&step, xs.types.len());
        Fold { start, step, style }
    }

    /// A step or a join with its two operands, of which the first one has so many fields, in each other's place.
    pub(crate) fn turned(self, step: &Body, first: usize) -> Body {
        let loc = self.loc();
        let (left, right) = step.params.split_at(first.min(step.params.len()));
        trace(&[right, left].concat(), |params| {
            let (right, left) = params.split_at(right.len());
            Field::apply(step, &[left, right].concat(), loc)
        })
    }
}

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
    #[doc(alias = "postscanr")]
    #[track_caller]
    pub fn scan_right<R: ToExp<T>>(
        &self,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T> {
        let builder = Builder::named("scan_right");
        let fold = Fold::associative(value::<T>(|| start.to_exp()), operator_of::<T, R>(op));
        Array::wrap(builder.scan_right(self.node(), fold, ScanKind::Inclusive))
    }

    /// Running folds from the right with no starting value: element `i` joins the elements from `i` on. Otherwise as
    /// [`scan_right`](Array::scan_right).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3i64, 1, 4, 2]);
    /// assert_eq!(xs.scan1_right(|a, b| a.max(b)).force()?, [4, 4, 4, 2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "scanr1")]
    #[track_caller]
    pub fn scan1_right<R: ToExp<T>>(&self, op: impl FnOnce(T::Exp, T::Exp) -> R) -> Array<T> {
        let builder = Builder::named("scan1_right");
        Array::wrap(builder.scan1_right(self.node(), operator_of::<T, R>(op)))
    }

    /// Running folds from the right: element `i` joins the elements behind `i`, and `start` behind them; the last one is
    /// `start`. Otherwise as [`scan_right`](Array::scan_right).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 3]);
    /// assert_eq!(xs.scan_exclusive_right(10, |a, b| a + b).force()?, [15, 13, 10]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "prescanr")]
    #[track_caller]
    pub fn scan_exclusive_right<R: ToExp<T>>(
        &self,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T> {
        let builder = Builder::named("scan_exclusive_right");
        let fold = Fold::associative(value::<T>(|| start.to_exp()), operator_of::<T, R>(op));
        Array::wrap(builder.scan_right(self.node(), fold, ScanKind::Exclusive))
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
