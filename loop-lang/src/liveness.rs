//! Liveness of variables, and the variables that a pause at a guard must save.
//!
//! Liveness is per block. Each variable has one definition, so a backward walk from each use marks
//! exactly the blocks on the way. The cost is the size of the result. Parameters are always live,
//! and carried variables are live in their loops: neither is listed.

use crate::gotos::Tree;
use crate::ir::{Atom, BlockId, End, Label, Loop, Place, Section, StmtKind, Type, Var};
use crate::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// Returns the scalar variables live at the start of each block.
///
/// The result is indexed by [`BlockId`]. A listed variable is defined in another block, and read
/// here or later. Variables are sorted by number. A rate's bound is read at its guard.
pub fn live_in(program: &Loop) -> Vec<Vec<Var>> {
    let slots = slots(program);
    let mut defined_in: FxHashMap<Var, usize> = FxHashMap::default();
    let mut hidden: FxHashSet<Var> = program.params.iter().map(|p| p.var).collect();
    for (slot, (_, block)) in (0..slots).filter_map(|s| Some((s, program.blocks.at(s)?))) {
        for stmt in &block.stmts {
            if let StmtKind::Carry(v, _) = stmt.kind {
                hidden.insert(v);
            }
            walk::summary(stmt, &mut |_| {}, &mut |v| {
                defined_in.insert(v, slot);
            });
        }
    }
    let mut uses: Vec<(Var, usize)> = Vec::new();
    let mut used = |v: Var, slot: usize| {
        let scalar = matches!(program.ty(v), Type::Scalar(_));
        if scalar && !hidden.contains(&v) && defined_in.get(&v) != Some(&slot) {
            uses.push((v, slot));
        }
    };
    for (slot, (_, block)) in (0..slots).filter_map(|s| Some((s, program.blocks.at(s)?))) {
        walk::block_uses(block, &mut |v| used(v, slot));
    }
    let guards = guards(program);
    for (rate, guard) in program.rates.iter().zip(&guards) {
        if let (Some(Atom::Var(bound)), Some(guard)) = (rate.kind.bound(), guard) {
            used(bound, guard.index());
        }
    }
    uses.sort_unstable();
    mark(&uses, &predecessors(program), &defined_in)
}

/// Walks from each use back to the definition. `uses` is sorted by variable.
fn mark(
    uses: &[(Var, usize)],
    predecessors: &[Vec<usize>],
    defined_in: &FxHashMap<Var, usize>,
) -> Vec<Vec<Var>> {
    let mut live: Vec<Vec<Var>> = vec![Vec::new(); predecessors.len()];
    for &(v, slot) in uses {
        let mut stack = vec![slot];
        while let Some(b) = stack.pop() {
            // Variables come in order, so a block has `v` already if it was the last to be added.
            if live[b].last() == Some(&v) || defined_in.get(&v) == Some(&b) {
                continue;
            }
            live[b].push(v);
            stack.extend(&predecessors[b]);
        }
    }
    live
}

/// Returns the number of slots of the alias map.
fn slots(program: &Loop) -> usize {
    let ids = program.blocks.keys().filter_map(|k| program.blocks.slot(k));
    ids.max().map_or(0, |last| last + 1)
}

/// Returns the predecessors of each block.
fn predecessors(program: &Loop) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); slots(program)];
    for (labels, block) in program.blocks.iter() {
        let Some(from) = labels.first().and_then(|l| program.blocks.slot(*l)) else {
            continue;
        };
        let mut to = |l: Label| {
            if let Some(to) = program.blocks.slot(l) {
                predecessors[to].push(from);
            }
        };
        block
            .exits
            .iter()
            .filter_map(|e| e.target)
            .for_each(&mut to);
        match block.end {
            End::Goto(l) => to(l),
            End::Branch(_, yes, no) => [yes, no].into_iter().for_each(to),
            End::Open | End::Return(_) => {}
        }
    }
    predecessors
}

/// Returns the guard block of each loop rate; none for subrates.
fn guards(program: &Loop) -> Vec<Option<BlockId>> {
    let tree = Tree::of(program);
    let mut guards = vec![None; program.rates.len()];
    for (labels, _) in program.blocks.iter() {
        let Some(label) = labels.first() else {
            continue;
        };
        if let Place::At {
            rate,
            section: Section::Guard,
            ..
        } = tree.place(program, *label)
            && !program.rate(rate).kind.is_sub()
        {
            guards[rate.index()] = program.block_id(*label);
        }
    }
    guards
}

