//! Kept segments with a second class: pairs of kept elements read these at an index.
//!
//! The elements that a filter keeps of segments are a subrate, whose loop tests all elements.
//! A node that reads them at an index needs them in memory, so its loop comes later. In
//! that loop the lengths of the kept segments tell the elements: a class nested in that of the
//! segments, as if the kept segments were an input.

use super::infer::Inference;
use super::{ClassId, ClassKind, Rates};
use crate::ast::Kind;
use crate::fusion::sides::NodeUsers;
use crate::sharing::{FieldRef, Graph, NodeId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Returns the counts of kept elements whose segments get a nested class.
///
/// These are the lengths of an expansion on which a read of a kept element at an index depends.
pub fn counts(graph: &Graph) -> FxHashSet<NodeId> {
    let mut expansions: FxHashMap<NodeId, Vec<NodeId>> = FxHashMap::default();
    for id in graph.ids() {
        if let Some(counts) = expanded_counts(graph, id) {
            expansions.entry(counts).or_default().push(id);
        }
    }
    if expansions.is_empty() {
        return FxHashSet::default();
    }
    let mut packs: FxHashMap<FieldRef, Vec<NodeId>> = FxHashMap::default();
    for id in graph.ids() {
        let node = &graph.nodes[id.index()];
        if !node.leaf && matches!(node.node.kind, Kind::Pack) {
            let tags = graph.resolve(node.inputs[1], 0);
            packs.entry(tags).or_default().push(id);
        }
    }
    let users = NodeUsers::of(graph);
    let in_step = |id: NodeId| {
        let kind = &graph.node(id).kind;
        kind.facts().in_step() || matches!(kind, Kind::Scan(..) | Kind::ScanS(..))
    };
    let is_read = |(counts, expansions): (NodeId, Vec<NodeId>)| {
        let tags = graph.resolve(graph.nodes[counts.index()].inputs[1], 0);
        let packs = packs.get(&tags).cloned().unwrap_or_default();
        let kept = reached(graph, &users, packs, in_step);
        let reads = |id: &NodeId| {
            let mut captures = graph.nodes[id.index()].captures.iter().flatten();
            captures.any(|c| {
                let mut read = graph.fields(*c).into_iter();
                read.any(|(n, _)| kept.contains(&n) && graph.node(n).rank > 0)
            })
        };
        let moves = |id: &NodeId| matches!(graph.node(*id).kind, Kind::MoveS(_));
        (expansions.iter().any(moves)
            || reached(graph, &users, expansions, |_| true)
                .iter()
                .any(reads))
        .then_some(counts)
    };
    expansions.into_iter().filter_map(is_read).collect()
}

/// Returns these nodes and their consumers, from one to the next through some consumers.
fn reached(
    graph: &Graph,
    users: &NodeUsers,
    from: Vec<NodeId>,
    through: impl Fn(NodeId) -> bool,
) -> FxHashSet<NodeId> {
    let mut seen: FxHashSet<NodeId> = FxHashSet::default();
    let mut stack = from;
    while let Some(n) = stack.pop() {
        if seen.insert(n) {
            let users = users.of[n.index()].iter().copied();
            stack.extend(users.filter(|user| !graph.nodes[user.index()].leaf && through(*user)));
        }
    }
    seen
}

/// Returns the counts of kept elements that are the lengths of an expansion.
fn expanded_counts(graph: &Graph, id: NodeId) -> Option<NodeId> {
    let node = &graph.nodes[id.index()];
    if !matches!(node.node.kind, Kind::Expand(_) | Kind::MoveS(_)) {
        return None;
    }
    let (lengths, _) = graph.resolve(*node.inputs.first()?, 0);
    let counts = &graph.nodes[lengths.index()];
    let is_count = !node.leaf && !counts.leaf && matches!(counts.node.kind, Kind::CountS);
    is_count.then_some(lengths)
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
}

impl Rates {
    /// Returns whether kept elements are read from memory at another class.
    ///
    /// That class is nested by their counts.
    pub fn is_apart(&self, graph: &Graph, kept: ClassId, class: ClassId) -> bool {
        match self.kind(class) {
            ClassKind::Nested(_, (counts, _)) => {
                let counted = matches!(graph.node(counts).kind, Kind::CountS);
                counted && self.runs_at(counts) == Some(kept)
            }
            _ => false,
        }
    }
}
