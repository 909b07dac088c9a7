//! Rows: classes of the elements of equally many rows with equal lengths are one class. Folds of rows
//! of rows run at the class of the innermost elements.

use super::infer::Inference;
use super::{ClassId, ClassKind};
use crate::ast::{Fold, FoldStyle, levels};
use crate::sharing::NodeId;

impl Inference<'_> {
    /// Whether two classes are elements of equally many rows with equal lengths, by construction or
    /// after a check.
    pub(super) fn are_rows_alike(&self, a: ClassId, b: ClassId) -> bool {
        let (rates, algebra) = (&self.rates, &self.graph.algebra);
        let (mut a, mut b) = (a, b);
        while let (ClassKind::Nested(around_a, rows_a), ClassKind::Nested(around_b, rows_b)) =
            (rates.kind(a), rates.kind(b))
        {
            let apart = !rates.is_within(a, b) && !rates.is_within(b, a);
            let known = self.rows.get(&rows_a).zip(self.rows.get(&rows_b));
            let equal = known.is_some_and(|(a, b)| a == b);
            if !apart || !(equal || algebra.agree(rows_a, rows_b)) {
                return false;
            }
            let roots = [around_a, around_b].map(|c| rates.kind(c));
            if around_a == around_b || roots == [ClassKind::Root; 2] {
                return around_a == around_b || algebra.agree_in_length(rows_a.0, rows_b.0);
            }
            (a, b) = (around_a, around_b);
        }
        false
    }

    /// Unifies two classes of equal rows, and their ancestors.
    pub(super) fn join_rows(&mut self, mut class: ClassId, mut to: ClassId, by: NodeId) {
        while class != to {
            let around = self.rates.parent(class).zip(self.rates.parent(to));
            self.rates.join(class, to, by);
            match around {
                Some((above, to_above)) => (class, to) = (above, to_above),
                None => return,
            }
        }
    }

    /// The lengths of the innermost segments, for a fold whose segments have segments of their own.
    ///
    /// The fold must go from left to right, or be exact in any order: then it goes on from one inner
    /// segment to the next.
    pub(super) fn innermost(&mut self, id: NodeId, fold: &Fold) -> Option<NodeId> {
        if !matches!(fold.style, FoldStyle::Sequential | FoldStyle::Exact(_)) {
            return None;
        }
        let graph = self.graph;
        let mut lengths = graph.nodes[id.index()].inputs[0];
        let mut nested = false;
        loop {
            let (sums, _) = graph.resolve(lengths, 0);
            let node = &graph.nodes[sums.index()];
            if node.leaf || levels(&node.node).is_none() {
                break;
            }
            // The inner segments are the elements of the outer ones.
            let [outer, inner] = [0, 1].map(|k| node.inputs[k]);
            if self.rates.is_unfused(sums, 1) || self.elements(outer) != self.class(inner) {
                return None;
            }
            (lengths, nested) = (inner, true);
        }
        nested.then(|| {
            self.rates.innermost.insert(id, lengths);
            lengths
        })
    }
}
