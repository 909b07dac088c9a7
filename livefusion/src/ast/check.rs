//! Well-formedness of scalar bodies.
//!
//! Bodies from [`BodyBuilder`](crate::ast::BodyBuilder) are well formed by construction, except for
//! leaked loop variables. Bodies made by hand may be malformed in any way.

use crate::ast::body::show_types;
use crate::ast::{Body, Capture, ScalarLoop, Term, TermData, TermId};
use crate::error::ErrorKind;
use loop_lang::types::Ty;
use smallvec::SmallVec;

/// The loops whose variables a term needs, outermost first.
type Free = SmallVec<[u32; 2]>;

/// Checks terms, types and captures, and that loop variables stay inside their loops.
pub(super) fn body(b: &Body) -> Result<(), ErrorKind> {
    if b.is_sound() {
        return Ok(());
    }
    // The type check below verifies their numbers.
    let is_param = |d: &TermData| matches!(d.term, Term::Param(_));
    let first = b.terms.get(..b.params.len());
    if !first.is_some_and(|params| params.iter().all(is_param)) {
        return malformed(
            "a body that begins with its parameters",
            "another".to_string(),
        );
    }
    for (at, d) in b.terms.iter().enumerate() {
        if !well_typed(b, at, d) {
            return malformed(
                "well-typed terms in dependency order",
                format!("term {at}: {:?} of type {}", d.term, d.ty.name()),
            );
        }
    }
    if let Some(r) = b.results.iter().find(|r| r.index() >= b.terms.len()) {
        return malformed(
            "results that are terms of the body",
            format!("term {}", r.0),
        );
    }
    if b.loops.is_empty() { Ok(()) } else { loops(b) }
}

fn malformed(expected: &str, got: String) -> Result<(), ErrorKind> {
    Err(ErrorKind::Malformed {
        expected: expected.to_string(),
        got,
    })
}

/// Whether a term's operands precede it and determine its type.
fn well_typed(b: &Body, at: usize, d: &TermData) -> bool {
    let ty = |t: TermId| (t.index() < at).then(|| b.ty(t));
    let field = |c: &Capture, f: u32| c.node().types.get(f as usize) == Some(&d.ty);
    match &d.term {
        Term::Param(k) => *k as usize == at && b.params.get(at) == Some(&d.ty),
        Term::Lit(c) => c.ty == d.ty,
        Term::Op(op, args) => {
            args.iter().all(|a| a.index() < at)
                && b.operator_type(*op, args, Some(d.ty)) == Some(d.ty)
        }
        Term::Flat(args) => args.len() == 3 && args.iter().all(|a| ty(*a) == Some(Ty::U64)),
        Term::Assert(assert, args) => {
            d.ty == Ty::U64
                && args.len() == assert.operands()
                && args.iter().all(|a| ty(*a) == Some(Ty::U64))
        }
        Term::Cond(c, x, y) => {
            ty(*c) == Some(Ty::Bool) && ty(*x) == Some(d.ty) && ty(*y) == Some(d.ty)
        }
        Term::LoopVar(l, k) => b.loops.get(*l as usize).is_some_and(|l| {
            l.types.get(*k as usize) == Some(&d.ty)
                && l.start.len() == l.types.len()
                && l.start
                    .iter()
                    .zip(&l.types)
                    .all(|(s, t)| ty(*s) == Some(*t))
        }),
        Term::LoopResult(l, k) => b.loops.get(*l as usize).is_some_and(|l| {
            l.types.get(*k as usize) == Some(&d.ty)
                && [&l.start, &l.next].iter().all(|v| {
                    v.len() == l.types.len()
                        && v.iter().zip(&l.types).all(|(s, t)| ty(*s) == Some(*t))
                })
                && ty(l.test) == Some(Ty::Bool)
        }),
        Term::Scalar { capture, field: f } => b
            .captures
            .get(*capture as usize)
            .is_some_and(|c| matches!(c, Capture::Scalar(n) if n.rank == 0) && field(c, *f)),
        Term::At {
            capture,
            field: f,
            index,
            ..
        } => {
            ty(*index) == Some(Ty::U64)
                && b.captures
                    .get(*capture as usize)
                    .is_some_and(|c| matches!(c, Capture::Array(n) if n.rank > 0) && field(c, *f))
        }
    }
}

/// Checks that results need no loop variables, and that no loop's start needs its own variables.
fn loops(b: &Body) -> Result<(), ErrorKind> {
    let mut free: Vec<Free> = Vec::with_capacity(b.terms.len());
    for d in &b.terms {
        let mut f = Free::new();
        d.term.each_operand(|a| join(&mut f, &free[a.index()]));
        match &d.term {
            Term::LoopVar(l, _) => f.push(*l),
            Term::LoopResult(l, _) => {
                let ScalarLoop {
                    start, test, next, ..
                } = &b.loops[*l as usize];
                for t in next.iter().chain([test]) {
                    join(&mut f, &free[t.index()]);
                }
                f.retain(|k| k != l);
                start.iter().for_each(|t| join(&mut f, &free[t.index()]));
                if f.contains(l) {
                    return malformed(
                        "a loop that starts from values outside of it",
                        format!("its own variables, in loop {l}"),
                    );
                }
            }
            _ => {}
        }
        free.push(f);
    }
    if b.results.iter().any(|r| !free[r.index()].is_empty()) {
        return Err(ErrorKind::LeakedExp);
    }
    Ok(())
}

fn join(into: &mut Free, from: &Free) {
    for l in from {
        if !into.contains(l) {
            into.push(*l);
        }
    }
}

/// Checks that a body is a function between these types. A body with a known mistake passes.
pub(crate) fn fits(
    b: &Body,
    what: &str,
    params: &[Ty],
    results: Option<&[Ty]>,
) -> Result<(), ErrorKind> {
    if b.error.is_some() {
        return Ok(());
    }
    body(b)?;
    signature(b, what, params, results)
}

/// Checks the types of a body's parameters and results against a combinator's.
pub(super) fn signature(
    b: &Body,
    what: &str,
    params: &[Ty],
    results: Option<&[Ty]>,
) -> Result<(), ErrorKind> {
    if *b.params != *params {
        let expected = format!("{what} from {}", show_types(params));
        return malformed(&expected, format!("one from {}", show_types(&b.params)));
    }
    match results {
        Some(want) if !b.results.iter().map(|r| b.ty(*r)).eq(want.iter().copied()) => malformed(
            &format!("{what} to {}", show_types(want)),
            format!("one to {}", show_types(&b.result_types())),
        ),
        None if b.results.is_empty() => {
            malformed(&format!("{what} with a result"), "none".to_string())
        }
        _ => Ok(()),
    }
}
