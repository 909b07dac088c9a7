//! Folds with operators that everyone knows, along one axis, several axes, or all: `sum_axis`, `sum_axes`, `sum`, and so on.

use super::fold::{Folded, Without, along};
use super::make::{built, computed, flat, index_along, mapped, shape};
use crate::array::{Array, Dim, Ix0, Multi, Rank, better_of, literal, operator};
use crate::ast::{Body, BodyBuilder, Builder, Fold, FoldStyle, Node};
use crate::elt::{Elt, Float, Num, Scalar};
use crate::error::ErrorKind;
use crate::exp::{Exp, ToExp, apply, closure};
use crate::loc::Loc;
use livefusion_backend::Prim;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

/// A method for one axis, and one for several.
macro_rules! along_axes {
    ($(
        $(#[$doc:meta])*
        $one:ident $several:ident<$T:ident: $Bound:ident>() -> $U:ty = $f:expr;
    )*) => {$(
        impl<$T: $Bound, D: Dim> Array<$T, D> {
            $(#[$doc])*
            #[track_caller]
            pub fn $one(&self, axis: usize) -> Array<$U, D::Smaller> {
                $f(Builder::named(stringify!($one)), self, &[axis])
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
                $f(Builder::named(stringify!($several)), self, &axes)
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
    sum_axis sum_axes<T: Num>() -> T = |b, a, x: &[usize]| operated(b, a, x, Op::Add, T::from_word(0));

    /// The products along an axis, 1 if there is nothing along it; otherwise as [`sum_axis`](Array::sum_axis).
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    product_axis product_axes<T: Num>() -> T = |b, a, x: &[usize]| operated(b, a, x, Op::Mul, T::ONE);

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
    min_axis min_axes<T: Num>() -> T = |b, a, x: &[usize]| extremes(b, a, x, Op::Min);

    /// The largest elements along an axis; otherwise as [`min_axis`](Array::min_axis).
    ///
    /// # Errors
    /// When forced: if there is no such axis, or nothing along it.
    max_axis max_axes<T: Num>() -> T = |b, a, x: &[usize]| extremes(b, a, x, Op::Max);

    /// The sums along an axis over its length; NaN if that is 0. Of integers they are `f64`s, as of
    /// [`mean`](Array::mean).
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
    mean_axis mean_axes<T: Num>() -> T::Mean = |b: Builder, a: &Array<T, D>, x: &[usize]| {
        built(b, &[a.node()], || {
            let shape = shape(b, a);
            let folded = Folded::new(&shape, x)?;
            let floats = floats::<T>(b, &flat(b, a.node()));
            Ok(folded.result(b, &means::<T::Mean>(b, &folded, &floats)))
        })
    };

    /// The variances along an axis: the means of the squares of the distances from the mean (the divisor is the axis's
    /// length). NaN if that is 0. They are computed in two passes, as [`var`](Array::var). Along the last axis both are
    /// over a row while it is in the cache.
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
    var_axis var_axes<T: Num>() -> T::Mean = |b: Builder, a: &Array<T, D>, x: &[usize]| {
        built(b, &[a.node()], || {
            let shape = shape(b, a);
            let folded = Folded::new(&shape, x)?;
            let floats = floats::<T>(b, &flat(b, a.node()));
            let squares = distances::<T::Mean>(b, &folded, &floats);
            Ok(folded.result(b, &means::<T::Mean>(b, &folded, &squares)))
        })
    };
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
    #[track_caller]
    pub fn min_index_axis(&self, axis: usize) -> Array<u64, D::Smaller> {
        self.extreme_index(Builder::named("min_index_axis"), axis, Op::Lt)
    }

    /// Where along an axis the largest elements are; otherwise as [`min_index_axis`](Array::min_index_axis).
    ///
    /// # Errors
    /// When forced: if there is no such axis, or nothing along it.
    #[track_caller]
    pub fn max_index_axis(&self, axis: usize) -> Array<u64, D::Smaller> {
        self.extreme_index(Builder::named("max_index_axis"), axis, Op::Gt)
    }

    fn extreme_index(&self, b: Builder, axis: usize, better: Op) -> Array<u64, D::Smaller> {
        built(b, &[self.node()], || {
            let shape = shape(b, self);
            let folded = Folded::new(&shape, &[axis])?;
            let indices = index_along(b, &shape, axis);
            let pairs = b.zip(&[flat(b, self.node()), indices]);
            let found = first_or(b, &folded, &pairs, better_of(better, T::TY))?;
            Ok(folded.result(b, &b.fields(&found, 1..2)))
        })
    }
}

/// A method for one axis, and one for several, of a test of each element.
macro_rules! tested_along_axes {
    ($(
        $(#[$doc:meta])*
        $one:ident $several:ident -> $U:ty = $op:expr, $start:expr, $of_test:expr;
    )*) => {
        impl<T: Elt, D: Dim> Array<T, D> {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $one<R: ToExp<bool>>(
                &self,
                axis: usize,
                test: impl FnOnce(T::Exp) -> R,
            ) -> Array<$U, D::Smaller> {
                let (builder, loc) = (Builder::named(stringify!($one)), Loc::caller());
                let body = closure::<T, $U>(|x| $of_test(test(x).to_exp(), loc));
                operated(builder, &self.map_to(builder, body), &[axis], $op, $start)
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
                let (builder, loc) = (Builder::named(stringify!($several)), Loc::caller());
                let body = closure::<T, $U>(|x| $of_test(test(x).to_exp(), loc));
                operated(builder, &self.map_to(builder, body), &axes, $op, $start)
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
    any_axis any_axes -> bool = Op::Or, false, |is: Exp<bool>, _| is;

    /// Whether `test` is true for every element along an axis.
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    all_axis all_axes -> bool = Op::And, true, |is: Exp<bool>, _| is;

    /// For how many elements along an axis `test` is true.
    ///
    /// # Errors
    /// When forced: if there is no such axis.
    count_axis count_axes -> u64 = Op::Add, 0, |is: Exp<bool>, loc| apply(Op::Cast, &[is.field()], loc);
}

impl<T: Elt, D: Dim> Array<T, D> {
    fn map_to<U: Elt>(&self, builder: Builder, body: Body) -> Array<U, D> {
        Array::wrap(mapped(builder, self.node(), body))
    }
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
        Array::wrap(flat(Builder::named("flatten"), self.node()))
    }
}

/// A fold by a single operator, which lowering recognises.
fn operated<T: Scalar, D: Dim, E: Rank>(
    builder: Builder,
    array: &Array<T, D>,
    axes: &[usize],
    op: Op,
    start: T,
) -> Array<T, E> {
    along(builder, array, axes, || by(op, start))
}

fn by<T: Scalar>(op: Op, start: T) -> Fold {
    Fold {
        start: literal(start),
        step: operator(op, T::TY),
        style: FoldStyle::Associative,
    }
}

/// The least or greatest along axes.
fn extremes<T: Num, D: Dim, E: Rank>(
    b: Builder,
    array: &Array<T, D>,
    axes: &[usize],
    op: Op,
) -> Array<T, E> {
    built(b, &[array.node()], || {
        let shape = shape(b, array);
        let folded = Folded::new(&shape, axes)?;
        let found = first_or(b, &folded, &flat(b, array.node()), operator(op, T::TY))?;
        Ok(folded.result(b, &found))
    })
}

/// A fold without a start, of which an element joined with itself is itself.
fn first_or(
    b: Builder,
    folded: &Folded<'_>,
    elements: &Arc<Node>,
    step: Body,
) -> Result<Arc<Node>, ErrorKind> {
    if folded.is_last() {
        let fold = Fold {
            start: Body::default(),
            step,
            style: FoldStyle::First,
        };
        return Ok(folded.fold(b, elements, fold));
    }
    let first = folded.first(b, elements)?;
    Ok(folded.onto(b, &first, elements, step))
}

/// Elements as floats.
fn floats<T: Num>(builder: Builder, elements: &Arc<Node>) -> Arc<Node> {
    if T::TY.is_float() {
        return elements.clone();
    }
    let mut b = BodyBuilder::new(&[T::TY]);
    let x = b.param(0);
    let x = b.cast(x, T::Mean::TY);
    mapped(builder, elements, b.finish(&[x]))
}

/// The mean of each fold, row by row.
fn means<T: Float>(builder: Builder, folded: &Folded<'_>, elements: &Arc<Node>) -> Arc<Node> {
    let sums = folded.fold(builder, elements, by(Op::Add, T::from_word(0)));
    let size = folded.size(builder);
    let mut b = BodyBuilder::new(&[T::TY]);
    let (sum, n) = (b.param(0), size.term(&mut b));
    let n = b.cast(n, T::TY);
    let mean = b.op(Op::Div, &[sum, n]);
    mapped(builder, &sums, b.finish(&[mean]))
}

/// The squares of the distances from the mean of each fold.
fn distances<T: Float>(builder: Builder, folded: &Folded<'_>, elements: &Arc<Node>) -> Arc<Node> {
    let means = means::<T>(builder, folded, elements);
    let mut b = BodyBuilder::new(&[T::TY, T::TY]);
    let (x, mean) = (b.param(0), b.param(1));
    let away = b.op(Op::Sub, &[x, mean]);
    let square = b.op(Op::Mul, &[away, away]);
    let square = b.finish(&[square]);
    let spread = match (means.rank, folded.rows(builder)) {
        (0, _) => computed(builder, folded.shape, |b, _| vec![b.scalar(&means, 0)]),
        (_, Some(rows)) if folded.is_last() => {
            let mut b = BodyBuilder::new(&[Ty::U64, T::TY]);
            let mean = b.param(1);
            builder.expand(&rows, &[means], b.finish(&[mean]))
        }
        _ => computed(builder, folded.shape, |b, parts| {
            let at = folded.place(b, parts);
            vec![b.at(&means, 0, at, false)]
        }),
    };
    builder.map(&[elements.clone(), spread], square)
}
