//! Elements at other places of their array: moves, and index functions that read it from its end.

use crate::ast::{Body, Kind, Len, Node, Term, TermId};
use loop_lang::op::Op;
use std::sync::Arc;

/// Says which element of a segment an element of the result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Move {
    /// They come from the last to the first.
    Turned,
    /// The one so many places later, or the nearest one of the segment.
    By(i64),
}

impl Move {
    /// Returns a number of its own.
    pub(crate) fn code(self) -> u64 {
        match self {
            Move::Turned => 0,
            Move::By(by) => by.cast_unsigned(),
        }
    }
}

/// Returns the array that a node has from the last element to the first.
pub(crate) fn reversed(node: &Node) -> Option<&Arc<Node>> {
    let (Kind::Generate(Len::Delayed(len), body), false) = (&node.kind, node.is_leaf()) else {
        return None;
    };
    let [of, n] = turned(body)?.map(|c| body.captures[c as usize].node());
    let (Kind::Len, [measured]) = (&len.kind, len.inputs.as_slice()) else {
        return None;
    };
    let is_whole = Arc::ptr_eq(n, len) && Arc::ptr_eq(measured, of);
    (is_whole && of.types.len() == body.results.len()).then_some(of)
}

/// Matches an index function that reads an array from its end. Returns the captures of the array and of
/// the length.
pub(crate) fn turned(body: &Body) -> Option<[u32; 2]> {
    let term = |t: TermId| body.terms.get(t.index()).map(|d| &d.term);
    let sub = |t: TermId| match term(t) {
        Some(Term::Op(Op::Sub, args)) => Some((args[0], args[1])),
        _ => None,
    };
    let mut found = None;
    for (f, result) in (0..).zip(&body.results) {
        let Some(Term::At {
            capture,
            field,
            index,
            checked: false,
        }) = term(*result)
        else {
            return None;
        };
        let (last, i) = sub(*index)?;
        let (n, one) = sub(last)?;
        let is_one = matches!(term(one), Some(Term::Lit(c)) if c.bits == 1);
        let own = matches!(term(i), Some(Term::Param(0))) && is_one && *field == f;
        let Some(Term::Scalar { capture: len, .. }) = term(n) else {
            return None;
        };
        let here = [*capture, *len];
        if !own || *found.get_or_insert(here) != here {
            return None;
        }
    }
    found
}
