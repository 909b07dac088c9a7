//! Folds with operators that everyone knows, along one axis, several axes, or all: `sum_axis`, `sum_axes`, `sum`, and so on.

use super::fold::{Folded, Without, along};
use super::make::{computed, mapped};
use crate::array::{
    Array, Dim, Ix0, Multi, Statistic, as_pair, better_of, by, corrected, float, number, one,
    pairs, pairs_in_order, plain_sum, step_of,
};
use crate::ast::{Body, BodyBuilder, Builder, Field, Fold, Node, TermId, trace};
use crate::elt::{Elt, Num};
use crate::error::ErrorKind;
use crate::exp::{ToExp, closure};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Folds along one axis, several axes, or all, whose result is an array without these axes, or a delayed scalar. An axis that is not
/// there, or is named twice, is a mistake, and so are elements that are not of one number each, where sums and the like are asked
/// for.
///
/// ```
/// use livefusion::ast::Builder;
/// use livefusion::prelude::*;
/// let m = Array::from([[1i64, 2], [3, 4]]);
/// let builder = Builder::named("sum_axes");
/// let rows: Array<i64> = Array::from_node(builder.sum_axes(m.node(), &[1]))?;
/// let all: Array<i64, Ix0> = Array::from_node(builder.sum_axes(m.node(), &[0, 1]))?;
/// assert_eq!((rows.to_vec()?, all.force()?), (vec![3, 7], 10));
/// # Ok::<(), livefusion::Error>(())
/// ```
impl Builder {
    /// The sums along axes.
    pub fn sum_axes(self, xs: &Arc<Node>, axes: &[usize]) -> Arc<Node> {
        self.numbers_along(xs, axes, |folded, elements, ty| {
            Ok(folded.fold(self, elements, by(Op::Add, Const::zero(ty))))
        })
    }

    /// The products along axes.
    pub fn product_axes(self, xs: &Arc<Node>, axes: &[usize]) -> Arc<Node> {
        self.numbers_along(xs, axes, |folded, elements, ty| {
            Ok(folded.fold(self, elements, by(Op::Mul, one(ty))))
        })
    }

    /// The smallest elements along axes.
    pub fn min_axes(self, xs: &Arc<Node>, axes: &[usize]) -> Arc<Node> {
        self.numbers_along(xs, axes, |folded, elements, ty| {
            first_or(self, folded, elements, step_of(Op::Min, ty))
        })
    }

    /// The largest elements along axes.
    pub fn max_axes(self, xs: &Arc<Node>, axes: &[usize]) -> Arc<Node> {
        self.numbers_along(xs, axes, |folded, elements, ty| {
            first_or(self, folded, elements, step_of(Op::Max, ty))
        })
    }

    /// The means along axes: floats of the elements' type, of integers `f64`s.
    pub fn mean_axes(self, xs: &Arc<Node>, axes: &[usize]) -> Arc<Node> {
        self.statistics_along(xs, axes, |folded, floats, ty| {
            means(self, folded, floats, ty)
        })
    }

    /// The variances along axes, of the types that means have.
    pub fn var_axes(self, xs: &Arc<Node>, axes: &[usize]) -> Arc<Node> {
        self.statistics_along(xs, axes, |folded, floats, ty| {
            variances(self, folded, floats, ty)
        })
    }

    /// The standard deviations along axes: the square roots of the variances.
    pub fn std_axes(self, xs: &Arc<Node>, axes: &[usize]) -> Arc<Node> {
        let loc = self.loc();
        let variances = self.var_axes(xs, axes);
        let root = trace(&variances.types, |x| {
            x.iter().map(|x| Field::op(Op::Sqrt, &[*x], loc)).collect()
        });
        match variances.error {
            Some(_) => variances,
            None => self.map(&[variances], root),
        }
    }

    /// Where along an axis the smallest elements are (`u64`).
    pub fn min_index_axis(self, xs: &Arc<Node>, axis: usize) -> Arc<Node> {
        self.extreme_index(xs, axis, Op::Lt)
    }

    /// Where along an axis the largest elements are (`u64`).
    pub fn max_index_axis(self, xs: &Arc<Node>, axis: usize) -> Arc<Node> {
        self.extreme_index(xs, axis, Op::Gt)
    }

