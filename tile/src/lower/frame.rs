//! Entries, what goes in and out, and the loop over the range.

use super::{Lower, args};
use crate::ir::{Entry, Memory, Operand, Origin, Proof, Shape, StmtKind, Value};
use crate::region::{Role, Step};
use crate::schedule::Admit;
use loop_lang::ir::{GroupId, Order, StmtKind as LoopStmt, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashMap;

impl Lower<'_, '_> {
    pub(super) fn write(&mut self) {
        self.begin();
        let lanes = self.lane_vars();
        self.start(&lanes);
        let outer = std::mem::take(&mut self.out);
        let program = self.region.program;
        let name = program.name(self.sweep.counter).to_string();
        let range = self.range();
        let step = u64::from(self.lanes * self.unroll);
        if self.lanes == 1 {
            let counter = self.add(&name, Shape::scalar(Ty::U64), Origin::Let);
            self.at = Some(counter.into());
            self.step(&lanes);
            let body = self.body(outer);
            self.for_(counter, range, 1, false, body);
        } else {
            let counter = self.add("strip", Shape::scalar(Ty::U64), Origin::Let);
            let place = self.add("lane", Shape::scalar(Ty::U64), Origin::Let);
            let at = self.op(&name, Ty::U64, Op::Add, &[counter.into(), place.into()]);
            (self.at, self.turn) = (Some(at), Some((counter.into(), place.into())));
            // Of each lane, where nobody asks for them, too: what is not needed goes in the end.
            let each = Shape::of(Ty::U64, self.lanes);
            let positions = self.add(&format!("{name}_each"), each, Origin::Let);
            self.push(StmtKind::Positions {
                to: positions,
                from: at,
            });
            self.positions = Some(positions.into());
            self.step(&lanes);
            let vector = self.body(Vec::new());
            let turn = (Lower::u64(0), Lower::u64(step));
            self.for_(place, turn, u64::from(self.lanes), true, vector);
            let body = self.body(outer);
            self.for_(counter, range, step, false, body);
        }
        self.end(&lanes);
        self.tile.body = std::mem::take(&mut self.out);
    }

    fn range(&self) -> (Operand, Operand) {
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
    fn begin(&mut self) {
        let scalar = Shape::scalar(Ty::U64);
        self.add("from", scalar, Origin::From);
        self.add("end", scalar, Origin::End);
        let mut rooms: Vec<(Var, Var)> = self.sweep.proven.iter().copied().collect();
        rooms.retain(|(_, index)| !self.is_carried_inside(*index));
        rooms.sort();
        for (array, index) in rooms {
            let proof = Proof::Entry(self.tile.entries.len());
            self.proofs.insert((array, index), proof);
            self.tile.entries.push(Entry::Room { array, index });
        }
        if self.lanes > 1 {
            let step = u64::from(self.lanes * self.unroll);
            self.tile.entries.push(Entry::Whole(step));
            let lanes = self.sweep.roles.values().filter_map(|r| match r {
                Role::Lanes(l) if self.in_registers(*l) => Some(u64::from(*l)),
                Role::Lanes(_) => Some(step),
                Role::Scan(block) => Some(u64::from(*block)),
                _ => None,
            });
            // A vector's lanes are a group's, or a block, in their order from a multiple of these on.
            if let Some(lanes) = lanes.max() {
                self.tile.entries.push(Entry::Aligned(lanes));
            }
        }
        let mut carried: Vec<Var> = self.sweep.carried.iter().copied().collect();
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
    }

    /// The variables of groups with lanes.
    pub(super) fn lane_vars(&self) -> Vec<(GroupId, Var)> {
        self.group_vars(|order| order.lanes().is_some()).collect()
    }

    /// The variables of groups of some order.
    fn group_vars(&self, of: impl Fn(Order) -> bool) -> impl Iterator<Item = (GroupId, Var)> {
        let groups = &self.region.program.groups;
        let some = self.sweep.groups.iter().copied();
        let some = some.filter(move |g| of(groups[g.index()].order));
        some.flat_map(|g| groups[g.index()].vars.iter().map(move |v| (g, *v)))
    }

    /// Whether a turn of vectors takes all lanes of a group, so that they are in registers. Else they are in the frame,
    /// where each vector finds its own.
    pub(super) fn in_registers(&self, of: u32) -> bool {
        self.lanes * self.unroll >= of
    }

    /// Where the lanes of a group's variable are while vectors are taken.
    pub(super) fn lanes_in(&self, v: Var) -> Memory {
        match self.sweep.roles.get(&v) {
            Some(Role::Lanes(of)) if !self.in_registers(*of) => Memory::Lanes(v),
            _ => Memory::Register(self.carried[&v]),
        }
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
        let joins: Vec<(Var, Op)> = (self.sweep.roles.iter())
            .filter_map(|(v, role)| match role {
                Role::Join(op, _) => Some((*v, *op)),
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

    /// Copies lanes, as many at a time as a vector has.
    fn copy(&mut self, from: Memory, into: Memory, shape: Shape) {
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
        let sweep = self.sweep;
        for (v, role) in &sweep.roles {
            if let Role::Join(op, _) = role {
                let (state, sums) = (self.carried[v], self.next[v]);
                let shape = self.tile.shape(state);
                let to = self.add("joined", shape, Origin::Let);
                self.push(StmtKind::Fold {
                    to,
                    op: *op,
                    start: state.into(),
                    of: sums.into(),
                });
                self.set(state, to.into());
            }
        }
    }

    /// Where the lanes of an element, or of a vector's elements, are.
    fn lane_at(&mut self, g: GroupId) -> Operand {
        let of = match self.region.program.groups[g.index()].order {
            Order::Runs(_) => return Lower::u64(1),
            Order::Lanes(of) => u64::from(of),
            Order::Prefix(_) | Order::Exact | Order::Sequential => 1,
        };
        let last = Lower::u64(of.saturating_sub(1));
        match self.turn {
            _ if of == 1 => Lower::u64(0),
            None => {
                let at = self.at.unwrap_or(Lower::u64(0));
                self.op("lane", Ty::U64, Op::And, &[at, last])
            }
            Some((_, place)) if of == u64::from(self.lanes * self.unroll) => place,
            Some((_, place)) if self.in_registers(of as u32) => {
                self.op("lane", Ty::U64, Op::And, &[place, last])
            }
            // A turn begins at a multiple of its steps.
            Some((strip, place)) => {
                let first = self.op("first", Ty::U64, Op::And, &[strip, last]);
                self.op("lane", Ty::U64, Op::Add, &[first, place])
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
        self.counts(None);
        if self.lanes == 1 {
            self.take_effect();
            self.end_lanes(lanes);
        }
    }

    /// What lanes are before a step, or a vector of steps.
    pub(super) fn begin_lanes(&mut self, lanes: &[(GroupId, Var)]) {
        for (g, v) in lanes {
            let at = self.lane_at(*g);
            let name = self.region.program.name(*v).to_string();
            let ty = self.region.program.ty(*v).elem();
            let (from, shape) = match self.lanes {
                1 => (Memory::Lanes(*v), Shape::scalar(ty)),
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
            self.keep_lane(*v, Memory::Lanes(*v), self.carried[v].into());
        }
    }

    /// Registers for what carried variables are next, where that waits for the end of the step.
    pub(super) fn waiting(&mut self) -> FxHashMap<Var, Value> {
        let (program, facts) = (self.region.program, &self.region.facts);
        let mut waiting: Vec<Var> = self.carried.keys().copied().collect();
        waiting.retain(|v| facts.waits(Some(self.sweep.rate), *v));
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

    /// What else the guard tests: where one is false, the loop has ended, which is the guard's to say.
    pub(super) fn exits(&mut self) {
        let at = self.at.unwrap_or(Lower::u64(0));
        for exit in &self.sweep.exits {
            let unless = self.operand(*exit);
            self.push(StmtKind::Leave { at, unless });
        }
    }

    /// The blocks of the sweep, in order.
    pub(super) fn straight(&mut self) {
        for at in 0..self.sweep.steps.len() {
            // Behind the guard, which comes first.
            if at == 1 {
                self.exits();
            }
            match self.sweep.steps[at] {
                Step::Block(_) => self.tops(at),
                Step::Enter(i) => self.enter(at, i),
                Step::Leave => self.leave(),
            }
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

    /// The statements of a step of the sweep that are in no region.
    pub(super) fn tops(&mut self, at: usize) {
        let sweep = self.sweep;
        for s in sweep.tops(at) {
            self.stmt(s.stmt);
        }
    }

    /// A sub rate begins: its guard's statements, and which steps it admits.
    fn enter(&mut self, step: usize, block: usize) {
        self.tops(step);
        let region = self.region;
        let rate = region.rate_of_block(block);
        let how = rate.map_or(Admit::Branch, |r| self.schedule.admits(r));
        let mut mask = self.mask();
        let exits = &region.facts.blocks[block].block.exits;
        for exit in exits {
            let test = self.operand(exit.unless);
            mask = Some(self.both(mask, test));
        }
        let mask = mask.unwrap_or(Const::bool(true).into());
        let mask = self.wide(mask);
        let counts = |s: &&crate::region::Statement| {
            let of = |v: &Var| self.sweep.roles.get(v);
            s.sub == Some(step)
                && matches!(&s.stmt.kind, LoopStmt::Assign(v, _)
                    if matches!(of(v), Some(Role::Count { .. })))
        };
        let counted = self.lanes > 1 && self.sweep.statements.iter().any(|s| counts(&s));
        let count = counted.then(|| {
            let to = self.add("count", Shape::scalar(Ty::U64), Origin::Let);
            self.push(StmtKind::Count { to, of: mask });
            to.into()
        });
        let branches = how == Admit::Branch;
        let outer = branches.then(|| std::mem::take(&mut self.out));
        self.subs.push(super::Sub {
            mask,
            count,
            how,
            step,
            outer,
        });
    }

    /// A mask of as many lanes as there are steps at a time.
    fn wide(&mut self, mask: Operand) -> Operand {
        if self.shape(mask).lanes == self.lanes {
            return mask;
        }
        let to = self.add("all", Shape::of(Ty::Bool, self.lanes), Origin::Let);
        self.push(StmtKind::Let {
            to,
            op: Op::Copy,
            args: args(&[mask]),
        });
        to.into()
    }

    /// A sub rate ends. What it branched over is a body of its own.
    fn leave(&mut self) {
        let step = self.subs.last().map(|s| s.step);
        self.counts(step);
        let Some(sub) = self.subs.pop() else {
            return;
        };
        let Some(outer) = sub.outer else {
            return;
        };
        let then = self.body(outer);
        let cond = match self.lanes {
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

    /// The counts of a sub rate, or of the rate itself, after the vector: what is written is at what they were.
    fn counts(&mut self, sub: Option<usize>) {
        if self.lanes == 1 {
            return;
        }
        let more = match self.subs.last() {
            Some(sub) => sub.count,
            None => Some(Lower::u64(u64::from(self.lanes))),
        };
        let here: Vec<Var> = (self.sweep.roles.iter())
            .filter(|(_, role)| **role == Role::Count { sub })
            .map(|(v, _)| *v)
            .collect();
        for (v, more) in here.into_iter().zip(more.into_iter().cycle()) {
            let state = self.carried[&v];
            let next = self.op("next", Ty::U64, Op::Add, &[state.into(), more]);
            self.set(state, next);
        }
    }
}
