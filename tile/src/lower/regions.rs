//! Arms and scalar loops, of one step or of several side by side.
//!
//! Arms of a condition that differs from lane to lane are both computed, and each lane picks its own. A scalar loop
//! turns for all lanes together, under a mask of those that still go on; what is the same in all lanes stays a scalar.

use super::Lower;
use crate::ir::{Operand, Origin, Shape, StmtKind, Value};
use livefusion_backend::facts;
use loop_lang::ir::{Atom, Stmt, StmtKind as LoopStmt, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashSet;

/// A variable that an `if` defines, with its value from either arm.
type Picked = (Var, Atom, Atom);

/// A variable of a scalar loop.
struct LoopVar {
    /// What it is in a turn.
    register: Value,
    /// Whether it stays in a lane that has ended.
    freezes: bool,
    /// What it was last in each lane, if it is the same in all that go on.
    last: Option<Value>,
}

impl Lower<'_, '_> {
    pub(super) fn arms(
        &mut self,
        cond: Atom,
        (then, other): (&[Stmt], &[Stmt]),
        results: &[Picked],
    ) {
        match self.truth(cond) {
            Some(true) => return self.taken(then, results.iter().map(|r| (r.0, r.1))),
            Some(false) => return self.taken(other, results.iter().map(|r| (r.0, r.2))),
            None => {}
        }
        let cond = self.operand(cond);
        match self.shape(cond).is_scalar() {
            true => self.one_arm(cond, (then, other), results),
            false => self.both_arms(cond, (then, other), results),
        }
    }

    /// One arm is computed.
    fn one_arm(&mut self, cond: Operand, (then, other): (&[Stmt], &[Stmt]), results: &[Picked]) {
        let outer = std::mem::take(&mut self.out);
        then.iter().for_each(|s| self.stmt(s));
        let yes: Vec<Operand> = results.iter().map(|r| self.operand(r.1)).collect();
        let mut then = self.body(Vec::new());
        other.iter().for_each(|s| self.stmt(s));
        let no: Vec<Operand> = results.iter().map(|r| self.operand(r.2)).collect();
        let mut other = self.body(Vec::new());
        for ((v, ..), (yes, no)) in results.iter().zip(yes.into_iter().zip(no)) {
            let lanes = self.lanes_of(&[yes, no]);
            let register = self.register(*v, lanes);
            self.set(register, yes);
            then.append(&mut self.out);
            self.set(register, no);
            other.append(&mut self.out);
        }
        self.out = outer;
        self.push(StmtKind::If { cond, then, other });
    }

    /// Both arms are computed; a trap counts where its arm does.
    fn both_arms(&mut self, cond: Operand, (then, other): (&[Stmt], &[Stmt]), results: &[Picked]) {
        let around = self.mask();
        if needs_mask(then) {
            let mask = self.both(around, cond);
            self.regions.push(mask);
            then.iter().for_each(|s| self.stmt(s));
            self.regions.pop();
        } else {
            then.iter().for_each(|s| self.stmt(s));
        }
        if needs_mask(other) {
            let not = self.op("otherwise", Ty::Bool, Op::Not, &[cond]);
            let mask = self.both(around, not);
            self.regions.push(mask);
            other.iter().for_each(|s| self.stmt(s));
            self.regions.pop();
        } else {
            other.iter().for_each(|s| self.stmt(s));
        }
        for (v, yes, no) in results {
            let (yes, no) = (self.operand(*yes), self.operand(*no));
            let name = self.region.program.name(*v).to_string();
            let ty = self.region.program.ty(*v).elem();
            let picked = self.op(&name, ty, Op::Select, &[cond, yes, no]);
            self.now.insert(*v, picked);
        }
    }

    /// A register for a variable of the loop, which it is from here on.
    fn register(&mut self, v: Var, lanes: u32) -> Value {
        let program = self.region.program;
        let shape = Shape::of(program.ty(v).elem(), lanes);
        let register = self.add(program.name(v), shape, Origin::Register);
        self.now.insert(v, register.into());
        register
    }

    /// A scalar loop.
    pub(super) fn turns(&mut self, s: &Stmt) {
        let LoopStmt::While {
            state,
            test,
            cond,
            body,
            next,
        } = &s.kind
        else {
            return;
        };
        let varying = self.varying(s);
        let differs = cond.var().is_some_and(|v| varying.contains(&v)) || self.varies_now(*cond);
        let mask = self.mask().filter(|_| self.lanes > 1);
        let masked = differs || mask.is_some();
        let starts: Vec<Operand> = state.iter().map(|(_, a)| self.operand(*a)).collect();
        let mut registers = Vec::new();
        for ((v, _), start) in state.iter().zip(starts) {
            // Where all lanes end together, those that are masked are not asked for; what nobody reads afterwards may
            // go on.
            let freezes = differs && self.is_read_outside(*v, s);
            let varies = varying.contains(v);
            let lanes = if varies { self.lanes } else { 1 };
            let register = self.register(*v, lanes);
            self.set(register, start);
            // What is the same in all lanes, as a count of turns is, goes on as one; each lane keeps its last.
            let last = (freezes && !varies).then(|| {
                let program = self.region.program;
                let shape = Shape::of(program.ty(*v).elem(), self.lanes);
                let name = format!("{}_last", program.name(*v));
                let last = self.add(&name, shape, Origin::Register);
                self.set(last, start);
                last
            });
            registers.push(LoopVar {
                register,
                freezes,
                last,
            });
        }
        let go = masked.then(|| {
            let shape = Shape::of(Ty::Bool, self.lanes);
            let go = self.add("go", shape, Origin::Register);
            self.set(go, mask.unwrap_or(Const::bool(true).into()));
            go
        });
        let outer = std::mem::take(&mut self.out);
        self.regions.extend(go.map(Operand::from));
        // Lanes are asked at the head of a turn, where body and test share what they compute; what is the same for all
        // of them is asked before.
        let mut lanes = Vec::new();
        let goes_on = match go {
            Some(go) => {
                self.common(test, &varying, &mut FxHashSet::default());
                let all = conditions(*cond, test, |a| self.is_varying(&varying, a));
                let known = |a: &Atom| a.var().is_none_or(|v| self.known.contains(&v));
                let (all, some): (Vec<Atom>, Vec<Atom>) = all.into_iter().partition(known);
                lanes = some;
                let any = self.any(go);
                all.into_iter().fold(any, |any, holds| {
                    let holds = self.operand(holds);
                    self.both(Some(any), holds)
                })
            }
            None => {
                test.iter().for_each(|s| self.stmt(s));
                self.operand(*cond)
            }
        };
        let asked = self.body(Vec::new());
        if let Some(go) = go {
            test.iter().for_each(|s| self.stmt(s));
            let narrowed = lanes.into_iter().fold(go.into(), |go, holds| {
                let holds = self.operand(holds);
                self.both(Some(go), holds)
            });
            if narrowed != go.into() {
                self.set(go, narrowed);
            }
        }
        body.iter().for_each(|s| self.stmt(s));
        // All take their next values at once.
        let mut nexts: Vec<Operand> = next.iter().map(|a| self.operand(*a)).collect();
        for (k, next) in nexts.iter_mut().enumerate() {
            let is_state = |kept: &LoopVar| Operand::from(kept.register) == *next;
            if registers[..k].iter().any(is_state) {
                let ty = self.shape(*next).ty;
                *next = self.op("before", ty, Op::Copy, &[*next]);
            }
        }
        for (kept, next) in registers.iter().zip(nexts) {
            let under = go.map(Operand::from).filter(|_| kept.freezes);
            if let Some(last) = kept.last {
                let value = self.select(under, next, last.into());
                self.set(last, value);
                self.set(kept.register, next);
                continue;
            }
            let value = self.select(under, next, kept.register.into());
            self.set(kept.register, value);
        }
        let body = self.body(outer);
        if go.is_some() {
            self.regions.pop();
        }
        self.push(StmtKind::While {
            test: asked,
            cond: goes_on,
            body,
        });
        for ((v, _), kept) in state.iter().zip(&registers) {
            if let Some(last) = kept.last {
                self.now.insert(*v, last.into());
            }
        }
    }

    /// Whether a lane is set.
    fn any(&mut self, of: Value) -> Operand {
        let to = self.add("any", Shape::scalar(Ty::Bool), Origin::Let);
        self.push(StmtKind::Any { to, of: of.into() });
        to.into()
    }

    /// Computes what of these statements is the same in all lanes, and needs no asking whether it may be computed. What
    /// the others define is `late`: it is not there yet, and so neither is what they are needed for.
    fn common(&mut self, stmts: &[Stmt], varying: &FxHashSet<Var>, late: &mut FxHashSet<Var>) {
        for s in stmts {
            let (mut pure, mut varies) = (true, false);
            facts::each_stmt(std::slice::from_ref(s), &mut |s| {
                pure &= matches!(s.kind, LoopStmt::Let(..) | LoopStmt::If { .. });
                facts::each_use(s, &mut |u| {
                    varies |= late.contains(&u) || self.is_varying(varying, Atom::Var(u));
                });
            });
            match &s.kind {
                _ if pure && !varies => {
                    self.stmt(s);
                    facts::each_def(s, &mut |v| {
                        self.known.insert(v);
                    });
                }
                LoopStmt::If {
                    cond, then, other, ..
                } if self.is_varying(varying, *cond) => {
                    self.common(then, varying, late);
                    self.common(other, varying, late);
                }
                _ => facts::each_def(s, &mut |v| {
                    late.insert(v);
                }),
            }
        }
    }

    /// Whether a statement was found to be the same in all lanes, and is computed.
    pub(super) fn is_known(&self, s: &Stmt) -> bool {
        let mut known = !self.known.is_empty();
        facts::each_def(s, &mut |v| known &= self.known.contains(&v));
        known && matches!(s.kind, LoopStmt::Let(..) | LoopStmt::If { .. })
    }

    fn is_varying(&self, varying: &FxHashSet<Var>, a: Atom) -> bool {
        a.var().is_some_and(|v| varying.contains(&v)) || self.varies_now(a)
    }

    /// Whether an operand has a value for each lane at this place.
    fn varies_now(&self, a: Atom) -> bool {
        let Some(v) = a.var() else {
            return false;
        };
        let wide = |now: &Operand| !self.shape(*now).is_scalar();
        self.lanes > 1 && (v == self.inner_loop.counter || self.now.get(&v).is_some_and(wide))
    }

    /// What differs from lane to lane of what a scalar loop defines.
    fn varying(&self, s: &Stmt) -> FxHashSet<Var> {
        let mut varying = FxHashSet::default();
        let LoopStmt::While { state, next, .. } = &s.kind else {
            return varying;
        };
        let inner = loop_lang::walk::regions(&s.kind);
        loop {
            let before = varying.len();
            for ((v, start), next) in state.iter().zip(next) {
                if self.is_varying(&varying, *start) || self.is_varying(&varying, *next) {
                    varying.insert(*v);
                }
            }
            for region in inner {
                facts::each_stmt(region, &mut |s| {
                    let mut any = false;
                    let uses = &mut |u| any |= self.is_varying(&varying, Atom::Var(u));
                    facts::each_use(s, uses);
                    if any {
                        facts::each_def(s, &mut |v| {
                            varying.insert(v);
                        });
                    }
                });
            }
            if varying.len() == before {
                return varying;
            }
        }
    }

    /// Whether anything but a scalar loop itself reads one of its variables.
    fn is_read_outside(&self, v: Var, s: &Stmt) -> bool {
        let all = self.inner_loop.statements.iter();
        let uses = |s: &Stmt| {
            let mut uses = 0;
            facts::each_use(s, &mut |u| uses += usize::from(u == v));
            uses
        };
        let everywhere: usize = all.map(|s| uses(s.stmt)).sum();
        let mut inside = 0;
        facts::each_stmt(std::slice::from_ref(s), &mut |s| inside += uses(s));
        let mut leaves = false;
        for i in self.inner_loop.blocks() {
            let block = self.region.facts.blocks[i].block;
            facts::each_leaving_use(block, &mut |u| leaves |= u == v);
        }
        everywhere > inside || leaves
    }
}

/// What must hold, all of it, where a test's answer does.
fn conditions(cond: Atom, test: &[Stmt], varies: impl Fn(Atom) -> bool) -> Vec<Atom> {
    let no = Atom::Const(Const::bool(false));
    let mut found = Vec::new();
    let mut open = vec![(cond, test)];
    while let Some((a, test)) = open.pop() {
        let two = test.iter().find_map(|s| match &s.kind {
            LoopStmt::Let(v, Op::And, of) if a == Atom::Var(*v) => Some((of[0], of[1], test)),
            // Both arms are computed where lanes differ in which they need.
            LoopStmt::If {
                cond,
                then,
                results,
                ..
            } if varies(*cond) => {
                let result = results.iter().find(|r| a == Atom::Var(r.0) && r.2 == no)?;
                Some((*cond, result.1, &then[..]))
            }
            _ => None,
        });
        match two {
            Some((first, second, inside)) => open.extend([(second, inside), (first, test)]),
            None => found.push(a),
        }
    }
    found
}

/// Whether statements do what a lane must not that is not in its arm: trap, or turn for long.
fn needs_mask(stmts: &[Stmt]) -> bool {
    let mut found = false;
    facts::each_stmt(stmts, &mut |s| {
        found |= matches!(s.kind, LoopStmt::Trap { .. } | LoopStmt::While { .. });
    });
    found
}
