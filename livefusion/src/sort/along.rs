//! Sorts and medians along an axis: `sort`, `argsort`, `median`.

use crate::array::{Array, Dim};
use crate::ast::{Builder, Node};
use crate::elt::{Elt, Num};
use crate::over::Along;
use std::sync::Arc;

/// The untyped methods.
impl Builder {
    /// Sorts the elements along an axis in ascending order, for each other index.
    pub fn sort_along(self, xs: &Arc<Node>, axis: usize) -> Arc<Node> {
        self.each_along(xs, axis, Builder::sort)
    }

    /// Returns the indices along an axis that sort its elements (`u64`).
    pub fn argsort_along(self, xs: &Arc<Node>, axis: usize) -> Arc<Node> {
        self.each_along(xs, axis, Builder::argsort)
    }

    /// Returns the median along an axis, for each other index.
    pub fn median_along(self, xs: &Arc<Node>, axis: usize) -> Arc<Node> {
        self.each_along(xs, axis, Builder::median)
    }

    /// Applies a combinator of arrays to the elements along an axis.
    fn each_along(
        self,
        xs: &Arc<Node>,
        axis: usize,
        of: fn(Builder, &Arc<Node>) -> Arc<Node>,
    ) -> Arc<Node> {
        let mut results = self.map_along(xs, &[axis], |row| vec![of(self, row)]);
        results.pop().unwrap_or_else(|| xs.clone())
    }
}

impl<T: Elt, D: Dim> Along<T, D> {
    /// Sorts the elements along the axis in ascending order.
    ///
    /// The order is that of [`Array::sort`].
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[3i64, 1, 2], [0, 9, 4]]);
    /// assert_eq!(m.along(1).sort().force()?, [[1, 2, 3], [0, 4, 9]]);
    /// assert_eq!(m.along(0).sort().force()?, [[0, 1, 2], [3, 9, 4]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* Along the last axis as for [`Segmented::sort`](crate::Segmented::sort):
    /// each row is sorted in a buffer, within the loop of its producers and consumers. Along another
    /// axis elements are read across rows. The sorted vectors are stored, and a second loop reads
    /// them across.
    ///
    /// # Errors
    /// When forced: if there is no such axis, or there is not enough memory.
    #[doc(alias("sort_axis", "sorted"))]
    #[track_caller]
    pub fn sort(&self) -> Array<T, D> {
        Array::wrap(Builder::named("sort").sort_along(self.array.node(), self.axes))
    }

    /// Returns the indices along the axis that sort its elements.
    ///
    /// The sort is stable: equal elements keep their relative order.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[3i64, 1, 2], [0, 9, 4]]);
    /// assert_eq!(m.along(1).argsort().force()?, [[1, 2, 0], [0, 2, 1]]);
    /// assert_eq!(m.along(0).argsort().force()?, [[1, 0, 0], [0, 1, 1]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* As for [`sort`](Along::sort).
    ///
    /// # Errors
    /// As for [`sort`](Along::sort).
    #[doc(alias("argsort_axis", "sort_indices"))]
    #[track_caller]
    pub fn argsort(&self) -> Array<u64, D> {
        Array::wrap(Builder::named("argsort").argsort_along(self.array.node(), self.axes))
    }
}

impl<T: Num, D: Dim> Along<T, D> {
    /// Finds the median along the axis, as [`Array::median`] does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[3i64, 1, 2], [0, 9, 4]]);
    /// assert_eq!(m.along(1).median().force()?, [2.0, 4.0]);
    /// assert_eq!(m.along(0).median().force()?, [1.5, 5.0, 3.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* As for [`Segmented::quantile`](crate::Segmented::quantile): linear time,
    /// external to loops. Along another axis than the last, elements are read across rows.
    ///
    /// # Errors
    /// When forced: if there is no such axis, or it has no elements.
    #[doc(alias = "median_axis")]
    #[track_caller]
    pub fn median(&self) -> Array<f64, D::Smaller> {
        let builder = Builder::named("median");
        Array::checked(builder, builder.median_along(self.array.node(), self.axes))
    }
}
