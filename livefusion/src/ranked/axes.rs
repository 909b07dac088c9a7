//! Reordering and reshaping: transposes, reshapes, rolls, diagonals, triangles and padding.
//!
//! Each result is an index function and costs only the read where it is used.

use super::join::reordered_join;
use super::make::{
    axes_of, axis_of, built, computed, length, one_of, reading, rearranged, reshaped, shaped,
    traced,
};
use super::scan::reordered_scan;
use crate::array::{Array, Dim, IntoLen, IntoShape, Ix1, Ix2, Multi, extent};
use crate::ast::{Axis, Body, BodyBuilder, Builder, Node, Shape, TermId, flat_index, show_node};
use crate::elt::Elt;
use crate::error::ErrorKind;
use crate::exp::{Field, ToExp, trace, types_of, value};
use crate::over::Along;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Untyped forms. See also [`reshape`](Builder::reshape).
impl Builder {
    /// Flattens the elements to an array of rank 1, row by row.
    ///
    /// Costs nothing.
    pub fn flatten(self, xs: &Arc<Node>) -> Arc<Node> {
        self.reshape(xs, None)
    }

    /// Reverses the order of the axes.
    ///
    /// ```
    /// use livefusion::ast::Builder;
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2, 3], [4, 5, 6]]);
    /// let turned = Builder::named("transpose").transpose(m.node());
    /// assert_eq!(Array::<i64, Ix2>::from_node(turned)?.force()?, [[1, 4], [2, 5], [3, 6]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn transpose(self, xs: &Arc<Node>) -> Arc<Node> {
        let order: Vec<usize> = (0..xs.rank.into()).rev().collect();
        self.permute_axes(xs, &order)
    }

    /// Reorders the axes.
    ///
    /// Axis `k` of the result is axis `order[k]`. The order must contain each axis once.
    pub fn permute_axes(self, xs: &Arc<Node>, order: &[usize]) -> Arc<Node> {
        built(self, &[xs], (&xs.types, xs.rank), || {
            let shape = self.shape(xs);
            axes_of(&shape, order)?;
            if order.len() != shape.rank() {
                return Err(ErrorKind::Malformed {
                    expected: format!("each of {} axes once", shape.rank()),
                    got: format!("{order:?}"),
                });
            }
            let reordered = reordered_scan(self, xs, &shape, order)
                .or_else(|| reordered_join(self, xs, &shape, order));
            let (made, to) = reordered.unwrap_or_else(|| rearranged(self, xs, &shape, order));
            Ok(shaped(self, &made, &to))
        })
    }

    /// Swaps two axes.
    ///
    /// Both must exist.
    pub fn swap_axes(self, xs: &Arc<Node>, a: usize, b: usize) -> Arc<Node> {
        let mut order: Vec<usize> = (0..xs.rank.into()).collect();
        match a.max(b) < order.len() {
            true => order.swap(a, b),
            // The error names the axis that is out of range.
            false => order.push(a.max(b)),
        }
        self.permute_axes(xs, &order)
    }

    /// Reverses the elements along an axis.
    ///
    /// The axis must exist.
    pub fn reverse_along(self, xs: &Arc<Node>, axis: usize) -> Arc<Node> {
        self.moved(xs, axis, |b, i, n| {
            let one = b.lit(Const::u64(1));
            let last = b.op(Op::Sub, &[n, one]);
            b.op(Op::Sub, &[last, i])
        })
    }

    /// Rotates the elements along an axis by `by` places.
    ///
    /// A positive `by` moves elements to higher indices. The axis must exist.
    pub fn roll(self, xs: &Arc<Node>, axis: usize, by: i64) -> Arc<Node> {
        self.moved(xs, axis, |b, i, n| {
            if by == 0 {
                return i;
            }
            // The source lies `by` places before. An empty axis has no elements to read, but its
            // period must not be zero.
            let (one, far) = (b.lit(Const::u64(1)), b.lit(Const::u64(by.unsigned_abs())));
            let period = b.op(Op::Max, &[n, one]);
            let far = b.op(Op::Rem, &[far, period]);
            let far = match by > 0 {
                true => b.op(Op::Sub, &[period, far]),
                false => far,
            };
            let there = b.op(Op::Add, &[i, far]);
            let beyond = b.op(Op::Ge, &[there, period]);
            let back = b.op(Op::Sub, &[there, period]);
            b.op(Op::Select, &[beyond, back, there])
        })
    }

    /// Moves the elements along one axis. `f` maps an index and the length of the axis to the index
    /// to read.
    fn moved(
        self,
        xs: &Arc<Node>,
        axis: usize,
        f: impl FnOnce(&mut BodyBuilder, TermId, TermId) -> TermId,
    ) -> Arc<Node> {
        built(self, &[xs], (&xs.types, xs.rank), || {
            let shape = self.shape(xs);
            axis_of(&shape, axis)?;
            let made = reading(self, xs, &shape, |b, parts| {
                let n = shape.axes()[axis].term(b);
                let mut from = parts.to_vec();
                from[axis] = f(b, parts[axis], n);
                flat_index(b, &from, &shape)
            });
            Ok(shaped(self, &made, &shape))
        })
    }

    /// Adds elements before and after those of each axis.
    ///
    /// `by` has one pair of lengths per axis. `fill`, a body without parameters, gives the new
    /// elements.
    pub fn pad(self, xs: &Arc<Node>, by: &[(Axis, Axis)], fill: &Body) -> Arc<Node> {
        let loc = self.loc();
        built(self, &[xs], (&xs.types, xs.rank), || {
            one_of(&xs.types, fill)?;
            let shape = self.shape(xs);
            let elements = self.flatten(xs);
            if by.len() != shape.rank() {
                return Err(another_number(&shape));
            }
            let sides = by.iter().zip(shape.axes());
            let to = sides.map(|((start, end), axis)| sum(self, &[start, axis, end]));
            let to = Shape::new(to.collect::<Result<Vec<_>, _>>()?);
            let made = traced(self, &to, |parts| {
                let n = |axis: &Axis| trace::scalar(axis.node(), 0, Ty::U64, loc);
                let mut all = None;
                let mut at = None;
                for ((part, (start, _)), axis) in parts.iter().zip(by).zip(shape.axes()) {
                    // Before the array, the subtraction wraps to a number that is not below the
                    // length either.
                    let there = trace::op(Op::Sub, &[*part, n(start)], Ty::U64, loc);
                    let inside = trace::op(Op::Lt, &[there, n(axis)], Ty::Bool, loc);
                    all = Some(match all {
                        None => inside,
                        Some(all) => trace::op(Op::And, &[all, inside], Ty::Bool, loc),
                    });
                    at = Some(match at {
                        None => there,
                        Some(outer) => trace::flat([outer, there, n(axis)], false, loc),
                    });
                }
                let fill = Field::apply(fill, &[], loc);
                let (Some(inside), Some(at)) = (all, at) else {
                    return fill;
                };
                let here = Field::at_unchecked(&elements, at, loc);
                inside.cond(&here, &fill, loc)
            });
            Ok(shaped(self, &made, &to))
        })
    }

    /// Returns the diagonal of a matrix, as long as the shorter axis.
    pub fn diag(self, xs: &Arc<Node>) -> Arc<Node> {
        built(self, &[xs], (&xs.types, 1), || {
            let shape = matrix(self, xs)?;
            let [rows, columns] = [&shape.axes()[0], &shape.axes()[1]];
            let n = match (rows.known(), columns.known()) {
                (Some(a), Some(b)) => self.length(a.min(b)),
                _ => length(self, |b| {
                    let both = [rows.term(b), columns.term(b)];
                    b.op(Op::Min, &both)
                }),
            };
            Ok(reading(self, xs, &Shape::new([n]), |b, parts| {
                flat_index(b, &[parts[0], parts[0]], &shape)
            }))
        })
    }

    /// Keeps the elements of a matrix on and below a diagonal.
    ///
    /// `other`, a body without parameters, gives the elements above it. `k` shifts the diagonal up,
    /// or down if it is negative.
    pub fn triangle_lower(self, xs: &Arc<Node>, k: i64, other: &Body) -> Arc<Node> {
        self.triangle(xs, Op::Le, k, other)
    }

    /// Keeps the elements of a matrix on and above a diagonal.
    ///
    /// Otherwise as [`triangle_lower`](Builder::triangle_lower).
    pub fn triangle_upper(self, xs: &Arc<Node>, k: i64, other: &Body) -> Arc<Node> {
        self.triangle(xs, Op::Ge, k, other)
    }

    fn triangle(self, xs: &Arc<Node>, op: Op, k: i64, other: &Body) -> Arc<Node> {
        let loc = self.loc();
        built(self, &[xs], (&xs.types, 2), || {
            let shape = matrix(self, xs)?;
            one_of(&xs.types, other)?;
            let elements = self.flatten(xs);
            let tags = computed(self, &shape, |b, parts| {
                let [i, j] = [0, 1].map(|p| b.cast(parts[p], Ty::I64));
                // The difference of two indices does not wrap. The index of a far diagonal could.
                let right = b.op(Op::Sub, &[j, i]);
                let k = b.lit(Const::new(Ty::I64, k as u64));
                vec![b.op(op, &[right, k])]
            });
            let params: Vec<Ty> = [Ty::Bool].iter().chain(&xs.types).copied().collect();
            let body = trace::trace(&params, |params| {
                let other = Field::apply(other, &[], loc);
                params[0].cond(&params[1..], &other, loc)
            });
            let made = self.map(&[tags, elements], body);
            Ok(shaped(self, &made, &shape))
        })
    }
}

