//! Parts of arrays (`slice`, `split`, `at`) and copies along new axes (`broadcast`).

use super::make::{self, IndexedElement, axis_of, built, checked_length, computed, shaped};
use crate::array::{
    Amount, Array, Dim, Extent, IntoLen, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn, Multi, Rank,
    extent, part_of_stream, reading,
};
use crate::ast::{Axis, BodyBuilder, Builder, Len, Node, Shape, TermId, flat_index, identity};
use crate::elt::Elt;
use crate::error::ErrorKind;
use crate::over::Along;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use std::sync::Arc;

impl Builder {
    /// Takes a part of an array.
    ///
    /// There is one item per axis. An [`Item::New`] belongs to no axis and makes an axis of length
    /// 1. If no axis is left, the result is a delayed scalar.
    ///
    /// ```
    /// use livefusion::ast::Builder;
    /// use livefusion::prelude::*;
    /// use livefusion::ranked::{Amount, Item};
    /// let m = Array::from([[1i64, 2, 3], [4, 5, 6], [7, 8, 9]]);
    /// let last = Item::One(Amount::from(-1));
    /// let row = Builder::named("slice").slice(m.node(), &[last, Item::ALL]);
    /// assert_eq!(Array::<i64>::from_node(row)?.force()?, [7, 8, 9]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn slice(self, xs: &Arc<Node>, items: &[Item]) -> Arc<Node> {
        let kept = items.iter().filter(|item| !matches!(item, Item::One(_)));
        built(self, &[xs], (&xs.types, kept.count() as u8), || {
            let from = self.shape(xs);
            for_each_axis(&from, items, |item| !matches!(item, Item::New))?;
            if let ([axis], [Item::Part(range, step)]) = (from.axes(), items) {
                let (start, len) = part(self, range, *step, axis)?;
                let body = reading(self, xs, |b, i| place(&start, *step, axis, i, b));
                let made = self.generate(len, body);
                return Ok(match (start, made.known_len(), step) {
                    (Amount::Known(skip), Some(n), 1) => {
                        part_of_stream(xs, made, Some((skip, Some(Len::Known(n)))))
                    }
                    _ => made,
                });
            }
            let source = self.flatten(xs);
            let mut axes = from.axes().iter();
            let (mut reads, mut to) = (Vec::new(), Vec::new());
            for item in items {
                if let Item::New = item {
                    to.push(self.length(1));
                    reads.push(Read::New);
                    continue;
                }
                let Some(axis) = axes.next() else { break };
                match item {
                    Item::New => {}
                    Item::One(at) => reads.push(one(at, axis)?),
                    Item::Part(range, step) => {
                        let (start, n) = part(self, range, *step, axis)?;
                        to.push(length(self, n));
                        reads.push(Read::From(start, *step));
                    }
                }
            }
            let to = Shape::new(to);
            let made = computed(self, &to, |b, parts| {
                let mut parts = parts.iter();
                let mut element = IndexedElement::new(b, &source, &from);
                let mut axis = 0;
                for read in &reads {
                    match read {
                        Read::New => {
                            parts.next();
                            continue;
                        }
                        Read::At(at, checked) => {
                            let at = element.with(|b| resolve(at, &from.axes()[axis], b));
                            match checked {
                                true => element.checked(axis, at),
                                false => element.inside(axis, at),
                            }
                        }
                        Read::From(start, step) => {
                            let Some(part) = parts.next() else { continue };
                            let along = &from.axes()[axis];
                            let at = element.with(|b| place(start, *step, along, *part, b));
                            element.inside(axis, at);
                        }
                    }
                    axis += 1;
                }
                element.read()
            });
            Ok(shaped(self, &made, &to))
        })
    }

    /// Takes a part of an array along one axis.
    ///
    /// A range keeps its elements. An index keeps one slice and removes the axis. These are
    /// [`slice`](crate::over::Along::slice) and [`at`](crate::over::Along::at) along an axis. The
    /// axis must exist.
    pub fn slice_along(self, xs: &Arc<Node>, axis: usize, item: Item) -> Arc<Node> {
        let mut items = vec![Item::ALL; xs.rank.into()];
        let (lost, wrong) = (u8::from(matches!(item, Item::One(_))), axis >= items.len());
        if wrong || matches!(item, Item::New) {
            return built(
                self,
                &[xs],
                (&xs.types, xs.rank.saturating_sub(lost)),
                || {
                    axis_of(&self.shape(xs), axis)?;
                    Err(ErrorKind::Malformed {
                        expected: "a range or an index".to_string(),
                        got: "a new axis".to_string(),
                    })
                },
            );
        }
        items[axis] = item;
        self.slice(xs, &items)
    }

    /// Splits an array along an axis, before a position.
    ///
    /// The axis must exist.
    pub fn split(self, xs: &Arc<Node>, axis: usize, at: &Amount) -> (Arc<Node>, Arc<Node>) {
        let half = |range: Ends| {
            built(self, &[xs], (&xs.types, xs.rank), || {
                let from = self.shape(xs);
                axis_of(&from, axis)?;
                let (start, n) = part(self, &range, 1, &from.axes()[axis])?;
                let mut to = from.axes().to_vec();
                to[axis] = length(self, n);
                let to = Shape::new(to);
                let made = make::reading(self, xs, &to, |b, parts| {
                    let mut at = parts.to_vec();
                    let start = resolve(&start, &from.axes()[axis], b);
                    at[axis] = b.op(Op::Add, &[start, parts[axis]]);
                    flat_index(b, &at, &from)
                });
                Ok(shaped(self, &made, &to))
            })
        };
        let left = half((Amount::Known(0), Some(at.clone())));
        (left, half((at.clone(), None)))
    }

    /// Repeats an array along new axes.
    ///
    /// There is one item per axis of the result. [`Item::ALL`] is an axis of the array,
    /// [`Item::One`] a new axis of that length, and [`Item::New`] a new axis of length 1. There
    /// must be one [`Item::ALL`] per axis of the array, and no other ranges.
    pub fn broadcast(self, xs: &Arc<Node>, items: &[Item]) -> Arc<Node> {
        built(self, &[xs], (&xs.types, items.len() as u8), || {
            let from = self.shape(xs);
            for_each_axis(&from, items, |item| matches!(item, Item::Part(..)))?;
            let source = self.flatten(xs);
            let mut axes = from.axes().iter();
            let (mut kept, mut to) = (Vec::new(), Vec::new());
            for item in items {
                match item {
                    Item::One(n) => to.push(extent(self, Extent(n.clone()))?),
                    Item::New => to.push(self.length(1)),
                    Item::Part(range, step) => {
                        let whole = matches!(range, (Amount::Known(0), None)) && *step == 1;
                        let Some(axis) = axes.next().filter(|_| whole) else {
                            return Err(ErrorKind::Malformed {
                                expected: "`..` for an axis, and lengths of new ones".to_string(),
                                got: "a range".to_string(),
                            });
                        };
                        kept.push(to.len());
                        to.push(axis.clone());
                    }
                }
            }
            let to = Shape::new(to);
            let made = if kept.iter().zip(0..).all(|(axis, k)| *axis == k) {
                // Each element is repeated along one new axis after the other.
                let levels = self.descriptors(&to);
                let new = levels.iter().skip(from.rank().saturating_sub(1));
                new.fold(source, |repeated, rows| self.spread(rows, &repeated))
            } else {
                make::reading(self, &source, &to, |b, parts| {
                    let at: Vec<TermId> = kept.iter().map(|k| parts[*k]).collect();
                    flat_index(b, &at, &from)
                })
            };
            Ok(shaped(self, &made, &to))
        })
    }
}

