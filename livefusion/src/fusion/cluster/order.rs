//! Node order: puts operands and segment lengths before their users.
//!
//! Data may be older than the lengths of its segments, and these lengths may even depend on the
//! data. For example, a histogram of keys gives the number of elements of each key. Then the
//! producer of the data runs over its elements in a loop without segments. Its loop has a *floor*:
//! its root stays at that class or below.

use crate::ast::Kind;
use crate::fusion::rates::{ClassId, ClassKind, Rates};
use crate::sharing::{FieldRef, Graph, NodeId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Holds an order of the nodes of a graph.
pub struct Order {
    /// All nodes. A node comes after its operands and after the zip that it is fused into as a
    /// co-consumer. It also comes after the lengths of its segments, unless these depend on it.
    pub nodes: Vec<NodeId>,
    /// The strongly connected component of each node, with lengths as dependencies. Empty if each
    /// component has one node.
    cycle: Vec<u32>,
}

impl Order {
    /// Finds an order of the nodes.
    ///
    /// It is the order of the graph if no lengths are younger than the nodes that run over their
    /// segments.
    pub fn of(graph: &Graph, rates: &Rates) -> Order {
        let mut known = FxHashMap::default();
        let nearest = graph.ids().map(|n| nearest_lengths(rates, &mut known, n));
        let lengths: Vec<Option<NodeId>> = nearest.collect();
        let younger = |n: NodeId| {
            let itself = lengths[n.index()] == Some(n);
            itself || lengths[n.index()].max(rates.loop_of_zip(n)) > Some(n)
        };
        match graph.ids().any(younger) {
            true => Cycles::of(graph, rates, &lengths).order(),
            false => Order {
                nodes: consumers_last(graph, rates, &lengths),
                cycle: Vec::new(),
            },
        }
    }

    /// Returns the innermost class of segments that a node's loop must not iterate.
    ///
    /// Their lengths depend on the node, or only a zip that advances them on demand knows them.
    pub fn floor(&self, rates: &Rates, n: NodeId) -> Option<ClassId> {
        let flat = self.cycle.is_empty() && !rates.has_sides();
        let mut class = flat_class(rates, n).filter(|_| !flat);
        while let Some(c) = class {
            if let ClassKind::Nested(_, (lengths, _)) = rates.kind(c)
                && (rates.side_of(lengths).is_some() || self.is_cyclic(lengths, n))
            {
                return Some(c);
            }
            class = rates.parent(c);
        }
        None
    }
}

impl Order {
    /// Whether lengths are in one component with an older node that runs over their segments.
    fn is_cyclic(&self, lengths: NodeId, n: NodeId) -> bool {
        let cycle = |n: NodeId| self.cycle.get(n.index());
        lengths >= n && cycle(n).is_some() && cycle(lengths) == cycle(n)
    }
}

/// Returns the fields of a scatter's base, if the program may consume one.
pub fn consumed(graph: &Graph, id: NodeId) -> Vec<FieldRef> {
    let node = &graph.nodes[id.index()];
    let (false, Kind::Scatter(..)) = (node.leaf, &node.node.kind) else {
        return Vec::new();
    };
    let may = |(n, _): &FieldRef| match &graph.nodes[n.index()].node {
        leaf if leaf.value.get().is_some() => false,
        leaf => matches!(leaf.kind, Kind::Input(input) if input.consumed),
    };
    let base = graph.fields(node.inputs[0]);
    match base.iter().any(may) {
        true => base,
        false => Vec::new(),
    }
}

/// The nodes in the order of the graph, except that scatters which consume their base come last,
/// with their dependents. Other consumers may need the base unchanged.
fn consumers_last(graph: &Graph, rates: &Rates, lengths: &[Option<NodeId>]) -> Vec<NodeId> {
    if graph.ids().all(|id| consumed(graph, id).is_empty()) {
        return graph.ids().collect();
    }
    let mut behind = vec![false; graph.nodes.len()];
    for id in graph.ids() {
        let node = &graph.nodes[id.index()];
        let needs = node.inputs.iter().chain(node.captures.iter().flatten());
        let needs = needs.copied().chain(node.length);
        let mut needs = needs
            .chain(lengths[id.index()])
            .chain(rates.loop_of_zip(id));
        let depends = needs.any(|n| behind[n.index()]);
        behind[id.index()] = depends || !consumed(graph, id).is_empty();
    }
    let (behind, before): (Vec<NodeId>, Vec<NodeId>) = graph.ids().partition(|n| behind[n.index()]);
    [before, behind].concat()
}

/// The class that a node iterates over. None for a node that runs in cursors.
fn flat_class(rates: &Rates, n: NodeId) -> Option<ClassId> {
    rates.runs_at(n).filter(|_| rates.cursors_of(n).is_none())
}

/// The lengths of the innermost segments that a node runs within. `known` caches the result of each
/// class.
fn nearest_lengths(
    rates: &Rates,
    known: &mut FxHashMap<ClassId, Option<NodeId>>,
    n: NodeId,
) -> Option<NodeId> {
    let (mut passed, mut class) = (Vec::new(), flat_class(rates, n));
    let mut found = None;
    while let Some(c) = class {
        if let Some(nearest) = known.get(&c) {
            found = *nearest;
            break;
        }
        passed.push(c);
        if let ClassKind::Nested(_, (lengths, _)) = rates.kind(c) {
            found = Some(lengths);
            break;
        }
        class = rates.parent(c);
    }
    known.extend(passed.into_iter().map(|c| (c, found)));
    found
}

/// Tarjan's search for strongly connected components. A component is complete when all its
/// dependencies are.
struct Cycles<'g> {
    graph: &'g Graph,
    rates: &'g Rates,
    lengths: &'g [Option<NodeId>],
    /// The time at which each node was visited, from 1 on.
    met: Vec<u32>,
    /// The earliest visited node that each node is known to reach.
    first: Vec<u32>,
    open: Vec<NodeId>,
    is_open: Vec<bool>,
    cycles: Vec<Vec<NodeId>>,
}

