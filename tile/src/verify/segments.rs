//! Segments, and where a tile may be left.
//!
//! A segment is a range of its own, and its rooms are entries that are asked where it begins, for its steps: what the tail
//! accesses is under a mask of those that are there, also where turns begin at multiples of their steps, and so in front of
//! the segment. Some are asked for whole turns ([`Tile::asks_whole_turns`]), and need none. The turn around is undone where it
//! does not fit: that is state, so no lanes have changed before it, and nothing was joined onto elements. Steps of a segment may have segments in them; these undo the
//! same turn.
//!
//! What is rehearsed is in such a turn, and in no segment. What changes in it is nothing that a rehearsal looks at; its
//! segments have fitted by then, and behind it nothing is undone.
//!
//! One that is gone through again fits, if it did before in this turn and nothing that it depends on has changed since.
//!
//! A segment of steps one by one may be left at its counter, wherever in a step that is: the turn around goes on. One of
//! several steps in a turn is left at the turn's counter to a rest that takes its steps: before anything is done in it beside
//! defining values. In the rest, as in steps one by one, counts have gone up by no more than the steps that were taken.
//!
//! A tile is left within its range only at the first counter of a turn (over the range, or of the loop between literals that
//! is within that), before anything that is carried has changed in it: then the frame is what it is at the guard.

use super::Faults;
use super::bounds::Walk;
use super::places::Place;
use crate::ir::{
    Memory, Operand, Origin, Stmt, StmtKind, Tile, Value, changed, each_stmt, rehearsal,
};
use loop_lang::ir::Var;
use loop_lang::op::Op;
use rustc_hash::FxHashMap;

/// A segment: where it begins, what it takes at a time, and its rooms.
pub(super) struct Around<'a> {
    pub(super) from: Operand,
    to: Operand,
    pub(super) step: u64,
    /// Whether turns begin at multiples of these steps.
    pub(super) aligned: bool,
    pub(super) rooms: &'a [(Var, Operand)],
    /// Whether this is a turn that may not have all of its steps.
    is_tail: bool,
    /// What masks tell of the steps that are there.
    told: FxHashMap<Value, Told>,
    /// What its steps change.
    changed: Vec<Value>,
}

impl Around<'_> {
    /// Whether a value is in each step what it was where the segment began.
    pub(super) fn leaves(&self, a: Operand) -> bool {
        a.value().is_none_or(|v| !self.changed.contains(&v))
    }

    /// Whether it is where the segment ends.
    pub(super) fn is_end(&self, a: Operand) -> bool {
        self.to == a && self.leaves(a)
    }

    /// What a mask tells.
    fn tells_of(&self, mask: Operand) -> Told {
        let told = mask.value().and_then(|v| self.told.get(&v));
        told.copied().unwrap_or_default()
    }

    /// A mask, and what it tells.
    pub(super) fn tells(&mut self, mask: Value, told: Told) {
        self.told.insert(mask, told);
    }

    /// What an operator's value tells if it is a mask.
    pub(super) fn told(&self, op: Op, args: &[Operand]) -> Told {
        match (op, args) {
            (Op::And, [a, b]) => {
                let (a, b) = (self.tells_of(*a), self.tells_of(*b));
                let least = |a: Option<u64>, b: Option<u64>| match (a, b) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
                Told {
                    ends: a.ends.max(b.ends),
                    begins: least(a.begins, b.begins),
                    before: None,
                }
            }
            (Op::Not, [a]) => Told {
                begins: self.tells_of(*a).before,
                ..Told::default()
            },
            _ => Told::default(),
        }
    }

    /// Whether an access of a turn, from so far to so far beyond its counter, is to steps that are there, or to room for whole
    /// turns.
    pub(super) fn has_steps(
        &self,
        tile: &Tile,
        room: Operand,
        (low, high): (u64, u64),
        mask: Option<Operand>,
    ) -> bool {
        if !self.is_tail || tile.asks_whole_turns(self.from, room) {
            return true;
        }
        let told = mask.map_or(Told::default(), |mask| self.tells_of(mask));
        let ends = told.ends.is_some_and(|ends| high <= ends);
        ends && (!self.aligned || told.begins.is_some_and(|begins| low >= begins))
    }
}

/// What a mask tells: in which of a segment's steps it is set, where lane `k` is that of a step so much and `k` beyond the
/// turn's counter.
#[derive(Clone, Copy, Default)]
pub(super) struct Told {
    /// Only in those that are before the end.
    pub(super) ends: Option<u64>,
    /// Only in those that are not in front of the segment.
    pub(super) begins: Option<u64>,
    /// In all that are in front of it.
    pub(super) before: Option<u64>,
}

/// A segment that was gone through in this turn.
#[derive(Clone)]
pub(super) struct Fitted {
    from: Operand,
    to: Operand,
    step: u64,
    once: bool,
    rooms: Vec<(Var, Operand)>,
}

