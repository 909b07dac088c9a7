//! Uniform descriptors: lengths of segments that are one number by construction, as those of the rows of an array of
//! higher rank are. They are in no memory, and the rate of the elements is a uniform one.

use crate::ast::{Kind, Term};
use crate::sharing::{FieldRef, Graph};

/// Whether an array has the same value everywhere, and one that is known before any loop that has it starts: a literal or
/// a delayed scalar.
pub fn is_uniform(graph: &Graph, (id, field): FieldRef) -> bool {
    let node = &graph.nodes[id.index()];
    let (Kind::Generate(_, body) | Kind::Expand(body)) = &node.node.kind else {
        return false;
    };
    let value = body.results.get(field as usize);
    let value = value.map(|t| body.terms[t.index()].term);
    !node.leaf && matches!(value, Some(Term::Lit(_) | Term::Scalar { .. }))
}
