//! Where the extremes are: `min_index`, `max_index`.

use crate::array::{Array, Ix0};
use crate::ast::{Body, BodyBuilder, Builder, Fold, FoldStyle, Len};
use crate::elt::Num;
use loop_lang::op::Op;
use loop_lang::types::Ty;

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
    #[track_caller]
    pub fn min_index(&self) -> Array<u64, Ix0> {
        self.extremum(Builder::named("min_index"), Op::Lt)
    }

    /// The index of the largest element; ties and NaN as in [`min_index`](Array::min_index).
    ///
    /// # Errors
    /// When forced: if there are no elements.
    #[track_caller]
    pub fn max_index(&self) -> Array<u64, Ix0> {
        self.extremum(Builder::named("max_index"), Op::Gt)
    }

    /// A fold over pairs of value and index.
    fn extremum(&self, builder: Builder, better: Op) -> Array<u64, Ix0> {
        let len = Len::Delayed(builder.len(self.node()));
        let indices = builder.generate(len, crate::ast::identity(&[Ty::U64]));
        let pairs = builder.zip(&[self.node().clone(), indices]);
        let fold = Fold {
            start: Body::default(),
            step: step(better, T::TY),
            style: FoldStyle::First,
        };
        let found = builder.fold(&pairs, fold);
        Array::wrap(builder.fields(&found, 1..2))
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
