//! Proofs: that what is not checked stays inside.
//!
//! A *place* is what is known of an index: a literal between two bounds, the counter of the loop over the tile's range
//! and a little, or a count and a little. The walk goes through each body once, or, between literals, as often as it turns,
//! and remembers by how much each count has gone up at most since the step began. Of what a body changes that may turn any
//! number of times, nothing is known in it or behind it; and what a turn over the range knows, the next one does not.
//!
//! Let the loop over the range take `s` steps at a time, which `b - a` is a multiple of.
//!
//! * At the counter, plus at most `h`, with `w` lanes: `h + w <= s`, and the entry says that the array has `end - from`
//!   elements from the counter's value at entry on.
//! * At a count that goes up by at most `s` in each turn, by `g` so far in this one: `g + h + w <= s`, and the entry says
//!   the same of the count. Then turn `t` writes below `count + t * s + s`.
//! * At how far the loop over the range has come, plus at most `h`: `h + w <= s`, the entry says that a range has at most `n`
//!   steps, and the memory has that many elements.
//! * In a segment, which takes `s` steps at a time, the same of its counter and rooms; and of a value with a room, further by
//!   the counter less where that began, as long as no step changes either. A tail has a mask, but for a room for whole turns:
//!   of the lanes that are before the segment's end, if they are `h` or more steps beyond the counter; and not in front of it, if
//!   turns may begin there and they are no more than `h` steps beyond.
//! * At a literal place `h`: `h + w` is at most the size of the memory.
//!
//! What is brought across from `n` lanes that are `d` apart, `k` elements of each, is an access of `(n - 1) * d + k` lanes.

use super::Faults;
use super::places::Place;
use super::segments::{Around, Fitted};
use crate::ir::{Entry, Memory, Operand, Origin, Proof, Stmt, StmtKind, Sum, Tile, Value, changed};
use loop_lang::Loop;
use loop_lang::ir::Order;
use rustc_hash::FxHashMap;

/// More turns than this, of loops in each other, are not followed.
const MAX_TURNS: u64 = 256;

/// Checks proofs, ranges and what is unrolled.
pub(super) fn check<'a>(tile: &'a Tile, program: &'a Loop, faults: &mut Faults<'a>) {
    let aligned = tile.entries.iter().filter_map(|e| match e {
        Entry::Aligned(n) => Some(*n),
        _ => None,
    });
    let mut walk = Walk {
        tile,
        program,
        faults,
        aligned: aligned.max().unwrap_or(1),
        places: FxHashMap::default(),
        sums: Vec::new(),
        gone: FxHashMap::default(),
        step: None,
        turns: 1,
        begun: None,
        segment: None,
        fitted: Vec::new(),
        undoable: false,
        rehearsed: false,
    };
    walk.know_given();
    walk.stmts(&tile.body);
}

pub(super) struct Walk<'f, 'a> {
    pub(super) tile: &'a Tile,
    pub(super) program: &'a Loop,
    pub(super) faults: &'f mut Faults<'a>,
    /// What the range's first counter is a multiple of.
    pub(super) aligned: u64,
    pub(super) places: FxHashMap<Value, Place>,
    /// The sums that places are, by their numbers.
    pub(super) sums: Vec<Sum>,
    /// By how much each count has gone up at most in this turn.
    pub(super) gone: FxHashMap<Value, u64>,
    /// What the loop over the range takes at a time, in it.
    pub(super) step: Option<u64>,
    /// How often loops between literals turn here.
    turns: u64,
    /// Where in the turn over the range the innermost turn has begun, as long as nothing carried has changed in it.
    pub(super) begun: Option<u64>,
    /// The segment around.
    pub(super) segment: Option<Around<'a>>,
    /// The segments that were gone through in this turn on the way here.
    pub(super) fitted: Vec<Fitted>,
    /// Whether the turn over the range may still be undone: nothing has changed in it that stays.
    pub(super) undoable: bool,
    /// Whether the segments here were rehearsed.
    pub(super) rehearsed: bool,
}

