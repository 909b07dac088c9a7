//! Bounds proofs: unchecked accesses stay in bounds.
//!
//! A *place* describes an index: a range of literals, the range loop's counter plus an offset, or a
//! count plus an offset. The walk visits each body once. Loops with literal bounds are walked
//! iteration by iteration. The walk tracks the maximum increase of each count since the step began.
//! For loops with unknown trip counts, it forgets all values that the body changes. It also forgets
//! facts between iterations of the range loop.
//!
//! Let the range loop take `s` steps per iteration; `b - a` is a multiple of `s`.
//!
//! * Index counter plus at most `h`, with `w` lanes: requires `h + w <= s`. The entry guarantees
//!   that the array has `end - from` elements from the counter's entry value on.
//!
//! * Index at a count that grows by at most `s` per iteration, and by `g` so far in this one:
//!   requires `g + h + w <= s`. The entry guarantees the same for the count. Iteration `t` then
//!   writes below `count + t * s + s`.
//!
//! * Index relative to the begin of the range, plus at most `h`: requires `h + w <= s`. The entry
//!   limits a range to `n` steps, and the memory has at least that many elements.
//!
//! * In a segment with `s` steps per iteration, the same holds for its counter and capacity checks.
//!   It also holds for a checked value plus the segment's progress (counter minus begin), if no
//!   step changes either.
//!
//! * An epilogue needs a mask, unless its capacity check covers whole iterations. The mask must
//!   exclude lanes after the segment's end, computed for an offset of at least `h`. If iterations
//!   may begin before the segment, it must also exclude lanes before the begin, computed for an
//!   offset of at most `h`.
//!
//! * Index at a literal `h`: requires that `h + w` is at most the memory's size. A count of set
//!   lanes is a literal of at most all lanes, and so is a counter below it.
//!
//! A transposing copy from `n` lanes at distance `d`, with `k` elements each, counts as an access
//! of `(n - 1) * d + k` lanes.

use super::Faults;
use super::places::Place;
use super::segments::{Around, Fitted};
use crate::ir::{Entry, Memory, Operand, Origin, Proof, Stmt, StmtKind, Sum, Tile, Value, changed};
use loop_lang::Loop;
use loop_lang::ir::Order;
use rustc_hash::FxHashMap;

/// The maximum number of iterations of nested literal loops that are walked.
const MAX_TURNS: u64 = 256;

/// Checks proofs, ranges and unrolled loops.
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
        can_roll_back: false,
        dry_run_passed: false,
    };
    walk.know_given();
    walk.stmts(&tile.body);
}

pub(super) struct Walk<'f, 'a> {
    pub(super) tile: &'a Tile,
    pub(super) program: &'a Loop,
    pub(super) faults: &'f mut Faults<'a>,
    /// The known alignment of the range's first counter.
    pub(super) aligned: u64,
    pub(super) places: FxHashMap<Value, Place>,
    /// The sums of places, by index.
    pub(super) sums: Vec<Sum>,
    /// The maximum increase of each count in this iteration.
    pub(super) gone: FxHashMap<Value, u64>,
    /// The step of the range loop, inside it.
    pub(super) step: Option<u64>,
    /// The product of trip counts of the enclosing literal loops.
    turns: u64,
    /// The offset at which the innermost iteration began, while no state has changed in it.
    pub(super) begun: Option<u64>,
    /// The enclosing segment.
    pub(super) segment: Option<Around<'a>>,
    /// The segments already executed in this iteration on the current path.
    pub(super) fitted: Vec<Fitted>,
    /// Whether the range loop's iteration can still be rolled back: it has had no lasting effect.
    pub(super) can_roll_back: bool,
    /// Whether a dry run of the segments here has succeeded.
    pub(super) dry_run_passed: bool,
}

