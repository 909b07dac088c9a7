//! Folds of each segment with operators that everyone knows: `sum_s`, `product_s`, `min_s`, `max_s`,
//! `any_s`, `all_s`, `count_s`, `mean_s`.

use super::constant;
use super::{Segmented, Segments, expected};
use crate::array::{Array, associative, operator};
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
        self.numbers_s(of, Op::Add, Const::zero)
    }

    /// Each segment's product, 1 for an empty one.
    pub fn product_s(self, of: &Segments) -> Arc<Node> {
        self.numbers_s(of, Op::Mul, one)
    }

    /// Each segment's smallest element; no segment may be empty.
    pub fn min_s(self, of: &Segments) -> Arc<Node> {
        self.best_s(of, Op::Min)
    }

    /// Each segment's largest element; no segment may be empty.
    pub fn max_s(self, of: &Segments) -> Arc<Node> {
        self.best_s(of, Op::Max)
    }

    /// Each segment's sum over its length, of floats; NaN for an empty one.
    pub fn mean_s(self, of: &Segments) -> Arc<Node> {
        let &[ty @ (Ty::F32 | Ty::F64)] = of.data.types.as_slice() else {
            let kind = expected("elements of one float each", &of.data);
            return self.instead(&of.both(), &of.data.types, kind);
        };
        let sums = self.sum_s(of);
        let mut b = BodyBuilder::new(&[ty, Ty::U64]);
        b.locate(Some(self.loc()));
        let (sum, n) = (b.param(0), b.param(1));
        let n = b.cast(n, ty);
        let mean = b.op(Op::Div, &[sum, n]);
        self.map(&[sums, of.lengths.clone()], b.finish(&[mean]))
    }

    /// For each segment whether the test is true for some element.
    pub fn any_s(self, of: &Segments, test: Body) -> Arc<Node> {
        let tags = of.with_data(self.tested_s(of, test));
        self.joined_s(&tags, Op::Or, Const::bool(false))
    }

    /// For each segment whether the test is true for every element.
    pub fn all_s(self, of: &Segments, test: Body) -> Arc<Node> {
        let tags = of.with_data(self.tested_s(of, test));
        self.joined_s(&tags, Op::And, Const::bool(true))
    }

    /// For how many elements of each segment the test is true. (Of tags that are there, see [`Builder::count_s`].)
    pub fn count_if_s(self, of: &Segments, test: Body) -> Arc<Node> {
        let mut b = BodyBuilder::new(&of.data.types);
        let params: Vec<TermId> = (0..of.data.types.len() as u32)
            .map(|k| b.param(k))
            .collect();
        let ones = match b.embed(&test, &params).as_deref() {
            Some(&[holds]) if b.ty(holds) == Some(Ty::Bool) => {
                let one = b.locate(Some(self.loc())).cast(holds, Ty::U64);
                self.map(std::slice::from_ref(&of.data), b.finish(&[one]))
            }
            // The mistake comes out.
            _ => self.tested_s(of, test),
        };
        self.joined_s(&of.with_data(ones), Op::Add, Const::u64(0))
    }

    /// What the test says of each element.
    pub(super) fn tested_s(self, of: &Segments, test: Body) -> Arc<Node> {
        let tags = self.map(std::slice::from_ref(&of.data), test);
        match *tags.types == [Ty::Bool] {
            true => tags,
            false => {
                let kind = expected("a test that gives a bool", &tags);
                self.instead(&[&tags], &[Ty::Bool], kind)
            }
        }
    }

    fn numbers_s(self, of: &Segments, op: Op, start: fn(Ty) -> Const) -> Arc<Node> {
        match self.one_number(&of.data) {
            Ok(ty) => self.joined_s(of, op, start(ty)),
            Err(kind) => self.instead(&of.both(), &of.data.types, kind),
        }
    }

    fn best_s(self, of: &Segments, op: Op) -> Arc<Node> {
        match self.one_number(&of.data) {
            Ok(ty) => self.fold1_s(of, operator(op, ty)),
            Err(kind) => self.instead(&of.both(), &of.data.types, kind),
        }
    }

    /// A fold by a single operator, which lowering recognises.
    fn joined_s(self, of: &Segments, op: Op, start: Const) -> Arc<Node> {
        let fold = associative(constant(start), operator(op, start.ty));
        self.fold_s(&of.lengths, &of.data, fold)
    }
}

fn one(ty: Ty) -> Const {
    match ty {
        Ty::F32 => Const::f32(1.0),
        Ty::F64 => Const::f64(1.0),
        _ => Const::new(ty, 1),
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
    #[track_caller]
    pub fn max_s(&self) -> Array<T> {
        Array::wrap(Builder::named("max_s").max_s(&self.nodes()))
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
