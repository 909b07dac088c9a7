//! Phases that run over a root again: the nodes that run there, and whether they may.

use super::makers;
use crate::ast::Kind;
use crate::fusion::rates::{ClassId, ClassKind, Rates, Selector, indexed_array};
use crate::fusion::sides::NodeUsers;
use crate::sharing::{Graph, NodeId};
use rustc_hash::FxHashSet;

/// The nodes of a loop that compute these nodes, including themselves.
pub(super) fn behind<A: Iterator<Item = NodeId>>(
    graph: &Graph,
    makers_of: Vec<NodeId>,
    here: impl Fn(NodeId) -> bool,
    above: impl Fn(NodeId) -> A,
) -> FxHashSet<NodeId> {
    let mut seen: FxHashSet<NodeId> = FxHashSet::default();
    let mut stack = makers_of;
    while let Some(n) = stack.pop() {
        if here(n) && seen.insert(n) {
            let inputs = graph.nodes[n.index()].inputs.iter();
            for input in inputs {
                stack.push(*input);
                stack.extend(makers(graph, *input));
            }
            stack.extend(above(n));
        }
    }
    seen
}

/// Whether the loop may run over a root again for these parts. Their elementwise producers are
/// recomputed. Scans carry values, so they must have no consumers but the parts.
pub(super) fn runs_again(
    graph: &Graph,
    rates: &Rates,
    users: &NodeUsers,
    parts: &[NodeId],
) -> bool {
    let mut seen: FxHashSet<NodeId> = FxHashSet::default();
    let mut stack = parts.to_vec();
    while let Some(n) = stack.pop() {
        let node = &graph.nodes[n.index()];
        if node.leaf || !seen.insert(n) {
            continue;
        }
        let facts = node.node.kind.facts();
        let in_step = facts.elementwise && rates.sides(n).is_none() || is_scan(graph, n);
        let plain = |mut class: ClassId| loop {
            match rates.kind(class) {
                ClassKind::Root => return true,
                ClassKind::Sub(above, Selector::Filter(_) | Selector::Tags(_)) => class = above,
                _ => return false,
            }
        };
        if !in_step || !rates.output(n).is_some_and(plain) {
            return false;
        }
        stack.extend(&node.inputs);
        // The producer of the array that a generator counts belongs to it.
        stack.extend(indexed_array(graph, n));
    }
    let mut nodes: Vec<NodeId> = seen.iter().copied().collect();
    nodes.sort_unstable();
    let mut carried: FxHashSet<NodeId> = FxHashSet::default();
    nodes.into_iter().all(|n| {
        let mut inputs = graph.nodes[n.index()].inputs.iter();
        if !is_scan(graph, n) && !inputs.any(|input| carried.contains(input)) {
            return true;
        }
        carried.insert(n);
        let is_append = |user: NodeId| matches!(graph.node(user).kind, Kind::Append);
        let appends = users.of[n.index()].iter().filter(|user| is_append(**user));
        let times = parts.iter().filter(|part| **part == n);
        let is_here = |user| seen.contains(&user) || is_append(user);
        users.are_all(n, is_here) && appends.count() == times.count()
    })
}

fn is_scan(graph: &Graph, n: NodeId) -> bool {
    matches!(graph.node(n).kind, Kind::Scan(..))
}
