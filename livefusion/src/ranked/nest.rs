//! Nested programs on axes: `map_rows`, and `map` along an axis.

use super::make::{axes_of, built, chosen, others, reading, rearranged, shaped};
use crate::array::{Array, Multi, Rank};
use crate::ast::{AsLong, Axis, Builder, Kind, Len, Node, Shape};
use crate::elt::Elt;
use crate::error::ErrorKind;
use crate::exp::types_of;
use crate::nested::{Lift, on_rows};
use crate::over::{Along, Axes};
use crate::segmented::Segments;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

impl Builder {
    /// Applies `f` to each row along the last axis.
    ///
    /// `f` gets a row as an array of rank 1, and runs once. If it returns a delayed scalar, the
    /// result is an array without that axis. If it returns an array, its axes replace the last one,
    /// and their lengths must be known to be equal for all rows.
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
        self.map_along(xs, &[usize::from(xs.rank).saturating_sub(1)], f)
    }

    /// Applies `f` to the elements along axes, for each other index.
    ///
    /// `f` gets them as an array with these axes, in the given order. The axes must exist and
    /// differ. If a result of `f` has as many axes as that array, they take the places of the
    /// axes. Otherwise they are in the place of the first one. Their lengths must be known to be
    /// equal for all indices.
    pub fn map_along(
        self,
        xs: &Arc<Node>,
        axes: &[usize],
        f: impl FnOnce(&Arc<Node>) -> Vec<Arc<Node>>,
    ) -> Vec<Arc<Node>> {
        let of = self.shape(xs);
        let wrong = match axes {
            [] => Some(ErrorKind::Malformed {
                expected: "at least one axis".to_string(),
                got: "none".to_string(),
            }),
            _ => axes_of(&of, axes).err(),
        };
        let mapped = Mapped::new(&of, axes);
        let data = built(self, &[xs], (&xs.types, 1), || match wrong {
            Some(kind) => Err(kind),
            None if mapped.is_in_order() => Ok(self.flatten(xs)),
            None => Ok(rearranged(self, xs, &of, &mapped.order()).0),
        });
        // An array without other axes is a single row.
        let mut rows = mapped.around.axes().to_vec();
        if rows.is_empty() {
            rows.push(self.length(1));
        }
        rows.push(self.size(mapped.inner.axes()));
        let lengths = match self.descriptors(&Shape::new(rows)).pop() {
            Some(lengths) if data.error.is_none() => lengths,
            _ => self.mistaken(&data, &[Ty::U64], 1),
        };
        let (results, mut lift) = on_rows(self, (lengths, data), |row| {
            f(&shaped(self, row, &mapped.inner))
        });
        let all = results.iter();
        all.map(|result| mapped.of_all(self, &mut lift, result))
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
    /// | a matrix, `Array<U, Ix2>` | an array of one more rank; the matrix has the last two axes |
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
    pub fn map_rows<R: PerRow>(&self, f: impl FnOnce(Array<T>) -> R) -> R::Out<D::Smaller> {
        let builder = Builder::named("map_rows");
        let all = builder.map_rows(self.node(), |row| nodes(f(Array::wrap(row.clone()))));
        R::of_all::<D::Smaller>(&mut all.into_iter(), builder)
    }
}

