//! Segments and exits of tiles.
//!
//! A segment is a range of its own. Its capacity checks are entry conditions at its begin, for its
//! steps. Accesses in the epilogue are masked to the segment's steps. If iterations begin at
//! multiples of their steps, the mask also excludes lanes before the segment's begin. Accesses
//! under a check for whole iterations ([`Tile::asks_whole_turns`]) need no mask.
//!
//! If a segment does not fit, the enclosing iteration is rolled back. Only state is restored, so no
//! lanes may change and no scatter may combine before the segment. Steps of a segment may contain
//! segments; these roll back the same iteration.
//!
//! A dry run is in such an iteration, outside any segment. Its body must not change values that the
//! dry run reads. Afterwards its segments have fitted, and no rollback follows.
//!
//! A repeated segment fits if it fitted before in this iteration and none of its operands has
//! changed since.
//!
//! A segment with single steps may exit at its counter anywhere in a step; the enclosing iteration
//! continues. A segment with several steps per iteration exits at the iteration's counter, and a
//! scalar epilogue takes its steps. So the exit must precede all effects except definitions. In the
//! epilogue, as with single steps, counts have grown by at most the number of steps taken.
//!
//! A tile exits its range only at the first counter of an iteration. This is an iteration of the
//! range loop, or of a literal loop inside it. No state may have changed in that iteration, so the
//! frame has its contents at the guard.

use super::Faults;
use super::bounds::Walk;
use super::places::Place;
use crate::ir::{
    Memory, Operand, Origin, Stmt, StmtKind, Tile, Value, changed, dry_run, each_stmt,
};
use loop_lang::ir::Var;
use loop_lang::op::Op;
use rustc_hash::FxHashMap;

/// Describes an enclosing segment: its begin, its step, and its capacity checks.
pub(super) struct Around<'a> {
    pub(super) from: Operand,
    to: Operand,
    pub(super) step: u64,
    /// Whether iterations begin at multiples of the step.
    pub(super) aligned: bool,
    pub(super) capacities: &'a [(Var, Operand)],
    /// Whether this iteration may lack some steps.
    is_epilogue: bool,
    /// The facts about masks of existing steps.
    masks: FxHashMap<Value, MaskBounds>,
    /// Values that its steps change.
    changed: Vec<Value>,
}

impl Around<'_> {
    /// Tells whether a value is unchanged since the segment began.
    pub(super) fn leaves(&self, a: Operand) -> bool {
        a.value().is_none_or(|v| !self.changed.contains(&v))
    }

    /// Tells whether a value is the segment's end.
    pub(super) fn is_end(&self, a: Operand) -> bool {
        self.to == a && self.leaves(a)
    }

    /// Returns the facts about a mask.
    fn bounds_of(&self, mask: Operand) -> MaskBounds {
        let bounds = mask.value().and_then(|v| self.masks.get(&v));
        bounds.copied().unwrap_or_default()
    }

    /// Records the facts about a mask.
    pub(super) fn record_mask(&mut self, mask: Value, bounds: MaskBounds) {
        self.masks.insert(mask, bounds);
    }

    /// Returns the facts about an operator's result, if it is a mask.
    pub(super) fn result_bounds(&self, op: Op, args: &[Operand]) -> MaskBounds {
        match (op, args) {
            (Op::And, [a, b]) => {
                let (a, b) = (self.bounds_of(*a), self.bounds_of(*b));
                let least = |a: Option<u64>, b: Option<u64>| match (a, b) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
                MaskBounds {
                    ends: a.ends.max(b.ends),
                    begins: least(a.begins, b.begins),
                    before: None,
                }
            }
            (Op::Not, [a]) => MaskBounds {
                begins: self.bounds_of(*a).before,
                ..MaskBounds::default()
            },
            _ => MaskBounds::default(),
        }
    }

    /// Tells whether an access touches only existing steps, or has capacity for whole iterations.
    /// `low` and `high` are its offsets from the counter.
    pub(super) fn has_steps(
        &self,
        tile: &Tile,
        capacity: Operand,
        (low, high): (u64, u64),
        mask: Option<Operand>,
    ) -> bool {
        if !self.is_epilogue || tile.asks_whole_turns(self.from, capacity) {
            return true;
        }
        let bounds = mask.map_or(MaskBounds::default(), |mask| self.bounds_of(mask));
        let ends = bounds.ends.is_some_and(|ends| high <= ends);
        ends && (!self.aligned || bounds.begins.is_some_and(|begins| low >= begins))
    }
}

