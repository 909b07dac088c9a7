//! Values that cross between loops over the range, in buffers.
//!
//! A load at a step's place in a buffer must read a value of the same step. The walk follows one step through all loops
//! over the range. It knows the guards that hold on its path, and for each place the guards of the last store.
//!
//! Rules of loads:
//!
//! * A load needs a store before it whose guards all hold. A store elsewhere, under a mask, in an `else`, or in an
//!   inner loop says nothing of a place.
//! * A guard is a truth value that one statement defines.
//!
//! Rules of buffers that say no:
//!
//! * Where a store without guards says no, and one under guards follows, the buffer says no wherever these do not hold.
//!   A truth value that is loaded from there holds only where they hold, too.
//!
//! Other accesses of buffers, at literal places, are within one step.

use super::Faults;
use crate::ir::{Entry, Memory, Operand, Origin, Proof, Shape, Stmt, StmtKind, Tile, Value};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The most turns of a loop of literal bounds that are walked one by one. Lanes and unrolled steps are fewer.
const MOST_TURNS: u64 = 4096;

/// Guards that all hold, each with the number of its definition in this turn.
type Guards = BTreeSet<usize>;

/// Checks buffers between loops over the range.
pub(super) fn check<'a>(tile: &'a Tile, faults: &mut Faults<'a>) {
    let mut walk = StepWalk {
        tile,
        faults,
        places: FxHashMap::default(),
        guards: FxHashMap::default(),
        defined: 0,
        held: Guards::new(),
        stored: FxHashMap::default(),
        step: None,
        known: true,
    };
    walk.stmts(&tile.body);
    walk.faults.at = None;
}

/// An index that goes with the counter.
#[derive(Clone, Copy, PartialEq)]
enum StepPlace {
    Literal(u64),
    Counter(u64),
    /// The steps since the range's first one, plus an offset.
    Along(u64),
}

impl StepPlace {
    fn plus(self, more: u64) -> Option<StepPlace> {
        Some(match self {
            StepPlace::Literal(at) => StepPlace::Literal(at.checked_add(more)?),
            StepPlace::Counter(at) => StepPlace::Counter(at.checked_add(more)?),
            StepPlace::Along(at) => StepPlace::Along(at.checked_add(more)?),
        })
    }
}

/// The last store at a place.
#[derive(Clone)]
struct LastStore {
    lanes: u32,
    /// The guards that hold where it is done.
    under: Guards,
    /// Whether the place says no wherever they do not hold.
    else_no: bool,
    /// The guards that hold where a truth value loaded from there does.
    loaded: Option<Guards>,
    /// Whether it is the literal no.
    is_no: bool,
}

struct StepWalk<'f, 'a> {
    tile: &'a Tile,
    faults: &'f mut Faults<'a>,
    places: FxHashMap<Value, StepPlace>,
    /// The guards that hold wherever a truth value does.
    guards: FxHashMap<Value, Guards>,
    /// The number of definitions of truth values.
    defined: usize,
    /// The guards that hold here.
    held: Guards,
    stored: FxHashMap<(Value, u64), LastStore>,
    /// The step of the loops over the range so far.
    step: Option<u64>,
    /// Whether the guards of this path are all known, and it is walked as often as it is done.
    known: bool,
}

