//! The groups that decide where steps lie.

use super::origins::Origins;
use crate::ir::{Block, End, Exit, Loop, Place, RateId, Section, Var};
use crate::walk;
use rustc_hash::FxHashSet;

/// The groups that decide where steps lie: counters of nested rates, and what bounds and exits
/// depend on. A chunk must know their values at its beginning before it can do anything, so they
/// are found first, in one pass over the loop without the others. A lowering that gives them levels
/// below all other groups' makes that pass the first summary. So are groups that depend on each other in a
/// circle, which no sum of a chunk tells.
pub fn placing_groups(program: &Loop) -> Vec<bool> {
    let origins = Origins::of(program);
    let mut placing = Placing {
        origins: &origins,
        seen: FxHashSet::default(),
        stack: Vec::new(),
        rates: vec![false; program.rates.len()],
        groups: vec![false; program.groups.len()],
    };
    for (i, rate) in program.rates.iter().enumerate() {
        if !rate.kind.is_sub() {
            placing.rate(RateId::new(i));
        }
    }
    for (place, block) in &origins.blocks {
        if origins.leaves(*place, block) {
            placing.leaving(block);
            if let Place::At { rate, .. } = place {
                placing.rate(*rate);
            }
        }
    }
    let circles = program.groups.iter().filter(|g| g.circle);
    placing.stack.extend(circles.flat_map(|g| &g.vars));
    placing.close();
    placing.groups
}

impl Origins<'_> {
    /// Whether a block's exits or branches change which steps there are. To skip the rest of a sub
    /// rate's iteration changes none, if no loop is in it.
    fn leaves(&self, place: Place, block: &Block) -> bool {
        let quiet =
            |rate: RateId| self.program.rate(rate).kind.is_sub() && !self.above_loops[rate.index()];
        let skips = |exit: &Exit| {
            let target = exit.target.map(|t| self.tree.place(self.program, t));
            matches!(target, Some(Place::At { rate, section: Section::Bottom, .. }) if quiet(rate))
        };
        let here = matches!(place, Place::At { rate, .. } if quiet(rate));
        let branches = matches!(block.end, End::Branch(..));
        branches || block.exits.iter().any(|e| !(here && skips(e)))
    }
}

/// Finds the groups that decide where steps lie.
struct Placing<'f> {
    origins: &'f Origins<'f>,
    seen: FxHashSet<Var>,
    stack: Vec<Var>,
    rates: Vec<bool>,
    groups: Vec<bool>,
}

impl Placing<'_> {
    /// Whether iterations of a rate exist matters.
    fn rate(&mut self, rate: RateId) {
        let mut at = Some(rate);
        while let Some(r) = at {
            if std::mem::replace(&mut self.rates[r.index()], true) {
                return;
            }
            let kind = self.origins.program.rate(r).kind;
            self.stack.extend(kind.counter());
            self.stack.extend(kind.bound().and_then(|a| a.var()));
            if let Some(guard) = self.origins.guards[r.index()] {
                self.leaving(guard);
            }
            at = kind.parent();
        }
    }

    fn leaving(&mut self, block: &Block) {
        let stack = &mut self.stack;
        walk::leaving(block, &mut |a| stack.extend(a.var()));
    }

    /// Follows values back to what they are computed from, and groups to where they are updated.
    fn close(&mut self) {
        while let Some(v) = self.stack.pop() {
            if !self.seen.insert(v) {
                continue;
            }
            let origins = self.origins;
            self.stack
                .extend(origins.operands.get(&v).into_iter().flatten());
            if let Some(g) = origins.group_of.get(&v) {
                self.groups[g.index()] = true;
                self.stack.extend(&origins.program.groups[g.index()].vars);
                for (rate, _) in origins.assigned.get(&v).into_iter().flatten() {
                    self.rate(*rate);
                }
            }
        }
    }
}