/// Checks that there is one item per axis.
fn for_each_axis(
    from: &Shape,
    items: &[Item],
    is_for_one: impl Fn(&Item) -> bool,
) -> Result<(), ErrorKind> {
    let got = items.iter().filter(|item| is_for_one(item)).count();
    match got == from.rank() {
        true => Ok(()),
        false => Err(ErrorKind::Malformed {
            expected: format!("an item for each of {} axes", from.rank()),
            got: got.to_string(),
        }),
    }
}

impl<T: Elt> Array<T> {
    /// Keeps the elements of a range.
    ///
    /// Its ends are numbers or delayed scalars. Negative numbers count from the end of the array.
    /// With [`step`](Strided::step) it keeps every n-th element. The range must lie within the
    /// array, as for Rust's slices: `1..` of an empty array is an error. [`take`](Array::take) and
    /// [`drop`](Array::drop) clamp instead.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 3, 4]);
    /// assert_eq!((xs.slice(1..3).to_vec()?, xs.slice(3..).to_vec()?), (vec![2, 3], vec![4]));
    /// assert_eq!((xs.slice(..-1).to_vec()?, xs.slice((1..).step(2)).to_vec()?), (vec![1, 2, 3], vec![2, 4]));
    /// assert!(xs.slice(3..5).force().is_err());
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if the range ends after the end of the array, or before its own start.
    #[track_caller]
    pub fn slice<R: SliceItem + Strided>(&self, range: R) -> Array<T> {
        let builder = Builder::named("slice");
        Array::wrap(builder.slice(self.node(), &[range.item()]))
    }
}

