//! Chunk boundaries in loops with scratch arrays: places where all their contents are dead.

use super::origins::Origins;
use super::roles::{Role, roles};
use crate::ir::{CombId, GroupId, Loop, Order, Place, RateId, Section, StmtKind, Var};
use crate::walk;
use rustc_hash::{FxHashMap, FxHashSet};
use std::slice;

/// Tells whether chunks must begin with iterations of the root.
///
/// They then begin before the first step of the first inner loop. That is required if an iteration
/// passes values in scratch arrays across a guard.
pub fn begins_with_root(program: &Loop) -> bool {
    Origins::of(program).begins_with_root()
}

impl Origins<'_> {
    /// As the function.
    pub(super) fn begins_with_root(&self) -> bool {
        self.passed_across_loops().is_some()
    }

    /// Returns a combinator that passes values in a scratch array between steps of different loop
    /// rates, or across an inner loop.
    fn passed_across_loops(&self) -> Option<CombId> {
        if self.scratch.is_empty() {
            return None;
        }
        let mut rates: FxHashMap<Var, RateId> = FxHashMap::default();
        for (place, block) in &self.blocks {
            let Place::At { rate, section, .. } = *place else {
                continue;
            };
            let here = self.tree.loop_rate(rate);
            let steps = !matches!(section, Section::Nest | Section::Guard | Section::Done);
            let within = (steps || here != rate) && !self.above_loops[here.index()];
            for stmt in &block.stmts {
                let mut far = false;
                walk::each(stmt, &mut |s| {
                    let arrays = match &s.kind {
                        StmtKind::ReadArray(_, a, _) | StmtKind::WriteArray(a, ..) => {
                            slice::from_ref(a)
                        }
                        StmtKind::SortArrays(arrays, _) => arrays,
                        _ => &[],
                    };
                    for a in arrays.iter().filter(|a| self.scratch.contains(a)) {
                        far |= !within || *rates.entry(*a).or_insert(here) != here;
                    }
                });
                if far {
                    return Some(stmt.comb);
                }
            }
        }
        None
    }

    /// Returns the places of a root's iteration before the guard of its first inner loop; all
    /// places without one.
    pub(super) fn early(&self) -> FxHashSet<Place> {
        let first = self.first_loop();
        let is_before = |p: &&Place| first.is_none() || guarded(p) != first;
        let places = self.tree.places().iter();
        places.take_while(is_before).copied().collect()
    }

    /// Returns a combinator that prevents chunking. Chunks must begin with iterations of the root,
    /// but these cannot be located: there are several roots.
    pub(super) fn in_pieces(&self) -> Option<CombId> {
        let comb = self.passed_across_loops()?;
        (self.program.roots.len() != 1).then_some(comb)
    }

    /// Returns a group that is incompatible with chunks that begin with iterations of the root. It
    /// must be known there, or it combines on the grid of chunks.
    pub(super) fn across(&self) -> Option<GroupId> {
        if !self.begins_with_root() {
            return None;
        }
        let first = self.first_loop();
        let fixed = |a| crate::ir::Atom::var(a).is_none_or(|v| self.is_param(v));
        let groups = self.program.groups.iter().zip(roles(self.program));
        let in_the_way = groups.map(|(group, role)| match role {
            Role::Placing => false,
            Role::Count | Role::Total => role == Role::Count || group.order != Order::Exact,
            Role::Prefix => {
                let inner = self.program.rate(group.owner).kind.parent().is_some();
                !inner || Some(group.owner) == first && !group.start.iter().all(|a| fixed(*a))
            }
        });
        in_the_way.into_iter().position(|is| is).map(GroupId::new)
    }

    /// Returns the first inner loop of an iteration.
    fn first_loop(&self) -> Option<RateId> {
        first_loop(self.program, &self.tree)
    }

    fn is_param(&self, v: Var) -> bool {
        self.program.params.iter().any(|p| p.var == v)
    }
}

/// Returns the first inner loop of a root's iterations.
pub(super) fn first_loop(program: &Loop, tree: &crate::gotos::Tree) -> Option<RateId> {
    let mut guards = tree.places().iter().filter_map(guarded);
    guards.find(|r| {
        let kind = program.rate(*r).kind;
        !kind.is_sub() && kind.parent().is_some()
    })
}

/// Returns the rate of a guard.
fn guarded(place: &Place) -> Option<RateId> {
    match *place {
        Place::At {
            rate,
            section: Section::Guard,
            ..
        } => Some(rate),
        _ => None,
    }
}
