//! Flags that a sweep goes on by: while they are set, every step is taken.

use super::{Region, Role, Sweep};
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
    /// What must hold of a step's elements, all of it, for the next step to be taken.
    pub goes: Vec<Atom>,
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
            let goes = exit.var().and_then(|v| self.flag(sweep, v));
            let Some((flag, goes)) = goes else {
                return Err("its guard has exits that are no flags of the step before");
            };
            flags.vars.insert(flag);
            flags.goes.push(goes);
        }
        let needed = flags.goes.iter().filter_map(|a| a.var()).collect();
        match self.without_trace(sweep, needed) {
            Some(early) => flags.early = early,
            None => return Err("what ends it follows from more than a step's elements"),
        }
        Ok(flags)
    }

    /// What a flag is next, if nothing else looks at it.
    fn flag(&self, sweep: &Sweep, v: Var) -> Option<(Var, Atom)> {
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
                StmtKind::Assign(u, a) if *u == v && s.sub.is_none() => next = Some(*a),
                StmtKind::Let(made, Op::And, args) if reads && and.is_none() => {
                    let other = args.iter().find(|a| **a != Atom::Var(v));
                    and = other.map(|other| (*made, *other));
                }
                _ if reads => return None,
                _ => {}
            }
        }
        let goes = match (next?, and) {
            (goes, None) => goes,
            // It stays unset once it is: that is asked for, too.
            (Atom::Var(made), Some((both, other))) if made == both => other,
            _ => return None,
        };
        Some((v, goes))
    }

    /// The statements, those in regions aside, that what is needed follows from, if they leave no trace: they read memory
    /// that the sweep does not write, and nothing that is carried.
    pub(super) fn without_trace(
        &self,
        sweep: &Sweep,
        mut needed: FxHashSet<Var>,
    ) -> Option<BTreeSet<usize>> {
        let written = |a: Var| {
            let owner = self.owner(a);
            let accessed = (sweep.accesses.iter()).any(|x| x.array == owner && !x.is_read);
            accessed || sweep.scatters
        };
        let mut found = BTreeSet::new();
        for s in sweep.statements.iter().rev() {
            let mut defines = false;
            facts::each_def(s.stmt, &mut |v| defines |= needed.contains(&v));
            if !defines {
                continue;
            }
            match &s.stmt.kind {
                StmtKind::Let(..) | StmtKind::If { .. } | StmtKind::ArrayLength(..) => {}
                StmtKind::ReadArray(_, a, _) if !written(*a) => {}
                _ => return None,
            }
            if s.top {
                found.insert(s.id);
            }
            for inner in sweep.within(s) {
                if matches!(inner.stmt.kind, StmtKind::Trap { .. } | StmtKind::While { .. }) {
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
