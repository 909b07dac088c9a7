//! Subrates whose steps are packed: the admitted steps of a turn of vectors, one after the other.
//!
//! Vectors compress the values of each admitted step into buffers, and count. Behind them a loop over as many steps
//! loads them. A rejected step costs nothing, and no branch decides about a single step.

use super::Lower;
use crate::ir::{Memory, Operand, Origin, Proof, Shape, StmtKind, Value};
use crate::region::{Packed, Step};
use crate::schedule::Admit;
use loop_lang::ir::Var;
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// A packed subrate of a turn of vectors.
pub(super) struct PackedSub {
    enter: usize,
    packed: Packed,
    /// Whether vectors reach it: a subrate around it may admit no step in this case.
    is_reached: bool,
    /// How many steps are packed so far.
    count: Value,
    /// The values of each step, with their buffers.
    buffers: Vec<(Var, Value)>,
    /// Values that are the same in all steps.
    same: Vec<(Var, Operand)>,
}

impl Lower<'_, '_> {
    /// Finds the subrates that are packed.
    pub(super) fn find_packed(&mut self) {
        let inner_loop = self.inner_loop;
        if self.lanes == 1 {
            return;
        }
        for (enter, step) in inner_loop.steps.iter().enumerate() {
            let Step::Enter(block) = step else { continue };
            let rate = self.region.rate_of_block(*block);
            let packs = rate.is_some_and(|r| self.schedule.admits(r) == Admit::Pack);
            let is_inside = |sub: &PackedSub| sub.packed.steps.contains(&enter);
            if !packs || self.packed.iter().any(is_inside) {
                continue;
            }
            if let Ok(packed) = self.region.packed(inner_loop, enter) {
                let count = self.add("packed", Shape::scalar(Ty::U64), Origin::Register);
                self.packed.push(PackedSub {
                    enter,
                    packed,
                    is_reached: false,
                    count,
                    buffers: Vec::new(),
                    same: Vec::new(),
                });
            }
        }
    }

    /// A turn begins: its buffers are empty.
    pub(super) fn begin_packed(&mut self) {
        let counts: Vec<Value> = self.packed.iter().map(|sub| sub.count).collect();
        for count in counts {
            self.set(count, Lower::u64(0));
        }
    }

    /// Whether a packed subrate updates a variable.
    pub(super) fn is_packed(&self, v: Var) -> bool {
        let mut all = self.packed.iter();
        all.any(|sub| sub.packed.updated.contains(&v))
    }

    /// Whether a step is in a packed subrate, or leaves it.
    pub(super) fn is_behind(&self, step: usize) -> bool {
        let mut all = self.packed.iter();
        all.any(|sub| (sub.packed.steps.start..=sub.packed.steps.end).contains(&step))
    }

    /// Packs the vector's steps that a subrate admits. False if it is not packed.
    pub(super) fn pack(&mut self, enter: usize, mask: Operand) -> bool {
        let Some(k) = self.packed.iter().position(|sub| sub.enter == enter) else {
            return false;
        };
        if mask == Lower::NONE || self.admits_none() {
            return true;
        }
        self.packed[k].is_reached = true;
        let (mask, at) = (self.wide(mask), self.packed[k].count.into());
        for v in self.packed[k].packed.values.clone() {
            let mut value = self.operand(v.into());
            let given = |x: Value| matches!(self.tile.value(x).origin, Origin::Given(_));
            if value.value().is_none_or(given) {
                self.packed[k].same.push((v, value));
                continue;
            }
            let ty = self.shape(value).ty;
            if self.shape(value).is_scalar() {
                value = self.in_all_lanes(value, ty);
            }
            let name = format!("packed_{}", self.region.program.name(v));
            let shape = Shape::of(ty, self.granule() as u32);
            let buffer = self.add(&name, shape, Origin::Buffer);
            self.push(StmtKind::Compress {
                into: Memory::Buffer(buffer),
                at,
                value,
                under: mask,
                proof: Proof::Literal,
            });
            self.packed[k].buffers.push((v, buffer));
        }
        let more = self.count_of(mask);
        let next = self.op("next", Ty::U64, Op::Add, &[at, more]);
        self.set(self.packed[k].count, next);
        true
    }

    /// The statements of packed subrates, step by step, behind the vectors of a turn.
    pub(super) fn run_packed(&mut self) {
        let (lanes, unroll) = (self.lanes, self.unroll);
        let now = self.now.clone();
        let place = (self.at, self.turn, self.positions);
        let next = std::mem::take(&mut self.next);
        let proofs = std::mem::take(&mut self.proofs);
        self.is_unpacking = true;
        let reached = std::mem::take(&mut self.packed).into_iter();
        for sub in reached.filter(|sub| sub.is_reached) {
            (self.lanes, self.unroll) = (1, 1);
            (self.at, self.turn, self.positions) = (None, None, None);
            let outer = std::mem::take(&mut self.out);
            let counter = self.add("step", Shape::scalar(Ty::U64), Origin::Let);
            self.now.extend(sub.same);
            for (v, buffer) in sub.buffers {
                let to = self.define(v, 1);
                self.push(StmtKind::Load {
                    to,
                    from: Memory::Buffer(buffer),
                    at: counter.into(),
                    under: None,
                    proof: Proof::Literal,
                });
                if v == self.inner_loop.counter {
                    self.at = Some(to.into());
                }
            }
            self.next = self.waiting();
            self.next.retain(|v, _| sub.packed.updated.contains(v));
            self.wait();
            sub.packed.steps.for_each(|at| self.at_step(at));
            self.take_effect();
            let body = self.body(outer);
            self.for_(counter, (Lower::u64(0), sub.count.into()), 1, false, body);
            self.now.clone_from(&now);
        }
        (self.lanes, self.unroll) = (lanes, unroll);
        (self.at, self.turn, self.positions) = place;
        (self.next, self.proofs, self.is_unpacking) = (next, proofs, false);
    }
}