impl<'a> Walk<'_, 'a> {
    /// A tile is left, or a segment.
    pub(super) fn leave(&mut self, at: Operand) {
        let at = self.place(at);
        if let Some(around) = &self.segment {
            let begins = around.step == 1 || self.begun.is_some();
            if at != Some(Place::Within(0, 0)) || !begins {
                let message = "a segment is left elsewhere than where a step begins";
                self.faults.add(message);
            }
            return;
        }
        let within = |begun: &u64| self.step.is_some_and(|step| *begun < step);
        match self.begun.filter(within) {
            Some(begun) if at == Some(Place::Counter(begun, begun)) => {}
            _ => {
                let message = "the tile is left elsewhere than where a turn begins";
                self.faults.add(message);
            }
        }
    }

    /// A segment: a range of its own, which its rooms speak of.
    pub(super) fn segment(&mut self, kind: &'a StmtKind) {
        let StmtKind::Segment {
            counter,
            from,
            to,
            step,
            aligned,
            once,
            again,
            rooms,
            body,
            tail,
            rest,
        } = kind
        else {
            return;
        };
        let counts = |(_, index): &(Var, Operand)| self.tile.asks_whole_turns(*from, *index);
        if *aligned && (*step == 1 || rooms.iter().any(counts)) {
            let message = "aligned turns have several steps, and no room at a count";
            return self.faults.add(message);
        }
        if *once && (*step == 1 || *aligned || !body.is_empty() || !rest.is_empty()) {
            let message = "a segment of one turn has its steps in the tail";
            return self.faults.add(message);
        }
        let (counter, from, step) = (*counter, *from, *step);
        if !step.is_power_of_two() || step == 1 && !(tail.is_empty() && rest.is_empty()) {
            let message = "a segment goes by a power of two, and has a tail and a rest only if that is more than one";
            return self.faults.add(message);
        }
        if step > 1 && rest.is_empty() && (leaves(body) || leaves(tail)) {
            let message = "a segment in vectors is left to a rest";
            return self.faults.add(message);
        }
        let stays = |b: &&Vec<Stmt>| self.any_stays(b);
        self.undoable &= ![body, tail, rest].iter().any(stays) || !has_segments(body);
        let fits = self.undoable || self.rehearsed;
        match (self.step, &self.segment) {
            (Some(_), None | Some(Around { step: 1, .. })) if *again => self.went_through(kind),
            (Some(_), None | Some(Around { step: 1, .. })) if fits => {}
            (Some(_), None | Some(Around { step: 1, .. })) => {
                let message = "lanes or elements have changed, which is not undone";
                return self.faults.add(message);
            }
            _ => {
                let message = "a segment is in a turn over the range, and in no segment in vectors";
                return self.faults.add(message);
            }
        }
        let changed = [changed(body), changed(tail), changed(rest)].concat();
        let outer = self.segment.replace(Around {
            from,
            to: *to,
            step,
            aligned: *aligned,
            rooms,
            is_tail: false,
            told: FxHashMap::default(),
            changed: changed.clone(),
        });
        let around = (std::mem::take(&mut self.gone), self.places.clone());
        // Rooms speak of counts as they are here.
        let speaks = |p: &Place| match p {
            Place::Count { .. }
            | Place::Within(..)
            | Place::Come(..)
            | Place::Left
            | Place::Begin
            | Place::Before
            | Place::Beyond(..) => true,
            Place::Literal(..) | Place::Counter(..) | Place::Along(..) | Place::Near(..) => false,
        };
        self.places.retain(|_, p| !speaks(p));
        let faults = self.faults.all.len();
        let mut lost: Vec<Value> = Vec::new();
        let bodies = [(body, step, false), (tail, step, true), (rest, 1, false)];
        for (body, step, is_tail) in bodies {
            self.turn_of_segment((counter, step, is_tail), &[], &changed, body);
            let gone = self.gone.iter().filter(|(_, gone)| **gone > step);
            lost.extend(gone.map(|(v, _)| *v));
        }
        if !lost.is_empty() {
            self.faults.all.truncate(faults);
            for (body, step, is_tail) in bodies {
                self.turn_of_segment((counter, step, is_tail), &lost, &changed, body);
            }
        }
        self.segment = outer;
        (self.gone, self.places) = around;
        self.forget(&changed);
        if !again {
            let rooms = rooms.clone();
            let to = *to;
            self.fitted.push(Fitted {
                from,
                to,
                step,
                once: *once,
                rooms,
            });
        }
        self.unfit(&changed);
    }

    /// What is done once its segments are known to fit.
    pub(super) fn rehearse(&mut self, body: &'a [Stmt]) {
        if self.step.is_none() || self.segment.is_some() || !self.undoable {
            let message = "what is rehearsed is in a turn over the range that may be undone, and in no segment";
            return self.faults.add(message);
        }
        if let Err(why) = rehearsal(self.tile, body) {
            return self.faults.add(why);
        }
        self.rehearsed = true;
        self.stmts(body);
        (self.rehearsed, self.undoable) = (false, false);
    }

    /// A segment is gone through again: one with its range and turns, and all of its rooms, was before.
    fn went_through(&mut self, kind: &StmtKind) {
        let StmtKind::Segment {
            from,
            to,
            step,
            once,
            rooms,
            ..
        } = kind
        else {
            return;
        };
        // How it goes counts where there was to be room for whole turns.
        let whole = |room: &(Var, Operand)| self.tile.asks_whole_turns(*from, room.1);
        let had = |f: &Fitted| {
            let all = rooms.iter().all(|room| f.rooms.contains(room));
            let same = f.step == *step || !rooms.iter().any(whole);
            (f.from, f.to, f.once) == (*from, *to, *once) && same && all
        };
        if !self.fitted.iter().any(had) {
            let message = "no segment with this range and these rooms was gone through before";
            self.faults.add(message);
        }
    }

    /// What these are is another thing from here on: of segments that begin or end there, or rooms from there on, nobody knows
    /// whether they would fit.
    pub(super) fn unfit(&mut self, changed: &[Value]) {
        let is_new = |a: &Operand| a.value().is_some_and(|v| changed.contains(&v));
        self.fitted.retain(|f| !is_new(&f.from) && !is_new(&f.to));
        for f in &mut self.fitted {
            f.rooms.retain(|(_, index)| !is_new(index));
        }
    }

    /// A turn of a segment, of which nothing else is known than that these went up by too much.
    fn turn_of_segment(
        &mut self,
        (counter, step, is_tail): (Value, u64, bool),
        lost: &[Value],
        changed: &[Value],
        body: &'a [Stmt],
    ) {
        if let Some(around) = &mut self.segment {
            (around.step, around.is_tail) = (step, is_tail);
            around.told.clear();
        }
        changed.iter().for_each(|v| {
            self.places.remove(v);
        });
        self.gone = lost.iter().map(|v| (*v, u64::MAX)).collect();
        self.know(counter, Some(Place::Within(0, 0)));
        let fitted = self.fitted.clone();
        self.unfit(changed);
        self.begun = (step > 1).then_some(0);
        self.stmts(body);
        self.begun = None;
        self.fitted = fitted;
    }

    /// Whether a statement of a turn of a segment does anything beside defining a value: before it the turn may be left.
    pub(super) fn begins_turn(&self, kind: &StmtKind) -> bool {
        let defines = match kind {
            StmtKind::Set { .. } | StmtKind::SetLane { .. } => false,
            StmtKind::Leave { .. } => true,
            kind => kind.target().is_some() && kind.bodies().is_empty(),
        };
        defines || self.segment.as_ref().is_none_or(|around| around.step == 1)
    }

    /// Whether a statement changes what is carried, its bodies aside.
    pub(super) fn carries(&self, kind: &StmtKind) -> bool {
        let state = |v: &Value| matches!(self.tile.value(*v).origin, Origin::State(_));
        match kind {
            StmtKind::Set { to, .. } => state(to),
            // Its steps have been taken.
            StmtKind::Segment { .. } => true,
            kind => self.stays(kind),
        }
    }

    /// Whether a statement joins onto elements, or changes lanes in the frame that are more than a segment's: these begin anew.
    pub(super) fn stays(&self, kind: &StmtKind) -> bool {
        let into = match kind {
            StmtKind::Store { into, .. } => into,
            StmtKind::Put { by, .. } => return by.is_some(),
            _ => return false,
        };
        let group = match into {
            Memory::Array(_) | Memory::Register(_) | Memory::Buffer(_) => return false,
            Memory::Lanes(v) | Memory::Tree(v) => self.program.group_of(*v),
        };
        group.is_none_or(|g| {
            let owner = self.program.groups[g.index()].owner;
            self.program.is_within(self.tile.rate, owner)
        })
    }

    /// The same of statements and all that is in them.
    fn any_stays(&self, stmts: &[Stmt]) -> bool {
        let mut any = false;
        each_stmt(stmts, &mut |s| any |= self.stays(&s.kind));
        any
    }

    /// Whether statements change what is carried, or what is in them does.
    pub(super) fn any_carries(&self, stmts: &[Stmt]) -> bool {
        stmts.iter().any(|s| {
            let inner = s.kind.bodies().into_iter();
            self.carries(&s.kind) || inner.into_iter().any(|b| self.any_carries(b))
        })
    }
}

/// Whether there are segments in statements.
fn has_segments(stmts: &[Stmt]) -> bool {
    let mut has = false;
    each_stmt(stmts, &mut |s| {
        has |= matches!(s.kind, StmtKind::Segment { .. })
    });
    has
}

/// Whether statements leave what they are in.
fn leaves(stmts: &[Stmt]) -> bool {
    let mut leaves = false;
    each_stmt(stmts, &mut |s| {
        leaves |= matches!(s.kind, StmtKind::Leave { .. })
    });
    leaves
}

/// Checks that where a tile is left says all.
pub(super) fn check(tile: &Tile, faults: &mut Faults<'_>) {
    let mut ranges = 0;
    tile.each_stmt(&mut |s| ranges += usize::from(tile.is_range(&s.kind)));
    if tile.leaves() && ranges != 1 {
        faults.add("a tile that may be left goes over its range once");
    }
}
