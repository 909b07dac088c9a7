//! Scans: `scan`, `scan1`, `scan_exclusive`, `scan_seq`, `cumsum`, `cumprod`, `cummax`, `cummin`.
//!
//! Over all elements there are also `scan_with_total` and `scan_with_start`.

use super::{Along, Domain, by, one, operator_of, over, step_of};
use crate::array::{Array, Dim, Ix0};
use crate::ast::{Body, Builder, Fold, Len, Node, ScanKind, from_first};
use crate::elt::{Elt, Num};
use crate::exp::{ToExp, value};
use crate::segmented::Segmented;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

impl Builder {
    /// Folds the elements up to each, by an associative or sequential fold.
    ///
    /// The kind and the style of the fold select [`scan`](crate::Array::scan),
    /// [`scan_exclusive`](crate::Array::scan_exclusive) or [`scan_seq`](crate::Array::scan_seq).
    ///
    /// ```
    /// use livefusion::ast::Builder;
    /// use livefusion::over::Domain;
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// let sums = Builder::named("cumsum").cumsum(Domain::Along(m.node(), &[0]));
    /// assert_eq!(Array::<i64, Ix2>::from_node(sums)?.force()?, [[1, 2], [4, 6]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn scan<'a>(self, of: impl Into<Domain<'a>>, fold: Fold, kind: ScanKind) -> Arc<Node> {
        match of.into() {
            Domain::All(xs) => self.scan_all(xs, fold, kind),
            Domain::Along(xs, axes) => self.scan_along(xs, axes, fold, kind),
            Domain::Segments(lengths, data) => self.scan_each(lengths, data, fold, kind),
        }
    }

    /// Folds the elements up to each, without a start value.
    ///
    /// The step must be associative.
    pub fn scan1<'a>(self, of: impl Into<Domain<'a>>, step: Body) -> Arc<Node> {
        match of.into() {
            Domain::Along(xs, axes) => self.scan1_along(xs, axes, step),
            of => from_first(self, of.data(), step, |xs, fold| {
                self.scan(of.with(xs), fold, ScanKind::Inclusive)
            }),
        }
    }

    /// Scans exclusively from a start, and folds all elements.
    ///
    /// The step must be associative.
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

    /// Puts the start before the inclusive scan from it.
    ///
    /// The result has one element more than the array. The step must be associative.
    pub fn scan_with_start(self, xs: &Arc<Node>, start: Body, step: Body) -> Arc<Node> {
        let first = self.repeated(Len::Known(1), &start);
        let folds = self.scan(xs, Fold::associative(start, step), ScanKind::Inclusive);
        self.append(&[first, folds])
    }

    /// Sums the elements up to each.
    ///
    /// Elements are one number each.
    pub fn cumsum<'a>(self, of: impl Into<Domain<'a>>) -> Arc<Node> {
        self.running(of.into(), |ty| by(Op::Add, Const::zero(ty)))
    }

    /// Multiplies the elements up to each.
    ///
    /// Elements are one number each.
    pub fn cumprod<'a>(self, of: impl Into<Domain<'a>>) -> Arc<Node> {
        self.running(of.into(), |ty| by(Op::Mul, one(ty)))
    }

    /// Finds the largest number so far.
    pub fn cummax<'a>(self, of: impl Into<Domain<'a>>) -> Arc<Node> {
        self.best_so_far(of.into(), Op::Max)
    }

    /// Finds the smallest number so far.
    pub fn cummin<'a>(self, of: impl Into<Domain<'a>>) -> Arc<Node> {
        self.best_so_far(of.into(), Op::Min)
    }

    fn best_so_far(self, of: Domain<'_>, op: Op) -> Arc<Node> {
        let xs = of.data();
        self.numbers(xs, (&xs.types, xs.rank), |ty| {
            self.scan1(of, step_of(op, ty))
        })
    }

    fn running(self, of: Domain<'_>, fold: impl FnOnce(Ty) -> Fold) -> Arc<Node> {
        let xs = of.data();
        self.numbers(xs, (&xs.types, xs.rank), |ty| {
            self.scan(of, fold(ty), ScanKind::Inclusive)
        })
    }
}

