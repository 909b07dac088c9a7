//! Summary form: the part of a loop that computes the values of carried groups.
//!
//! The pass drops results and groups above the level, and removes code that only served them.
//! Blocks, rates, variables and groups keep their numbers, so all passes of a kernel share one
//! layout. A dropped group stays in the table. If its variables are still read, they are defined by
//! their starting values and not carried.
//!
//! Values that depend on a dropped group are unknown in this pass. By the definition of levels, no
//! kept group depends on them. Therefore:
//!
//! * a subrate with an unknown test admits nothing, and a nested loop with an unknown bound does
//!   not run.
//! * unknown exits out of a loop are not taken: the whole chunk is summed up.
//! * unknown traps are dropped: the emit pass finds them.
//!
//! Values that a pause at an inner guard must save are still computed if they are known, even
//! without other uses. The reason is that the emit form of the next chunk begins with the state at
//! the end of this chunk.
//!
//! Traps and filters of inner loops are dropped as well where nothing but their counters is left of
//! the loops. Elements are then not read to find a trap that the emit pass finds anyway.
//!
//! All other traps stay, and with them the guarantee that a loop ends soon after a trap. Counters
//! of loop rates are always kept. Loops with cursors have no levels; their exits stay unchanged.

use super::context::{Context, variable};
use super::dead_code::{Needed, sweep};
use crate::gotos::Tree;
use crate::ir::{
    Atom, Block, End, Exit, Group, Label, Loop, Place, RateId, RateKind, Section, Stmt, StmtKind,
    Var,
};
use crate::liveness::saved_variables;
use crate::op::Op;
use crate::types::Const;
use crate::walk;
use rustc_hash::FxHashSet;

/// Returns the summary form for groups up to `level`.
///
/// Writes, other groups and dead code are removed. Blocks, rates, variables and groups keep their
/// numbers.
pub fn summary(program: &Loop, level: u32) -> Loop {
    let mut short = program.clone();
    let context = Context::of(program);
    let counters: FxHashSet<Var> = program
        .rates
        .iter()
        .filter_map(|r| r.kind.counter())
        .collect();
    let kept = |g: &Group| g.level <= level || g.vars.iter().any(|v| counters.contains(v));
    let dropped = program.groups.iter().filter(|g| !kept(g));
    let dropped: FxHashSet<Var> = dropped.flat_map(|g| g.vars.iter().copied()).collect();
    let mut paused = paused(program, &context);
    if !dropped.is_empty() {
        let unknown = unknown(program, &context, &dropped);
        let cursors = program
            .rates
            .iter()
            .any(|r| matches!(r.kind, RateKind::Cursor { .. }));
        paused.retain(|v| !unknown.contains(v));
        for block in context.blocks_mut(&mut short) {
            freeze(block, &dropped, program, &unknown);
        }
        if !cursors {
            close(&mut short, &context, &unknown);
        }
    }
    for block in short.blocks.values_mut() {
        if let End::Return(results) = &mut block.end {
            results.clear();
        }
    }
    let mut bare = short.clone();
    drop_inner_tests(&mut bare, &context);
    let needed = Needed::of(&bare, kept, &paused);
    sweep(&mut bare, &needed);
    if only_counts(&bare, &context) {
        return bare;
    }
    let needed = Needed::of(&short, kept, &paused);
    sweep(&mut short, &needed);
    short
}

/// Returns the inner loop whose steps run a block, if there is one.
fn inner_loop(program: &Loop, tree: &Tree, place: Place) -> Option<RateId> {
    let Place::At { rate, section, .. } = place else {
        return None;
    };
    let kind = program.rate(rate).kind;
    let outside = !kind.is_sub() && matches!(section, Section::Nest | Section::Done);
    let inner = tree.loop_rate(rate);
    let is_nested = matches!(program.rate(inner).kind, RateKind::Nested { .. });
    (is_nested && !outside).then_some(inner)
}

/// Drops the traps in steps of inner loops, and lets their subrates admit nothing.
fn drop_inner_tests(program: &mut Loop, context: &Context) {
    let tree = Tree::of(program);
    let sub_bottoms = sub_bottoms(program);
    let inner = context.places.iter();
    let inner: Vec<bool> = inner
        .map(|p| inner_loop(program, &tree, *p).is_some())
        .collect();
    for (block, inner) in context.blocks_mut(program).into_iter().zip(inner) {
        if inner {
            drop_in(&mut block.stmts, true, &FxHashSet::default());
            let skips = |e: &&mut Exit| e.target.is_some_and(|t| sub_bottoms.contains(&t));
            for exit in block.exits.iter_mut().filter(skips) {
                exit.unless = Atom::Const(Const::bool(false));
            }
        }
    }
}

