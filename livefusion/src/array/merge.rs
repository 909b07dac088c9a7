//! Merging of two sorted arrays: `merge`.

use crate::array::Array;
use crate::array::append::total;
use crate::ast::{Body, Builder, Field, Fields, Fold, Node, ScanKind, identity, trace, zeros};
use crate::elt::Elt;
use crate::exp::{ToExp, closure, trace as exp};
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

impl Builder {
    /// Merges two sorted arrays of one type, by the order `in_order`.
    ///
    /// `in_order` takes two elements and tells if the first may precede the second. This is the
    /// untyped [`Array::merge`]; [`Builder::merge`] merges streams by any step.
    pub fn merge_sorted(self, xs: &Arc<Node>, ys: &Arc<Node>, in_order: &Body) -> Arc<Node> {
        let (inputs, types) = ([xs.clone(), ys.clone()], &xs.types);
        if xs.types != ys.types {
            return self.append(&inputs);
        }
        if inputs.iter().any(|n| n.comes_in_order()) {
            return self.merge(&inputs, take_one(types, in_order, self.loc()));
        }
        let indices = self.generate(total(self, &inputs), identity(&[Ty::U64]));
        let state = [&[Ty::U64], &types[..]].concat();
        let fold = Fold::sequential(zeros(&state), next_of_two(self, [xs, ys], in_order));
        let merged = self.scan(&indices, fold, ScanKind::Inclusive);
        self.fields(&merged, 1..1 + types.len() as u32)
    }
}

impl<T: Elt> Array<T> {
    /// Merges two arrays that are sorted by the same order.
    ///
    /// `in_order(a, b)` tells if `a` may precede `b`. Give `le` or `ge`, not `lt`. Then the merge
    /// is stable: equal elements of this array come first, and elements of one array keep their
    /// order. If an array is not sorted, the result still has all elements, and those of each array
    /// in their order.
    ///
    /// One pass over the result, with one comparison per element. It fuses with its consumers. A
    /// loop with a merge runs on one thread.
    ///
    /// Fuses with streams (filters, scans, elements of segments, further merges, ...). The loop
    /// advances a stream when it takes an element from it. If neither input is a stream, both are
    /// read at random. Then index functions of arrays in memory are computed in place, and all
    /// other inputs go through memory.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (xs, ys) = (Array::from(vec![1i64, 4, 9]), Array::from(vec![2i64, 4, 6]));
    /// assert_eq!(xs.merge(&ys, |a, b| a.le(b)).force()?, [1, 2, 4, 4, 6, 9]);
    /// // Of pairs (key, value), by key.
    /// let (xs, ys) = (Array::from(vec![(1u8, 0.5f64)]), Array::from(vec![(0u8, 2.5f64)]));
    /// let merged = xs.merge(&ys, |(a, _), (b, _)| a.le(b));
    /// assert_eq!(merged.to_vec()?, [(0, 2.5), (1, 0.5)]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("merge_sorted", "kmerge"))]
    #[track_caller]
    pub fn merge<R: ToExp<bool>>(
        &self,
        other: &Array<T>,
        in_order: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T> {
        let builder = Builder::named("merge");
        let in_order = closure::<(T, T), bool>(|(a, b)| in_order(a, b).to_exp());
        Array::wrap(builder.merge_sorted(self.node(), other.node(), &in_order))
    }
}

/// The step of a merge of streams: takes the element that may come first, or the remaining one
/// after an end.
fn take_one(types: &[Ty], in_order: &Body, loc: Loc) -> Body {
    let params = [types, types, &[Ty::Bool, Ty::Bool, Ty::U64]].concat();
    trace(&params, |params| {
        let cond = |c: Field, a, b| c.cond(&[a], &[b], loc)[0];
        let (pair, rest) = params.split_at(2 * types.len());
        let (xs, ys) = pair.split_at(types.len());
        let (more_x, more_y) = (rest[0], rest[1]);
        // `in_order` is not called on elements after an end.
        let no_more = Field::op(Op::Not, &[more_y], loc);
        let either = cond(no_more, truth(true), test(in_order, pair, loc));
        let ordered = cond(more_x, either, truth(false));
        let other = Field::op(Op::Not, &[ordered], loc);
        let none = Field::literal(Const::u64(0));
        let mut all = Fields::from_slice(&[ordered, other, truth(true), none, none]);
        all.extend(ordered.cond(xs, ys, loc));
        all
    })
}

/// The step of a scan over the indices of the result. The state is the number of elements taken
/// from `xs` and the last element of the result.
fn next_of_two(builder: Builder, [xs, ys]: [&Arc<Node>; 2], in_order: &Body) -> Body {
    let loc = builder.loc();
    let [n, m] = [xs, ys].map(|a| builder.len(a));
    let params = [&[Ty::U64], &xs.types[..], &[Ty::U64]].concat();
    trace(&params, |params| {
        let op = |op, args: &[Field]| Field::op(op, args, loc);
        let cond = |c: Field, a, b| c.cond(&[a], &[b], loc)[0];
        let left = params[0];
        let right = op(Op::Sub, &[params[params.len() - 1], left]);
        let x = Field::at_unchecked(xs, left, loc);
        let y = Field::at_unchecked(ys, right, loc);
        // `in_order` is not called on elements after an end.
        let n = exp::scalar(&n, 0, Ty::U64, loc);
        let is_there = op(Op::Lt, &[left, n]);
        let pair: Fields = x.iter().chain(&y).copied().collect();
        let ordered = cond(is_there, test(in_order, &pair, loc), truth(false));
        let m = exp::scalar(&m, 0, Ty::U64, loc);
        let is_last = op(Op::Ge, &[right, m]);
        let is_left = cond(is_last, truth(true), ordered);
        let taken = op(Op::Add, &[left, is_left.cast(Ty::U64, loc)]);
        let mut all = Fields::from_slice(&[taken]);
        all.extend(is_left.cond(&x, &y, loc));
        all
    })
}

/// Applies a test and returns its result.
pub(super) fn test(test: &Body, args: &[Field], loc: Loc) -> Field {
    match Field::apply(test, args, loc)[..] {
        [says] => says,
        _ => Field::mistake(Ty::Bool, "a test to bool".into(), "another".into(), loc),
    }
}

pub(super) fn truth(b: bool) -> Field {
    Field::literal(Const::bool(b))
}