impl<T: Elt, D: Multi> Array<T, D> {
    /// Takes a part of the array.
    ///
    /// There is one item per axis. A range keeps its elements, an index keeps one and removes the
    /// axis, and `..` keeps all. [`NewAxis`] belongs to no axis and makes one of length 1. The
    /// items determine the rank of the result. If no axis is left, it is a delayed scalar.
    ///
    /// Ends and indices are integers or delayed scalars. Negative numbers count from the end. With
    /// [`step`](Strided::step) a range keeps every n-th element. A range must lie within its axis.
    /// So `1..` along an axis of length 0 is an error, because it ends before it begins.
    ///
    /// For rank [`IxDyn`], convert with [`into_rank`](Array::into_rank) first, or use
    /// [`along(axis).slice`](Along::slice). Clippy mistakes a literal `1..-1` for an empty range;
    /// `#[allow(clippy::reversed_empty_ranges)]` silences it.
    ///
    /// The result is an index function and costs only the read where it is used. Unread elements
    /// are not computed if the array is a cheap index function. This is `slice` in Accelerate.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2, 3], [4, 5, 6], [7, 8, 9]]);
    /// assert_eq!(m.slice((1.., ..-1)).force()?, [[4, 5], [7, 8]]);
    /// assert_eq!(m.slice((-1, ..)).force()?, [7, 8, 9]);
    /// assert_eq!(m.slice(((0..).step(2), 1)).force()?, [2, 8]);
    /// assert_eq!(m.slice((0, NewAxis, 1..=2)).force()?, [[2, 3]]);
    /// assert_eq!(m.slice((2, 2)).force()?, 9);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if an index is out of range, or a range ends after its axis or before its own
    /// start.
    #[track_caller]
    pub fn slice<S: Slices<From = D>>(&self, items: S) -> Array<T, S::To> {
        let builder = Builder::named("slice");
        Array::checked(builder, builder.slice(self.node(), &items.items()))
    }
}

impl<T: Elt, D: Dim> Along<T, D> {
    /// Takes the elements of a range along the axis.
    ///
    /// The range can count from the end and have a step, as in [`slice`](Array::slice) of all axes.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2, 3], [4, 5, 6]]).into_dyn();
    /// assert_eq!(m.along(1).slice(1..).force()?.to_vec()?, [2, 3, 5, 6]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis, or the range exceeds it.
    #[doc(alias = "slice_axis")]
    #[track_caller]
    pub fn slice<R: SliceItem + Strided>(&self, range: R) -> Array<T, D> {
        let builder = Builder::named("slice");
        let part = builder.slice_along(self.array.node(), self.axes, range.item());
        Array::checked(builder, part)
    }

    /// Takes one index of the axis, and removes the axis.
    ///
    /// A negative index counts from the end.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2, 3], [4, 5, 6]]);
    /// assert_eq!((m.along(0).at(1).to_vec()?, m.along(1).at(-1).to_vec()?), (vec![4, 5, 6], vec![3, 6]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis, or the index is out of range.
    #[doc(alias("take", "index_axis"))]
    #[track_caller]
    pub fn at(&self, index: impl IntoLen) -> Array<T, D::Smaller> {
        let item = Item::One(index.into_len().0);
        let builder = Builder::named("at");
        Array::checked(
            builder,
            builder.slice_along(self.array.node(), self.axes, item),
        )
    }
}

