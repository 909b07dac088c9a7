//! A per-thread cache of recent bodies.
//!
//! A closure that is traced again at the same call site usually gives the same body, and so does a
//! combinator such as `sum`. That body is shared, and neither checked nor simplified again.

use crate::ast::{Body, Parts, Term, TermData};
use std::cell::RefCell;

/// Longer bodies are not kept.
const LONGEST: usize = 24;
/// The number of cached bodies: a power of two. A hash selects the entry.
const KEPT: usize = 64;

thread_local!(static CACHE: RefCell<[Option<Body>; KEPT]> = const { RefCell::new([const { None }; KEPT]) });

/// Caches a sound body. Bodies with captures are excluded, since they would keep arrays alive.
pub(super) fn remember(body: &Body) {
    if body.is_sound() && is_kept(body) {
        let before = CACHE.with_borrow_mut(|all| all[place(body)].replace(body.clone()));
        drop(before);
    }
}

/// The cached body with these parts.
pub(crate) fn find(parts: &Parts) -> Option<Body> {
    if !is_kept(parts) {
        return None;
    }
    CACHE.with_borrow(|all| {
        let known = all[place(parts)].as_ref()?;
        let same = known.params == parts.params
            && known.results == parts.results
            && known.terms.len() == parts.terms.len()
            && known.terms.iter().zip(&parts.terms).all(same_term);
        same.then(|| known.clone())
    })
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

fn place(parts: &Parts) -> usize {
    let last = parts.terms.last();
    // The bodies of combinators have no locations, but other operators and literals.
    let tells = last.map_or(0, |data| match data.term {
        Term::Op(op, _) => op as usize,
        Term::Lit(c) => c.bits as usize ^ (c.bits >> 32) as usize,
        _ => 0,
    });
    let all = last.map_or(0, address) ^ parts.terms.len() ^ (tells << 8);
    let mixed = all.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as usize);
    mixed >> (usize::BITS - KEPT.trailing_zeros())
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
