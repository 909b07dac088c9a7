//! Where the extremes are: `min_index`, `max_index`.

use crate::array::{Array, Ix0};
use crate::ast::{Body, BodyBuilder, Builder, Fold, Len, Node, identity};
use crate::elt::Num;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

/// Elements that are not one number each are a mistake.
impl Builder {
    /// The index of the smallest element; of equal ones, the lowest index.
    pub fn min_index(self, xs: &Arc<Node>) -> Arc<Node> {
        self.extremum(xs, Op::Lt)
    }

    /// The index of the largest element; of equal ones, the lowest index.
    pub fn max_index(self, xs: &Arc<Node>) -> Arc<Node> {
        self.extremum(xs, Op::Gt)
    }

    /// A fold over pairs of value and index.
    fn extremum(self, xs: &Arc<Node>, better: Op) -> Arc<Node> {
        self.numbers(xs, (&[Ty::U64], 0), |ty| {
            let pairs = self.zip(&[xs.clone(), self.places(xs)]);
            let found = self.fold(&pairs, Fold::first(step(better, ty)));
            self.fields(&found, 1..2)
        })
    }

    /// The index of each element.
    pub(crate) fn places(self, xs: &Arc<Node>) -> Arc<Node> {
        let len = Len::Delayed(self.len(xs));
        self.generate(len, identity(&[Ty::U64]))
    }
}

impl<T: Num> Array<T> {
    /// The index of the smallest element; of equal ones, the lowest index. Floats: compared by `<`, so
    /// the zeros are equal; NaN is ignored, and of NaN alone it is index 0.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![f64::NAN, 2.0, 1.0, 1.0]);
    /// assert_eq!((&xs.min_index(), &xs.max_index()).force()?, (2, 1));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are no elements.
    #[doc(alias = "argmin")]
    #[track_caller]
    pub fn min_index(&self) -> Array<u64, Ix0> {
        Array::wrap(Builder::named("min_index").min_index(self.node()))
    }

    /// The index of the largest element; ties and NaN as in [`min_index`](Array::min_index).
    ///
    /// # Errors
    /// When forced: if there are no elements.
    #[doc(alias = "argmax")]
    #[track_caller]
    pub fn max_index(&self) -> Array<u64, Ix0> {
        Array::wrap(Builder::named("max_index").max_index(self.node()))
    }
}

/// The better of two pairs (value, index). Lanes join elements out of order, so ties are decided by
/// index, not by side.
pub(crate) fn step(better: Op, ty: Ty) -> Body {
    let mut b = BodyBuilder::new(&[ty, Ty::U64, ty, Ty::U64]);
    let [x, i, y, j] = [0, 1, 2, 3].map(|k| b.param(k));
    let wins = b.op(better, &[y, x]);
    let ties = b.op(Op::Eq, &[y, x]);
    let before = b.op(Op::Lt, &[j, i]);
    let earlier = b.op(Op::And, &[ties, before]);
    let mut right = b.op(Op::Or, &[wins, earlier]);
    if ty.is_float() {
        // A NaN on the left gives way to a number, and to a NaN that comes before it.
        let left_nan = b.op(Op::Ne, &[x, x]);
        let number = b.op(Op::Eq, &[y, y]);
        let gives_way = b.op(Op::Or, &[number, before]);
        let replaced = b.op(Op::And, &[left_nan, gives_way]);
        right = b.op(Op::Or, &[right, replaced]);
    }
    let value = b.op(Op::Select, &[right, y, x]);
    let index = b.op(Op::Select, &[right, j, i]);
    b.finish(&[value, index])
}
