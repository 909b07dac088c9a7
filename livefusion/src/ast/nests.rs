//! Segments of segments: lengths that are sums of others' lengths, and what is folded, counted and spread by them, level by level.
//!
//! Elements have one place in a nest of loops. What uses them by the lengths of outer segments is said by those of the inner ones first,
//! so that it is within the same nest; by itself it would read them from memory.

use crate::ast::{Builder, Fold, FoldStyle, Kind, Node, Term, identities, plain};
use crate::over::Domain;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

/// The lengths of outer segments, and of the segments in these, if lengths are sums of the latter.
pub(crate) fn levels(lengths: &Arc<Node>) -> Option<(&Arc<Node>, &Arc<Node>)> {
    let (Kind::FoldS(fold), [outer, inner]) = (&lengths.kind, lengths.inputs.as_slice()) else {
        return None;
    };
    let start = fold.start.results.first();
    let start = start.and_then(|start| fold.start.terms.get(start.index()));
    let from_zero = matches!(start.map(|t| t.term), Some(Term::Lit(c)) if c.bits == 0);
    let sums = matches!(fold.style, FoldStyle::Associative)
        && plain(&fold.step).is_some_and(|ops| ops == [Op::Add]);
    let counts = *lengths.types == [Ty::U64] && *inner.types == [Ty::U64];
    let there = !lengths.is_leaf() && lengths.error.is_none();
    (from_zero && sums && counts && there).then_some((outer, inner))
}

/// A fold of segments of segments, if it is one of the inner ones and then one of what these come to. The inner ones start from the
/// operators' identities; a fold without such stays one of all elements.
pub(super) fn folded(
    builder: Builder,
    lengths: &Arc<Node>,
    data: &Arc<Node>,
    fold: &Fold,
) -> Option<Arc<Node>> {
    let (outer, inner) = levels(lengths)?;
    let start = match fold.style {
        FoldStyle::Associative => identities(&fold.step)?,
        _ => return None,
    };
    let of_inner = Fold {
        start,
        ..fold.clone()
    };
    let pieces = builder.fold(Domain::Segments(inner, data), of_inner);
    Some(builder.fold(Domain::Segments(outer, &pieces), fold.clone()))
}
