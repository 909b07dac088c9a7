//! What a statement uses and defines.

use crate::ir::{Atom, Stmt, StmtKind, Var};

/// The operands that a statement itself reads or writes through, arrays included; not those of the
/// statements in its regions, nor of the values that regions hand out.
pub(super) fn operands(kind: &StmtKind, f: &mut dyn FnMut(Atom)) {
    match kind {
        StmtKind::Let(_, _, args) => args.iter().for_each(|a| f(*a)),
        StmtKind::Assign(_, a) | StmtKind::Carry(_, a) | StmtKind::NewArray(_, a) => f(*a),
        StmtKind::Scan { elems, .. } => elems.iter().for_each(|a| f(*a)),
        StmtKind::FillArray(_, n, x) => [*n, *x].into_iter().for_each(f),
        StmtKind::CopyArray(_, a) | StmtKind::ArrayLength(_, a) => f(Atom::Var(*a)),
        StmtKind::ReadArray(_, a, i) | StmtKind::SliceArray(_, a, i) => {
            [Atom::Var(*a), *i].into_iter().for_each(f);
        }
        StmtKind::WriteArray(a, i, x) => [Atom::Var(*a), *i, *x].into_iter().for_each(f),
        StmtKind::ScatterArray {
            arrays,
            index,
            values,
            ..
        } => {
            arrays.iter().for_each(|a| f(Atom::Var(*a)));
            f(*index);
            values.iter().for_each(|a| f(*a));
        }
        StmtKind::Trap {
            unless, payload, ..
        } => {
            f(*unless);
            payload.iter().for_each(|a| f(*a));
        }
        StmtKind::If { cond, .. } => f(*cond),
        StmtKind::While { state, .. } => state.iter().for_each(|(_, a)| f(*a)),
    }
}

/// The variables that a statement itself defines; not those inside its regions.
pub(super) fn definitions(kind: &StmtKind, f: &mut dyn FnMut(Var)) {
    match kind {
        StmtKind::Let(v, ..)
        | StmtKind::Carry(v, _)
        | StmtKind::NewArray(v, _)
        | StmtKind::FillArray(v, ..)
        | StmtKind::CopyArray(v, _)
        | StmtKind::ReadArray(v, ..)
        | StmtKind::ArrayLength(v, _)
        | StmtKind::SliceArray(v, ..) => f(*v),
        StmtKind::Scan { results, .. } => results.iter().for_each(|v| f(*v)),
        StmtKind::If { results, .. } => results.iter().for_each(|(v, ..)| f(*v)),
        StmtKind::While { state, .. } => state.iter().for_each(|(v, _)| f(*v)),
        StmtKind::Assign(..)
        | StmtKind::WriteArray(..)
        | StmtKind::ScatterArray { .. }
        | StmtKind::Trap { .. } => {}
    }
}

/// The two regions of an `if` or `while`; empty for other statements.
pub(super) fn regions(kind: &StmtKind) -> [&[Stmt]; 2] {
    match kind {
        StmtKind::If { then, other, .. } => [then, other],
        StmtKind::While { test, body, .. } => [test, body],
        _ => [&[], &[]],
    }
}

/// The values that regions hand out: arms' results, tests, next states.
pub(super) fn handed_out(kind: &StmtKind, f: &mut dyn FnMut(Atom)) {
    match kind {
        StmtKind::If { results, .. } => {
            results.iter().for_each(|(_, a, b)| [*a, *b].into_iter().for_each(&mut *f));
        }
        StmtKind::While { cond, next, .. } => {
            f(*cond);
            next.iter().for_each(|a| f(*a));
        }
        _ => {}
    }
}

/// A statement and all statements in its regions, outermost first.
pub(super) fn each<'a>(stmt: &'a Stmt, f: &mut dyn FnMut(&'a Stmt)) {
    f(stmt);
    for region in regions(&stmt.kind) {
        for inner in region {
            each(inner, f);
        }
    }
}

/// Everything that a statement and its regions read, and everything that they define.
pub(super) fn summary(stmt: &Stmt, used: &mut dyn FnMut(Atom), defined: &mut dyn FnMut(Var)) {
    each(stmt, &mut |s| {
        operands(&s.kind, used);
        handed_out(&s.kind, used);
        definitions(&s.kind, defined);
    });
}
