//! Forms of fold operators: plain ones, and those that keep one side.

use crate::ast::{Body, BodyBuilder, Term, TermId};
use loop_lang::op::Op;

/// The operator of each field, if the body applies one associative, commutative operator per field
/// to (left, right).
pub(crate) fn plain(step: &Body) -> Option<Vec<Op>> {
    let width = step.results.len();
    let field = |(field, result): (usize, &TermId)| plain_field(step, field, width, *result);
    let fields = step.results.iter().enumerate().map(field);
    fields
        .collect::<Option<_>>()
        .filter(|_| step.params.len() == 2 * width)
}

fn plain_field(step: &Body, field: usize, width: usize, result: TermId) -> Option<Op> {
    let Term::Op(op, args) = &step.terms.get(result.index())?.term else {
        return None;
    };
    let &[left, right] = args.as_slice() else {
        return None;
    };
    let param = |t: TermId| match step.terms.get(t.index())?.term {
        Term::Param(k) => Some(k as usize),
        _ => None,
    };
    let (left, right) = (param(left)?, param(right)?);
    let sides = (left.min(right), left.max(right));
    (op.joins() && sides == (field, field + width)).then_some(*op)
}

/// Whether a step is plain, and gives the same bits in any order.
pub(crate) fn is_exact(step: &Body) -> bool {
    let types = step.result_types();
    plain(step).is_some_and(|ops| {
        let mut fields = ops.iter().zip(&types);
        fields.all(|(op, ty)| op.joins_in_any_order(*ty))
    })
}

/// The identities of a step's operators, if it is plain.
pub(crate) fn identities(step: &Body) -> Option<Body> {
    let mut b = BodyBuilder::new(&[]);
    let mut fields = Vec::new();
    for (op, ty) in plain(step)?.into_iter().zip(step.result_types()) {
        fields.push(b.lit(op.identity(ty)?));
    }
    Some(b.finish(&fields))
}

/// A side of an operator on (left, right).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Left,
    Right,
}

/// The side that a step returns, if it returns one unchanged.
pub(crate) fn kept_side(step: &Body) -> Option<Side> {
    let width = step.results.len();
    let first = match step.terms.get(step.results.first()?.index())?.term {
        Term::Param(0) => 0,
        _ => width,
    };
    let keeps = |(field, result): (usize, &TermId)| {
        let term = step.terms.get(result.index()).map(|t| t.term);
        matches!(term, Some(Term::Param(k)) if k as usize == first + field)
    };
    let all = step.params.len() == 2 * width && step.results.iter().enumerate().all(keeps);
    all.then_some(if first == 0 { Side::Left } else { Side::Right })
}