/// Lists the scalar variables that a pause must save.
///
/// These are carried variables, and variables defined elsewhere that are live at a loop rate's
/// guard. They are in order of definition, without parameters.
pub fn saved_variables(program: &Loop) -> Vec<Var> {
    let live = live_in(program);
    let at_guards = guards(program).into_iter().flatten();
    let mut keep: FxHashSet<Var> = at_guards.flat_map(|g| &live[g.index()]).copied().collect();
    let mut saved = Vec::new();
    for (_, block) in program.blocks.iter() {
        for stmt in &block.stmts {
            if let StmtKind::Carry(v, _) = stmt.kind {
                keep.insert(v);
            }
            walk::definitions(&stmt.kind, &mut |v| {
                if keep.remove(&v) {
                    saved.push(v);
                }
            });
        }
    }
    saved
}

/// Lists carried variables with two live values at an inner guard.
///
/// Their update may be pending there while the old value may still be read, so a pause saves both.
/// They are sorted by number. Variables of `Lanes`, `Runs` and `Prefix` groups are excluded: their
/// local parts have both values.
pub fn held_variables(program: &Loop) -> Vec<Var> {
    let order = Ranks::of(program);
    let local: FxHashSet<Var> = program
        .groups
        .iter()
        .filter(|g| g.order.is_local())
        .flat_map(|g| g.vars.iter().copied())
        .collect();
    // Rank intervals, per variable, in which a read sees the old value and a pause may have
    // occurred.
    let mut stretches: FxHashMap<Var, Vec<(usize, usize)>> = FxHashMap::default();
    order.blocks(program, |rank, slot| {
        let Some(end) = order.iteration_end(program, rank) else {
            return;
        };
        let Some(guard) = order.next_guard(rank).filter(|g| *g <= end) else {
            return;
        };
        for stmt in program.blocks.at(slot).iter().flat_map(|(_, b)| &b.stmts) {
            if let StmtKind::Assign(v, _) = stmt.kind
                && !local.contains(&v)
            {
                let known = stretches.entry(v).or_default();
                if known.last() != Some(&(guard, end)) {
                    known.push((guard, end));
                }
            }
        }
    });
    let mut held = FxHashSet::default();
    let mut read = |v: Var, rank: usize| {
        let stretches = stretches.get(&v).map_or(&[][..], |s| s);
        if stretches
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&rank))
        {
            held.insert(v);
        }
    };
    order.blocks(program, |rank, slot| {
        if let Some((_, block)) = program.blocks.at(slot) {
            walk::block_uses(block, &mut |v| read(v, rank));
        }
    });
    let mut held: Vec<Var> = held.into_iter().collect();
    held.sort_unstable();
    held
}

/// Places by rank, which is execution order. Only gotos to loop rates' guards lead to lower ranks.
struct Ranks {
    tree: Tree,
    rank: FxHashMap<Place, usize>,
    /// The first loop rate's guard after each rank.
    next_guard: Vec<Option<usize>>,
}

impl Ranks {
    fn of(program: &Loop) -> Ranks {
        let tree = Tree::of(program);
        let rank = tree
            .places()
            .iter()
            .enumerate()
            .map(|(i, p)| (*p, i))
            .collect();
        let mut next_guard = vec![None; tree.places().len()];
        let mut next = None;
        for (i, place) in tree.places().iter().enumerate().rev() {
            next_guard[i] = next;
            if let Place::At {
                rate,
                section: Section::Guard,
                ..
            } = place
                && !program.rate(*rate).kind.is_sub()
            {
                next = Some(i);
            }
        }
        Ranks {
            tree,
            rank,
            next_guard,
        }
    }

    /// Calls `f` with the rank and slot of each block.
    fn blocks(&self, program: &Loop, mut f: impl FnMut(usize, usize)) {
        for (labels, _) in program.blocks.iter() {
            let Some(label) = labels.first() else {
                continue;
            };
            let rank = self.rank.get(&self.tree.place(program, *label));
            if let (Some(rank), Some(slot)) = (rank, program.blocks.slot(*label)) {
                f(*rank, slot);
            }
        }
    }

    fn next_guard(&self, rank: usize) -> Option<usize> {
        self.next_guard[rank]
    }

    /// Returns the last rank of a place's iteration; none outside of loops.
    fn iteration_end(&self, program: &Loop, rank: usize) -> Option<usize> {
        let around = self.tree.iteration(program, self.tree.places()[rank])?;
        self.rank
            .get(&Place::At {
                rate: around,
                stage: 0,
                section: Section::Bottom,
            })
            .copied()
    }
}

/// Lists the arrays made by the loop, in order of appearance.
///
/// They come from `newArray`, `fillArray` and `copyArray`.
pub fn made_arrays(program: &Loop) -> Vec<Var> {
    let stmts = program.blocks.iter().flat_map(|(_, b)| &b.stmts);
    let made = stmts.filter_map(|s| match s.kind {
        StmtKind::NewArray(v, _) | StmtKind::FillArray(v, ..) | StmtKind::CopyArray(v, _) => {
            Some(v)
        }
        _ => None,
    });
    made.collect()
}

#[cfg(test)]
mod tests;
