//! Segments in the steps of a rate, and segments in those, step by step. A step is rolled back where a segment does not
//! fit into what is left of the span, or into what it accesses: so each access in it is as safe as in an innermost loop
//! by itself.

use super::capacities::{Capacities, Proofs};
use super::cases::Known;
use super::segment::Part;
use super::{Lower, segment};
use crate::ir::{MAX_LANES, Memory, Operand, Origin, Proof, Shape, Stmt, StmtKind, Value};
use crate::region::{Inner, Nest, NestPart, Region};
use crate::schedule::Schedule;
use loop_lang::ir::{Atom, Combine, Group, GroupId, Order, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// Segments of up to this many elements are folded in as few lanes, one by one.
const FEW: u32 = 8;

/// Whether there are words for all that a nest does.
pub(super) fn supported(
    region: &Region,
    nest: &Nest,
    schedule: &Schedule,
) -> Result<(), &'static str> {
    // What a scan keeps in the frame is not rolled back.
    let scans = |g: &&GroupId| matches!(region.program.groups[g.index()].order, Order::Prefix(_));
    let last = nest.inner.last().and_then(|r| region.inner_loop(*r));
    let in_last = |g: &GroupId| last.is_some_and(|inner_loop| inner_loop.groups.contains(g));
    if !nest.outer.groups.iter().filter(scans).all(in_last) {
        return Err("a scan of steps that may be rolled back");
    }
    segments(region, (nest, nest), schedule)?;
    for inner_loop in nest.inner_loops(region) {
        segment::supported(region, inner_loop, nest, schedule)?;
    }
    match nest.can_roll_back(region) {
        true => Ok(()),
        false => Err("a step that writes what it has read"),
    }
}

/// Whether there are words for what is carried from step to step of inner loops, of a nest in the steps of a root.
fn segments(
    region: &Region,
    (root, nest): (&Nest, &Nest),
    schedule: &Schedule,
) -> Result<(), &'static str> {
    for inner in nest.loops(region) {
        let inner_loop = inner.inner_loop();
        if let Inner::Nest(nest) = inner {
            segments(region, (root, nest), schedule)?;
        }
        for g in &inner_loop.groups {
            let group = &region.program.groups[g.index()];
            let anew = group.vars.iter().all(|v| nest.starts.contains(v));
            match (group.order, group.combine, &group.vars[..]) {
                (Order::Lanes(2..=MAX_LANES), Some(_), _) if anew => {}
                // Lanes that have changed are not rolled back: nothing that may be is behind them.
                (Order::Lanes(2..=MAX_LANES), Some(_), _)
                    if group.owner == root.outer.rate
                        && root.inner.last() == Some(&inner_loop.rate)
                        && matches!(inner, Inner::InnerLoop(_)) => {}
                (Order::Prefix(block), by, vars) => {
                    let (lanes, _) = schedule.vectors(inner_loop.rate);
                    let one = matches!((by, vars), (Some(Combine::Op(_)), [_]));
                    if lanes > 1 && !(anew && one && block == lanes) {
                        return Err("scans that go on from segment to segment, in vectors");
                    }
                }
                _ => return Err("lanes that segments share"),
            }
        }
    }
    Ok(())
}

/// Where a segment begins and ends, and its capacities.
pub(super) type Segment<'s> = (Operand, Operand, &'s [(Var, Operand)]);

impl<'r, 'a> Lower<'r, 'a> {
    /// Whether a loop in the steps of another carries a variable, so that it may go up by more than one in a step.
    pub(super) fn is_carried_inside(&self, nest: Option<&Nest>, v: Var) -> bool {
        let mut inner = nest.into_iter().flat_map(|n| n.inside(self.region));
        inner.any(|s| s.counter == v || s.carried.contains(&v))
    }

    /// Whether a variable has lanes, a run or a prefix.
    pub(super) fn is_local(&self, v: Var) -> bool {
        let group = self.region.facts.local_group(self.region.program, v);
        group.is_some()
    }