/// Holds facts about a mask: which steps of a segment it can select. With offset `n`, lane `k`
/// belongs to the step `n + k` after the iteration's counter.
#[derive(Clone, Copy, Default)]
pub(super) struct MaskBounds {
    /// At this offset, the mask selects only steps before the end.
    pub(super) ends: Option<u64>,
    /// At this offset, the mask selects only steps after the segment's begin.
    pub(super) begins: Option<u64>,
    /// At this offset, the mask selects all steps before the segment.
    pub(super) before: Option<u64>,
}

/// Describes a segment that was executed in this iteration.
#[derive(Clone)]
pub(super) struct Fitted {
    from: Operand,
    to: Operand,
    step: u64,
    single_trip: bool,
    capacities: Vec<(Var, Operand)>,
}

impl<'a> Walk<'_, 'a> {
    /// Checks an exit of the tile or of a segment.
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

    /// Checks a segment as a range with its capacity checks.
    pub(super) fn segment(&mut self, kind: &'a StmtKind) {
        let StmtKind::Segment {
            counter,
            from,
            to,
            step,
            aligned,
            single_trip,
            again,
            capacities,
            body,
            epilogue,
            scalar_epilogue,
        } = kind
        else {
            return;
        };
        let counts = |(_, index): &(Var, Operand)| self.tile.asks_whole_turns(*from, *index);
        if *aligned && (*step == 1 || capacities.iter().any(counts)) {
            let message = "aligned turns have several steps, and no capacity at a count";
            return self.faults.add(message);
        }
        if *single_trip
            && (*step == 1 || *aligned || !body.is_empty() || !scalar_epilogue.is_empty())
        {
            let message = "a single-trip segment has its steps in the epilogue";
            return self.faults.add(message);
        }
        let (counter, from, step) = (*counter, *from, *step);
        if !step.is_power_of_two()
            || step == 1 && !(epilogue.is_empty() && scalar_epilogue.is_empty())
        {
            let message =
                "a segment goes by a power of two, and has epilogues only if that is more than one";
            return self.faults.add(message);
        }
        if step > 1 && scalar_epilogue.is_empty() && (leaves(body) || leaves(epilogue)) {
            let message = "a segment in vectors is left to a scalar epilogue";
            return self.faults.add(message);
        }
        let stays = |b: &&Vec<Stmt>| self.any_stays(b);
        self.can_roll_back &=
            ![body, epilogue, scalar_epilogue].iter().any(stays) || !has_segments(body);
        let fits = self.can_roll_back || self.dry_run_passed;
        match (self.step, &self.segment) {
            (Some(_), None | Some(Around { step: 1, .. })) if *again => self.went_through(kind),
            (Some(_), None | Some(Around { step: 1, .. })) if fits => {}
            (Some(_), None | Some(Around { step: 1, .. })) => {
                let message = "lanes or elements have changed, which is not rolled back";
                return self.faults.add(message);
            }
            _ => {
                let message = "a segment is in a turn over the range, and in no segment in vectors";
                return self.faults.add(message);
            }
        }
        let changed = [changed(body), changed(epilogue), changed(scalar_epilogue)].concat();
        let outer = self.segment.replace(Around {
            from,
            to: *to,
            step,
            aligned: *aligned,
            capacities,
            is_epilogue: false,
            masks: FxHashMap::default(),
            changed: changed.clone(),
        });
        let around = (std::mem::take(&mut self.gone), self.places.clone());
        // Capacity checks refer to the counts at the segment's begin.
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
        let bodies = [
            (body, step, false),
            (epilogue, step, true),
            (scalar_epilogue, 1, false),
        ];
        for (body, step, is_epilogue) in bodies {
            self.turn_of_segment((counter, step, is_epilogue), &[], &changed, body);
            let gone = self.gone.iter().filter(|(_, gone)| **gone > step);
            lost.extend(gone.map(|(v, _)| *v));
        }
        if !lost.is_empty() {
            self.faults.all.truncate(faults);
            for (body, step, is_epilogue) in bodies {
                self.turn_of_segment((counter, step, is_epilogue), &lost, &changed, body);
            }
        }
        self.segment = outer;
        (self.gone, self.places) = around;
        self.forget(&changed);
        if !again {
            let capacities = capacities.clone();
            let to = *to;
            self.fitted.push(Fitted {
                from,
                to,
                step,
                single_trip: *single_trip,
                capacities,
            });
        }
        self.unfit(&changed);
    }

    /// Checks a body behind a dry run.
    pub(super) fn dry_run(&mut self, body: &'a [Stmt]) {
        if self.step.is_none() || self.segment.is_some() || !self.can_roll_back {
            let message = "what has a dry run is in a turn over the range that may be rolled back, and in no segment";
            return self.faults.add(message);
        }
        if let Err(why) = dry_run(self.tile, body) {
            return self.faults.add(why);
        }
        self.dry_run_passed = true;
        self.stmts(body);
        (self.dry_run_passed, self.can_roll_back) = (false, false);
    }

    /// Checks a repeated segment: an earlier one must have its range, iterations, and all of its
    /// capacity checks.
    fn went_through(&mut self, kind: &StmtKind) {
        let StmtKind::Segment {
            from,
            to,
            step,
            single_trip,
            capacities,
            ..
        } = kind
        else {
            return;
        };
        // The step size matters if a check covers whole iterations.
        let whole = |capacity: &(Var, Operand)| self.tile.asks_whole_turns(*from, capacity.1);
        let had = |f: &Fitted| {
            let all = capacities
                .iter()
                .all(|capacity| f.capacities.contains(capacity));
            let same = f.step == *step || !capacities.iter().any(whole);
            (f.from, f.to, f.single_trip) == (*from, *to, *single_trip) && same && all
        };
        if !self.fitted.iter().any(had) {
            let message = "no segment with this range and these capacities was gone through before";
            self.faults.add(message);
        }
    }

    /// Drops facts about changed values. Segments with these as bounds, and capacity checks with
    /// these as indices, may no longer fit.
    pub(super) fn unfit(&mut self, changed: &[Value]) {
        let is_new = |a: &Operand| a.value().is_some_and(|v| changed.contains(&v));
        self.fitted.retain(|f| !is_new(&f.from) && !is_new(&f.to));
        for f in &mut self.fitted {
            f.capacities.retain(|(_, index)| !is_new(index));
        }
    }

    /// Checks an iteration of a segment, given the counts with unbounded increase.
    fn turn_of_segment(
        &mut self,
        (counter, step, is_epilogue): (Value, u64, bool),
        lost: &[Value],
        changed: &[Value],
        body: &'a [Stmt],
    ) {
        if let Some(around) = &mut self.segment {
            (around.step, around.is_epilogue) = (step, is_epilogue);
            around.masks.clear();
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

    /// Tells whether an iteration may still exit after a statement: it only defines a value.
    pub(super) fn begins_turn(&self, kind: &StmtKind) -> bool {
        let defines = match kind {
            StmtKind::Set { .. } | StmtKind::SetLane { .. } => false,
            StmtKind::Leave { .. } => true,
            kind => kind.target().is_some() && kind.bodies().is_empty(),
        };
        defines || self.segment.as_ref().is_none_or(|around| around.step == 1)
    }

    /// Tells whether a statement changes state, without its bodies.
    pub(super) fn carries(&self, kind: &StmtKind) -> bool {
        let state = |v: &Value| matches!(self.tile.value(*v).origin, Origin::State(_));
        match kind {
            StmtKind::Set { to, .. } => state(to),
            // Its steps have been taken.
            StmtKind::Segment { .. } => true,
            kind => self.stays(kind),
        }
    }

    /// Tells whether a statement combines into elements, or changes lanes in the frame. A segment's
    /// own lanes do not count, because they restart with it.
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

    /// Tells the same for statements and nested statements.
    fn any_stays(&self, stmts: &[Stmt]) -> bool {
        let mut any = false;
        each_stmt(stmts, &mut |s| any |= self.stays(&s.kind));
        any
    }

    /// Tells whether statements or nested statements change state.
    pub(super) fn any_carries(&self, stmts: &[Stmt]) -> bool {
        stmts.iter().any(|s| {
            let inner = s.kind.bodies().into_iter();
            self.carries(&s.kind) || inner.into_iter().any(|b| self.any_carries(b))
        })
    }
}

/// Tells whether statements contain segments.
fn has_segments(stmts: &[Stmt]) -> bool {
    let mut has = false;
    each_stmt(stmts, &mut |s| {
        has |= matches!(s.kind, StmtKind::Segment { .. })
    });
    has
}

/// Tells whether statements contain exits.
fn leaves(stmts: &[Stmt]) -> bool {
    let mut leaves = false;
    each_stmt(stmts, &mut |s| {
        leaves |= matches!(s.kind, StmtKind::Leave { .. })
    });
    leaves
}

/// Checks that an exit's position determines the number of steps.
pub(super) fn check(tile: &Tile, faults: &mut Faults<'_>) {
    let mut ranges = 0;
    tile.each_stmt(&mut |s| ranges += usize::from(tile.is_range(&s.kind)));
    if tile.leaves() && ranges != 1 {
        faults.add("a tile that may be left goes over its range once");
    }
}
