//! Running folds along axes: `scan_axis`, `scan1_axis`, `scan_exclusive_axis`, `scan_seq_axis`, `cumsum_axis`; folds of parts
//! of rows: `fold_seg`.

use super::fold::Folded;
use super::make::{axis_of, built, computed, flat, shape, shaped};
use crate::array::{
    Array, Dim, Multi, as_indices, associative, length_of, literal, operator, operator_of, reversed,
};
use crate::ast::{Body, Builder, Fold, FoldStyle, Node, ScanKind, Shape, from_first};
use crate::elt::{Elt, Int, Num};
use crate::exp::{ToExp, value};
use loop_lang::op::Op;
use std::sync::Arc;

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
    #[track_caller]
    pub fn scan_axis<R: ToExp<T>>(
        &self,
        axis: usize,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, D> {
        let (builder, start) = (Builder::named("scan_axis"), value::<T>(|| start.to_exp()));
        let fold = associative(start, operator_of::<T, R>(op));
        let running = Running::From(fold, ScanKind::Inclusive);
        self.scanned(builder, axis, Towards::End, running)
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
    #[track_caller]
    pub fn scan1_axis<R: ToExp<T>>(
        &self,
        axis: usize,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, D> {
        let (builder, step) = (Builder::named("scan1_axis"), operator_of::<T, R>(op));
        self.scanned(builder, axis, Towards::End, Running::First(step))
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
        let fold = associative(value::<T>(|| start.to_exp()), operator_of::<T, R>(op));
        let running = Running::From(fold, ScanKind::Exclusive);
        self.scanned(builder, axis, Towards::End, running)
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
        let fold = Fold {
            start: value::<T>(|| start.to_exp()),
            step: operator_of::<T, R>(op),
            style: FoldStyle::Sequential,
        };
        let running = Running::From(fold, ScanKind::Inclusive);
        self.scanned(builder, axis, Towards::End, running)
    }

    /// A scan along an axis, towards one of its ends.
    pub(super) fn scanned(
        &self,
        builder: Builder,
        axis: usize,
        towards: Towards,
        running: Running,
    ) -> Array<T, D> {
        built(builder, &[self.node()], || {
            let shape = shape(builder, self);
            axis_of(&shape, axis)?;
            // All elements from the last to the first are all rows so: each is where the mirrored one was.
            let turned = |elements: Arc<Node>| match towards {
                Towards::End => elements,
                Towards::Start => reversed(builder, &elements),
            };
            let elements = turned(flat(builder, self.node()));
            let scan = match axis == shape.rank() - 1 {
                true => {
                    let rows = builder.descriptors(&shape).pop();
                    running.scan(builder, &elements, |elements, fold, kind| match rows {
                        Some(rows) => builder.scan_s(&rows, elements, fold, kind),
                        None => builder.scan(elements, fold, kind),
                    })
                }
                false => {
                    let folded = Folded::new(&shape, &[axis])?;
                    running.scan(builder, &elements, |elements, fold, kind| {
                        folded.scan(builder, elements, fold, kind)
                    })
                }
            };
            Ok(shaped(builder, &turned(scan), &shape))
        })
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
    #[track_caller]
    pub fn cumsum_axis(&self, axis: usize) -> Array<T, D> {
        let fold = associative(literal(T::from_word(0)), operator(Op::Add, T::TY));
        let running = Running::From(fold, ScanKind::Inclusive);
        self.scanned(Builder::named("cumsum_axis"), axis, Towards::End, running)
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
    #[track_caller]
    pub fn fold_seg<I: Int, R: ToExp<T>>(
        &self,
        lengths: &Array<I>,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, D> {
        let (builder, start) = (Builder::named("fold_seg"), value::<T>(|| start.to_exp()));
        let fold = associative(start, operator_of::<T, R>(op));
        built(builder, &[self.node(), lengths.node()], || {
            let from = shape(builder, self);
            let lengths = as_indices(builder, lengths.node());
            let mut to = from.axes().to_vec();
            to.pop();
            to.push(length_of(builder, &lengths));
            let to = Shape::new(to);
            let all = computed(builder, &to, |b, parts| {
                parts
                    .last()
                    .map(|j| b.at(&lengths, 0, *j, false))
                    .into_iter()
                    .collect()
            });
            let folds = builder.fold_s(&all, &flat(builder, self.node()), fold);
            Ok(shaped(builder, &folds, &to))
        })
    }
}
