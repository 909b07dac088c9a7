//! Who needs what: its consumers, and whether these may end before it does.

use crate::fusion::rates::indexed_array;
use crate::sharing::{Graph, NodeId};

/// Who needs each node, aliases included.
#[derive(Clone, Debug)]
pub struct Users {
    /// Who consumes it.
    pub of: Vec<Vec<NodeId>>,
    /// Whether it is a result.
    pub is_result: Vec<bool>,
    /// Whether a closure captures it.
    pub is_captured: Vec<bool>,
    /// Whether something made of its elements may end before these do.
    pub may_end: Vec<bool>,
}

impl Users {
    /// Reads them off a graph.
    pub fn of(graph: &Graph) -> Users {
        let n = graph.nodes.len();
        let mut users = Users {
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
        // Users come behind what they use. A scalar needs all elements.
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

    /// Whether all that needs a node consumes it, and is one of these.
    pub fn are_all(&self, n: NodeId, these: impl Fn(NodeId) -> bool) -> bool {
        let wanted = self.is_result[n.index()] || self.is_captured[n.index()];
        !wanted && self.of[n.index()].iter().all(|user| these(*user))
    }
}
