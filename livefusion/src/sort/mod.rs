//! Sorting, and operations built on it.
//!
//! | module | contents |
//! | --- | --- |
//! | `order` | maps the order of scalars to that of unsigned integers |
//! | `call` | functions that sort columns of such integers |
//! | `radix` | the radix sort for many of them |
//! | `by` | `sort_by` |
//! | `join` | `join`, `left_join` |
//! | `between` | interpolation between two numbers |
//! | `quantile` | `median`, `quantile`, also of segments |
//! | `search` | `searchsorted`, `digitize` |
//! | `codes` | `factorize` |
//! | `by_key` | `reduce_by_key`, `top_k_by_index`, `top_k_by_key` |
//! | `components` | `components` of a graph |
//! | `groups` | `unique_counts`, `group_by_key` |
//! | `segments` | `sort`, `argsort` of segments |
//! | `along` | `sort`, `argsort`, `median` along an axis |
//! | `top` | `top_k`, `argtop_k` |
//!
//! A sort is external to loops: loops fuse before it and after it. The loop before it computes its
//! keys. The loop after it reads elements in sorted order. A sort of segments is a combinator, and
//! fuses.

mod along;
mod between;
mod by;
mod by_key;
mod call;
mod codes;
mod components;
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

/// The untyped methods.
impl Builder {
    /// Sorts the elements in ascending order.
    pub fn sort(self, xs: &Arc<Node>) -> Arc<Node> {
        if xs.types.len() != 1 {
            return self.gather(xs, &self.argsort_beside(xs, &[xs]));
        }
        let sorted = self.sorted(&self.keys(xs));
        self.map(&[sorted], order::elements(&xs.types, self.loc()))
    }

    /// Returns the places of the elements in ascending order (`u64`).
    ///
    /// The sort is stable.
    pub fn argsort(self, xs: &Arc<Node>) -> Arc<Node> {
        self.argsort_beside(xs, &[])
    }

    /// Works as [`argsort`](Builder::argsort).
    ///
    /// The arrays in `read` are read in sorted order later. Streams among them must be stored. As
    /// inputs of the sort they are stored by the loop that makes the keys, instead of by another
    /// loop.
    fn argsort_beside(self, xs: &Arc<Node>, read: &[&Arc<Node>]) -> Arc<Node> {
        let streams = read.iter().filter(|read| read.is_stream);
        let mut inputs: Vec<Arc<Node>> = streams.map(|stream| (*stream).clone()).collect();
        inputs.push(self.keys(xs));
        self.ordered(&inputs, Types::from_slice(&[Ty::U64]), Argsort)
    }

    /// Sorts the values by an array of keys, ascending and stably.
    pub fn sort_by_key(self, values: &Arc<Node>, keys: &Arc<Node>) -> Arc<Node> {
        // The zip checks that there are equally many of both.
        let width = keys.types.len() as u32;
        let all = self.zip(&[keys.clone(), values.clone()]);
        let keys = self.fields(&all, 0..width);
        self.gather(values, &self.argsort_beside(&keys, &[values]))
    }

    /// Sorts keys in ascending order.
    fn sorted(self, keys: &Arc<Node>) -> Arc<Node> {
        match keys.types.len() {
            1 => self.ordered(std::slice::from_ref(keys), keys.types.clone(), Sort),
            _ => self.gather(keys, &self.order_of(keys)),
        }
    }

    /// Returns the places of keys in ascending order.
    fn order_of(self, keys: &Arc<Node>) -> Arc<Node> {
        let places = Types::from_slice(&[Ty::U64]);
        self.ordered(std::slice::from_ref(keys), places, Argsort)
    }

    /// Maps the elements to keys of the same order.
    fn keys(self, xs: &Arc<Node>) -> Arc<Node> {
        self.keys_by(xs, order::keys)
    }

    /// Maps the elements to keys of an order.
    fn keys_by(self, xs: &Arc<Node>, order: fn(&[Ty], Loc) -> Body) -> Arc<Node> {
        if xs.error.is_none() && xs.rank != 1 {
            let types: Vec<Ty> = xs.types.iter().map(|ty| order::bits_of(*ty)).collect();
            let (expected, got) = ("an array of rank 1".to_string(), show_node(xs));
            return self.fault(&types, 1, ErrorKind::Malformed { expected, got });
        }
        self.map(std::slice::from_ref(xs), order(&xs.types, self.loc()))
    }

    /// Calls a function that sorts its last input.
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
    /// Sorts the elements in ascending order.
    ///
    /// Tuples and structs are compared field by field. For floats `-0.0` comes before `0.0`, and
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
    /// *Cost and fusion.* std's sort for few elements, a radix sort for many, on the engine's
    /// threads. The radix sort splits keys by their topmost varying digit. It sorts each part
    /// alone, from the lowest digit up. Keys already in order are copied. It needs one scratch
    /// array as large as the result. A sort reads all elements before it gives the first one. So it
    /// is external to loops, and nothing fuses across it, as [`explain`](crate::Force::explain)
    /// reports. Producers of the elements run in the loop before it, and consumers in the loop
    /// after it.
    ///
    /// # Errors
    /// When forced: if there is not enough memory.
    #[doc(alias("sorted", "order"))]
    #[track_caller]
    pub fn sort(&self) -> Array<T> {
        Array::wrap(Builder::named("sort").sort(self.node()))
    }

    /// Returns the places of the elements in ascending order.
    ///
    /// `xs.gather(&xs.argsort())` is `xs.sort()`. The sort is stable: equal elements keep their
    /// relative order. Otherwise it works as [`sort`](Array::sort).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![30u8, 10, 20, 10]);
    /// assert_eq!(xs.argsort().force()?, [1, 3, 2, 0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`sort`](Array::sort).
    #[doc(alias("order", "sort_indices", "grade_up"))]
    #[track_caller]
    pub fn argsort(&self) -> Array<u64> {
        Array::wrap(Builder::named("argsort").argsort(self.node()))
    }

    /// Sorts the elements by an array of keys, in ascending order.
    ///
    /// The sort is stable: elements with equal keys keep their relative order. The elements are
    /// gathered in the loop of their consumer.
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
    /// When forced: if the number of keys differs, and as for [`sort`](Array::sort).
    #[doc(alias("arrange", "order_by"))]
    #[track_caller]
    pub fn sort_by_key<K: Elt>(&self, keys: &Array<K>) -> Array<T> {
        Array::wrap(Builder::named("sort_by_key").sort_by_key(self.node(), keys.node()))
    }
}
