//! The largest and smallest floats by one instruction, and again by the rules where that leaves them in doubt.
//!
//! The operators ignore NaN and order zeros, where the instruction keeps the old value: for NaN, and for equal ones. So
//! a lane that is no number yet begins as the infinity that loses to everything. If it ends as that, or as a zero,
//! nobody knows what the rules would say, and the range is gone through again for these folds alone, from the lanes in
//! the frame.

use super::Lower;
use super::nest::Segment;
use crate::ir::{Memory, Operand, Origin, Proof, Shape, StmtKind, Value};
use crate::region::Extremum;
use loop_lang::ir::{GroupId, Stmt, StmtKind as LoopStmt, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashMap;

impl Lower<'_, '_> {
    /// Whether a statement is done in this pass over the range: in a second one only what leaves no trace, and the
    /// folds.
    pub(super) fn is_done(&self, s: &Stmt) -> bool {
        let Some(again) = &self.again else {
            return true;
        };
        match &s.kind {
            LoopStmt::Let(..)
            | LoopStmt::If { .. }
            | LoopStmt::ReadArray(..)
            | LoopStmt::ArrayLength(..) => true,
            LoopStmt::Assign(v, _) => again.iter().any(|e| e.var == *v),
            _ => false,
        }
    }

    /// Lanes begin as a number.
    pub(super) fn begin_fast_min_max(&mut self) {
        for e in self.fast_min_max.clone() {
            let losing = self.losing(e);
            self.each_some(e, |lower, place, some| {
                let shape = lower.shape(some);
                let number = lower.op("number", Ty::Bool, Op::Eq, &[some, some]);
                let begin = lower.op("begin", shape.ty, Op::Select, &[number, some, losing]);
                lower.push(StmtKind::Store {
                    into: Memory::Register(lower.carried[&e.var]),
                    at: place,
                    value: begin,
                    under: None,
                    lanes: shape.lanes,
                    proof: Proof::Literal,
                });
            });
        }
    }

    /// An extremum, with an element more.
    pub(super) fn beat(&mut self, v: Var, e: Extremum) {
        let (new, old) = (self.operand(e.elem), self.now[&e.var]);
        let to = self.define(v, self.lanes_of(&[new, old]));
        let op = e.op;
        self.push(StmtKind::Beat { to, op, new, old });
    }

    /// The range again for extrema that are in doubt.
    pub(super) fn find_again(&mut self, lanes: &[(GroupId, Var)]) {
        if self.fast_min_max.is_empty() {
            return;
        }
        let doubt = self.add("doubt", Shape::scalar(Ty::Bool), Origin::Register);
        self.set(doubt, Const::bool(false).into());
        for e in self.fast_min_max.clone() {
            self.each_some(e, |lower, _, some| {
                let of = lower.says_nothing(e, some);
                let any = lower.add("any", Shape::scalar(Ty::Bool), Origin::Let);
                lower.push(StmtKind::Any { to: any, of });
                let more = lower.op("more", Ty::Bool, Op::Or, &[doubt.into(), any.into()]);
                lower.set(doubt, more);
            });
        }
        let outer = std::mem::take(&mut self.out);
        for e in self.fast_min_max.clone() {
            let register = self.carried[&e.var];
            let shape = self.tile.shape(register);
            self.copy(Memory::Lanes(e.var), Memory::Register(register), shape);
        }
        self.again = Some(self.fast_min_max.clone());
        self.turns_of_range(lanes);
        self.again = None;
        let then = self.body(outer);
        self.comb = self.owner;
        self.push(StmtKind::If {
            cond: doubt.into(),
            then,
            other: Vec::new(),
        });
    }

    /// What extrema of a segment come to, whose lanes began as what loses to everything. If that says nothing, the
    /// segment is gone through again for them.
    pub(super) fn find_segment_again(
        &mut self,
        (from, to, capacities): Segment,
        groups: &[(GroupId, Var)],
    ) -> FxHashMap<Var, Value> {
        let mut found = FxHashMap::default();
        let mut doubt: Option<Operand> = None;
        for e in self.fast_min_max.clone() {
            let best = self.halves(e.var, (e.op, true));
            let shape = self.shape(best);
            let register = self.add("found", shape, Origin::Register);
            self.set(register, best);
            found.insert(e.var, register);
            let nothing = self.says_nothing(e, best);
            doubt = Some(match doubt {
                Some(doubt) => self.op("doubt", Ty::Bool, Op::Or, &[doubt, nothing]),
                None => nothing,
            });
        }
        let Some(cond) = doubt else {
            return found;
        };
        let outer = std::mem::take(&mut self.out);
        for e in self.fast_min_max.clone() {
            let identity = self.identity(e.var);
            self.set(self.carried[&e.var], identity);
        }
        // Counts have gone on since; what is found again is not at them.
        let at_counter = |capacity: &&(Var, Operand)| capacity.1 == from;
        let same: Vec<(Var, Operand)> = capacities.iter().filter(at_counter).copied().collect();
        let mut proofs = self.proofs.clone();
        proofs.retain(|_, proof| match proof {
            Proof::Capacity(k) => {
                match same.iter().position(|capacity| *capacity == capacities[*k]) {
                    Some(at) => {
                        *k = at;
                        true
                    }
                    None => false,
                }
            }
            _ => true,
        });
        let proofs = std::mem::replace(&mut self.proofs, proofs);
        self.again = Some(self.fast_min_max.clone());
        self.go_through((from, to, &same), groups, self.has_turns());
        self.again = None;
        self.proofs = proofs;
        for e in self.fast_min_max.clone() {
            let best = self.halves(e.var, (e.op, false));
            self.set(found[&e.var], best);
        }
        let then = self.body(outer);
        self.push(StmtKind::If {
            cond,
            then,
            other: Vec::new(),
        });
        found
    }

    /// Whether an extremum, or a lane of one, is what says nothing.
    fn says_nothing(&mut self, e: Extremum, found: Operand) -> Operand {
        let losing = self.losing(e);
        let zero = Const::zero(self.shape(found).ty);
        let nothing = self.op("nothing", Ty::Bool, Op::Eq, &[found, losing]);
        let zero = self.op("zero", Ty::Bool, Op::Eq, &[found, zero.into()]);
        self.op("either", Ty::Bool, Op::Or, &[nothing, zero])
    }

    /// Something for all lanes, as many at a time as a vector has.
    fn each_some(&mut self, e: Extremum, what: impl FnOnce(&mut Self, Operand, Operand)) {
        let register = self.carried[&e.var];
        let shape = self.tile.shape(register);
        let outer = std::mem::take(&mut self.out);
        let place = self.add("lane", Shape::scalar(Ty::U64), Origin::Let);
        let some = self.add("some", Shape::of(shape.ty, self.lanes), Origin::Let);
        self.push(StmtKind::Load {
            to: some,
            from: Memory::Register(register),
            at: place.into(),
            under: None,
            proof: Proof::Literal,
        });
        what(self, place.into(), some.into());
        let body = self.body(outer);
        let turn = (Lower::u64(0), Lower::u64(u64::from(shape.lanes)));
        self.for_(place, turn, u64::from(self.lanes), true, body);
    }

    /// The infinity that loses to everything.
    pub(super) fn losing(&self, e: Extremum) -> Operand {
        let limit = match e.op {
            Op::Max => f64::NEG_INFINITY,
            _ => f64::INFINITY,
        };
        match self.region.program.ty(e.var).elem() {
            Ty::F32 => Const::f32(limit as f32).into(),
            _ => Const::f64(limit).into(),
        }
    }
}
