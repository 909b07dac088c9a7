//! Loop-continuation flags: while they are set, every step is taken.

use super::{InnerLoop, Region, Role, Step};
use livefusion_backend::facts;
use loop_lang::ir::{Atom, StmtKind, Type, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Holds the flags of a loop's guard.
///
/// Each step sets them to a condition on its own elements.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// The flags.
    pub vars: BTreeSet<Var>,
    /// Conditions on a step's elements under which the next step is taken; all must hold. Each has
    /// the tests of its enclosing subrates.
    pub goes: Vec<(Vec<Atom>, Atom)>,
    /// Counts with their limits: the loop continues while each is below its limit.
    pub limits: Vec<(Var, Atom)>,
    /// The statements that compute the conditions, by position.
    pub early: BTreeSet<usize>,
}

impl Region<'_> {
    /// Returns the flags of a loop's exits.
    ///
    /// The result is empty without exits.
    ///
    /// # Errors
    ///
    /// Returns the rule that forces exits to be tested step by step.
    pub fn flags(&self, inner_loop: &InnerLoop) -> Result<Flags, &'static str> {
        let mut flags = Flags::default();
        for exit in &inner_loop.exits {
            let limits = inner_loop.all_tops().filter(|s| s.sub.is_none());
            let mut limits = limits.filter_map(|s| {
                let mut makes = false;
                facts::each_def(s.stmt, &mut |v| makes |= *exit == Atom::Var(v));
                inner_loop.limit(s.stmt).filter(|_| makes)
            });
            let count = |v: &Var| matches!(inner_loop.roles.get(v), Some(Role::Count { .. }));
            if let Some(limit) = limits.find(|(v, _)| count(v)) {
                flags.limits.push(limit);
                continue;
            }
            let goes = exit.var().and_then(|v| self.flag(inner_loop, v));
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
        match self.without_trace(inner_loop, needed) {
            Some(early) => flags.early = early,
            None => return Err("what ends it follows from more than a step's elements"),
        }
        Ok(flags)
    }

    /// Returns the next value of a flag that has no other use.
    fn flag(&self, inner_loop: &InnerLoop, v: Var) -> Option<(Var, (Vec<Atom>, Atom))> {
        let truth = matches!(self.program.ty(v), Type::Scalar(Ty::Bool));
        let once = inner_loop
            .updates
            .get(&v)
            .is_some_and(|next| next.len() == 1);
        if !truth || !once || inner_loop.roles.get(&v) != Some(&Role::Serial) {
            return None;
        }
        let mut next = None;
        let mut and = None;
        for s in &inner_loop.statements {
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
            // A cleared flag stays cleared, which is tested as well.
            (Atom::Var(made), Some((both, other))) if made == both => other,
            _ => return None,
        };
        let mut under = self.tests(inner_loop, sub);
        // While the flag is set, the tests on it hold.
        under.retain(|a| *a != Atom::Var(v));
        Some((v, (under, goes)))
    }

    /// Lists the tests of a subrate and its enclosing subrates.
    pub(super) fn tests(&self, inner_loop: &InnerLoop, sub: Option<usize>) -> Vec<Atom> {
        let steps = inner_loop.steps.iter().enumerate();
        let around = steps.filter_map(|(k, step)| match step {
            Step::Enter(i) if sub.is_some() && inner_loop.encloses(Some(k), sub) => Some(*i),
            _ => None,
        });
        let blocks = around.map(|i| self.facts.blocks[i].block);
        blocks
            .flat_map(|b| b.exits.iter().map(|e| e.unless))
            .collect()
    }

    /// Returns the top-level definitions of the needed values and their operands. The result is
    /// none if these have side effects, read memory that the loop writes, or depend on loop-carried
    /// values.
    pub(super) fn without_trace(
        &self,
        inner_loop: &InnerLoop,
        mut needed: FxHashSet<Var>,
    ) -> Option<BTreeSet<usize>> {
        let mut found = BTreeSet::new();
        for s in inner_loop.statements.iter().rev() {
            let mut defines = false;
            facts::each_def(s.stmt, &mut |v| defines |= needed.contains(&v));
            if !defines {
                continue;
            }
            match &s.stmt.kind {
                StmtKind::Let(..) | StmtKind::If { .. } | StmtKind::ArrayLength(..) => {}
                StmtKind::ReadArray(_, a, _) if !inner_loop.may_write(self.owner(*a)) => {}
                _ => return None,
            }
            if s.top {
                found.insert(s.id);
            }
            for inner in inner_loop.within(s) {
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
        let carried = needed.iter().any(|v| inner_loop.roles.contains_key(v));
        (!carried).then_some(found)
    }
}
