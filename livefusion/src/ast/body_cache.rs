//! A per-thread cache of recent bodies.
//!
//! A closure that is traced again at the same call site usually gives the same body, and so does a
//! combinator such as `sum`. That body is shared, and neither checked nor simplified again.

use crate::ast::{Body, BodyBuilder, Node, Parts, Term, TermData, TermId};
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::sync::Arc;

/// Longer bodies are not kept.
const LONGEST: usize = 24;
/// The number of sets: a power of two. A hash selects the set of a body.
const SETS: usize = 64;
/// The bodies of a set. The newest is first, and the oldest is evicted.
const WAYS: usize = 4;

type Set = [Option<Body>; WAYS];

thread_local!(static CACHE: RefCell<[Set; SETS]> = const { RefCell::new([const { [const { None }; WAYS] }; SETS]) });

/// Caches a sound body. Bodies with captures are excluded, since they would keep arrays alive.
pub(super) fn remember(body: &Body) {
    if body.is_sound() && is_kept(body) {
        let evicted = CACHE.with_borrow_mut(|all| {
            let set = &mut all[place(body.terms.len(), body.terms.last())];
            set.rotate_right(1);
            set[0].replace(body.clone())
        });
        drop(evicted);
    }
}

/// The cached body with these parts.
pub(crate) fn find(parts: &Parts) -> Option<Body> {
    if !is_kept(parts) {
        return None;
    }
    let set = place(parts.terms.len(), parts.terms.last());
    recall(set, |known| {
        // Other bodies of the set mostly differ in their last term.
        known.terms.len() == parts.terms.len()
            && known.terms.iter().zip(&parts.terms).rev().all(same_term)
            && known.params == parts.params
            && known.results == parts.results
    })
}

/// An operand of a body that is one operator.
#[derive(Clone, Copy)]
pub(crate) enum OperandTerm<'a> {
    /// The next parameter.
    Param(Ty),
    Literal(Const),
    /// A captured delayed scalar of one field.
    Scalar(&'a Arc<Node>),
}

/// Makes the body of one operator, at the location of its call.
///
/// A recent body is shared without making its terms.
pub(crate) fn operator(op: Op, operands: &[OperandTerm<'_>], loc: Option<Loc>) -> Body {
    let last = TermData {
        term: Term::Op(op, [].into_iter().collect()),
        ty: Ty::Bool,
        loc,
        power: None,
    };
    let set = place(operands.len() + 1, Some(&last));
    let known = recall(set, |known| {
        known.terms.last().map_or(0, address) == address(&last) && is_operator(known, op, operands)
    });
    known.unwrap_or_else(|| {
        let param = |operand: &OperandTerm<'_>| match operand {
            OperandTerm::Param(ty) => Some(*ty),
            OperandTerm::Literal(_) | OperandTerm::Scalar(_) => None,
        };
        let params: SmallVec<[Ty; 4]> = operands.iter().filter_map(param).collect();
        let mut b = BodyBuilder::new(&params);
        b.locate(loc);
        let mut params = 0;
        let term = |operand: &OperandTerm<'_>| match operand {
            OperandTerm::Param(_) => {
                params += 1;
                b.param(params - 1)
            }
            OperandTerm::Literal(c) => b.lit(*c),
            OperandTerm::Scalar(node) => b.scalar(node, 0),
        };
        let args: SmallVec<[TermId; 4]> = operands.iter().map(term).collect();
        let result = b.op(op, &args);
        b.finish(&[result])
    })
}