impl<T: Elt, D: Multi, A: Axes<D>> Along<T, D, A> {
    /// Maps the elements along the axes, as an array, for each other index.
    ///
    /// Along the last axis it is [`map_rows`](Array::map_rows). Along another axis, elements are
    /// read across rows. Along several axes, the closure gets an array with as many axes, in the
    /// given order.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 5], [7, 2]]);
    /// assert_eq!(m.along(0).map(|column| column.reverse()).force()?, [[7, 2], [1, 5]]);
    /// assert_eq!(m.along(0).map(|column| column.max()).force()?, [7, 5]);
    /// let cube = generate((2, 2, 3), |(i, j, k)| 100 * i + 10 * j + k);
    /// let best = cube.along([1, 2]).map(|plane| plane.along(1).sum().max());
    /// assert_eq!(best.force()?, [33, 333]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// A result with as many axes as the closure's array has them in the same places. Otherwise its
    /// axes are in the place of the first one.
    ///
    /// # Errors
    /// When forced: if there is no such axis, or one occurs twice. Otherwise as
    /// [`map_rows`](Array::map_rows).
    #[doc(alias("apply_along_axis", "map_axis"))]
    #[track_caller]
    pub fn map<R: PerRow>(&self, f: impl FnOnce(Array<T, A::Named>) -> R) -> R::Out<A::Rest> {
        let builder = Builder::named("map");
        let row = |row: &Arc<Node>| nodes(f(Array::wrap(row.clone())));
        let all = builder.map_along(self.array.node(), self.axes.axes(), row);
        R::of_all::<A::Rest>(&mut all.into_iter(), builder)
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

/// The axes that a closure gets, and the others.
struct Mapped {
    /// The mapped axes, and their lengths.
    axes: Vec<usize>,
    inner: Shape,
    /// The other axes, and their lengths.
    others: Vec<usize>,
    around: Shape,
}

impl Mapped {
    fn new(of: &Shape, axes: &[usize]) -> Mapped {
        let (axes, others) = (axes.to_vec(), others(of, axes));
        Mapped {
            inner: chosen(of, axes.iter().copied()),
            around: chosen(of, others.iter().copied()),
            axes,
            others,
        }
    }

    /// Returns the axis of the array for each axis of all inner arrays together.
    fn order(&self) -> Vec<usize> {
        [&self.others[..], &self.axes].concat()
    }

    fn is_in_order(&self) -> bool {
        self.order().iter().zip(0..).all(|(axis, k)| *axis == k)
    }

    /// Converts a result of the closure to the result for all inner arrays.
    fn of_all(&self, builder: Builder, lift: &mut Lift, result: &Arc<Node>) -> Arc<Node> {
        let rank = self.around.rank() + usize::from(result.rank);
        if result.rank == 0 {
            let each = lift.each_of(builder, result);
            let like = (&result.types[..], rank as u8);
            return built(builder, &[&each], like, || Ok(self.each(builder, &each)));
        }
        let Segments { lengths, data } = lift.segments(builder, &builder.flatten(result));
        let like = (&result.types[..], rank as u8);
        built(builder, &[&data, &lengths], like, || {
            let shape = builder.shape(result);
            let axes = shape.axes().iter().map(|axis| {
                let all = lift.each_of(builder, axis.node());
                Axis::of_rows(&all).ok_or_else(|| varying(result))
            });
            let axes: Vec<Axis> = axes.collect::<Result<_, _>>()?;
            Ok(self.placed(builder, &data, axes))
        })
    }

    /// Gives one element per inner array the shape around them. A single one gives a delayed
    /// scalar.
    fn each(&self, builder: Builder, elements: &Arc<Node>) -> Arc<Node> {
        match self.around.rank() {
            0 => reading(builder, elements, &self.around, |b, _| b.lit(Const::u64(0))),
            _ => shaped(builder, elements, &self.around),
        }
    }

    /// Gives all results together their shape, and moves the axes of a result to their places.
    fn placed(&self, builder: Builder, elements: &Arc<Node>, axes: Vec<Axis>) -> Arc<Node> {
        let (outer, rank) = (self.others.len(), self.others.len() + axes.len());
        let from = Shape::new(self.around.axes().iter().cloned().chain(axes));
        let to: Vec<usize> = match rank == outer + self.axes.len() {
            // The inverse of the order.
            true => {
                let mut to = vec![0; rank];
                (0..).zip(self.order()).for_each(|(k, axis)| to[axis] = k);
                to
            }
            false => {
                let first = self.axes.first().copied().unwrap_or_default();
                let before = self.others.iter().filter(|axis| **axis < first).count();
                let inner = outer..rank;
                (0..before).chain(inner).chain(before..outer).collect()
            }
        };
        if to.iter().zip(0..).all(|(axis, k)| *axis == k) {
            return shaped(builder, elements, &from);
        }
        let (read, to) = rearranged(builder, elements, &from, &to);
        shaped(builder, &read, &to)
    }
}

/// Returns the error for inner results whose lengths may differ.
fn varying(result: &Arc<Node>) -> ErrorKind {
    ErrorKind::Malformed {
        expected: "rows that are known to be of one length".to_string(),
        got: format!(
            "rows whose lengths vary, from `{}`; of those `.to_segmented().map_segments(..)` makes segments, and of \
             the first k of all rows `.gather(&iota(k))` a row",
            lengthened(result).name
        ),
    }
}

/// Describes the result of a closure on a row.
///
/// It is a delayed scalar, an array of any rank, or a tuple of up to 6 of these.
#[diagnostic::on_unimplemented(
    message = "a closure on a row cannot give `{Self}`",
    note = "give an `Array`, a delayed scalar, or a tuple of up to 6 of these"
)]
pub trait PerRow {
    /// Names the result for all rows, where the other axes have rank `D`.
    type Out<D: Rank>;
    /// Appends the nodes.
    #[doc(hidden)]
    fn nodes(&self, out: &mut Vec<Arc<Node>>);
    /// Converts the results for all rows, in the same order.
    #[doc(hidden)]
    fn of_all<D: Rank>(all: &mut dyn Iterator<Item = Arc<Node>>, builder: Builder) -> Self::Out<D>;
}

impl<T: Elt, E: Rank> PerRow for Array<T, E> {
    type Out<D: Rank> = Array<T, E::With<D>>;
    fn nodes(&self, out: &mut Vec<Arc<Node>>) {
        out.push(self.node().clone());
    }
    fn of_all<D: Rank>(all: &mut dyn Iterator<Item = Arc<Node>>, builder: Builder) -> Self::Out<D> {
        let none = || builder.fault(&types_of::<T>(), E::With::<D>::RANK, ErrorKind::Empty);
        Array::checked(builder, all.next().unwrap_or_else(none))
    }
}

macro_rules! tuples {
    ($($($P:ident $i:tt),*;)*) => {$(
        impl<$($P: PerRow),*> PerRow for ($($P,)*) {
            type Out<D: Rank> = ($($P::Out<D>,)*);
            fn nodes(&self, out: &mut Vec<Arc<Node>>) {
                $(self.$i.nodes(out);)*
            }
            fn of_all<D: Rank>(
                all: &mut dyn Iterator<Item = Arc<Node>>,
                builder: Builder,
            ) -> Self::Out<D> {
                ($($P::of_all::<D>(all, builder),)*)
            }
        }
    )*};
}

crate::tuples::up_to_six!(tuples);
