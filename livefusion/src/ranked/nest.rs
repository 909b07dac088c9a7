//! Nested programs on axes: `map_rows`, and `map` along an axis.

use super::make::{axis_of, built, chosen, others, reading, rearranged, shaped};
use crate::array::{Array, Ix0, Multi, Rank};
use crate::ast::{AsLong, Axis, Builder, Kind, Len, Node, Shape, show_node};
use crate::elt::Elt;
use crate::error::ErrorKind;
use crate::exp::types_of;
use crate::nested::{Lift, on_rows};
use crate::over::Along;
use crate::segmented::Segments;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

impl Builder {
    /// Applies `f` to each row along the last axis.
    ///
    /// `f` gets a row as an array of rank 1, and runs once. If it returns a delayed scalar, the
    /// result is an array without that axis. If it returns an array, the result has the same rank,
    /// and its rows must be known to have one length. Another rank is a mistake.
    ///
    /// ```
    /// use livefusion::ast::Builder;
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 5], [7, 2]]);
    /// let builder = Builder::named("map_rows");
    /// let lengths = builder.map_rows(m.node(), |row| vec![builder.len(row)]).pop().unwrap();
    /// assert_eq!(Array::<u64>::from_node(lengths)?.force()?, [2, 2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn map_rows(
        self,
        xs: &Arc<Node>,
        f: impl FnOnce(&Arc<Node>) -> Vec<Arc<Node>>,
    ) -> Vec<Arc<Node>> {
        self.map_along(xs, usize::from(xs.rank).saturating_sub(1), f)
    }

    /// Applies `f` to the elements along an axis, for each other index.
    ///
    /// The axis must exist. Otherwise as [`map_rows`](Builder::map_rows).
    pub fn map_along(
        self,
        xs: &Arc<Node>,
        axis: usize,
        f: impl FnOnce(&Arc<Node>) -> Vec<Arc<Node>>,
    ) -> Vec<Arc<Node>> {
        let of = self.shape(xs);
        let last = of.rank().saturating_sub(1);
        let (axis, wrong) = match axis_of(&of, axis) {
            Ok(axis) => (axis, None),
            Err(kind) => (last, Some(kind)),
        };
        let mut order = others(&of, &[axis]);
        order.push(axis);
        let to = chosen(&of, order.iter().copied());
        let data = built(self, &[xs], (&xs.types, 1), || match wrong {
            Some(kind) => Err(kind),
            None if axis == last => Ok(self.reshape(xs, None)),
            None => Ok(rearranged(self, xs, &of, &order).0),
        });
        // An array of one axis is a single row.
        let one = (to.rank() == 1).then(|| self.length(1));
        let rows = Shape::new(one.into_iter().chain(to.axes().iter().cloned()));
        let lengths = match self.descriptors(&rows).pop() {
            Some(lengths) if data.error.is_none() => lengths,
            _ => self.mistaken(&data, &[Ty::U64], 1),
        };
        let (results, mut lift) = on_rows(self, (lengths, data), f);
        let rows = Mapped { shape: to, order };
        let all = results.iter();
        all.map(|result| rows.of_all(self, &mut lift, result))
            .collect()
    }
}

