//! In-place updates: runs a scatter after the other consumers of its base.
//!
//! Then no consumer needs the old base, and nothing is copied.

use super::super::order::consumed;
use super::super::reason::Reason;
use super::ProblemBuilder;
use crate::sharing::{FieldRef, NodeId};
use rustc_hash::FxHashSet;

impl ProblemBuilder<'_> {
    /// Orders each scatter that may consume its base after the base's other consumers, unless these
    /// depend on the scatter.
    pub(super) fn consumers(&mut self) {
        for id in self.order.nodes.clone() {
            let base = consumed(self.graph, id);
            let Some(item) = self.built.item_of[id.index()].filter(|_| !base.is_empty()) else {
                continue;
            };
            let results = self.graph.roots.iter().flat_map(|r| self.graph.fields(*r));
            let is_result = results.into_iter().any(|f| base.contains(&f));
            let readers = self.readers(&base, item);
            if is_result || self.reads_besides(id, &base) || readers.iter().any(|r| *r > item) {
                continue;
            }
            for reader in readers {
                self.built.problem.items[item].link(reader, Some(Reason::InPlace));
                self.stays[reader] = true;
            }
        }
    }

    /// The items that read one of these fields, except `but`.
    fn readers(&self, fields: &[FieldRef], but: usize) -> Vec<usize> {
        let problem = &self.built.problem;
        let numbers: Vec<usize> = fields
            .iter()
            .filter_map(|f| self.field_of.get(f).copied())
            .collect();
        let is_cut = |class: usize| {
            let up = |c: &usize| problem.classes[*c].parent();
            let mut path = std::iter::successors(Some(class), up);
            path.any(|c| {
                problem.classes[c]
                    .lengths()
                    .is_some_and(|f| numbers.contains(&f))
            })
        };
        let reads = |i: &usize| {
            let item = &problem.items[*i];
            item.uses.iter().any(|f| numbers.contains(f)) || item.at.iter().any(|c| is_cut(*c))
        };
        let items = (0..problem.items.len()).filter(|i| *i != but);
        items.filter(reads).collect()
    }

    /// Whether a scatter's own loop reads these fields through other operands, such as inlined
    /// functions.
    fn reads_besides(&self, id: NodeId, fields: &[FieldRef]) -> bool {
        let node = &self.graph.nodes[id.index()];
        let captures = node.captures.iter().flatten();
        let mut stack: Vec<NodeId> = node.inputs[1..].iter().chain(captures).copied().collect();
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        while let Some(n) = stack.pop() {
            for (n, field) in self.graph.fields(n) {
                if fields.contains(&(n, field)) {
                    return true;
                }
                let node = &self.graph.nodes[n.index()];
                if !node.leaf && self.built.item_of[n.index()].is_none() && seen.insert(n) {
                    stack.extend(node.inputs.iter().chain(node.captures.iter().flatten()));
                    stack.extend(node.length);
                }
            }
        }
        false
    }
}