impl<'g> Cycles<'g> {
    fn of(graph: &'g Graph, rates: &'g Rates, lengths: &'g [Option<NodeId>]) -> Cycles<'g> {
        let n = graph.nodes.len();
        let mut cycles = Cycles {
            graph,
            rates,
            lengths,
            met: vec![0; n],
            first: vec![0; n],
            open: Vec::new(),
            is_open: vec![false; n],
            cycles: Vec::new(),
        };
        let mut count = 0;
        for id in graph.ids() {
            cycles.visit(id, &mut count);
        }
        cycles
    }

    /// The operands of a node, and the lengths of its segments.
    fn needs(&self, n: NodeId) -> Vec<NodeId> {
        let needs = self.needs_itself(n).into_iter();
        needs.chain(self.lengths[n.index()]).collect()
    }

    fn needs_itself(&self, n: NodeId) -> Vec<NodeId> {
        let node = &self.graph.nodes[n.index()];
        let captures = node.captures.iter().flatten();
        let all = node.inputs.iter().chain(captures).chain(&node.length);
        // A zip and its co-consumers form one item.
        all.copied().chain(self.rates.loop_of_zip(n)).collect()
    }

    fn visit(&mut self, start: NodeId, count: &mut u32) {
        let mut stack: Vec<(NodeId, std::vec::IntoIter<NodeId>)> = Vec::new();
        let mut next = (self.met[start.index()] == 0).then_some(start);
        loop {
            if let Some(n) = next.take() {
                *count += 1;
                (self.met[n.index()], self.first[n.index()]) = (*count, *count);
                self.open.push(n);
                self.is_open[n.index()] = true;
                stack.push((n, self.needs(n).into_iter()));
            }
            let Some((n, rest)) = stack.last_mut() else {
                return;
            };
            let n = *n;
            match rest.next() {
                Some(need) if self.met[need.index()] == 0 => next = Some(need),
                Some(need) if self.is_open[need.index()] => self.reaches(n, self.met[need.index()]),
                Some(_) => {}
                None => {
                    stack.pop();
                    self.complete(n);
                    if let Some((user, _)) = stack.last() {
                        self.reaches(*user, self.first[n.index()]);
                    }
                }
            }
        }
    }

    fn reaches(&mut self, n: NodeId, met: u32) {
        let first = &mut self.first[n.index()];
        *first = (*first).min(met);
    }

    /// Closes a component once its first node has nothing left to visit.
    fn complete(&mut self, n: NodeId) {
        if self.first[n.index()] != self.met[n.index()] {
            return;
        }
        let from = self.open.iter().rposition(|o| *o == n).unwrap_or(0);
        let mut cycle = self.open.split_off(from);
        cycle.iter().for_each(|n| self.is_open[n.index()] = false);
        cycle.sort_unstable();
        self.cycles.push(cycle);
    }

    /// Concatenates the components. Within one, nodes come after their direct operands: in the
    /// order of the graph, except for co-consumers.
    fn order(mut self) -> Order {
        let mut cycle = vec![0; self.graph.nodes.len()];
        for (i, nodes) in self.cycles.iter().enumerate() {
            nodes.iter().for_each(|n| cycle[n.index()] = i as u32);
        }
        for i in 0..self.cycles.len() {
            let is_co_consumer = |n: &NodeId| self.rates.fused_into(*n).is_some();
            if self.cycles[i].len() > 1 && self.cycles[i].iter().any(is_co_consumer) {
                self.cycles[i] = self.sorted(&self.cycles[i]);
            }
        }
        Order {
            nodes: self.cycles.concat(),
            cycle,
        }
    }

    /// Sorts some nodes so that each comes after its direct operands among them.
    fn sorted(&self, nodes: &[NodeId]) -> Vec<NodeId> {
        let (mut sorted, mut seen) = (Vec::with_capacity(nodes.len()), FxHashSet::default());
        let mut stack: Vec<(NodeId, bool)> = nodes.iter().rev().map(|n| (*n, false)).collect();
        while let Some((n, ready)) = stack.pop() {
            if ready {
                sorted.push(n);
            } else if seen.insert(n) {
                stack.push((n, true));
                let needs = self.needs_itself(n).into_iter();
                let here = needs.filter(|need| nodes.binary_search(need).is_ok());
                stack.extend(here.map(|need| (need, false)));
            }
        }
        sorted
    }
}
