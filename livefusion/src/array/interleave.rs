//! Two arrays element by element: `interleave`.

use crate::array::Array;
use crate::array::append::total;
use crate::array::merge::Merged;
use crate::ast::{Body, BodyBuilder, Builder, Kind, Node};
use crate::elt::Elt;
use crate::exp::closure;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

impl<T: Elt> Array<T> {
    /// The elements of two arrays of equal length in turn: `x0, y0, x1, y1, ...`.
    ///
    /// Of arrays in memory and of index functions an index function, which fuses with what uses the result. Of streams
    /// (filters, scans, elements of segments, ...) one pass over both, each of which is advanced where it is its turn: it
    /// fuses with what makes them, too. Streams that are made in the same steps (maps of one filter, say, or two folds of the
    /// same segments) are the index function: an element of one cannot be had without that of the other.
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
        let builder = Builder::named("interleave");
        let inputs = [self.node().clone(), other.node().clone()];
        if inputs.iter().any(|n| n.comes_in_order()) && !advance_together(&inputs) {
            return Array::wrap(builder.merge(&inputs, in_turn::<T>()));
        }
        // The zip checks the lengths.
        let pairs = builder.zip(&inputs);
        let len = total(builder, &[pairs.clone(), pairs.clone()]);
        let mut b = BodyBuilder::new(&[Ty::U64]);
        let i = b.locate(Some(builder.loc())).param(0);
        let (zero, one) = (b.lit(Const::u64(0)), b.lit(Const::u64(1)));
        let (at, odd) = (b.op(Op::Shr, &[i, one]), b.op(Op::And, &[i, one]));
        let is_even = b.op(Op::Eq, &[odd, zero]);
        let fields: Vec<_> = (0..T::FIELDS)
            .map(|f| {
                let x = b.at(&pairs, f, at, false);
                let y = b.at(&pairs, T::FIELDS + f, at, false);
                b.cond(is_even, x, y)
            })
            .collect();
        Array::wrap(builder.generate(len, b.finish(&fields)))
    }
}

/// So many nodes are looked at to find out whether two arrays advance together.
const MOST_STEPS: usize = 64;

/// Whether two arrays are made in the steps of one: each element of both is there before any further one of either, so that
/// they cannot be advanced in turn.
fn advance_together([xs, ys]: &[Arc<Node>; 2]) -> bool {
    let behind = in_step(xs);
    in_step(ys).iter().any(|n| behind.contains(n))
}

/// An array, and those in whose steps it is made.
fn in_step(array: &Arc<Node>) -> Vec<*const Node> {
    let (mut found, mut stack) = (Vec::new(), vec![array]);
    while let Some(node) = stack.pop() {
        let name = Arc::as_ptr(node);
        if found.len() == MOST_STEPS || found.contains(&name) {
            continue;
        }
        found.push(name);
        match node.kind {
            _ if node.is_leaf() => {}
            Kind::Map(_) | Kind::Zip | Kind::Fields(_) => stack.extend(&node.inputs),
            // Of segments there is one element each, in step with the lengths.
            Kind::Scan(..) | Kind::FoldS(_) | Kind::CountS => stack.extend(node.inputs.first()),
            _ => {}
        }
    }
    found
}

/// The step of a merge of streams in turn. Both must end when it is the first one's turn.
fn in_turn<T: Elt>() -> Body {
    closure::<(T, T, bool, bool, u64), Merged<T>>(|(x, y, more_x, more_y, i)| {
        let is_first = (i & 1).eq(0);
        let fits = is_first.cond(more_x.or(!more_y), more_y);
        // Of the one that goes on there is an element more than of the one that has ended.
        let pairs = i >> 1;
        let (short, long) = (pairs, pairs + 1);
        let got = is_first.cond(long, short);
        let expected = is_first.cond(short, long);
        let element = is_first.cond(x, y);
        ((is_first, !is_first), (fits, got, expected), element)
    })
}
