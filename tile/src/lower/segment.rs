//! Segments in vectors: turns of as many steps as a turn of vectors takes, and an epilogue in which what is not there
//! has no effect.
//!
//! A fold that begins anew has its lanes in registers. Which lane an element goes to depends on where its segment
//! begins; but lanes are joined by halves, and operators and functions commute, so that turning all lanes around
//! changes nothing, and a segment may begin in lane 0. A lane that got nothing holds the identity: for a short segment,
//! fewer lanes do.
//!
//! A scan that begins anew takes its elements in blocks, and where these begin does not depend on the segment: so turns
//! begin at multiples of their steps, and what is not there, in front or behind, is the identity.

use super::Lower;
use super::nest::{Segment, groups_of};
use crate::ir::{MAX_LANES, Memory, Operand, Origin, Shape, Stmt, StmtKind, Value};
use crate::region::{Access, Aside, Flags, InnerLoop, Nest, Region, Role};
use crate::schedule::{Schedule, legal_in};
use loop_lang::ir::{Atom, Combine, Group, GroupId, Order, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use rustc_hash::FxHashMap;

/// Segments of up to this many elements are folded in as few lanes.
const FEW: u32 = 16;

/// Segments of more than so many turns have the lanes that they share in registers.
const LONG: u64 = 3;

/// Whether there are words for an inner loop in vectors.
pub(super) fn supported(
    region: &Region,
    inner_loop: &InnerLoop,
    nest: &Nest,
    schedule: &Schedule,
) -> Result<(), &'static str> {
    let (lanes, unroll) = schedule.vectors(inner_loop.rate);
    let flags = region.flags(inner_loop).unwrap_or_default();
    let goes_on = |(v, role): (&Var, &Role)| match role {
        Role::Running { .. } | Role::Scan(1) | Role::Delay => true,
        Role::Serial => !flags.vars.contains(v),
        Role::Count { .. } | Role::Join(..) | Role::Lanes(_) | Role::Scan(_) => false,
    };
    if lanes > 1 && inner_loop.roles.iter().any(goes_on) {
        return Err("what goes from one step to the next, in vectors of segments");
    }
    // What is left is taken one by one, from a turn on.
    let exits = lanes > 1 && !inner_loop.exits.is_empty();
    let blocks = |role: &Role| matches!(role, Role::Scan(_));
    if exits && inner_loop.roles.values().any(blocks) {
        return Err("segments in vectors that end within, beside scans");
    }
    if exits && legal_in(region, &schedule.step_by_step(inner_loop.rate), inner_loop).is_err() {
        return Err("segments in vectors that end within, and are not legal one by one");
    }
    if exits
        && inner_loop
            .groups
            .iter()
            .any(|g| !is_shared(region, inner_loop, *g))
    {
        return Err("lanes of a segment in vectors that ends within");
    }
    let elsewhere = |(_, index): &(Var, Var)| *index != inner_loop.counter;
    let mut capacities = inner_loop.proven.iter().chain(&inner_loop.scarce);
    if lanes > 1 && is_aligned(region, inner_loop, schedule) && capacities.any(elsewhere) {
        return Err("aligned turns of segments, beside what is at a count");
    }
    if schedule.partitions(inner_loop.rate) {
        in_parts(region, inner_loop, schedule)?;
    }
    let others = nest.inner_loops(region).into_iter();
    let others = others.map(|s| schedule.vectors(s.rate).0);
    let in_vectors = |of: &u32| *of > 1;
    let mut others = others.filter(in_vectors);
    let of = inner_loop.roles.values().filter_map(|role| match role {
        Role::Lanes(of) => Some(*of),
        _ => None,
    });
    let all_shared = inner_loop
        .groups
        .iter()
        .all(|g| is_shared(region, inner_loop, *g));
    match of.max() {
        Some(_) if lanes == 1 && others.next().is_some() => {
            Err("lanes that go one by one beside vectors")
        }
        Some(of) if lanes > 1 && of > lanes * unroll && !all_shared => {
            Err("turns that do not take all lanes of a segment")
        }
        _ if lanes > 1 && others.any(|of| of != lanes) => Err("vectors of several widths"),
        _ => Ok(()),
    }
}