impl<T: Elt, D: Multi> Array<T, D> {
    /// Applies `f` to each row along the last axis.
    ///
    /// `f` gets a row as an array, and runs once. It can use all combinators, on the row, on arrays
    /// and delayed scalars from outside, and on elements of enclosing rows.
    ///
    /// | result of the closure | result of `map_rows` |
    /// | --- | --- |
    /// | a delayed scalar, `Array<U, Ix0>` | an array without that axis |
    /// | an array, `Array<U>` | an array of the same rank; the last axis is as long as the array |
    /// | a tuple of up to 6 of these | a tuple; common parts are computed once |
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1.0f64, 3.0], [2.0, 2.0]]);
    /// let shares = m.map_rows(|row| {
    ///     let total = row.sum();
    ///     row.map(|x| x / &total)
    /// });
    /// assert_eq!(shares.force()?, [[0.25, 0.75], [0.5, 0.5]]);
    /// let (ranges, running) = m.map_rows(|row| (row.max() - row.min(), row.scan(0.0, |a, b| a + b)));
    /// assert_eq!((ranges.to_vec()?, running.force()?.into_vec()?), (vec![2.0, 0.0], vec![1.0, 4.0, 2.0, 4.0]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// It is flattened over all rows, as [`map_segments`](crate::Segmented::map_segments) is, and
    /// fuses in the same way: the loop over rows contains loops over elements. If rows of the
    /// result can have different lengths, as after a filter, use
    /// [`to_segmented`](Array::to_segmented) first. If their length depends only on that of the
    /// rows, as for `take`, `drop`, `slice`, `append` and `top_k`, all have one length.
    ///
    /// A loop over arrays in the closure steps all rows together. If no step changes the length of
    /// its array, or all rows change alike, the rows of the result have one length.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// let scanned = m.map_rows(|row| iterate_n(2, &row, |row| row.scan(0, |a, b| a + b)));
    /// assert_eq!(scanned.force()?, [[1, 4], [3, 10]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Source.* Second-order combinators that nest, on arrays whose rows have one length: "A T2
    /// Graph-Reduction Approach To Fusion", section 2.
    ///
    /// # Errors
    /// When forced: if rows of a result are not known to have one length. Otherwise as
    /// [`map_segments`](crate::Segmented::map_segments).
    #[doc(alias = "apply_along_axis")]
    #[track_caller]
    pub fn map_rows<R: PerRow>(&self, f: impl FnOnce(Array<T>) -> R) -> R::Out<D> {
        let builder = Builder::named("map_rows");
        let all = builder.map_rows(self.node(), |row| nodes(f(Array::wrap(row.clone()))));
        R::of_all::<D>(&mut all.into_iter(), builder)
    }
}

impl<T: Elt, D: Multi> Along<T, D> {
    /// Maps the elements along the axis, as a vector, for each other index.
    ///
    /// Along the last axis it is [`map_rows`](Array::map_rows). Along another axis, elements are
    /// read across rows.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 5], [7, 2]]);
    /// assert_eq!(m.along(0).map(|column| column.reverse()).force()?, [[7, 2], [1, 5]]);
    /// assert_eq!(m.along(0).map(|column| column.max()).force()?, [7, 5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis. Otherwise as [`map_rows`](Array::map_rows).
    #[doc(alias("apply_along_axis", "map_axis"))]
    #[track_caller]
    pub fn map<R: PerRow>(&self, f: impl FnOnce(Array<T>) -> R) -> R::Out<D> {
        let builder = Builder::named("map");
        let row = |row: &Arc<Node>| nodes(f(Array::wrap(row.clone())));
        let all = builder.map_along(self.array.node(), self.axes, row);
        R::of_all::<D>(&mut all.into_iter(), builder)
    }
}

/// Returns the nodes in the result of a closure on a row.
fn nodes(results: impl PerRow) -> Vec<Arc<Node>> {
    let mut nodes = Vec::new();
    results.nodes(&mut nodes);
    nodes
}

/// Returns the array that determined the length of a result. Maps, scans and reads of each element
/// keep a length.
fn lengthened(result: &Arc<Node>) -> &Arc<Node> {
    let mut at = result;
    loop {
        let rank_1 = at.inputs.iter().find(|n| n.rank == 1);
        at = match (&at.kind, rank_1) {
            (kind, Some(input)) if kind.facts().length == AsLong::Inputs => input,
            (Kind::Generate(Len::Delayed(n), _), _) => match (&n.kind, n.inputs.first()) {
                (Kind::Len, Some(of)) => of,
                _ => return at,
            },
            _ => return at,
        };
    }
}

/// The rows for a closure.
struct Mapped {
    /// The shape with the rows along the last axis.
    shape: Shape,
    /// The axis of the array for each axis of that shape.
    order: Vec<usize>,
}

impl Mapped {
    /// Converts a result of the closure to the result for all rows.
    fn of_all(&self, builder: Builder, lift: &mut Lift, result: &Arc<Node>) -> Arc<Node> {
        let rank = self.order.len() as u8;
        match result.rank {
            0 => {
                let each = lift.each_of(builder, result);
                let like = (&result.types[..], rank.saturating_sub(1));
                built(builder, &[&each], like, || Ok(self.each(builder, &each)))
            }
            1 => {
                let Segments { lengths, data } = lift.segments(builder, result);
                let like = (&result.types[..], rank);
                built(builder, &[&data, &lengths], like, || {
                    let length = Axis::of_rows(&lengths).ok_or_else(|| ErrorKind::Malformed {
                        expected: "rows that are known to be of one length".to_string(),
                        got: format!(
                            "rows whose lengths vary, from `{}`; of those `.to_segmented().map_segments(..)` makes \
                             segments, and of the first k of all rows `.gather(&iota(k))` a row",
                            lengthened(result).name
                        ),
                    })?;
                    Ok(self.rows(builder, &data, length))
                })
            }
            _ => built(builder, &[result], (&result.types, rank), || {
                Err(ErrorKind::Malformed {
                    expected: "a delayed scalar or an array of rank 1".to_string(),
                    got: show_node(result),
                })
            }),
        }
    }