/// Tells whether steps of inner loops only advance their counters, and leave no loop but at guards.
fn only_counts(program: &Loop, context: &Context) -> bool {
    let tree = Tree::of(program);
    let sub_bottoms = sub_bottoms(program);
    let mut only = true;
    for (place, block) in context.places.iter().zip(context.blocks(program)) {
        let Some(inner) = inner_loop(program, &tree, *place) else {
            continue;
        };
        let counter = program.rate(inner).kind.counter();
        let counts = |s: &Stmt| match &s.kind {
            StmtKind::Assign(v, _) => Some(*v) == counter,
            StmtKind::Let(_, Op::Add | Op::Lt, args) => args.iter().any(|a| a.var() == counter),
            _ => false,
        };
        let is_guard =
            matches!(*place, Place::At { rate, section: Section::Guard, .. } if rate == inner);
        let skips = |e: &Exit| e.target.is_some_and(|t| sub_bottoms.contains(&t));
        let stays =
            (is_guard || block.exits.iter().all(skips)) && !matches!(block.end, End::Branch(..));
        only &= stays && block.stmts.iter().all(counts);
    }
    only
}

/// Lists variables that iterations define and that a pause at a guard must save.
fn paused(program: &Loop, context: &Context) -> Vec<Var> {
    let mut kept: FxHashSet<Var> = saved_variables(program).into_iter().collect();
    let mut paused = Vec::new();
    for (place, block) in context.places.iter().zip(context.blocks(program)) {
        let in_iteration = matches!(place, Place::At { .. });
        for stmt in block.stmts.iter().filter(|_| in_iteration) {
            if !matches!(stmt.kind, StmtKind::Carry(..)) {
                walk::definitions(&stmt.kind, &mut |v| {
                    if kept.remove(&v) {
                        paused.push(v);
                    }
                });
            }
        }
    }
    paused
}

/// Collects all values computed from dropped groups. Definitions come before their uses, so one
/// walk suffices. Arrays are the exception, since an earlier block may read them in the next
/// iteration.
fn unknown(program: &Loop, context: &Context, dropped: &FxHashSet<Var>) -> FxHashSet<Var> {
    let mut unknown = dropped.clone();
    let mut arrays = FxHashSet::default();
    loop {
        let before = arrays.len();
        for stmt in context.blocks(program).into_iter().flat_map(|b| &b.stmts) {
            spread(program, stmt, &mut unknown, &mut arrays);
        }
        if arrays.len() == before {
            return unknown;
        }
        unknown.extend(&arrays);
    }
}

/// Adds a statement's results if it uses unknown values.
fn spread(program: &Loop, stmt: &Stmt, unknown: &mut FxHashSet<Var>, arrays: &mut FxHashSet<Var>) {
    let mut depends = false;
    let mut defined: Vec<Var> = Vec::new();
    let mut used = |a| depends |= variable(a).is_some_and(|v| unknown.contains(&v));
    walk::summary(stmt, &mut used, &mut |v| defined.push(v));
    if let StmtKind::Scan { group, .. } = &stmt.kind {
        let vars = &program.groups[group.index()].vars;
        depends |= vars.iter().any(|v| unknown.contains(v));
    }
    match &stmt.kind {
        StmtKind::Carry(..) => {}
        // An array becomes unknown if a written value or index is.
        StmtKind::WriteArray(a, ..) if depends => {
            arrays.insert(*a);
        }
        StmtKind::ScatterArray { arrays: all, .. } | StmtKind::SortArrays(all, _) if depends => {
            arrays.extend(all)
        }
        _ if depends => unknown.extend(defined),
        _ => {}
    }
}

