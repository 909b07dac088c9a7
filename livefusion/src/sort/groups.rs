//! Groups of equal elements: `unique_counts`, `group_by_key`.

use super::order;
use crate::array::Array;
use crate::ast::{Builder, Node};
use crate::elt::Elt;
use crate::segmented::{Segmented, Segments};
use std::sync::Arc;

/// The untyped methods. Equal keys in sorted order are runs of equal neighbours.
impl Builder {
    /// Returns the distinct elements in ascending order with their counts (`u64`).
    pub fn unique_counts(self, xs: &Arc<Node>) -> Arc<Node> {
        let keys = match xs.types.len() {
            1 => self.sorted(&self.keys(xs)),
            _ => self.keys(&self.gather(xs, &self.argsort_beside(xs, &[xs]))),
        };
        let (found, counts) = self.group(&keys);
        let found = self.map(&[found], order::elements(&xs.types, self.loc()));
        self.zip(&[found, counts])
    }

    /// Groups the values by key, and returns the distinct keys in ascending order.
    ///
    /// The values of each key keep their relative order.
    pub fn group_by_key(self, values: &Arc<Node>, keys: &Arc<Node>) -> (Arc<Node>, Segments) {
        let width = keys.types.len() as u32;
        let all = self.zip(&[keys.clone(), values.clone()]);
        let keys = self.fields(&all, 0..width);
        let order = self.argsort_beside(&keys, &[values, &keys]);
        let (found, lengths) = self.group(&self.keys(&self.gather(&keys, &order)));
        let found = self.map(&[found], order::elements(&keys.types, self.loc()));
        let data = self.gather(values, &order);
        (found, self.segments(&lengths, &data))
    }
}

impl<T: Elt> Array<T> {
    /// Returns the distinct elements in ascending order with their counts.
    ///
    /// Order and equality are those of [`sort`](Array::sort).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![30u8, 10, 30, 20, 30]);
    /// assert_eq!(xs.unique_counts().force()?, [(10, 1), (20, 1), (30, 3)]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* A sort, followed by [`group`](Array::group), which fuses with its
    /// consumers.
    ///
    /// # Errors
    /// As for [`sort`](Array::sort).
    #[doc(alias("unique", "distinct", "value_counts", "dedup", "rle"))]
    #[track_caller]
    pub fn unique_counts(&self) -> Array<(T, u64)>
    where
        (T, u64): Elt,
    {
        Array::wrap(Builder::named("unique_counts").unique_counts(self.node()))
    }

    /// Groups the elements by key.
    ///
    /// Returns the distinct keys in ascending order, and for each key a segment of its elements in
    /// their original order.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let state = Array::from(vec![7u32, 3, 7, 3, 7]);
    /// let rain = Array::from(vec![1.0f64, 2.0, 3.0, 4.0, 5.0]);
    /// let (states, by_state) = rain.group_by_key(&state);
    /// let (states, totals) = (&states, &by_state.sum()).force()?;
    /// assert_eq!(states, [3, 7]);
    /// assert_eq!(totals, [6.0, 9.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* A sort of the keys with their places. Operations on the segments fuse
    /// with the gather of the elements. (Sums alone need no sort: [`factorize`](Array::factorize)
    /// the keys, and reduce by their codes.)
    ///
    /// # Errors
    /// When forced: if the number of keys differs, and as for [`sort`](Array::sort).
    #[doc(alias("groupby", "partition_by"))]
    #[track_caller]
    pub fn group_by_key<K: Elt>(&self, keys: &Array<K>) -> (Array<K>, Segmented<T>) {
        let builder = Builder::named("group_by_key");
        let (keys, segments) = builder.group_by_key(self.node(), keys.node());
        (Array::wrap(keys), Segmented::wrap(segments))
    }
}
