//! Searches in sorted arrays: `searchsorted`, `digitize`.

use super::order::{is_before, key};
use crate::array::Array;
use crate::ast::{Axis, Builder, Node, show_types};
use crate::elt::Elt;
use crate::exp::{Field, Fields, trace};
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// The untyped methods.
impl Builder {
    /// Counts for each value the smaller elements of an ascending array (`u64`).
    pub fn searchsorted(self, sorted: &Arc<Node>, values: &Arc<Node>) -> Arc<Node> {
        self.places_in(sorted, values, |there, wanted, loc| {
            is_before(there, wanted, loc)
        })
    }

    /// Counts for each value the elements not above it (`u64`).
    ///
    /// The array is in ascending order.
    pub fn searchsorted_right(self, sorted: &Arc<Node>, values: &Arc<Node>) -> Arc<Node> {
        self.places_in(sorted, values, |there, wanted, loc| {
            Field::op(Op::Not, &[is_before(wanted, there, loc)], loc)
        })
    }

    /// Counts for each value the elements before it, by a comparison of keys.
    ///
    /// The array is in ascending order.
    fn places_in(
        self,
        sorted: &Arc<Node>,
        values: &Arc<Node>,
        before: fn(&[Field], &[Field], Loc) -> Field,
    ) -> Arc<Node> {
        if sorted.types != values.types || sorted.rank != 1 {
            let expected = format!("values of type {}", show_types(&sorted.types));
            return self.unfit(values, &[Ty::U64], values.rank, &expected);
        }
        let loc = self.loc();
        let len = Axis::delayed(self.renamed("len").len(sorted));
        let body = trace::trace(&values.types, |x| {
            let keys =
                |fields: &[Field]| -> Fields { fields.iter().map(|x| key(*x, loc)).collect() };
            let (wanted, all) = (keys(x), len.value(loc));
            let is_before = |there: &[Field], wanted: &[Field]| before(&keys(there), wanted, loc);
            Fields::from_slice(&[places_before(sorted, all, &wanted, is_before, loc)])
        });
        self.map(std::slice::from_ref(values), body)
    }
}

/// Counts by binary search the elements for which `is_before` is true.
///
/// These come first, among the first `all` elements of `sorted`. `is_before` gets an element's
/// fields and `wanted`.
pub(crate) fn places_before(
    sorted: &Arc<Node>,
    all: Field,
    wanted: &[Field],
    is_before: impl FnOnce(&[Field], &[Field]) -> Field,
    loc: Loc,
) -> Field {
    let op = |op, args: &[Field]| Field::op(op, args, loc);
    let [zero, one] = [0, 1].map(|n| Field::literal(Const::u64(n)));
    // The answer lies between the first two values. `wanted` is carried along, so that it is
    // computed once.
    let found = Field::while_loop(
        &[&[zero, all], wanted].concat(),
        |s| op(Op::Lt, &[s[0], s[1]]),
        |s| {
            let half = op(Op::Shr, &[op(Op::Sub, &[s[1], s[0]]), one]);
            let middle = op(Op::Add, &[s[0], half]);
            let there = Field::at_unchecked(sorted, middle, loc);
            let is_before = is_before(&there, &s[2..]);
            let behind = op(Op::Add, &[middle, one]);
            let low = op(Op::Select, &[is_before, behind, s[0]]);
            let high = op(Op::Select, &[is_before, s[1], middle]);
            [low, high]
                .into_iter()
                .chain(s[2..].iter().copied())
                .collect()
        },
        loc,
    );
    found[0]
}

impl<T: Elt> Array<T> {
    /// Finds the first position of each value in this ascending array.
    ///
    /// It is the number of elements below the value. The order is that of [`sort`](Array::sort),
    /// also for tuples and structs.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let sorted = Array::from(vec![10, 20, 20, 30]);
    /// let values = Array::from(vec![20, 5, 99]);
    /// assert_eq!(sorted.searchsorted(&values).force()?, [1, 0, 4]);
    /// assert_eq!(sorted.searchsorted_right(&values).force()?, [3, 0, 4]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* A map over the values, which fuses as maps do. Each value takes a binary
    /// search.
    ///
    /// # Errors
    /// None of its own. In an array that is not in order, the positions are
    /// meaningless.
    #[doc(alias("lower_bound", "partition_point", "bisect_left"))]
    #[track_caller]
    pub fn searchsorted(&self, values: &Array<T>) -> Array<u64> {
        Array::wrap(Builder::named("searchsorted").searchsorted(self.node(), values.node()))
    }

    /// Finds the last position of each value in this ascending array.
    ///
    /// It is the number of elements not above the value. Otherwise it works as
    /// [`searchsorted`](Array::searchsorted).
    #[doc(alias("upper_bound", "bisect_right"))]
    #[track_caller]
    pub fn searchsorted_right(&self, values: &Array<T>) -> Array<u64> {
        let builder = Builder::named("searchsorted_right");
        Array::wrap(builder.searchsorted_right(self.node(), values.node()))
    }

    /// Finds the bin of each element, between ascending edges.
    ///
    /// Bin 0 is below all edges. Bin `k` begins at edge `k - 1`, and ends below edge `k`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let edges = Array::from(vec![0.0f64, 1.0, 10.0]);
    /// let xs = Array::from(vec![0.5f64, 1.0, -3.0, 99.0]);
    /// assert_eq!(xs.digitize(&edges).force()?, [1, 2, 0, 3]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* As for [`searchsorted`](Array::searchsorted).
    #[doc(alias("cut", "bucketize"))]
    #[track_caller]
    pub fn digitize(&self, edges: &Array<T>) -> Array<u64> {
        let builder = Builder::named("digitize");
        Array::wrap(builder.searchsorted_right(edges.node(), self.node()))
    }
}