    /// The parts of a step around others, in order.
    pub(super) fn parts(&mut self, nest: &'r Nest<'a>) {
        let counter = self.inner_loop.counter;
        let outer = self.now.get(&counter).copied();
        self.now.extend(self.at.map(|at| (counter, at)));
        for part in &nest.parts {
            match part {
                NestPart::Step(at) => {
                    self.at_step(*at);
                    // Behind the guard, which comes first.
                    if *at == 0 {
                        self.exits();
                    }
                }
                NestPart::Inner(k) => {
                    let Some(inner) = self.region.inner(nest.inner[*k]) else {
                        continue;
                    };
                    let root = nest.outer.rate == self.tile.rate;
                    let last = *k + 1 == nest.inner.len();
                    match root && last && nest.needs_dry_run(self.region) {
                        true => self.dry_run(inner),
                        false => self.segment(inner),
                    }
                }
            }
        }
        self.now.extend(outer.map(|outer| (counter, outer)));
    }

    /// The steps of an inner loop, once all that is in it is known to fit.
    fn dry_run(&mut self, inner: Inner<'r, 'a>) {
        let around = std::mem::take(&mut self.out);
        self.segment(inner);
        let body = self.body(around);
        self.push(StmtKind::DryRun { body });
    }

    /// The steps of an inner loop.
    fn segment(&mut self, within: Inner<'r, 'a>) {
        let inner = within.inner_loop();
        self.comb = inner.statements.first().map_or(self.comb, |s| s.stmt.comb);
        let middle = self.middles.iter().find(|(rate, _)| *rate == inner.rate);
        let mut from = self.operand(Atom::Var(inner.counter));
        if !inner.near.is_empty() || middle.is_some() {
            from = self.as_now(inner.counter, from);
        }
        let to = self.operand(inner.bound);
        let comb = self.comb;
        let stop = self.stop.take();
        let parts = match middle {
            Some((_, case)) => self.parts_of_segment(inner, (from, to), case),
            None => vec![(from, to, Known::Nothing)],
        };
        // What segments share is not rolled back: all parts have to fit before the first changes that.
        let shares = |g: &GroupId| segment::is_shared(self.region, inner, *g);
        let fits = parts.len() > 1 && inner.groups.iter().any(shares);
        let last = parts.len() - 1;
        let mut all = Vec::new();
        for (k, (from, to, known)) in parts.into_iter().enumerate() {
            self.known_case = known;
            let around = (
                std::mem::take(&mut self.proofs),
                std::mem::take(&mut self.capacities),
            );
            let capacities = self.request_capacities(within, from);
            let place = (
                std::mem::replace(&mut self.proofs, around.0),
                std::mem::replace(&mut self.capacities, around.1),
            );
            let part = Part {
                is_first: k == 0,
                is_last: k == last,
                fits,
            };
            if fits {
                self.make_fit((from, to, &capacities));
                all.push((part, known, place, (from, to, capacities)));
                continue;
            }
            self.steps_of_segment(within, (part, place), (from, to, &capacities));
        }
        for (part, known, place, (from, to, capacities)) in all {
            self.known_case = known;
            self.steps_of_segment(within, (part, place), (from, to, &capacities));
        }
        self.known_case = Known::Nothing;
        self.comb = comb;
        let end = match std::mem::replace(&mut self.stop, stop) {
            Some(stop) => stop.into(),
            None => self.op("end", Ty::U64, Op::Max, &[from, to]),
        };
        self.set(self.carried[&inner.counter], end);
    }

    /// A segment that does nothing: one with its range and capacities fits behind it.
    fn make_fit(&mut self, range: Segment) {
        let counter = self.add("fits", Shape::scalar(Ty::U64), Origin::Let);
        self.push_steps(counter, range, Vec::new());
    }

    /// A segment of steps one by one.
    pub(super) fn push_steps(
        &mut self,
        counter: Value,
        (from, to, capacities): Segment,
        body: Vec<Stmt>,
    ) {
        self.push(StmtKind::Segment {
            counter,
            from,
            to,
            step: 1,
            aligned: false,
            single_trip: false,
            again: false,
            capacities: capacities.to_vec(),
            body,
            epilogue: Vec::new(),
            scalar_epilogue: Vec::new(),
        });
    }

