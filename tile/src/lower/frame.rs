//! Entries, what goes in and out, and the loop over the range.

use super::Lower;
use crate::ir::{Entry, Memory, Operand, Origin, Proof, Shape, StmtKind, Stream, Sum, Value};
use crate::region::{Role, Step};
use crate::schedule::streamed;
use loop_lang::ir::{GroupId, Order, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashMap;

/// More steps than this are not written one after the other.
const MAX_UNROLLED: u32 = 8;

impl Lower<'_, '_> {
    pub(super) fn write(&mut self) {
        self.begin();
        let lanes = self.lane_vars();
        self.start(&lanes);
        self.turns_of_range(&lanes);
        self.find_again(&lanes);
        self.end(&lanes);
        self.tile.body = std::mem::take(&mut self.out);
    }

    /// The loop over the range.
    pub(super) fn turns_of_range(&mut self, lanes: &[(GroupId, Var)]) {
        let outer = std::mem::take(&mut self.out);
        let program = self.region.program;
        let name = program.name(self.inner_loop.counter).to_string();
        let range = self.range();
        let step = self.granule();
        if step == 1 {
            let counter = self.add(&name, Shape::scalar(Ty::U64), Origin::Let);
            self.at = Some(counter.into());
            self.step(lanes);
            let body = self.body(outer);
            self.for_(counter, range, 1, false, body);
        } else {
            let counter = self.add("strip", Shape::scalar(Ty::U64), Origin::Let);
            if self.tests_once() {
                self.all_go_on(counter);
            }
            self.begin_packed();
            let asks = std::mem::take(&mut self.out);
            let place = self.add("lane", Shape::scalar(Ty::U64), Origin::Let);
            self.vector_at(counter, place.into());
            self.step(lanes);
            let steps = self.body(asks);
            let turn = (Lower::u64(0), Lower::u64(step));
            // What takes many steps one after the other is left to compilers.
            let unroll = self.lanes > 1 || self.unroll <= MAX_UNROLLED;
            self.for_(place, turn, u64::from(self.lanes), unroll, steps);
            self.run_packed();
            let body = self.body(outer);
            self.for_(counter, range, step, false, body);
        }
    }

    /// A vector begins, or a step, at a place of a turn: its counters.
    pub(super) fn vector_at(&mut self, turn: Value, place: Operand) {
        let name = self
            .region
            .program
            .name(self.inner_loop.counter)
            .to_string();
        let at = self.op(&name, Ty::U64, Op::Add, &[turn.into(), place]);
        (self.at, self.turn) = (Some(at), Some((turn.into(), place)));
        if self.lanes == 1 {
            return;
        }
        // Of each lane, where nobody asks for them, too: what is not needed goes in the end.
        let each = Shape::of(Ty::U64, self.lanes);
        let positions = self.add(&format!("{name}_each"), each, Origin::Let);
        self.push(StmtKind::Positions {
            to: positions,
            from: at,
        });
        self.positions = Some(positions.into());
    }

    pub(super) fn range(&self) -> (Operand, Operand) {
        let of = |origin| self.tile.of_origin(origin).unwrap_or(Value(0)).into();
        (of(Origin::From), of(Origin::End))
    }

    pub(super) fn for_(
        &mut self,
        counter: Value,
        (from, to): (Operand, Operand),
        step: u64,
        unroll: bool,
        body: Vec<crate::ir::Stmt>,
    ) {
        self.comb = self.owner;
        self.push(StmtKind::For {
            counter,
            from,
            to,
            step,
            unroll,
            body,
        });
    }

    /// The range and the entries.
    pub(super) fn begin(&mut self) {
        let scalar = Shape::scalar(Ty::U64);
        self.add("from", scalar, Origin::From);
        self.add("end", scalar, Origin::End);
        let mut capacities: Vec<(Var, Var)> = self.inner_loop.proven.iter().copied().collect();
        if self.lanes > 1 {
            capacities.extend(&self.inner_loop.scarce);
        }
        capacities.retain(|(_, index)| !self.is_carried_inside(self.nest, *index));
        capacities.sort();
        for (array, index) in capacities {
            let proof = Proof::Entry(self.tile.entries.len());
            self.proofs.insert((array, index), proof);
            self.tile.entries.push(Entry::Capacity {
                array,
                index: Sum::of(index),
            });
        }
        self.enter_case();
        let step = self.granule();
        if step > 1 {
            self.tile.entries.push(Entry::Whole(step));
            let lanes = self.inner_loop.roles.values().filter_map(|r| match r {
                Role::Lanes(l) if self.in_registers(*l) => Some(u64::from(*l)),
                Role::Lanes(_) => Some(step),
                Role::Scan(block) if self.lanes > 1 => Some(u64::from(*block)),
                Role::Scan(_) => Some(step),
                _ => None,
            });
            // A vector's lanes are a group's, or a block, in their order from a multiple of these on.
            if let Some(lanes) = lanes.max() {
                self.tile.entries.push(Entry::Aligned(lanes));
            }
        }
        let least = self.schedule.streams(self.inner_loop.rate);
        self.tile.stream = least.filter(|_| self.proves_all()).map(|least| Stream {
            least,
            arrays: streamed(self.region, self.schedule, self.inner_loop),
        });
        let mut carried: Vec<Var> = self.inner_loop.carried.iter().copied().collect();
        carried.extend(
            self.group_vars(|order| matches!(order, Order::Prefix(_)))
                .map(|(_, v)| v),
        );
        let starts = self.nest.into_iter().flat_map(|n| &n.starts);
        carried.extend(starts.filter(|v| !self.is_local(**v)));
        let program = self.region.program;
        for v in carried {
            let shape = Shape::scalar(program.ty(v).elem());
            let state = self.add(program.name(v), shape, Origin::State(v));
            self.carried.insert(v, state);
            self.now.insert(v, state.into());
        }
        self.find_packed();
    }

    /// Registers for what vectors join and for lanes, as they are before the first turn.
    fn start(&mut self, lanes: &[(GroupId, Var)]) {
        let program = self.region.program;
        if self.lanes == 1 {
            for (_, v) in lanes {
                let shape = Shape::scalar(program.ty(*v).elem());
                let register = self.add(program.name(*v), shape, Origin::Register);
                self.carried.insert(*v, register);
                self.now.insert(*v, register.into());
            }
            self.next = self.waiting();
            return;
        }
        self.begin_recurrence();
        for (g, v) in lanes {
            let Order::Lanes(of) = program.groups[g.index()].order else {
                continue;
            };
            if !self.in_registers(of) {
                continue;
            }
            let shape = Shape::of(program.ty(*v).elem(), of);
            let name = format!("{}_lanes", program.name(*v));
            let register = self.add(&name, shape, Origin::Register);
            self.carried.insert(*v, register);
            self.copy(Memory::Lanes(*v), Memory::Register(register), shape);
        }
        self.begin_fast_min_max();
        self.widen();
        self.start_joins();
    }

    /// Registers for what vectors join, with nothing joined.
    pub(super) fn start_joins(&mut self) {
        let program = self.region.program;
        let joins: Vec<(Var, Op)> = (self.inner_loop.roles.iter())
            .filter_map(|(v, role)| match role {
                Role::Join(op, _) if !self.is_packed(*v) => Some((*v, *op)),
                _ => None,
            })
            .collect();
        for (v, op) in joins {
            let ty = program.ty(v).elem();
            let name = format!("{}_sums", program.name(v));
            let register = self.add(&name, Shape::of(ty, self.lanes), Origin::Register);
            // Every operator that joins in any order has one.
            let start = op.identity(ty).unwrap_or(Const::zero(ty)).into();
            self.set(register, start);
            self.next.insert(v, register);
        }
    }

    /// What was in registers goes to where it belongs.
    fn end(&mut self, lanes: &[(GroupId, Var)]) {
        if self.lanes == 1 {
            return;
        }
        for (_, v) in lanes {
            if let Memory::Register(register) = self.lanes_in(*v) {
                let shape = self.tile.shape(register);
                self.copy(Memory::Register(register), Memory::Lanes(*v), shape);
            }
        }
        self.end_recurrence();
        self.narrow();
        self.end_joins();
    }

    /// What vectors have joined.
    pub(super) fn end_joins(&mut self) {
        let inner_loop = self.inner_loop;
        for (v, role) in &inner_loop.roles {
            if let Role::Join(op, _) = role
                && self.next.contains_key(v)
            {
                let (state, sums) = (self.carried[v], self.next[v]);
                let shape = self.tile.shape(state);
                let to = self.add("joined", shape, Origin::Let);
                self.push(StmtKind::Halves {
                    to,
                    op: *op,
                    beats: false,
                    of: sums.into(),
                });
                let name = self.region.program.name(*v).to_string();
                let all = self.op(&name, shape.ty, *op, &[state.into(), to.into()]);
                self.set(state, all);
            }
        }
    }

    /// One step, or one vector of steps.
    fn step(&mut self, lanes: &[(GroupId, Var)]) {
        self.begin_lanes(lanes);
        if self.lanes == 1 {
            self.wait();
        }
        match self.nest {
            Some(nest) => self.parts(nest),
            None => self.straight(),
        }
        self.recurrence_of(None);
        self.counts(None);
        if self.lanes == 1 {
            self.take_effect();
            self.end_lanes(lanes);
        }
    }

    /// Registers for what carried variables are next, where that waits for the end of the step.
    pub(super) fn waiting(&mut self) -> FxHashMap<Var, Value> {
        let (program, facts) = (self.region.program, &self.region.facts);
        let mut waiting: Vec<Var> = self.carried.keys().copied().collect();
        waiting.retain(|v| facts.waits(Some(self.inner_loop.rate), *v));
        waiting.sort();
        let register = |v: &Var| {
            let shape = Shape::scalar(program.ty(*v).elem());
            let name = format!("{}_next", program.name(*v));
            (*v, self.add(&name, shape, Origin::Register))
        };
        waiting.iter().map(register).collect()
    }

    /// A step begins: what waits is what it was, if nothing changes it.
    pub(super) fn wait(&mut self) {
        for (v, next) in self.in_order() {
            self.set(next, self.carried[&v].into());
        }
    }

    /// A step ends: what has waited takes effect.
    pub(super) fn take_effect(&mut self) {
        for (v, next) in self.in_order() {
            self.set(self.carried[&v], next.into());
        }
    }

    fn in_order(&self) -> Vec<(Var, Value)> {
        let mut next: Vec<(Var, Value)> = self.next.iter().map(|(v, n)| (*v, *n)).collect();
        next.sort();
        next
    }

    /// What else the guard tests: where one is false, the loop has ended. Of the range that is the guard's to say; of a
    /// segment its counter does.
    pub(super) fn exits(&mut self) {
        let at = self.at.unwrap_or(Lower::u64(0));
        for exit in &self.inner_loop.exits {
            let unless = self.operand(*exit);
            let Some(stop) = self.stop else {
                self.push(StmtKind::Leave { at, unless });
                continue;
            };
            let cond = self.op("over", Ty::Bool, Op::Not, &[unless]);
            let outer = std::mem::take(&mut self.out);
            self.set(stop, at);
            let unless = Const::bool(false).into();
            self.push(StmtKind::Leave { at, unless });
            let then = self.body(outer);
            self.push(StmtKind::If {
                cond,
                then,
                other: Vec::new(),
            });
        }
    }

    /// The blocks of the innermost loop, in order.
    pub(super) fn straight(&mut self) {
        self.go_on();
        self.run_from(None);
        for at in 0..self.inner_loop.steps.len() {
            // Behind the guard, which comes first.
            if at == 1 && self.lanes == 1 {
                self.exits();
            }
            self.at_step(at);
        }
    }

    /// A step of the innermost loop.
    pub(super) fn at_step(&mut self, at: usize) {
        match self.inner_loop.steps[at] {
            _ if self.is_behind(at) => {}
            Step::Block(_) if self.admits_none() => {}
            Step::Block(_) => self.tops(at),
            Step::Enter(i) => self.enter(at, i),
            Step::Leave => self.leave(),
        }
    }

    /// The statements of a step of the innermost loop that are in no region.
    pub(super) fn tops(&mut self, at: usize) {
        let inner_loop = self.inner_loop;
        for s in inner_loop.tops(at) {
            if !self.is_elsewhere(s.id) {
                self.stmt(s.stmt);
                self.run_behind(s.stmt);
            }
        }
    }
}