/// Whether there are words for an inner loop in several parts.
fn in_parts(
    region: &Region,
    inner_loop: &InnerLoop,
    schedule: &Schedule,
) -> Result<(), &'static str> {
    let (lanes, _) = schedule.vectors(inner_loop.rate);
    let in_lanes = |role: &Role| matches!(role, Role::Lanes(_));
    if inner_loop.changes_what_it_reads() {
        return Err(
            "segments in several parts, and changes of elements, which are not rolled back",
        );
    }
    if !schedule.fast_min_max(region, inner_loop).is_empty() {
        return Err("segments in several parts that may be gone through again");
    }
    match inner_loop.groups.is_empty() {
        true if lanes == 1 => Ok(()),
        false
            if lanes > 1
                && inner_loop.exits.is_empty()
                && inner_loop.roles.values().all(in_lanes) =>
        {
            Ok(())
        }
        _ => Err(
            "segments in several parts, in vectors of anything but lanes, or with lanes one by one",
        ),
    }
}

/// Whether turns begin at multiples of their steps: as blocks of a scan do, lanes that segments share, and lanes of a
/// segment in several parts.
pub(super) fn is_aligned(region: &Region, inner_loop: &InnerLoop, schedule: &Schedule) -> bool {
    let mut roles = inner_loop.roles.values();
    let scans = roles.any(|role| matches!(role, Role::Scan(block) if *block > 1));
    let parts = schedule.partitions(inner_loop.rate) && !inner_loop.groups.is_empty();
    scans
        || parts
        || inner_loop
            .groups
            .iter()
            .any(|g| is_shared(region, inner_loop, *g))
}

/// Whether segments share a group's lanes: it does not begin anew in each of them.
pub(super) fn is_shared(region: &Region, inner_loop: &InnerLoop, g: GroupId) -> bool {
    let group = &region.program.groups[g.index()];
    group.owner != inner_loop.rate && group.order.lanes().is_some()
}

/// The variables of groups with lanes.
type LaneVars = Vec<(GroupId, Var)>;

/// A part of a segment: its own lanes begin with the first, and are joined with the last.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) is_first: bool,
    pub(super) is_last: bool,
    /// Whether it is known to fit.
    pub(super) fits: bool,
}

impl Part {
    /// Whether it is all of the segment.
    fn is_all(self) -> bool {
        self.is_first && self.is_last
    }

    /// Whether it is what is before the middle, or behind: a few steps.
    fn is_edge(self) -> bool {
        self.is_first != self.is_last
    }
}

impl Lower<'_, '_> {
    /// The steps of an inner loop in vectors.
    pub(super) fn in_vectors(&mut self, segment: Segment, (lanes, unroll): (u32, u32), part: Part) {
        let outer = (self.lanes, self.unroll);
        (self.lanes, self.unroll) = (lanes, unroll);
        self.fits = part.fits;
        let (shared, groups) = self.shared_lanes();
        // What other segments have found is not found again in this one.
        self.fast_min_max = self.schedule.fast_min_max(self.region, self.inner_loop);
        self.fast_min_max
            .retain(|e| groups.iter().any(|(_, v)| *v == e.var));
        let before = self.may_end(segment);
        self.start_joins();
        self.widen();
        let few = FEW.max(lanes);
        let all = [&shared[..], &groups].concat();
        if groups.is_empty() && part.is_edge() {
            self.unroll = 1;
            self.go_through(segment, &shared, false);
        } else if groups.is_empty() && self.may_be_held(&shared) {
            self.hold_if_long(segment, &shared);
        } else if groups.is_empty() {
            self.go_through(segment, &shared, true);
        } else if !part.is_all() {
            if part.is_first {
                self.begin_folds(&groups);
            }
            self.go_through(segment, &all, !part.is_edge());
            if part.is_last {
                self.end_folds(segment, &groups);
            }
        } else if few >= lanes * unroll {
            self.folds(segment, &shared, &groups);
        } else {
            let (from, to, _) = segment;
            let size = self.op("size", Ty::U64, Op::Sub, &[to, from]);
            let few_do = [size, Lower::u64(u64::from(few))];
            let cond = self.op("few", Ty::Bool, Op::Le, &few_do);
            let around = std::mem::take(&mut self.out);
            (self.unroll, self.most) = (few / lanes, few);
            self.folds(segment, &shared, &groups);
            (self.unroll, self.most) = (unroll, MAX_LANES);
            let then = self.body(Vec::new());
            let around_held = self.hold(&shared);
            self.folds(segment, &shared, &groups);
            self.let_go(&shared, around_held);
            let other = self.body(around);
            self.push(StmtKind::If { cond, then, other });
        }
        self.narrow();
        // Behind the segment a scan is what it has come to, not what a vector saw before it.
        for (v, role) in &self.inner_loop.roles {
            if let (Role::Scan(_), Some(carried)) = (role, self.carried.get(v)) {
                self.now.insert(*v, (*carried).into());
            }
        }
        self.end_joins();
        for (_, v) in groups {
            if let Some(total) = self.starts.get(&v) {
                self.now.insert(v, (*total).into());
            }
        }
        self.fast_min_max.clear();
        self.fits = false;
        (self.lanes, self.unroll) = outer;
        (self.turn, self.positions) = (None, None);
        self.flags = Flags::default();
        self.now.extend(before);
    }