impl<T: Elt, D: Dim> Array<T, D> {
    /// Splits the array along an axis, before a position.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2, 3], [4, 5, 6]]);
    /// let (left, right) = m.split(1, 2);
    /// assert_eq!((left.to_vec()?, right.to_vec()?), (vec![1, 2, 4, 5], vec![3, 6]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis, or the position is beyond its end.
    #[doc(alias("split_at", "array_split"))]
    #[track_caller]
    pub fn split(&self, axis: usize, at: impl IntoLen) -> (Array<T, D>, Array<T, D>) {
        let at = at.into_len().0;
        let (left, right) = Builder::named("split").split(self.node(), axis, &at);
        (Array::wrap(left), Array::wrap(right))
    }

    /// Repeats the array along new axes.
    ///
    /// There is one item per axis of the result. `..` is an axis of this array. A length is a new
    /// axis, along which the elements are equal. Fuses with its consumers, and also with its
    /// producer if all new axes come last. This is `replicate` in Accelerate.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2]);
    /// assert_eq!(xs.broadcast((.., 3)).force()?, [[1, 1, 1], [2, 2, 2]]);
    /// assert_eq!(xs.broadcast((2, ..)).force()?, [[1, 2], [1, 2]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if a length is negative.
    #[doc(alias = "broadcast_to")]
    #[track_caller]
    pub fn broadcast<S: Slices<Kept = D, All = E>, E: Dim>(&self, items: S) -> Array<T, E> {
        let builder = Builder::named("broadcast");
        Array::checked(builder, builder.broadcast(self.node(), &items.items()))
    }
}

/// The read of an axis.
enum Read {
    /// A new axis, which reads nothing.
    New,
    /// One index, with a flag that requests a bounds check.
    At(Amount, bool),
    /// All indices from a start, in steps.
    From(Amount, u64),
}

/// Converts a position along an axis to a term. A negative one counts from the end.
fn resolve(at: &Amount, axis: &Axis, b: &mut BodyBuilder) -> TermId {
    match at {
        Amount::Negative(n) => {
            let back = b.lit(Const::u64(back(*n)));
            let n = axis.term(b);
            b.op(Op::Sub, &[n, back])
        }
        other => other.term(b),
    }
}

fn back(n: i128) -> u64 {
    u64::try_from(n.unsigned_abs()).unwrap_or(u64::MAX)
}

/// Returns a position along an axis, if it is known. A position before the axis gives a number
/// after it.
fn known(at: &Amount, axis: &Axis) -> Option<u64> {
    match at {
        Amount::Known(n) => Some(*n),
        Amount::Delayed(node) => Axis::delayed(node.clone()).known(),
        Amount::Negative(n) => Some(axis.known()?.checked_sub(back(*n)).unwrap_or(u64::MAX)),
    }
}

/// Converts an index along an axis to a read.
fn one(at: &Amount, axis: &Axis) -> Result<Read, ErrorKind> {
    match (known(at, axis), axis.known()) {
        (Some(i), Some(n)) if i < n => Ok(Read::At(Amount::Known(i), false)),
        (Some(i), Some(len)) => {
            let index = match at {
                Amount::Negative(n) => *n,
                _ => i128::from(i),
            };
            Err(ErrorKind::OutOfRange { index, len })
        }
        _ => Ok(Read::At(at.clone(), true)),
    }
}

