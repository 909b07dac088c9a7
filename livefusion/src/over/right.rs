//! Scans from the right: `scan_right`, `scan1_right`, `scan_exclusive_right`; untyped `fold_right`.

use super::{Along, Domain, operator_of, over};
use crate::array::{Array, Dim};
use crate::ast::{Body, Builder, Field, Fold, FoldStyle, Node, ScanKind, trace};
use crate::elt::Elt;
use crate::exp::{ToExp, value};
use crate::segmented::{Segmented, Segments};
use std::sync::Arc;

/// Untyped forms. As in the typed forms, a step takes (element, state of the later elements).
impl Builder {
    /// Folds all elements from the right, by any fold.
    ///
    /// A join of two states takes the state of the left part first.
    pub fn fold_right(self, xs: &Arc<Node>, fold: Fold) -> Arc<Node> {
        let fold = self.turned_fold(xs, fold);
        self.fold(&self.reverse(xs), fold)
    }

    /// Scans from the right, by an associative or sequential fold.
    ///
    /// ```
    /// use livefusion::ast::{BodyBuilder, Builder, Op, Ty};
    /// use livefusion::over::Domain;
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 5], [3, 4]]);
    /// let mut max = BodyBuilder::new(&[Ty::I64, Ty::I64]);
    /// let both = [max.param(0), max.param(1)];
    /// let greater = max.op(Op::Max, &both);
    /// let max = max.finish(&[greater]);
    /// let scan = Builder::named("scan1_right").scan1_right(Domain::Along(m.node(), &[0]), max);
    /// assert_eq!(Array::<i64, Ix2>::from_node(scan)?.force()?, [[3, 5], [3, 4]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn scan_right<'a>(
        self,
        of: impl Into<Domain<'a>>,
        fold: Fold,
        kind: ScanKind,
    ) -> Arc<Node> {
        let of = of.into();
        match of {
            Domain::All(xs) => {
                let fold = self.turned_fold(xs, fold);
                self.reverse(&self.scan(&self.reverse(xs), fold, kind))
            }
            Domain::Along(xs, axes) => {
                self.scan_right_along(xs, axes, self.turned_fold(xs, fold), kind)
            }
            Domain::Segments(..) => {
                self.elements_of_each(of, |row| self.scan_right(row, fold, kind))
            }
        }
    }

    /// Folds each element and all later ones, without a start value.
    ///
    /// The step must be associative.
    pub fn scan1_right<'a>(self, of: impl Into<Domain<'a>>, step: Body) -> Arc<Node> {
        let of = of.into();
        match of {
            Domain::All(xs) => {
                let step = self.turned(&step, xs.types.len());
                self.reverse(&self.scan1(&self.reverse(xs), step))
            }
            Domain::Along(xs, axes) => {
                self.scan1_right_along(xs, axes, self.turned(&step, xs.types.len()))
            }
            Domain::Segments(..) => self.elements_of_each(of, |row| self.scan1_right(row, step)),
        }
    }

    /// Applies a function to each segment and returns the elements. The function keeps the length.
    fn elements_of_each(
        self,
        of: Domain<'_>,
        f: impl FnOnce(&Arc<Node>) -> Arc<Node>,
    ) -> Arc<Node> {
        match of {
            Domain::Segments(lengths, data) => {
                let (lengths, data) = (lengths.clone(), data.clone());
                self.of_each(&Segments { lengths, data }, f).data
            }
            of => f(of.data()),
        }
    }

    /// Swaps the operands of a fold, for a loop from the last element to the first.
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

    /// Swaps the two operands of a step or a join. The first one has `first` fields.
    pub(crate) fn turned(self, step: &Body, first: usize) -> Body {
        let loc = self.loc();
        let (left, right) = step.params.split_at(first.min(step.params.len()));
        trace(&[right, left].concat(), |params| {
            let (right, left) = params.split_at(right.len());
            Field::apply(step, &[left, right].concat(), loc)
        })
    }
}

over! { scans T: Elt;
    /// Folds each element and all later ones, with `start` at the end.
    ///
    /// Element `i` combines the elements from `i` on, then `start`. `op` must be associative. Over
    /// all elements it is one loop that runs from the end. So lanes, blocks and chunks of floats
    /// are counted from the end.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 3]);
    /// assert_eq!(xs.scan_right(10, |a, b| a + b).force()?, [16, 15, 13]);
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(m.along(1).scan_right(0, |a, b| a + b).force()?, [[3, 2], [7, 4]]);
    /// assert_eq!(m.along(0).scan_right(10, |a, b| a + b).force()?, [[14, 16], [13, 14]]);
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![2, 5]]);
    /// assert_eq!(rows.scan_right(0, |a, b| a + b).data().force()?, [4, 1, 7, 5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* Over all elements it fuses with maps that consume it, which then run from
    /// the end too. It also fuses with index functions as producers. Producers and consumers that
    /// need the elements from the first on have a loop of their own.
    ///
    /// Along the last axis and over segments, the loop runs from the end of each row or segment. A
    /// consumer that needs the elements from the first on takes a second pass over the row. Along
    /// another axis the scan is stored before it is read.
    #[doc(alias("postscanr", "scan_right_axis"))]
    pub fn scan_right(start: impl ToExp<T>, op: impl FnOnce(T::Exp, T::Exp) -> R) [R: ToExp<T>],
        "Folds the elements from each to the last" => |builder, of| {
            let fold = Fold::associative(value::<T>(|| start.to_exp()), operator_of::<T, R>(op));
            builder.scan_right(of, fold, ScanKind::Inclusive)
        };

    /// Folds each element and all later ones, without a start value.
    ///
    /// Otherwise as [`scan_right`](Array::scan_right).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3i64, 1, 4, 2]);
    /// assert_eq!(xs.scan1_right(|a, b| a.max(b)).force()?, [4, 4, 4, 2]);
    /// let m = Array::from([[1i64, 5], [3, 4]]);
    /// assert_eq!(m.along(0).scan1_right(|a, b| a.max(b)).force()?, [[3, 5], [3, 4]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("scanr1", "scan1_right_axis"))]
    pub fn scan1_right(op: impl FnOnce(T::Exp, T::Exp) -> R) [R: ToExp<T>],
        "Folds the elements from each to the last, without a start," => |builder, of| {
            builder.scan1_right(of, operator_of::<T, R>(op))
        };

    /// Folds the elements after each element, with `start` at the end.
    ///
    /// Element `i` combines the elements after `i`, then `start`. The last element is `start`.
    /// Otherwise as [`scan_right`](Array::scan_right).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 3]);
    /// assert_eq!(xs.scan_exclusive_right(10, |a, b| a + b).force()?, [15, 13, 10]);
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(m.along(1).scan_exclusive_right(0, |a, b| a + b).force()?, [[2, 0], [4, 0]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("prescanr", "scan_exclusive_right_axis"))]
    pub fn scan_exclusive_right(start: impl ToExp<T>, op: impl FnOnce(T::Exp, T::Exp) -> R) [R: ToExp<T>],
        "Folds the elements behind each" => |builder, of| {
            let fold = Fold::associative(value::<T>(|| start.to_exp()), operator_of::<T, R>(op));
            builder.scan_right(of, fold, ScanKind::Exclusive)
        };
}