/// The shape of a matrix.
fn matrix(builder: Builder, xs: &Arc<Node>) -> Result<Shape, ErrorKind> {
    match xs.rank {
        2 => Ok(builder.shape(xs)),
        _ => Err(ErrorKind::Malformed {
            expected: "a matrix".to_string(),
            got: show_node(xs),
        }),
    }
}

/// The error that the number of pairs is not that of the axes.
fn another_number(shape: &Shape) -> ErrorKind {
    ErrorKind::Malformed {
        expected: format!("a pair for each of {} axes", shape.rank()),
        got: "another number of pairs".to_string(),
    }
}

impl<T: Elt, D: Dim> Array<T, D> {
    /// Gives the same elements another shape, row by row.
    ///
    /// Costs nothing, and fuses with every producer and consumer.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = iota(6).reshape((2, 3));
    /// assert_eq!(m.force()?, [[0, 1, 2], [3, 4, 5]]);
    /// assert_eq!(m.reshape((3, 2)).along(1).sum().force()?, [1, 5, 9]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if the shape has another number of elements, or a length is negative.
    #[doc(alias = "to_shape")]
    #[track_caller]
    pub fn reshape<S: IntoShape>(&self, shape: S) -> Array<T, S::Rank> {
        let builder = Builder::named("reshape");
        reshaped(builder, self.node(), shape.into_shape(builder))
    }
}

