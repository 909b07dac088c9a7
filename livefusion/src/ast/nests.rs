//! Nested segments: segment lengths that are sums of inner segment lengths.
//!
//! Folds and counts by outer lengths are first expressed by the inner lengths, level by level. They
//! then run in the inner segments' loop nest. Used directly, the outer lengths would force the
//! elements into memory.

use crate::ast::{Builder, Fold, FoldStyle, Kind, Node, Term, identities, plain};
use crate::over::Domain;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

/// The outer and the inner lengths, if `lengths` are per-segment sums of inner lengths.
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

/// Splits a fold of nested segments into a fold of the inner segments and a fold of their results.
///
/// The inner folds start from the operators' identities. A fold without identities is not split.
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
