//! Segments, each sorted alone: `sort`, `argsort`.

use super::order;
use crate::ast::{Builder, Sorted};
use crate::elt::Elt;
use crate::segmented::{Segmented, Segments};

/// Beside the typed methods.
impl Segments {
    /// Each segment's elements in ascending order.
    pub fn sort(&self, builder: Builder) -> Segments {
        let sorted = builder.sort_keys(&self.lengths, &builder.keys(&self.data), Sorted::Elements);
        self.with_data(builder.map(&[sorted], order::elements(&self.data.types, builder.loc())))
    }

    /// The index within its segment of each segment's elements, in their ascending order (`u64`).
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
    /// *Cost and fusion.* It fuses with what makes the elements and with what is made of them: one pass over a segment hands its
    /// elements on to a later one over the same segment, in memory for one segment, and between the two they are put in order.
    /// Up to 16 elements are sorted by a network, more by std, in the time of `n log n`. On a GPU that is done by the processor.
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data, or there is no memory for it.
    #[doc(alias = "sort_s")]
    #[track_caller]
    pub fn sort(&self) -> Segmented<T> {
        Segmented::wrap(self.nodes().sort(Builder::named("sort")))
    }

    /// Gives the indices within each segment that sort it.
    ///
    /// Equal elements stay in the order in which they come.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3.0f64, 1.0, 2.0], vec![], vec![5.0, 4.0]]);
    /// assert_eq!(rows.argsort().to_vecs()?, [vec![1, 2, 0], vec![], vec![1, 0]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`sort`](Segmented::sort).
    #[doc(alias = "argsort_s")]
    #[track_caller]
    pub fn argsort(&self) -> Segmented<u64> {
        Segmented::wrap(self.nodes().argsort(Builder::named("argsort")))
    }
}