    /// The variables of groups with lanes: those that segments share, and the segment's own.
    pub(super) fn shared_lanes(&self) -> (LaneVars, LaneVars) {
        let all = self.lane_vars().into_iter();
        all.partition(|(g, _)| self.nest.is_some() && is_shared(self.region, self.inner_loop, *g))
    }

    /// Whether lanes that segments share may be in registers while one is gone through: its turns take all of them, and
    /// none of its steps are left to be taken one by one.
    fn may_be_held(&self, shared: &[(GroupId, Var)]) -> bool {
        let in_registers = |(_, v): &(GroupId, Var)| match self.inner_loop.roles.get(v) {
            Some(Role::Lanes(of)) => self.in_registers(*of),
            _ => false,
        };
        !shared.is_empty() && self.inner_loop.exits.is_empty() && shared.iter().all(in_registers)
    }

    /// Goes through a segment; a long one has the lanes that it shares in registers. Turns of a short one are vectors,
    /// which begin near where it does.
    fn hold_if_long(&mut self, segment: Segment, shared: &[(GroupId, Var)]) {
        let (from, to, _) = segment;
        let size = self.op("size", Ty::U64, Op::Sub, &[to, from]);
        let most = Lower::u64(LONG * self.granule());
        let cond = self.op("short", Ty::Bool, Op::Le, &[size, most]);
        let around = std::mem::take(&mut self.out);
        let unroll = std::mem::replace(&mut self.unroll, 1);
        self.go_through(segment, shared, true);
        self.unroll = unroll;
        let then = self.body(Vec::new());
        let before = self.hold(shared);
        self.go_through(segment, shared, true);
        self.let_go(shared, before);
        let other = self.body(around);
        self.push(StmtKind::If { cond, then, other });
    }

    /// Brings lanes that segments share to registers, if they may be there. What was carried before.
    fn hold(&mut self, shared: &[(GroupId, Var)]) -> FxHashMap<Var, Value> {
        let before = self.carried.clone();
        if !self.may_be_held(shared) {
            return before;
        }
        let program = self.region.program;
        for (g, v) in shared {
            let lanes = program.groups[g.index()].order.lanes().unwrap_or(1);
            let shape = Shape::of(program.ty(*v).elem(), lanes);
            let name = format!("{}_lanes", program.name(*v));
            let register = self.add(&name, shape, Origin::Register);
            self.copy(Memory::Lanes(*v), Memory::Register(register), shape);
            self.carried.insert(*v, register);
            self.held.insert(*v);
        }
        before
    }

    /// Brings them back.
    fn let_go(&mut self, shared: &[(GroupId, Var)], before: FxHashMap<Var, Value>) {
        for (_, v) in shared {
            if !self.held.remove(v) {
                continue;
            }
            let register = self.carried[v];
            let shape = self.tile.shape(register);
            self.copy(Memory::Register(register), Memory::Lanes(*v), shape);
        }
        self.carried = before;
    }

    /// A segment in vectors that may end within: what it ends by, and where it ends. What its flags are.
    fn may_end(&mut self, (from, to, _): Segment) -> Vec<(Var, Operand)> {
        if self.inner_loop.exits.is_empty() {
            return Vec::new();
        }
        // The judge has seen to it that these are there.
        self.flags = self.region.flags(self.inner_loop).unwrap_or_default();
        self.may_stop((from, to));
        let flags = self.flags.vars.clone().into_iter();
        flags.map(|v| (v, self.carried[&v].into())).collect()
    }

