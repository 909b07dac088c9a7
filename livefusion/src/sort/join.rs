//! Joins of arrays by key: `join`, `left_join`.
//!
//! The right keys are sorted with their places. The matches of a left key are then a range of the
//! sorted keys. So the pairs are segments, one for each left key, whose elements are computed from
//! their index.

use crate::array::Array;
use crate::ast::{Builder, Node, show_types};
use crate::elt::Elt;
use crate::exp::{Field, Fields, trace};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// The untyped methods.
impl Builder {
    /// Returns the places of all equal pairs of left and right keys (`u64`, `u64`).
    ///
    /// They come in the order of the left keys, then of the right ones.
    pub fn join(self, left: &Arc<Node>, right: &Arc<Node>) -> Arc<Node> {
        self.fields(&self.pairs(left, right, false), 0..2)
    }

    /// Returns the pairs of a left join (`u64`, `u64`, `bool`).
    ///
    /// These are the pairs of [`join`](Builder::join), with one more for each left key without a
    /// match. The flag tells whether there is a match.
    pub fn left_join(self, left: &Arc<Node>, right: &Arc<Node>) -> Arc<Node> {
        self.pairs(left, right, true)
    }

    fn pairs(self, left: &Arc<Node>, right: &Arc<Node>, all: bool) -> Arc<Node> {
        let loc = self.loc();
        let op = |op, args: &[Field]| Field::op(op, args, loc);
        if left.types != right.types {
            let types = [Ty::U64, Ty::U64, Ty::Bool];
            return self.unfit(right, &types, 1, &show_types(&left.types));
        }
        let [wanted, right] = [left, right].map(|keys| self.keys(keys));
        let order = self.order_of(&right);
        let sorted = self.gather(&right, &order);
        let first = self.searchsorted(&sorted, &wanted);
        let behind = self.searchsorted_right(&sorted, &wanted);
        let [zero, one] = [0, 1].map(|n| Field::literal(Const::u64(n)));
        let found = self.map(
            &[first.clone(), behind],
            trace::trace(&[Ty::U64; 2], |ends| {
                let [first, behind] = [ends[0], ends[1]];
                Fields::from_slice(&[op(Op::Sub, &[behind, first])])
            }),
        );
        let at_least = trace::trace(&[Ty::U64], |n| {
            let least = if all { one } else { zero };
            Fields::from_slice(&[op(Op::Max, &[n[0], least])])
        });
        let lengths = self.map(std::slice::from_ref(&found), at_least);
        let pair = trace::trace(&[Ty::U64; 4], |fields| {
            let [index, place, first, found] = [0, 1, 2, 3].map(|k| fields[k]);
            let is_there = op(Op::Lt, &[index, found]);
            let at = op(Op::Add, &[first, index]);
            let right = is_there.cond(&Field::at(&order, &[at], loc), &[zero], loc);
            Fields::from_slice(&[place, right[0], is_there])
        });
        self.expand(&lengths, &[self.places(left), first, found], pair)
    }
}

impl<K: Elt> Array<K> {
    /// Returns the places of all pairs of equal keys.
    ///
    /// The pairs come in the order of the keys in `self`, then of those in `other`. Use
    /// [`gather`](Array::gather) to fetch data that belongs to the keys.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let airport = Array::from(vec![7u32, 3, 9]);
    /// let flight_to = Array::from(vec![3u32, 7, 3, 5]);
    /// let pairs = airport.join(&flight_to);
    /// assert_eq!(pairs.force()?, [(0, 1), (1, 0), (1, 2)]);
    /// // How many passengers come to airports of each size: pairs are not in memory.
    /// let size = Array::from(vec![1usize, 0, 1]);
    /// let passengers = Array::from(vec![100u64, 80, 50, 60]);
    /// let of_size = size.gather(&pairs.map(|(a, _)| a));
    /// let come = passengers.gather(&pairs.map(|(_, f)| f));
    /// let by_size = come.reduce_by_index(&of_size, Bins { count: 2, start: 0u64 }, |a, b| a + b);
    /// assert_eq!(by_size.force()?, [150, 80]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// Equality is that of [`sort`](Array::sort): `-0.0` differs from `0.0`, and all NaN are equal.
    ///
    /// *Cost and fusion.* The keys of `other` are sorted with their places, external to loops. Each
    /// key of `self` takes two binary searches. The pairs are a rate, as the elements of segments
    /// are. Their consumers fuse with the searches, and pairs are stored only on request.
    ///
    /// # Errors
    /// As for [`sort`](Array::sort).
    #[doc(alias("inner_join", "merge"))]
    #[track_caller]
    pub fn join(&self, other: &Array<K>) -> Array<(u64, u64)> {
        Array::wrap(Builder::named("join").join(self.node(), other.node()))
    }

    /// Returns the pairs of [`join`](Array::join), and one for each key without a match.
    ///
    /// The `bool` is `false` in a pair without a match. Its second place is then meaningless.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let order = Array::from(vec![7u32, 5, 3]);
    /// let stock = Array::from(vec![3u32, 7]);
    /// let pairs = order.left_join(&stock);
    /// assert_eq!(pairs.force()?, [(0, 1, true), (1, 0, false), (2, 0, true)]);
    /// let left = Array::from(vec![12i64, 40]);
    /// let there = pairs.map(|(_, at, is_there)| is_there.cond(left.at(at), 0));
    /// assert_eq!(there.force()?, [40, 0, 12]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`sort`](Array::sort).
    #[doc(alias("outer_join", "merge"))]
    #[track_caller]
    pub fn left_join(&self, other: &Array<K>) -> Array<(u64, u64, bool)> {
        Array::wrap(Builder::named("left_join").left_join(self.node(), other.node()))
    }
}
