//! Running folds along axes: `scan_axis`, `scan1_axis`, `scan_exclusive_axis`, `scan_seq_axis`, `cumsum_axis`; folds of parts
//! of rows: `fold_seg`.

use super::fold::{Folded, START};
use super::make::{axis_of, built, computed, indices, shaped};
use crate::array::{Array, Dim, Multi, by, length_of, operator_of};
use crate::ast::{
    Body, Builder, Fold, FoldStyle, Node, ScanKind, Shape, Types, fits, from_first, show_node,
};
use crate::elt::{Elt, Int, Num};
use crate::error::ErrorKind;
use crate::exp::{ToExp, value};
use loop_lang::op::Op;
use loop_lang::types::Const;
use std::sync::Arc;

/// Running folds along an axis. An axis that is not there is a mistake.
///
/// ```
/// use livefusion::ast::Builder;
/// use livefusion::prelude::*;
/// let m = Array::from([[1i64, 2], [3, 4]]);
/// let sums = Builder::named("cumsum_axis").cumsum_axis(m.node(), 0);
/// assert_eq!(Array::<i64, Ix2>::from_node(sums)?.force()?, [[1, 2], [4, 6]]);
/// # Ok::<(), livefusion::Error>(())
/// ```
impl Builder {
    /// Running folds along an axis, with a start, and associative or from left to right: it is
    /// [`scan_axis`](crate::Array::scan_axis), [`scan_exclusive_axis`](crate::Array::scan_exclusive_axis) and
    /// [`scan_seq_axis`](crate::Array::scan_seq_axis), as the kind and the style of the fold say.
    pub fn scan_axis(self, xs: &Arc<Node>, axis: usize, fold: Fold, kind: ScanKind) -> Arc<Node> {
        self.scanned(xs, axis, Towards::End, Running::From(fold, kind))
    }

    /// Running folds along an axis by an associative operator, with no starting value.
    pub fn scan1_axis(self, xs: &Arc<Node>, axis: usize, step: Body) -> Arc<Node> {
        self.scanned(xs, axis, Towards::End, Running::First(step))
    }

    /// Running sums along an axis of elements that are of one number each.
    pub fn cumsum_axis(self, xs: &Arc<Node>, axis: usize) -> Arc<Node> {
        self.numbers(xs, (&xs.types, xs.rank), |ty| {
            self.scan_axis(xs, axis, by(Op::Add, Const::zero(ty)), ScanKind::Inclusive)
        })
    }

    /// A scan along an axis, towards one of its ends.
    pub(super) fn scanned(
        self,
        xs: &Arc<Node>,
        axis: usize,
        towards: Towards,
        running: Running,
    ) -> Arc<Node> {
        let types = running.types(xs);
        built(self, &[xs], (&types, xs.rank), || {
            running.check(xs)?;
            let shape = self.shape(xs);
            axis_of(&shape, axis)?;
            // All elements from the last to the first are all rows so: each is where the mirrored one was.
            let turned = |elements: Arc<Node>| match towards {
                Towards::End => elements,
                Towards::Start => self.reverse(&elements),
            };
            let elements = turned(self.flatten(xs));
            let scan = match axis == shape.rank() - 1 {
                true => {
                    let rows = self.descriptors(&shape).pop();
                    running.scan(self, &elements, |elements, fold, kind| match rows {
                        Some(rows) => self.scan_s(&rows, elements, fold, kind),
                        None => self.scan(elements, fold, kind),
                    })
                }
                false => {
                    let folded = Folded::new(&shape, &[axis])?;
                    running.scan(self, &elements, |elements, fold, kind| {
                        folded.scan(self, elements, fold, kind)
                    })
                }
            };
            Ok(shaped(self, &turned(scan), &shape))
        })
    }

