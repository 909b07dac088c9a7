//! Interleaving of two arrays: `interleave`.

use crate::array::Array;
use crate::array::append::total;
use crate::array::merge::truth;
use crate::ast::{AsLong, Body, BodyBuilder, Builder, BySegments, Field, Fields, Node, trace};
use crate::elt::Elt;
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

impl Builder {
    /// Alternates the elements of two arrays of equal length and type.
    pub fn interleave(self, xs: &Arc<Node>, ys: &Arc<Node>) -> Arc<Node> {
        let inputs = [xs.clone(), ys.clone()];
        if xs.types != ys.types {
            return self.append(&inputs);
        }
        if inputs.iter().any(|n| n.comes_in_order()) && !advance_together(&inputs) {
            return self.merge(&inputs, in_turn(&xs.types, self.loc()));
        }
        // The zip checks the lengths.
        let pairs = self.zip(&inputs);
        let len = total(self, &[pairs.clone(), pairs.clone()]);
        let mut b = BodyBuilder::new(&[Ty::U64]);
        let i = b.locate(Some(self.loc())).param(0);
        let (zero, one) = (b.lit(Const::u64(0)), b.lit(Const::u64(1)));
        let (at, odd) = (b.op(Op::Shr, &[i, one]), b.op(Op::And, &[i, one]));
        let is_even = b.op(Op::Eq, &[odd, zero]);
        let width = xs.types.len() as u32;
        let fields: Vec<_> = (0..width)
            .map(|f| {
                let x = b.at(&pairs, f, at, false);
                let y = b.at(&pairs, width + f, at, false);
                b.cond(is_even, x, y)
            })
            .collect();
        self.generate(len, b.finish(&fields))
    }
}

impl<T: Elt> Array<T> {
    /// Alternates the elements of two arrays of equal length.
    ///
    /// The order is `x0, y0, x1, y1, ...`.
    ///
    /// Arrays in memory and index functions give an index function, which fuses with its consumers.
    /// Streams (filters, scans, elements of segments, ...) take one pass over both, and fuse with
    /// their producers too. The loop advances each stream in its turn.
    ///
    /// Some streams advance in the same steps, such as two maps of one filter or two folds of the
    /// same segments. Neither can be advanced without the other, so the result is the index
    /// function.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (xs, ys) = (Array::from(vec![1i64, 2]), Array::from(vec![-1i64, -2]));
    /// assert_eq!(xs.interleave(&ys).force()?, [1, -1, 2, -2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if lengths differ.
    #[track_caller]
    pub fn interleave(&self, other: &Array<T>) -> Array<T> {
        Array::wrap(Builder::named("interleave").interleave(self.node(), other.node()))
    }
}

/// Most nodes visited to find out if two arrays advance together.
const MOST_STEPS: usize = 64;

/// Tests if two arrays advance in the same steps. Then they cannot be advanced in turn, because
/// each step makes an element of both.
fn advance_together([xs, ys]: &[Arc<Node>; 2]) -> bool {
    let behind = in_step(xs);
    in_step(ys).iter().any(|n| behind.contains(n))
}

/// Returns an array and the arrays that advance in the same steps.
fn in_step(array: &Arc<Node>) -> Vec<*const Node> {
    let (mut found, mut stack) = (Vec::new(), vec![array]);
    while let Some(node) = stack.pop() {
        let name = Arc::as_ptr(node);
        if found.len() == MOST_STEPS || found.contains(&name) {
            continue;
        }
        found.push(name);
        let facts = node.kind.facts();
        match facts.length {
            _ if node.is_leaf() => {}
            AsLong::Inputs => stack.extend(&node.inputs),
            // There is one result per segment, in step with the lengths.
            _ if facts.by_segments == BySegments::Each => stack.extend(node.inputs.first()),
            _ => {}
        }
    }
    found
}

/// The step of a merge of streams in turn. Both must end when it is the first stream's turn.
fn in_turn(types: &[Ty], loc: Loc) -> Body {
    let params = [types, types, &[Ty::Bool, Ty::Bool, Ty::U64]].concat();
    trace(&params, |params| {
        let op = |op, args: &[Field]| Field::op(op, args, loc);
        let cond = |c: Field, a, b| c.cond(&[a], &[b], loc)[0];
        let ([zero, one], yes) = ([0, 1].map(|n| Field::literal(Const::u64(n))), truth(true));
        let (xs, rest) = params.split_at(types.len());
        let (ys, rest) = rest.split_at(types.len());
        let (more_x, more_y, i) = (rest[0], rest[1], rest[2]);
        let is_first = op(Op::Eq, &[op(Op::And, &[i, one]), zero]);
        let ended = cond(more_x, yes, op(Op::Not, &[more_y]));
        let fits = cond(is_first, ended, more_y);
        // The longer stream has one more element than the ended one.
        let short = op(Op::Shr, &[i, one]);
        let long = op(Op::Add, &[short, one]);
        let got = cond(is_first, long, short);
        let expected = cond(is_first, short, long);
        let element = is_first.cond(xs, ys, loc);
        let mut all =
            Fields::from_slice(&[is_first, op(Op::Not, &[is_first]), fits, got, expected]);
        all.extend(element);
        all
    })
}
