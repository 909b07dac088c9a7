//! Where each segment's extremes are: `min_index_s`, `max_index_s`.

use super::Segmented;
use crate::array::{Array, better_of};
use crate::ast::{Body, Builder, Fold, FoldStyle, identity};
use crate::elt::Num;
use loop_lang::op::Op;
use loop_lang::types::Ty;

impl<T: Num> Segmented<T> {
    /// The index within its segment of each segment's smallest element; ties and NaN as in
    /// [`Array::min_index`].
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3.0f64, 1.0], vec![2.0, 7.0, 2.0]]);
    /// assert_eq!(rows.min_index_s().force()?, [1, 0]);
    /// assert_eq!(rows.max_index_s().force()?, [0, 1]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if a segment is empty, or the lengths do not match the data.
    #[track_caller]
    pub fn min_index_s(&self) -> Array<u64> {
        self.extremum(Builder::named("min_index_s"), Op::Lt)
    }

    /// The index within its segment of each segment's largest element.
    ///
    /// # Errors
    /// When forced: if a segment is empty, or the lengths do not match the data.
    #[track_caller]
    pub fn max_index_s(&self) -> Array<u64> {
        self.extremum(Builder::named("max_index_s"), Op::Gt)
    }

    /// A fold over pairs of value and index.
    fn extremum(&self, builder: Builder, better: Op) -> Array<u64> {
        let indices = builder.expand(self.lengths.node(), &[], identity(&[Ty::U64]));
        let pairs = builder.zip(&[self.data.node().clone(), indices]);
        let fold = Fold {
            start: Body::default(),
            step: better_of(better, T::TY),
            style: FoldStyle::First,
        };
        let found = builder.fold_s(self.lengths.node(), &pairs, fold);
        Array::wrap(builder.fields(&found, 1..2))
    }
}
