//! Folds that everyone knows: `sum`, `product`, `min`, `max`, `any`, `all`, `count`, `mean`, `var`, `std`.

use crate::array::search::up_to_first;
use crate::array::{Array, Ix0};
use crate::ast::{Body, BodyBuilder, Builder, FoldStyle};
use crate::elt::{Elt, Float, Num, Scalar};
use crate::exp::{ToExp, apply, closure};
use crate::loc::Loc;
use livefusion_backend::Prim;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl<T: Num> Array<T> {
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
        self.fold_op(Builder::named("sum"), Op::Add, T::from_word(0))
    }

    /// The product, from 1; integers wrap. Of no elements it is 1.
    #[track_caller]
    pub fn product(&self) -> Array<T, Ix0> {
        self.fold_op(Builder::named("product"), Op::Mul, T::ONE)
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
    #[track_caller]
    pub fn min(&self) -> Array<T, Ix0> {
        let step = operator(Op::Min, T::TY);
        self.fold_by(
            Builder::named("min"),
            Body::default(),
            step,
            FoldStyle::First,
        )
    }

    /// The largest element. Floats: NaN is ignored (of NaN alone it is NaN), -0.0 is below +0.0.
    ///
    /// # Errors
    /// When forced: if there are no elements.
    #[track_caller]
    pub fn max(&self) -> Array<T, Ix0> {
        let step = operator(Op::Max, T::TY);
        self.fold_by(
            Builder::named("max"),
            Body::default(),
            step,
            FoldStyle::First,
        )
    }
}

impl<T: Num> Array<T> {
    /// The sum over the number of elements; NaN if there are none. Of integers it is an `f64`, and each is
    /// made one before it is added, so nothing wraps. Fuses as [`sum`](Array::sum) does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![1.0f32, 2.0, 6.0]).mean().force()?, 3.0f32);
    /// assert_eq!(Array::from(vec![i64::MAX, i64::MAX]).mean().force()?, i64::MAX as f64);
    /// assert!(Array::<f64>::from(vec![]).mean().force()?.is_nan());
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn mean(&self) -> Array<T::Mean, Ix0> {
        let builder = Builder::named("mean");
        mean_of(builder, &self.floats(builder))
    }

    /// The variance of all elements: the mean of the squares of their distances from the mean (not
    /// estimated from a sample: the divisor is `n`, not `n - 1`). NaN if there are none; of integers it is
    /// an `f64`.
    ///
    /// It is computed in two passes, of which the first makes the mean: squares are never taken of numbers
    /// that are large beside their spread. An array that is not in memory is kept there between them, or
    /// computed twice, if that is cheap. Both passes fuse with others of arrays in step.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![2i64, 4, 4, 4, 5, 5, 7, 9]);
    /// assert_eq!((&xs.var(), &xs.std()).force()?, (4.0, 2.0));
    /// // Far from 0 no digit is lost.
    /// assert_eq!(Array::from(vec![1e9f64, 1e9 + 1.0]).var().force()?, 0.25);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn var(&self) -> Array<T::Mean, Ix0> {
        self.variance(Builder::named("var"))
    }

    /// The standard deviation: the square root of the [variance](Array::var), at the same cost. NaN if there
    /// are no elements.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![1.0f64, 5.0]).std().force()?, 2.0);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn std(&self) -> Array<T::Mean, Ix0> {
        let builder = Builder::named("std");
        let variance = self.variance(builder);
        let mut b = BodyBuilder::new(&[]);
        let variance = b.scalar(variance.node(), 0);
        let root = b.op(Op::Sqrt, &[variance]);
        Array::wrap(builder.compute(b.finish(&[root])))
    }

    fn variance(&self, builder: Builder) -> Array<T::Mean, Ix0> {
        let xs = self.floats(builder);
        let mean = mean_of(builder, &xs);
        let mut b = BodyBuilder::new(&[T::Mean::TY]);
        let (x, mean) = (b.param(0), b.scalar(mean.node(), 0));
        let away = b.op(Op::Sub, &[x, mean]);
        let square = b.op(Op::Mul, &[away, away]);
        let squares = builder.map(std::slice::from_ref(xs.node()), b.finish(&[square]));
        mean_of(builder, &Array::wrap(squares))
    }

    /// The elements as floats.
    fn floats(&self, builder: Builder) -> Array<T::Mean> {
        if T::TY.is_float() {
            return Array::wrap(self.node().clone());
        }
        let mut b = BodyBuilder::new(&[T::TY]);
        let x = b.param(0);
        let x = b.cast(x, T::Mean::TY);
        Array::wrap(builder.map(std::slice::from_ref(self.node()), b.finish(&[x])))
    }
}

fn mean_of<T: Float>(builder: Builder, xs: &Array<T>) -> Array<T, Ix0> {
    let sum = xs.fold_op(builder, Op::Add, T::from_word(0));
    let len = builder.len(xs.node());
    let mut b = BodyBuilder::new(&[]);
    let (sum, n) = (b.scalar(sum.node(), 0), b.scalar(&len, 0));
    let n = b.cast(n, T::TY);
    let mean = b.op(Op::Div, &[sum, n]);
    Array::wrap(builder.compute(b.finish(&[mean])))
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
    #[track_caller]
    pub fn any<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<bool, Ix0> {
        let builder = Builder::named("any");
        self.decided(builder, test, true)
            .fold_op(builder, Op::Or, false)
    }

    /// Whether `test` is true for every element; true if there are none. A loop in which nothing else is
    /// left to do ends at the first element for which it is not.
    #[track_caller]
    pub fn all<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<bool, Ix0> {
        let builder = Builder::named("all");
        self.decided(builder, test, false)
            .fold_op(builder, Op::And, true)
    }

    /// For how many elements `test` is true.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(Array::from(vec![1i64, 5, 7]).count(|x| x.gt(4)).force()?, 2);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn count<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<u64, Ix0> {
        let (builder, loc) = (Builder::named("count"), Loc::caller());
        let body = closure::<T, u64>(|x| apply(Op::Cast, &[test(x).to_exp().field()], loc));
        let ones: Array<u64> = Array::wrap(builder.map(std::slice::from_ref(self.node()), body));
        ones.fold_op(builder, Op::Add, 0)
    }

    /// What the test says of each element, up to the first one that decides.
    fn decided<R: ToExp<bool>>(
        &self,
        builder: Builder,
        test: impl FnOnce(T::Exp) -> R,
        by: bool,
    ) -> Array<bool> {
        let body = closure::<T, bool>(|x| test(x).to_exp());
        let tags = builder.map(std::slice::from_ref(self.node()), body);
        Array::wrap(up_to_first(builder, &tags, by))
    }
}

impl<T: Scalar> Array<T> {
    /// A fold by a single operator, which lowering recognises.
    fn fold_op(&self, builder: Builder, op: Op, start: T) -> Array<T, Ix0> {
        let start = literal(start);
        self.fold_by(builder, start, operator(op, T::TY), FoldStyle::Associative)
    }
}

/// The body that is one value.
pub(crate) fn literal<T: Scalar>(value: T) -> Body {
    let mut b = BodyBuilder::new(&[]);
    let value = b.lit(Const {
        ty: T::TY,
        bits: value.to_word(),
    });
    b.finish(&[value])
}

/// The body of a binary operator on scalars.
pub(crate) fn operator(op: Op, ty: Ty) -> Body {
    let mut b = BodyBuilder::new(&[ty, ty]);
    let args = [b.param(0), b.param(1)];
    let result = b.op(op, &args);
    b.finish(&[result])
}