    /// The steps of a segment from the turn on that was left, one by one.
    fn scalar_epilogue(&mut self, counter: Value, lanes: &[(GroupId, Var)]) -> Vec<Stmt> {
        if self.inner_loop.exits.is_empty() {
            return Vec::new();
        }
        let around = (self.lanes, self.unroll, std::mem::take(&mut self.next));
        let flags = std::mem::take(&mut self.flags);
        (self.lanes, self.unroll) = (1, 1);
        (self.at, self.turn, self.positions) = (Some(counter.into()), None, None);
        let flagged = flags.vars.iter().map(|v| (*v, self.carried[v].into()));
        self.now.extend(flagged.collect::<Vec<(Var, Operand)>>());
        self.known.clear();
        self.next = self.waiting();
        let steps = self.step_of_segment(None, lanes);
        (self.lanes, self.unroll, self.next) = around;
        self.flags = flags;
        steps
    }

    /// The segment, and what its lanes have come to.
    fn folds(&mut self, segment: Segment, shared: &[(GroupId, Var)], groups: &[(GroupId, Var)]) {
        self.begin_folds(groups);
        self.go_through(segment, &[shared, groups].concat(), self.has_turns());
        self.end_folds(segment, groups);
    }

    /// Whether a segment has turns in front of its epilogue: a short one is all epilogue.
    pub(super) fn has_turns(&self) -> bool {
        self.most >= MAX_LANES
    }

    /// A segment's own lanes begin.
    fn begin_folds(&mut self, groups: &[(GroupId, Var)]) {
        let program = self.region.program;
        for (g, v) in groups {
            let Order::Lanes(of) = program.groups[g.index()].order else {
                continue;
            };
            let shape = Shape::of(program.ty(*v).elem(), of.min(self.most));
            let name = format!("{}_lanes", program.name(*v));
            let register = self.add(&name, shape, Origin::Register);
            let extremum = self.fast_min_max.iter().find(|e| e.var == *v);
            let nothing = match extremum.copied() {
                Some(e) => self.losing(e),
                None => self.identity(*v),
            };
            self.set(register, nothing);
            self.carried.insert(*v, register);
        }
    }

    /// What they have come to.
    fn end_folds(&mut self, segment: Segment, groups: &[(GroupId, Var)]) {
        let program = self.region.program;
        let found = self.find_segment_again(segment, groups);
        for g in groups_of(groups) {
            let group = &program.groups[g.index()];
            let come_to = match (group.combine, &group.vars[..]) {
                (Some(Combine::Op(op)), [v]) => match found.get(v) {
                    Some(found) => vec![(*found).into()],
                    None => vec![self.halves(*v, (op, false))],
                },
                _ => self.states_in_registers(group),
            };
            for (v, total) in self.onto_start(group, &come_to) {
                self.set(self.starts[&v], total);
            }
        }
    }

    /// The total of states in the lanes of registers, by a function: one by one, by way of memory.
    fn states_in_registers(&mut self, group: &Group) -> Vec<Operand> {
        let mut from = Vec::new();
        let mut lanes = 1;
        for v in &group.vars {
            let shape = self.tile.shape(self.carried[v]);
            let name = format!("{}_each", self.region.program.name(*v));
            let buffer = self.add(&name, shape, Origin::Buffer);
            self.copy(
                Memory::Register(self.carried[v]),
                Memory::Buffer(buffer),
                shape,
            );
            from.push(Memory::Buffer(buffer));
            lanes = shape.lanes;
        }
        let vectors = std::mem::replace(&mut self.lanes, 1);
        let come_to = self.states_joined(group, from, lanes);
        self.lanes = vectors;
        come_to
    }

    /// What the lanes of a variable come to.
    pub(super) fn halves(&mut self, v: Var, how: (Op, bool)) -> Operand {
        self.joined_halves(self.carried[&v].into(), how)
    }

    /// Lanes joined by halves.
    pub(super) fn joined_halves(&mut self, of: Operand, (op, beats): (Op, bool)) -> Operand {
        let shape = Shape::scalar(self.shape(of).ty);
        let to = self.add("halves", shape, Origin::Let);
        self.push(StmtKind::Halves { to, op, beats, of });
        to.into()
    }

