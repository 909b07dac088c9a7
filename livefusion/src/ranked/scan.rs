//! Scans along axes, and folds of parts of rows: `fold_seg`.

use super::fold::{Folded, START};
use super::make::{axis_of, built, computed, indices, rearranged, shaped};
use super::near::near;
use super::reduce::one_of;
use crate::array::{Array, Multi, length_of, operator_of};
use crate::ast::{
    Axis, Body, Builder, Fold, FoldStyle, Kind, Move, Node, ScanKind, Shape, Types, fits,
    from_first, is_exact, show_node,
};
use crate::elt::{Elt, Int};
use crate::error::ErrorKind;
use crate::exp::{ToExp, value};
use crate::over::Domain;
use std::sync::Arc;

impl Builder {
    /// Scans along an axis with a start, by an associative or sequential fold.
    pub(crate) fn scan_along(
        self,
        xs: &Arc<Node>,
        axes: &[usize],
        fold: Fold,
        kind: ScanKind,
    ) -> Arc<Node> {
        self.scanned(xs, axes, Towards::End, ScanBegin::From(fold, kind))
    }

    /// Scans along an axis without a start, by an associative operator.
    pub(crate) fn scan1_along(self, xs: &Arc<Node>, axes: &[usize], step: Body) -> Arc<Node> {
        self.scanned(xs, axes, Towards::End, ScanBegin::First(step))
    }

    /// Scans along an axis from the last element to the first, with a start.
    pub(crate) fn scan_right_along(
        self,
        xs: &Arc<Node>,
        axes: &[usize],
        fold: Fold,
        kind: ScanKind,
    ) -> Arc<Node> {
        self.scanned(xs, axes, Towards::Start, ScanBegin::From(fold, kind))
    }

    /// Scans along an axis from the last element to the first, without a start.
    pub(crate) fn scan1_right_along(self, xs: &Arc<Node>, axes: &[usize], step: Body) -> Arc<Node> {
        self.scanned(xs, axes, Towards::Start, ScanBegin::First(step))
    }

    /// Scans along an axis, towards one of its ends.
    fn scanned(
        self,
        xs: &Arc<Node>,
        axes: &[usize],
        towards: Towards,
        running: ScanBegin,
    ) -> Arc<Node> {
        let types = running.types(xs);
        built(self, &[xs], (&types, xs.rank), || {
            running.check(xs)?;
            let (shape, axis) = (self.shape(xs), one_of(axes)?);
            axis_of(&shape, axis)?;
            let rows = self.descriptors(&shape).pop();
            let rows = rows.filter(|_| axis == shape.rank() - 1);
            // Along another axis than the last one, reversing all elements reverses each scan, and
            // also their order. The result is reversed back.
            let turned = |elements: Arc<Node>| match (towards, &rows) {
                (Towards::End, _) => elements,
                (Towards::Start, Some(rows)) => self.move_each(rows, &elements, Move::Turned),
                (Towards::Start, None) => self.reverse(&elements),
            };
            let elements = turned(self.flatten(xs));
            let scan = match axis == shape.rank() - 1 {
                true => running.scan(self, &elements, |elements, fold, kind| match &rows {
                    Some(rows) => self.scan(Domain::Segments(rows, elements), fold, kind),
                    None => self.scan(elements, fold, kind),
                }),
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

    /// Cuts each row into segments of these lengths, and folds each.
    ///
    /// Rows are along the last axis. The lengths are integers of rank 1. The last axis of the
    /// result has one element per segment. The array must have rank 2 or more.
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
            let folds = self.fold(Domain::Segments(&all, &self.flatten(xs)), fold);
            Ok(shaped(self, &folds, &to))
        })
    }
}

/// Reorders the axes of a scan along the last axis whose input is read across rows. The reordered
/// input is scanned instead, row onto row.
///
/// None for other arrays, and if the scan would have other bits from left to right.
pub(super) fn reordered_scan(
    builder: Builder,
    xs: &Arc<Node>,
    shape: &Shape,
    order: &[usize],
) -> Option<(Arc<Node>, Shape)> {
    let mut scan = xs;
    while let (Kind::Zip, [of], false) = (&scan.kind, scan.inputs.as_slice(), scan.is_leaf()) {
        scan = of;
    }
    let (Kind::ScanS(fold, kind), [rows, data], false) =
        (&scan.kind, scan.inputs.as_slice(), scan.is_leaf())
    else {
        return None;
    };
    let keeps_bits = match fold.style {
        FoldStyle::Sequential => true,
        FoldStyle::Associative => is_exact(&fold.step),
        _ => false,
    };
    let last = shape.rank() - 1;
    let axis = order.iter().position(|from| *from == last)?;
    let across = |data, along| near(data, shape.rank()).is_some_and(|near| near != along);
    let is_row = Axis::of_rows(rows).is_some_and(|row| row.is(&shape.axes()[last]));
    if !keeps_bits || !is_row || axis == last || !across(data, last) {
        return None;
    }
    let (data, to) = rearranged(builder, data, shape, order);
    let folded = Folded::new(&to, &[axis]).ok()?;
    let scan = || folded.scan(Builder::like(scan), &data, (**fold).clone(), *kind);
    across(&data, axis).then(|| (scan(), to.clone()))
}

/// The direction of a scan along its axis.
#[derive(Clone, Copy)]
enum Towards {
    End,
    Start,
}

/// The start of a scan.
enum ScanBegin {
    /// A start value.
    From(Fold, ScanKind),
    /// The first element. Later ones are combined by this operator.
    First(Body),
}

impl ScanBegin {
    /// Returns the types of the results.
    fn types(&self, xs: &Node) -> Types {
        match self {
            ScanBegin::From(fold, _) => fold.state(&xs.types),
            ScanBegin::First(_) => xs.types.clone(),
        }
    }

    /// Checks the requirements that the rewritten scan does not check itself.
    fn check(&self, xs: &Node) -> Result<(), ErrorKind> {
        match self {
            ScanBegin::From(fold, _) => match fold.style {
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
            ScanBegin::First(step) => {
                let both = [&xs.types[..], &xs.types[..]].concat();
                fits(step, "a step", &both, Some(&xs.types))
            }
        }
    }

    /// Scans the elements by a scan with a start.
    fn scan(
        self,
        builder: Builder,
        elements: &Arc<Node>,
        scan: impl FnOnce(&Arc<Node>, Fold, ScanKind) -> Arc<Node>,
    ) -> Arc<Node> {
        match self {
            ScanBegin::From(fold, kind) => scan(elements, fold, kind),
            ScanBegin::First(step) => from_first(builder, elements, step, |elements, fold| {
                scan(elements, fold, ScanKind::Inclusive)
            }),
        }
    }
}

impl<T: Elt, D: Multi> Array<T, D> {
    /// Cuts each row into segments of these lengths, and folds each.
    ///
    /// Rows are along the last axis, and the lengths are the same for all rows. Each segment is
    /// folded by `op`, which must be associative, from `start`. The last axis of the result has one
    /// element per segment. Memory is read once, in order. This is `foldSeg` in Accelerate.
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