impl<'a> Walk<'_, 'a> {
    /// Records that a count increases or takes an unrelated value.
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
        self.can_roll_back &= !self.stays(kind);
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
                into,
                at,
                under,
                proof,
                ..
            } => {
                let lanes = u64::from(self.tile.operand_shape(*under).lanes);
                self.access((*into, *at), lanes, *proof, None);
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
            StmtKind::DryRun { body } => self.dry_run(body),
            StmtKind::If { then, other, .. } => {
                let before = (self.gone.clone(), self.places.clone());
                let (begun, fitted) = (self.begun, self.fitted.clone());
                let can_roll_back = self.can_roll_back;
                self.stmts(then);
                let can_roll_back_after = std::mem::replace(&mut self.can_roll_back, can_roll_back);
                self.fitted.clone_from(&fitted);
                let after = std::mem::replace(&mut self.begun, begun);
                let gone = std::mem::replace(&mut self.gone, before.0);
                let mut places = std::mem::replace(&mut self.places, before.1);
                self.stmts(other);
                self.can_roll_back &= can_roll_back_after;
                self.fitted = fitted;
                self.unfit(&[changed(then), changed(other)].concat());
                self.begun = self.begun.and(after);
                self.at_most(gone);
                // After an `if`, a place must hold for both arms.
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

    /// Walks bodies with unknown trip counts. Values that they change are unknown inside and after.
    fn any_turns(&mut self, bodies: &[&'a [Stmt]]) {
        let changed: Vec<Value> = bodies.iter().flat_map(|b| changed(b)).collect();
        self.forget(&changed);
        if bodies.iter().any(|b| self.any_carries(b)) {
            (self.begun, self.can_roll_back) = (None, false);
        }
        let fitted = std::mem::take(&mut self.fitted);
        bodies.iter().for_each(|b| self.stmts(b));
        self.fitted = fitted;
        self.unfit(&changed);
        self.forget(&changed);
    }

    /// Forgets the given values; a count's increase becomes unbounded.
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
                self.know(*counter, self.below(*from, *to));
                self.any_turns(&[body]);
            }
            _ => self
                .faults
                .add(format!("a loop by {step} may miss its end")),
        }
    }

    /// The counters of a loop by 1, if its bounds are known.
    fn below(&self, from: Operand, to: Operand) -> Option<Place> {
        match (self.place(from)?, self.place(to)?) {
            (Place::Literal(first, _), Place::Literal(_, end)) => {
                Some(Place::Literal(first, end.saturating_sub(1).max(first)))
            }
            _ => None,
        }
    }

    /// Walks a literal loop iteration by iteration.
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

    /// Walks the range loop.
    fn over_the_range(&mut self, counter: Value, step: u64, body: &'a [Stmt]) {
        if step == 0 || !self.tile.granule().is_multiple_of(step) {
            let message = format!("no entry says that the range is a multiple of {step}");
            return self.faults.add(message);
        }
        // Entries do not cover values that changed before the loop.
        let unknown: Vec<Value> = self.gone.keys().copied().collect();
        let changed = changed(body);
        let faults = self.faults.all.len();
        self.step = Some(step);
        self.turn(counter, &unknown, &changed, body);
        // A value that is no count may be set to anything, but then no proof may rely on it.
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

    /// Walks an iteration of the range loop, given the counts with unbounded increase.
    fn turn(&mut self, counter: Value, unknown: &[Value], changed: &[Value], body: &'a [Stmt]) {
        changed.iter().for_each(|v| {
            self.places.remove(v);
        });
        self.gone = unknown.iter().map(|v| (*v, u64::MAX)).collect();
        self.places.insert(counter, Place::Counter(0, 0));
        (self.begun, self.can_roll_back) = (Some(0), true);
        self.fitted.clear();
        self.stmts(body);
        (self.begun, self.can_roll_back) = (None, false);
    }

    /// Checks an access with the given number of lanes.
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
                let Some(Entry::Capacity { array: of, index }) = self.tile.entries.get(i) else {
                    return Err("the entry speaks of no capacity");
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
            Proof::Capacity(i) => {
                let around = self.segment.as_ref().ok_or("it is in no segment")?;
                let capacity = around.capacities.get(i);
                let (array, index) = capacity.ok_or("the segment has no such capacity")?;
                let (of_index, low, plus) = match place {
                    Place::Within(low, plus) => (around.from, low, plus),
                    Place::Beyond(of, low, plus) => (of.into(), low, plus),
                    Place::Count { state, since, plus } => {
                        (state.into(), 0, since.saturating_add(plus))
                    }
                    _ => return Err("the index does not go with the segment"),
                };
                if (Memory::Array(*array), *index) != (memory, of_index) {
                    return Err("the capacity is that of another array or index");
                }
                if !around.has_steps(self.tile, *index, (low, plus), under) {
                    return Err("nothing keeps an epilogue to the steps that there are");
                }
                within(plus, around.step)
                    .then_some(())
                    .ok_or("it is beyond the steps that the segment takes at a time")
            }
        }
    }

    /// Checks a lane number.
    fn lane(&mut self, at: Operand, lanes: u32) {
        let inside = matches!(self.place(at), Some(Place::Literal(_, most)) if most < lanes.into());
        if !inside {
            self.faults
                .add(format!("a lane beyond the {lanes} that there are"));
        }
    }

    /// Checks an access relative to the begin of the range. `most` limits the range's steps.
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
            return Err("the memory has no capacity for all steps of a range");
        }
        let step = self.step.ok_or("it is outside of the range")?;
        match plus.checked_add(lanes) {
            Some(end) if end <= step => Ok(()),
            _ => Err("it is beyond the steps that are taken at a time"),
        }
    }

    /// Checks that an access is within one iteration's steps of an entry's index, upwards or
    /// downwards.
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
        // Offset from the entry's index.
        let less = |x: i64| x.checked_sub(index.plus as i64);
        let lanes = i64::try_from(lanes).unwrap_or(i64::MAX);
        let last = (high.checked_add(lanes)).and_then(|end| less(end)?.checked_sub(1));
        let (Some(first), Some(last), Ok(most)) = (less(low), last, i64::try_from(step)) else {
            return Err("it is beyond the steps that are taken at a time");
        };
        // The counter goes up, so an index at the counter plus an offset is no array's before it.
        let up = first >= 0 || matches!(place, Place::Counter(..));
        let within = match index.times(self.tile.counter) {
            1 => up && last < most,
            -1 => first > -most && last <= 0,
            _ => return Err("the entry's index does not go with the counter"),
        };
        within
            .then_some(())
            .ok_or("it is beyond the steps that are taken at a time")
    }

    /// Returns the size of memory, if the loop fixes it.
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
