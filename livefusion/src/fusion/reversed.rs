//! Reversed loops: fuses `reverse` into the loop that computes its operand.
//!
//! A loop counts its steps upwards. Step k may compute element k of an array, or element k from the
//! end. In the second case, the array runs *against* the loop. For example, a reversed scan runs
//! against the loop of its scan, and so do maps of it. They read and write memory at the reversed
//! index, and the scan itself need not be stored.
//!
//! An inner loop over segments counts upwards, too. Elements that run against it begin at the end
//! of each segment. The segments are visited in order.
//!
//! Order-dependent nodes (scans, folds, filters, trapping code) run along their loop. If one of
//! them consumes an array that runs against its loop, a `reverse` between them reads memory, as any
//! index function does.

use super::rates::{ClassKind, Rates, indexed_array};
use crate::ast::{Body, Kind, Move, turned};
use crate::sharing::{Graph, NodeId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Lists the arrays that run against the loop that computes them.
#[derive(Clone, Debug, Default)]
pub struct Reversals {
    /// The operand of each reversal that is fused with it.
    of: FxHashMap<NodeId, NodeId>,
    /// The nodes that run against their loop.
    against: FxHashSet<NodeId>,
}

impl Reversals {
    /// Finds the fusible reversals.
    ///
    /// `in_order` selects the nodes that are computed in a loop's order. These are all nodes except
    /// arrays in memory and index functions.
    pub fn find(graph: &Graph, rates: &Rates, in_order: impl Fn(NodeId) -> bool) -> Reversals {
        let mut reversals = Reversals::default();
        let reversed = graph
            .ids()
            .filter_map(|id| Some((id, reversed(graph, rates, id)?)));
        let is_root = |n: NodeId| {
            let class = rates.output(n);
            class.is_some_and(|c| rates.kind(c) == ClassKind::Root)
        };
        let computed = |n: NodeId| graph.fields(n).iter().any(|f| in_order(f.0));
        let mut found: Vec<_> = reversed
            .filter(|(_, of)| is_root(*of) && computed(*of))
            .collect();
        let each = |id| Some((id, reversed_each(graph, rates, id)?));
        found.extend(graph.ids().filter_map(each));
        if found.is_empty() {
            return reversals;
        }
        let mut directions = Directions::of(graph, rates);
        for (id, of) in found {
            // Memory can be read in any order.
            let makers = graph.fields(of).into_iter().map(|f| f.0);
            let makers = makers.filter(|n| !graph.nodes[n.index()].leaf);
            if makers
                .clone()
                .all(|maker| directions.may_join(id, maker, true))
            {
                makers.for_each(|maker| directions.join(id, maker, true));
                if let Kind::Generate(..) = graph.node(id).kind {
                    reversals.of.insert(id, of);
                }
            }
        }
        for id in graph.ids().filter(|id| !graph.nodes[id.index()].leaf) {
            if directions.is_against(id) {
                reversals.against.insert(id);
            }
        }
        reversals
    }

    /// Returns the operand of a reversal, if one loop computes both.
    pub fn source(&self, id: NodeId) -> Option<NodeId> {
        self.of.get(&id).copied()
    }

    /// Returns whether a node's elements are computed in the opposite order.
    pub fn is_against(&self, id: NodeId) -> bool {
        self.against.contains(&id)
    }
}

/// Matches a node that reverses all fields of one array. Returns that array.
fn reversed(graph: &Graph, rates: &Rates, id: NodeId) -> Option<NodeId> {
    let node = &graph.nodes[id.index()];
    let (Kind::Generate(_, body), false) = (&node.node.kind, node.leaf) else {
        return None;
    };
    let counted = indexed_array(graph, id)?;
    let captures = node.captures.last()?;
    let [of, len] = turned(body)?.map(|capture| captures.get(capture as usize).copied());
    let of = of.filter(|_| len == node.length)?;
    let all = graph.node(of).types.len() == body.results.len();
    (all && rates.known_equal(of, counted)).then_some(of)
}

/// Matches a node that reverses the elements of segments. Returns the elements, if a loop over the
/// same segments computes them.
fn reversed_each(graph: &Graph, rates: &Rates, id: NodeId) -> Option<NodeId> {
    let node = &graph.nodes[id.index()];
    if node.leaf || !matches!(node.node.kind, Kind::MoveS(Move::Turned)) || rates.is_unfused(id, 1)
    {
        return None;
    }
    let mut makers = graph.fields(node.inputs[1]).into_iter().map(|f| f.0);
    let here = makers.all(|n| rates.output(n) == rates.output(id));
    here.then_some(node.inputs[1])
}

/// Nodes that run in equal or opposite directions: a disjoint-set forest with parities.
struct Directions {
    above: Vec<(usize, bool)>,
    /// For the set's first node: whether nodes of the set run along the loop, by parity.
    along: Vec<[bool; 2]>,
}

impl Directions {
    fn of(graph: &Graph, rates: &Rates) -> Directions {
        let n = graph.nodes.len();
        let mut d = Directions {
            above: (0..n).map(|i| (i, false)).collect(),
            along: vec![[false; 2]; n],
        };
        for id in graph.ids() {
            let node = &graph.nodes[id.index()];
            if node.leaf || node.node.rank == 0 && rates.runs_at(id).is_none() {
                continue;
            }
            d.along[id.index()] = [is_ordered(&node.node.kind), false];
        }
        for id in graph.ids().filter(|id| !graph.nodes[id.index()].leaf) {
            if rates.cursors_of(id).is_some() {
                d.runs_along(id);
            }
            for (k, input) in graph.nodes[id.index()].inputs.iter().enumerate() {
                if rates.is_unfused(id, k) {
                    continue;
                }
                // Segments are visited from the first to the last, in each order of their elements.
                let of_segments = graph.node(id).kind.facts().by_segments.is_of_segments(k);
                let makers = graph.fields(*input).into_iter().map(|f| f.0);
                for maker in makers.filter(|n| *n != id && !graph.nodes[n.index()].leaf) {
                    match graph.node(id).kind {
                        _ if of_segments => d.runs_along(maker),
                        Kind::MoveS(_) => {}
                        _ => d.join(id, maker, false),
                    }
                }
            }
        }
        d
    }

    /// Makes a node run along its loop.
    fn runs_along(&mut self, n: NodeId) {
        let (first, parity) = self.find(n);
        self.along[first][usize::from(parity)] = true;
    }

    /// The first node of a set, and whether `n` runs in the opposite direction. Shortens the paths.
    fn find(&mut self, n: NodeId) -> (usize, bool) {
        let (mut at, mut parity) = (n.index(), false);
        while self.above[at].0 != at {
            let (above, flips) = self.above[at];
            let (beyond, further) = self.above[above];
            if beyond != above {
                self.above[at] = (beyond, flips ^ further);
            }
            parity ^= self.above[at].1;
            at = self.above[at].0;
        }
        (at, parity)
    }

    /// Whether two nodes can run in opposite directions (or in the same direction).
    fn may_join(&mut self, a: NodeId, b: NodeId, opposite: bool) -> bool {
        let ((a, pa), (b, pb)) = (self.find(a), self.find(b));
        let flips = pa ^ pb ^ opposite;
        if a == b {
            return !flips;
        }
        let mine = self.along[a];
        let theirs = self.along[b];
        // All nodes that run along the loop have one parity.
        let [same, other] = [0, 1].map(|p| mine[p] || theirs[p ^ usize::from(flips)]);
        !(same && other)
    }

    fn join(&mut self, a: NodeId, b: NodeId, opposite: bool) {
        let ((a, pa), (b, pb)) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        let flips = pa ^ pb ^ opposite;
        // The older node stays the representative, so frequent queries have short paths.
        let (from, to) = if a < b { (b, a) } else { (a, b) };
        let along = self.along[from];
        self.above[from] = (to, flips);
        for p in [0, 1] {
            self.along[to][p ^ usize::from(flips)] |= along[p];
        }
    }

    /// Whether a node runs against its loop. The nodes that must run along the loop determine its
    /// direction; otherwise the oldest node does.
    fn is_against(&mut self, n: NodeId) -> bool {
        let (first, parity) = self.find(n);
        parity ^ self.along[first][1]
    }
}

/// Whether a node depends on the order of its elements.
fn is_ordered(kind: &Kind) -> bool {
    !kind.facts().any_order || kind.bodies().into_iter().any(Body::may_trap)
}
