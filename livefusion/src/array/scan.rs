//! Running folds: `scan`, `scan1`, `scan_exclusive`, `scan_with_total`, `scan_with_start`, `scan_seq`, `cumsum`, `cumprod`, `cummax`,
//! `cummin`.

use crate::array::fold::operator_of;
use crate::array::reduce::{by, one, step_of};
use crate::array::{Array, Ix0};
use crate::ast::{Body, Builder, Fold, Len, Node, ScanKind, from_first};
use crate::elt::{Elt, Num};
use crate::exp::{ToExp, value};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Beside [`Builder::scan`], which is `scan`, `scan_exclusive` and `scan_seq`.
impl Builder {
    /// Running folds with no starting value, by an associative step.
    pub fn scan1(self, xs: &Arc<Node>, step: Body) -> Arc<Node> {
        from_first(self, xs, step, |xs, fold| {
            self.scan(xs, fold, ScanKind::Inclusive)
        })
    }

    /// The exclusive scan from a start by an associative step, and the fold of all elements.
    pub fn scan_with_total(
        self,
        xs: &Arc<Node>,
        start: Body,
        step: Body,
    ) -> (Arc<Node>, Arc<Node>) {
        let scan = self.scan(xs, Fold::associative(start, step), ScanKind::Exclusive);
        let total = self.scan_total(&scan);
        (scan, total)
    }

    /// The start, and behind it the running folds from it by an associative step: one element more than there are.
    pub fn scan_with_start(self, xs: &Arc<Node>, start: Body, step: Body) -> Arc<Node> {
        let first = self.repeated(Len::Known(1), &start);
        let folds = self.scan(xs, Fold::associative(start, step), ScanKind::Inclusive);
        self.append(&[first, folds])
    }

    /// Running sums of elements that are one number each.
    pub fn cumsum(self, xs: &Arc<Node>) -> Arc<Node> {
        self.running(xs, |ty| by(Op::Add, Const::zero(ty)))
    }

    /// Running products of elements that are one number each.
    pub fn cumprod(self, xs: &Arc<Node>) -> Arc<Node> {
        self.running(xs, |ty| by(Op::Mul, one(ty)))
    }

    /// The largest number so far.
    pub fn cummax(self, xs: &Arc<Node>) -> Arc<Node> {
        self.numbers(xs, (&xs.types, 1), |ty| {
            self.scan1(xs, step_of(Op::Max, ty))
        })
    }

    /// The smallest number so far.
    pub fn cummin(self, xs: &Arc<Node>) -> Arc<Node> {
        self.numbers(xs, (&xs.types, 1), |ty| {
            self.scan1(xs, step_of(Op::Min, ty))
        })
    }

    fn running(self, xs: &Arc<Node>, fold: impl FnOnce(Ty) -> Fold) -> Arc<Node> {
        self.numbers(xs, (&xs.types, 1), |ty| {
            self.scan(xs, fold(ty), ScanKind::Inclusive)
        })
    }
}