over! { scans T: Elt;
    /// Folds the elements up to and including each, from `start`.
    ///
    /// Element `i` combines `start` and the elements up to and including `i`. `op` must be
    /// associative; as in [`fold`](Array::fold), its calls may be grouped in any way. Along an axis
    /// other than the last, each scan goes from left to right.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 3]);
    /// assert_eq!(xs.scan(10, |a, b| a + b).force()?, [11, 13, 16]);
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(m.along(1).scan(0, |a, b| a + b).force()?, [[1, 3], [3, 7]]);
    /// assert_eq!(m.along(0).scan(0, |a, b| a + b).force()?, [[1, 2], [4, 6]]);
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![], vec![2, 5]]);
    /// assert_eq!(rows.scan(0, |a, b| a + b).to_vecs()?, [vec![3, 4], vec![], vec![2, 7]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* Fuses with its producer and its consumers, along every axis. Along an
    /// axis other than the last, memory is read once, in order, and a row of states is carried from
    /// row to row. Only an input that is read across rows anyway, such as a transpose, makes each
    /// scan run down its column. Then the scan is stored before it is read.
    #[doc(alias("accumulate", "postscanl", "scan_axis", "scan_s", "scanlSeg"))]
    pub fn scan(start: impl ToExp<T>, op: impl FnOnce(T::Exp, T::Exp) -> R) [R: ToExp<T>],
        "Folds the elements up to and with each, from a start," => |builder, of| {
            let fold = Fold::associative(value::<T>(|| start.to_exp()), operator_of::<T, R>(op));
            builder.scan(of, fold, ScanKind::Inclusive)
        };

    /// Folds the elements up to and including each, without a start value.
    ///
    /// `op` must be associative. Fuses as [`scan`](Array::scan) does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3i64, 1, 4]);
    /// assert_eq!(xs.scan1(|a, b| a.max(b)).force()?, [3, 3, 4]);
    /// // Functions x -> a x + b, the first one applied first.
    /// let fs = Array::from(vec![(2i64, 1i64), (3, 0)]);
    /// assert_eq!(fs.scan1(|(a, b), (c, d)| (a * c, b * c + d)).to_vec()?, [(2, 1), (6, 3)]);
    /// let m = Array::from([[1i64, 5], [3, 4]]);
    /// assert_eq!(m.along(0).scan1(|a, b| a.max(b)).force()?, [[1, 5], [3, 5]]);
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![2, 5]]);
    /// assert_eq!(rows.scan1(|a, b| a.max(b)).to_vecs()?, [vec![3, 3], vec![2, 5]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("accumulate", "scanl1", "scan1_axis"))]
    pub fn scan1(op: impl FnOnce(T::Exp, T::Exp) -> R) [R: ToExp<T>],
        "Folds the elements up to and with each, without a start," => |builder, of| {
            builder.scan1(of, operator_of::<T, R>(op))
        };

    /// Folds the elements before each, from `start`.
    ///
    /// Element `i` combines `start` and the elements before `i`. The first element is `start`.
    /// Otherwise as [`scan`](Array::scan).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 3]);
    /// assert_eq!(xs.scan_exclusive(0, |a, b| a + b).force()?, [0, 1, 3]);
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(m.along(0).scan_exclusive(0, |a, b| a + b).force()?, [[0, 0], [1, 2]]);
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![2, 5]]);
    /// assert_eq!(rows.scan_exclusive(0, |a, b| a + b).data().force()?, [0, 3, 0, 2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("prescanl", "scan_exclusive_axis", "scan_exclusive_s"))]
    pub fn scan_exclusive(start: impl ToExp<T>, op: impl FnOnce(T::Exp, T::Exp) -> R) [R: ToExp<T>],
        "Folds the elements before each, from a start," => |builder, of| {
            let fold = Fold::associative(value::<T>(|| start.to_exp()), operator_of::<T, R>(op));
            builder.scan(of, fold, ScanKind::Exclusive)
        };

    /// Folds the elements up to and including each, strictly from left to right.
    ///
    /// Any operator is allowed. The result is that of the plain loop, bit for bit. A loop with such
    /// a scan over all elements, or over segments, runs on one thread.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![4.0f64, 8.0]);
    /// // Exponential smoothing: the operator is not associative.
    /// let smooth = xs.scan_seq(0.0, |old, x| 0.5 * old + 0.5 * x);
    /// assert_eq!(smooth.force()?, [2.0, 5.0]);
    /// let m = Array::from([[4.0f64, 8.0], [2.0, 2.0]]);
    /// let smooth = m.along(1).scan_seq(0.0, |old, x| 0.5 * old + 0.5 * x);
    /// assert_eq!(smooth.force()?, [[2.0, 5.0], [1.0, 1.5]]);
    /// let smooth = m.to_segmented().scan_seq(0.0, |old, x| 0.5 * old + 0.5 * x);
    /// assert_eq!(smooth.data().force()?, [2.0, 5.0, 1.0, 1.5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("scanl", "scan_seq_axis", "scan_seq_s"))]
    pub fn scan_seq(start: impl ToExp<T>, op: impl FnOnce(T::Exp, T::Exp) -> R) [R: ToExp<T>],
        "Folds the elements up to each, strictly from left to right," => |builder, of| {
            let fold = Fold::sequential(value::<T>(|| start.to_exp()), operator_of::<T, R>(op));
            builder.scan(of, fold, ScanKind::Inclusive)
        };
}

