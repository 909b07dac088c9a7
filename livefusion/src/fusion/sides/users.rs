//! Users: finds the consumers of each node, and those that may end early.

use crate::fusion::rates::indexed_array;
use crate::sharing::{Graph, NodeId};

/// Holds the users of each node, aliases included.
#[derive(Clone, Debug)]
pub struct NodeUsers {
    /// The consumers of each node.
    pub of: Vec<Vec<NodeId>>,
    /// Whether the node is a result.
    pub is_result: Vec<bool>,
    /// Whether a closure captures the node.
    pub is_captured: Vec<bool>,
    /// Whether a consumer may end before the node's elements do.
    pub may_end: Vec<bool>,
}

impl NodeUsers {
    /// Collects the users of a graph's nodes.
    pub fn of(graph: &Graph) -> NodeUsers {
        let n = graph.nodes.len();
        let mut users = NodeUsers {
            of: vec![Vec::new(); n],
            is_result: vec![false; n],
            is_captured: vec![false; n],
            may_end: vec![false; n],
        };
        for id in graph.ids() {
            let node = &graph.nodes[id.index()];
            for used in &node.inputs {
                users.of[used.index()].push(id);
            }
            for used in node.captures.iter().flatten().chain(&node.length) {
                users.is_captured[used.index()] = true;
            }
        }
        // Users come after their operands. A scalar needs all elements.
        for id in graph.ids().rev().filter(|id| !graph.nodes[id.index()].leaf) {
            let node = &graph.nodes[id.index()];
            let goes_on = node.node.rank > 0 && users.may_end[id.index()];
            if node.node.kind.facts().ends || goes_on {
                for used in node.inputs.iter().copied().chain(indexed_array(graph, id)) {
                    users.may_end[used.index()] = true;
                }
            }
        }
        for root in &graph.roots {
            users.is_result[root.index()] = true;
        }
        users
    }

    /// Returns whether a node's only users are consumers among `these`.
    pub fn are_all(&self, n: NodeId, these: impl Fn(NodeId) -> bool) -> bool {
        let wanted = self.is_result[n.index()] || self.is_captured[n.index()];
        !wanted && self.of[n.index()].iter().all(|user| these(*user))
    }
}
