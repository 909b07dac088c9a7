//! Dependences of values: the groups and inner rates that must run to compute them.

use crate::threads::contracted::Contracted;
use crate::threads::shape::nest_left;
use livefusion_backend::facts::Facts;
use loop_lang::ir::{Atom, Group, Loop, Place, RateId, RateKind, Section, StmtKind, Var};
use loop_lang::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// Holds the dependences of a loop's values.
pub struct Demand<'a> {
    program: &'a Loop,
    /// The operands of each variable's definition, start and update.
    operands: FxHashMap<Var, Vec<Var>>,
    /// The rate that defines each variable.
    rate_of: FxHashMap<Var, RateId>,
    /// The conditions that control each rate's iterations, without those of enclosing rates.
    control: Vec<Vec<Var>>,
    group: FxHashMap<Var, &'a Group>,
    /// Counters of rates with a known trip count: it follows from their bounds.
    counted: FxHashMap<Var, RateId>,
}

/// Holds the transitive operands of some values.
#[derive(Default)]
pub struct Behind {
    /// Variables, including groups of the root.
    pub vars: FxHashSet<Var>,
    /// Nested rates that must run.
    pub rates: FxHashSet<RateId>,
}

impl<'a> Demand<'a> {
    /// Analyses a loop.
    pub fn of(program: &'a Loop, facts: &Facts<'a>, contracted: &Contracted) -> Demand<'a> {
        let mut demand = Demand {
            program,
            operands: FxHashMap::default(),
            rate_of: FxHashMap::default(),
            control: vec![Vec::new(); program.rates.len()],
            group: FxHashMap::default(),
            counted: FxHashMap::default(),
        };
        let mut ended = FxHashSet::default();
        for group in &program.groups {
            let vars = group.vars.iter();
            demand.group.extend(vars.map(|v| (*v, group)));
        }
        for placed in &facts.blocks {
            let Place::At { rate, section, .. } = placed.place else {
                continue;
            };
            for stmt in &placed.block.stmts {
                let mut reads = Vec::new();
                walk::each(stmt, &mut |s| {
                    let mut read = |a: Atom| reads.extend(a.var());
                    walk::operands(&s.kind, &mut read);
                    walk::handed_out(&s.kind, &mut read);
                });
                let mut define = |v: Var| {
                    demand.operands.entry(v).or_default().extend(&reads);
                };
                walk::each(stmt, &mut |s| walk::definitions(&s.kind, &mut define));
                match &stmt.kind {
                    StmtKind::Assign(v, _) => define(*v),
                    // Later reads in the same iteration depend on the write.
                    StmtKind::WriteArray(a, ..) if contracted.has(*a) => {
                        define(*a);
                        demand.rate_of.insert(*a, rate);
                    }
                    StmtKind::Scan { group, .. } => {
                        let group = &program.groups[group.index()];
                        group.vars.iter().for_each(|v| define(*v));
                    }
                    _ => {}
                }
                if !matches!(section, Section::Nest | Section::Done) {
                    walk::definitions(&stmt.kind, &mut |v| {
                        demand.rate_of.insert(v, rate);
                    });
                }
            }
            for exit in &placed.block.exits {
                // An exit controls the remaining steps of the rates it leaves, and their trip
                // counts become unknown.
                let own = section == Section::Guard;
                let left = nest_left(program, facts, placed, exit);
                let left = left.filter(|left| !own || *left != rate);
                if let Some(left) = left {
                    demand.control[left.index()].extend(exit.unless.var());
                    ended.extend(
                        (0..program.rates.len())
                            .map(RateId::new)
                            .filter(|r| program.is_within(rate, *r) && program.is_within(*r, left)),
                    );
                }
            }
            // A thread that runs a root step knows that the step exists.
            if section == Section::Guard && !program.roots.contains(&rate) {
                let exits = placed.block.exits.iter();
                demand.control[rate.index()].extend(exits.filter_map(|e| e.unless.var()));
                if let (RateKind::Nested { counter, .. }, [_]) =
                    (program.rate(rate).kind, &placed.block.exits[..])
                {
                    demand.counted.insert(counter, rate);
                }
            }
        }
        demand.counted.retain(|_, rate| !ended.contains(rate));
        // A scan's results depend on the group before them.
        for group in &program.groups {
            for next in group.next.iter().filter_map(|a| a.var()) {
                let of = demand.operands.entry(next).or_default();
                of.extend(&group.vars);
            }
        }
        demand
    }

    /// Tells whether a value depends on a variable within one iteration.
    pub fn hangs_on(&self, value: Var, on: Var) -> bool {
        let (mut stack, mut seen) = (vec![value], FxHashSet::default());
        while let Some(v) = stack.pop() {
            if v == on {
                return true;
            }
            if seen.insert(v) && !self.group.contains_key(&v) {
                stack.extend(self.operands.get(&v).into_iter().flatten());
            }
        }
        false
    }

    /// Returns the nested rate counted by a root group, if its trip count follows from the bound.
    fn counts(&self, group: &Group) -> Option<RateId> {
        match group.vars[..] {
            [v] => self.counted.get(&v).copied(),
            _ => None,
        }
    }

    /// Returns the dependences of updates to groups.
    pub fn of_updates(&self, groups: &[&Group]) -> Behind {
        let mut behind = Behind::default();
        let mut stack = Vec::new();
        for group in groups {
            self.update(group, &mut stack, &mut behind);
        }
        self.close(stack, &mut behind);
        behind
    }

    /// Returns the dependences of values.
    pub fn of_values(&self, vars: impl IntoIterator<Item = Var>) -> Behind {
        let mut behind = Behind::default();
        self.close(vars.into_iter().collect(), &mut behind);
        behind
    }

    fn update(&self, group: &Group, stack: &mut Vec<Var>, behind: &mut Behind) {
        if let Some(rate) = self.counts(group) {
            let kind = self.program.rate(rate).kind;
            stack.extend(kind.bound().and_then(|a| a.var()));
            stack.extend(&group.vars);
            return self.run(kind.parent(), stack, behind);
        }
        stack.extend(group.next.iter().filter_map(|a| a.var()));
        for v in &group.vars {
            stack.extend(self.operands.get(v).into_iter().flatten());
        }
        self.run(Some(group.step), stack, behind);
    }

    /// Requires the iterations of a rate and its enclosing rates.
    fn run(&self, from: Option<RateId>, stack: &mut Vec<Var>, behind: &mut Behind) {
        let mut at = from;
        while let Some(rate) = at {
            let kind = self.program.rate(rate).kind;
            stack.extend(&self.control[rate.index()]);
            if matches!(kind, RateKind::Nested { .. }) {
                behind.rates.insert(rate);
            }
            at = kind.parent();
        }
    }

    fn close(&self, mut stack: Vec<Var>, behind: &mut Behind) {
        while let Some(v) = stack.pop() {
            if !behind.vars.insert(v) {
                continue;
            }
            if let Some(rate) = self.rate_of.get(&v) {
                self.run(Some(*rate), &mut stack, behind);
            }
            match self.group.get(&v) {
                // Known before the iteration begins, or computed with it.
                Some(group) if self.program.roots.contains(&group.owner) => {}
                Some(group) => {
                    stack.extend(self.operands.get(&v).into_iter().flatten());
                    self.update(group, &mut stack, behind);
                }
                None => stack.extend(self.operands.get(&v).into_iter().flatten()),
            }
        }
    }
}
