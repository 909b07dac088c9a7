//! Placing groups: the groups that determine the position of steps.

use super::origins::Origins;
use crate::ir::{Block, End, Exit, Loop, Place, RateId, Section, Var};
use crate::walk;
use rustc_hash::FxHashSet;

/// Finds the groups that determine the position of steps.
///
/// These are counters of nested rates, and the dependences of bounds and exits. A chunk must know
/// their values at its beginning before any other work. So one pass over the loop without the other
/// groups computes them first. If lowering gives them the lowest levels, that pass is the first
/// summary. Groups in a strongly connected component are included, because no sum of a chunk
/// determines them.
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
    let cycles = program.groups.iter().filter(|g| g.cycle);
    placing.stack.extend(cycles.flat_map(|g| &g.vars));
    placing.close();
    placing.groups
}

impl Origins<'_> {
    /// Tells whether a block's exits or branches change the set of steps. An exit that skips the
    /// rest of a subrate's iteration does not, unless that contains a loop.
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

/// Finds the placing groups.
struct Placing<'f> {
    origins: &'f Origins<'f>,
    seen: FxHashSet<Var>,
    stack: Vec<Var>,
    rates: Vec<bool>,
    groups: Vec<bool>,
}

impl Placing<'_> {
    /// Requires the conditions for a rate's iterations.
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

    /// Follows values to their operands, and groups to their updates.
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
