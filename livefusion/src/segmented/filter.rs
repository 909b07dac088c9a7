//! Some of each segment's elements: `filter_s`, `pack_s`.

use super::{Segmented, Segments};
use crate::array::Array;
use crate::ast::{Body, Builder, Node};
use crate::elt::Elt;
use crate::exp::{ToExp, closure};
use std::sync::Arc;

/// Untyped forms.
impl Builder {
    /// The elements for which the test is true, in as many segments as before. Its parameters are the fields of an element.
    pub fn filter_s(self, of: &Segments, test: Body) -> Segments {
        let tags = self.tags(&of.data, test);
        self.pack_s(of, &tags)
    }

    /// The elements whose tag, a `bool`, is true, in as many segments as before.
    pub fn pack_s(self, of: &Segments, tags: &Arc<Node>) -> Segments {
        Segments {
            lengths: self.count_s(&of.lengths, tags),
            data: self.pack(&of.data, tags),
        }
    }
}

impl<T: Elt> Segmented<T> {
    /// The elements for which `keep` is true, in as many segments as before. Gives the data and the new
    /// lengths from one pass, and fuses with what uses either.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1, 4], vec![1], vec![5]]);
    /// let large = rows.filter_s(|x| x.gt(2));
    /// assert_eq!(large.to_vecs()?, [vec![3, 4], vec![], vec![5]]);
    /// assert_eq!(large.sum_s().force()?, [7, 0, 5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[track_caller]
    pub fn filter_s<R: ToExp<bool>>(&self, keep: impl FnOnce(T::Exp) -> R) -> Segmented<T> {
        let builder = Builder::named("filter_s");
        let test = closure::<T, bool>(|x| keep(x).to_exp());
        Segmented::wrap(builder.filter_s(&self.nodes(), test))
    }

    /// The elements whose tag is true, in as many segments as before.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![4]]);
    /// let kept = rows.pack_s(&Array::from(vec![false, true, true]));
    /// assert_eq!(kept.to_vecs()?, [vec![1], vec![4]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are not as many tags as elements, or the lengths do not match the data.
    #[track_caller]
    pub fn pack_s(&self, tags: &Array<bool>) -> Segmented<T> {
        Segmented::wrap(Builder::named("pack_s").pack_s(&self.nodes(), tags.node()))
    }
}