impl<T: Elt, D: Multi> Array<T, D> {
    /// Flattens the elements, row by row.
    ///
    /// Costs nothing, and fuses with every producer and consumer.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(m.flatten().filter(|x| x.gt(2)).force()?, [3, 4]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "ravel")]
    #[track_caller]
    pub fn flatten(&self) -> Array<T, Ix1> {
        Array::wrap(Builder::named("flatten").flatten(self.node()))
    }

    /// Reverses the order of the axes, so rows of a matrix become columns.
    ///
    /// Fuses with its consumers. The source is in memory, or recomputed at each read.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2, 3], [4, 5, 6]]);
    /// assert_eq!(m.transpose().force()?, [[1, 4], [2, 5], [3, 6]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("T", "t"))]
    #[track_caller]
    pub fn transpose(&self) -> Array<T, D> {
        Array::wrap(Builder::named("transpose").transpose(self.node()))
    }

    /// Reorders the axes.
    ///
    /// Axis `k` of the result is axis `order[k]` of this array.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let a = generate((2, 3, 4), |(i, j, k)| 100 * i + 10 * j + k);
    /// let b = a.permute_axes([2, 0, 1]).force()?;
    /// assert_eq!((b.shape(), b[(3, 1, 2)]), ([4, 2, 3], 123));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if `order` does not contain each axis once.
    #[doc(alias("moveaxis", "permuted_axes"))]
    #[track_caller]
    pub fn permute_axes<O: AsRef<[usize]>>(&self, order: O) -> Array<T, D> {
        Array::wrap(Builder::named("permute_axes").permute_axes(self.node(), order.as_ref()))
    }

    /// Swaps two axes.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let a = generate((2, 1, 2), |(i, _, k)| 10 * i + k);
    /// assert_eq!(a.swap_axes(0, 2).force()?, [[[0, 10]], [[1, 11]]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[doc(alias = "swapaxes")]
    #[track_caller]
    pub fn swap_axes(&self, a: usize, b: usize) -> Array<T, D> {
        Array::wrap(Builder::named("swap_axes").swap_axes(self.node(), a, b))
    }
}