impl<T: Elt> Array<T> {
    /// Running folds: element `i` joins `start` and the elements up to and with `i`. `op` must be
    /// associative; as in [`fold`](Array::fold), its calls may be grouped in any way. Fuses with its
    /// input and with what uses the result.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 3]);
    /// assert_eq!(xs.scan(10, |a, b| a + b).force()?, [11, 13, 16]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("accumulate", "postscanl"))]
    #[track_caller]
    pub fn scan<R: ToExp<T>>(
        &self,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T> {
        let builder = Builder::named("scan");
        let fold = Fold::associative(value::<T>(|| start.to_exp()), operator_of::<T, R>(op));
        Array::wrap(builder.scan(self.node(), fold, ScanKind::Inclusive))
    }

    /// Running folds with no starting value: element `i` joins the elements up to and with `i`. `op` must be associative.
    /// Fuses as [`scan`](Array::scan) does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3i64, 1, 4]);
    /// assert_eq!(xs.scan1(|a, b| a.max(b)).force()?, [3, 3, 4]);
    /// // Functions x -> a x + b, the first one applied first.
    /// let fs = Array::from(vec![(2i64, 1i64), (3, 0)]);
    /// assert_eq!(fs.scan1(|(a, b), (c, d)| (a * c, b * c + d)).to_vec()?, [(2, 1), (6, 3)]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("accumulate", "scanl1"))]
    #[track_caller]
    pub fn scan1<R: ToExp<T>>(&self, op: impl FnOnce(T::Exp, T::Exp) -> R) -> Array<T> {
        let builder = Builder::named("scan1");
        Array::wrap(builder.scan1(self.node(), operator_of::<T, R>(op)))
    }

    /// Running folds: element `i` joins `start` and the elements before `i`; the first one is `start`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 3]);
    /// assert_eq!(xs.scan_exclusive(0, |a, b| a + b).force()?, [0, 1, 3]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "prescanl")]
    #[track_caller]
    pub fn scan_exclusive<R: ToExp<T>>(
        &self,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T> {
        let builder = Builder::named("scan_exclusive");
        let fold = Fold::associative(value::<T>(|| start.to_exp()), operator_of::<T, R>(op));
        Array::wrap(builder.scan(self.node(), fold, ScanKind::Exclusive))
    }

    /// The exclusive scan, and the fold of all elements, from one loop.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let lengths = Array::from(vec![2i64, 0, 3]);
    /// let (offsets, total) = lengths.scan_with_total(0, |a, b| a + b);
    /// let (offsets, total) = (&offsets, &total).force()?;
    /// assert_eq!((&offsets[..], total), (&[0, 2, 2][..], 5));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn scan_with_total<R: ToExp<T>>(
        &self,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> (Array<T>, Array<T, Ix0>) {
        let builder = Builder::named("scan_with_total");
        let start = value::<T>(|| start.to_exp());
        let (scan, total) = builder.scan_with_total(self.node(), start, operator_of::<T, R>(op));
        (Array::wrap(scan), Array::wrap(total))
    }

    /// `start`, and behind it the running folds that [`scan`](Array::scan) gives: one element more than there are. Such are where
    /// segments begin and end, by their lengths.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let lengths = Array::from(vec![2u64, 0, 3]);
    /// let offsets = lengths.scan_with_start(0, |a, b| a + b);
    /// assert_eq!(offsets.force()?, [0, 2, 2, 5]);
    /// let rows = Segmented::from_offsets(&offsets, &iota(5));
    /// assert_eq!(rows.lengths().force()?, [2, 0, 3]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* An [`append`](Array::append) of one element and a scan: one loop, which fuses as these do.
    #[doc(alias("scanl", "accumulate"))]
    #[track_caller]
    pub fn scan_with_start<R: ToExp<T>>(
        &self,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T> {
        let builder = Builder::named("scan_with_start");
        let start = value::<T>(|| start.to_exp());
        Array::wrap(builder.scan_with_start(self.node(), start, operator_of::<T, R>(op)))
    }

    /// Running folds as [`scan`](Array::scan) gives them, strictly from left to right, by any operator:
    /// the plain loop, bit for bit. A loop that holds one runs on one thread.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![4.0f64, 8.0]);
    /// // Exponential smoothing: the operator is not associative.
    /// let smooth = xs.scan_seq(0.0, |old, x| 0.5 * old + 0.5 * x);
    /// assert_eq!(smooth.force()?, [2.0, 5.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "scanl")]
    #[track_caller]
    pub fn scan_seq<R: ToExp<T>>(
        &self,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T> {
        let builder = Builder::named("scan_seq");
        let start = value::<T>(|| start.to_exp());
        let fold = Fold::sequential(start, operator_of::<T, R>(op));
        Array::wrap(builder.scan(self.node(), fold, ScanKind::Inclusive))
    }
}

impl<T: Num> Array<T> {
    /// Running sums: element `i` is the sum of the elements up to and with `i`; integers wrap. Fuses as
    /// [`scan`](Array::scan) does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![1i64, 2, 3]).cumsum().force()?, [1, 3, 6]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "prefix_sum")]
    #[track_caller]
    pub fn cumsum(&self) -> Array<T> {
        Array::wrap(Builder::named("cumsum").cumsum(self.node()))
    }

    /// Running products: element `i` is the product of the elements up to and with `i`; integers wrap. Fuses as
    /// [`scan`](Array::scan) does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![2i64, 3, 4]).cumprod().force()?, [2, 6, 24]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn cumprod(&self) -> Array<T> {
        Array::wrap(Builder::named("cumprod").cumprod(self.node()))
    }

    /// Running maxima: element `i` is the largest of the elements up to and with `i`. Floats: NaN is ignored, as
    /// [`max`](crate::Exp::max) does. Fuses as [`scan`](Array::scan) does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![3i64, 1, 4]).cummax().force()?, [3, 3, 4]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "maximum.accumulate")]
    #[track_caller]
    pub fn cummax(&self) -> Array<T> {
        Array::wrap(Builder::named("cummax").cummax(self.node()))
    }

    /// Running minima, as [`cummax`](Array::cummax).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![3i64, 1, 4]).cummin().force()?, [3, 1, 1]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "minimum.accumulate")]
    #[track_caller]
    pub fn cummin(&self) -> Array<T> {
        Array::wrap(Builder::named("cummin").cummin(self.node()))
    }
}
