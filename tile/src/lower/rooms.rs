//! The rooms of segments: what must be there of each array that a segment accesses without a check.
//!
//! A room is at the counter, at a count, or at a sum: an index that goes up by one in each step, from what is the same in all
//! of them, has its room at its first value, which is computed where the segment begins. In the steps it is that value and how
//! far the segment has come, which is what the verifier knows it by. Where an array is shorter, all of the segment's steps are
//! left to the state machine, though only some of them may miss.

use super::Lower;
use crate::ir::{Operand, Proof};
use crate::region::{Affine, Inner, Nest, Sweep};
use loop_lang::ir::{Atom, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::collections::BTreeMap;

/// What the accesses of a segment's steps are proven by.
#[derive(Default)]
pub(super) struct Rooms {
    /// Where it begins.
    from: Option<Operand>,
    /// The first values of indices that are sums.
    firsts: BTreeMap<Var, Operand>,
    /// How far it has come, where there are such.
    along: Option<Operand>,
}

impl<'r, 'a> Lower<'r, 'a> {
    /// Asks for the rooms of a segment that begins here; accesses in it are proven by them from here on.
    pub(super) fn ask_for_rooms(
        &mut self,
        inner: Inner<'r, 'a>,
        from: Operand,
    ) -> Vec<(Var, Operand)> {
        let nest = match inner {
            Inner::Sweep(_) => None,
            Inner::Nest(nest) => Some(nest),
        };
        let sweep = inner.sweep();
        let mut counted: Vec<(Var, Var)> = sweep.proven.iter().copied().collect();
        if self.schedule.vectors(sweep.rate).0 > 1 {
            counted.extend(&sweep.scarce);
        }
        counted.retain(|(_, index)| !self.is_carried_inside(nest, *index));
        counted.sort();
        let mut near: Vec<(Var, Var)> = sweep.near.iter().copied().collect();
        near.sort();
        self.proofs.clear();
        self.rooms = Rooms {
            from: Some(from),
            ..Rooms::default()
        };
        let mut rooms: Vec<(Var, Operand)> = Vec::new();
        for (array, index) in counted {
            let proof = Proof::Room(rooms.len());
            let at = match index == sweep.counter {
                true => from,
                false => self.operand(Atom::Var(index)),
            };
            rooms.push((array, at));
            self.proofs.insert((array, index), proof);
        }
        let mut sums: Vec<(Affine, Operand)> = Vec::new();
        for (array, index) in near {
            let Some(sum) = self.sum_of(sweep, nest, index) else {
                continue;
            };
            let known = sums.iter().find(|(of, _)| *of == sum).map(|known| known.1);
            let first = known.unwrap_or_else(|| self.first_value(index, &sum, from));
            sums.push((sum, first));
            self.rooms.firsts.insert(index, first);
            let room = (array, first);
            let at = rooms.iter().position(|r| *r == room).unwrap_or(rooms.len());
            if at == rooms.len() {
                rooms.push(room);
            }
            self.proofs.insert((array, index), Proof::Room(at));
        }
        rooms
    }

    /// An index as the counter and what is the same in all steps, if no loop in these changes that.
    fn sum_of(&self, sweep: &Sweep, nest: Option<&Nest>, index: Var) -> Option<Affine> {
        let sum = sweep.affine(Atom::Var(index))?;
        let stays = |v: Var| {
            let begins = nest.is_some_and(|nest| nest.starts.contains(&v));
            !begins && !self.is_carried_inside(nest, v)
        };
        let mut base = sum.base.iter().filter_map(|term| term.of.var());
        base.all(stays).then_some(sum)
    }

    /// What an index is in a segment's first step.
    fn first_value(&mut self, index: Var, sum: &Affine, from: Operand) -> Operand {
        let name = format!("{}_from", self.region.program.name(index));
        let mut first = from;
        for term in &sum.base {
            let of = self.operand(term.of);
            first = match term.times {
                1 => self.op(&name, Ty::U64, Op::Add, &[of, first]),
                -1 => self.op(&name, Ty::U64, Op::Sub, &[first, of]),
                times => {
                    let times = Lower::u64(times as u64);
                    let more = self.op(&name, Ty::U64, Op::Mul, &[of, times]);
                    self.op(&name, Ty::U64, Op::Add, &[more, first])
                }
            };
        }
        first
    }

    /// A step of a segment begins, or a vector of steps: how far the segment has come.
    pub(super) fn come_along(&mut self) {
        let (Some(at), Some(from)) = (self.at, self.rooms.from) else {
            return;
        };
        let sums = !self.rooms.firsts.is_empty();
        self.rooms.along = sums.then(|| self.op("along", Ty::U64, Op::Sub, &[at, from]));
    }

    /// What an index that has a room at a sum is here, in the first lane.
    pub(super) fn beyond_first(&mut self, index: Var) -> Option<Operand> {
        let first = self.rooms.firsts.get(&index).copied()?;
        let along = self.rooms.along?;
        let name = self.region.program.name(index).to_string();
        Some(self.op(&name, Ty::U64, Op::Add, &[first, along]))
    }
}
