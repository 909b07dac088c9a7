//! The rates at which each phase updates each group.
//!
//! Phases share groups, and each phase assigns elements to lanes by its own counter.

use crate::gotos::Tree;
use crate::ir::{GroupId, Loop, Place, RateId, StmtKind, Var};
use rustc_hash::FxHashMap;

/// Maps groups to the loop rates that update them, by phase.
#[derive(Clone, Debug)]
pub struct Steps {
    /// The root above each rate.
    root: Vec<RateId>,
    /// By group and root.
    at: FxHashMap<(GroupId, RateId), RateId>,
}

impl Steps {
    /// Analyses a loop, given its rate tree.
    pub fn of(program: &Loop, tree: &Tree) -> Steps {
        let mut root: Vec<RateId> = Vec::with_capacity(program.rates.len());
        for (i, rate) in program.rates.iter().enumerate() {
            // Parents come before their children.
            let above = rate.kind.parent().and_then(|p| root.get(p.index()));
            root.push(above.copied().unwrap_or(RateId::new(i)));
        }
        let mut at = FxHashMap::default();
        let mut group_of: FxHashMap<Var, GroupId> = FxHashMap::default();
        for (i, group) in program.groups.iter().enumerate() {
            let g = GroupId::new(i);
            group_of.extend(group.vars.iter().map(|v| (*v, g)));
            at.insert((g, root[group.step.index()]), tree.loop_rate(group.step));
        }
        // A single phase has no further updates.
        if program.roots.len() > 1 {
            for (labels, block) in program.blocks.iter() {
                let Some(Place::At { rate, .. }) = labels.first().map(|l| tree.place(program, *l))
                else {
                    continue;
                };
                for stmt in &block.stmts {
                    let group = match &stmt.kind {
                        StmtKind::Assign(v, _) => group_of.get(v).copied(),
                        StmtKind::Scan { group, .. } => Some(*group),
                        _ => None,
                    };
                    if let Some(g) = group {
                        let step = tree.loop_rate(rate);
                        at.entry((g, root[rate.index()])).or_insert(step);
                    }
                }
            }
        }
        Steps { root, at }
    }

    /// Returns the loop rate that updates a group in the phase of `rate`.
    pub fn at(&self, group: GroupId, rate: RateId) -> Option<RateId> {
        self.at.get(&(group, self.root[rate.index()])).copied()
    }
}