impl<T: Elt> Array<T> {
    /// Scans exclusively, and folds all elements, in one loop.
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

    /// Puts `start` before the results of [`scan`](Array::scan).
    ///
    /// The result has one element more than the array. For example, it converts the lengths of
    /// segments to their offsets.
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
    /// *Cost and fusion.* An [`append`](Array::append) of one element and a scan: one loop, which
    /// fuses as these do.
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
}

over! { scans T: Num;
    /// Sums the elements up to and including each.
    ///
    /// Integers wrap.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![1i64, 2, 3]).cumsum().force()?, [1, 3, 6]);
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(m.along(0).cumsum().force()?, [[1, 2], [4, 6]]);
    /// assert_eq!(m.to_segmented().cumsum().data().force()?, [1, 3, 3, 7]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* As for [`scan`](Array::scan).
    #[doc(alias("prefix_sum", "cumsum_axis"))]
    pub fn cumsum(), "Sums the elements up to and with each" => |builder, of| builder.cumsum(of);

    /// Multiplies the elements up to and including each.
    ///
    /// Integers wrap.
    ///
    /// Fuses as [`scan`](Array::scan) does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![2i64, 3, 4]).cumprod().force()?, [2, 6, 24]);
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(m.along(0).cumprod().force()?, [[1, 2], [3, 8]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn cumprod(), "Multiplies the elements up to and with each" => |builder, of| builder.cumprod(of);

    /// Finds the largest element so far.
    ///
    /// Element `i` is the largest of the elements up to and including `i`. For floats NaN is
    /// ignored, as by [`max`](crate::Exp::max). Fuses as [`scan`](Array::scan) does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![3i64, 1, 4]).cummax().force()?, [3, 3, 4]);
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![2, 5]]);
    /// assert_eq!(rows.cummax().data().force()?, [3, 3, 2, 5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "maximum.accumulate")]
    pub fn cummax(), "Finds the largest element so far" => |builder, of| builder.cummax(of);

    /// Finds the smallest element so far.
    ///
    /// Otherwise as [`cummax`](Array::cummax).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![3i64, 1, 4]).cummin().force()?, [3, 1, 1]);
    /// let m = Array::from([[1i64, 5], [3, 4]]);
    /// assert_eq!(m.along(0).cummin().force()?, [[1, 5], [1, 4]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "minimum.accumulate")]
    pub fn cummin(), "Finds the smallest element so far" => |builder, of| builder.cummin(of);
}
