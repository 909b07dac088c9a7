//! Folds that everyone knows: `sum`, `product`, `min`, `max`, `any`, `all`, `count`, `mean`, `var`, `std`.

use crate::array::moments::Statistic;
use crate::array::search::up_to_first;
use crate::array::{Array, Ix0};
use crate::ast::{Body, BodyBuilder, Builder, Field, Fold, Node, fits, show_types, trace};
use crate::elt::{Elt, Num};
use crate::error::ErrorKind;
use crate::exp::{ToExp, closure};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Of arrays of any rank. Elements that are not one number each are a mistake.
impl Builder {
    /// The sum, from 0.
    pub fn sum(self, xs: &Arc<Node>) -> Arc<Node> {
        self.all_numbers(xs, |xs, ty| self.fold(xs, by(Op::Add, Const::zero(ty))))
    }

    /// The product, from 1.
    pub fn product(self, xs: &Arc<Node>) -> Arc<Node> {
        self.all_numbers(xs, |xs, ty| self.fold(xs, by(Op::Mul, one(ty))))
    }

    /// The smallest element; an error if there are none.
    pub fn min(self, xs: &Arc<Node>) -> Arc<Node> {
        self.all_numbers(xs, |xs, ty| {
            self.fold(xs, Fold::first(step_of(Op::Min, ty)))
        })
    }

    /// The largest element; an error if there are none.
    pub fn max(self, xs: &Arc<Node>) -> Arc<Node> {
        self.all_numbers(xs, |xs, ty| {
            self.fold(xs, Fold::first(step_of(Op::Max, ty)))
        })
    }

    /// The sum over the number of elements: of integers as `f64`s.
    pub fn mean(self, xs: &Arc<Node>) -> Arc<Node> {
        self.all_numbers(xs, |xs, ty| self.statistic(xs, &Statistic::mean(ty)))
    }

    /// The mean of the squares of the elements' distances from the mean.
    pub fn var(self, xs: &Arc<Node>) -> Arc<Node> {
        self.all_numbers(xs, |xs, ty| self.statistic(xs, &Statistic::var(ty)))
    }

    /// The square root of the variance.
    pub fn std(self, xs: &Arc<Node>) -> Arc<Node> {
        self.all_numbers(xs, |xs, ty| self.statistic(xs, &Statistic::std(ty)))
    }

    /// Whether the test is true for some element.
    pub fn any(self, xs: &Arc<Node>, test: Body) -> Arc<Node> {
        let tags = up_to_first(self, &self.tags(&self.row_by_row(xs), test), true);
        self.fold(&tags, by(Op::Or, Const::bool(false)))
    }

    /// Whether the test is true for every element.
    pub fn all(self, xs: &Arc<Node>, test: Body) -> Arc<Node> {
        let tags = up_to_first(self, &self.tags(&self.row_by_row(xs), test), false);
        self.fold(&tags, by(Op::And, Const::bool(true)))
    }

    /// For how many elements the test is true (a `u64`).
    pub fn count(self, xs: &Arc<Node>, test: Body) -> Arc<Node> {
        let xs = self.row_by_row(xs);
        self.fold(&self.ones(&xs, test), by(Op::Add, Const::u64(0)))
    }

    /// What is added up to count the elements of which a test is true.
    pub(crate) fn ones(self, xs: &Arc<Node>, test: Body) -> Arc<Node> {
        if fits(&test, "a test", &xs.types, Some(&[Ty::Bool])).is_err() {
            return self.tags(xs, test);
        }
        let loc = self.loc();
        let one = trace(&xs.types, |x| {
            let tags = Field::apply(&test, x, loc).into_iter();
            tags.map(|tag| tag.cast(Ty::U64, loc)).collect()
        });
        self.map(std::slice::from_ref(xs), one)
    }

    /// What is made of elements that are one number each, row by row.
    fn all_numbers(
        self,
        xs: &Arc<Node>,
        make: impl FnOnce(&Arc<Node>, Ty) -> Arc<Node>,
    ) -> Arc<Node> {
        self.numbers(xs, (&xs.types, 0), |ty| make(&self.row_by_row(xs), ty))
    }

