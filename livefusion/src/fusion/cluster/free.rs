//! Nodes that belong to no loop: generators that each consumer recomputes, and aliases.

use crate::ast::{Kind, Term, TermId};
use crate::fusion::inline::Inlining;
use crate::fusion::rates::Rates;
use crate::sharing::{Graph, GraphNode, NodeId};

/// The maximal number of operators of a free generator, which is cheaper to recompute than to
/// store. None of them may be a memory access, a scalar loop or a transcendental function.
const FREE_OPERATORS: usize = 6;

/// Returns for each node whether every consuming loop recomputes it.
///
/// A node that must be in memory is computed once, in a loop.
pub fn free_generators(graph: &Graph, inlining: &Inlining) -> Vec<bool> {
    let free = |id: NodeId| !inlining.is_in_memory(id) && is_cheap(&graph.nodes[id.index()]);
    graph.ids().map(free).collect()
}

/// Returns whether a node is a generator with cheap elements.
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

/// Finds the generator of an array that repeats one value, through aliases.
///
/// A buffer can be filled with that value.
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

/// Returns whether a node only renames its inputs.
///
/// No loop has to check it then.
pub fn is_alias(graph: &Graph, rates: &Rates, id: NodeId) -> bool {
    let node = &graph.nodes[id.index()];
    let known_equal = |i: &NodeId| rates.known_equal(*i, node.inputs[0]);
    let equal = !rates.is_fresh(id) && node.inputs.iter().all(known_equal);
    node.node.kind.facts().names() && equal
}