    /// Some steps of an inner loop, whose accesses are proven by capacities.
    fn steps_of_segment(
        &mut self,
        within: Inner<'r, 'a>,
        (part, place): (Part, (Proofs, Capacities)),
        range: Segment,
    ) {
        let nest = match within {
            Inner::InnerLoop(_) => None,
            Inner::Nest(nest) => Some(nest),
        };
        let inner = within.inner_loop();
        let around = (
            std::mem::replace(&mut self.proofs, place.0),
            std::mem::replace(&mut self.capacities, place.1),
        );
        let outer = (
            std::mem::replace(&mut self.inner_loop, inner),
            self.at,
            std::mem::take(&mut self.next),
        );
        match self.schedule.vectors(inner.rate) {
            (1, _) => self.one_by_one(range, nest),
            vectors => self.in_vectors(range, vectors, part),
        }
        (self.inner_loop, self.at, self.next) = outer;
        (self.proofs, self.capacities) = around;
    }

    fn one_by_one(&mut self, (from, to, capacities): Segment, nest: Option<&'r Nest<'a>>) {
        let comb = self.comb;
        let counter = self.counter();
        self.at = Some(counter.into());
        self.next = self.waiting();
        if !self.inner_loop.exits.is_empty() {
            self.may_stop((from, to));
        }
        let (shared, own) = self.shared_lanes();
        let lasts = std::mem::take(&mut self.lasts);
        let few = self.clear_lanes(&own, (from, to));
        let body = self.step_of_segment(nest, &[shared, own.clone()].concat());
        self.comb = comb;
        self.push_steps(counter, (from, to, capacities), body);
        for g in groups_of(&own) {
            self.join_lanes(g, few);
        }
        self.lasts = lasts;
    }

    /// A segment may end before its steps do: where it does.
    pub(super) fn may_stop(&mut self, (from, to): (Operand, Operand)) {
        let stop = self.add("stop", Shape::scalar(Ty::U64), Origin::Register);
        let end = self.op("end", Ty::U64, Op::Max, &[from, to]);
        self.set(stop, end);
        self.stop = Some(stop);
    }

    /// A step of a segment that goes one by one. Lanes that segments share are where the root has them.
    pub(super) fn step_of_segment(
        &mut self,
        nest: Option<&'r Nest<'a>>,
        lanes: &[(GroupId, Var)],
    ) -> Vec<Stmt> {
        for (_, v) in lanes {
            if !self.buffers.contains_key(v) {
                let shape = Shape::scalar(self.region.program.ty(*v).elem());
                let lane = self.add(self.region.program.name(*v), shape, Origin::Register);
                self.carried.insert(*v, lane);
                self.now.insert(*v, lane.into());
            }
        }
        let around = std::mem::take(&mut self.out);
        self.come_along();
        self.begin_lanes(lanes);
        self.wait();
        match nest {
            Some(nest) => self.parts(nest),
            None => self.straight(),
        }
        self.take_effect();
        self.end_lanes(lanes);
        self.body(around)
    }

    /// A value for the counter of a segment.
    pub(super) fn counter(&mut self) -> Value {
        let name = self.region.program.name(self.inner_loop.counter);
        self.add(name, Shape::scalar(Ty::U64), Origin::Let)
    }

    /// A group that has a local part begins anew.
    pub(super) fn start_local(&mut self, v: Var, start: Operand) {
        let program = self.region.program;
        let Some(g) = program.group_of(v) else {
            return;
        };
        match program.groups[g.index()].order {
            Order::Lanes(_) => self.start_lanes(v, g, start),
            Order::Prefix(block) => self.start_scan(v, block, start),
            Order::Runs(_) | Order::Exact | Order::Sequential => {}
        }
    }

