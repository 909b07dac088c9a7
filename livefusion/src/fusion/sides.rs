//! Sides: what a zip advances on demand, because its inputs do not advance together.
//!
//! A zip of `filter p xs` and `filter q ys` needs of each input the next element, whatever that takes. Inputs
//! of one class are one side: they advance together. A side is computed in the zip's own loop if nothing
//! else needs what is on it, between memory and the zip: maps, filters, packs and scans. The other inputs
//! are read from memory, one element at a time.

use super::cluster::free::is_cheap;
use super::rates::{ClassId, ClassKind, Rates, Selector, indexed_array};
use crate::ast::Kind;
use crate::sharing::{Graph, NodeId};
use rustc_hash::FxHashSet;

/// Inputs of a zip that are computed in its loop, and advanced together.
#[derive(Clone, Debug)]
pub struct Side {
    /// The class of the inputs' elements.
    pub class: ClassId,
    /// Which inputs these are.
    pub inputs: Vec<usize>,
    /// What is computed for them and for nothing else, in dependency order.
    pub nodes: Vec<NodeId>,
}

/// Who needs each node, aliases included.
#[derive(Clone, Debug)]
pub struct Users {
    /// Who consumes it.
    of: Vec<Vec<NodeId>>,
    /// Whether it is a result, or captured by a closure.
    is_wanted: Vec<bool>,
}

impl Users {
    /// Reads them off a graph.
    pub fn of(graph: &Graph) -> Users {
        let n = graph.nodes.len();
        let mut users = Users {
            of: vec![Vec::new(); n],
            is_wanted: vec![false; n],
        };
        for id in graph.ids() {
            let node = &graph.nodes[id.index()];
            for used in &node.inputs {
                users.of[used.index()].push(id);
            }
            for used in node.captures.iter().flatten().chain(&node.length) {
                users.is_wanted[used.index()] = true;
            }
        }
        for root in &graph.roots {
            users.is_wanted[root.index()] = true;
        }
        users
    }
}

/// The sides of a zip whose inputs have different classes; none if no subrate can be computed there.
pub fn find(graph: &Graph, rates: &Rates, users: &Users, id: NodeId) -> Option<Vec<Side>> {
    let inputs = &graph.nodes[id.index()].inputs;
    let mut sides: Vec<Side> = Vec::new();
    for (k, input) in inputs.iter().enumerate() {
        let class = rates.output(*input)?;
        match sides.iter_mut().find(|s| s.class == class) {
            Some(side) => side.inputs.push(k),
            None => sides.push(Side {
                class,
                inputs: vec![k],
                nodes: Vec::new(),
            }),
        }
    }
    sides.retain_mut(|side| {
        let computed = side.class_is_filtered(rates) && side.collect(graph, rates, id);
        computed && !side.nodes.is_empty() && side.is_exclusive(users, id)
    });
    let is_sub = |s: &Side| matches!(rates.kind(s.class), ClassKind::Sub(..));
    sides.iter().any(is_sub).then_some(sides)
}

impl Side {
    /// Whether the class is what filters leave over of a root.
    fn class_is_filtered(&self, rates: &Rates) -> bool {
        let mut class = self.class;
        loop {
            match rates.kind(class) {
                ClassKind::Root => return true,
                ClassKind::Sub(parent, Selector::Filter(_) | Selector::Tags(_)) => class = parent,
                ClassKind::Sub(_, Selector::While(_) | Selector::Custom(_) | Selector::Zip(_))
                | ClassKind::Nested(..)
                | ClassKind::Append(_)
                | ClassKind::Phases => return false,
            }
        }
    }

    /// Collects what has to be computed; false if something cannot be computed on demand.
    fn collect(&mut self, graph: &Graph, rates: &Rates, zip: NodeId) -> bool {
        let inputs = &graph.nodes[zip.index()].inputs;
        let mut stack: Vec<NodeId> = self.inputs.iter().map(|k| inputs[*k]).collect();
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        while let Some(id) = stack.pop() {
            let node = &graph.nodes[id.index()];
            // What counts the elements that a filter leaves is at the filter's rate, which the side has not.
            let is_root = |c| rates.kind(c) == ClassKind::Root;
            let is_free = is_cheap(node) && rates.output(id).is_some_and(is_root);
            if node.leaf || is_free || seen.contains(&id) {
                continue;
            }
            let on_demand = match node.node.kind {
                Kind::Generate(..) => indexed_array(graph, id).is_none(),
                Kind::Map(_) | Kind::Zip | Kind::Fields(_) => !rates.is_fresh(id),
                Kind::Filter(_) | Kind::Pack | Kind::Scan(..) => !rates.is_fresh(id),
                Kind::Manifest
                | Kind::Input(_)
                | Kind::Fold(_)
                | Kind::ScanTotal
                | Kind::Expand(_)
                | Kind::FoldS(_)
                | Kind::ScanS(..)
                | Kind::CountS
                | Kind::TakeWhile { .. }
                | Kind::Take(_)
                | Kind::Append
                | Kind::Scatter(_)
                | Kind::Custom(_)
                | Kind::Compute(_)
                | Kind::Len => false,
            };
            let above = rates
                .output(id)
                .is_some_and(|c| rates.is_within(self.class, c));
            if !on_demand || !above {
                return false;
            }
            seen.insert(id);
            stack.extend(&node.inputs);
        }
        let mut nodes: Vec<NodeId> = seen.into_iter().collect();
        nodes.sort_unstable();
        self.nodes = nodes;
        true
    }

    fn is_exclusive(&self, users: &Users, zip: NodeId) -> bool {
        self.nodes.iter().all(|n| {
            let here = |user: &NodeId| *user == zip || self.nodes.binary_search(user).is_ok();
            !users.is_wanted[n.index()] && users.of[n.index()].iter().all(here)
        })
    }
}
