//! Folds along axes with operators of your own: `fold_axis`, `fold1_axis`, `fold_seq_axis`, `aggregate_axis`.

use super::make::{Element, axes_of, built, chosen, computed, others, rearranged, shaped};
use super::near::near;
use crate::array::{Array, Dim, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn, Rank, operator_of};
use crate::ast::{
    Axis, Body, BodyBuilder, Builder, Fold, FoldStyle, Node, Places, Rewrite, ScanKind, Shape,
    TermId, fits, flat_index, plain,
};
use crate::elt::Elt;
use crate::error::ErrorKind;
use crate::exp::{IntoExp, ToExp, closure, value};
use loop_lang::types::Ty;
use std::sync::Arc;

/// What a fold starts with, in messages.
pub(super) const START: &str = "a starting value";

impl Builder {
    /// Elements folded along one axis, several axes, or all: an array without these axes, or a delayed scalar. Along other axes than
    /// the last ones each fold goes from left to right. It is [`fold_axis`](crate::Array::fold_axis),
    /// [`fold1_axis`](crate::Array::fold1_axis), [`fold_seq_axis`](crate::Array::fold_seq_axis) and
    /// [`aggregate_axis`](crate::Array::aggregate_axis), as the style of the fold says. An axis that is not there, or is named twice,
    /// is a mistake.
    ///
    /// ```
    /// use livefusion::ast::{BodyBuilder, Builder, Const, Fold, Op, Ty};
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 5], [7, 2]]);
    /// let mut max = BodyBuilder::new(&[Ty::I64, Ty::I64]);
    /// let both = [max.param(0), max.param(1)];
    /// let greater = max.op(Op::Max, &both);
    /// let mut start = BodyBuilder::new(&[]);
    /// let zero = start.lit(Const::zero(Ty::I64));
    /// let fold = Fold::associative(start.finish(&[zero]), max.finish(&[greater]));
    /// let columns = Builder::named("fold_axis").fold_axes(m.node(), &[0], fold);
    /// assert_eq!(Array::<i64>::from_node(columns)?.force()?, [7, 5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn fold_axes(self, xs: &Arc<Node>, axes: &[usize], fold: Fold) -> Arc<Node> {
        let types = fold.state(&xs.types);
        along(self, xs, axes, &types, |folded, elements| {
            // A fold from left to right asks for less.
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

impl<T: Elt, D: Dim> Array<T, D> {
    /// The elements along an axis joined by `op`, from `start`: an array without that axis. `op` must be associative. Along
    /// the last axis its calls may be grouped in any way, as in [`fold`](Array::fold) of one axis; along another one each
    /// fold goes from left to right.
    ///
    /// Memory is read once, in order, whatever the axis is. Along the last axis it fuses with what makes the elements and
    /// with what uses the result; along another one with what makes the elements.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 5], [7, 2]]);
    /// let (columns, rows) = (m.fold_axis(0, 0, |a, b| a.max(b)), m.fold_axis(1, 0, |a, b| a.max(b)));
    /// let (columns, rows) = (&columns, &rows).force()?;
    /// assert_eq!((&columns[..], &rows[..]), (&[7, 5][..], &[5, 7][..]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[doc(alias = "reduce")]
    #[track_caller]
    pub fn fold_axis<R: ToExp<T>>(
        &self,
        axis: usize,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, D::Smaller> {
        let builder = Builder::named("fold_axis");
        let start = value::<T>(|| start.to_exp());
        let fold = Fold::associative(start, operator_of::<T, R>(op));
        Array::checked(builder, builder.fold_axes(self.node(), &[axis], fold))
    }

    /// The elements along an axis joined by `op`, which must be associative, with no starting value. Along another axis
    /// than the last one the elements are read across rows.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 5], [7, 2]]);
    /// assert_eq!(m.fold1_axis(0, |a, b| a * b).force()?, [7, 10]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis, or nothing along it.
    #[doc(alias = "reduce")]
    #[track_caller]
    pub fn fold1_axis<R: ToExp<T>>(
        &self,
        axis: usize,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, D::Smaller> {
        let builder = Builder::named("fold1_axis");
        let fold = Fold::first(operator_of::<T, R>(op));
        Array::checked(builder, builder.fold_axes(self.node(), &[axis], fold))
    }

    /// The elements along an axis joined strictly from left to right, by any operator.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let digits = Array::from([[4i64, 0, 7], [1, 2, 3]]);
    /// assert_eq!(digits.fold_seq_axis(1, 0, |n, d| n * 10 + d).force()?, [407, 123]);
    /// assert_eq!(digits.fold_seq_axis(0, 0, |n, d| n * 10 + d).force()?, [41, 2, 73]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[track_caller]
    pub fn fold_seq_axis<R: ToExp<T>>(
        &self,
        axis: usize,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, D::Smaller> {
        let builder = Builder::named("fold_seq_axis");
        let start = value::<T>(|| start.to_exp());
        let fold = Fold::sequential(start, operator_of::<T, R>(op));
        Array::checked(builder, builder.fold_axes(self.node(), &[axis], fold))
    }

    /// The elements along an axis folded into a state of another type, as [`aggregate`](Array::aggregate) of one axis. Along
    /// another axis than the last one each fold goes from left to right, and the elements are read across rows.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1.5f64, -1.0], [2.0, 0.5]]);
    /// let positive = |axis| m.aggregate_axis(axis, 0u64, |n, x| n + x.gt(0.0).cast::<u64>(), |a, b| a + b);
    /// assert_eq!((positive(1).to_vec()?, positive(0).to_vec()?), (vec![1, 2], vec![2, 1]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[track_caller]
    pub fn aggregate_axis<S: IntoExp, R: ToExp<S::Elt>, C: ToExp<S::Elt>>(
        &self,
        axis: usize,
        start: S,
        step: impl FnOnce(<S::Elt as Elt>::Exp, T::Exp) -> R,
        combine: impl FnOnce(<S::Elt as Elt>::Exp, <S::Elt as Elt>::Exp) -> C,
    ) -> Array<S::Elt, D::Smaller> {
        let builder = Builder::named("aggregate_axis");
        let start = value::<S::Elt>(|| start.to_exp());
        let step = closure::<(S::Elt, T), S::Elt>(|(s, x)| step(s, x).to_exp());
        let join = closure::<(S::Elt, S::Elt), S::Elt>(|(a, b)| combine(a, b).to_exp());
        let fold = Fold::aggregate(start, step, join);
        Array::checked(builder, builder.fold_axes(self.node(), &[axis], fold))
    }
}

/// What is left of a rank when `K` axes are folded.
pub trait Without<const K: usize>: Dim {
    /// The rank that is left.
    type Rest: Rank;
}

macro_rules! without {
    ($($D:ident: $($k:literal $R:ident),*;)*) => {$($(
        impl Without<$k> for $D {
            type Rest = $R;
        }
    )*)*};
}

without! {
    Ix1: 0 Ix1, 1 Ix0;
    Ix2: 0 Ix2, 1 Ix1, 2 Ix0;
    Ix3: 0 Ix3, 1 Ix2, 2 Ix1, 3 Ix0;
    Ix4: 0 Ix4, 1 Ix3, 2 Ix2, 3 Ix1, 4 Ix0;
    Ix5: 0 Ix5, 1 Ix4, 2 Ix3, 3 Ix2, 4 Ix1, 5 Ix0;
    Ix6: 0 Ix6, 1 Ix5, 2 Ix4, 3 Ix3, 4 Ix2, 5 Ix1, 6 Ix0;
}

impl<const K: usize> Without<K> for IxDyn {
    type Rest = IxDyn;
}

/// What is made of the elements along axes, one element of these types for each fold.
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

/// The axes of a shape that are folded, and those that are kept; both in order.
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

    /// The shape that is left.
    pub(super) fn rest(&self) -> Shape {
        chosen(self.shape, self.kept.iter().copied())
    }

    /// How many elements a fold has.
    pub(super) fn size(&self, builder: Builder) -> Axis {
        builder.size(chosen(self.shape, self.axes.iter().copied()).axes())
    }

    /// A result, with the shape that is left.
    pub(super) fn result(&self, builder: Builder, results: &Arc<Node>) -> Arc<Node> {
        shaped(builder, results, &self.rest())
    }

    /// Whether the elements of a fold are neighbours.
    pub(super) fn is_last(&self) -> bool {
        self.kept.iter().zip(0..).all(|(axis, k)| *axis == k)
    }

    /// The lengths of the folds, all of which are one, where their elements are neighbours; none where all is one fold.
    pub(super) fn rows(&self, builder: Builder) -> Option<Arc<Node>> {
        let mut axes = self.rest().axes().to_vec();
        axes.push(self.size(builder));
        builder.descriptors(&Shape::new(axes)).pop()
    }

    /// Where an element's result lies.
    pub(super) fn place(&self, b: &mut BodyBuilder, parts: &[TermId]) -> TermId {
        let kept: Vec<TermId> = self.kept.iter().map(|k| parts[*k]).collect();
        flat_index(b, &kept, &self.rest())
    }

    /// The results, row by row; where no axis is kept, a delayed scalar. Along another axis than the last ones, rows stay
    /// outside if elements of theirs may be results, or else IRWIM is done.
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
        let (read, _) = rearranged(builder, elements, self.shape, &order);
        let builder = builder.rewriting(Rewrite::Irwim);
        self.fold_rows(builder, &read, from_left_to_right(fold))
    }

    /// Folds of neighbours.
    fn fold_rows(&self, builder: Builder, elements: &Arc<Node>, fold: Fold) -> Arc<Node> {
        match self.rows(builder) {
            Some(rows) => builder.fold_s(&rows, elements, fold),
            None => builder.fold(elements, fold),
        }
    }

    /// What each fold starts with: a buffer is filled with it.
    fn starts(&self, builder: Builder, start: Body) -> Arc<Node> {
        let start = builder.compute(start);
        let mut b = BodyBuilder::new(&[Ty::U64]);
        b.locate(Some(builder.loc()));
        let fields = 0..start.types.len() as u32;
        let fields: Vec<TermId> = fields.map(|f| b.scalar(&start, f)).collect();
        let size = builder.size(self.rest().axes());
        builder.generate(size.len(), b.finish(&fields))
    }

    /// Running folds along another axis than the last ones, from left to right. Rows stay outside, and what each fold has come to
    /// goes from row to row, unless what is read is read across rows anyway: then ISWIM is done.
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
            // The axis and the last one in each other's place, there and back.
            let mut order: Vec<usize> = (0..self.shape.rank()).collect();
            order.swap(axis, self.shape.rank() - 1);
            let (read, across) = rearranged(builder, elements, self.shape, &order);
            let fold = from_left_to_right(fold);
            let there = builder.rewriting(Rewrite::Iswim);
            let scan = match builder.descriptors(&across).pop() {
                Some(rows) => there.scan_s(&rows, &read, fold, kind),
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

    /// Where each element's result lies.
    fn places(&self, builder: Builder) -> Arc<Node> {
        computed(builder, self.shape, |b, parts| vec![self.place(b, parts)])
    }

    /// The elements joined onto what is there, in the order of memory.
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

    /// The first element of each fold.
    ///
    /// # Errors
    /// If it is known that a fold has none.
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
            let mut at = Element::new(b, elements, self.shape);
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

/// The same fold in an order that an axis has. Operators that may join in any order give the same in any.
fn from_left_to_right(fold: Fold) -> Fold {
    let exact = || {
        let ops = plain(&fold.step)?;
        let types = fold.step.result_types();
        let mut fields = ops.iter().zip(&types);
        fields
            .all(|(op, ty)| op.joins_in_any_order(*ty))
            .then_some(())
    };
    let style = match fold.style {
        FoldStyle::Associative if exact().is_none() => FoldStyle::Sequential,
        FoldStyle::Aggregate(_) | FoldStyle::Dealt(_) => FoldStyle::Sequential,
        style => style,
    };
    Fold { style, ..fold }
}