    /// Lanes begin anew, with what they are joined onto in the end.
    fn start_lanes(&mut self, v: Var, g: GroupId, start: Operand) {
        let program = self.region.program;
        let ty = program.ty(v).elem();
        let shape = Shape::scalar(ty);
        let name = format!("{}_start", program.name(v));
        let register = self.add(&name, shape, Origin::Register);
        self.set(register, start);
        self.starts.insert(v, register);
        if self.schedule.vectors(program.groups[g.index()].owner).0 > 1 {
            return;
        }
        let lane = self.add(program.name(v), shape, Origin::Register);
        self.carried.insert(v, lane);
        self.now.insert(v, lane.into());
        let name = format!("{}_lanes", program.name(v));
        let shape = Shape::of(ty, self.lanes_of_group(g));
        let buffer = self.add(&name, shape, Origin::Buffer);
        self.buffers.insert(v, buffer);
    }

    /// Lanes of a segment that goes step by step, with nothing in them. A short one has few: whether it is.
    fn clear_lanes(
        &mut self,
        groups: &[(GroupId, Var)],
        (from, to): (Operand, Operand),
    ) -> Option<Operand> {
        let most = groups.iter().map(|(g, _)| self.lanes_of_group(*g)).max();
        let few = most.filter(|most| *most > FEW).map(|_| {
            let size = self.op("size", Ty::U64, Op::Sub, &[to, from]);
            let most = Lower::u64(u64::from(FEW));
            self.op("few", Ty::Bool, Op::Le, &[size, most])
        });
        for (g, v) in groups {
            let of = self.lanes_of_group(*g);
            let value = self.identity(*v);
            let store = |lower: &mut Self, lanes| {
                lower.push(StmtKind::Store {
                    into: lower.lanes_of_steps(*v),
                    at: Lower::u64(0),
                    value,
                    under: None,
                    lanes,
                    proof: Proof::Literal,
                });
            };
            let Some(few) = few.filter(|_| of > FEW) else {
                store(self, of);
                continue;
            };
            self.either(few, |lower| store(lower, FEW), |lower| store(lower, of));
            let lasts = [FEW, of].map(|lanes| Lower::u64(u64::from(lanes - 1)));
            let last = self.op("last", Ty::U64, Op::Select, &[few, lasts[0], lasts[1]]);
            self.lasts.insert(u64::from(of), last);
        }
        few
    }

    /// One thing or another.
    fn either(
        &mut self,
        cond: Operand,
        then: impl FnOnce(&mut Self),
        other: impl FnOnce(&mut Self),
    ) {
        let around = std::mem::take(&mut self.out);
        then(self);
        let then = self.body(Vec::new());
        other(self);
        let other = self.body(around);
        self.push(StmtKind::If { cond, then, other });
    }

    /// Returns the number of lanes of a group in a segment that goes step by step.
    ///
    /// Extrema are the same in any order, so they need one.
    pub(super) fn lanes_of_group(&self, g: GroupId) -> u32 {
        let program = self.region.program;
        let group = &program.groups[g.index()];
        let in_segment = program.loop_rate(group.step) == group.owner;
        let chooses = matches!(group.combine, Some(Combine::Op(op)) if op.is_idempotent());
        match group.order {
            Order::Lanes(_) if in_segment && chooses => 1,
            Order::Lanes(lanes) => lanes,
            Order::Runs(_) | Order::Prefix(_) | Order::Exact | Order::Sequential => 1,
        }
    }

    /// What joins onto nothing.
    pub(super) fn identity(&mut self, v: Var) -> Operand {
        let program = self.region.program;
        let group = program.group_of(v).map(|g| &program.groups[g.index()]);
        let identity = group.and_then(|g| {
            let at = g.vars.iter().position(|of| *of == v)?;
            g.identity.get(at).copied()
        });
        self.operand(identity.unwrap_or(Const::zero(program.ty(v).elem()).into()))
    }

    /// What the lanes of a segment have come to.
    fn join_lanes(&mut self, g: GroupId, few: Option<Operand>) {
        let program = self.region.program;
        let (of, group) = (self.lanes_of_group(g), &program.groups[g.index()]);
        let come_to = match few.filter(|_| of > FEW) {
            None => self.come_to(group, of),
            Some(few) => {
                let shape = |v: &Var| Shape::scalar(program.ty(*v).elem());
                let vars = group.vars.iter();
                let registers: Vec<Value> = vars
                    .map(|v| self.add("joined", shape(v), Origin::Register))
                    .collect();
                let join = |lower: &mut Self, lanes| {
                    let come_to = lower.come_to(group, lanes);
                    let each = registers.iter().zip(come_to);
                    each.for_each(|(register, x)| lower.set(*register, x));
                };
                self.either(few, |lower| join(lower, FEW), |lower| join(lower, of));
                registers.into_iter().map(Operand::from).collect()
            }
        };
        for (v, total) in self.onto_start(group, &come_to) {
            self.now.insert(v, total);
        }
    }

