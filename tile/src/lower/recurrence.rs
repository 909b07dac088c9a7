//! What goes from one element to the next beside vectors: lane by lane, behind what it needs and before what needs it.
//!
//! Where an element seldom changes anything (the farthest point so far), all lanes are first computed as if what is
//! carried stayed as it is. If that is what each of them comes to, it was right, one element after the other, and there
//! is nothing to do.

use super::Lower;
use crate::ir::{Memory, Operand, Origin, Proof, Shape, Stmt, StmtKind, Value};
use crate::region::{Change, Recurrence, Statement};
use livefusion_backend::facts;
use loop_lang::ir::{Atom, GroupId, StmtKind as LoopStmt, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

impl Lower<'_, '_> {
    /// Whether a statement has another place than its own: it was done where it was asked whether vectors go on, or it
    /// waits for the end of its subrate, in the recurrence or behind it.
    pub(super) fn is_elsewhere(&self, id: usize) -> bool {
        if self.flags.early.contains(&id) {
            return true;
        }
        let late = |c: &Recurrence| c.held.contains(&id) || c.behind.contains(&id);
        self.recurrence.as_ref().is_some_and(late)
    }

    /// Registers for what is carried in a group of one lane.
    pub(super) fn begin_recurrence(&mut self) {
        for (_, v) in self.recurrent_lanes() {
            let shape = Shape::scalar(self.region.program.ty(v).elem());
            let name = self.region.program.name(v);
            let register = self.add(name, shape, Origin::Register);
            let first = self.add(name, shape, Origin::Let);
            self.push(StmtKind::Load {
                to: first,
                from: Memory::Lanes(v),
                at: Lower::u64(0),
                under: None,
                proof: Proof::Literal,
            });
            self.set(register, first.into());
            self.carried.insert(v, register);
            self.now.insert(v, register.into());
        }
    }

    /// They go back to the frame.
    pub(super) fn end_recurrence(&mut self) {
        for (_, v) in self.recurrent_lanes() {
            self.push(StmtKind::Store {
                into: Memory::Lanes(v),
                at: Lower::u64(0),
                value: self.carried[&v].into(),
                under: None,
                lanes: 1,
                proof: Proof::Literal,
            });
        }
    }

    fn recurrent_lanes(&self) -> Vec<(GroupId, Var)> {
        let lanes = self.group_vars(|order| order.lanes().is_some());
        let recurrence = self.recurrence.as_ref();
        lanes
            .filter(|(_, v)| recurrence.is_some_and(|c| c.vars.contains(v)))
            .collect()
    }

    /// The recurrence and what is behind it, if it is in a subrate, or at the rate itself.
    pub(super) fn recurrence_of(&mut self, sub: Option<usize>) {
        if self.again.is_some() {
            return;
        }
        let Some(recurrence) = self.recurrence.take() else {
            return;
        };
        if recurrence.sub == sub {
            self.links(&recurrence);
            let inner_loop = self.inner_loop;
            for s in recurrence.tops(inner_loop, &recurrence.behind) {
                self.stmt(s.stmt);
                self.run_behind(s.stmt);
            }
        }
        self.recurrence = Some(recurrence);
    }

    fn links(&mut self, recurrence: &Recurrence) {
        let mask = self.mask();
        let exports: Vec<(Var, Value)> = (recurrence.exports.iter())
            .map(|v| {
                let program = self.region.program;
                let shape = Shape::of(program.ty(*v).elem(), self.lanes);
                (*v, self.add(program.name(*v), shape, Origin::Register))
            })
            .collect();
        let changes = recurrence.changes.as_ref();
        let changes = changes.map(|all| self.as_if_it_stayed((recurrence, all), mask, &exports));
        let outer = std::mem::take(&mut self.out);
        self.lane_by_lane(recurrence, mask, &exports);
        let links = self.body(outer);
        match changes {
            Some(cond) => self.push(StmtKind::If {
                cond,
                then: links,
                other: Vec::new(),
            }),
            None => self.out.extend(links),
        }
        self.now
            .extend(exports.iter().map(|(v, r)| (*v, (*r).into())));
    }

    /// What all lanes come to if what is carried stays, and whether it does not.
    fn as_if_it_stayed(
        &mut self,
        (recurrence, all): (&Recurrence, &[Change]),
        mask: Option<Operand>,
        exports: &[(Var, Value)],
    ) -> Operand {
        let inner_loop = self.inner_loop;
        for v in &recurrence.vars {
            self.now.insert(*v, self.carried[v].into());
        }
        let updates = |s: &Statement| matches!(s.stmt.kind, LoopStmt::Assign(..));
        if !exports.is_empty() {
            let held = recurrence.tops(inner_loop, &recurrence.held);
            held.filter(|s| !updates(s)).for_each(|s| self.stmt(s.stmt));
        }
        for (v, register) in exports {
            let value = self.now[v];
            self.set(*register, value);
        }
        // What tells is computed whatever arm it is in: that leaves no trace.
        let mut needed = FxHashSet::default();
        all.iter().for_each(|change| tells(change, &mut needed));
        let within = recurrence.tops(inner_loop, &recurrence.held);
        let within: Vec<&Statement> = within.flat_map(|s| inner_loop.within(s)).collect();
        let mut wanted = Vec::new();
        for s in within.into_iter().rev() {
            let mut defines = false;
            facts::each_def(s.stmt, &mut |v| defines |= needed.contains(&v));
            if defines {
                wanted.push(s);
                facts::each_use(s.stmt, &mut |u| {
                    needed.insert(u);
                });
            }
        }
        wanted.into_iter().rev().for_each(|s| self.stmt(s.stmt));
        let mut changes: Operand = Const::bool(false).into();
        for change in all {
            let one = self.change(change);
            changes = self.or(changes, one);
        }
        if let Some(mask) = mask {
            changes = self.and(mask, changes);
        }
        let of = self.wide(changes);
        let any = self.add("any", Shape::scalar(Ty::Bool), Origin::Let);
        self.push(StmtKind::Any { to: any, of });
        any.into()
    }

    /// Where a change happens.
    fn change(&mut self, change: &Change) -> Operand {
        match change {
            Change::Never => Const::bool(false).into(),
            Change::Always => Const::bool(true).into(),
            Change::Differs(v, next) => {
                let (new, old) = (self.operand(*next), self.carried[v].into());
                let (new, old) = (self.bits(new), self.bits(old));
                self.op("differs", Ty::Bool, Op::Ne, &[new, old])
            }
            Change::If(cond, yes, no) => {
                let cond = self.operand(*cond);
                let yes = self.change(yes);
                let yes = self.and(cond, yes);
                let no = self.change(no);
                if no == Const::bool(false).into() {
                    return yes;
                }
                let not = self.op("otherwise", Ty::Bool, Op::Not, &[cond]);
                let no = self.and(not, no);
                self.or(yes, no)
            }
        }
    }

    pub(super) fn and(&mut self, a: Operand, b: Operand) -> Operand {
        let (yes, no) = (Const::bool(true).into(), Const::bool(false).into());
        match (a, b) {
            (a, b) if a == no || b == no => no,
            (a, b) if a == yes => b,
            (a, b) if b == yes => a,
            (a, b) => self.op("both", Ty::Bool, Op::And, &[a, b]),
        }
    }

    fn or(&mut self, a: Operand, b: Operand) -> Operand {
        let no = Const::bool(false).into();
        match (a, b) {
            (a, b) if a == no => b,
            (a, b) if b == no => a,
            (a, b) => self.op("either", Ty::Bool, Op::Or, &[a, b]),
        }
    }

    /// A float's bits: equal zeros are not the same.
    fn bits(&mut self, a: Operand) -> Operand {
        match self.shape(a).ty {
            Ty::F32 => self.op("bits", Ty::U32, Op::Bitcast, &[a]),
            Ty::F64 => self.op("bits", Ty::U64, Op::Bitcast, &[a]),
            _ => a,
        }
    }

    /// The statements for one lane after the other.
    fn lane_by_lane(
        &mut self,
        recurrence: &Recurrence,
        mask: Option<Operand>,
        exports: &[(Var, Value)],
    ) {
        let lanes = std::mem::replace(&mut self.lanes, 1);
        let k = self.add("link", Shape::scalar(Ty::U64), Origin::Let);
        let outer = std::mem::take(&mut self.out);
        let at = self.at.unwrap_or(Lower::u64(0));
        let at = self.op("at", Ty::U64, Op::Add, &[at, k.into()]);
        let kept = (
            self.now.clone(),
            self.at.replace(at),
            self.positions.take(),
            std::mem::take(&mut self.subs),
            self.turn.take(),
        );
        let admitted = mask.map(|mask| self.lane(mask, k));
        let around = std::mem::take(&mut self.out);
        for v in &recurrence.inputs {
            let all = self.operand(Atom::Var(*v));
            let one = self.lane(all, k);
            self.now.insert(*v, one);
        }
        for v in &recurrence.vars {
            self.now.insert(*v, self.carried[v].into());
        }
        let waits = self.waits(&recurrence.vars);
        for (v, next) in &waits {
            self.set(*next, self.carried[v].into());
        }
        let carried = exports.iter().filter(|(v, _)| recurrence.vars.contains(v));
        for (v, register) in carried {
            self.set_lane(*register, k, self.carried[v].into());
        }
        let joins = std::mem::replace(&mut self.next, waits.iter().copied().collect());
        let inner_loop = self.inner_loop;
        for s in recurrence.tops(inner_loop, &recurrence.held) {
            self.stmt(s.stmt);
        }
        self.next = joins;
        for (v, register) in exports.iter().filter(|(v, _)| !recurrence.vars.contains(v)) {
            let value = self.now[v];
            self.set_lane(*register, k, value);
        }
        for (v, next) in &waits {
            self.set(self.carried[v], (*next).into());
        }
        let links = self.body(around);
        match admitted {
            Some(cond) => self.push(StmtKind::If {
                cond,
                then: links,
                other: Vec::new(),
            }),
            None => self.out.extend(links),
        }
        let body: Vec<Stmt> = self.body(outer);
        let given = self.given_now();
        (self.now, self.at, self.positions, self.subs, self.turn) = kept;
        self.now.extend(given);
        self.lanes = lanes;
        let range = (Lower::u64(0), Lower::u64(u64::from(lanes)));
        self.for_(k, range, 1, true, body);
    }

    /// Registers for what carried variables are next, where that waits for the end of the step.
    fn waits(&mut self, vars: &BTreeSet<Var>) -> Vec<(Var, Value)> {
        let program = self.region.program;
        let rate = Some(self.inner_loop.rate);
        let waiting = vars.iter().filter(|v| self.region.facts.waits(rate, **v));
        let waiting: Vec<Var> = waiting.copied().collect();
        let register = |v: Var| {
            let shape = Shape::scalar(program.ty(v).elem());
            let name = format!("{}_next", program.name(v));
            (v, self.add(&name, shape, Origin::Register))
        };
        waiting.into_iter().map(register).collect()
    }

    /// Scalars from outside that are known at this place.
    pub(super) fn given_now(&self) -> Vec<(Var, Operand)> {
        let given = self.now.iter().filter(|(v, now)| {
            let origin = now.value().map(|x| self.tile.value(x).origin);
            origin == Some(Origin::Given(**v))
        });
        given.map(|(v, now)| (*v, *now)).collect()
    }

    /// A lane of what has several.
    pub(super) fn lane(&mut self, of: Operand, k: Value) -> Operand {
        let shape = self.shape(of);
        if shape.is_scalar() {
            return of;
        }
        let to = self.add("one", Shape::scalar(shape.ty), Origin::Let);
        let at = k.into();
        self.push(StmtKind::Lane { to, of, at });
        to.into()
    }

    fn set_lane(&mut self, to: Value, k: Value, value: Operand) {
        let at = k.into();
        self.push(StmtKind::SetLane { to, at, value });
    }
}

/// The variables that tell when a change happens.
fn tells(change: &Change, into: &mut FxHashSet<Var>) {
    match change {
        Change::Never | Change::Always => {}
        Change::Differs(_, next) => into.extend(next.var()),
        Change::If(cond, yes, no) => {
            into.extend(cond.var());
            tells(yes, into);
            tells(no, into);
        }
    }
}
