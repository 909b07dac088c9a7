//! What belongs to no loop: generators that each user computes anew, and names for what others compute.

use crate::ast::{Kind, Term, TermId};
use crate::fusion::pull::Pulls;
use crate::fusion::rates::Rates;
use crate::sharing::{Graph, GraphNode, NodeId};

/// Generators that are cheaper to compute again than to store and read: at most this many operators,
/// none of them a memory access, a scalar loop or a transcendental function.
const FREE_OPERATORS: usize = 6;

/// Nodes that every loop that needs them computes anew, by position. What must be in memory is computed
/// once, in a loop.
pub fn free_generators(graph: &Graph, pulls: &Pulls) -> Vec<bool> {
    let free = |id: NodeId| !pulls.is_in_memory(id) && is_cheap(&graph.nodes[id.index()]);
    graph.ids().map(free).collect()
}

/// Whether a node is a generator whose elements are cheap to compute again.
pub fn is_cheap(n: &GraphNode) -> bool {
    match &n.node.kind {
        Kind::Generate(_, body) if !n.leaf => {
            let cheap = |t: &Term| match t {
                Term::Op(op, _) => !op.is_costly(),
                Term::Param(_) | Term::Lit(_) | Term::Scalar { .. } => true,
                _ => false,
            };
            body.terms.len() <= FREE_OPERATORS + 4 && body.terms.iter().all(|t| cheap(&t.term))
        }
        _ => false,
    }
}

/// Of an array that is one value repeated, by whatever name, what makes it: a buffer can be filled with that.
pub fn constant(graph: &Graph, id: NodeId) -> Option<NodeId> {
    let fields = graph.fields(id);
    let (of, _) = *fields.first()?;
    let n = &graph.nodes[of.index()];
    let is_whole = fields
        .into_iter()
        .eq((0..n.node.types.len() as u32).map(|f| (of, f)));
    match &n.node.kind {
        Kind::Generate(_, body) if !n.leaf && is_whole => {
            let is_fixed = |r: &TermId| {
                let term = &body.terms[r.index()].term;
                matches!(term, Term::Lit(_) | Term::Scalar { .. })
            };
            body.results.iter().all(is_fixed).then_some(of)
        }
        _ => None,
    }
}

/// Whether a node is nothing but another name for its inputs: no loop has to check anything for it.
pub fn is_alias(graph: &Graph, rates: &Rates, id: NodeId) -> bool {
    let node = &graph.nodes[id.index()];
    let known_equal = |i: &NodeId| rates.known_equal(*i, node.inputs[0]);
    let equal = !rates.is_fresh(id) && node.inputs.iter().all(known_equal);
    node.node.kind.facts().names() && equal
}