    /// Each row along the last axis cut into segments of these lengths, integers of rank 1, and the elements of each folded. The last
    /// axis of the result has as many elements as there are segments. A vector is a mistake.
    pub fn fold_seg(self, xs: &Arc<Node>, lengths: &Arc<Node>, fold: Fold) -> Arc<Node> {
        let types = fold.state(&xs.types);
        built(self, &[xs, lengths], (&types, xs.rank), || {
            if xs.rank < 2 {
                return Err(ErrorKind::Malformed {
                    expected: "an array of rank 2 or more".to_string(),
                    got: show_node(xs),
                });
            }
            let from = self.shape(xs);
            let lengths = indices(self, lengths)?;
            let mut to = from.axes().to_vec();
            to.pop();
            to.push(length_of(self, &lengths));
            let to = Shape::new(to);
            let all = computed(self, &to, |b, parts| {
                parts
                    .last()
                    .map(|j| b.at(&lengths, 0, *j, false))
                    .into_iter()
                    .collect()
            });
            let folds = self.fold_s(&all, &self.flatten(xs), fold);
            Ok(shaped(self, &folds, &to))
        })
    }
}

impl<T: Elt, D: Dim> Array<T, D> {
    /// Running folds along an axis: an element joins `start` and those along the axis up to and with itself. `op` must be
    /// associative. Along the last axis its calls may be grouped as in [`scan`](Array::scan) of one axis; along another one each
    /// scan goes from left to right.
    ///
    /// It fuses with what makes the elements and with what uses the result, whatever the axis is. Along another axis than the last
    /// memory is read once, in order, and a row of what the scans have come to goes from row to row. Only where elements are read
    /// across rows anyway, as those of a transpose, each scan runs down its column and is in memory before others read it.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(m.scan_axis(1, 0, |a, b| a + b).force()?, [[1, 3], [3, 7]]);
    /// assert_eq!(m.scan_axis(0, 0, |a, b| a + b).force()?, [[1, 2], [4, 6]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[doc(alias = "accumulate")]
    #[track_caller]
    pub fn scan_axis<R: ToExp<T>>(
        &self,
        axis: usize,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, D> {
        let (builder, start) = (Builder::named("scan_axis"), value::<T>(|| start.to_exp()));
        let fold = Fold::associative(start, operator_of::<T, R>(op));
        Array::wrap(builder.scan_axis(self.node(), axis, fold, ScanKind::Inclusive))
    }

    /// Running folds along an axis with no starting value: an element joins those along the axis up to and with itself. `op`
    /// must be associative. Fuses as [`scan_axis`](Array::scan_axis) does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 5], [3, 4]]);
    /// assert_eq!(m.scan1_axis(0, |a, b| a.max(b)).force()?, [[1, 5], [3, 5]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[doc(alias = "accumulate")]
    #[track_caller]
    pub fn scan1_axis<R: ToExp<T>>(
        &self,
        axis: usize,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, D> {
        let (builder, step) = (Builder::named("scan1_axis"), operator_of::<T, R>(op));
        Array::wrap(builder.scan1_axis(self.node(), axis, step))
    }

    /// Running folds along an axis: an element joins `start` and those along the axis before it.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(m.scan_exclusive_axis(0, 0, |a, b| a + b).force()?, [[0, 0], [1, 2]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[track_caller]
    pub fn scan_exclusive_axis<R: ToExp<T>>(
        &self,
        axis: usize,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, D> {
        let builder = Builder::named("scan_exclusive_axis");
        let fold = Fold::associative(value::<T>(|| start.to_exp()), operator_of::<T, R>(op));
        Array::wrap(builder.scan_axis(self.node(), axis, fold, ScanKind::Exclusive))
    }

    /// Running folds along an axis, strictly from left to right, by any operator.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[4.0f64, 8.0], [2.0, 2.0]]);
    /// let smooth = m.scan_seq_axis(1, 0.0, |old, x| 0.5 * old + 0.5 * x);
    /// assert_eq!(smooth.force()?, [[2.0, 5.0], [1.0, 1.5]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[track_caller]
    pub fn scan_seq_axis<R: ToExp<T>>(
        &self,
        axis: usize,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, D> {
        let builder = Builder::named("scan_seq_axis");
        let start = value::<T>(|| start.to_exp());
        let fold = Fold::sequential(start, operator_of::<T, R>(op));
        Array::wrap(builder.scan_axis(self.node(), axis, fold, ScanKind::Inclusive))
    }
}

/// In which direction a scan goes along its axis.
#[derive(Clone, Copy)]
pub(super) enum Towards {
    End,
    Start,
}

/// What a scan begins with.
pub(super) enum Running {
    /// A starting value.
    From(Fold, ScanKind),
    /// The first element, by this operator.
    First(Body),
}

impl Running {
    /// The types of what it gives.
    fn types(&self, xs: &Node) -> Types {
        match self {
            Running::From(fold, _) => fold.state(&xs.types),
            Running::First(_) => xs.types.clone(),
        }
    }

    /// Checks what scans do not ask for themselves where they are rewritten.
    fn check(&self, xs: &Node) -> Result<(), ErrorKind> {
        match self {
            Running::From(fold, _) => match fold.style {
                FoldStyle::Associative => fits(&fold.start, START, &[], Some(&xs.types)),
                FoldStyle::Sequential => Ok(()),
                FoldStyle::First
                | FoldStyle::Aggregate(_)
                | FoldStyle::Exact(_)
                | FoldStyle::Dealt(_) => Err(ErrorKind::Malformed {
                    expected: "a scan with a starting value".to_string(),
                    got: "another".to_string(),
                }),
            },
            Running::First(step) => {
                let both = [&xs.types[..], &xs.types[..]].concat();
                fits(step, "a step", &both, Some(&xs.types))
            }
        }
    }

    /// The scan of elements, by one with a start.
    fn scan(
        self,
        builder: Builder,
        elements: &Arc<Node>,
        scan: impl FnOnce(&Arc<Node>, Fold, ScanKind) -> Arc<Node>,
    ) -> Arc<Node> {
        match self {
            Running::From(fold, kind) => scan(elements, fold, kind),
            Running::First(step) => from_first(builder, elements, step, |elements, fold| {
                scan(elements, fold, ScanKind::Inclusive)
            }),
        }
    }
}

impl<T: Num, D: Dim> Array<T, D> {
    /// Running sums along an axis; integers wrap. Fuses as [`scan_axis`](Array::scan_axis) does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(m.cumsum_axis(0).force()?, [[1, 2], [4, 6]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[doc(alias = "cumsum")]
    #[track_caller]
    pub fn cumsum_axis(&self, axis: usize) -> Array<T, D> {
        Array::wrap(Builder::named("cumsum_axis").cumsum_axis(self.node(), axis))
    }
}

impl<T: Elt, D: Multi> Array<T, D> {
    /// Each row along the last axis cut into segments of these lengths, which are the same for all rows, and each segment's
    /// elements joined by `op`, which must be associative, from `start`. The last axis of the result has as many elements as
    /// there are segments. Memory is read once, in order. It is the Accelerate chapter's `foldSeg`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2, 3], [4, 5, 6]]);
    /// let sums = m.fold_seg(&Array::from(vec![1u64, 2]), 0, |a, b| a + b);
    /// assert_eq!(sums.force()?, [[1, 5], [4, 11]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if the lengths do not add up to that of the last axis.
    #[doc(alias("foldSeg", "reduceat"))]
    #[track_caller]
    pub fn fold_seg<I: Int, R: ToExp<T>>(
        &self,
        lengths: &Array<I>,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, D> {
        let (builder, start) = (Builder::named("fold_seg"), value::<T>(|| start.to_exp()));
        let fold = Fold::associative(start, operator_of::<T, R>(op));
        Array::wrap(builder.fold_seg(self.node(), lengths.node(), fold))
    }
}
