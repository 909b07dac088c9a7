//! Folds of each segment with operators that everyone knows: `sum_s`, `product_s`, `min_s`, `max_s`,
//! `any_s`, `all_s`, `count_s`, `mean_s`.

use super::Segmented;
use crate::array::{Array, literal, operator};
use crate::ast::{Body, BodyBuilder, Builder, FoldStyle};
use crate::elt::{Elt, Float, Num, Scalar};
use crate::exp::{ToExp, apply, closure};
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::Ty;

impl<T: Num> Segmented<T> {
    /// Each segment's sum, 0 for an empty one; as [`Array::sum`].
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3.0f64, 1.0], vec![], vec![2.0]]);
    /// let (sums, products) = (&rows.sum_s(), &rows.product_s()).force()?; // one loop
    /// assert_eq!((&sums[..], &products[..]), (&[4.0, 0.0, 2.0][..], &[3.0, 1.0, 2.0][..]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[track_caller]
    pub fn sum_s(&self) -> Array<T> {
        self.fold_op(Builder::named("sum_s"), Op::Add, T::from_word(0))
    }

    /// Each segment's product, 1 for an empty one.
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[track_caller]
    pub fn product_s(&self) -> Array<T> {
        self.fold_op(Builder::named("product_s"), Op::Mul, T::ONE)
    }

    /// Each segment's smallest element; NaN and zeros as in [`Array::min`].
    ///
    /// # Errors
    /// When forced: if a segment is empty, or the lengths do not match the data.
    #[track_caller]
    pub fn min_s(&self) -> Array<T> {
        let (builder, step) = (Builder::named("min_s"), operator(Op::Min, T::TY));
        self.fold_by(builder, Body::default(), step, FoldStyle::First)
    }

    /// Each segment's largest element; NaN and zeros as in [`Array::max`].
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![2]]);
    /// assert_eq!(rows.max_s().force()?, [3, 2]);
    /// assert!(Segmented::from_vecs(vec![Vec::<i64>::new()]).max_s().force().is_err());
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if a segment is empty, or the lengths do not match the data.
    #[track_caller]
    pub fn max_s(&self) -> Array<T> {
        let (builder, step) = (Builder::named("max_s"), operator(Op::Max, T::TY));
        self.fold_by(builder, Body::default(), step, FoldStyle::First)
    }
}

impl<T: Float> Segmented<T> {
    /// Each segment's sum over its length; NaN for an empty one.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3.0f64, 1.0], vec![2.0]]);
    /// assert_eq!(rows.mean_s().force()?, [2.0, 2.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[track_caller]
    pub fn mean_s(&self) -> Array<T> {
        let builder = Builder::named("mean_s");
        let sums = self.fold_op(builder, Op::Add, T::from_word(0));
        let loc = Loc::caller();
        let mut b = BodyBuilder::new(&[T::TY, Ty::U64]);
        b.locate(Some(loc));
        let (sum, n) = (b.param(0), b.param(1));
        let n = b.cast(n, T::TY);
        let mean = b.op(Op::Div, &[sum, n]);
        let inputs = [sums.node().clone(), self.lengths.node().clone()];
        Array::wrap(builder.map(&inputs, b.finish(&[mean])))
    }
}

impl<T: Elt> Segmented<T> {
    /// For each segment whether `test` is true for some element.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![], vec![2]]);
    /// let (any, all) = (rows.any_s(|x| x.gt(2)), rows.all_s(|x| x.gt(1)));
    /// assert_eq!(any.force()?, [true, false, false]);
    /// assert_eq!(all.force()?, [false, true, true]);
    /// assert_eq!(rows.count_s(|x| x.gt(1)).force()?, [1, 0, 1]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[track_caller]
    pub fn any_s<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<bool> {
        let builder = Builder::named("any_s");
        self.tested(builder, test).fold_op(builder, Op::Or, false)
    }

    /// For each segment whether `test` is true for every element.
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[track_caller]
    pub fn all_s<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<bool> {
        let builder = Builder::named("all_s");
        self.tested(builder, test).fold_op(builder, Op::And, true)
    }

    /// For how many elements of each segment `test` is true.
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[track_caller]
    pub fn count_s<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<u64> {
        let (builder, loc) = (Builder::named("count_s"), Loc::caller());
        let body = closure::<T, u64>(|x| apply(Op::Cast, &[test(x).to_exp().field()], loc));
        let ones = builder.map(std::slice::from_ref(self.data.node()), body);
        self.with_data(Array::<u64>::wrap(ones))
            .fold_op(builder, Op::Add, 0)
    }

    pub(super) fn tested<R: ToExp<bool>>(
        &self,
        builder: Builder,
        test: impl FnOnce(T::Exp) -> R,
    ) -> Segmented<bool> {
        let body = closure::<T, bool>(|x| test(x).to_exp());
        let tags = builder.map(std::slice::from_ref(self.data.node()), body);
        self.with_data(Array::wrap(tags))
    }
}

impl<T: Scalar> Segmented<T> {
    /// A fold by a single operator, which lowering recognises.
    fn fold_op(&self, builder: Builder, op: Op, start: T) -> Array<T> {
        let start = literal(start);
        self.fold_by(builder, start, operator(op, T::TY), FoldStyle::Associative)
    }
}