impl<'a> Walk<'_, 'a> {
    /// A count goes up, or is something else from here on.
    fn set(&mut self, to: Value, value: Operand) {
        self.unfit(&[to]);
        let Origin::State(_) = self.tile.value(to).origin else {
            return self.know(to, self.place(value));
        };
        let gone = match self.place(value) {
            Some(Place::Count { state, since, plus }) if state == to => since.checked_add(plus),
            _ => None,
        };
        self.gone.insert(to, gone.unwrap_or(u64::MAX));
    }

    pub(super) fn stmts(&mut self, stmts: &'a [Stmt]) {
        stmts.iter().for_each(|s| self.stmt(&s.kind));
    }

    fn stmt(&mut self, kind: &'a StmtKind) {
        self.faults.at = Some(kind);
        self.begun = (self.begun).filter(|_| !self.carries(kind) && self.begins_turn(kind));
        self.undoable &= !self.stays(kind);
        match kind {
            StmtKind::Let { to, op, args } => self.define(*to, *op, args),
            StmtKind::Count { to, of } => {
                let lanes = self.tile.operand_shape(*of).lanes;
                self.know(*to, Some(Place::Literal(0, u64::from(lanes))));
            }
            StmtKind::Set { to, value } => self.set(*to, *value),
            StmtKind::Load {
                to,
                from,
                at,
                under,
                proof,
            } => {
                let lanes = u64::from(self.tile.shape(*to).lanes);
                self.access((*from, *at), lanes, *proof, *under);
            }
            StmtKind::Across {
                array,
                at,
                lanes,
                apart,
                steps,
                proof,
                ..
            } => {
                let last = apart.checked_mul(u64::from(lanes.saturating_sub(1)));
                let all = last.and_then(|last| last.checked_add(u64::from(*steps)));
                let all = all.unwrap_or(u64::MAX);
                self.access((Memory::Array(*array), *at), all, *proof, None);
            }
            StmtKind::Store {
                into,
                at,
                under,
                lanes,
                proof,
                ..
            } => {
                self.access((*into, *at), u64::from(*lanes), *proof, *under);
                if let Memory::Register(r) = into {
                    self.unfit(&[*r]);
                    self.know(*r, None);
                }
            }
            StmtKind::Compress {
                array,
                at,
                under,
                proof,
                ..
            } => {
                let lanes = u64::from(self.tile.operand_shape(*under).lanes);
                self.access((Memory::Array(*array), *at), lanes, *proof, None);
            }
            StmtKind::Leave { at, .. } => self.leave(*at),
            StmtKind::Lane { of, at, .. } => {
                let lanes = self.tile.operand_shape(*of).lanes;
                self.lane(*at, lanes);
            }
            StmtKind::SetLane { to, at, .. } => {
                self.lane(*at, self.tile.shape(*to).lanes);
                self.unfit(&[*to]);
                self.know(*to, None);
            }
            StmtKind::For { .. } => self.turns(kind),
            StmtKind::Segment { .. } => self.segment(kind),
            StmtKind::Rehearse { body } => self.rehearse(body),
            StmtKind::If { then, other, .. } => {
                let before = (self.gone.clone(), self.places.clone());
                let (begun, fitted) = (self.begun, self.fitted.clone());
                let undoable = self.undoable;
                self.stmts(then);
                let undoable_after = std::mem::replace(&mut self.undoable, undoable);
                self.fitted.clone_from(&fitted);
                let after = std::mem::replace(&mut self.begun, begun);
                let gone = std::mem::replace(&mut self.gone, before.0);
                let mut places = std::mem::replace(&mut self.places, before.1);
                self.stmts(other);
                self.undoable &= undoable_after;
                self.fitted = fitted;
                self.unfit(&[changed(then), changed(other)].concat());
                self.begun = self.begun.and(after);
                self.at_most(gone);
                // Of a register that either arm sets, what holds of both.
                for (v, place) in std::mem::take(&mut self.places) {
                    let both = self.larger(Some(place), places.remove(&v));
                    self.places.extend(both.map(|both| (v, both)));
                }
            }
            StmtKind::While { test, body, .. } => {
                self.any_turns(&[test, body]);
            }
            StmtKind::Until { to, at, end } => self.until(*to, *at, *end),
            StmtKind::Positions { .. }
            | StmtKind::Beat { .. }
            | StmtKind::Gather { .. }
            | StmtKind::Put { .. }
            | StmtKind::Sort { .. }
            | StmtKind::Length { .. }
            | StmtKind::Any { .. }
            | StmtKind::Scan { .. }
            | StmtKind::Last { .. }
            | StmtKind::Slide { .. }
            | StmtKind::Reverse { .. }
            | StmtKind::Halves { .. }
            | StmtKind::Trap { .. } => {}
        }
    }

    /// What may be done any number of times: nothing is known of what it changes, in it or behind it.
    fn any_turns(&mut self, bodies: &[&'a [Stmt]]) {
        let changed: Vec<Value> = bodies.iter().flat_map(|b| changed(b)).collect();
        self.forget(&changed);
        if bodies.iter().any(|b| self.any_carries(b)) {
            (self.begun, self.undoable) = (None, false);
        }
        let fitted = std::mem::take(&mut self.fitted);
        bodies.iter().for_each(|b| self.stmts(b));
        self.fitted = fitted;
        self.unfit(&changed);
        self.forget(&changed);
    }

    /// Nothing is known of these from here on; of counts, not how far they went up.
    pub(super) fn forget(&mut self, values: &[Value]) {
        for v in values {
            self.places.remove(v);
            if let Origin::State(_) = self.tile.value(*v).origin {
                self.gone.insert(*v, u64::MAX);
            }
        }
    }

    fn at_most(&mut self, others: FxHashMap<Value, u64>) {
        for (v, gone) in others {
            let most = self.gone.entry(v).or_insert(0);
            *most = gone.max(*most);
        }
    }

    fn turns(&mut self, kind: &'a StmtKind) {
        let StmtKind::For {
            counter,
            from,
            to,
            step,
            unroll,
            body,
        } = kind
        else {
            return;
        };
        let range = self.tile.is_range(kind);
        match (from, to) {
            (Operand::Const(from), Operand::Const(to)) => {
                self.followed(*counter, (from.bits, to.bits, *step), body);
            }
            _ if *unroll => self.faults.add("what is unrolled has no literal bounds"),
            _ if range && self.step.is_none() => self.over_the_range(*counter, *step, body),
            _ if *step == 1 => {
                self.know(*counter, None);
                self.any_turns(&[body]);
            }
            _ => self
                .faults
                .add(format!("a loop by {step} may miss its end")),
        }
    }

    /// Turn by turn, between literals.
    fn followed(&mut self, counter: Value, (from, to, step): (u64, u64, u64), body: &'a [Stmt]) {
        let way = to.saturating_sub(from);
        let turns = way.checked_div(step).filter(|_| way.is_multiple_of(step));
        let all = turns.and_then(|n| self.turns.checked_mul(n.max(1)));
        let (Some(turns), Some(all)) = (turns, all.filter(|all| *all <= MAX_TURNS)) else {
            let message = format!("from {from} to {to} by {step} are no whole turns, or too many");
            return self.faults.add(message);
        };
        let around = std::mem::replace(&mut self.turns, all);
        let begun = self.begun;
        let mut same = true;
        let fitted = std::mem::take(&mut self.fitted);
        for turn in 0..turns {
            self.fitted.clear();
            let at = from + turn * step;
            self.know(counter, Some(Place::Literal(at, at)));
            self.begun = begun.map(|_| at);
            self.stmts(body);
            same &= self.begun.is_some();
        }
        self.fitted = fitted;
        self.unfit(&changed(body));
        self.begun = begun.filter(|_| same);
        self.turns = around;
    }

    /// The loop over the range.
    fn over_the_range(&mut self, counter: Value, step: u64, body: &'a [Stmt]) {
        if step == 0 || !self.tile.granule().is_multiple_of(step) {
            let message = format!("no entry says that the range is a multiple of {step}");
            return self.faults.add(message);
        }
        // Of what was set before, the entries know nothing.
        let unknown: Vec<Value> = self.gone.keys().copied().collect();
        let changed = changed(body);
        let faults = self.faults.all.len();
        self.step = Some(step);
        self.turn(counter, &unknown, &changed, body);
        // What is no count may be set to anything; then nothing may be at it.
        let lost: Vec<Value> = (self.gone.iter())
            .filter(|(_, gone)| **gone > step)
            .map(|(v, _)| *v)
            .collect();
        if lost.len() > unknown.len() {
            self.faults.all.truncate(faults);
            self.turn(counter, &lost, &changed, body);
        }
        self.step = None;
        self.forget(&changed);
    }

    /// A turn over the range, of which nothing else is known than that these went up by too much.
    fn turn(&mut self, counter: Value, unknown: &[Value], changed: &[Value], body: &'a [Stmt]) {
        changed.iter().for_each(|v| {
            self.places.remove(v);
        });
        self.gone = unknown.iter().map(|v| (*v, u64::MAX)).collect();
        self.places.insert(counter, Place::Counter(0, 0));
        (self.begun, self.undoable) = (Some(0), true);
        self.fitted.clear();
        self.stmts(body);
        (self.begun, self.undoable) = (None, false);
    }

    /// An access of so many elements.
    fn access(&mut self, at: (Memory, Operand), lanes: u64, proof: Proof, under: Option<Operand>) {
        if let Err(why) = self.holds(at, lanes, proof, under) {
            self.faults.add(why);
        }
    }

    fn holds(
        &self,
        (memory, at): (Memory, Operand),
        lanes: u64,
        proof: Proof,
        under: Option<Operand>,
    ) -> Result<(), &'static str> {
        let place = self.place(at).ok_or("nothing is known of the index")?;
        let within = |plus: u64, size: u64| plus.checked_add(lanes).is_some_and(|n| n <= size);
        match proof {
            Proof::Literal => {
                let Place::Literal(_, most) = place else {
                    return Err("the index is no literal");
                };
                let size = self.size(memory).ok_or("the memory's size is not known")?;
                within(most, size)
                    .then_some(())
                    .ok_or("it is beyond the end")
            }
            Proof::Entry(i) => {
                if let Some(Entry::Most(most)) = self.tile.entries.get(i) {
                    return self.along(place, (lanes, *most), memory);
                }
                let Memory::Array(array) = memory else {
                    return Err("entries speak of arrays");
                };
                let Some(Entry::Room { array: of, index }) = self.tile.entries.get(i) else {
                    return Err("the entry speaks of no room");
                };
                let step = self.step.ok_or("it is outside of the range")?;
                let sum = matches!(place, Place::Near(..)) || index.single().is_none();
                if sum && *of == array {
                    return self.near_entry(index, place, (lanes, step));
                }
                let (of_index, plus) = match place {
                    Place::Literal(..) => return Err("the index is a literal"),
                    Place::Near(..) => return Err("the index is a sum"),
                    Place::Along(..) => return Err("the index begins with the range"),
                    Place::Counter(_, plus) => (Some(self.tile.counter), plus),
                    Place::Within(..)
                    | Place::Come(..)
                    | Place::Left
                    | Place::Begin
                    | Place::Before
                    | Place::Beyond(..) => {
                        return Err("the index goes with a segment");
                    }
                    Place::Count { .. } if self.segment.is_some() => {
                        return Err("in a segment a count goes up more than once in a turn");
                    }
                    Place::Count { state, since, plus } => match self.tile.value(state).origin {
                        Origin::State(v) => (Some(v), since.saturating_add(plus)),
                        _ => (None, plus),
                    },
                };
                if (*of, index.single()) != (array, of_index) || of_index.is_none() {
                    return Err("the entry speaks of another array or index");
                }
                if matches!(place, Place::Count { since, .. } if since > step) {
                    return Err("the count goes up by too much, or is set to something else");
                }
                within(plus, step)
                    .then_some(())
                    .ok_or("it is beyond the steps that are taken at a time")
            }
            Proof::Room(i) => {
                let around = self.segment.as_ref().ok_or("it is in no segment")?;
                let room = around.rooms.get(i);
                let (array, index) = room.ok_or("the segment has no such room")?;
                let (of_index, low, plus) = match place {
                    Place::Within(low, plus) => (around.from, low, plus),
                    Place::Beyond(of, low, plus) => (of.into(), low, plus),
                    Place::Count { state, since, plus } => {
                        (state.into(), 0, since.saturating_add(plus))
                    }
                    _ => return Err("the index does not go with the segment"),
                };
                if (Memory::Array(*array), *index) != (memory, of_index) {
                    return Err("the room is that of another array or index");
                }
                if !around.has_steps(self.tile, *index, (low, plus), under) {
                    return Err("nothing keeps a tail to the steps that there are");
                }
                within(plus, around.step)
                    .then_some(())
                    .ok_or("it is beyond the steps that the segment takes at a time")
            }
        }
    }

    /// A lane is one of so many.
    fn lane(&mut self, at: Operand, lanes: u32) {
        let inside = matches!(self.place(at), Some(Place::Literal(_, most)) if most < lanes.into());
        if !inside {
            self.faults
                .add(format!("a lane beyond the {lanes} that there are"));
        }
    }

    /// Whether an access goes with the range, of at most so many steps, in memory for all of them.
    fn along(
        &self,
        place: Place,
        (lanes, most): (u64, u64),
        memory: Memory,
    ) -> Result<(), &'static str> {
        let Place::Along(_, plus) = place else {
            return Err("the index does not begin with the range");
        };
        if self.size(memory).is_none_or(|size| size < most) {
            return Err("the memory has no room for all steps of a range");
        }
        let step = self.step.ok_or("it is outside of the range")?;
        match plus.checked_add(lanes) {
            Some(end) if end <= step => Ok(()),
            _ => Err("it is beyond the steps that are taken at a time"),
        }
    }

    /// Whether an access is within so many steps from the index of an entry on, or down from it.
    fn near_entry(
        &self,
        index: &Sum,
        place: Place,
        (lanes, step): (u64, u64),
    ) -> Result<(), &'static str> {
        let apart = "the entry speaks of another array or index";
        let (sum, low, high) = self.near(place).ok_or(apart)?;
        let terms = Sum {
            plus: 0,
            ..index.clone()
        };
        if sum != terms {
            return Err(apart);
        }
        // What is added to the entry's index.
        let less = |x: i64| x.checked_sub(index.plus as i64);
        let lanes = i64::try_from(lanes).unwrap_or(i64::MAX);
        let last = (high.checked_add(lanes)).and_then(|end| less(end)?.checked_sub(1));
        let (Some(first), Some(last), Ok(most)) = (less(low), last, i64::try_from(step)) else {
            return Err("it is beyond the steps that are taken at a time");
        };
        let within = match index.times(self.tile.counter) {
            1 => first >= 0 && last < most,
            -1 => first > -most && last <= 0,
            _ => return Err("the entry's index does not go with the counter"),
        };
        within
            .then_some(())
            .ok_or("it is beyond the steps that are taken at a time")
    }

    /// How many elements memory has whose size the loop says.
    fn size(&self, memory: Memory) -> Option<u64> {
        let v = match memory {
            Memory::Lanes(v) | Memory::Tree(v) => v,
            Memory::Register(v) | Memory::Buffer(v) => {
                return Some(u64::from(self.tile.shape(v).lanes));
            }
            Memory::Array(_) => return None,
        };
        let order = self.program.groups[self.program.group_of(v)?.index()].order;
        let size = match (memory, order) {
            (Memory::Tree(_), Order::Prefix(l)) => l.trailing_zeros(),
            (Memory::Lanes(_), order) => order.lanes()?,
            _ => return None,
        };
        Some(u64::from(size))
    }
}
