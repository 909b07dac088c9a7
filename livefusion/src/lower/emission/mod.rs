//! Emission: writes the code of a placed loop, act by act.
//!
//! A combinator has a slot: a rate and a stage of it. Each section of a combinator is a label;
//! [`Loop::place`] maps it to a place in that slot. Statements go to places. When the loop is
//! finished, labels of one place become synonyms in the alias map. So combinators of one rate share
//! their blocks.
//!
//! | module | holds |
//! | --- | --- |
//! | [`names`] | combinators and variables: `elt_3`, `len_3`, `ix_3` |
//! | [`blocks`] | statements by place, and the finished loop |
//! | [`params`] | parameters: arrays, delayed scalars, constants, lengths |
//! | [`rates`] | counters, and updates and groups of loop-carried values |
//! | [`elements`] | the variable of each element, scalar and array |
//! | [`phases`] | loop-carried values and counts across phases |
//! | [`sizing`] | the sizing loop, which counts elements first |

mod blocks;
mod elements;
mod names;
mod params;
mod phases;
mod rates;
mod sizing;

use super::placement::{Placement, Point};
use super::scope::LoopScope;
use super::{Lower, Lowered, Naming};
use crate::sharing::FieldRef;
use blocks::Blocks;
pub use elements::End;
use elements::Values;
pub use elements::{RowIndex, UniformRows};
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use names::Names;
use params::Params;
use phases::PhaseState;
use smallvec::SmallVec;

/// Builds a loop.
pub struct Emission<'g> {
    /// The loop's view of its plan.
    pub scope: LoopScope<'g>,
    /// The placement.
    pub placed: &'g Placement,
    /// The loop so far. Its blocks are made at the end.
    pub program: Loop,
    names: Names<'g>,
    blocks: Blocks,
    params: Params,
    shared: PhaseState,
    /// The values known so far.
    pub values: Values,
    results: Vec<(FieldRef, Atom)>,
}

impl<'g> Emission<'g> {
    /// Creates an empty loop.
    pub fn new(scope: LoopScope<'g>, placed: &'g Placement, naming: Naming<'g>) -> Self {
        Emission {
            scope,
            placed,
            program: Loop {
                name: format!("loop_{}", scope.at),
                ..Loop::default()
            },
            names: Names::new(naming),
            blocks: Blocks::default(),
            params: Params::default(),
            shared: PhaseState::default(),
            values: Values::default(),
            results: Vec::new(),
        }
    }

    /// Adds a statement to a section of a combinator.
    pub fn push(&mut self, comb: CombId, section: Section, kind: StmtKind) {
        self.push_all(comb, section, vec![Stmt { comb, kind }]);
    }

    /// Adds statements to a section of a combinator.
    pub fn push_all(&mut self, comb: CombId, section: Section, stmts: Vec<Stmt>) {
        let place = self.place(comb, section);
        self.blocks.push(place, stmts);
    }

    /// Adds statements at the start of a section.
    pub fn push_first(&mut self, comb: CombId, section: Section, stmts: Vec<Stmt>) {
        let place = self.place(comb, section);
        self.blocks.push_first(place, stmts);
    }

    /// Adds a statement at the end of a section.
    pub fn push_last(&mut self, comb: CombId, section: Section, kind: StmtKind) {
        let place = self.place(comb, section);
        self.blocks.push_last(place, Stmt { comb, kind });
    }

    /// Adds a statement after the inner loop in which a combinator runs.
    pub fn push_after(&mut self, comb: CombId, stmt: Stmt) {
        let place = self.program.place(Label {
            section: Section::Done,
            comb,
        });
        self.blocks.push(place, vec![stmt]);
    }

    /// The place of a section of a combinator. `Done` is the place that returns.
    fn place(&self, comb: CombId, section: Section) -> Place {
        match section {
            Section::Done => Place::Return,
            _ => self.program.place(Label { section, comb }),
        }
    }

