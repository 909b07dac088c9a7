//! Bodies of constructors: identities, literals and delayed scalars.

use crate::ast::{Body, BodyBuilder, Capture, Node, Term, Value};
use loop_lang::types::Ty;
use std::sync::Arc;

/// Substitutes the captures of a body, if all are literals.
pub(super) fn of_literals(mut body: Body) -> Body {
    let literal = |c: &Capture| match c {
        Capture::Scalar(n) => match n.literal()? {
            Value::Scalar(fields) => Some(fields),
            Value::Array(_) => None,
        },
        Capture::Array(_) => None,
    };
    let known: Option<Vec<_>> = body.captures.iter().map(literal).collect();
    let Some(known) = known.filter(|known| !known.is_empty() && body.error.is_none()) else {
        return body;
    };
    for data in &mut body.terms {
        if let Term::Scalar { capture, field } = data.term
            && let Some(c) = known
                .get(capture as usize)
                .and_then(|c| c.get(field as usize))
        {
            data.term = Term::Lit(*c);
        }
    }
    body.captures.clear();
    body
}

/// Creates the body that returns its parameters.
pub fn identity(types: &[Ty]) -> Body {
    let mut b = BodyBuilder::new(types);
    let results: Vec<_> = (0..types.len() as u32).map(|k| b.param(k)).collect();
    b.finish(&results)
}

/// Whether a body returns its parameters in order.
pub(super) fn is_identity(body: &Body) -> bool {
    body.results.len() == body.params.len()
        && body.results.iter().enumerate().all(|(k, t)| t.index() == k)
}

/// The delayed scalar that a computation is, if it returns all its fields.
pub(super) fn is_its_capture(body: &Body) -> Option<Arc<Node>> {
    let [Capture::Scalar(node)] = body.captures.as_slice() else {
        return None;
    };
    let fields = (0..node.types.len() as u32).map(|field| Term::Scalar { capture: 0, field });
    let results = body.results.iter().map(|r| body.terms[r.index()].term);
    results.eq(fields).then(|| node.clone())
}

/// Applies a body to delayed scalars: parameters become fields of captures.
pub(super) fn on_scalars(mut body: Body, inputs: &[Arc<Node>]) -> Body {
    let mut at = 0;
    for node in inputs {
        let capture = body
            .captures
            .iter()
            .position(|c| matches!(c, Capture::Scalar(n) if Arc::ptr_eq(n, node)))
            .unwrap_or_else(|| {
                body.captures.push(Capture::Scalar(node.clone()));
                body.captures.len() - 1
            });
        for field in 0..node.types.len() as u32 {
            body.terms[at].term = Term::Scalar {
                capture: capture as u32,
                field,
            };
            at += 1;
        }
    }
    body.params.clear();
    body
}
