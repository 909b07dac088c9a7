//! Uniform descriptors: segment lengths that are equal by construction.
//!
//! An example is the rows of an array of higher rank. Uniform descriptors take no memory, and the
//! elements' rate is uniform.

use super::{FieldRef, Graph};
use crate::ast::{Kind, Term, TermId};
use loop_lang::types::Const;

/// Represents the common value of all elements of an array.
#[derive(Clone, Copy, Debug)]
pub enum Uniform {
    /// A literal and its term.
    Literal(TermId, Const),
    /// A delayed scalar.
    Scalar(FieldRef),
}

/// Returns the common value of an array's elements.
///
/// None unless the value is known before any loop over the array starts.
pub fn uniform_value(graph: &Graph, (id, field): FieldRef) -> Option<Uniform> {
    let node = &graph.nodes[id.index()];
    let (Kind::Generate(_, body) | Kind::Expand(body)) = &node.node.kind else {
        return None;
    };
    let term = body.results.get(field as usize).filter(|_| !node.leaf)?;
    match body.terms[term.index()].term {
        Term::Lit(c) => Some(Uniform::Literal(*term, c)),
        Term::Scalar { capture, field } => {
            let captured = node.captures.last()?.get(capture as usize)?;
            Some(Uniform::Scalar(graph.resolve(*captured, field)))
        }
        _ => None,
    }
}

/// Returns whether all elements of an array have one value.
pub fn is_uniform(graph: &Graph, field: FieldRef) -> bool {
    uniform_value(graph, field).is_some()
}
