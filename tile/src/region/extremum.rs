//! Folds to the largest or smallest float that may be computed again from the elements alone.

use super::{Region, Role, Sweep};
use livefusion_backend::facts;
use loop_lang::ir::{Atom, Combine, StmtKind, Var};
use loop_lang::op::Op;
use rustc_hash::FxHashSet;

/// A fold to the largest or smallest float of what a sweep computes without a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extremum {
    /// The variable, in lanes.
    pub var: Var,
    /// What it is next.
    pub next: Var,
    /// Which of the two.
    pub op: Op,
    /// The element.
    pub elem: Atom,
}

impl Region<'_> {
    /// The folds of a sweep to largest and smallest floats, of which nothing but the fold itself reads what it has come to,
    /// and whose elements follow from memory that the sweep does not write, and from nothing that is carried.
    pub fn extrema(&self, sweep: &Sweep) -> Vec<Extremum> {
        let all = sweep.groups.iter();
        all.filter_map(|g| {
            let group = &self.program.groups[g.index()];
            let ([var], Some(Combine::Op(op @ (Op::Min | Op::Max)))) =
                (&group.vars[..], group.combine)
            else {
                return None;
            };
            let lanes = matches!(sweep.roles.get(var), Some(Role::Lanes(_)));
            let float = self.program.ty(*var).elem().is_float();
            if !lanes || !float {
                return None;
            }
            self.extremum(sweep, *var, op)
        })
        .collect()
    }

    fn extremum(&self, sweep: &Sweep, var: Var, op: Op) -> Option<Extremum> {
        let mut reads = (0, 0);
        let mut found = None;
        let mut assigned = sweep.statements.iter();
        let (next, sub) = assigned.find_map(|s| match s.stmt.kind {
            StmtKind::Assign(v, Atom::Var(next)) if v == var => Some((next, s.sub)),
            _ => None,
        })?;
        for s in &sweep.statements {
            facts::each_use(s.stmt, &mut |u| {
                reads.0 += usize::from(u == var);
                reads.1 += usize::from(u == next);
            });
            if let StmtKind::Let(v, by, args) = &s.stmt.kind
                && *v == next
                && *by == op
            {
                let elem = args.iter().find(|a| **a != Atom::Var(var));
                found = elem.copied().filter(|_| args.contains(&Atom::Var(var)));
            }
        }
        let elem = found.filter(|_| reads == (1, 1))?;
        let mut needed: FxHashSet<Var> = elem.var().into_iter().collect();
        needed.extend(self.tests(sweep, sub).iter().filter_map(|a| a.var()));
        let leaves = sweep.blocks().any(|i| {
            let mut leaves = false;
            let block = self.facts.blocks[i].block;
            facts::each_leaving_use(block, &mut |u| leaves |= u == var || u == next);
            leaves
        });
        let again = self.without_trace(sweep, needed).is_some();
        (!leaves && again).then_some(Extremum {
            var,
            next,
            op,
            elem,
        })
    }
}
