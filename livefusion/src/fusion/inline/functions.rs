//! Index functions: nodes that compute any element from its index; their costs and traps.

use super::{KnownExtent, in_step_unchecked};
use crate::ast::{Body, Term, TermId};
use crate::fusion::rates::Rates;
use crate::sharing::{Graph, NodeId};

/// The maximal number of nested inlined arrays. Lowering is recursive.
const MAX_CHAIN: u32 = 64;

/// The maximal nesting of conditions and scalar loops in an inlined array, summed over all levels.
const MAX_NESTING: u32 = 16;

/// Lists the index functions, the candidates for inlining.
pub struct Functions {
    /// The cost of an element; none for other nodes. Costly elements saturate.
    pub cost: Vec<Option<u32>>,
    /// Whether computing an element may trap or diverge.
    pub may_trap: Vec<bool>,
}

impl Functions {
    pub fn none(graph: &Graph) -> Functions {
        Functions {
            cost: vec![None; graph.nodes.len()],
            may_trap: vec![false; graph.nodes.len()],
        }
    }

    pub fn find(graph: &Graph, rates: &Rates, extents: &[Option<KnownExtent>]) -> Functions {
        let n = graph.nodes.len();
        let mut found = Functions::none(graph);
        let (mut chain, mut nesting) = (vec![0u32; n], vec![0u32; n]);
        for id in graph.ids() {
            let node = &graph.nodes[id.index()];
            let facts = node.node.kind.facts();
            let is_function = facts.by_field
                && !node.leaf
                && extents[id.index()].is_some()
                && (!facts.in_step() || in_step_unchecked(rates, id, &node.inputs))
                && node.inputs.iter().all(|i| found.tells_elements(graph, *i));
            let Some(body) = node.node.kind.bodies().pop().filter(|_| is_function) else {
                continue;
            };
            let below = |of: &[u32]| {
                let inner = inner(graph, id).filter(|n| found.is(*n));
                inner.map(|n| of[n.index()]).max().unwrap_or(0)
            };
            let may_trap = body.may_trap() || inner(graph, id).any(|n| found.may_trap[n.index()]);
            // A trapping element is computed in its own region, guarded by the bounds test.
            let depth = below(&nesting) + body_nesting(body) + may_trap as u32;
            let length = below(&chain) + 1;
            if length <= MAX_CHAIN && depth <= MAX_NESTING {
                (chain[id.index()], nesting[id.index()]) = (length, depth);
                found.cost[id.index()] = Some(found.cost_of(graph, id, body));
                found.may_trap[id.index()] = may_trap;
            }
        }
        found
    }

    pub fn is(&self, n: NodeId) -> bool {
        self.cost[n.index()].is_some()
    }

    fn tells_elements(&self, graph: &Graph, input: NodeId) -> bool {
        let fields = graph.fields(input);
        fields
            .iter()
            .all(|(n, _)| graph.nodes[n.index()].leaf || self.is(*n))
    }

    fn cost_of(&self, graph: &Graph, id: NodeId, body: &Body) -> u32 {
        let own = body.terms.iter().fold(0, |sum: u32, data| {
            sum.saturating_add(match &data.term {
                Term::Op(op, _) if op.is_costly() => u32::MAX,
                Term::Op(..) | Term::Flat(_) | Term::Assert(..) => 1,
                Term::Cond(..) => 1,
                Term::LoopVar(..) | Term::LoopResult(..) => u32::MAX,
                _ => 0,
            })
        });
        let accesses = inner(graph, id).map(|n| self.cost[n.index()].unwrap_or(1));
        accesses.fold(own, u32::saturating_add)
    }
}

/// The arrays that one element of an index function reads: its inputs, and arrays that its body
/// reads at an index, once per index.
fn inner(graph: &Graph, id: NodeId) -> impl Iterator<Item = NodeId> {
    let node = &graph.nodes[id.index()];
    let in_step = node.inputs.iter().flat_map(|i| graph.fields(*i));
    let mut nodes: Vec<NodeId> = in_step.map(|(n, _)| n).collect();
    nodes.dedup();
    if let (Some(body), Some(captures)) = (node.node.kind.bodies().pop(), node.captures.last()) {
        nodes.extend(accesses(graph, body, captures).into_iter().map(|a| a.0));
    }
    nodes.into_iter()
}

/// Lists the arrays that a body reads at an index, once per index.
pub fn accesses(graph: &Graph, body: &Body, captures: &[NodeId]) -> Vec<(NodeId, TermId)> {
    let mut found = Vec::new();
    for data in &body.terms {
        if let Term::At {
            capture,
            field,
            index,
            ..
        } = data.term
        {
            let (n, _) = graph.resolve(captures[capture as usize], field);
            if !found.contains(&(n, index)) {
                found.push((n, index));
            }
        }
    }
    found
}

/// Returns an upper bound on the nesting of a body's conditions and scalar loops.
pub fn body_nesting(body: &Body) -> u32 {
    let mut depth: Vec<u32> = Vec::with_capacity(body.terms.len());
    let most = |depth: &[u32], terms: &mut dyn Iterator<Item = &TermId>| {
        terms.map(|t| depth[t.index()]).max().unwrap_or(0)
    };
    for data in &body.terms {
        let here = match &data.term {
            Term::Op(_, args) | Term::Flat(args) | Term::Assert(_, args) => {
                most(&depth, &mut args.iter())
            }
            Term::At { index, .. } => depth[index.index()],
            Term::Cond(c, a, b) => most(&depth, &mut [c, a, b].into_iter()) + 1,
            Term::LoopResult(l, _) => {
                let l = &body.loops[*l as usize];
                most(&depth, &mut l.start.iter().chain(&l.next).chain([&l.test])) + 2
            }
            Term::Param(_) | Term::Lit(_) | Term::Scalar { .. } | Term::LoopVar(..) => 0,
        };
        depth.push(here);
    }
    depth.into_iter().max().unwrap_or(0)
}