    /// The turns of a segment, which are all epilogue if it is short.
    pub(super) fn go_through(
        &mut self,
        (from, to, capacities): Segment,
        groups: &[(GroupId, Var)],
        has_turns: bool,
    ) {
        let comb = self.comb;
        let counter = self.counter();
        let body = match has_turns {
            true => self.turn_of(counter, None, groups),
            false => Vec::new(),
        };
        let epilogue = self.turn_of(counter, Some((from, to)), groups);
        let scalar_epilogue = self.scalar_epilogue(counter, groups);
        self.comb = comb;
        let aligned = is_aligned(self.region, self.inner_loop, self.schedule);
        self.push(StmtKind::Segment {
            counter,
            from,
            to,
            step: u64::from(self.lanes * self.unroll),
            aligned,
            single_trip: !has_turns && !aligned,
            again: self.again.is_some() || self.fits,
            capacities: capacities.to_vec(),
            body,
            epilogue,
            scalar_epilogue,
        });
    }

    /// Which lanes of the vector at a place of its turn are before a step of it.
    fn until(&mut self, at: Operand, name: &str, end: Operand) -> Operand {
        let to = self.add(name, Shape::of(Ty::Bool, self.lanes), Origin::Let);
        self.push(StmtKind::Until { to, at, end });
        to.into()
    }

    /// Which lanes of the vector at a place of its turn are in the segment; none if all are.
    pub(super) fn here_at(&mut self, place: Operand) -> Option<Operand> {
        let (left, before) = self.within?;
        let mut here = self.until(place, "here", left);
        if let Some(end) = before {
            let out = self.until(place, "out", end);
            let inside = self.op("inside", Ty::Bool, Op::Not, &[out]);
            here = self.both(Some(here), inside);
        }
        Some(here)
    }

    /// The mask under which an epilogue loads at an index, if its capacity is not one for whole turns: that of the
    /// steps that are there.
    pub(super) fn those_there(&self, index: Atom) -> Option<Operand> {
        self.within?;
        let v = index.var()?;
        let goes_with_it = v == self.inner_loop.counter || self.capacities.begins_at(v);
        self.here.filter(|_| goes_with_it)
    }

    /// A turn of vectors: of steps that are all there, or of those within a segment.
    fn turn_of(
        &mut self,
        counter: Value,
        within: Option<(Operand, Operand)>,
        groups: &[(GroupId, Var)],
    ) -> Vec<Stmt> {
        let outer = std::mem::take(&mut self.out);
        // Statements are written again for each kind of turn.
        self.known.clear();
        let aligned = is_aligned(self.region, self.inner_loop, self.schedule);
        let left = within.map(|(_, end)| self.op("left", Ty::U64, Op::Sub, &[end, counter.into()]));
        let before = within.filter(|_| aligned).map(|(from, _)| {
            let begin = self.op("begin", Ty::U64, Op::Max, &[from, counter.into()]);
            self.op("before", Ty::U64, Op::Sub, &[begin, counter.into()])
        });
        self.within = left.map(|left| (left, before));
        if !self.inner_loop.exits.is_empty() {
            self.all_go_on(counter);
        }
        let turn = std::mem::take(&mut self.out);
        let place = self.add("lane", Shape::scalar(Ty::U64), Origin::Let);
        self.vector_at(counter, place.into());
        self.come_along();
        self.here = self.here_at(place.into());
        self.begin_lanes(groups);
        self.straight();
        self.counts(None);
        (self.here, self.within) = (None, None);
        let mut vector = self.body(turn);
        // What reads anywhere costs more than a branch, and what scans.
        let proofs = &self.proofs;
        let proves = |a: &Access| {
            a.index
                .var()
                .is_some_and(|v| proofs.contains_key(&(a.array, v)))
        };
        let aside = self.inner_loop.reads_aside(proves);
        // A turn begins in the segment.
        let several = self.unroll > 1;
        if let Some(left) = left.filter(|_| several && (aligned || aside != Aside::Nowhere)) {
            let some = std::mem::take(&mut self.out);
            let cond = self.op("some", Ty::Bool, Op::Lt, &[place.into(), left]);
            self.push(StmtKind::If {
                cond,
                then: vector,
                other: Vec::new(),
            });
            vector = self.body(some);
        }
        let steps = u64::from(self.lanes * self.unroll);
        let range = (Lower::u64(0), Lower::u64(steps));
        self.for_(place, range, u64::from(self.lanes), true, vector);
        self.body(outer)
    }
}
