//! Cursors: streams that are advanced until they deliver an element, whatever that takes.
//!
//! What is computed on demand runs *inside* its cursor: classes have an instance for each. A cursor's blocks
//! have gotos of their own: where an element exists, and where the stream has ended, control goes on behind
//! the cursor. All updates are in `yield`, for a cursor that delivers does not come to its `bottom`.

use super::instances::no_root;
use super::{Anatomy, Column, Lower, Spot};
use crate::fusion::ClassId;
use crate::sharing::NodeId;
use loop_lang::gotos::Tree;
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashMap;

/// One side of a zip that advances its inputs on demand.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    /// The rate of what it runs over.
    pub rate: RateId,
    /// Whether it has delivered an element.
    pub live: Var,
    /// Where what it delivers is known.
    pub spot: Spot,
}

impl Anatomy<'_> {
    /// Opens a cursor over `bound` elements of a class.
    pub fn open_cursor(&mut self, comb: CombId, class: ClassId, bound: Atom) -> Lower<RateId> {
        let parent = self.root.ok_or_else(no_root)?;
        let counter = self.scalar("ix", comb, Ty::U64);
        let kind = RateKind::Cursor {
            parent,
            counter,
            bound,
        };
        let rate = self.new_rate(comb, kind, Some(class));
        self.count_up(comb, rate, counter, bound);
        Ok(rate)
    }

    /// Says what the sides of a zip are.
    pub fn set_cursors(&mut self, zip: NodeId, cursors: Vec<Cursor>) {
        self.cursors.insert(zip, cursors);
    }

    /// A side of a zip, once its sides are opened.
    pub fn cursor(&self, zip: NodeId, side: usize) -> Option<Cursor> {
        self.cursors.get(&zip)?.get(side).copied()
    }

    /// Says where what a side delivers is known.
    pub fn set_delivery(&mut self, zip: NodeId, side: usize, spot: Spot) {
        let cursors = self.cursors.get_mut(&zip);
        if let Some(cursor) = cursors.and_then(|all| all.get_mut(side)) {
            cursor.spot = spot;
        }
    }

    /// The cursor in which a node of this loop runs.
    pub fn cursor_at(&self, id: NodeId) -> Option<RateId> {
        let (zip, side) = self.plan.rates.side_of(id)?;
        Some(self.cursor(zip, side)?.rate)
    }

    /// The cursor that delivers a column, if it is one of a zip that advances it on demand.
    pub(super) fn cursor_of(&self, column: Column) -> Option<Cursor> {
        column.beside?;
        let (zip, side) = self.plan.rates.side_of(column.field.0)?;
        let is_here = !self.is_in_memory(column.field.0);
        self.cursor(zip, side).filter(|_| is_here)
    }

    /// The cursor in which what is lowered runs.
    pub fn inside(&self) -> Option<RateId> {
        self.inside
    }

    /// What is lowered next runs in this cursor, or in none. The result is where it ran before.
    pub fn go_inside(&mut self, cursor: Option<RateId>) -> Option<RateId> {
        std::mem::replace(&mut self.inside, cursor)
    }

    /// Whether a rate is in the cursor in which what is lowered runs, or in none if that is so.
    pub(super) fn is_here(&self, rate: RateId) -> bool {
        let rate = self.program.loop_rate(rate);
        let cursor = matches!(self.program.rate(rate).kind, RateKind::Cursor { .. });
        cursor.then_some(rate) == self.inside
    }

    /// Says where control goes from where cursors deliver, and from where they end.
    pub(super) fn connect_cursors(&mut self, labels: &FxHashMap<Place, Label>) {
        let tree = Tree::of(&self.program);
        for cursor in self.cursors.values().flatten() {
            let at = |rate, stage, section| Place::At {
                rate,
                stage,
                section,
            };
            let delivers = match self.program.rate(cursor.spot.rate).kind {
                RateKind::Sub { .. } => {
                    let home = self.home(cursor.spot);
                    at(home.rate, home.stage, Section::Yield)
                }
                _ => at(cursor.rate, 0, Section::Bottom),
            };
            let after = tree.after(&self.program, cursor.rate);
            let Some(to) = after.and_then(|p| labels.get(&p)) else {
                continue;
            };
            for place in [delivers, at(cursor.rate, 0, Section::Done)] {
                let block = labels.get(&place).copied();
                if let Some(block) = block.and_then(|l| self.program.blocks.get_mut(l)) {
                    block.end = End::Goto(*to);
                }
            }
        }
    }

    /// Whether a cursor has a further element, for use behind it.
    pub fn live(&mut self, comb: CombId, rate: RateId) -> Var {
        let (yes, no): (Atom, Atom) = (Const::bool(true).into(), Const::bool(false).into());
        let live = self.scalar("live", comb, Ty::Bool);
        self.push(comb, Section::Init, StmtKind::Carry(live, yes));
        let kind = StmtKind::Assign(live, no);
        self.push_after(comb, Stmt { comb, kind });
        self.sequential(live, rate, yes, no);
        live
    }

    /// Carries the last value that a cursor delivered, for use behind it.
    pub fn delivered(&mut self, comb: CombId, rate: RateId, value: Atom) -> Var {
        let ty = self.program.atom_ty(value);
        let zero: Atom = Const::zero(ty).into();
        let val = self.scalar("val", comb, ty);
        self.push(comb, Section::Init, StmtKind::Carry(val, zero));
        self.update(comb, rate, val, value);
        self.sequential(val, rate, zero, value);
        val
    }

    fn sequential(&mut self, var: Var, step: RateId, start: Atom, next: Atom) {
        self.program.groups.push(Group {
            vars: vec![var],
            owner: self.owner(),
            step,
            start: vec![start],
            identity: vec![],
            next: vec![next],
            combine: None,
            level: 0,
            order: Order::Sequential,
        });
    }

    /// The smallest of some lengths, one more: a zip's attempts to get an element of every side.
    pub fn attempts(&mut self, comb: CombId, bound: Var, lens: &[Atom]) {
        let least = lens.iter().copied().reduce(|x, y| {
            self.emit(comb, Section::Init, "least", Op::Min, &[x, y])
                .into()
        });
        let args = Args::from_slice(&[least.unwrap_or(Const::u64(0).into()), Const::u64(1).into()]);
        self.push(comb, Section::Init, StmtKind::Let(bound, Op::Add, args));
    }
}
