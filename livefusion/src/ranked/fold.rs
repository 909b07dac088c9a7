//! Folds and scans along axes, as folds of rows and as scatters.

use super::make::{IndexedElement, axes_of, built, chosen, computed, others, rearranged, shaped};
use super::near::near;
use crate::array::{Dim, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn, Rank, by};
use crate::ast::{
    Assert, Axis, Body, BodyBuilder, Builder, Fold, FoldStyle, Node, Places, Rewrite, ScanKind,
    Shape, TermId, fits, flat_index, is_exact,
};
use crate::error::ErrorKind;
use crate::over::Domain;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// The start of a fold, in messages.
pub(super) const START: &str = "a starting value";

impl Builder {
    /// Folds the elements along some or all axes. Along axes other than the last ones, each fold
    /// goes from left to right.
    pub(crate) fn fold_along(self, xs: &Arc<Node>, axes: &[usize], fold: Fold) -> Arc<Node> {
        let types = fold.state(&xs.types);
        along(self, xs, axes, &types, |folded, elements| {
            // Folds from left to right have fewer requirements.
            match &fold.style {
                FoldStyle::Associative => fits(&fold.start, START, &[], Some(&types))?,
                FoldStyle::Aggregate(join) | FoldStyle::Exact(join) | FoldStyle::Dealt(join) => {
                    let both = [&types[..], &types[..]].concat();
                    fits(join, "a combine function", &both, Some(&types))?;
                }
                FoldStyle::First | FoldStyle::Sequential => {}
            }
            Ok(folded.fold(self, elements, fold))
        })
    }
}

/// Describes a rank that allows a fold over `K` axes.
#[diagnostic::on_unimplemented(
    message = "an array of rank `{Self}` has fewer than {K} axes",
    note = "`m.along([0, 2])` names as many axes as the array has, or fewer"
)]
pub trait Without<const K: usize>: Dim {
    /// Names the remaining rank.
    type Rest: Rank;
    /// Names the rank of these `K` axes, [`Ix1`] if there are none.
    type Named: Dim;
}

macro_rules! without {
    ($($D:ident: $($k:literal $R:ident $N:ident),*;)*) => {$($(
        impl Without<$k> for $D {
            type Rest = $R;
            type Named = $N;
        }
    )*)*};
}

without! {
    Ix1: 0 Ix1 Ix1, 1 Ix0 Ix1;
    Ix2: 0 Ix2 Ix1, 1 Ix1 Ix1, 2 Ix0 Ix2;
    Ix3: 0 Ix3 Ix1, 1 Ix2 Ix1, 2 Ix1 Ix2, 3 Ix0 Ix3;
    Ix4: 0 Ix4 Ix1, 1 Ix3 Ix1, 2 Ix2 Ix2, 3 Ix1 Ix3, 4 Ix0 Ix4;
    Ix5: 0 Ix5 Ix1, 1 Ix4 Ix1, 2 Ix3 Ix2, 3 Ix2 Ix3, 4 Ix1 Ix4, 5 Ix0 Ix5;
    Ix6: 0 Ix6 Ix1, 1 Ix5 Ix1, 2 Ix4 Ix2, 3 Ix3 Ix3, 4 Ix2 Ix4, 5 Ix1 Ix5, 6 Ix0 Ix6;
}

impl<const K: usize> Without<K> for IxDyn {
    type Rest = IxDyn;
    type Named = IxDyn;
}

/// Computes one element of these types for each fold along axes.
pub(super) fn along(
    builder: Builder,
    xs: &Arc<Node>,
    axes: &[usize],
    types: &[Ty],
    make: impl FnOnce(&Folded<'_>, &Arc<Node>) -> Result<Arc<Node>, ErrorKind>,
) -> Arc<Node> {
    let rank = usize::from(xs.rank).saturating_sub(axes.len()) as u8;
    built(builder, &[xs], (types, rank), || {
        let shape = builder.shape(xs);
        let folded = Folded::new(&shape, axes)?;
        let made = make(&folded, &builder.flatten(xs))?;
        Ok(folded.result(builder, &made))
    })
}

/// The folded and the kept axes of a shape, each in ascending order.
pub(super) struct Folded<'s> {
    pub(super) shape: &'s Shape,
    pub(super) axes: Vec<usize>,
    pub(super) kept: Vec<usize>,
}

