//! Kept segments with a second class: pairs of kept elements read these at an index.
//!
//! The elements that a filter keeps of segments are a subrate, whose loop tests all elements.
//! A node that reads them at an index needs them in memory, so its loop comes later. In
//! that loop the lengths of the kept segments tell the elements: a class nested in that of the
//! segments, as if the kept segments were an input.

use super::infer::Inference;
use super::{ClassId, ClassKind};
use crate::ast::Kind;
use crate::sharing::{Graph, NodeId};
use rustc_hash::FxHashSet;

/// Returns the counts of kept elements whose segments get a nested class.
///
/// These are the lengths of an expansion on which a read of a kept element at an index depends.
pub fn counts(graph: &Graph) -> FxHashSet<NodeId> {
    let expanded: FxHashSet<NodeId> = graph
        .ids()
        .filter_map(|id| expanded_counts(graph, id))
        .collect();
    let apart = expanded.into_iter();
    apart.filter(|c| is_read_behind(graph, *c)).collect()
}

/// Returns the counts of kept elements that are the lengths of an expansion.
fn expanded_counts(graph: &Graph, id: NodeId) -> Option<NodeId> {
    let node = &graph.nodes[id.index()];
    let Kind::Expand(_) = node.node.kind else {
        return None;
    };
    let (lengths, _) = graph.resolve(*node.inputs.first()?, 0);
    let counts = &graph.nodes[lengths.index()];
    let is_count = !node.leaf && !counts.leaf && matches!(counts.node.kind, Kind::CountS);
    is_count.then_some(lengths)
}

/// Returns whether a consumer of expansions of these counts reads a kept element at an index.
fn is_read_behind(graph: &Graph, counts: NodeId) -> bool {
    let tags = graph.resolve(graph.nodes[counts.index()].inputs[1], 0);
    let mut kept = vec![false; graph.nodes.len()];
    let mut behind = vec![false; graph.nodes.len()];
    for id in graph.ids().filter(|id| !graph.nodes[id.index()].leaf) {
        let node = &graph.nodes[id.index()];
        let kind = &node.node.kind;
        let of_any = |of: &[bool]| node.inputs.iter().any(|i| of[i.index()]);
        let in_step = kind.facts().in_step() || matches!(kind, Kind::Scan(..) | Kind::ScanS(..));
        kept[id.index()] = match kind {
            Kind::Pack => graph.resolve(node.inputs[1], 0) == tags,
            _ => in_step && of_any(&kept),
        };
        behind[id.index()] = expanded_counts(graph, id) == Some(counts) || of_any(&behind);
        let mut captures = node.captures.iter().flatten();
        let reads = captures.any(|c| {
            graph
                .fields(*c)
                .iter()
                .any(|(n, _)| kept[n.index()] && graph.node(*n).rank > 0)
        });
        if behind[id.index()] && reads {
            return true;
        }
    }
    false
}

impl Inference<'_> {
    /// The class of the elements that these lengths count, if they do.
    pub(super) fn counted(&self, lengths: NodeId) -> Option<ClassId> {
        let (counts, _) = self.graph.resolve(lengths, 0);
        let node = &self.graph.nodes[counts.index()];
        let counts = Some(counts).filter(|_| !node.leaf);
        counts
            .filter(|_| matches!(node.node.kind, Kind::CountS))
            .and_then(|c| self.rates.runs_at(c))
    }

    /// Whether elements of a class are read from memory: they are kept elements, and one of the
    /// other classes is nested by their counts.
    pub(super) fn is_apart(&self, class: ClassId, others: &[ClassId]) -> bool {
        let of = |counts: &NodeId| self.rates.runs_at(*counts) == Some(class);
        others.iter().any(|c| match self.rates.kind(*c) {
            ClassKind::Nested(_, (counts, _)) => self.apart.contains(&counts) && of(&counts),
            _ => false,
        })
    }
}
