//! Counts of the elements that are kept of rows of one length, where all rows keep as many.

use crate::ast::{Axis, Body, Builder, Field, Kind, Node, Term, TermId};
use loop_lang::op::Op;
use std::sync::Arc;

/// Returns the common count of true tags. The tags admit the first elements of each row, up to a number,
/// or all others.
pub(super) fn of_rows(counts: &Arc<Node>) -> Option<Axis> {
    let [lengths, tags] = counts.inputs.as_slice() else {
        return None;
    };
    let length = Axis::of_rows(lengths)?;
    let body = of_index(tags, &length)?;
    let [first] = body.results.as_slice() else {
        return None;
    };
    let Term::Op(op, args) = body.terms[first.index()].term else {
        return None;
    };
    let is_index = |t: TermId| matches!(body.terms[t.index()].term, Term::Param(0));
    let n = match op {
        Op::Lt if is_index(args[0]) => number(body, args[1])?,
        Op::Le if is_index(args[1]) => number(body, args[0])?,
        _ => return None,
    };
    let b = Builder::like(counts);
    let most = |a: u64, b: u64| a.min(b);
    let known = n.known().zip(length.known()).map(|(n, all)| match op {
        Op::Lt => most(n, all),
        _ => all - most(n, all),
    });
    Some(b.computed(known, || {
        let (n, all) = (n.value(b.loc()), length.value(b.loc()));
        let some = Field::op(Op::Min, &[n, all], b.loc());
        match op {
            Op::Lt => some,
            _ => Field::op(Op::Sub, &[all, some], b.loc()),
        }
    }))
}

/// The body that makes tags from the index within a row of a length, its first parameter.
fn of_index<'n>(tags: &'n Node, length: &Axis) -> Option<&'n Body> {
    let of_rows = |n: &Node| Axis::of_rows(&n.inputs[0]).is_some_and(|own| own.is(length));
    let is_index = |n: &Arc<Node>| match &n.kind {
        Kind::Expand(body) => {
            let own = |t: &TermId| matches!(body.terms[t.index()].term, Term::Param(0));
            !n.is_leaf() && of_rows(n) && body.results.iter().all(own)
        }
        _ => false,
    };
    match &tags.kind {
        _ if tags.is_leaf() => None,
        Kind::Expand(body) => of_rows(tags).then_some(body),
        Kind::Map(body) if tags.inputs.iter().all(is_index) => Some(body),
        _ => None,
    }
}

/// A number that all rows have.
fn number(body: &Body, t: TermId) -> Option<Axis> {
    match body.terms[t.index()].term {
        Term::Lit(n) => Some(Axis::from(n.bits)),
        Term::Scalar { capture, field: 0 } => {
            let node = body.captures[capture as usize].node();
            (node.types.len() == 1).then(|| Axis::delayed(node.clone()))
        }
        _ => None,
    }
}
