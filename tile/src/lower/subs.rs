//! Sub rates: which steps they admit, and what is counted in them.

use super::Lower;
use crate::ir::{Operand, Origin, Shape, StmtKind, Value};
use crate::region::Role;
use crate::schedule::Admit;
use loop_lang::ir::{StmtKind as LoopStmt, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;

impl Lower<'_, '_> {
    /// A subrate begins: its guard's statements, and which steps it admits.
    pub(super) fn enter(&mut self, step: usize, block: usize) {
        if !self.admits_none() {
            self.tops(step);
        }
        let region = self.region;
        let rate = region.rate_of_block(block);
        let how = rate.map_or(Admit::Branch, |r| self.schedule.admits(r));
        // Only vectors pack. Packed steps are taken one by one, and so are subrates in them.
        let how = match (how, self.lanes) {
            (Admit::Pack, 1) => Admit::Branch,
            _ if self.is_unpacking => Admit::Branch,
            _ => how,
        };
        let mut mask = self.mask();
        let exits = &region.facts.blocks[block].block.exits;
        for exit in exits {
            let test = self.operand(exit.unless);
            mask = Some(self.both(mask, test));
        }
        let mask = mask.unwrap_or(Lower::ALL);
        let branches = how == Admit::Branch;
        let changes =
            |v: Value| !matches!(self.tile.value(v).origin, Origin::Let | Origin::Given(_));
        let mask = match mask.value() {
            // What is carried may be updated before the last that is masked by it.
            Some(v) if self.lanes == 1 && !branches && changes(v) => {
                self.op("here", Ty::Bool, Op::Copy, &[mask])
            }
            Some(_) => self.wide(mask),
            None => mask,
        };
        if how == Admit::Pack && self.pack(step, mask) {
            return;
        }
        let counts = |s: &&crate::region::Statement| {
            let of = |v: &Var| self.inner_loop.roles.get(v);
            s.sub == Some(step)
                && matches!(&s.stmt.kind, LoopStmt::Assign(v, _)
                    if matches!(of(v), Some(Role::Count { .. })))
        };
        let counted = self.lanes > 1 && self.inner_loop.statements.iter().any(|s| counts(&s));
        let count = counted.then(|| match mask == Lower::ALL {
            true => Lower::u64(u64::from(self.lanes)),
            false => self.count_of(mask),
        });
        let outer = branches.then(|| std::mem::take(&mut self.out));
        self.subs.push(super::Sub {
            mask,
            count,
            how,
            step,
            outer,
            before: Vec::new(),
        });
        if self.admits_none() {
            return self.runs_on(step);
        }
        let before = self.goes_on_in_subs();
        if let Some(sub) = self.subs.last_mut() {
            sub.before = before;
        }
        self.run_from(Some(step));
    }

    /// Whether it is known here that the subrate admits no step: then nothing is done in it.
    pub(super) fn admits_none(&self) -> bool {
        self.subs.last().is_some_and(|sub| sub.mask == Lower::NONE)
    }

    /// How many lanes of a mask are set.
    pub(super) fn count_of(&mut self, of: Operand) -> Operand {
        let to = self.add("count", Shape::scalar(Ty::U64), Origin::Let);
        self.push(StmtKind::Count { to, of });
        to.into()
    }

    /// A mask of as many lanes as there are steps at a time.
    pub(super) fn wide(&mut self, mask: Operand) -> Operand {
        if self.shape(mask).lanes == self.lanes {
            return mask;
        }
        self.in_all_lanes(mask, Ty::Bool)
    }

    /// A subrate ends. What it branched over is a body of its own.
    pub(super) fn leave(&mut self) {
        let step = self.subs.last().map(|s| s.step);
        if !self.admits_none() {
            self.recurrence_of(step);
            self.counts(step);
        }
        let Some(sub) = self.subs.pop() else {
            return;
        };
        for (v, now) in sub.before {
            match now {
                Some(now) => self.now.insert(v, now),
                None => self.now.remove(&v),
            };
        }
        let Some(outer) = sub.outer else {
            return;
        };
        let then = self.body(outer);
        if sub.mask == Lower::ALL {
            return self.out.extend(then);
        }
        let cond = match self.lanes {
            _ if sub.mask == Lower::NONE => return,
            1 => sub.mask,
            _ => {
                let any = self.add("any", Shape::scalar(Ty::Bool), Origin::Let);
                self.push(StmtKind::Any {
                    to: any,
                    of: sub.mask,
                });
                any.into()
            }
        };
        self.push(StmtKind::If {
            cond,
            then,
            other: Vec::new(),
        });
    }

    /// The counts of a subrate, or of the rate itself, after the vector: what is written is at what they were.
    pub(super) fn counts(&mut self, sub: Option<usize>) {
        if self.lanes == 1 || self.again.is_some() {
            return;
        }
        let counts: Vec<Var> = (self.inner_loop.roles.iter())
            .filter(|(_, role)| **role == Role::Count { sub })
            .map(|(v, _)| *v)
            .collect();
        let more = match (self.subs.last(), self.here) {
            (Some(sub), _) => sub.count,
            (None, Some(here)) if !counts.is_empty() => Some(self.count_of(here)),
            (None, _) => Some(Lower::u64(u64::from(self.lanes))),
        };
        for (v, more) in counts.into_iter().zip(more.into_iter().cycle()) {
            let state = self.carried[&v];
            let next = self.op("next", Ty::U64, Op::Add, &[state.into(), more]);
            self.set(state, next);
        }
    }
}