    /// Returns the axes around the rows.
    fn around(&self) -> Vec<Axis> {
        let mut axes = self.shape.axes().to_vec();
        axes.pop();
        axes
    }

    /// Gives one element per row the shape around the rows. A single row gives a delayed scalar.
    fn each(&self, builder: Builder, elements: &Arc<Node>) -> Arc<Node> {
        let around = Shape::new(self.around());
        match around.rank() {
            0 => reading(builder, elements, &around, |b, _| b.lit(Const::u64(0))),
            _ => shaped(builder, elements, &around),
        }
    }

    /// Moves all rows back to their original axes.
    fn rows(&self, builder: Builder, elements: &Arc<Node>, length: Axis) -> Arc<Node> {
        let mut axes = self.around();
        axes.push(length);
        let from = Shape::new(axes);
        if self.order.iter().zip(0..).all(|(axis, k)| *axis == k) {
            return shaped(builder, elements, &from);
        }
        // Invert the order of the axes.
        let mut back = vec![0; self.order.len()];
        (0..).zip(&self.order).for_each(|(k, axis)| back[*axis] = k);
        let (read, to) = rearranged(builder, elements, &from, &back);
        shaped(builder, &read, &to)
    }
}

/// Describes the result of a closure on a row.
///
/// It is a delayed scalar, an array, or a tuple of up to 6 of these.
#[diagnostic::on_unimplemented(
    message = "a closure on a row cannot give `{Self}`",
    note = "give an `Array`, a delayed scalar, or a tuple of up to 6 of these"
)]
pub trait PerRow {
    /// Names the result for all rows of an array of rank `D`.
    type Out<D: Multi>;
    /// Appends the nodes.
    #[doc(hidden)]
    fn nodes(&self, out: &mut Vec<Arc<Node>>);
    /// Converts the results for all rows, in the same order.
    #[doc(hidden)]
    fn of_all<D: Multi>(all: &mut dyn Iterator<Item = Arc<Node>>, builder: Builder)
    -> Self::Out<D>;
}

impl<T: Elt> PerRow for Array<T, Ix0> {
    type Out<D: Multi> = Array<T, D::Smaller>;
    fn nodes(&self, out: &mut Vec<Arc<Node>>) {
        out.push(self.node().clone());
    }
    fn of_all<D: Multi>(
        all: &mut dyn Iterator<Item = Arc<Node>>,
        builder: Builder,
    ) -> Self::Out<D> {
        next(all, builder)
    }
}

impl<T: Elt> PerRow for Array<T> {
    type Out<D: Multi> = Array<T, D>;
    fn nodes(&self, out: &mut Vec<Arc<Node>>) {
        out.push(self.node().clone());
    }
    fn of_all<D: Multi>(all: &mut dyn Iterator<Item = Arc<Node>>, builder: Builder) -> Array<T, D> {
        next(all, builder)
    }
}

/// Returns the next result, which exists.
fn next<T: Elt, D: Rank>(
    all: &mut dyn Iterator<Item = Arc<Node>>,
    builder: Builder,
) -> Array<T, D> {
    let none = || builder.fault(&types_of::<T>(), D::RANK, ErrorKind::Empty);
    Array::checked(builder, all.next().unwrap_or_else(none))
}

macro_rules! tuples {
    ($($($P:ident $i:tt),*;)*) => {$(
        impl<$($P: PerRow),*> PerRow for ($($P,)*) {
            type Out<D: Multi> = ($($P::Out<D>,)*);
            fn nodes(&self, out: &mut Vec<Arc<Node>>) {
                $(self.$i.nodes(out);)*
            }
            fn of_all<D: Multi>(
                all: &mut dyn Iterator<Item = Arc<Node>>,
                builder: Builder,
            ) -> Self::Out<D> {
                ($($P::of_all::<D>(all, builder),)*)
            }
        }
    )*};
}

crate::tuples::up_to_six!(tuples);