    /// Emits `let base_comb = op args` in a section.
    pub fn emit(
        &mut self,
        comb: CombId,
        section: Section,
        base: &str,
        op: Op,
        args: &[Atom],
    ) -> Var {
        let types: SmallVec<[Ty; 3]> = args.iter().map(|a| self.program.atom_ty(*a)).collect();
        let ty = op.result(&types, None).unwrap_or(types[0]);
        let v = self.scalar(base, comb, ty);
        self.push(comb, section, StmtKind::Let(v, op, Args::from_slice(args)));
        v
    }

    /// Emits a trap of a combinator.
    pub fn trap(
        &mut self,
        comb: CombId,
        section: Section,
        kind: TrapKind,
        unless: Atom,
        payload: &[Atom],
    ) {
        let stmt = self.trap_stmt(comb, kind, unless, payload);
        self.push_all(comb, section, vec![stmt]);
    }

    /// Emits a trap after the inner loop over a segment.
    ///
    /// It traps unless one of the variables holds.
    pub fn trap_after(&mut self, comb: CombId, kind: TrapKind, unless: &[Var]) {
        let any = unless.iter().map(|v| Atom::Var(*v)).reduce(|a, b| {
            let ok = self.scalar("ok", comb, Ty::Bool);
            let kind = StmtKind::Let(ok, Op::Or, Args::from_slice(&[a, b]));
            self.push_after(comb, Stmt { comb, kind });
            ok.into()
        });
        if let Some(any) = any {
            let stmt = self.trap_stmt(comb, kind, any, &[]);
            self.push_after(comb, stmt);
        }
    }

    /// Returns the statement of a new trap.
    pub fn trap_stmt(
        &mut self,
        comb: CombId,
        kind: TrapKind,
        unless: Atom,
        payload: &[Atom],
    ) -> Stmt {
        self.program.traps.push(Trap { comb, kind });
        let trap = TrapId::new(self.program.traps.len() - 1);
        Stmt {
            comb,
            kind: StmtKind::Trap {
                unless,
                trap,
                payload: SmallVec::from_slice(payload),
            },
        }
    }

    /// Leaves the iteration unless a guard's test holds.
    ///
    /// At a loop rate it leaves the loop.
    pub fn exit(&mut self, comb: CombId, unless: Atom) {
        let place = self.place(comb, Section::Guard);
        self.blocks.exit(place, comb, unless, None);
    }

    /// Leaves the loop at the end of a body unless a condition holds.
    pub fn leave_unless(&mut self, comb: CombId, unless: Atom) {
        let place = self.place(comb, Section::Body);
        let section = Section::Done;
        let target = Some(Label { section, comb });
        self.blocks.exit(place, comb, unless, target);
    }

    /// Adds a result.
    pub fn result(&mut self, field: FieldRef, value: Atom) {
        self.results.push((field, value));
    }

    /// Returns the slot at a program point.
    pub fn slot(&self, point: Point) -> Slot {
        Slot {
            rate: point.rate,
            stage: self.placed.tree.stage_at(point),
        }
    }

    /// Finishes the loop.
    ///
    /// Makes its blocks, gotos and levels. Backends verify it.
    pub fn finish(mut self) -> Lower<Lowered> {
        if self.names.combs.is_empty() {
            // An unused loop: it does nothing.
            let nodes = &self.scope.plan.loops[self.scope.at].nodes;
            nodes.iter().for_each(|n| _ = self.unhomed_comb(*n));
        }
        let placed = self.placed.tree.rates();
        for (rate, placed) in self.program.rates.iter_mut().zip(placed) {
            rate.parts.clone_from(&placed.parts);
        }
        self.params.tie(&mut self.program, self.placed);
        self.name_counts();
        self.make_blocks();
        let sizing = self.sizing();
        let values = self.results.iter().map(|(_, v)| *v).collect();
        blocks::finish(&mut self.program, values);
        Ok(Lowered {
            program: self.program,
            sizing,
            sources: self.params.sources,
            combs: self.names.combs,
            results: self.results.into_iter().map(|(f, _)| f).collect(),
        })
    }
}
