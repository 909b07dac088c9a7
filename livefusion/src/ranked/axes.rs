//! The same elements, elsewhere: `reshape`, `flatten`, `transpose`, `permute_axes`, `swap_axes`, `reverse_axis`, `roll`,
//! `diag`, `triangle_lower`, `triangle_upper`, `pad`. Each is a function of the index: it costs the read where it is used.

use super::make::{
    axes_of, axis_of, built, computed, element_at, flat, length, reading, rearranged, reshaped,
    shape, shaped, traced,
};
use crate::array::{Array, Dim, IntoLen, IntoShape, Ix1, Ix2, Multi, extent};
use crate::ast::{Axis, BodyBuilder, Builder, Shape, TermId, flat_index};
use crate::elt::Elt;
use crate::error::ErrorKind;
use crate::exp::{ToExp, exp_of, fields_of, trace};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl<T: Elt, D: Dim> Array<T, D> {
    /// The same elements, row by row, under another shape. Costs nothing, and fuses with everything.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = iota(6).reshape((2, 3));
    /// assert_eq!(m.force()?, [[0, 1, 2], [3, 4, 5]]);
    /// assert_eq!(m.reshape((3, 2)).sum_axis(1).force()?, [1, 5, 9]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if the shape has another number of elements, or a length is negative.
    #[track_caller]
    pub fn reshape<S: IntoShape>(&self, shape: S) -> Array<T, S::Rank> {
        let builder = Builder::named("reshape");
        reshaped(builder, self.node(), shape.into_shape(builder))
    }
}

impl<T: Elt, D: Multi> Array<T, D> {
    /// All elements, row by row. Costs nothing, and fuses with everything.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(m.flatten().filter(|x| x.gt(2)).force()?, [3, 4]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn flatten(&self) -> Array<T, Ix1> {
        Array::wrap(flat(Builder::named("flatten"), self.node()))
    }

    /// The axes in reverse order: of a matrix, rows become columns. Fuses with what uses it; what is transposed is in memory,
    /// or computed where it is read.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2, 3], [4, 5, 6]]);
    /// assert_eq!(m.transpose().force()?, [[1, 4], [2, 5], [3, 6]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn transpose(&self) -> Array<T, D> {
        let builder = Builder::named("transpose");
        let order: Vec<usize> = (0..self.rank()).rev().collect();
        self.permuted(builder, &order)
    }

    /// The axes in another order: axis `k` of the result is axis `order[k]` of this array.
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
    /// When forced: if `order` does not name each axis once.
    #[track_caller]
    pub fn permute_axes<O: AsRef<[usize]>>(&self, order: O) -> Array<T, D> {
        self.permuted(Builder::named("permute_axes"), order.as_ref())
    }

    /// Two axes in each other's place.
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
    #[track_caller]
    pub fn swap_axes(&self, a: usize, b: usize) -> Array<T, D> {
        let builder = Builder::named("swap_axes");
        let mut order: Vec<usize> = (0..self.rank()).collect();
        match a.max(b) < order.len() {
            true => order.swap(a, b),
            // The wrong axis is named.
            false => order.push(a.max(b)),
        }
        self.permuted(builder, &order)
    }

    fn permuted(&self, builder: Builder, order: &[usize]) -> Array<T, D> {
        built(builder, &[self.node()], || {
            let shape = shape(builder, self);
            axes_of(&shape, order)?;
            if order.len() != shape.rank() {
                return Err(ErrorKind::Malformed {
                    expected: format!("each of {} axes once", shape.rank()),
                    got: format!("{order:?}"),
                });
            }
            let (made, to) = rearranged(builder, self.node(), &shape, order);
            Ok(shaped(builder, &made, &to))
        })
    }
}

impl<T: Elt, D: Dim> Array<T, D> {
    /// The elements along an axis from last to first.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(m.reverse_axis(1).force()?, [[2, 1], [4, 3]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[track_caller]
    pub fn reverse_axis(&self, axis: usize) -> Array<T, D> {
        self.moved(Builder::named("reverse_axis"), axis, |b, i, n| {
            let one = b.lit(Const::u64(1));
            let last = b.op(Op::Sub, &[n, one]);
            b.op(Op::Sub, &[last, i])
        })
    }

