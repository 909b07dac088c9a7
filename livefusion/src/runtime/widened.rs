//! Trap reports: restores numbers that loops widened to `u64`.
//!
//! Indices and lengths of all integer types are `u64` in loops.

use super::binding::Bindings;
use crate::ast::{Body, Kind, Term};
use crate::lower::{Lowered, Source};
use crate::sharing::NodeId;
use livefusion_backend::TrapReport;
use loop_lang::ir::{Atom, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::walk;

/// Returns the first number of a trap report.
///
/// A number widened from a signed type is negative where its user's value was.
pub fn first(lowered: &Lowered, b: &Bindings<'_>, report: &TrapReport) -> i128 {
    let word = report.payload.first().map_or(0, |c| c.bits);
    let widened = Widened { lowered, b };
    let mut reported = None;
    widened.each(&mut |kind| {
        if let StmtKind::Trap { trap, payload, .. } = kind
            && *trap == report.trap
        {
            reported = payload.first().copied();
        }
    });
    match reported.is_some_and(|atom| widened.is_signed(atom)) {
        true => i128::from(word as i64),
        false => i128::from(word),
    }
}

/// Traces the numbers of a loop to their origins.
struct Widened<'a> {
    lowered: &'a Lowered,
    b: &'a Bindings<'a>,
}

impl Widened<'_> {
    fn each<'s>(&'s self, f: &mut dyn FnMut(&'s StmtKind)) {
        for (_, block) in self.lowered.program.blocks.iter() {
            for stmt in &block.stmts {
                walk::each(stmt, &mut |s| f(&s.kind));
            }
        }
    }

    /// Tells whether a `u64` was cast from a signed number, here or in the loop that produced its
    /// array.
    fn is_signed(&self, atom: Atom) -> bool {
        let mut from: Vec<Var> = atom.var().into_iter().collect();
        let mut next = 0;
        let mut is_cast = false;
        while let Some(var) = from.get(next).copied() {
            next += 1;
            let before = from.len();
            let mut of = |atom: Atom| from.extend(atom.var().filter(|v| !from.contains(v)));
            self.each(&mut |kind| match kind {
                StmtKind::Let(v, Op::Cast, args) if *v == var => {
                    is_cast |= args
                        .iter()
                        .any(|x| self.lowered.program.atom_ty(*x).is_signed());
                }
                StmtKind::Let(v, Op::Copy, args) if *v == var => args.iter().for_each(|x| of(*x)),
                StmtKind::Let(v, Op::Select, args) if *v == var => {
                    args.iter().skip(1).for_each(|x| of(*x));
                }
                StmtKind::Assign(v, x) if *v == var => of(*x),
                StmtKind::If { results, .. } => {
                    let arms = results.iter().filter(|(v, ..)| *v == var);
                    arms.for_each(|(_, then, other)| [*then, *other].into_iter().for_each(&mut of));
                }
                StmtKind::ReadArray(v, array, _)
                | StmtKind::SliceArray(v, array, _)
                | StmtKind::CopyArray(v, array)
                    if *v == var =>
                {
                    of(Atom::Var(*array));
                }
                _ => {}
            });
            is_cast |= from.len() == before && self.is_given_signed(var);
        }
        is_cast
    }

    /// Works as `is_signed` for a parameter.
    fn is_given_signed(&self, var: Var) -> bool {
        let params = &self.lowered.program.params;
        let source = params.iter().position(|p| p.var == var);
        match source.and_then(|at| self.lowered.sources.get(at)) {
            Some(Source::Array(field) | Source::Scalar(field)) => self.is_made_signed(*field),
            _ => false,
        }
    }

    /// Works as `is_signed` for an earlier loop's result.
    fn is_made_signed(&self, (id, field): (NodeId, u32)) -> bool {
        match &self.b.nodes.get(id).kind {
            Kind::Map(body) | Kind::Compute(body) | Kind::Generate(_, body) => is_cast(body, field),
            _ => false,
        }
    }
}

/// Tells whether a result of a body is cast from a signed number.
fn is_cast(body: &Body, field: u32) -> bool {
    let result = body.results.get(field as usize);
    match result.map(|t| &body.terms[t.index()].term) {
        Some(Term::Op(Op::Cast, args)) => args.iter().any(|x| body.ty(*x).is_signed()),
        _ => false,
    }
}
