//! What runs through the elements of a vector: sums of integers, and whatever else joins in any order, of which each
//! element sees what those before it have come to. From vector to vector there is one operation.

use super::Lower;
use crate::ir::{Operand, Origin, Shape, StmtKind};
use crate::region::Role;
use livefusion_backend::facts;
use loop_lang::ir::{Atom, Stmt, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl Lower<'_, '_> {
    /// A subrate begins, or the innermost loop: what runs in it goes on that is joined with something from before.
    pub(super) fn run_from(&mut self, sub: Option<usize>) {
        self.run_where(|lower, within, with| {
            let later = |v| lower.inner_loop.defs.contains(&v) && !lower.now.contains_key(&v);
            within == sub && !with.var().is_some_and(later)
        });
    }

    /// What runs goes on where a statement makes what it is joined with.
    pub(super) fn run_behind(&mut self, s: &Stmt) {
        let sub = self.subs.last().map(|s| s.step);
        self.run_where(|_, within, with| {
            let mut makes = false;
            facts::each_def(s, &mut |v| makes |= with == Atom::Var(v));
            within == sub && makes
        });
    }

    /// What runs in a subrate that admits no step of the vector stays what it is.
    pub(super) fn runs_on(&mut self, sub: usize) {
        if self.lanes == 1 || self.again.is_some() {
            return;
        }
        let inner_loop = self.inner_loop;
        for (v, role) in &inner_loop.roles {
            if !matches!(role, Role::Running { sub: Some(of), .. } if *of == sub) {
                continue;
            }
            let to = self.wide[v][0].1;
            let stays = self.as_now(*v, to.into());
            self.now.insert(*v, stays);
            let next = self
                .inner_loop
                .updates
                .get(v)
                .and_then(|n| n.first().copied());
            if let Some(next) = next.flatten() {
                self.now.insert(next, stays);
                self.run_to.insert(next);
            }
        }
    }

    fn run_where(&mut self, goes_on: impl Fn(&Self, Option<usize>, Atom) -> bool) {
        if self.lanes == 1 || self.again.is_some() {
            return;
        }
        let inner_loop = self.inner_loop;
        for (v, role) in &inner_loop.roles {
            if let Role::Running { op, with, sub } = role
                && goes_on(self, *sub, *with)
            {
                self.run(*v, *op, *with);
            }
        }
    }

    fn run(&mut self, v: Var, op: Op, with: Atom) {
        let program = self.region.program;
        let (name, ty) = (program.name(v), program.ty(v).elem());
        let (with, to) = (self.operand(with), self.wide[&v][0].1);
        // Every operator that joins in any order has one.
        let identity = op.identity(ty).unwrap_or(Const::zero(ty));
        let mut of = with;
        if let Some(mask) = self.mask() {
            of = self.select(Some(mask), with, identity.into());
        }
        if self.shape(of).is_scalar() {
            of = self.in_all_lanes(of, ty);
        }
        let shape = Shape::of(ty, self.lanes);
        let sums = self.add(&format!("{name}_sums"), shape, Origin::Let);
        self.push(StmtKind::Scan { to: sums, op, of });
        let all = self.op(&format!("{name}_to"), ty, op, &[to.into(), sums.into()]);
        let before = self.slide(v, to.into(), all);
        let end = self.last_everywhere(sums.into());
        let end = self.op("end", ty, op, &[to.into(), end]);
        self.set(to, end);
        self.now.insert(v, before);
        let next = self
            .inner_loop
            .updates
            .get(&v)
            .and_then(|n| n.first().copied());
        if let Some(next) = next.flatten() {
            self.now.insert(next, all);
            self.run_to.insert(next);
        }
    }

    /// A scalar in all lanes.
    pub(super) fn in_all_lanes(&mut self, of: Operand, ty: Ty) -> Operand {
        let to = self.add("all", Shape::of(ty, self.lanes), Origin::Let);
        self.push(StmtKind::Let {
            to,
            op: Op::Copy,
            args: super::args(&[of]),
        });
        to.into()
    }
}