    /// Whether a test, of an element's fields, is true for some element along axes.
    pub fn any_axes(self, xs: &Arc<Node>, axes: &[usize], test: Body) -> Arc<Node> {
        self.fold_axes(&self.tags(xs, test), axes, by(Op::Or, Const::bool(false)))
    }

    /// Whether a test, of an element's fields, is true for every element along axes.
    pub fn all_axes(self, xs: &Arc<Node>, axes: &[usize], test: Body) -> Arc<Node> {
        self.fold_axes(&self.tags(xs, test), axes, by(Op::And, Const::bool(true)))
    }

    /// For how many elements along axes a test, of an element's fields, is true (`u64`).
    pub fn count_axes(self, xs: &Arc<Node>, axes: &[usize], test: Body) -> Arc<Node> {
        self.fold_axes(&self.ones(xs, test), axes, by(Op::Add, Const::u64(0)))
    }

    /// A fold of elements that are of one number each.
    fn numbers_along(
        self,
        xs: &Arc<Node>,
        axes: &[usize],
        make: impl FnOnce(&Folded<'_>, &Arc<Node>, Ty) -> Result<Arc<Node>, ErrorKind>,
    ) -> Arc<Node> {
        along(self, xs, axes, &xs.types, |folded, elements| {
            make(folded, elements, number(xs)?)
        })
    }

    /// A statistic of the elements as `f64`s, of the type that means have.
    fn statistics_along(
        self,
        xs: &Arc<Node>,
        axes: &[usize],
        make: impl FnOnce(&Folded<'_>, &Arc<Node>, Ty) -> Arc<Node>,
    ) -> Arc<Node> {
        let types = [number(xs).map_or(Ty::F64, float)];
        along(self, xs, axes, &types, |folded, elements| {
            let ty = number(xs)?;
            Ok(make(folded, &self.floats(elements), ty))
        })
    }

    fn extreme_index(self, xs: &Arc<Node>, axis: usize, better: Op) -> Arc<Node> {
        along(self, xs, &[axis], &[Ty::U64], |folded, elements| {
            let step = better_of(better, number(xs)?);
            let indices = computed(self, folded.shape, |_, parts| vec![parts[axis]]);
            let pairs = self.zip(&[elements.clone(), indices]);
            let found = first_or(self, folded, &pairs, step)?;
            Ok(self.fields(&found, 1..2))
        })
    }
}

/// A method for one axis, and one for several.
macro_rules! along_axes {
    ($(
        $(#[$doc:meta])*
        $one:ident $several:ident -> $U:ty;
    )*) => {$(
        impl<T: Num, D: Dim> Array<T, D> {
            $(#[$doc])*
            #[track_caller]
            pub fn $one(&self, axis: usize) -> Array<$U, D::Smaller> {
                let builder = Builder::named(stringify!($one));
                Array::checked(builder, builder.$several(self.node(), &[axis]))
            }

            #[doc = concat!("As [`", stringify!($one), "`](Array::", stringify!($one), "), along several axes at once.")]
            ///
            /// # Errors
            /// When forced: as along one axis; if an axis is named twice.
            #[track_caller]
            pub fn $several<const K: usize>(&self, axes: [usize; K]) -> Array<$U, D::Rest>
            where
                D: Without<K>,
            {
                let builder = Builder::named(stringify!($several));
                Array::checked(builder, builder.$several(self.node(), &axes))
            }
        }
    )*};
}

along_axes! {
    /// The sums along an axis, 0 if there is nothing along it; integers wrap. Of floats those along the last axis are added
    /// in several lanes, as [`sum`](Array::sum) of one axis; those along another one from left to right. Memory is read
    /// once, in order. Fuses as [`fold_axis`](Array::fold_axis) does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// assert_eq!((m.sum_axis(0).to_vec()?, m.sum_axis(1).to_vec()?), (vec![4, 6], vec![3, 7]));
    /// let cube = generate((2, 3, 2), |(i, j, k)| 100 * i + 10 * j + k);
    /// assert_eq!(cube.sum_axes([0, 2]).force()?, [202, 242, 282]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[doc(alias = "sum")]
    sum_axis sum_axes -> T;

    /// The products along an axis, 1 if there is nothing along it; otherwise as [`sum_axis`](Array::sum_axis).
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[doc(alias = "prod")]
    product_axis product_axes -> T;

    /// The smallest elements along an axis. Floats: NaN is ignored (of NaN alone it is NaN), -0.0 is below +0.0. Memory is
    /// read in order.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1.0f64, -2.0], [f64::NAN, 4.0]]);
    /// assert_eq!((m.min_axis(0).to_vec()?, m.max_axis(1).to_vec()?), (vec![1.0, -2.0], vec![1.0, 4.0]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis, or nothing along it.
    #[doc(alias = "amin")]
    min_axis min_axes -> T;

    /// The largest elements along an axis; otherwise as [`min_axis`](Array::min_axis).
    ///
    /// # Errors
    /// When forced: if there is no such axis, or nothing along it.
    #[doc(alias = "amax")]
    max_axis max_axes -> T;

    /// The sums along an axis over its length; NaN if that is 0.
    ///
    /// Types and accuracy are those of [`mean`](Array::mean). One pass, as of [`sum_axis`](Array::sum_axis). Along another axis than
    /// the last one, pairs of `f64`s are added to element by element, without vectors. There `f32`s are within an ulp where `c`
    /// times the length is below `2^28`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 5]]);
    /// assert_eq!((m.mean_axis(0).to_vec()?, m.mean_axis(1).to_vec()?), (vec![2.0, 3.5], vec![1.5, 4.0]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[doc(alias = "average")]
    mean_axis mean_axes -> T::Mean;

    /// The variances along an axis: the means of the squares of the distances from the mean (the divisor is the axis's
    /// length). NaN if that is 0.
    ///
    /// They are computed in two passes, of which the first finds a number near each mean. Its error is taken back, so
    /// that results are as accurate as those of [`var`](Array::var). Along the last axis both passes are over a row while it
    /// is in the cache. An array that is not in memory is kept there between them, or computed twice, if that is cheap.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 6]]);
    /// assert_eq!((m.var_axis(0).to_vec()?, m.var_axis(1).to_vec()?), (vec![1.0, 4.0], vec![0.25, 2.25]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[doc(alias = "var")]
    var_axis var_axes -> T::Mean;

    /// The standard deviations along an axis: the square roots of the [variances](Array::var_axis), at the same cost.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 6]]);
    /// assert_eq!((m.std_axis(0).to_vec()?, m.std_axis(1).to_vec()?), (vec![1.0, 2.0], vec![0.5, 1.5]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[doc(alias("std", "stddev"))]
    std_axis std_axes -> T::Mean;
}

impl<T: Num, D: Dim> Array<T, D> {
    /// Where along an axis the smallest elements are; of equal ones, the lowest index. NaN and zeros as in
    /// [`min_index`](Array::min_index).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1.0f64, -2.0], [0.5, 4.0]]);
    /// assert_eq!((m.min_index_axis(0).to_vec()?, m.max_index_axis(1).to_vec()?), (vec![1, 0], vec![0, 1]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis, or nothing along it.
    #[doc(alias = "argmin")]
    #[track_caller]
    pub fn min_index_axis(&self, axis: usize) -> Array<u64, D::Smaller> {
        let builder = Builder::named("min_index_axis");
        Array::checked(builder, builder.min_index_axis(self.node(), axis))
    }

    /// Where along an axis the largest elements are; otherwise as [`min_index_axis`](Array::min_index_axis).
    ///
    /// # Errors
    /// When forced: if there is no such axis, or nothing along it.
    #[doc(alias = "argmax")]
    #[track_caller]
    pub fn max_index_axis(&self, axis: usize) -> Array<u64, D::Smaller> {
        let builder = Builder::named("max_index_axis");
        Array::checked(builder, builder.max_index_axis(self.node(), axis))
    }
}

/// A method for one axis, and one for several, of a test of each element.
macro_rules! tested_along_axes {
    ($(
        $(#[$doc:meta])*
        $one:ident $several:ident -> $U:ty;
    )*) => {
        impl<T: Elt, D: Dim> Array<T, D> {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $one<R: ToExp<bool>>(
                &self,
                axis: usize,
                test: impl FnOnce(T::Exp) -> R,
            ) -> Array<$U, D::Smaller> {
                let builder = Builder::named(stringify!($one));
                let test = closure::<T, bool>(|x| test(x).to_exp());
                Array::checked(builder, builder.$several(self.node(), &[axis], test))
            }

            #[doc = concat!("As [`", stringify!($one), "`](Array::", stringify!($one), "), along several axes at once.")]
            ///
            /// # Errors
            /// When forced: as along one axis; if an axis is named twice.
            #[track_caller]
            pub fn $several<const K: usize, R: ToExp<bool>>(
                &self,
                axes: [usize; K],
                test: impl FnOnce(T::Exp) -> R,
            ) -> Array<$U, D::Rest>
            where
                D: Without<K>,
            {
                let builder = Builder::named(stringify!($several));
                let test = closure::<T, bool>(|x| test(x).to_exp());
                Array::checked(builder, builder.$several(self.node(), &axes, test))
            }
        )*}
    };
}

tested_along_axes! {
    /// Whether `test` is true for some element along an axis.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 0]]);
    /// assert_eq!(m.any_axis(0, |x| x.gt(2)).force()?, [true, false]);
    /// assert_eq!(m.all_axis(1, |x| x.gt(0)).force()?, [true, false]);
    /// assert_eq!(m.count_axis(1, |x| x.gt(0)).force()?, [2, 1]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[doc(alias = "any")]
    any_axis any_axes -> bool;

    /// Whether `test` is true for every element along an axis.
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[doc(alias = "all")]
    all_axis all_axes -> bool;

    /// For how many elements along an axis `test` is true.
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    #[doc(alias = "count_nonzero")]
    count_axis count_axes -> u64;
}

macro_rules! of_all {
    ($($(#[$doc:meta])* $name:ident<$T:ident: $Bound:ident> -> $U:ty;)*) => {$(
        impl<$T: $Bound, D: Multi> Array<$T, D> {
            $(#[$doc])*
            #[track_caller]
            pub fn $name(&self) -> Array<$U, Ix0> {
                self.row_by_row().$name()
            }
        }
    )*};
}

of_all! {
    /// The sum of all elements, as that of an array of one axis.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1.0f64, 2.0], [3.0, 4.0]]);
    /// assert_eq!((&m.sum(), &m.max(), &m.mean(), &m.any(|x| x.gt(3.0))).force()?, (10.0, 4.0, 2.5, true));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    sum<T: Num> -> T;
    /// The product of all elements.
    product<T: Num> -> T;
    /// The smallest of all elements; an error if there are none.
    min<T: Num> -> T;
    /// The largest of all elements; an error if there are none.
    max<T: Num> -> T;
    /// The mean of all elements.
    mean<T: Num> -> T::Mean;
    /// The variance of all elements.
    var<T: Num> -> T::Mean;
    /// The standard deviation of all elements.
    std<T: Num> -> T::Mean;
    /// The number of all elements. Computes none of them, unless a length depends on these.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = generate((2, 3), |(i, j)| i * j);
    /// assert_eq!((m.len().force()?, m.slice((.., 1..)).len().force()?), (6, 4));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    len<T: Elt> -> u64;
}

impl<T: Elt, D: Multi> Array<T, D> {
    /// Whether `test` is true for some element.
    #[track_caller]
    pub fn any<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<bool, Ix0> {
        self.row_by_row().any(test)
    }

    /// Whether `test` is true for every element.
    #[track_caller]
    pub fn all<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<bool, Ix0> {
        self.row_by_row().all(test)
    }

    /// For how many elements `test` is true.
    #[track_caller]
    pub fn count<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<u64, Ix0> {
        self.row_by_row().count(test)
    }

    /// All elements joined by `op`, which must be associative, as in [`fold`](Array::fold) of one axis.
    #[track_caller]
    pub fn fold<R: ToExp<T>>(
        &self,
        start: impl ToExp<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T, Ix0> {
        self.row_by_row().fold(start, op)
    }

    /// All elements joined by `op`, which must be associative, with no starting value, as in [`fold1`](Array::fold1) of one
    /// axis.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 5], [7, 2]]);
    /// assert_eq!(m.fold1(|a, b| a * b).force()?, 70);
    /// assert!(m.slice((2.., ..)).fold1(|a, b| a * b).force().is_err());
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are no elements.
    #[track_caller]
    pub fn fold1<R: ToExp<T>>(&self, op: impl FnOnce(T::Exp, T::Exp) -> R) -> Array<T, Ix0> {
        self.row_by_row().fold1(op)
    }

    #[track_caller]
    fn row_by_row(&self) -> Array<T> {
        Array::wrap(Builder::named("flatten").flatten(self.node()))
    }
}

/// A fold without a start, of which an element joined with itself is itself.
fn first_or(
    b: Builder,
    folded: &Folded<'_>,
    elements: &Arc<Node>,
    step: Body,
) -> Result<Arc<Node>, ErrorKind> {
    if folded.is_last() {
        return Ok(folded.fold(b, elements, Fold::first(step)));
    }
    let first = folded.first(b, elements)?;
    Ok(folded.onto(b, &first, elements, step))
}

/// The means of folds of `f64`s, row by row.
fn means(builder: Builder, folded: &Folded<'_>, floats: &Arc<Node>, ty: Ty) -> Arc<Node> {
    let mean = Statistic::mean(ty);
    let sums = match mean.width() {
        1 => folded.fold(builder, floats, plain_sum()),
        _ => in_pairs(builder, folded, floats),
    };
    per_fold(builder, folded, &sums, |b, state, n| {
        mean.result(b, state, n)
    })
}

/// Sums in pairs. Where each fold goes from left to right, elements are joined onto buffers of pairs.
fn in_pairs(builder: Builder, folded: &Folded<'_>, floats: &Arc<Node>) -> Arc<Node> {
    match folded.is_last() {
        true => folded.fold(builder, floats, pairs()),
        false => {
            let elements = mapped(builder, floats, as_pair());
            folded.fold(builder, &elements, pairs_in_order())
        }
    }
}

/// The variances of folds of `f64`s: from the distances from a number near the mean, and their squares.
fn variances(builder: Builder, folded: &Folded<'_>, floats: &Arc<Node>, ty: Ty) -> Arc<Node> {
    let sums = folded.fold(builder, floats, plain_sum());
    let near = per_fold(builder, folded, &sums, |b, sum, n| {
        let n = b.cast(n, Ty::F64);
        vec![b.op(Op::Div, &[sum[0], n])]
    });
    let away = distances(builder, folded, floats, &near);
    let mut b = BodyBuilder::new(&[Ty::F64]);
    let x = b.param(0);
    let square = b.op(Op::Mul, &[x, x]);
    let squares = mapped(builder, &away, b.finish(&[square]));
    let sum = folded.fold(builder, &away, plain_sum());
    let squares = match ty {
        Ty::F32 => as_pairs(builder, folded.fold(builder, &squares, plain_sum())),
        _ => in_pairs(builder, folded, &squares),
    };
    let corrected = corrected();
    per_fold(
        builder,
        folded,
        &builder.zip(&[sum, squares]),
        |b, sums, n| {
            let found = b.embed(&corrected, &[sums, &[n]].concat());
            let found = found.unwrap_or_default().into_iter();
            found.map(|x| b.cast(x, float(ty))).collect()
        },
    )
}

/// Numbers of which nothing is missing.
fn as_pairs(builder: Builder, xs: Arc<Node>) -> Arc<Node> {
    mapped(builder, &xs, as_pair())
}

/// A function of each fold's result and its number of elements.
fn per_fold(
    builder: Builder,
    folded: &Folded<'_>,
    results: &Arc<Node>,
    make: impl FnOnce(&mut BodyBuilder, &[TermId], TermId) -> Vec<TermId>,
) -> Arc<Node> {
    let size = folded.size(builder);
    let mut b = BodyBuilder::new(&results.types);
    let fields: Vec<TermId> = (0..results.types.len() as u32)
        .map(|k| b.param(k))
        .collect();
    let n = size.term(&mut b);
    let made = make(&mut b, &fields, n);
    mapped(builder, results, b.finish(&made))
}

/// The distances of elements from a number for each fold.
fn distances(
    builder: Builder,
    folded: &Folded<'_>,
    floats: &Arc<Node>,
    from: &Arc<Node>,
) -> Arc<Node> {
    let mut b = BodyBuilder::new(&[Ty::F64, Ty::F64]);
    let sides = [b.param(0), b.param(1)];
    let away = b.op(Op::Sub, &sides);
    let away = b.finish(&[away]);
    let spread = match (from.rank, folded.rows(builder)) {
        (0, _) => computed(builder, folded.shape, |b, _| vec![b.scalar(from, 0)]),
        (_, Some(rows)) if folded.is_last() => builder.spread(&rows, from),
        _ => computed(builder, folded.shape, |b, parts| {
            let at = folded.place(b, parts);
            vec![b.at(from, 0, at, false)]
        }),
    };
    builder.map(&[floats.clone(), spread], away)
}
