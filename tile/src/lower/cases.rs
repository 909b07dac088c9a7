//! What is known where comparisons with the counter keep their answers: entries that say so, accesses at a distance
//! from the counter, and what follows from the answers.

use super::Lower;
use crate::ir::{Comparison, Entry, Operand, Origin, Proof, Shape, Sum};
use crate::region::{Case, Def, Test};
use loop_lang::ir::{Atom, Stmt, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// What a tile takes for granted, or a part of a segment.
#[derive(Clone, Copy)]
pub(super) enum Known<'r> {
    /// Nothing.
    Nothing,
    /// A case.
    Case(&'r Case),
    /// Nothing, up to where a comparison changes.
    UpTo(&'r [Test], &'r Case),
}

/// A value as a sum of what is known before the innermost loop, and its counter.
pub(super) fn sum(case: &Case, a: Atom) -> Sum {
    match (case.def(a), a) {
        (Some(Def::Sum(a, b)), _) => sum(case, a).plus(1, &sum(case, b)),
        (Some(Def::Difference(a, b)), _) => sum(case, a).plus(-1, &sum(case, b)),
        (Some(Def::Same(a)), _) => sum(case, a),
        (None, Atom::Var(v)) => Sum::of(v),
        (None, Atom::Const(c)) => Sum::number(c.bits),
    }
}

pub(super) fn comparison(case: &Case, test: &Test) -> Comparison {
    Comparison {
        moving: sum(case, test.moving),
        edge: sum(case, test.edge),
        inclusive: test.inclusive,
    }
}

impl Lower<'_, '_> {
    /// The entries of what is taken for granted.
    pub(super) fn enter_case(&mut self) {
        let case = match self.known_case {
            Known::Nothing => return,
            Known::Case(case) => case,
            Known::UpTo(stops, defs) => {
                let stop = |test| Entry::Keeps {
                    comparison: comparison(defs, test),
                    holds: None,
                };
                self.tile.entries.extend(stops.iter().map(stop));
                return;
            }
        };
        let keep = |test: &Test| Entry::Keeps {
            comparison: comparison(case, test),
            holds: Some(test.holds),
        };
        self.tile.entries.extend(case.tests.iter().map(keep));
        for capacity in &case.capacities {
            let entry = Entry::Capacity {
                array: capacity.array,
                index: sum(case, Atom::Var(capacity.index)),
            };
            let known = self.tile.entries.iter().position(|e| *e == entry);
            let at = known.unwrap_or(self.tile.entries.len());
            if known.is_none() {
                self.tile.entries.push(entry);
            }
            self.proofs
                .entry((capacity.array, capacity.index))
                .or_insert(Proof::Entry(at));
        }
    }

    /// Whether all is proven here that is in each case.
    pub(super) fn proves_all(&self) -> bool {
        !matches!(self.known_case, Known::UpTo(..))
    }

    pub(super) fn case(&self) -> Option<&Case> {
        match self.known_case {
            Known::Case(case) => Some(case),
            Known::Nothing | Known::UpTo(..) => None,
        }
    }

    /// Whether an index goes down with the counter.
    pub(super) fn is_down(&self, v: Var) -> bool {
        let mut capacities = self.case().into_iter().flat_map(|case| &case.capacities);
        capacities.any(|capacity| capacity.index == v && capacity.down)
    }

    /// The answer to a condition that is known.
    pub(super) fn answer(&self, a: Atom) -> Option<bool> {
        self.case()?.known.get(&a.var()?).copied()
    }

    /// Whether a variable's value follows from answers; then it is that from here on.
    pub(super) fn follows(&mut self, v: Var, op: Op, of: &[Atom]) -> bool {
        if let Some(answer) = self.answer(Atom::Var(v)) {
            self.now.insert(v, Const::bool(answer).into());
            return true;
        }
        let same = match (op, of) {
            (Op::Select, [c, a, b]) => self.answer(*c).map(|c| if c { *a } else { *b }),
            _ => self.case().and_then(|case| case.same.get(&v).copied()),
        };
        let Some(same) = same else {
            return false;
        };
        self.stays(v, same);
        // What has a capacity goes on from where that begins.
        let first = self.first_of(same);
        if let Some(first) = first.filter(|_| !self.capacities.begins_at(v)) {
            self.firsts.insert(v, first);
        }
        true
    }

    /// What a value at a distance from the counter is in the first lane.
    pub(super) fn first_of(&mut self, a: Atom) -> Option<Operand> {
        match a {
            Atom::Var(v) if v == self.inner_loop.counter => self.at,
            Atom::Var(v) if self.firsts.contains_key(&v) => self.firsts.get(&v).copied(),
            a => {
                let now = self.operand(a);
                self.shape(now).is_scalar().then_some(now)
            }
        }
    }

    /// Computes what a value is in the first lane, if it goes with the counter.
    pub(super) fn know_first(&mut self, v: Var, op: Op, of: &[Atom]) {
        let near = self.case().is_some_and(|case| case.near.contains(&v));
        let (true, [a, b], Some(now)) = (near && self.lanes > 1, of, self.now.get(&v)) else {
            return;
        };
        if self.shape(*now) != Shape::of(Ty::U64, self.lanes) {
            return;
        }
        if let (Some(a), Some(b)) = (self.first_of(*a), self.first_of(*b)) {
            let name = format!("{}_first", self.region.program.name(v));
            let first = self.op(&name, Ty::U64, op, &[a, b]);
            self.firsts.insert(v, first);
        }
    }

    /// From here on a variable is what another value is here.
    pub(super) fn stays(&mut self, v: Var, same: Atom) {
        if self.is_beyond(v) {
            return;
        }
        let now = self.operand(same);
        let now = self.as_now(v, now);
        self.now.insert(v, now);
    }

    /// What an operand is at this place, by a variable's name: what may be set later on is copied.
    pub(super) fn as_now(&mut self, v: Var, now: Operand) -> Operand {
        let origin = now.value().map(|value| self.tile.value(value).origin);
        match origin.is_some_and(|o| o == Origin::Register || o.is_state()) {
            true => {
                let (name, ty) = (self.region.program.name(v), self.shape(now).ty);
                self.op(name, ty, Op::Copy, &[now])
            }
            false => now,
        }
    }

    /// The arm that is taken.
    pub(super) fn taken(&mut self, stmts: &[Stmt], results: impl Iterator<Item = (Var, Atom)>) {
        stmts.iter().for_each(|s| self.stmt(s));
        for (v, result) in results {
            self.stays(v, result);
        }
    }
}
