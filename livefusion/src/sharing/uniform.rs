//! Uniform descriptors: lengths of segments that are one number by construction, as those of the rows of an array of
//! higher rank are. They are in no memory, and the rate of the elements is a uniform one.

use super::{FieldRef, Graph};
use crate::ast::{Kind, Term, TermId};
use loop_lang::types::Const;

/// What an array has everywhere.
#[derive(Clone, Copy, Debug)]
pub enum Uniform {
    /// A literal, the term that it is.
    Literal(TermId, Const),
    /// A delayed scalar.
    Scalar(FieldRef),
}

/// What an array has everywhere, if that is one value which is known before any loop that has the array starts.
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

/// Whether an array has one value everywhere.
pub fn is_uniform(graph: &Graph, field: FieldRef) -> bool {
    uniform_value(graph, field).is_some()
}
