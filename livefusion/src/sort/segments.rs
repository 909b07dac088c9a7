//! Sorts within segments: `sort`, `argsort`.

use super::order;
use crate::ast::{Builder, Sorted};
use crate::elt::Elt;
use crate::segmented::{Segmented, Segments};

/// The untyped methods.
impl Segments {
    /// Sorts each segment in ascending order.
    pub fn sort(&self, builder: Builder) -> Segments {
        let sorted = builder.sort_keys(&self.lengths, &builder.keys(&self.data), Sorted::Elements);
        self.with_data(builder.map(&[sorted], order::elements(&self.data.types, builder.loc())))
    }

    /// Sorts the elements of each segment in the order of [`top_k`](crate::Array::top_k).
    pub(crate) fn sort_falling(&self, builder: Builder) -> Segments {
        let keys = builder.keys_by(&self.data, order::falling_keys);
        let sorted = builder.sort_keys(&self.lengths, &keys, Sorted::Elements);
        let elements = order::falling_elements(&self.data.types, builder.loc());
        self.with_data(builder.map(&[sorted], elements))
    }

    /// Returns the indices within each segment that sort it (`u64`).
    pub fn argsort(&self, builder: Builder) -> Segments {
        self.with_data(builder.sort_keys(&self.lengths, &builder.keys(&self.data), Sorted::Places))
    }
}

impl<T: Elt> Segmented<T> {
    /// Sorts the elements of each segment in ascending order.
    ///
    /// The order is that of [`Array::sort`](crate::Array::sort).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3.0f64, 1.0, 2.0], vec![], vec![5.0, 4.0]]);
    /// assert_eq!(rows.sort().to_vecs()?, [vec![1.0, 2.0, 3.0], vec![], vec![4.0, 5.0]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* It fuses with its producer and its consumers. One pass over a segment
    /// stores its elements in a buffer for one segment. They are sorted there, and a later pass
    /// over the same segment reads them. Up to 16 elements are sorted by a network, more by std, in
    /// `O(n log n)` time. On a GPU engine the processor does it.
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data, or there is not enough memory.
    #[doc(alias = "sort_s")]
    #[track_caller]
    pub fn sort(&self) -> Segmented<T> {
        Segmented::wrap(self.nodes().sort(Builder::named("sort")))
    }

    /// Returns the indices within each segment that sort it.
    ///
    /// The sort is stable: equal elements keep their relative order.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3.0f64, 1.0, 2.0], vec![], vec![5.0, 4.0]]);
    /// assert_eq!(rows.argsort().to_vecs()?, [vec![1, 2, 0], vec![], vec![1, 0]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`sort`](Segmented::sort).
    #[doc(alias = "argsort_s")]
    #[track_caller]
    pub fn argsort(&self) -> Segmented<u64> {
        Segmented::wrap(self.nodes().argsort(Builder::named("argsort")))
    }
}
