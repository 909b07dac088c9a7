//! Flags that a sweep goes on by: while they are set, every step is taken.

use super::{Region, Role, Step, Sweep};
use livefusion_backend::facts;
use loop_lang::ir::{Atom, StmtKind, Type, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// The flags that a sweep's guard tests, each of which a step sets to what follows from its own elements.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// The flags.
    pub vars: BTreeSet<Var>,
    /// What must hold of a step's elements, all of it, for the next step to be taken: each under the tests of the sub rates
    /// that it is in.
    pub goes: Vec<(Vec<Atom>, Atom)>,
    /// Counts with their limits: it goes on while each is less.
    pub limits: Vec<(Var, Atom)>,
    /// The statements, by position, that find that out.
    pub early: BTreeSet<usize>,
}

impl Region<'_> {
    /// The flags of a sweep's exits; none where it has no exits.
    ///
    /// Errors: the rule by which exits must be asked step by step.
    pub fn flags(&self, sweep: &Sweep) -> Result<Flags, &'static str> {
        let mut flags = Flags::default();
        for exit in &sweep.exits {
            let limits = sweep.all_tops().filter(|s| s.sub.is_none());
            let mut limits = limits.filter_map(|s| {
                let mut makes = false;
                facts::each_def(s.stmt, &mut |v| makes |= *exit == Atom::Var(v));
                sweep.limit(s.stmt).filter(|_| makes)
            });
            let count = |v: &Var| matches!(sweep.roles.get(v), Some(Role::Count { .. }));
            if let Some(limit) = limits.find(|(v, _)| count(v)) {
                flags.limits.push(limit);
                continue;
            }
            let goes = exit.var().and_then(|v| self.flag(sweep, v));
            let Some((flag, goes)) = goes else {
                return Err(
                    "its guard has exits that are neither flags of the step before nor limits of counts",
                );
            };
            flags.vars.insert(flag);
            flags.goes.push(goes);
        }
        let all = flags.goes.iter();
        let needed = all.flat_map(|(under, go)| under.iter().chain([go]).filter_map(|a| a.var()));
        let needed = needed.collect();
        match self.without_trace(sweep, needed) {
            Some(early) => flags.early = early,
            None => return Err("what ends it follows from more than a step's elements"),
        }
        Ok(flags)
    }

    /// What a flag is next, if nothing else looks at it.
    fn flag(&self, sweep: &Sweep, v: Var) -> Option<(Var, (Vec<Atom>, Atom))> {
        let truth = matches!(self.program.ty(v), Type::Scalar(Ty::Bool));
        let once = sweep.updates.get(&v).is_some_and(|next| next.len() == 1);
        if !truth || !once || sweep.roles.get(&v) != Some(&Role::Serial) {
            return None;
        }
        let mut next = None;
        let mut and = None;
        for s in &sweep.statements {
            let mut reads = false;
            facts::each_use(s.stmt, &mut |u| reads |= u == v);
            match &s.stmt.kind {
                StmtKind::Assign(u, a) if *u == v => next = Some((s.sub, *a)),
                StmtKind::Let(made, Op::And, args) if reads && and.is_none() => {
                    let other = args.iter().find(|a| **a != Atom::Var(v));
                    and = other.map(|other| (*made, *other));
                }
                _ if reads => return None,
                _ => {}
            }
        }
        let (sub, next) = next?;
        let goes = match (next, and) {
            (goes, None) => goes,
            // It stays unset once it is: that is asked for, too.
            (Atom::Var(made), Some((both, other))) if made == both => other,
            _ => return None,
        };
        let mut under = self.tests(sweep, sub);
        // While the flag is set, so is what it admits.
        under.retain(|a| *a != Atom::Var(v));
        Some((v, (under, goes)))
    }

    /// The tests of a sub rate and those around it.
    pub(super) fn tests(&self, sweep: &Sweep, sub: Option<usize>) -> Vec<Atom> {
        let steps = sweep.steps.iter().enumerate();
        let around = steps.filter_map(|(k, step)| match step {
            Step::Enter(i) if sub.is_some() && sweep.encloses(Some(k), sub) => Some(*i),
            _ => None,
        });
        let blocks = around.map(|i| self.facts.blocks[i].block);
        blocks
            .flat_map(|b| b.exits.iter().map(|e| e.unless))
            .collect()
    }

    /// The statements, those in regions aside, that what is needed follows from, if they leave no trace: they read memory
    /// that the sweep does not write, and nothing that is carried.
    pub(super) fn without_trace(
        &self,
        sweep: &Sweep,
        mut needed: FxHashSet<Var>,
    ) -> Option<BTreeSet<usize>> {
        let mut found = BTreeSet::new();
        for s in sweep.statements.iter().rev() {
            let mut defines = false;
            facts::each_def(s.stmt, &mut |v| defines |= needed.contains(&v));
            if !defines {
                continue;
            }
            match &s.stmt.kind {
                StmtKind::Let(..) | StmtKind::If { .. } | StmtKind::ArrayLength(..) => {}
                StmtKind::ReadArray(_, a, _) if !sweep.may_write(self.owner(*a)) => {}
                _ => return None,
            }
            if s.top {
                found.insert(s.id);
            }
            for inner in sweep.within(s) {
                if matches!(
                    inner.stmt.kind,
                    StmtKind::Trap { .. } | StmtKind::While { .. }
                ) {
                    return None;
                }
            }
            facts::each_use(s.stmt, &mut |u| {
                needed.insert(u);
            });
        }
        let carried = needed.iter().any(|v| sweep.roles.contains_key(v));
        (!carried).then_some(found)
    }
}
