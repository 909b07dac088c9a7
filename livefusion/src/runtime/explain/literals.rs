//! Literals in the code: a change to one compiles a new program.

use crate::ast::{Body, Term, TermId};
use crate::loc::Loc;
use crate::sharing::{BodyConstants, Graph};
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashSet;
use std::fmt;

/// Describes a literal that is part of the code.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Literal {
    /// Its role in the operator that takes it.
    pub role: Role,
    /// The value.
    pub value: Const,
    /// The combinator whose closure contains it.
    pub call: &'static str,
    /// The location of the operator.
    pub loc: Loc,
}

/// Lists the roles of literals in their operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// The divisor of an integer division.
    Divisor,
    /// A shift count.
    Shift,
    /// The exponent of a power expanded to products.
    Exponent,
    /// An operand in a fold's operator or in the test of a scalar loop.
    Operand,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Divisor => "divisor",
            Role::Shift => "shift by",
            Role::Exponent => "exponent",
            Role::Operand => "literal",
        })
    }
}

/// Lists the user's literals that are part of the code, once each, in the graph's order. `bool`s
/// are omitted: there are only two.
pub(super) fn in_code(graph: &Graph) -> Vec<Literal> {
    let mut all = Vec::new();
    let mut known = FxHashSet::default();
    for entry in graph.nodes.iter().filter(|n| !n.leaf) {
        let bodies = entry.node.kind.bodies().into_iter().zip(&entry.constants);
        for (body, constants) in bodies {
            in_body(body, constants, |role, value, loc| {
                let place = loc.address();
                if known.insert((role, value, place)) {
                    let call = entry.node.name;
                    all.push(Literal {
                        role,
                        value,
                        call,
                        loc,
                    });
                }
            });
        }
    }
    all
}

/// Visits the literals of a body. User code has a location.
fn in_body(body: &Body, constants: &BodyConstants, mut found: impl FnMut(Role, Const, Loc)) {
    let fixed = |t: TermId| match body.terms[t.index()].term {
        Term::Lit(c) if c.ty != Ty::Bool && !constants.contains_key(&t.0) => Some(c),
        _ => None,
    };
    let live = body.live_terms(body.results.iter().copied());
    for (data, _) in body.terms.iter().zip(live).filter(|(_, live)| *live) {
        let (Term::Op(op, args), Some(loc)) = (&data.term, data.loc) else {
            continue;
        };
        if let Some(exponent) = data.power {
            found(
                Role::Exponent,
                Const::new(Ty::I32, exponent.get().into()),
                loc,
            );
        }
        let last = args.len().saturating_sub(1);
        for (k, arg) in args.iter().enumerate() {
            let role = match op {
                _ if k == last && op.divides() => Role::Divisor,
                _ if k == last && op.shifts() => Role::Shift,
                _ => Role::Operand,
            };
            if let Some(value) = fixed(*arg) {
                found(role, value, loc);
            }
        }
    }
}
