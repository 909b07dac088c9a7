//! Along which axis an array's elements are read side by side. Where a combinator could run along one axis or another, it
//! runs along that.

use crate::ast::{Body, Kind, Node, Term, TermId};
use std::sync::Arc;

/// The axis of an array of this rank along which neighbours are read from neighbours in memory. The nodes are its elements row
/// by row. None if there is no such axis, or sources differ in it.
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

/// For each array that a function of an index reads, the axis along which it does so side by side. Its parameters are the index
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
