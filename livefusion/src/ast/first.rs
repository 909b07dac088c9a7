//! Starting values for folds that have none.

use crate::ast::{Body, BodyBuilder, Builder, Fold, FoldStyle, Node, TermId, identities};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Turns a scan that starts from the first element into a scan with a start.
///
/// If the associative operator has an identity, the scan starts from that. Otherwise a flag travels
/// with the state; it says whether an element came before.
pub(crate) fn from_first(
    builder: Builder,
    elements: &Arc<Node>,
    step: Body,
    scan: impl FnOnce(&Arc<Node>, Fold) -> Arc<Node>,
) -> Arc<Node> {
    let style = FoldStyle::Associative;
    let types = &elements.types[..];
    let fits = *step.params == [types, types].concat() && *step.result_types_or_none() == *types;
    if fits && let Some(start) = identities(&step) {
        return scan(elements, Fold { start, step, style });
    }
    let n = elements.types.len();
    let mut b = BodyBuilder::new(&elements.types);
    let mut fields = vec![b.lit(Const::bool(true))];
    fields.extend((0..n as u32).map(|k| b.param(k)));
    let flagged = builder.map(std::slice::from_ref(elements), b.finish(&fields));
    let state: Vec<Ty> = [&[Ty::Bool], &elements.types[..]].concat();
    let mut b = BodyBuilder::new(&[&state[..], &state[..]].concat());
    let both: Vec<TermId> = (0..2 * state.len() as u32).map(|k| b.param(k)).collect();
    let (left, right) = both.split_at(state.len());
    let both = [&left[1..], &right[1..]].concat();
    let Some(joined) = fits.then(|| b.embed(&step, &both)).flatten() else {
        // The error of the operator is reported.
        let start = zeros(&elements.types);
        return scan(elements, Fold { start, step, style });
    };
    let mut results = vec![b.op(Op::Or, &[left[0], right[0]])];
    for (x, y) in joined.into_iter().zip(&right[1..]) {
        results.push(b.cond(left[0], x, *y));
    }
    let fold = Fold {
        start: zeros(&state),
        step: b.finish(&results),
        style,
    };
    builder.fields(&scan(&flagged, fold), 1..1 + n as u32)
}

/// A value of zeros.
pub(crate) fn zeros(types: &[Ty]) -> Body {
    let mut b = BodyBuilder::new(&[]);
    let fields: Vec<TermId> = types.iter().map(|t| b.lit(Const::zero(*t))).collect();
    b.finish(&fields)
}