/// Returns the start of a range along an axis, and the number of elements that it keeps.
fn part(
    builder: Builder,
    (start, end): &Ends,
    step: u64,
    axis: &Axis,
) -> Result<(Amount, Len), ErrorKind> {
    if step == 0 {
        let (expected, got) = ("a step of 1 or more".to_string(), "0".to_string());
        return Err(ErrorKind::Malformed { expected, got });
    }
    if let (Amount::Known(0), None, 1) = (start, end, step) {
        return Ok((Amount::Known(0), axis.len()));
    }
    let first = known(start, axis);
    let last = match end {
        Some(end) => known(end, axis),
        None => axis.known(),
    };
    if let (Some(start), Some(end), Some(len)) = (first, last, axis.known()) {
        return match start <= end && end <= len {
            true => Ok((
                Amount::Known(start),
                Len::Known((end - start).div_ceil(step)),
            )),
            false => Err(ErrorKind::SliceRange { start, end, len }),
        };
    }
    let mut b = BodyBuilder::new(&[]);
    let all = axis.term(b.locate(Some(builder.loc())));
    let from = resolve(start, axis, &mut b);
    let to = end.as_ref().map_or(all, |end| resolve(end, axis, &mut b));
    let mut n = b.op(Op::Sub, &[to, from]);
    if step != 1 {
        let (by, one) = (b.lit(Const::u64(step)), b.lit(Const::u64(1)));
        let whole = b.op(Op::Div, &[n, by]);
        let left = b.op(Op::Rem, &[n, by]);
        let left = b.op(Op::Min, &[left, one]);
        n = b.op(Op::Add, &[whole, left]);
    }
    let ordered = b.op(Op::Le, &[from, to]);
    let inside = b.op(Op::Le, &[to, all]);
    let holds = b.op(Op::And, &[ordered, inside]);
    let len = Len::Checked(Box::new(b.finish(&[n, holds, from, to, all])));
    Ok((start.clone(), len))
}

/// Returns the position along an axis of an element of its part.
fn place(start: &Amount, step: u64, axis: &Axis, part: TermId, b: &mut BodyBuilder) -> TermId {
    let mut at = part;
    if step != 1 {
        let step = b.lit(Const::u64(step));
        at = b.op(Op::Mul, &[at, step]);
    }
    if let Amount::Known(0) = start {
        return at;
    }
    let start = resolve(start, axis, b);
    b.op(Op::Add, &[start, at])
}

/// Converts the length of a part to an axis.
fn length(builder: Builder, n: Len) -> Axis {
    match n {
        Len::Known(n) => builder.length(n),
        Len::Delayed(n) => Axis::delayed(n),
        checked => checked_length(builder, &[builder.generate(checked, identity(&[Ty::U64]))]),
    }
}

/// Holds the start and end of a part of an axis.
///
/// `None` as end is the end of the axis.
pub type Ends = (Amount, Option<Amount>);

/// Describes an item of a slice, for at most one axis.
///
/// It is the untyped form of [`SliceItem`], for [`slice`](Builder::slice).
#[derive(Clone, Debug)]
pub enum Item {
    /// The elements of a range, in steps of 1 or more.
    Part(Ends, u64),
    /// One element; the axis is removed.
    One(Amount),
    /// A new axis of length 1.
    New,
}

impl Item {
    /// Keeps all elements of an axis.
    pub const ALL: Item = Item::Part((Amount::Known(0), None), 1);
}

/// Makes a new axis of length 1, in a [`slice`](Array::slice).
#[doc(alias("newaxis", "insert_axis", "expand_dims"))]
#[derive(Clone, Copy, Debug)]
pub struct NewAxis;

/// Keeps every n-th element of a range, in a [`slice`](Array::slice).
#[derive(Clone, Debug)]
pub struct Step<R> {
    range: R,
    by: u64,
}

/// Describes ranges that can have a step.
pub trait Strided: Sized {
    /// Keeps every `by`-th element, from the first one on.
    fn step(self, by: u64) -> Step<Self> {
        Step { range: self, by }
    }
}

/// Counts one more axis, at the front.
pub trait Counted: Rank {
    /// Names the rank with one axis more.
    type Next: Counted;
}

macro_rules! counted {
    ($($D:ident $E:ident)*) => {$(
        impl Counted for $D {
            type Next = $E;
        }
    )*};
}

counted!(Ix0 Ix1 Ix1 Ix2 Ix2 Ix3 Ix3 Ix4 Ix4 Ix5 Ix5 Ix6 Ix6 IxDyn IxDyn IxDyn);

/// Describes an item of a slice: a range, an index, or [`NewAxis`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no item of a slice",
    note = "an item is a range such as `1..`, `..-1` or `..`, an index, or `NewAxis`"
)]
pub trait SliceItem {
    /// Names the rank of the source, given that of later items.
    type From<D: Counted>: Counted;
    /// Names the rank of the slice, given that of later items.
    type To<D: Counted>: Counted;
    /// Returns the item.
    #[doc(hidden)]
    fn item(self) -> Item;
}