/// Whether a body is this operator on these operands.
fn is_operator(known: &Parts, op: Op, operands: &[OperandTerm<'_>]) -> bool {
    let Some((last, rest)) = known.terms.split_last() else {
        return false;
    };
    let Term::Op(of, args) = last.term else {
        return false;
    };
    let mut params = 0;
    let mut is =
        |(operand, arg): (&OperandTerm<'_>, &TermId)| match (operand, rest.get(arg.index())) {
            (OperandTerm::Param(ty), Some(data)) => {
                params += 1;
                data.ty == *ty && data.term == Term::Param(params - 1)
            }
            (OperandTerm::Literal(c), Some(data)) => data.term == Term::Lit(*c),
            (OperandTerm::Scalar(_), _) | (_, None) => false,
        };
    of == op
        && rest.len() == operands.len()
        && args.len() == operands.len()
        && operands.iter().zip(args.as_slice()).all(&mut is)
        && known.params.len() == params as usize
        && *known.results == [TermId(rest.len() as u32)]
}

/// Makes the body of one literal, without parameters.
pub(crate) fn literal(c: Const) -> Body {
    let term = TermData {
        term: Term::Lit(c),
        ty: c.ty,
        loc: None,
        power: None,
    };
    let known = recall(place(1, Some(&term)), |known| {
        known.params.is_empty()
            && *known.results == [TermId(0)]
            && matches!(&*known.terms, [data] if same_term((data, &term)))
    });
    known.unwrap_or_else(|| {
        let mut b = BodyBuilder::new(&[]);
        let value = b.lit(c);
        b.finish(&[value])
    })
}

/// The body of a set that passes a test.
fn recall(set: usize, is: impl Fn(&Body) -> bool) -> Option<Body> {
    CACHE.with_borrow(|all| all[set].iter().flatten().find(|known| is(known)).cloned())
}

fn is_kept(parts: &Parts) -> bool {
    parts.terms.len() <= LONGEST
        && parts.captures.is_empty()
        && parts.loops.is_empty()
        && parts.error.is_none()
}

fn same_term((a, b): (&TermData, &TermData)) -> bool {
    a.ty == b.ty && address(a) == address(b) && a.term == b.term
}

/// Locations are compared by address. Two copies of one location only cost repeated work.
fn address(data: &TermData) -> usize {
    data.loc.map_or(0, |loc| loc.address())
}

/// The set of a body, by its number of terms and its last one.
fn place(terms: usize, last: Option<&TermData>) -> usize {
    // The bodies of combinators have no locations, but other operators and literals.
    let tells = last.map_or(0, |data| match data.term {
        Term::Op(op, _) => op as usize,
        Term::Lit(c) => c.bits as usize ^ (c.bits >> 32) as usize,
        _ => 0,
    });
    let all = last.map_or(0, address) ^ terms ^ (tells << 8);
    let mixed = all.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as usize);
    mixed >> (usize::BITS - SETS.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use crate::array::Array;
    use crate::ast::{Body, Builder, Kind, TermId};

    fn scaled(xs: &Array<f64>, k: f64) -> Array<f64> {
        xs.map(|x| x * k + 1.0)
    }

    fn body(of: &Array<f64>) -> Body {
        match &of.node().kind {
            Kind::Map(body) => body.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_closure_that_is_traced_again_shares_its_body() {
        let xs = Array::from(vec![1.0, 2.0]);
        let [first, again, other] = [2.0, 2.0, 3.0].map(|k| body(&scaled(&xs, k)));
        assert!(first.is(&again));
        assert!(!first.is(&other));
    }

    #[test]
    fn captures_are_not_kept_alive() {
        let xs = Array::from(vec![1.0, 2.0]);
        let shifted = |by: &Array<f64>| {
            let first = by.sum();
            xs.map(|x| &first + x)
        };
        let captured = Array::from(vec![3.0]);
        let weak = std::sync::Arc::downgrade(captured.node());
        drop([shifted(&captured), shifted(&captured)]);
        drop(captured);
        assert!(weak.upgrade().is_none());
    }

    #[test]
    fn newly_changed_node_is_checked_again() {
        let xs = Array::from(vec![1.0, 2.0]);
        let mut changed = body(&scaled(&xs, 4.0));
        changed.results[0] = TermId(99);
        let node = Builder::named("map").map(&[xs.node().clone()], changed);
        assert!(node.error.is_some());
        let sound = body(&scaled(&xs, 4.0));
        let node = Builder::named("map").map(&[xs.node().clone()], sound);
        assert!(node.error.is_none());
    }
}
