//! Selection of elements in each segment: `filter`, `pack`.

use super::{Segmented, Segments};
use crate::array::Array;
use crate::ast::{Body, Builder, Node};
use crate::elt::Elt;
use crate::exp::{ToExp, closure};
use std::sync::Arc;

/// Untyped forms.
impl Segments {
    /// Keeps the elements that pass the test, in the same number of segments.
    ///
    /// The parameters of the test are the fields of an element.
    pub fn filter(&self, builder: Builder, test: Body) -> Segments {
        let tags = builder.tags(&self.data, test);
        self.pack(builder, &tags)
    }

    /// Keeps the elements with a true tag, in the same number of segments.
    ///
    /// Tags are of type `bool`.
    pub fn pack(&self, builder: Builder, tags: &Arc<Node>) -> Segments {
        Segments {
            lengths: builder.count_tags(&self.lengths, tags),
            data: builder.pack(&self.data, tags),
        }
    }
}

impl<T: Elt> Segmented<T> {
    /// Keeps the elements for which `keep` is true, segment by segment.
    ///
    /// The number of segments stays the same.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1, 4], vec![1], vec![5]]);
    /// let large = rows.filter(|x| x.gt(2));
    /// assert_eq!(large.to_vecs()?, [vec![3, 4], vec![], vec![5]]);
    /// assert_eq!(large.sum().force()?, [7, 0, 5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* One pass gives the data and the new lengths. It fuses with the consumers
    /// of both.
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[doc(alias = "filter_s")]
    #[track_caller]
    pub fn filter<R: ToExp<bool>>(&self, keep: impl FnOnce(T::Exp) -> R) -> Segmented<T> {
        let builder = Builder::named("filter");
        let test = closure::<T, bool>(|x| keep(x).to_exp());
        Segmented::wrap(self.nodes().filter(builder, test))
    }

    /// Keeps the elements whose tag is true, segment by segment.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![4]]);
    /// let kept = rows.pack(&Array::from(vec![false, true, true]));
    /// assert_eq!(kept.to_vecs()?, [vec![1], vec![4]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are not as many tags as elements, or the lengths do not match the data.
    #[doc(alias = "pack_s")]
    #[track_caller]
    pub fn pack(&self, tags: &Array<bool>) -> Segmented<T> {
        Segmented::wrap(self.nodes().pack(Builder::named("pack"), tags.node()))
    }
}
