//! Hints: operators that are cheaper in another form, with other last bits.

use crate::ast::{Body, Term, TermId};
use crate::loc::Loc;
use crate::sharing::Graph;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashSet;
use std::fmt;

/// Describes a power with a whole exponent.
///
/// `powf` calls a function. `powi` takes a few products, whose last bits may differ, so no rewrite
/// puts it in its place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Hint {
    /// The exponent.
    pub exponent: i32,
    /// The combinator whose closure contains it.
    pub call: &'static str,
    /// The location of the operator.
    pub loc: Loc,
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.exponent;
        write!(
            f,
            "powf({n}.0) calls a function; powi({n}) takes products, and its last bits may differ"
        )
    }
}

/// The largest exponent of a hint, up to which `powi` is a few products.
const LARGEST: i32 = 16;

/// Lists the hints for a program, once for each operator, in the graph's order.
pub(super) fn of(graph: &Graph) -> Vec<Hint> {
    let mut hints = Vec::new();
    let mut known = FxHashSet::default();
    for entry in graph.nodes.iter().filter(|n| !n.leaf) {
        for body in entry.node.kind.bodies() {
            let found = powers(body).filter(|(_, loc)| known.insert(loc.address()));
            hints.extend(found.map(|(exponent, loc)| Hint {
                exponent,
                call: entry.node.name,
                loc,
            }));
        }
    }
    hints
}

/// Lists the powers of a body with small whole exponents.
fn powers(body: &Body) -> impl Iterator<Item = (i32, Loc)> {
    let literal = |t: TermId| match body.terms[t.index()].term {
        Term::Lit(c) => whole(c),
        _ => None,
    };
    body.terms.iter().filter_map(move |data| {
        let Term::Op(Op::Powf, args) = &data.term else {
            return None;
        };
        Some((literal(*args.get(1)?)?, data.loc?))
    })
}

/// Returns a float as an exponent of a hint, if it is one.
fn whole(c: Const) -> Option<i32> {
    let value = match c.ty {
        Ty::F64 => f64::from_bits(c.bits),
        Ty::F32 => f64::from(f32::from_bits(c.bits as u32)),
        _ => return None,
    };
    (2..=LARGEST).find(|n| f64::from(*n) == value)
}
