//! Delays: earlier elements of a stream, carried from element to element.
//!
//! A stream's loop makes elements in order. A consumer of elements a few places earlier runs in that
//! loop, if the loop carries its last few elements.

use crate::array::Boundary;
use crate::array::search::side;
use crate::ast::{Body, Builder, Field, Fields, Fold, Node, ScanKind, trace, zeros};
use loop_lang::op::Op;
use loop_lang::types::Const;
use std::sync::Arc;

/// The most elements that a loop carries. Neighbours further apart are read from memory.
const MOST_CARRIED: usize = 8;

/// Tells whether a loop can carry so many elements of an array.
fn carries(xs: &Node, elements: usize) -> bool {
    xs.rank == 1 && xs.comes_in_order() && (1..=MOST_CARRIED).contains(&elements)
}

impl Builder {
    /// Moves the elements of a stream to higher indices; the first `by` results are `fill`.
    ///
    /// None if a loop cannot carry the elements, or if an unused `fill` would fail.
    pub(super) fn delay(self, xs: &Arc<Node>, by: usize, fill: &Body) -> Option<Arc<Node>> {
        let may = carries(xs, by) && !fill.may_trap();
        may.then(|| (0..by).fold(xs.clone(), |xs, _| self.before(&xs, fill)))
    }

    /// Returns the predecessor of each element. The first element has `first` instead.
    pub(super) fn before(self, xs: &Arc<Node>, first: &Body) -> Arc<Node> {
        // The scan keeps its right operand, so its value before an element is the predecessor.
        let last = Fold::associative(first.clone(), side(&xs.types, 1));
        self.scan(xs, last, ScanKind::Exclusive)
    }

    /// Applies `f` to the predecessor and the element of each place of a stream.
    ///
    /// The boundary gives the first predecessor. Gives `f` back if that element comes later, or if
    /// the array is no stream.
    pub(super) fn pairs_in_order<F: FnOnce(&[Fields]) -> Fields>(
        self,
        xs: &Arc<Node>,
        boundary: &Boundary<Body>,
        f: F,
    ) -> Result<Arc<Node>, F> {
        let comes_later = matches!(boundary, Boundary::Mirror | Boundary::Wrap);
        if comes_later || !carries(xs, 1) {
            return Err(f);
        }
        let (before, indices) = self.beside(xs);
        let all = self.zip(&[before, xs.clone(), indices]);
        let body = trace(&all.types, |p| {
            let (before, rest) = p.split_at(xs.types.len());
            let (here, i) = rest.split_at(xs.types.len());
            let first = match boundary {
                Boundary::Constant(c) => Field::apply(c, &[], self.loc()),
                _ => Fields::from_slice(here),
            };
            let zero = Field::literal(Const::u64(0));
            let inside = Field::op(Op::Ne, &[i[0], zero], self.loc());
            f(&[
                inside.cond(before, &first, self.loc()),
                Fields::from_slice(here),
            ])
        });
        Ok(self.map(&[all], body))
    }

    /// Pairs the predecessor of each element with the element's index.
    pub(super) fn beside(self, xs: &Arc<Node>) -> (Arc<Node>, Arc<Node>) {
        (self.before(xs, &zeros(&xs.types)), self.places(xs))
    }
}
