//! Whether vectors go on, where a guard has exits: while all of their steps do. Else the tile is left before the
//! vector, or before the turn that it is in, and the steps are taken one by one.

use super::Lower;
use crate::ir::{Operand, Origin, Shape, StmtKind, Value};
use crate::region::Step;
use loop_lang::ir::{Atom, StmtKind as LoopStmt, Type, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl Lower<'_, '_> {
    /// Whether it is asked once for all vectors of a turn, as always in segments: these are left only where a turn
    /// begins.
    pub(super) fn tests_once(&self) -> bool {
        let segment = self.nest.is_some() && !self.inner_loop.exits.is_empty();
        self.lanes > 1 && (segment || self.schedule.asks(self.inner_loop.rate))
    }

    /// A turn begins: it is left here if one of its vectors does not go on.
    pub(super) fn all_go_on(&mut self, turn: Value) {
        let mut ends: Option<Operand> = None;
        for k in 0..self.unroll {
            let place = Lower::u64(u64::from(k * self.lanes));
            self.vector_at(turn, place);
            self.here = self.here_at(place);
            self.early();
            if let Some(here) = self.ends() {
                ends = Some(match ends {
                    Some(ends) => self.op("ends", Ty::Bool, Op::Or, &[ends, here]),
                    None => here,
                });
            }
        }
        self.here = None;
        self.leave_unless_all_go(turn.into(), ends, self.granule());
    }

    /// A vector begins: the tile is left here if it does not go on, unless that was asked before. What goes on tells of
    /// what it follows from.
    pub(super) fn go_on(&mut self) {
        if self.lanes == 1 || self.inner_loop.exits.is_empty() {
            return;
        }
        self.early();
        if !self.tests_once() {
            let ends = self.ends();
            let at = self.at.unwrap_or(Lower::u64(0));
            self.leave_unless_all_go(at, ends, u64::from(self.lanes));
        }
        for v in self.flags.vars.clone() {
            self.now.insert(v, Lower::ALL);
        }
        for (under, go) in self.flags.goes.clone() {
            if under.is_empty() {
                self.holds(go, true);
            }
        }
    }

    /// A subrate begins: what a step must come to that has come so far, for it to go on. What was known of that
    /// before.
    pub(super) fn goes_on_in_subs(&mut self) -> Vec<(Var, Option<Operand>)> {
        let (facts, inner_loop) = (&self.region.facts, self.inner_loop);
        let around = self
            .subs
            .iter()
            .filter_map(|sub| match inner_loop.steps[sub.step] {
                Step::Enter(i) => Some(facts.blocks[i].block),
                Step::Block(_) | Step::Leave => None,
            });
        let tests: Vec<Atom> = around
            .flat_map(|block| block.exits.iter().map(|e| e.unless))
            .collect();
        let mut before = Vec::new();
        for (under, go) in self.flags.goes.clone() {
            if !under.is_empty() && under.iter().all(|test| tests.contains(test)) {
                before.extend(self.holds(go, true));
            }
        }
        // What was known first comes last.
        before.reverse();
        before
    }

    /// The statements that tell.
    fn early(&mut self) {
        let inner_loop = self.inner_loop;
        let flags = std::mem::take(&mut self.flags);
        for id in &flags.early {
            self.stmt(inner_loop.statements[*id].stmt);
        }
        self.flags = flags;
    }

    /// Which steps of a vector have no step behind them, if their elements tell.
    fn ends(&mut self) -> Option<Operand> {
        let mut go: Option<Operand> = None;
        for (under, one) in self.flags.goes.clone() {
            let mut one = self.operand(one);
            for test in under {
                let test = self.operand(test);
                let out = self.op("out", Ty::Bool, Op::Not, &[test]);
                one = self.op("goes", Ty::Bool, Op::Or, &[out, one]);
            }
            go = Some(self.both(go, one));
        }
        let of = self.wide(go?);
        let ends = self.op("ends", Ty::Bool, Op::Not, &[of]);
        Some(self.both(self.here, ends))
    }

    /// The tile is left unless no step ends it, the flags are set, and so many steps fit below the limits.
    fn leave_unless_all_go(&mut self, at: Operand, ends: Option<Operand>, steps: u64) {
        let mut unless: Operand = Lower::ALL;
        if let Some(of) = ends {
            let any = self.add("any", Shape::scalar(Ty::Bool), Origin::Let);
            self.push(StmtKind::Any { to: any, of });
            unless = self.op("all", Ty::Bool, Op::Not, &[any.into()]);
        }
        for v in self.flags.vars.clone() {
            unless = self.both(Some(unless), self.carried[&v].into());
        }
        for (v, limit) in self.flags.limits.clone() {
            let (count, limit) = (self.carried[&v].into(), self.operand(limit));
            let less = self.op("less", Ty::Bool, Op::Lt, &[count, limit]);
            let room = self.op("room", Ty::U64, Op::Sub, &[limit, count]);
            let enough = self.op("enough", Ty::Bool, Op::Ge, &[room, Lower::u64(steps)]);
            unless = self.both(Some(unless), less);
            unless = self.both(Some(unless), enough);
        }
        self.push(StmtKind::Leave { at, unless });
    }

    /// From here on a truth is known in all lanes, and so is what it follows from. What was known of these before.
    fn holds(&mut self, a: Atom, truth: bool) -> Vec<(Var, Option<Operand>)> {
        let inner_loop = self.inner_loop;
        let mut before = Vec::new();
        let mut open = vec![(a, truth)];
        while let Some((a, truth)) = open.pop() {
            let Some(v) = a.var().filter(|v| inner_loop.defs.contains(v)) else {
                continue;
            };
            if self.region.program.ty(v) != Type::Scalar(Ty::Bool) {
                continue;
            }
            before.push((v, self.now.insert(v, Const::bool(truth).into())));
            let makes = inner_loop.all_tops().find_map(|s| match &s.stmt.kind {
                LoopStmt::Let(made, op, args) if *made == v => Some((*op, &args[..])),
                _ => None,
            });
            match makes {
                Some((Op::Not, [a])) => open.push((*a, !truth)),
                Some((Op::And, [a, b])) if truth => open.extend([(*a, true), (*b, true)]),
                Some((Op::Or, [a, b])) if !truth => open.extend([(*a, false), (*b, false)]),
                _ => {}
            }
        }
        before
    }
}
