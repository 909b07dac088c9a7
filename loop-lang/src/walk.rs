//! What statements use and define, for everything that walks over them.
//!
//! Recursion goes as deep as regions nest, which is bounded by
//! [`MAX_REGION_DEPTH`](crate::ir::MAX_REGION_DEPTH).

use crate::ir::{Atom, Block, End, Loop, Stmt, StmtKind, Var};

/// The operands that a statement itself reads or writes through, arrays included; not those of the
/// statements in its regions, nor of the values that regions hand out.
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

/// The variables that a statement itself defines; not those inside its regions.
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

/// The two regions of an `if` or `while`; empty for other statements.
pub fn regions(kind: &StmtKind) -> [&[Stmt]; 2] {
    match kind {
        StmtKind::If { then, other, .. } => [then, other],
        StmtKind::While { test, body, .. } => [test, body],
        _ => [&[], &[]],
    }
}

/// The values that regions hand out: arms' results, tests, next states.
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

/// A statement and all statements in its regions, outermost first.
pub fn each<'a>(stmt: &'a Stmt, f: &mut dyn FnMut(&'a Stmt)) {
    f(stmt);
    for region in regions(&stmt.kind) {
        for inner in region {
            each(inner, f);
        }
    }
}

/// Everything that a statement and its regions read, and everything that they define.
pub(crate) fn summary(stmt: &Stmt, used: &mut dyn FnMut(Atom), defined: &mut dyn FnMut(Var)) {
    each(stmt, &mut |s| {
        operands(&s.kind, used);
        handed_out(&s.kind, used);
        definitions(&s.kind, defined);
    });
}

/// The atoms that a block reads when it is left.
pub fn leaving(block: &Block, f: &mut dyn FnMut(Atom)) {
    block.exits.iter().for_each(|e| f(e.unless));
    match &block.end {
        End::Branch(cond, ..) => f(*cond),
        End::Return(results) => results.iter().for_each(|a| f(*a)),
        End::Open | End::Goto(_) => {}
    }
}

/// Everything that a block reads, regions included.
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

/// The operands that a statement itself reads, to be changed: scalars only, those handed out by its
/// regions included, those of the statements in its regions not.
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

/// As [`regions`], to be changed.
pub fn regions_mut(kind: &mut StmtKind) -> Vec<&mut Vec<Stmt>> {
    match kind {
        StmtKind::If { then, other, .. } => vec![then, other],
        StmtKind::While { test, body, .. } => vec![test, body],
        _ => Vec::new(),
    }
}

/// Every statement, regions' included, to be changed.
pub fn each_mut(stmts: &mut [Stmt], f: &mut dyn FnMut(&mut Stmt)) {
    for stmt in stmts {
        f(stmt);
        for region in regions_mut(&mut stmt.kind) {
            each_mut(region, f);
        }
    }
}

/// As [`leaving`], to be changed.
pub fn leaving_mut(block: &mut Block, f: &mut dyn FnMut(&mut Atom)) {
    block.exits.iter_mut().for_each(|e| f(&mut e.unless));
    match &mut block.end {
        End::Branch(cond, ..) => f(cond),
        End::Return(results) => results.iter_mut().for_each(f),
        End::Open | End::Goto(_) => {}
    }
}

/// Every scalar atom of a loop, to be changed: of statements, functions, ends, rates and groups.
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
