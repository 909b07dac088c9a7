//! Runs side by side, each in a lane of its own.
//!
//! An operator that only associates joins the elements of a run from left to right, and runs in order: within a run
//! each step waits for the one before. But every run begins at the identity, whatever came before it. So each lane of a
//! vector takes a run, and what the lanes come to is joined in order. The elements of one step lie a run apart: some
//! steps' are brought together at a time.
//!
//! ```text
//! for strip in from .. end step 1024
//!   set acc_runs = 0
//!   for some in 0 .. 128 step 8
//!     across elts = xs[strip + some] x8 apart 128 steps 8
//!     for one in 0 .. 8 step 1
//!       set acc_runs = acc_runs (+) elts[one * 8]
//!   for run in 0 .. 8 step 1
//!     lanes acc[0] = lanes acc[0] (+) acc_runs[run]
//! ```
//!
//! States often begin with a flag that says whether they hold anything: it is known, not computed, to be unset in the
//! first step of a run, and set in all others. So the first steps have code of their own.

use super::Lower;
use crate::ir::{Entry, Memory, Operand, Origin, Proof, Shape, StmtKind, Value};
use loop_lang::ir::{Atom, Combine, GroupId, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::collections::BTreeMap;

/// Steps whose elements are brought together at a time.
pub(crate) const ACROSS: u32 = 8;

/// The elements of no more arrays than this are brought together. Those of others are read where they lie.
const MOST: usize = 16;

/// Runs side by side, being written.
#[derive(Default)]
pub(super) struct Runs {
    /// What the elements of each array are brought into.
    buffers: BTreeMap<Var, Value>,
    /// Where in these a step's elements begin.
    place: Option<Operand>,
    /// What each state is next, when the step is done.
    updates: Vec<(Var, Operand)>,
}

/// A variable that each run folds.
struct Folded {
    group: GroupId,
    var: Var,
    /// What it is when a run begins.
    start: Atom,
    /// What it is in the first step of a run and in all others, if that is known.
    known: Option<(Const, Const)>,
}

impl Lower<'_, '_> {
    /// Writes the tile, of runs of so many steps.
    pub(super) fn write_runs(&mut self, run: u32) {
        self.begin();
        self.tile.entries.push(Entry::Runs(u64::from(run)));
        let folded = self.folded();
        let far = self.far(run);
        let mut runs = Runs::default();
        for a in self.inner_loop.in_step().into_iter().take(MOST) {
            let program = self.region.program;
            let shape = Shape::of(program.ty(a).elem(), ACROSS * self.lanes);
            let name = format!("{}_across", program.name(a));
            runs.buffers
                .insert(a, self.add(&name, shape, Origin::Buffer));
        }
        self.runs = Some(runs);
        let outer = std::mem::take(&mut self.out);
        let strip = self.add("strip", Shape::scalar(Ty::U64), Origin::Let);
        self.begin_runs(&folded);
        let first = match folded.iter().any(|f| f.known.is_some()) {
            true => {
                self.first_steps(strip.into(), far, run, &folded);
                ACROSS
            }
            false => 0,
        };
        if first < run {
            let outer = std::mem::take(&mut self.out);
            let some = self.add("some", Shape::scalar(Ty::U64), Origin::Let);
            let at = self.op("at", Ty::U64, Op::Add, &[strip.into(), some.into()]);
            self.bring_across(at, run);
            self.steps(0, at, far, &folded);
            let body = self.body(outer);
            let all = (Lower::u64(first.into()), Lower::u64(run.into()));
            self.for_(some, all, ACROSS.into(), false, body);
        }
        self.join_runs(&folded);
        let body = self.body(outer);
        let range = self.range();
        self.for_(strip, range, u64::from(self.lanes * run), false, body);
        self.tile.body = std::mem::take(&mut self.out);
    }

    /// What runs fold.
    fn folded(&self) -> Vec<Folded> {
        let program = self.region.program;
        let of = |g: &GroupId| {
            let (g, group) = (*g, &program.groups[g.index()]);
            group.vars.iter().enumerate().map(move |(i, v)| {
                let zero = Const::zero(program.ty(*v).elem());
                let start = group.identity.get(i).copied().unwrap_or(zero.into());
                let known = match (start, group.next.get(i)) {
                    (Atom::Const(start), Some(Atom::Const(next))) => Some((start, *next)),
                    _ => None,
                };
                Folded {
                    group: g,
                    var: *v,
                    start,
                    known,
                }
            })
        };
        self.inner_loop.groups.iter().flat_map(of).collect()
    }

    /// How far each lane's run is from the first one.
    fn far(&mut self, run: u32) -> Operand {
        let each = Shape::of(Ty::U64, self.lanes);
        let numbers = self.add("run_each", each, Origin::Let);
        self.push(StmtKind::Positions {
            to: numbers,
            from: Lower::u64(0),
        });
        let run = Lower::u64(run.into());
        self.op("far", Ty::U64, Op::Mul, &[numbers.into(), run])
    }

    /// Runs begin.
    fn begin_runs(&mut self, folded: &[Folded]) {
        let program = self.region.program;
        for f in folded.iter().filter(|f| f.known.is_none()) {
            let shape = Shape::of(program.ty(f.var).elem(), self.lanes);
            let name = format!("{}_runs", program.name(f.var));
            let register = self.add(&name, shape, Origin::Register);
            self.carried.insert(f.var, register);
            let start = self.operand(f.start);
            self.set(register, start);
        }
    }

    /// The steps of each run whose elements are brought together first.
    fn first_steps(&mut self, strip: Operand, far: Operand, run: u32, folded: &[Folded]) {
        self.bring_across(strip, run);
        self.one_step(Lower::u64(0), strip, far, folded, true);
        self.steps(1, strip, far, folded);
    }

    /// Brings the elements of some steps together.
    fn bring_across(&mut self, at: Operand, run: u32) {
        self.comb = self.owner;
        let buffers = self.runs.iter().flat_map(|r| &r.buffers);
        let buffers: Vec<(Var, Value)> = buffers.map(|(array, into)| (*array, *into)).collect();
        for (array, into) in buffers {
            // There is capacity for what is read in step.
            let Some(proof) = self.proofs.get(&(array, self.inner_loop.counter)).copied() else {
                continue;
            };
            self.push(StmtKind::Across {
                into,
                array,
                at,
                lanes: self.lanes,
                apart: run.into(),
                steps: ACROSS,
                proof,
            });
        }
    }

    /// The steps whose elements were brought together, from one of them on.
    fn steps(&mut self, from: u32, at: Operand, far: Operand, folded: &[Folded]) {
        let outer = std::mem::take(&mut self.out);
        let one = self.add("one", Shape::scalar(Ty::U64), Origin::Let);
        self.one_step(one.into(), at, far, folded, false);
        let body = self.body(outer);
        let some = (Lower::u64(from.into()), Lower::u64(ACROSS.into()));
        self.for_(one, some, 1, false, body);
    }

    /// One step of all runs: by its number, and where in the first run the first of those is that were brought
    /// together.
    fn one_step(
        &mut self,
        one: Operand,
        at: Operand,
        far: Operand,
        folded: &[Folded],
        is_first: bool,
    ) {
        let place = match one {
            Operand::Const(_) => Lower::u64(0),
            one => {
                let lanes = Lower::u64(self.lanes.into());
                self.op("place", Ty::U64, Op::Mul, &[one, lanes])
            }
        };
        let name = self
            .region
            .program
            .name(self.inner_loop.counter)
            .to_string();
        let at = match one {
            Operand::Const(_) => at,
            one => self.op(&name, Ty::U64, Op::Add, &[at, one]),
        };
        let each = self.op(&format!("{name}_each"), Ty::U64, Op::Add, &[far, at]);
        (self.at, self.positions) = (Some(at), Some(each));
        if let Some(runs) = &mut self.runs {
            runs.place = Some(place);
        }
        self.known.clear();
        for f in folded {
            let now = match f.known {
                Some((start, _)) if is_first => start.into(),
                Some((_, next)) => next.into(),
                None => self.carried[&f.var].into(),
            };
            self.now.insert(f.var, now);
        }
        self.straight();
        self.end_step(folded);
    }

    /// A step is done: states are what they are next, all of them at once.
    fn end_step(&mut self, folded: &[Folded]) {
        let updates = self.runs.as_mut().map(|r| std::mem::take(&mut r.updates));
        let mut updates = updates.unwrap_or_default();
        updates.retain(|(v, _)| folded.iter().any(|f| f.var == *v && f.known.is_none()));
        for (_, next) in &mut updates {
            let is_state = next
                .value()
                .is_some_and(|v| self.carried.values().any(|r| *r == v));
            if is_state {
                let ty = self.shape(*next).ty;
                *next = self.op("before", ty, Op::Copy, &[*next]);
            }
        }
        for (v, next) in updates {
            self.set(self.carried[&v], next);
        }
    }

    /// What runs have come to is joined onto what those before have, in order.
    fn join_runs(&mut self, folded: &[Folded]) {
        let outer = std::mem::take(&mut self.out);
        let run = self.add("run", Shape::scalar(Ty::U64), Origin::Let);
        let lanes = std::mem::replace(&mut self.lanes, 1);
        (self.at, self.positions) = (None, None);
        self.known.clear();
        let inner_loop = self.inner_loop;
        for g in &inner_loop.groups {
            let group = &self.region.program.groups[g.index()];
            let folded = || folded.iter().filter(|f| f.group == *g);
            let before: Vec<Operand> = folded().map(|f| self.before(f.var)).collect();
            let come_to: Vec<Operand> = folded().map(|f| self.of_run(f, run)).collect();
            let joined = match group.combine {
                Some(Combine::Fn(f)) => self.call(f, &before, &come_to),
                Some(Combine::Op(op)) => {
                    let two = before.iter().zip(&come_to);
                    two.map(|(a, b)| self.op("joined", self.shape(*a).ty, op, &[*a, *b]))
                        .collect()
                }
                // What is not joined is in no runs.
                None => come_to,
            };
            for (f, value) in folded().zip(joined) {
                self.push(StmtKind::Store {
                    into: Memory::Lanes(f.var),
                    at: Lower::u64(0),
                    value,
                    under: None,
                    lanes: 1,
                    proof: Proof::Literal,
                });
            }
        }
        self.lanes = lanes;
        let body = self.body(outer);
        let all = (Lower::u64(0), Lower::u64(lanes.into()));
        self.for_(run, all, 1, false, body);
    }

    /// What the chunk's runs before have come to.
    fn before(&mut self, v: Var) -> Operand {
        let program = self.region.program;
        let shape = Shape::scalar(program.ty(v).elem());
        let to = self.add(program.name(v), shape, Origin::Let);
        self.push(StmtKind::Load {
            to,
            from: Memory::Lanes(v),
            at: Lower::u64(0),
            under: None,
            proof: Proof::Literal,
        });
        to.into()
    }

    /// What a run has come to.
    fn of_run(&mut self, f: &Folded, run: Value) -> Operand {
        if let Some((_, next)) = f.known {
            return next.into();
        }
        let of = self.carried[&f.var];
        let shape = Shape::scalar(self.tile.shape(of).ty);
        let name = format!("{}_run", self.region.program.name(f.var));
        let to = self.add(&name, shape, Origin::Let);
        self.push(StmtKind::Lane {
            to,
            of: of.into(),
            at: run.into(),
        });
        to.into()
    }

    /// Reads what was brought together of an array, if it is read in step. Whether it is.
    pub(super) fn read_across(&mut self, v: Var, array: Var, index: Atom) -> bool {
        let in_step = index == Atom::Var(self.inner_loop.counter);
        let Some(runs) = self.runs.as_ref().filter(|_| in_step) else {
            return false;
        };
        let (Some(buffer), Some(at)) = (runs.buffers.get(&array).copied(), runs.place) else {
            return false;
        };
        let to = self.define(v, self.lanes);
        self.push(StmtKind::Load {
            to,
            from: Memory::Buffer(buffer),
            at,
            under: None,
            proof: Proof::Literal,
        });
        true
    }

    /// Keeps what a state is next until the step is done, where runs are side by side. Whether they are.
    pub(super) fn fold_run(&mut self, v: Var, next: Atom) -> bool {
        if self.runs.is_none() {
            return false;
        }
        let next = self.operand(next);
        if let Some(runs) = &mut self.runs {
            runs.updates.push((v, next));
        }
        true
    }
}