    /// What is made of elements that are one number each, of this type; of others a mistake, of these types and this rank.
    pub(crate) fn numbers(
        self,
        xs: &Arc<Node>,
        like: (&[Ty], u8),
        make: impl FnOnce(Ty) -> Arc<Node>,
    ) -> Arc<Node> {
        match number(xs) {
            Ok(ty) => make(ty),
            Err(kind) => self.instead(&[xs], like, kind),
        }
    }

    /// What a test says of each element.
    pub(crate) fn tags(self, xs: &Arc<Node>, test: Body) -> Arc<Node> {
        let tags = self.map(std::slice::from_ref(xs), test);
        match *tags.types == [Ty::Bool] {
            true => tags,
            false => self.unfit(&tags, &[Ty::Bool], tags.rank, "a test to bool"),
        }
    }

    /// An array of several axes as one of its elements, row by row.
    fn row_by_row(self, xs: &Arc<Node>) -> Arc<Node> {
        match xs.rank {
            0 | 1 => xs.clone(),
            _ => self.renamed("flatten").reshape(xs, None),
        }
    }
}

/// The one type of an array's elements, which are numbers.
pub(crate) fn number(node: &Node) -> Result<Ty, ErrorKind> {
    match node.types[..] {
        [ty] if ty.is_num() => Ok(ty),
        _ => Err(ErrorKind::Malformed {
            expected: NUMBERS.to_string(),
            got: show_types(&node.types),
        }),
    }
}

/// What elements of a combinator on numbers are.
pub(crate) const NUMBERS: &str = "elements of one number each";

/// Elements that can be added up: numbers, and complex ones.
#[diagnostic::on_unimplemented(
    message = "only numbers are added up, and `{Self}` is none",
    note = "to count with a `bool`, `.cast::<u64>()` it; of tuples and structs, take the fields"
)]
pub trait Summed: Elt {
    /// The sum of an array.
    fn sum_of(builder: Builder, xs: &Arc<Node>) -> Arc<Node>;
}

impl<T: Num> Summed for T {
    fn sum_of(builder: Builder, xs: &Arc<Node>) -> Arc<Node> {
        builder.sum(xs)
    }
}

impl<T: Summed> Array<T> {
    /// The sum, from 0; integers wrap. Of no elements it is 0. Floats are added in several lanes, see
    /// [`fold`](Array::fold).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![1.0f64, 2.0, 3.5]).sum().force()?, 6.5);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn sum(&self) -> Array<T, Ix0> {
        Array::wrap(T::sum_of(Builder::named("sum"), self.node()))
    }
}

impl<T: Num> Array<T> {
    /// The product, from 1; integers wrap. Of no elements it is 1.
    #[doc(alias = "prod")]
    #[track_caller]
    pub fn product(&self) -> Array<T, Ix0> {
        Array::wrap(Builder::named("product").product(self.node()))
    }

    /// The smallest element. Floats: NaN is ignored (of NaN alone it is NaN), -0.0 is below +0.0.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![2.0f64, f64::NAN, -1.0]);
    /// assert_eq!((&xs.min(), &xs.max()).force()?, (-1.0, 2.0));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are no elements.
    #[doc(alias("amin", "nanmin"))]
    #[track_caller]
    pub fn min(&self) -> Array<T, Ix0> {
        Array::wrap(Builder::named("min").min(self.node()))
    }

    /// The largest element. Floats: NaN is ignored (of NaN alone it is NaN), -0.0 is below +0.0.
    ///
    /// # Errors
    /// When forced: if there are no elements.
    #[doc(alias("amax", "nanmax"))]
    #[track_caller]
    pub fn max(&self) -> Array<T, Ix0> {
        Array::wrap(Builder::named("max").max(self.node()))
    }

