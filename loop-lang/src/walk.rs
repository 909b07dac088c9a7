//! Visitors for the uses and definitions of statements.
//!
//! Recursion is bounded by the nesting of regions,
//! [`MAX_REGION_DEPTH`](crate::ir::MAX_REGION_DEPTH).

use crate::ir::{Atom, Block, End, Loop, Stmt, StmtKind, Var};

/// Visits a statement's own operands, including arrays.
///
/// Operands in its regions and results of regions are excluded.
pub fn operands(kind: &StmtKind, f: &mut dyn FnMut(Atom)) {
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
        StmtKind::SortArrays(arrays, n) => {
            arrays.iter().for_each(|a| f(Atom::Var(*a)));
            f(*n);
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

/// Visits the variables that a statement itself defines, outside its regions.
pub fn definitions(kind: &StmtKind, f: &mut dyn FnMut(Var)) {
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
        | StmtKind::SortArrays(..)
        | StmtKind::Trap { .. } => {}
    }
}

/// Returns the two regions of an `if` or `while`.
///
/// They are empty for other statements.
pub fn regions(kind: &StmtKind) -> [&[Stmt]; 2] {
    match kind {
        StmtKind::If { then, other, .. } => [then, other],
        StmtKind::While { test, body, .. } => [test, body],
        _ => [&[], &[]],
    }
}

/// Visits the results of regions.
///
/// These are arms' results, tests and next states.
pub fn handed_out(kind: &StmtKind, f: &mut dyn FnMut(Atom)) {
    match kind {
        StmtKind::If { results, .. } => {
            results
                .iter()
                .for_each(|(_, a, b)| [*a, *b].into_iter().for_each(&mut *f));
        }
        StmtKind::While { cond, next, .. } => {
            f(*cond);
            next.iter().for_each(|a| f(*a));
        }
        _ => {}
    }
}

/// Visits a statement and all statements in its regions, outermost first.
pub fn each<'a>(stmt: &'a Stmt, f: &mut dyn FnMut(&'a Stmt)) {
    f(stmt);
    for region in regions(&stmt.kind) {
        for inner in region {
            each(inner, f);
        }
    }
}

/// Visits all uses and definitions of a statement and its regions.
pub(crate) fn summary(stmt: &Stmt, used: &mut dyn FnMut(Atom), defined: &mut dyn FnMut(Var)) {
    each(stmt, &mut |s| {
        operands(&s.kind, used);
        handed_out(&s.kind, used);
        definitions(&s.kind, defined);
    });
}

/// Visits the atoms that a block reads at its exits and its end.
pub fn leaving(block: &Block, f: &mut dyn FnMut(Atom)) {
    block.exits.iter().for_each(|e| f(e.unless));
    match &block.end {
        End::Branch(cond, ..) => f(*cond),
        End::Return(results) => results.iter().for_each(|a| f(*a)),
        End::Open | End::Goto(_) => {}
    }
}

/// Visits all variables that a block reads, including in regions.
pub(crate) fn block_uses(block: &Block, f: &mut dyn FnMut(Var)) {
    let mut atom = |a: Atom| {
        if let Atom::Var(v) = a {
            f(v);
        }
    };
    block
        .stmts
        .iter()
        .for_each(|s| summary(s, &mut atom, &mut |_| {}));
    leaving(block, &mut atom);
}

/// Visits a statement's own scalar operands mutably.
///
/// Results of its regions are included; operands of statements in its regions are not.
pub fn operands_mut(kind: &mut StmtKind, f: &mut dyn FnMut(&mut Atom)) {
    match kind {
        StmtKind::Let(_, _, args) => args.iter_mut().for_each(f),
        StmtKind::Assign(_, a)
        | StmtKind::Carry(_, a)
        | StmtKind::NewArray(_, a)
        | StmtKind::ReadArray(_, _, a)
        | StmtKind::SliceArray(_, _, a)
        | StmtKind::SortArrays(_, a) => f(a),
        StmtKind::FillArray(_, a, b) | StmtKind::WriteArray(_, a, b) => {
            [a, b].into_iter().for_each(f)
        }
        StmtKind::Scan { elems, .. } => elems.iter_mut().for_each(f),
        StmtKind::ScatterArray { index, values, .. } => {
            f(index);
            values.iter_mut().for_each(f);
        }
        StmtKind::Trap {
            unless, payload, ..
        } => {
            f(unless);
            payload.iter_mut().for_each(f);
        }
        StmtKind::If { cond, results, .. } => {
            f(cond);
            results
                .iter_mut()
                .for_each(|(_, a, b)| [a, b].into_iter().for_each(&mut *f));
        }
        StmtKind::While {
            state, cond, next, ..
        } => {
            state.iter_mut().for_each(|(_, a)| f(a));
            f(cond);
            next.iter_mut().for_each(f);
        }
        StmtKind::CopyArray(..) | StmtKind::ArrayLength(..) => {}
    }
}

/// Returns the regions mutably, as [`regions`] does.
pub fn regions_mut(kind: &mut StmtKind) -> Vec<&mut Vec<Stmt>> {
    match kind {
        StmtKind::If { then, other, .. } => vec![then, other],
        StmtKind::While { test, body, .. } => vec![test, body],
        _ => Vec::new(),
    }
}

/// Visits every statement mutably, including those in regions.
pub fn each_mut(stmts: &mut [Stmt], f: &mut dyn FnMut(&mut Stmt)) {
    for stmt in stmts {
        f(stmt);
        for region in regions_mut(&mut stmt.kind) {
            each_mut(region, f);
        }
    }
}

/// Visits atoms mutably, as [`leaving`] does.
pub fn leaving_mut(block: &mut Block, f: &mut dyn FnMut(&mut Atom)) {
    block.exits.iter_mut().for_each(|e| f(&mut e.unless));
    match &mut block.end {
        End::Branch(cond, ..) => f(cond),
        End::Return(results) => results.iter_mut().for_each(f),
        End::Open | End::Goto(_) => {}
    }
}

/// Visits every scalar atom of a loop mutably.
///
/// These are in statements, functions, ends, rates and groups.
pub fn atoms_mut(program: &mut Loop, f: &mut dyn FnMut(&mut Atom)) {
    use crate::ir::RateKind;
    for block in program.blocks.values_mut() {
        each_mut(&mut block.stmts, &mut |s| operands_mut(&mut s.kind, f));
        leaving_mut(block, f);
    }
    for function in &mut program.functions {
        each_mut(&mut function.body, &mut |s| operands_mut(&mut s.kind, f));
        function.results.iter_mut().for_each(&mut *f);
    }
    for rate in &mut program.rates {
        if let RateKind::Root { bound, .. }
        | RateKind::Nested { bound, .. }
        | RateKind::Cursor { bound, .. } = &mut rate.kind
        {
            f(bound);
        }
    }
    for group in &mut program.groups {
        let atoms = group
            .start
            .iter_mut()
            .chain(&mut group.identity)
            .chain(&mut group.next);
        atoms.for_each(&mut *f);
    }
}
