//! Running folds along axes, and folds of parts of rows: `fold_seg`.

use super::fold::{Folded, START};
use super::make::{axis_of, built, computed, indices, shaped};
use super::reduce::one_of;
use crate::array::{Array, Multi, length_of, operator_of};
use crate::ast::{
    Body, Builder, Fold, FoldStyle, Node, ScanKind, Shape, Types, fits, from_first, show_node,
};
use crate::elt::{Elt, Int};
use crate::error::ErrorKind;
use crate::exp::{ToExp, value};
use crate::over::Domain;
use std::sync::Arc;

impl Builder {
    /// Running folds along an axis, with a start, and associative or from left to right.
    pub(crate) fn scan_along(
        self,
        xs: &Arc<Node>,
        axes: &[usize],
        fold: Fold,
        kind: ScanKind,
    ) -> Arc<Node> {
        self.scanned(xs, axes, Towards::End, Running::From(fold, kind))
    }

    /// Running folds along an axis by an associative operator, with no starting value.
    pub(crate) fn scan1_along(self, xs: &Arc<Node>, axes: &[usize], step: Body) -> Arc<Node> {
        self.scanned(xs, axes, Towards::End, Running::First(step))
    }

    /// Running folds along an axis from the last element to the first, with a start.
    pub(crate) fn scan_right_along(
        self,
        xs: &Arc<Node>,
        axes: &[usize],
        fold: Fold,
        kind: ScanKind,
    ) -> Arc<Node> {
        self.scanned(xs, axes, Towards::Start, Running::From(fold, kind))
    }

    /// Running folds along an axis from the last element to the first, with no starting value.
    pub(crate) fn scan1_right_along(self, xs: &Arc<Node>, axes: &[usize], step: Body) -> Arc<Node> {
        self.scanned(xs, axes, Towards::Start, Running::First(step))
    }

    /// A scan along an axis, towards one of its ends.
    fn scanned(
        self,
        xs: &Arc<Node>,
        axes: &[usize],
        towards: Towards,
        running: Running,
    ) -> Arc<Node> {
        let types = running.types(xs);
        built(self, &[xs], (&types, xs.rank), || {
            running.check(xs)?;
            let (shape, axis) = (self.shape(xs), one_of(axes)?);
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
                        Some(rows) => self.scan(Domain::Segments(&rows, elements), fold, kind),
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
            let folds = self.fold(Domain::Segments(&all, &self.flatten(xs)), fold);
            Ok(shaped(self, &folds, &to))
        })
    }
}

/// In which direction a scan goes along its axis.
#[derive(Clone, Copy)]
enum Towards {
    End,
    Start,
}

/// What a scan begins with.
enum Running {
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