    /// The totals of a segment's lanes, joined onto the group's start; none where no start is kept.
    pub(super) fn onto_start(&mut self, group: &Group, come_to: &[Operand]) -> Vec<(Var, Operand)> {
        let starts: Option<Vec<Operand>> = (group.vars.iter())
            .map(|v| self.starts.get(v).map(|start| (*start).into()))
            .collect();
        let Some(starts) = starts else {
            return Vec::new();
        };
        let name = self.region.program.name(group.vars[0]).to_string();
        let totals = self.joined(group.combine, &name, &starts, come_to);
        group.vars.iter().copied().zip(totals).collect()
    }

    /// The total of so many lanes of a segment: by an operator in vectors, by a function one by one.
    fn come_to(&mut self, group: &Group, lanes: u32) -> Vec<Operand> {
        match (group.combine, &group.vars[..]) {
            (Some(Combine::Op(op)), [v]) => vec![self.halves_of(*v, op, lanes)],
            _ => {
                let from = group.vars.iter().map(|v| self.lanes_of_steps(*v)).collect();
                self.states_joined(group, from, lanes)
            }
        }
    }

    /// The states in so many lanes of memory, of which each variable has its own, joined by halves.
    pub(super) fn states_joined(
        &mut self,
        group: &Group,
        from: Vec<Memory>,
        lanes: u32,
    ) -> Vec<Operand> {
        let program = self.region.program;
        let mut states: Vec<Vec<Operand>> = Vec::new();
        for lane in 0..lanes {
            let fields = group.vars.iter().zip(&from);
            let state = fields.map(|(v, from)| {
                let to = self.add("lane", Shape::scalar(program.ty(*v).elem()), Origin::Let);
                self.push(StmtKind::Load {
                    to,
                    from: *from,
                    at: Lower::u64(u64::from(lane)),
                    under: None,
                    proof: Proof::Literal,
                });
                Operand::from(to)
            });
            states.push(state.collect());
        }
        while states.len() > 1 {
            let behind = states.split_off(states.len() / 2);
            let pairs = states.iter().zip(&behind);
            states = pairs
                .map(|(x, y)| self.joined(group.combine, "half", x, y))
                .collect();
        }
        states.pop().unwrap_or_default()
    }

    /// What so many lanes of a segment come to. Few are loaded as they were stored, one by one: machines wait before
    /// they find several that were just stored.
    fn halves_of(&mut self, v: Var, op: Op, lanes: u32) -> Operand {
        let ty = self.region.program.ty(v).elem();
        let each = if lanes > FEW { lanes } else { 1 };
        let some = (0..lanes / each).map(|k| {
            let to = self.add("lanes", Shape::of(ty, each), Origin::Let);
            self.push(StmtKind::Load {
                to,
                from: self.lanes_of_steps(v),
                at: Lower::u64(u64::from(k)),
                under: None,
                proof: Proof::Literal,
            });
            Operand::from(to)
        });
        let mut some: Vec<Operand> = some.collect();
        while some.len() > 1 {
            let behind = some.split_off(some.len() / 2);
            let pairs = some.iter().zip(behind);
            some = pairs
                .map(|(x, y)| self.op("half", ty, op, &[*x, y]))
                .collect();
        }
        match each {
            1 => some[0],
            _ => self.joined_halves(some[0], (op, false)),
        }
    }
}

/// The groups of variables, each once.
pub(super) fn groups_of(vars: &[(GroupId, Var)]) -> Vec<GroupId> {
    let mut groups: Vec<GroupId> = vars.iter().map(|(g, _)| *g).collect();
    groups.dedup();
    groups
}