macro_rules! ranges {
    ($($R:ty [$($N:tt)*]: $r:ident => $ends:expr;)*) => {$(
        impl<$($N)*> SliceItem for $R {
            type From<D: Counted> = D::Next;
            type To<D: Counted> = D::Next;
            fn item(self) -> Item {
                let $r = self;
                Item::Part($ends, 1)
            }
        }

        impl<$($N)*> Strided for $R {}
    )*};
}

ranges! {
    Range<N> [N: IntoLen]: r => (r.start.into_len().0, Some(r.end.into_len().0));
    RangeFrom<N> [N: IntoLen]: r => (r.start.into_len().0, None);
    RangeTo<N> [N: IntoLen]: r => (Amount::Known(0), Some(r.end.into_len().0));
    RangeFull []: _r => (Amount::Known(0), None);
    RangeInclusive<N> [N: IntoLen + Copy]: r => (r.start().into_len().0, after(*r.end()));
    RangeToInclusive<N> [N: IntoLen + Copy]: r => (Amount::Known(0), after(r.end));
}

/// Converts an inclusive end to an exclusive one.
fn after(n: impl IntoLen) -> Option<Amount> {
    match n.into_len().0 {
        Amount::Known(n) => Some(Amount::Known(n.saturating_add(1))),
        // The last element is `-1`.
        Amount::Negative(-1) => None,
        Amount::Negative(n) => Some(Amount::Negative(n + 1)),
        delayed => Some(delayed),
    }
}

impl<R: Strided> Strided for Step<R> {}

impl<R: SliceItem> SliceItem for Step<R> {
    type From<D: Counted> = R::From<D>;
    type To<D: Counted> = R::To<D>;
    fn item(self) -> Item {
        match self.range.item() {
            Item::Part(ends, by) => Item::Part(ends, by.saturating_mul(self.by)),
            other => other,
        }
    }
}

impl SliceItem for NewAxis {
    type From<D: Counted> = D;
    type To<D: Counted> = D::Next;
    fn item(self) -> Item {
        Item::New
    }
}

impl<N: IntoLen> SliceItem for N {
    type From<D: Counted> = D::Next;
    type To<D: Counted> = D;
    fn item(self) -> Item {
        Item::One(self.into_len().0)
    }
}

/// Describes the argument of [`slice`](Array::slice) and [`broadcast`](Array::broadcast).
///
/// It is a tuple of up to 6 [items](SliceItem).
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say a part of an array",
    note = "give a tuple with a range or an index for each axis: `(1.., ..-1)`"
)]
pub trait Slices {
    /// Names the rank of the sliced array.
    type From: Rank;
    /// Names the rank of the slice.
    type To: Rank;
    /// Names the rank of the repeated array: ranges are its axes, and lengths are new ones.
    type Kept: Rank;
    /// Names the rank of the result of a broadcast.
    type All: Rank;
    /// Returns the items.
    #[doc(hidden)]
    fn items(self) -> Vec<Item>;
}

macro_rules! nested {
    ($f:ident) => { Ix0 };
    ($f:ident $A:ident $($B:ident)*) => { $A::$f<nested!($f $($B)*)> };
}

macro_rules! slices {
    ($($D:ident: $($A:ident $k:tt)*;)*) => {$(
        impl<$($A: SliceItem),*> Slices for ($($A,)*) {
            type From = nested!(From $($A)*);
            type To = nested!(To $($A)*);
            // As in a slice, a range is an axis of the array. An index is the length of a new axis.
            type Kept = nested!(To $($A)*);
            type All = $D;
            fn items(self) -> Vec<Item> {
                vec![$(self.$k.item()),*]
            }
        }
    )*};
}

slices! {
    Ix1: A 0;
    Ix2: A 0 B 1;
    Ix3: A 0 B 1 C 2;
    Ix4: A 0 B 1 C 2 E 3;
    Ix5: A 0 B 1 C 2 E 3 F 4;
    Ix6: A 0 B 1 C 2 E 3 F 4 G 5;
}
