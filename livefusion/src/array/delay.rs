//! Delays: a stream's earlier elements, carried from element to element.

use crate::array::search::side;
use crate::ast::{Body, Builder, Fold, Node, ScanKind};
use std::sync::Arc;

/// The largest distance that a loop carries. Elements further apart are read from memory.
const MOST_CARRIED: u64 = 8;

impl Builder {
    /// Moves the elements of a stream to higher indices; the first `by` results are `fill`.
    ///
    /// None if a loop cannot carry the elements: any element can be computed alone, the distance is
    /// too large, or an unused `fill` would fail.
    pub(super) fn delay(self, xs: &Arc<Node>, by: u64, fill: &Body) -> Option<Arc<Node>> {
        let carries = xs.rank == 1 && xs.comes_in_order() && !fill.may_trap();
        (carries && (1..=MOST_CARRIED).contains(&by))
            .then(|| (0..by).fold(xs.clone(), |xs, _| self.before(&xs, fill)))
    }

    /// Returns the predecessor of each element. The first element has `first` instead.
    pub(super) fn before(self, xs: &Arc<Node>, first: &Body) -> Arc<Node> {
        // The scan keeps its right operand, so its value before an element is the predecessor.
        let last = Fold::associative(first.clone(), side(&xs.types, 1));
        self.scan(xs, last, ScanKind::Exclusive)
    }
}
