//! Copy propagation: replaces uses of a copy by its source.
//!
//! A *copy* is a variable defined by `let v = a`. Its uses are replaced where `a` still has its
//! value from the definition. That always holds if `a` is a constant or not carried; otherwise
//! `Context::keeps_value` decides. The copies themselves stay, for dead-code elimination.
//!
//! Before: `let y_1 = x_0; let z_1 = add y_1 1`. After: `let y_1 = x_0; let z_1 = add x_0 1`.
//!
//! Input: a verified loop. Output: a verified loop without replaceable uses of copies.
//!
//! The cost is linear in the size of the loop; copies of copies resolve on the way. The pass is
//! classic: Aho, Sethi and Ullman, *Compilers*, 1986, section 10.7. With one definition per
//! variable, a single walk suffices.

use super::context::Context;
use crate::ir::{Atom, Block, Group, Loop, RateKind, Section, Stmt, StmtKind, Var};
use crate::op::Op;
use crate::walk;
use rustc_hash::FxHashMap;

/// Propagates copies.
pub fn run(program: &mut Loop) -> bool {
    let context = Context::of(program);
    let mut copies = Copies {
        context: &context,
        of: FxHashMap::default(),
        changed: false,
    };
    let mut groups = std::mem::take(&mut program.groups);
    let members = members(&groups);
    for (rank, block) in context.blocks_mut(program).into_iter().enumerate() {
        copies.block(rank, block, &mut groups, &members);
    }
    for function in &mut program.functions {
        copies.stmts(0, &mut function.body);
        function
            .results
            .iter_mut()
            .for_each(|a| copies.replace(0, a));
    }
    for (rank, place) in context.places.iter().enumerate() {
        let crate::ir::Place::At {
            rate,
            section: Section::Guard,
            ..
        } = *place
        else {
            continue;
        };
        if let RateKind::Root { bound, .. }
        | RateKind::Nested { bound, .. }
        | RateKind::Cursor { bound, .. } = &mut program.rates[rate.index()].kind
        {
            copies.replace(rank, bound);
        }
    }
    program.groups = groups;
    copies.changed
}

/// Returns the group and position of each carried variable.
fn members(groups: &[Group]) -> FxHashMap<Var, (usize, usize)> {
    let all = groups.iter().enumerate();
    all.flat_map(|(g, group)| {
        group
            .vars
            .iter()
            .enumerate()
            .map(move |(i, v)| (*v, (g, i)))
    })
    .collect()
}

/// Holds the copies found so far.
struct Copies<'a> {
    context: &'a Context,
    /// The source of each copy, and the rank of its block.
    of: FxHashMap<Var, (Atom, usize)>,
    changed: bool,
}

impl Copies<'_> {
    fn block(
        &mut self,
        rank: usize,
        block: &mut Block,
        groups: &mut [Group],
        members: &FxHashMap<Var, (usize, usize)>,
    ) {
        for stmt in &mut block.stmts {
            let old = named(&stmt.kind);
            self.stmts(rank, std::slice::from_mut(stmt));
            let (Some((v, old)), Some((_, new))) = (old, named(&stmt.kind)) else {
                continue;
            };
            let Some(&(g, i)) = members.get(&v).filter(|_| old != new) else {
                continue;
            };
            // A group lists its variables' start values and assigned values.
            let list = match stmt.kind {
                StmtKind::Carry(..) => &mut groups[g].start,
                _ => &mut groups[g].next,
            };
            if let Some(a) = list.get_mut(i).filter(|a| **a == old) {
                *a = new;
            }
        }
        walk::leaving_mut(block, &mut |a| self.replace(rank, a));
    }

    fn stmts(&mut self, rank: usize, stmts: &mut [Stmt]) {
        walk::each_mut(stmts, &mut |s| {
            walk::operands_mut(&mut s.kind, &mut |a| self.replace(rank, a));
            if let StmtKind::Let(v, Op::Copy, args) = &s.kind {
                self.of.extend(args.first().map(|a| (*v, (*a, rank))));
            }
        });
        // Results of regions may be copies that are found only inside of them.
        walk::each_mut(stmts, &mut |s| {
            if matches!(s.kind, StmtKind::If { .. } | StmtKind::While { .. }) {
                walk::operands_mut(&mut s.kind, &mut |a| self.replace(rank, a));
            }
        });
    }

    fn replace(&mut self, rank: usize, a: &mut Atom) {
        let Atom::Var(v) = *a else { return };
        if let Some(&(source, from)) = self.of.get(&v)
            && self.context.keeps_value(source, from, rank)
        {
            *a = source;
            self.changed = true;
        }
    }
}

/// Returns the carried variable of a `carry` or assignment, and its value.
fn named(kind: &StmtKind) -> Option<(Var, Atom)> {
    match kind {
        StmtKind::Carry(v, a) | StmtKind::Assign(v, a) => Some((*v, *a)),
        _ => None,
    }
}
