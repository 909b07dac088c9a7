//! Maps of arrays in memory that run at their consumer's class.

use super::{ClassId, Inference};
use crate::sharing::NodeId;

/// The maximal number of maps that move to their consumer's class.
const MOST_ALONG: usize = 16;

impl Inference<'_> {
    /// Finds the maps of arrays in memory behind a node's input, which may move to its class.
    ///
    /// The node must be the only user of the maps.
    pub(super) fn maps_along(&self, data: NodeId, user: NodeId) -> Option<Vec<NodeId>> {
        let graph = self.graph;
        let users = self.users.as_ref()?;
        let (mut maps, mut next) = (vec![data], 0);
        while let Some(id) = maps.get(next).copied() {
            let node = &graph.nodes[id.index()];
            let is_map = node.node.kind.facts().in_step();
            if node.leaf || !is_map || self.rates.is_fresh(id) || maps.len() > MOST_ALONG {
                return None;
            }
            let computed = node.inputs.iter().filter(|i| !graph.nodes[i.index()].leaf);
            let new: Vec<NodeId> = computed.filter(|i| !maps.contains(i)).copied().collect();
            maps.extend(new);
            next += 1;
        }
        let here = |n: NodeId| n == user || maps.contains(&n);
        let exclusive = maps.iter().all(|n| users.are_all(*n, here));
        exclusive.then_some(maps)
    }

    /// Moves maps to a class. They read their arrays at its counter.
    pub(super) fn run_along(&mut self, maps: Vec<NodeId>, class: ClassId) {
        let graph = self.graph;
        for id in maps {
            let inputs = graph.nodes[id.index()].inputs.iter().enumerate();
            let leaves = inputs.filter(|(_, i)| graph.nodes[i.index()].leaf);
            self.rates.unfused.extend(leaves.map(|(k, _)| (id, k)));
            self.rates.runs_at[id.index()] = Some(class);
            self.rates.output[id.index()] = Some(class);
        }
    }
}