impl<'a> StepWalk<'_, 'a> {
    /// Recursion is bounded by the tile's depth.
    fn stmts(&mut self, stmts: &'a [Stmt]) {
        stmts.iter().for_each(|s| self.stmt(&s.kind));
    }

    fn stmt(&mut self, kind: &'a StmtKind) {
        self.faults.at = Some(kind);
        if let Some(to) = kind.target() {
            self.define(to);
        }
        match kind {
            StmtKind::Let { to, op, args } => {
                if let Some(place) = self.place_of(*op, args) {
                    self.places.insert(*to, place);
                }
            }
            StmtKind::Load {
                to,
                from: Memory::Buffer(buffer),
                at,
                proof,
                ..
            } if self.is_of_a_range(*proof) => self.load(*to, *buffer, *at),
            StmtKind::Store {
                into: Memory::Buffer(buffer),
                at,
                value,
                under,
                lanes,
                ..
            } => self.store((*buffer, *at), *value, *lanes, under.is_none()),
            StmtKind::Across { into, .. }
            | StmtKind::Compress {
                into: Memory::Buffer(into),
                ..
            } => self.stored.retain(|(b, _), _| b != into),
            StmtKind::If { cond, then, other } => {
                let held = self.held.clone();
                let known = self.known;
                match cond.value().and_then(|v| self.guards.get(&v)) {
                    Some(guards) => self.held.extend(guards),
                    None => self.known = false,
                }
                self.stmts(then);
                self.held = held;
                self.known = false;
                self.stmts(other);
                self.known = known;
            }
            StmtKind::For { .. } => self.turns(kind),
            kind => {
                let known = std::mem::replace(&mut self.known, false);
                kind.bodies().into_iter().for_each(|b| self.stmts(b));
                self.known = known;
            }
        }
    }

    /// Forgets a value of an earlier turn. A truth value that one statement defines is a guard.
    fn define(&mut self, v: Value) {
        self.places.remove(&v);
        self.guards.remove(&v);
        let data = self.tile.value(v);
        if data.origin == Origin::Let && data.shape == Shape::scalar(Ty::Bool) {
            self.guards.insert(v, Guards::from([self.defined]));
            self.defined += 1;
        }
    }

    fn turns(&mut self, kind: &'a StmtKind) {
        let StmtKind::For {
            counter,
            from,
            to,
            step,
            body,
            ..
        } = kind
        else {
            return;
        };
        match (from, to) {
            (Operand::Const(from), Operand::Const(to))
                if *step > 0 && to.bits.saturating_sub(from.bits) / step <= MOST_TURNS =>
            {
                for at in (from.bits..to.bits).step_by(*step as usize) {
                    self.places.insert(*counter, StepPlace::Literal(at));
                    self.stmts(body);
                }
            }
            _ if self.tile.is_range(kind) => {
                // Another step visits other places.
                if self.step.replace(*step) != Some(*step) {
                    self.stored.clear();
                }
                self.places.insert(*counter, StepPlace::Counter(0));
                self.stmts(body);
            }
            _ => {
                let known = std::mem::replace(&mut self.known, false);
                self.stmts(body);
                self.known = known;
            }
        }
    }

    fn is_of_a_range(&self, proof: Proof) -> bool {
        let Proof::Entry(entry) = proof else {
            return false;
        };
        matches!(self.tile.entries.get(entry), Some(Entry::Most(_)))
    }

    fn place(&self, a: Operand) -> Option<StepPlace> {
        match a {
            Operand::Const(c) => Some(StepPlace::Literal(c.bits)),
            Operand::Value(v) => self.places.get(&v).copied(),
        }
    }

    fn place_of(&self, op: Op, args: &[Operand]) -> Option<StepPlace> {
        match (op, args) {
            (Op::Add, [a, b]) => match (self.place(*a)?, self.place(*b)?) {
                (place, StepPlace::Literal(more)) | (StepPlace::Literal(more), place) => {
                    place.plus(more)
                }
                _ => None,
            },
            (Op::Sub, [a, Operand::Value(b)]) if self.tile.value(*b).origin == Origin::From => {
                match self.place(*a)? {
                    StepPlace::Counter(at) => Some(StepPlace::Along(at)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn load(&mut self, to: Value, buffer: Value, at: Operand) {
        let Some(StepPlace::Along(at)) = self.place(at) else {
            return self.faults.add("a buffer is read at no place of this step");
        };
        let lanes = self.tile.shape(to).lanes;
        let stored = self.stored.get(&(buffer, at)).filter(|s| s.lanes == lanes);
        let Some(stored) = stored.filter(|s| s.else_no || s.under.is_subset(&self.held)) else {
            let message = "a buffer is read where this step may not have stored";
            return self.faults.add(message);
        };
        if let (Some(loaded), Some(guards)) = (&stored.loaded, self.guards.get_mut(&to)) {
            guards.clone_from(loaded);
        }
    }

    /// Records a store. One that may not be done for each lane leaves nothing that is known.
    fn store(&mut self, (buffer, at): (Value, Operand), value: Operand, lanes: u32, whole: bool) {
        let Some(StepPlace::Along(at)) = self.place(at) else {
            return self.stored.retain(|(b, _), _| *b != buffer);
        };
        let before = self.stored.remove(&(buffer, at));
        let over = |(b, from): &(Value, u64), s: &LastStore| {
            *b == buffer
                && *from < at.saturating_add(lanes.into())
                && at < from.saturating_add(s.lanes.into())
        };
        self.stored.retain(|key, s| !over(key, s));
        if !whole || !self.known {
            return;
        }
        let was_no = before.is_some_and(|s| s.is_no && s.under.is_empty() && s.lanes == lanes);
        let else_no = was_no && !self.held.is_empty();
        let guards = value.value().and_then(|v| self.guards.get(&v));
        let loaded = guards.map(|guards| match else_no {
            true => guards | &self.held,
            false => guards.clone(),
        });
        let stored = LastStore {
            lanes,
            under: self.held.clone(),
            else_no,
            loaded,
            is_no: value == Operand::Const(Const::bool(false)),
        };
        self.stored.insert((buffer, at), stored);
    }
}