    /// The elements along an axis moved by `by` places, to higher indices if it is positive; what goes out at one end comes
    /// in at the other.
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
        self.moved(Builder::named("roll"), axis, |b, i, n| {
            // What is read lies `by` places before; an empty axis has no element that would need a period.
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

    /// The elements moved along one axis: `f` of an index and the axis's length is the index that is read.
    fn moved(
        &self,
        builder: Builder,
        axis: usize,
        f: impl FnOnce(&mut BodyBuilder, TermId, TermId) -> TermId,
    ) -> Array<T, D> {
        built(builder, &[self.node()], || {
            let shape = shape(builder, self);
            axis_of(&shape, axis)?;
            let made = reading(builder, self.node(), &shape, |b, parts| {
                let n = shape.axes()[axis].term(b);
                let mut from = parts.to_vec();
                from[axis] = f(b, parts[axis], n);
                flat_index(b, &from, &shape)
            });
            Ok(shaped(builder, &made, &shape))
        })
    }

    /// The array with `before` and `after` elements more along each axis, all `fill`.
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
        let loc = builder.loc();
        built(builder, &[self.node()], || {
            let shape = shape(builder, self);
            let elements = flat(builder, self.node());
            let mut by = by.into_iter();
            let (mut before, mut to) = (Vec::new(), Vec::new());
            for axis in shape.axes() {
                let Some((start, end)) = by.next() else { break };
                let (start, end) = (extent(builder, start)?, extent(builder, end)?);
                to.push(sum(builder, &[&start, axis, &end])?);
                before.push(start);
            }
            if before.len() != shape.rank() || by.next().is_some() {
                return Err(ErrorKind::Malformed {
                    expected: format!("a pair for each of {} axes", shape.rank()),
                    got: "another number of pairs".to_string(),
                });
            }
            let to = Shape::new(to);
            let made = traced(builder, &to, |parts| {
                let n = |axis: &Axis| trace::scalar(axis.node(), 0, Ty::U64, loc);
                let mut all = None;
                let mut at = None;
                for ((part, start), axis) in parts.iter().zip(&before).zip(shape.axes()) {
                    // In front of the array it wraps, to where it is not below the length either.
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
                let fill = fields_of::<T>(fill.to_exp());
                let (Some(inside), Some(at)) = (all, at) else {
                    return fill;
                };
                let here = fields_of::<T>(element_at::<T>(&elements, at, loc));
                let arms: Vec<_> = here.into_iter().zip(fill).collect();
                fields_of::<T>(exp_of::<T>(&trace::cond(inside, &arms, loc)))
            });
            Ok(shaped(builder, &made, &to))
        })
    }
}

/// The sum of lengths.
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
    /// The elements whose two indices are equal, as many as the shorter axis has.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2, 3], [4, 5, 6]]);
    /// assert_eq!(m.diag().force()?, [1, 5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn diag(&self) -> Array<T> {
        let builder = Builder::named("diag");
        built(builder, &[self.node()], || {
            let shape = shape(builder, self);
            let [rows, columns] = [&shape.axes()[0], &shape.axes()[1]];
            let n = match (rows.known(), columns.known()) {
                (Some(a), Some(b)) => builder.length(a.min(b)),
                _ => length(builder, |b| {
                    let both = [rows.term(b), columns.term(b)];
                    b.op(Op::Min, &both)
                }),
            };
            Ok(reading(
                builder,
                self.node(),
                &Shape::new([n]),
                |b, parts| flat_index(b, &[parts[0], parts[0]], &shape),
            ))
        })
    }

    /// The elements on and below the diagonal; above it `other`. With `k` it begins as many places above (below, if `k` is
    /// negative).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(m.triangle_lower(0, 0).force()?, [[1, 0], [3, 4]]);
    /// assert_eq!(m.triangle_upper(1, 0).force()?, [[0, 2], [0, 0]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn triangle_lower(&self, k: i64, other: impl ToExp<T>) -> Array<T, Ix2> {
        self.triangle(Builder::named("triangle_lower"), Op::Le, k, other)
    }

    /// The elements on and above the diagonal; below it `other`. With `k` it begins as many places above (below, if `k` is
    /// negative).
    #[track_caller]
    pub fn triangle_upper(&self, k: i64, other: impl ToExp<T>) -> Array<T, Ix2> {
        self.triangle(Builder::named("triangle_upper"), Op::Ge, k, other)
    }

    fn triangle(&self, builder: Builder, op: Op, k: i64, other: impl ToExp<T>) -> Array<T, Ix2> {
        let loc = builder.loc();
        built(builder, &[self.node()], || {
            let shape = shape(builder, self);
            let elements = flat(builder, self.node());
            let tags = computed(builder, &shape, |b, parts| {
                let [i, j] = [0, 1].map(|p| b.cast(parts[p], Ty::I64));
                // The distance between two indices does not wrap; the index of a far border would.
                let right = b.op(Op::Sub, &[j, i]);
                let k = b.lit(Const::new(Ty::I64, k as u64));
                vec![b.op(op, &[right, k])]
            });
            let body = crate::exp::closure::<(bool, T), T>(|(inside, x)| {
                let fields = fields_of::<T>(x)
                    .into_iter()
                    .zip(fields_of::<T>(other.to_exp()));
                let arms: Vec<_> = fields.collect();
                exp_of::<T>(&trace::cond(inside.field(), &arms, loc))
            });
            let made = builder.map(&[tags, elements], body);
            Ok(shaped(builder, &made, &shape))
        })
    }
}