impl<'s> Folded<'s> {
    pub(super) fn new(shape: &'s Shape, axes: &[usize]) -> Result<Folded<'s>, ErrorKind> {
        axes_of(shape, axes)?;
        let mut axes = axes.to_vec();
        axes.sort_unstable();
        let kept = others(shape, &axes);
        Ok(Folded { shape, axes, kept })
    }

    /// Returns the shape of the kept axes.
    pub(super) fn rest(&self) -> Shape {
        chosen(self.shape, self.kept.iter().copied())
    }

    /// Returns the number of elements per fold.
    pub(super) fn size(&self, builder: Builder) -> Axis {
        builder.size(chosen(self.shape, self.axes.iter().copied()).axes())
    }

    /// Gives the results the shape of the kept axes.
    pub(super) fn result(&self, builder: Builder, results: &Arc<Node>) -> Arc<Node> {
        shaped(builder, results, &self.rest())
    }

    /// Tests if the elements of a fold are adjacent.
    pub(super) fn is_last(&self) -> bool {
        self.kept.iter().zip(0..).all(|(axis, k)| *axis == k)
    }

    /// Returns the lengths of the folds, all equal, for folds of adjacent elements. `None` if there
    /// is only one fold.
    pub(super) fn rows(&self, builder: Builder) -> Option<Arc<Node>> {
        let mut axes = self.rest().axes().to_vec();
        axes.push(self.size(builder));
        builder.descriptors(&Shape::new(axes)).pop()
    }

    /// Returns the index of the result that an element belongs to.
    pub(super) fn place(&self, b: &mut BodyBuilder, parts: &[TermId]) -> TermId {
        let kept: Vec<TermId> = self.kept.iter().map(|k| parts[*k]).collect();
        flat_index(b, &kept, &self.rest())
    }

    /// Folds the elements. The results are in row-major order, or a delayed scalar if no axis is
    /// kept.
    ///
    /// Along axes other than the last ones there are two ways. The loop over rows can stay outside
    /// and combine each row into the results. This needs a fold with a start whose state has the
    /// element type, and an input that is not read across rows. Otherwise IRWIM (interchange of
    /// reduce with inner map) makes each fold an inner loop.
    pub(super) fn fold(&self, builder: Builder, elements: &Arc<Node>, fold: Fold) -> Arc<Node> {
        if self.kept.is_empty() {
            return builder.fold(elements, fold);
        }
        if self.is_last() {
            return self.fold_rows(builder, elements, fold);
        }
        let in_place = match fold.style {
            FoldStyle::Associative => true,
            FoldStyle::Sequential => fold.start.result_types_or_none() == elements.types,
            FoldStyle::First
            | FoldStyle::Aggregate(_)
            | FoldStyle::Exact(_)
            | FoldStyle::Dealt(_) => false,
        };
        let across = near(elements, self.shape.rank()) == self.axes.last().copied();
        if in_place && !across {
            let base = self.starts(builder, fold.start);
            return self.onto(builder, &base, elements, fold.step);
        }
        let order: Vec<usize> = self.kept.iter().chain(&self.axes).copied().collect();
        let (read, to) = rearranged(builder, elements, self.shape, &order);
        let builder = builder.rewriting(Rewrite::Irwim);
        // A segment for each kept index. Its segments are along the first folded axis, theirs along
        // the next one.
        let levels = builder.descriptors(&to).split_off(self.kept.len() - 1);
        let rows = levels.into_iter().rev().reduce(|inner, outer| {
            let sizes = Domain::Segments(&outer, &inner);
            builder
                .renamed("rows")
                .fold(sizes, by(Op::Add, Const::u64(0)))
        });
        match rows {
            Some(rows) => builder.fold(Domain::Segments(&rows, &read), from_left_to_right(fold)),
            None => builder.fold(&read, from_left_to_right(fold)),
        }
    }

    /// Folds adjacent elements.
    fn fold_rows(&self, builder: Builder, elements: &Arc<Node>, fold: Fold) -> Arc<Node> {
        match self.rows(builder) {
            Some(rows) => builder.fold(Domain::Segments(&rows, elements), fold),
            None => builder.fold(elements, fold),
        }
    }

    /// Returns a buffer filled with identities, for folds that need an element.
    ///
    /// # Errors
    /// If a fold is known to have no elements. Other lengths are checked at run time.
    pub(super) fn starts_of_some(
        &self,
        builder: Builder,
        identity: &Body,
    ) -> Result<Arc<Node>, ErrorKind> {
        let (size, rest) = (self.size(builder), builder.size(self.rest().axes()));
        if size.known() == Some(0) && rest.known().is_some_and(|n| n > 0) {
            return Err(ErrorKind::Empty);
        }
        let mut b = BodyBuilder::new(&[]);
        b.locate(Some(builder.loc()));
        let mut start = b.embed(identity, &[]).unwrap_or_default();
        if size.known().is_none_or(|n| n == 0) {
            let zero = b.lit(Const::u64(0));
            let (size, rest) = (size.term(&mut b), rest.term(&mut b));
            let first = b.ensure(Assert::Below, &[zero, size]);
            let is_none = b.op(Op::Eq, &[rest, zero]);
            let place = b.cond(is_none, zero, first);
            let is_first = b.op(Op::Eq, &[place, zero]);
            for (field, ty) in start.iter_mut().zip(identity.result_types()) {
                let other = b.lit(Const::zero(ty));
                *field = b.cond(is_first, *field, other);
            }
        }
        Ok(self.starts(builder, b.finish(&start)))
    }

    /// Returns a buffer filled with the start value of each fold.
    fn starts(&self, builder: Builder, start: Body) -> Arc<Node> {
        let start = builder.compute(start);
        let mut b = BodyBuilder::new(&[Ty::U64]);
        b.locate(Some(builder.loc()));
        let fields = 0..start.types.len() as u32;
        let fields: Vec<TermId> = fields.map(|f| b.scalar(&start, f)).collect();
        let size = builder.size(self.rest().axes());
        builder.generate(size.len(), b.finish(&fields))
    }

    /// Scans from left to right along an axis other than the last.
    ///
    /// The loop over rows stays outside and carries a row of states from row to row. If the input
    /// is read across rows anyway, ISWIM (interchange of scan with inner map) makes each scan an
    /// inner loop.
    pub(super) fn scan(
        &self,
        builder: Builder,
        elements: &Arc<Node>,
        fold: Fold,
        kind: ScanKind,
    ) -> Arc<Node> {
        if let [axis] = self.axes[..]
            && near(elements, self.shape.rank()) == Some(axis)
        {
            // Swap the axis with the last one, then back.
            let mut order: Vec<usize> = (0..self.shape.rank()).collect();
            order.swap(axis, self.shape.rank() - 1);
            let (read, across) = rearranged(builder, elements, self.shape, &order);
            let fold = from_left_to_right(fold);
            let there = builder.rewriting(Rewrite::Iswim);
            let scan = match builder.descriptors(&across).pop() {
                Some(rows) => there.scan(Domain::Segments(&rows, &read), fold, kind),
                None => there.scan(&read, fold, kind),
            };
            return rearranged(builder, &scan, &across, &order).0;
        }
        let base = self.starts(builder, fold.start);
        let places = self.places(builder);
        let builder = builder.rewriting(Rewrite::RowsCarried);
        let inputs = [&base, &places, elements];
        builder.scan_by_index(inputs, fold.step, kind, Places::Within)
    }

    /// Returns the index of the result for each element.
    fn places(&self, builder: Builder) -> Arc<Node> {
        computed(builder, self.shape, |b, parts| vec![self.place(b, parts)])
    }

    /// Combines the elements into the results, in memory order.
    pub(super) fn onto(
        &self,
        builder: Builder,
        base: &Arc<Node>,
        elements: &Arc<Node>,
        step: Body,
    ) -> Arc<Node> {
        let places = self.places(builder);
        let builder = builder.rewriting(Rewrite::RowsOutside);
        builder.scatter_within(base, &places, elements, Some(step))
    }

    /// Returns the first element of each fold.
    ///
    /// # Errors
    /// If a fold is known to have no elements.
    pub(super) fn first(
        &self,
        builder: Builder,
        elements: &Arc<Node>,
    ) -> Result<Arc<Node>, ErrorKind> {
        let size = self.size(builder).known();
        let rest = builder.size(self.rest().axes()).known();
        if size == Some(0) && rest.is_some_and(|n| n > 0) {
            return Err(ErrorKind::Empty);
        }
        Ok(computed(builder, &self.rest(), |b, parts| {
            let mut kept = parts.iter();
            let mut at = IndexedElement::new(b, elements, self.shape);
            for axis in 0..self.shape.rank() {
                match self.axes.contains(&axis) {
                    true => at.first(axis),
                    false => kept
                        .next()
                        .into_iter()
                        .for_each(|part| at.inside(axis, *part)),
                }
            }
            at.read()
        }))
    }
}

/// Makes a fold go from left to right along an axis. Operators that are exact in any order keep
/// their style.
fn from_left_to_right(fold: Fold) -> Fold {
    let style = match fold.style {
        FoldStyle::Associative if !is_exact(&fold.step) => FoldStyle::Sequential,
        FoldStyle::Aggregate(_) | FoldStyle::Dealt(_) => FoldStyle::Sequential,
        style => style,
    };
    Fold { style, ..fold }
}
