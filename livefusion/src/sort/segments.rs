//! Segments, each sorted alone: `sort_s`, `argsort_s`.

use super::order;
use crate::ast::{Builder, Sorted};
use crate::elt::Elt;
use crate::segmented::{Segmented, Segments};

/// Beside the typed methods.
impl Builder {
    /// Each segment's elements in ascending order.
    pub fn sort_s(self, of: &Segments) -> Segments {
        let sorted = self.ordered_s(&of.lengths, &self.keys(&of.data), Sorted::Elements);
        of.with_data(self.map(&[sorted], order::elements(&of.data.types, self.loc())))
    }

    /// The index within its segment of each segment's elements, in their ascending order (`u64`).
    pub fn argsort_s(self, of: &Segments) -> Segments {
        of.with_data(self.ordered_s(&of.lengths, &self.keys(&of.data), Sorted::Places))
    }
}

impl<T: Elt> Segmented<T> {
    /// Each segment's elements in ascending order, as [`Array::sort`](crate::Array::sort) has it.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3.0f64, 1.0, 2.0], vec![], vec![5.0, 4.0]]);
    /// assert_eq!(rows.sort_s().to_vecs()?, [vec![1.0, 2.0, 3.0], vec![], vec![4.0, 5.0]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* It fuses with what makes the elements and with what is made of them: one pass over a segment hands its
    /// elements on to a later one over the same segment, in memory for one segment, and between the two they are put in order.
    /// Up to 16 elements are sorted by a network, more by std, in the time of `n log n`. On a GPU that is done by the processor.
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data, or there is no memory for it.
    #[track_caller]
    pub fn sort_s(&self) -> Segmented<T> {
        Segmented::wrap(Builder::named("sort_s").sort_s(&self.nodes()))
    }

    /// The index within its segment of each segment's elements, in their ascending order; equal elements stay in the order in which
    /// they come.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3.0f64, 1.0, 2.0], vec![], vec![5.0, 4.0]]);
    /// assert_eq!(rows.argsort_s().to_vecs()?, [vec![1, 2, 0], vec![], vec![1, 0]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`sort_s`](Segmented::sort_s).
    #[track_caller]
    pub fn argsort_s(&self) -> Segmented<u64> {
        Segmented::wrap(Builder::named("argsort_s").argsort_s(&self.nodes()))
    }
}
