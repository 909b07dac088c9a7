//! Subrates that may run behind several steps of the rate around them.
//!
//! The steps of a vectorised loop that a subrate admits are packed: their values go to buffers, and the subrate's
//! statements run over these, step by step. So its statements come after those of the other steps. That makes no
//! difference if neither uses variables or arrays that the other changes.

use super::{InnerLoop, Region, Statement, Step};
use livefusion_backend::facts;
use loop_lang::ir::{Order, StmtKind, Type, Var};
use std::collections::BTreeSet;
use std::ops::Range;

/// Describes a subrate whose steps may be packed.
pub struct Packed {
    /// Its steps, without the one that enters it and the one that leaves it.
    pub steps: Range<usize>,
    /// The values that it needs of each step, the counter included.
    pub values: BTreeSet<Var>,
    /// The carried variables that it updates.
    pub updated: BTreeSet<Var>,
}

/// Arrays that statements access, and those that they change.
#[derive(Default)]
struct Arrays {
    all: BTreeSet<Var>,
    changed: BTreeSet<Var>,
}

impl Arrays {
    fn add(&mut self, region: &Region, s: &Statement) {
        match &s.stmt.kind {
            StmtKind::ReadArray(_, a, _) | StmtKind::ArrayLength(_, a) => {
                self.all.insert(region.owner(*a));
            }
            StmtKind::WriteArray(a, ..) => self.change(region.owner(*a)),
            StmtKind::ScatterArray { arrays, .. } | StmtKind::SortArrays(arrays, _) => {
                arrays.iter().for_each(|a| self.change(region.owner(*a)));
            }
            _ => {}
        }
    }

    fn change(&mut self, array: Var) {
        self.all.insert(array);
        self.changed.insert(array);
    }

    fn meet(&self, other: &Arrays) -> bool {
        !self.changed.is_disjoint(&other.all) || !other.changed.is_disjoint(&self.all)
    }
}

impl Region<'_> {
    /// Returns the subrate that a step enters, if its steps may be packed.
    ///
    /// # Errors
    ///
    /// Returns the reason why they may not.
    pub fn packed(&self, inner_loop: &InnerLoop, enter: usize) -> Result<Packed, &'static str> {
        if !inner_loop.exits.is_empty() {
            return Err("its guard has exits, which must be tested step by step");
        }
        let mut nests = self.nests().iter();
        let rate = inner_loop.rate;
        if nests.any(|n| n.outer.rate == rate || n.inner.contains(&rate)) {
            return Err("it is in a step of another loop, or another in its own");
        }
        if self.recurrence(inner_loop)?.is_some() {
            return Err("it has a recurrence, which packed steps come too late for");
        }
        let steps = enter + 1..inner_loop.leave(enter);
        let is_inside = |s: &&Statement| steps.contains(&s.step);
        let (inside, outside): (Vec<_>, Vec<_>) =
            inner_loop.statements.iter().partition(|s| is_inside(s));
        let (mut within, mut around) = (Arrays::default(), Arrays::default());
        inside.iter().for_each(|s| within.add(self, s));
        outside.iter().for_each(|s| around.add(self, s));
        if within.meet(&around) {
            return Err("it accesses an array that other steps change");
        }
        let (mut defined, mut updated) = (BTreeSet::new(), BTreeSet::new());
        for s in &inside {
            facts::each_def(s.stmt, &mut |v| _ = defined.insert(v));
            facts::each_update(self.program, s.stmt, &mut |v| _ = updated.insert(v));
        }
        let order = |v: &Var| Some(self.program.groups[self.program.group_of(*v)?.index()].order);
        let scans = |s: &Statement| matches!(s.stmt.kind, StmtKind::Scan { .. });
        if inside.iter().any(|s| scans(s))
            || !updated.iter().all(|v| order(v) == Some(Order::Exact))
        {
            return Err("it scans, or folds in lanes");
        }
        let uses = |of: &[&Statement], steps: &mut dyn Iterator<Item = usize>| {
            let mut uses = BTreeSet::new();
            for s in of {
                facts::each_use(s.stmt, &mut |v| _ = uses.insert(v));
            }
            for block in steps.filter_map(|k| inner_loop.steps[k].block()) {
                facts::each_leaving_use(self.facts.blocks[block].block, &mut |v| {
                    _ = uses.insert(v)
                });
            }
            uses
        };
        let others = (0..inner_loop.steps.len()).filter(|k| !steps.contains(k));
        if !uses(&outside, &mut others.into_iter()).is_disjoint(&updated) {
            return Err("other steps read what it carries");
        }
        let mut values = uses(&inside, &mut steps.clone());
        let varies = |v: &Var| *v == inner_loop.counter || !inner_loop.leaves(*v);
        let scalar = |v: &Var| matches!(self.program.ty(*v), Type::Scalar(_));
        values.retain(|v| scalar(v) && varies(v) && !defined.contains(v) && !updated.contains(v));
        Ok(Packed {
            steps,
            values,
            updated,
        })
    }
}

impl InnerLoop<'_> {
    /// Returns the step that leaves the subrate which a step enters.
    pub(crate) fn leave(&self, enter: usize) -> usize {
        let mut depth = 0;
        let leaves = |step: &Step| {
            match step {
                Step::Enter(_) => depth += 1,
                Step::Leave => depth -= 1,
                Step::Block(_) => {}
            }
            depth == 0
        };
        let behind = self.steps[enter..].iter().position(leaves);
        behind.map_or(self.steps.len(), |k| enter + k)
    }

    /// Returns the steps that enter the subrates around a step, the outermost first.
    pub(crate) fn subs_around(&self, step: usize) -> impl Iterator<Item = usize> + '_ {
        let enters = (0..step).filter(|k| matches!(self.steps[*k], Step::Enter(_)));
        enters.filter(move |k| step < self.leave(*k))
    }
}
