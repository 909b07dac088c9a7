//! Folds of each segment with operators that everyone knows: `sum_s`, `product_s`, `min_s`, `max_s`,
//! `any_s`, `all_s`, `count_s`, `mean_s`.

use super::{Segmented, Segments};
use crate::array::{Array, Statistic, by, one, step_of};
use crate::ast::{Body, BodyBuilder, Builder, Node, TermId};
use crate::elt::{Elt, Float, Num};
use crate::exp::{ToExp, closure};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Untyped forms. What is added, multiplied or compared is one number each; a test takes the fields of an element.
impl Builder {
    /// Each segment's sum, 0 for an empty one.
    pub fn sum_s(self, of: &Segments) -> Arc<Node> {
        self.numbers_s(of, |ty| self.joined_s(of, Op::Add, Const::zero(ty)))
    }

    /// Each segment's product, 1 for an empty one.
    pub fn product_s(self, of: &Segments) -> Arc<Node> {
        self.numbers_s(of, |ty| self.joined_s(of, Op::Mul, one(ty)))
    }

    /// Each segment's smallest element; no segment may be empty.
    pub fn min_s(self, of: &Segments) -> Arc<Node> {
        self.numbers_s(of, |ty| self.fold1_s(of, step_of(Op::Min, ty)))
    }

    /// Each segment's largest element; no segment may be empty.
    pub fn max_s(self, of: &Segments) -> Arc<Node> {
        self.numbers_s(of, |ty| self.fold1_s(of, step_of(Op::Max, ty)))
    }

    /// Each segment's sum over its length, of floats; NaN for an empty one.
    pub fn mean_s(self, of: &Segments) -> Arc<Node> {
        let ty = match of.data.types[..] {
            [ty] if ty.is_float() => ty,
            _ => return self.unfit(&of.data, &of.data.types, 1, "elements of one float each"),
        };
        let mean = Statistic::mean(ty);
        let sums = self.fold_s(&of.lengths, &self.floats(&of.data), mean.fold.clone());
        let mut b = BodyBuilder::new(&[&sums.types[..], &[Ty::U64]].concat());
        b.locate(Some(self.loc()));
        let state: Vec<TermId> = (0..mean.width()).map(|k| b.param(k)).collect();
        let n = b.param(mean.width());
        let result = mean.result(&mut b, &state, n);
        self.map(&[sums, of.lengths.clone()], b.finish(&result))
    }

    /// For each segment whether the test is true for some element.
    pub fn any_s(self, of: &Segments, test: Body) -> Arc<Node> {
        let tags = of.with_data(self.tags(&of.data, test));
        self.joined_s(&tags, Op::Or, Const::bool(false))
    }

    /// For each segment whether the test is true for every element.
    pub fn all_s(self, of: &Segments, test: Body) -> Arc<Node> {
        let tags = of.with_data(self.tags(&of.data, test));
        self.joined_s(&tags, Op::And, Const::bool(true))
    }

    /// For how many elements of each segment the test is true. (By tags it is [`count_s`](Builder::count_s).)
    pub fn count_if_s(self, of: &Segments, test: Body) -> Arc<Node> {
        let ones = self.ones(&of.data, test);
        self.joined_s(&of.with_data(ones), Op::Add, Const::u64(0))
    }

    /// What is made of elements that are one number each, of this type.
    fn numbers_s(self, of: &Segments, make: impl FnOnce(Ty) -> Arc<Node>) -> Arc<Node> {
        self.numbers(&of.data, (&of.data.types, 1), make)
    }

    /// A fold by a single operator, which lowering recognises.
    fn joined_s(self, of: &Segments, op: Op, start: Const) -> Arc<Node> {
        self.fold_s(&of.lengths, &of.data, by(op, start))
    }
}

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
    #[doc(alias = "add.reduceat")]
    #[track_caller]
    pub fn sum_s(&self) -> Array<T> {
        Array::wrap(Builder::named("sum_s").sum_s(&self.nodes()))
    }

    /// Each segment's product, 1 for an empty one.
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[track_caller]
    pub fn product_s(&self) -> Array<T> {
        Array::wrap(Builder::named("product_s").product_s(&self.nodes()))
    }

    /// Each segment's smallest element; NaN and zeros as in [`Array::min`].
    ///
    /// # Errors
    /// When forced: if a segment is empty, or the lengths do not match the data.
    #[doc(alias = "minimum.reduceat")]
    #[track_caller]
    pub fn min_s(&self) -> Array<T> {
        Array::wrap(Builder::named("min_s").min_s(&self.nodes()))
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
    #[doc(alias = "maximum.reduceat")]
    #[track_caller]
    pub fn max_s(&self) -> Array<T> {
        Array::wrap(Builder::named("max_s").max_s(&self.nodes()))
    }
}

impl<T: Float> Segmented<T> {
    /// Each segment's sum over its length; NaN for an empty one.
    ///
    /// As accurate as [`mean`](Array::mean), in one pass.
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
        Array::wrap(Builder::named("mean_s").mean_s(&self.nodes()))
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
        let test = closure::<T, bool>(|x| test(x).to_exp());
        Array::wrap(builder.any_s(&self.nodes(), test))
    }

    /// For each segment whether `test` is true for every element.
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[track_caller]
    pub fn all_s<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<bool> {
        let builder = Builder::named("all_s");
        let test = closure::<T, bool>(|x| test(x).to_exp());
        Array::wrap(builder.all_s(&self.nodes(), test))
    }

    /// For how many elements of each segment `test` is true.
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[track_caller]
    pub fn count_s<R: ToExp<bool>>(&self, test: impl FnOnce(T::Exp) -> R) -> Array<u64> {
        let builder = Builder::named("count_s");
        let test = closure::<T, bool>(|x| test(x).to_exp());
        Array::wrap(builder.count_if_s(&self.nodes(), test))
    }
}
