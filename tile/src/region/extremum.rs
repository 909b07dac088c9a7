//! Folds to the minimum or maximum float that can be recomputed from their elements.

use super::{InnerLoop, Region, Role};
use livefusion_backend::facts;
use loop_lang::ir::{Atom, Combine, StmtKind, Var};
use loop_lang::op::Op;
use rustc_hash::FxHashSet;

/// Describes a min or max fold over floats without side effects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extremum {
    /// The variable, in lanes.
    pub var: Var,
    /// Its next value.
    pub next: Var,
    /// `Min` or `Max`.
    pub op: Op,
    /// The element.
    pub elem: Atom,
}

impl Region<'_> {
    /// Lists the min and max folds of floats that can be recomputed.
    ///
    /// Only the fold itself reads its result in the loop. The elements depend on memory that the
    /// loop does not write, and on no loop-carried value.
    pub fn extrema(&self, inner_loop: &InnerLoop) -> Vec<Extremum> {
        let all = inner_loop.groups.iter();
        all.filter_map(|g| {
            let group = &self.program.groups[g.index()];
            let ([var], Some(Combine::Op(op @ (Op::Min | Op::Max)))) =
                (&group.vars[..], group.combine)
            else {
                return None;
            };
            let lanes = matches!(inner_loop.roles.get(var), Some(Role::Lanes(_)));
            let float = self.program.ty(*var).elem().is_float();
            if !lanes || !float {
                return None;
            }
            self.extremum(inner_loop, *var, op)
        })
        .collect()
    }

    fn extremum(&self, inner_loop: &InnerLoop, var: Var, op: Op) -> Option<Extremum> {
        let mut reads = (0, 0);
        let mut found = None;
        let mut assigned = inner_loop.statements.iter();
        let (next, sub) = assigned.find_map(|s| match s.stmt.kind {
            StmtKind::Assign(v, Atom::Var(next)) if v == var => Some((next, s.sub)),
            _ => None,
        })?;
        for s in &inner_loop.statements {
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
        needed.extend(self.tests(inner_loop, sub).iter().filter_map(|a| a.var()));
        let leaves = inner_loop.blocks().any(|i| {
            let mut leaves = false;
            let block = self.facts.blocks[i].block;
            facts::each_leaving_use(block, &mut |u| leaves |= u == var || u == next);
            leaves
        });
        let again = self.without_trace(inner_loop, needed).is_some();
        (!leaves && again).then_some(Extremum {
            var,
            next,
            op,
            elem,
        })
    }
}
