//! Rows: classes of the elements of equally many rows with equal lengths are one class.

use super::infer::Inference;
use super::{ClassId, ClassKind};
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
}
