//! The lanes of groups: in the frame, or in registers while a turn of vectors takes all of them.

use super::Lower;
use super::segment::is_shared;
use crate::ir::{Memory, Operand, Origin, Proof, Shape, StmtKind};
use crate::region::Role;
use loop_lang::ir::{GroupId, Order, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;

impl Lower<'_, '_> {
    /// The variables of groups with lanes.
    pub(super) fn lane_vars(&self) -> Vec<(GroupId, Var)> {
        let lanes = self.group_vars(|order| order.lanes().is_some());
        let recurrent = |v: &Var| self.recurrence.as_ref().is_some_and(|c| c.vars.contains(v));
        lanes.filter(|(_, v)| !recurrent(v)).collect()
    }

    /// The variables of groups of some order.
    pub(super) fn group_vars(
        &self,
        of: impl Fn(Order) -> bool,
    ) -> impl Iterator<Item = (GroupId, Var)> {
        let groups = &self.region.program.groups;
        let some = self.inner_loop.groups.iter().copied();
        let some = some.filter(move |g| of(groups[g.index()].order));
        some.flat_map(|g| groups[g.index()].vars.iter().map(move |v| (g, *v)))
    }

    /// How many steps a turn takes.
    pub(super) fn granule(&self) -> u64 {
        u64::from(self.lanes * self.unroll)
    }

    /// Whether a turn of vectors takes all lanes of a group, so that they are in registers. Else they are in the frame,
    /// where each vector finds its own.
    pub(super) fn in_registers(&self, of: u32) -> bool {
        self.lanes * self.unroll >= of.min(self.most)
    }

    /// Where the lanes of a group's variable are while vectors are taken.
    pub(super) fn lanes_in(&self, v: Var) -> Memory {
        match self.inner_loop.roles.get(&v) {
            Some(Role::Lanes(of)) if !self.in_registers(*of) || self.is_shared(v) => {
                Memory::Lanes(v)
            }
            _ => Memory::Register(self.carried[&v]),
        }
    }

    /// Whether segments share a variable's lanes.
    fn is_shared(&self, v: Var) -> bool {
        let group = self.region.program.group_of(v);
        let shared = group.is_some_and(|g| is_shared(self.region, self.inner_loop, g));
        shared && self.nest.is_some() && !self.held.contains(&v)
    }

    /// Where they are while steps are taken one by one: those of a segment are its own.
    pub(super) fn lanes_of_steps(&self, v: Var) -> Memory {
        match self.buffers.get(&v) {
            Some(buffer) => Memory::Buffer(*buffer),
            None => Memory::Lanes(v),
        }
    }

    /// Copies lanes, as many at a time as a vector has.
    pub(super) fn copy(&mut self, from: Memory, into: Memory, shape: Shape) {
        let outer = std::mem::take(&mut self.out);
        let place = self.add("lane", Shape::scalar(Ty::U64), Origin::Let);
        let some = self.add("some", Shape::of(shape.ty, self.lanes), Origin::Let);
        self.push(StmtKind::Load {
            to: some,
            from,
            at: place.into(),
            under: None,
            proof: Proof::Literal,
        });
        self.push(StmtKind::Store {
            into,
            at: place.into(),
            value: some.into(),
            under: None,
            lanes: self.lanes,
            proof: Proof::Literal,
        });
        let body = self.body(outer);
        let turn = (Lower::u64(0), Lower::u64(u64::from(shape.lanes)));
        self.for_(place, turn, u64::from(self.lanes), true, body);
    }

    /// Whether a group's lanes are those of a segment that goes step by step.
    fn is_buffered(&self, g: GroupId) -> bool {
        let mut vars = self.region.program.groups[g.index()].vars.iter();
        vars.any(|v| self.buffers.contains_key(v))
    }

    /// Where the lanes of an element, or of a vector's elements, are.
    pub(super) fn lane_at(&mut self, g: GroupId) -> Operand {
        let of = match self.region.program.groups[g.index()].order {
            Order::Runs(_) => return Lower::u64(1),
            // A short segment has few lanes of its own; those that it shares are the root's.
            Order::Lanes(of)
                if self.nest.is_some() && is_shared(self.region, self.inner_loop, g) =>
            {
                u64::from(of)
            }
            Order::Lanes(_) if self.is_buffered(g) && self.lanes_of_group(g) == 1 => 1,
            Order::Lanes(of) => u64::from(of.min(self.most)),
            Order::Prefix(_) | Order::Exact | Order::Sequential => 1,
        };
        let last = Lower::u64(of.saturating_sub(1));
        match self.turn {
            _ if of == 1 => Lower::u64(0),
            None => {
                let at = self.at.unwrap_or(Lower::u64(0));
                let few = self.lasts.get(&of).copied();
                let few = few.filter(|_| self.is_buffered(g));
                let last = few.unwrap_or(last);
                self.op("lane", Ty::U64, Op::And, &[at, last])
            }
            Some((_, place)) if of == u64::from(self.lanes * self.unroll) => place,
            Some((_, place)) if u64::from(self.lanes * self.unroll) >= of => {
                self.op("lane", Ty::U64, Op::And, &[place, last])
            }
            // A turn begins at a multiple of its steps.
            Some((strip, place)) => {
                let first = self.op("first", Ty::U64, Op::And, &[strip, last]);
                self.op("lane", Ty::U64, Op::Add, &[first, place])
            }
        }
    }

    /// What lanes are before a step, or a vector of steps.
    pub(super) fn begin_lanes(&mut self, lanes: &[(GroupId, Var)]) {
        for (g, v) in lanes {
            let at = self.lane_at(*g);
            let name = self.region.program.name(*v).to_string();
            let ty = self.region.program.ty(*v).elem();
            let (from, shape) = match self.lanes {
                1 => (self.lanes_of_steps(*v), Shape::scalar(ty)),
                lanes => (self.lanes_in(*v), Shape::of(ty, lanes)),
            };
            let old = self.add(&name, shape, Origin::Let);
            self.push(StmtKind::Load {
                to: old,
                from,
                at,
                under: None,
                proof: Proof::Literal,
            });
            match self.lanes {
                1 => self.set(self.carried[v], old.into()),
                _ => {
                    self.now.insert(*v, old.into());
                }
            }
            self.lane_places.insert(*v, at);
        }
    }

    /// What lanes are behind a step.
    pub(super) fn end_lanes(&mut self, lanes: &[(GroupId, Var)]) {
        for (_, v) in lanes {
            self.keep_lane(*v, self.lanes_of_steps(*v), self.carried[v].into());
        }
    }

    /// Stores what a variable's lanes are after the vector.
    pub(super) fn keep_lane(&mut self, v: Var, into: Memory, value: Operand) {
        self.push(StmtKind::Store {
            into,
            at: self.lane_places[&v],
            value,
            under: None,
            lanes: self.lanes,
            proof: Proof::Literal,
        });
    }
}