    /// The sum over the number of elements.
    ///
    /// Of `f32` elements it is summed up in `f64`, of others as a pair of `f64`s: a sum, and the rounding errors of its additions. Of
    /// integers it is an `f64`, so nothing wraps. One pass, which fuses as [`sum`](Array::sum) does.
    ///
    /// *Accuracy.* Let `c` be the mean of the absolute values over the absolute value of the mean; of elements of one sign it is 1.
    /// Of `f64` the relative error is at most `(2 + 2 c) / 2^53`, however many elements there are. Of `f32` the result is
    /// within an ulp where `c` is below 4000, of up to `10^9` elements. Integers beyond `2^53` are rounded first.
    ///
    /// It is NaN if there are no elements, or a NaN, or infinities of both signs; infinite with infinities of one sign. A sum of
    /// `f64`s that is beyond the largest one has an infinite mean, or NaN.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![1.0f32, 2.0, 6.0]).mean().force()?, 3.0f32);
    /// assert_eq!(Array::from(vec![i64::MAX, i64::MAX]).mean().force()?, i64::MAX as f64);
    /// assert!(Array::<f64>::from(vec![]).mean().force()?.is_nan());
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "average")]
    #[track_caller]
    pub fn mean(&self) -> Array<T::Mean, Ix0> {
        Array::wrap(Builder::named("mean").mean(self.node()))
    }

    /// The variance of all elements: the mean of the squares of their distances from the mean.
    ///
    /// The divisor is `n`, not `n - 1` as of a sample. Of integers it is an `f64`. It is computed in one pass, in which nothing
    /// goes to memory, and which fuses as [`sum`](Array::sum) does: distances from an element of the array are added up, and their
    /// squares, so that no squares are taken of numbers that are large beside their spread.
    ///
    /// *Accuracy.* Elements are `f64`s on the way. Where no element is far outside of the others, results are within two ulps,
    /// however far from 0 the elements are. Let `k` be 1 and the square of an element's distance from the mean, over the
    /// variance: the relative error is at most `16 k / 2^53` for the greatest `k` there is, and never more than for `k = 2049`.
    ///
    /// It is 0 of one element; NaN of none, and if one is infinite or NaN. Distances above `1e154` have an infinite variance.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![2i64, 4, 4, 4, 5, 5, 7, 9]);
    /// assert_eq!((&xs.var(), &xs.std()).force()?, (4.0, 2.0));
    /// // Far from 0 no digit is lost.
    /// assert_eq!(Array::from(vec![1e9f64, 1e9 + 1.0]).var().force()?, 0.25);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "variance")]
    #[track_caller]
    pub fn var(&self) -> Array<T::Mean, Ix0> {
        Array::wrap(Builder::named("var").var(self.node()))
    }

    /// The standard deviation: the square root of the [variance](Array::var), at the same cost. NaN if there
    /// are no elements.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![1.0f64, 5.0]).std().force()?, 2.0);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "stddev")]
    #[track_caller]
    pub fn std(&self) -> Array<T::Mean, Ix0> {
        Array::wrap(Builder::named("std").std(self.node()))
    }
}

impl<T: Elt> Array<T> {
    /// Whether `test` is true for some element; false if there are none. A loop in which nothing else is
    /// left to do ends at the first such element.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 5]);
    /// assert!(xs.any(|x| x.gt(4)).force()? && !xs.all(|x| x.gt(4)).force()?);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "or")]
    #[track_caller]
    pub fn any<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<bool, Ix0> {
        let test = closure::<T, bool>(|x| test(x).to_exp());
        Array::wrap(Builder::named("any").any(self.node(), test))
    }

    /// Whether `test` is true for every element; true if there are none. A loop in which nothing else is
    /// left to do ends at the first element for which it is not.
    #[doc(alias = "and")]
    #[track_caller]
    pub fn all<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<bool, Ix0> {
        let test = closure::<T, bool>(|x| test(x).to_exp());
        Array::wrap(Builder::named("all").all(self.node(), test))
    }

    /// For how many elements `test` is true.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![1i64, 5, 7]).count(|x| x.gt(4)).force()?, 2);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "count_nonzero")]
    #[track_caller]
    pub fn count<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<u64, Ix0> {
        let test = closure::<T, bool>(|x| test(x).to_exp());
        Array::wrap(Builder::named("count").count(self.node(), test))
    }
}

/// The number 1.
pub(crate) fn one(ty: Ty) -> Const {
    match ty {
        Ty::F64 => Const::f64(1.0),
        Ty::F32 => Const::f32(1.0),
        _ => Const::int(ty, 1),
    }
}

/// A fold by a single operator, which lowering recognises.
pub(crate) fn by(op: Op, start: Const) -> Fold {
    let mut b = BodyBuilder::new(&[]);
    let value = b.lit(start);
    Fold::associative(b.finish(&[value]), step_of(op, start.ty))
}

/// The step that is a single operator on numbers of a type.
pub(crate) fn step_of(op: Op, ty: Ty) -> Body {
    let mut b = BodyBuilder::new(&[ty, ty]);
    let args = [b.param(0), b.param(1)];
    let result = b.op(op, &args);
    b.finish(&[result])
}