impl<T: Elt, D: Dim> Array<T, D> {
    /// Rotates the elements along an axis by `by` places.
    ///
    /// A positive `by` moves elements to higher indices. Elements that leave one end come in at the
    /// other.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2, 3], [4, 5, 6]]);
    /// assert_eq!(m.roll(1, 1).force()?, [[3, 1, 2], [6, 4, 5]]);
    /// assert_eq!(m.roll(0, -1).force()?, [[4, 5, 6], [1, 2, 3]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[track_caller]
    pub fn roll(&self, axis: usize, by: i64) -> Array<T, D> {
        Array::wrap(Builder::named("roll").roll(self.node(), axis, by))
    }

    /// Adds elements before and after those of each axis.
    ///
    /// Each pair `(before, after)` gives the numbers of new elements of one axis. All are `fill`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(m.pad([(1, 0), (0, 1)], 9).force()?, [[9, 9, 9], [1, 2, 9], [3, 4, 9]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are not as many pairs as axes, or a number is negative.
    #[track_caller]
    pub fn pad<N: IntoLen>(
        &self,
        by: impl IntoIterator<Item = (N, N)>,
        fill: impl ToExp<T>,
    ) -> Array<T, D> {
        let builder = Builder::named("pad");
        let mut by = by.into_iter();
        let node = built(builder, &[self.node()], (&types_of::<T>(), D::RANK), || {
            let mut pairs = Vec::new();
            for (start, end) in by.by_ref().take(self.rank()) {
                pairs.push((extent(builder, start)?, extent(builder, end)?));
            }
            if by.next().is_some() {
                return Err(another_number(&builder.shape(self.node())));
            }
            let fill = value::<T>(|| fill.to_exp());
            Ok(builder.pad(self.node(), &pairs, &fill))
        });
        Array::wrap(node)
    }
}

/// Adds lengths.
pub(super) fn sum(builder: Builder, axes: &[&Axis]) -> Result<Axis, ErrorKind> {
    let known: Option<Vec<u64>> = axes.iter().map(|a| a.known()).collect();
    if let Some(known) = known {
        let all = known.iter().try_fold(0u64, |all, n| all.checked_add(*n));
        let too_many = || ErrorKind::Malformed {
            expected: "a length that a u64 holds".to_string(),
            got: format!("the sum of {known:?}"),
        };
        return all.map(|n| builder.length(n)).ok_or_else(too_many);
    }
    Ok(length(builder, |b| {
        let mut all = b.lit(Const::u64(0));
        for axis in axes {
            let n = axis.term(b);
            all = b.op(Op::Add, &[all, n]);
        }
        all
    }))
}

impl<T: Elt> Array<T, Ix2> {
    /// Returns the elements of the diagonal, as many as the shorter axis has.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2, 3], [4, 5, 6]]);
    /// assert_eq!(m.diag().force()?, [1, 5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "diagonal")]
    #[track_caller]
    pub fn diag(&self) -> Array<T> {
        Array::wrap(Builder::named("diag").diag(self.node()))
    }

    /// Keeps the elements on and below a diagonal.
    ///
    /// Elements above it become `other`. `k` shifts the diagonal up, or down if it is negative.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(m.triangle_lower(0, 0).force()?, [[1, 0], [3, 4]]);
    /// assert_eq!(m.triangle_upper(1, 0).force()?, [[0, 2], [0, 0]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "tril")]
    #[track_caller]
    pub fn triangle_lower(&self, k: i64, other: impl ToExp<T>) -> Array<T, Ix2> {
        let (builder, other) = (
            Builder::named("triangle_lower"),
            value::<T>(|| other.to_exp()),
        );
        Array::wrap(builder.triangle_lower(self.node(), k, &other))
    }

    /// Keeps the elements on and above a diagonal.
    ///
    /// Elements below it become `other`. `k` shifts the diagonal up, or down if it is negative.
    #[doc(alias = "triu")]
    #[track_caller]
    pub fn triangle_upper(&self, k: i64, other: impl ToExp<T>) -> Array<T, Ix2> {
        let (builder, other) = (
            Builder::named("triangle_upper"),
            value::<T>(|| other.to_exp()),
        );
        Array::wrap(builder.triangle_upper(self.node(), k, &other))
    }
}

impl<T: Elt, D: Dim> Along<T, D> {
    /// Reverses the order of the elements along the axis.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(m.along(1).reverse().force()?, [[2, 1], [4, 3]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[doc(alias("flip", "fliplr", "flipud", "reverse_axis"))]
    #[track_caller]
    pub fn reverse(&self) -> Array<T, D> {
        Array::wrap(Builder::named("reverse").reverse_along(self.array.node(), self.axes))
    }
}