/// Replaces dropped groups' variables by their starting values, and drops traps that depend on
/// them.
fn freeze(block: &mut Block, dropped: &FxHashSet<Var>, program: &Loop, unknown: &FxHashSet<Var>) {
    let mut stmts = Vec::with_capacity(block.stmts.len());
    for mut stmt in std::mem::take(&mut block.stmts) {
        drop_traps(std::slice::from_mut(&mut stmt), unknown);
        let comb = stmt.comb;
        let copy = |v: Var, a: Atom| Stmt {
            comb,
            kind: StmtKind::Let(v, Op::Copy, [a].into_iter().collect()),
        };
        match &stmt.kind {
            StmtKind::Carry(v, a) if dropped.contains(v) => stmts.push(copy(*v, *a)),
            StmtKind::Assign(v, _) if dropped.contains(v) => {}
            StmtKind::Trap { .. } if traps_on(&stmt, unknown) => {}
            StmtKind::Scan { results, group, .. } => {
                let vars = &program.groups[group.index()].vars;
                if vars.iter().any(|v| dropped.contains(v)) {
                    let values = results.iter().zip(vars);
                    stmts.extend(values.map(|(r, v)| copy(*r, Atom::Var(*v))));
                } else {
                    stmts.push(stmt);
                }
            }
            _ => stmts.push(stmt),
        }
    }
    block.stmts = stmts;
}

/// Drops unknown traps in regions: those with an unknown test, and all traps in regions that depend
/// on one.
fn drop_traps(stmts: &mut [Stmt], unknown: &FxHashSet<Var>) {
    walk::each_mut(stmts, &mut |stmt| {
        let test = match stmt.kind {
            StmtKind::If { cond, .. } | StmtKind::While { cond, .. } => variable(cond),
            _ => None,
        };
        let hidden = test.is_some_and(|v| unknown.contains(&v));
        for region in walk::regions_mut(&mut stmt.kind) {
            drop_in(region, hidden, unknown);
        }
    });
}

fn drop_in(region: &mut Vec<Stmt>, all: bool, unknown: &FxHashSet<Var>) {
    region.retain_mut(|s| {
        if all {
            for inner in walk::regions_mut(&mut s.kind) {
                drop_in(inner, all, unknown);
            }
        }
        !(matches!(s.kind, StmtKind::Trap { .. }) && (all || traps_on(s, unknown)))
    });
}

fn traps_on(stmt: &Stmt, unknown: &FxHashSet<Var>) -> bool {
    let mut depends = false;
    walk::operands(&stmt.kind, &mut |a| {
        depends |= variable(a).is_some_and(|v| unknown.contains(&v));
    });
    depends
}

/// Closes rates with unknown iterations, and drops unknown exits.
fn close(program: &mut Loop, context: &Context, unknown: &FxHashSet<Var>) {
    let is_unknown = |a: Atom| variable(a).is_some_and(|v| unknown.contains(&v));
    let closed: Vec<RateId> = (0..program.rates.len())
        .map(RateId::new)
        .filter(|r| matches!(program.rate(*r).kind, RateKind::Nested { bound, .. } if is_unknown(bound)))
        .collect();
    let bounds: FxHashSet<Atom> = closed
        .iter()
        .filter_map(|r| program.rate(*r).kind.bound())
        .collect();
    let tests = context.loop_tests(program);
    let zero = Atom::Const(Const::u64(0));
    let sub_bottoms = sub_bottoms(program);
    for block in context.blocks_mut(program) {
        block
            .exits
            .retain_mut(|exit| keep_exit(exit, &tests, &sub_bottoms, unknown));
        for stmt in &mut block.stmts {
            if let StmtKind::Let(v, Op::Lt | Op::Gt, args) = &mut stmt.kind
                && tests.contains(v)
            {
                args.iter_mut()
                    .filter(|a| bounds.contains(a))
                    .for_each(|a| *a = zero);
            }
        }
    }
    for rate in closed {
        if let RateKind::Nested { bound, .. } = &mut program.rates[rate.index()].kind {
            *bound = zero;
        }
    }
}

/// Returns the labels of the blocks that end subrates' iterations.
fn sub_bottoms(program: &Loop) -> FxHashSet<Label> {
    let sub = |label: &Label| match program.place(*label) {
        Place::At {
            rate,
            section: Section::Bottom,
            ..
        } => program.rate(rate).kind.is_sub(),
        _ => false,
    };
    program.blocks.keys().filter(sub).collect()
}

/// Tells whether an exit stays. An exit that would skip an unknown element of a subrate is always
/// taken.
fn keep_exit(
    exit: &mut Exit,
    tests: &FxHashSet<Var>,
    sub_bottoms: &FxHashSet<Label>,
    unknown: &FxHashSet<Var>,
) -> bool {
    if variable(exit.unless).is_none_or(|v| !unknown.contains(&v) || tests.contains(&v)) {
        return true;
    }
    let skips = exit.target.is_some_and(|t| sub_bottoms.contains(&t));
    if skips {
        exit.unless = Atom::Const(Const::bool(false));
    }
    skips
}
