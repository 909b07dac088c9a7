//! Delayed scalars that a loop computes before its first iteration.

use crate::ast::{Capture, Kind, Term};
use crate::sharing::{Graph, NodeId};

/// The maximal number of terms of such a scalar. Each chunk of its loop computes it anew.
const MOST_TERMS: usize = 16;

/// Returns for each node whether it is a scalar at the entry of its loop.
///
/// Such a scalar is cheap, and its operands are there before the program: arrays in memory, their
/// lengths, and other such scalars.
pub fn scalars_at_entry(graph: &Graph, in_no_loop: &[bool]) -> Vec<bool> {
    let mut at_entry = vec![false; graph.nodes.len()];
    for id in graph.ids() {
        at_entry[id.index()] = is_at_entry(graph, in_no_loop, &at_entry, id);
    }
    at_entry
}

fn is_at_entry(graph: &Graph, in_no_loop: &[bool], at_entry: &[bool], id: NodeId) -> bool {
    let node = &graph.nodes[id.index()];
    let Kind::Compute(body) = &node.node.kind else {
        return false;
    };
    let is_cheap = |term: &Term| !matches!(term, Term::Op(op, _) if op.is_costly());
    if node.leaf
        || !body.loops.is_empty()
        || body.terms.len() > MOST_TERMS
        || !body.terms.iter().all(|data| is_cheap(&data.term))
    {
        return false;
    }
    let mut captures = body.captures.iter().zip(node.captures.iter().flatten());
    captures.all(|(capture, n)| {
        graph.fields(*n).into_iter().all(|(n, _)| {
            let made = &graph.nodes[n.index()];
            let is_length = matches!(made.node.kind, Kind::Len) && in_no_loop[n.index()];
            match capture {
                Capture::Array(_) => made.leaf,
                Capture::Scalar(_) => made.leaf || at_entry[n.index()] || is_length,
            }
        })
    })
}
