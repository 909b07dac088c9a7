//! Sorting, and what hangs on it.
//!
//! | module | room for |
//! | --- | --- |
//! | `order` | the order of scalars, as that of unsigned integers |
//! | `call` | the functions that sort columns of these |
//! | `radix` | the radix sort that these call |
//! | `by` | `sort_by` |
//! | `join` | `join`, `left_join` |
//! | `between` | interpolation between two numbers |
//! | `quantile` | `median`, `quantile`, also of segments |
//! | `search` | `searchsorted`, `digitize` |
//! | `codes` | `factorize` |
//! | `groups` | `unique_counts`, `group_by_key` |
//! | `segments` | `sort`, `argsort` of segments |
//! | `top` | `top_k`, `argtop_k` |
//!
//! A sort runs apart: loops fuse up to it, and behind it. Its keys are computed by the loop before it, and what is read in its
//! order is read by the loop behind it. One of segments is a combinator, and fuses.

mod between;
mod by;
mod call;
mod codes;
mod groups;
mod join;
mod order;
mod quantile;
mod radix;
mod search;
mod segments;
mod top;

pub(crate) use search::places_before;

use crate::array::Array;
use crate::ast::{Body, Builder, Function, Gives, Node, Types, show_node};
use crate::elt::Elt;
use crate::error::ErrorKind;
use crate::loc::Loc;
use call::{Argsort, Sort};
use loop_lang::types::Ty;
use std::sync::Arc;

/// Beside the typed methods.
impl Builder {
    /// The elements in ascending order.
    pub fn sort(self, xs: &Arc<Node>) -> Arc<Node> {
        if xs.types.len() != 1 {
            return self.gather(xs, &self.argsort_beside(xs, &[xs]));
        }
        let sorted = self.sorted(&self.keys(xs));
        self.map(&[sorted], order::elements(&xs.types, self.loc()))
    }

    /// The places of the elements in ascending order (`u64`); of equal ones in the order in which they come.
    pub fn argsort(self, xs: &Arc<Node>) -> Arc<Node> {
        self.argsort_beside(xs, &[])
    }

    /// As [`argsort`](Builder::argsort). What is `read` in that order behind it is made by the loop that makes the keys, if it can
    /// only be read from memory: else it would be made by a loop of its own.
    fn argsort_beside(self, xs: &Arc<Node>, read: &[&Arc<Node>]) -> Arc<Node> {
        let streams = read.iter().filter(|read| read.is_stream);
        let mut inputs: Vec<Arc<Node>> = streams.map(|stream| (*stream).clone()).collect();
        inputs.push(self.keys(xs));
        self.ordered(&inputs, Types::from_slice(&[Ty::U64]), Argsort)
    }

    /// The values in the ascending order of as many keys; those of equal keys in the order in which they come.
    pub fn sort_by_key(self, values: &Arc<Node>, keys: &Arc<Node>) -> Arc<Node> {
        // That there are as many of each is for the zip to see.
        let width = keys.types.len() as u32;
        let all = self.zip(&[keys.clone(), values.clone()]);
        let keys = self.fields(&all, 0..width);
        self.gather(values, &self.argsort_beside(&keys, &[values]))
    }

    /// Keys in ascending order.
    fn sorted(self, keys: &Arc<Node>) -> Arc<Node> {
        match keys.types.len() {
            1 => self.ordered(std::slice::from_ref(keys), keys.types.clone(), Sort),
            _ => self.gather(keys, &self.order_of(keys)),
        }
    }

    /// The places of keys in ascending order.
    fn order_of(self, keys: &Arc<Node>) -> Arc<Node> {
        let places = Types::from_slice(&[Ty::U64]);
        self.ordered(std::slice::from_ref(keys), places, Argsort)
    }

    /// The keys that stand for the elements, in their order.
    fn keys(self, xs: &Arc<Node>) -> Arc<Node> {
        self.keys_by(xs, order::keys)
    }

    /// The keys that stand for the elements in an order.
    fn keys_by(self, xs: &Arc<Node>, order: fn(&[Ty], Loc) -> Body) -> Arc<Node> {
        if xs.error.is_none() && xs.rank != 1 {
            let types: Vec<Ty> = xs.types.iter().map(|ty| order::bits_of(*ty)).collect();
            let (expected, got) = ("an array of rank 1".to_string(), show_node(xs));
            return self.fault(&types, 1, ErrorKind::Malformed { expected, got });
        }
        self.map(std::slice::from_ref(xs), order(&xs.types, self.loc()))
    }

    /// What a function gives that puts the last input in order.
    fn ordered(
        self,
        inputs: &[Arc<Node>],
        types: Types,
        function: impl Function + 'static,
    ) -> Arc<Node> {
        let gives = Gives {
            types,
            rank: 1,
            like: inputs.len().checked_sub(1),
        };
        self.external(inputs, gives, Arc::new(function))
    }
}

impl<T: Elt> Array<T> {
    /// The elements in ascending order. Tuples and structs are compared field by field. Of floats `-0.0` comes before `0.0`, and
    /// all NaN come last.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3.0f64, -1.0, f64::NAN, 2.0]);
    /// assert_eq!(xs.sort().take(3).force()?, [-1.0, 2.0, 3.0]);
    /// // The squares are computed by the loop before the sort, the roots by the one behind it.
    /// let roots = xs.map(|x| x * x).sort().map(|x| x.sqrt());
    /// assert_eq!(roots.take(3).force()?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* A sort of std's for few elements, a radix sort for many, on the engine's threads. The radix sort splits keys by
    /// their topmost digit that varies, and sorts each part alone, from the lowest digit on; keys in order already are copied. It needs
    /// one scratch array as large as the result. It runs apart, since it looks at all elements before it gives the first one: nothing
    /// fuses across it, as [`explain`](crate::Force::explain) says; but what makes the elements, and what is made of them in order, is
    /// in the loops before and behind it.
    ///
    /// # Errors
    /// When forced: if there is no memory for it.
    #[doc(alias("sorted", "order"))]
    #[track_caller]
    pub fn sort(&self) -> Array<T> {
        Array::wrap(Builder::named("sort").sort(self.node()))
    }

    /// The places of the elements in ascending order: `xs.gather(&xs.argsort())` is `xs.sort()`. Equal elements stay in the order in
    /// which they come (the sort is stable). Otherwise as [`sort`](Array::sort).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![30u8, 10, 20, 10]);
    /// assert_eq!(xs.argsort().force()?, [1, 3, 2, 0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`sort`](Array::sort).
    #[doc(alias("order", "sort_indices", "grade_up"))]
    #[track_caller]
    pub fn argsort(&self) -> Array<u64> {
        Array::wrap(Builder::named("argsort").argsort(self.node()))
    }

    /// The elements in the ascending order of as many keys. Those of equal keys stay in the order in which they come (the sort is
    /// stable). The elements are gathered by whatever loop uses them.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let names = Array::from(vec![7u32, 8, 9]);
    /// let ages = Array::from(vec![41u8, 29, 41]);
    /// assert_eq!(names.sort_by_key(&ages).force()?, [8, 7, 9]);
    /// // Descending, by a key that is computed:
    /// assert_eq!(names.sort_by_key(&ages.map(|a| -a.cast::<i16>())).force()?, [7, 9, 8]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are not as many keys; and as of [`sort`](Array::sort).
    #[doc(alias("arrange", "order_by"))]
    #[track_caller]
    pub fn sort_by_key<K: Elt>(&self, keys: &Array<K>) -> Array<T> {
        Array::wrap(Builder::named("sort_by_key").sort_by_key(self.node(), keys.node()))
    }
}
