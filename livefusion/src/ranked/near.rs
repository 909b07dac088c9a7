//! The axis along which an array is read contiguously.
//!
//! A combinator that can run along several axes prefers this one.

use crate::ast::{Body, Kind, Node, Term, TermId};
use std::sync::Arc;

/// Returns the axis along which reads are contiguous, for an array of this rank.
///
/// The node holds the elements row by row. `None` if there is no such axis, or sources disagree.
pub(super) fn near(elements: &Arc<Node>, rank: usize) -> Option<usize> {
    let mut axes = Vec::new();
    let mut stack = vec![elements];
    while let Some(node) = stack.pop() {
        match &node.kind {
            _ if node.is_leaf() => axes.push(rank - 1),
            kind if kind.facts().in_step() => stack.extend(&node.inputs),
            Kind::Expand(body) if body.params.len() == rank => axes.extend(reads(body)),
            _ => axes.push(rank - 1),
        }
    }
    let first = *axes.first()?;
    axes.iter().all(|axis| *axis == first).then_some(first)
}

/// Returns the contiguous axis of each read in an index function. Its parameters are the index
/// along the last axis, then those along the others.
fn reads(body: &Body) -> impl Iterator<Item = usize> {
    let term = |t: TermId| body.terms.get(t.index()).map(|data| data.term);
    let side_by_side = move |at: TermId| match term(at)? {
        Term::Flat(parts) => parts.get(1).copied(),
        _ => Some(at),
    };
    let along = move |part: TermId| match term(part)? {
        Term::Param(0) => Some(body.params.len() - 1),
        Term::Param(k) => Some(k as usize - 1),
        _ => None,
    };
    body.terms.iter().filter_map(move |data| match data.term {
        Term::At { index, .. } => along(side_by_side(index)?),
        _ => None,
    })
}
