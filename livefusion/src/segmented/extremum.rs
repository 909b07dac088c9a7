//! Where each segment's extremes are: `min_index_s`, `max_index_s`.

use super::{Segmented, Segments};
use crate::array::{Array, better_of};
use crate::ast::{Builder, Fold, Node, identity};
use crate::elt::Num;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

/// Untyped forms. Elements are one number each.
impl Builder {
    /// The index within its segment of each segment's smallest element.
    pub fn min_index_s(self, of: &Segments) -> Arc<Node> {
        self.extremum_s(of, Op::Lt)
    }

    /// The index within its segment of each segment's largest element.
    pub fn max_index_s(self, of: &Segments) -> Arc<Node> {
        self.extremum_s(of, Op::Gt)
    }

    /// A fold over pairs of value and index.
    fn extremum_s(self, of: &Segments, better: Op) -> Arc<Node> {
        self.numbers(&of.data, (&[Ty::U64], 1), |ty| {
            let indices = self.expand(&of.lengths, &[], identity(&[Ty::U64]));
            let pairs = self.zip(&[of.data.clone(), indices]);
            let fold = Fold::first(better_of(better, ty));
            let found = self.fold_s(&of.lengths, &pairs, fold);
            self.fields(&found, 1..2)
        })
    }
}

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
        Array::wrap(Builder::named("min_index_s").min_index_s(&self.nodes()))
    }

    /// The index within its segment of each segment's largest element.
    ///
    /// # Errors
    /// When forced: if a segment is empty, or the lengths do not match the data.
    #[track_caller]
    pub fn max_index_s(&self) -> Array<u64> {
        Array::wrap(Builder::named("max_index_s").max_index_s(&self.nodes()))
    }
}
