//! Carried groups: their declarations match their statements.

use super::Faults;
use super::view::View;
use crate::Op;
use crate::ir::*;
use crate::types::{Const, Ty};
use rustc_hash::FxHashMap;

/// A statement that updates a group or counter.
struct UpdateStmt<'a> {
    block: usize,
    kind: &'a StmtKind,
}

/// The maximum number of lanes, or elements per block, of a group: its state is kept in the frame.
const MAX_LANES: u32 = 4096;

pub(super) fn check(view: &View, faults: &mut Faults) {
    let mut groups = Groups {
        view,
        faults,
        carries: vec![None; view.l.vars.len()],
        updates: view.l.groups.iter().map(|_| Vec::new()).collect(),
        assigned: FxHashMap::default(),
        sums: FxHashMap::default(),
    };
    groups.collect();
    groups.membership();
    for (i, group) in view.l.groups.iter().enumerate() {
        groups.group(i, group);
    }
    groups.counters();
}

struct Groups<'a, 'f> {
    view: &'a View<'a>,
    faults: &'f mut Faults,
    /// The block and the start of each `carry`.
    carries: Vec<Option<(usize, Atom)>>,
    /// By group.
    updates: Vec<Vec<UpdateStmt<'a>>>,
    /// The assignments of counters, with their blocks.
    assigned: FxHashMap<Var, Vec<(usize, Atom)>>,
    /// Sums by their variables, with the blocks that compute them.
    sums: FxHashMap<Var, (usize, Atom, Atom)>,
}

impl Groups<'_, '_> {
    fn collect(&mut self) {
        let view = self.view;
        for (block, placed) in view.blocks.iter().enumerate() {
            for stmt in &placed.block.stmts {
                let kind = &stmt.kind;
                match kind {
                    StmtKind::Carry(v, start) => {
                        self.carries[v.index()].get_or_insert((block, *start));
                    }
                    StmtKind::Assign(v, a) => {
                        if let Some(g) = view.group_of[v.index()] {
                            self.updates[g.index()].push(UpdateStmt { block, kind });
                        }
                        if view.counts[v.index()].is_some() {
                            self.assigned.entry(*v).or_default().push((block, *a));
                        }
                    }
                    StmtKind::Scan { group, .. } => {
                        self.updates[group.index()].push(UpdateStmt { block, kind });
                    }
                    StmtKind::Let(v, Op::Add, args) if args.len() == 2 => {
                        self.sums.insert(*v, (block, args[0], args[1]));
                    }
                    _ => {}
                }
            }
        }
    }

    fn name(&self, v: Var) -> &str {
        self.view.l.name(v)
    }

    /// Checks that every carried variable is in one group, or is a counter.
    fn membership(&mut self) {
        let l = self.view.l;
        let mut times = vec![0u32; l.vars.len()];
        for group in &l.groups {
            group.vars.iter().for_each(|v| times[v.index()] += 1);
        }
        for (i, data) in l.vars.iter().enumerate() {
            let carried = self.carries[i].is_some();
            if times[i] > 1 {
                self.faults
                    .add(&data.name, "belongs to more than one group");
            } else if carried && times[i] == 0 && self.view.counts[i].is_none() {
                self.faults
                    .add(&data.name, "is carried but belongs to no group");
            }
        }
        for (i, rate) in l.rates.iter().enumerate() {
            let RateKind::Sub { count: Some(v), .. } = rate.kind else {
                continue;
            };
            match self.view.group_of[v.index()] {
                None => self.faults.add(&rate.name, "its count belongs to no group"),
                // Users of the count may rely on it.
                Some(g) if !self.counts_at(g, RateId::new(i)) => {
                    let message = format!("its count `{}` is updated at another rate", l.name(v));
                    self.faults.add(&rate.name, message);
                }
                Some(_) => {}
            }
        }
    }

    /// Tells whether a group steps at a rate, or is updated there in a different phase.
    fn counts_at(&self, g: GroupId, rate: RateId) -> bool {
        let view = self.view;
        let step = view.l.groups[g.index()].step;
        let goes_on = || {
            let mut places = self.updates[g.index()]
                .iter()
                .map(|u| view.blocks[u.block].place);
            places.any(|p| matches!(p, Place::At { rate: r, .. } if r == rate))
        };
        step == rate || view.root_of(step) != view.root_of(rate) && goes_on()
    }

    fn group(&mut self, i: usize, group: &Group) {
        let Some(first) = group.vars.first() else {
            return self.faults.add(format!("group {i}"), "has no variables");
        };
        let carried = group.vars.iter().any(|v| self.carries[v.index()].is_some());
        if !carried && self.updates[i].is_empty() {
            return;
        }
        let place = self.name(*first).to_string();
        let mut found = Vec::new();
        self.shape(group, &mut found);
        self.blocks_in_step(i, group, &mut found);
        self.start(group, &mut found);
        self.updated(i, group, &mut found);
        found
            .into_iter()
            .for_each(|message| self.faults.add(&place, message));
    }

    /// Checks lengths, identity, combine and order.
    fn shape(&self, group: &Group, found: &mut Vec<String>) {
        let (l, n) = (self.view.l, group.vars.len());
        let combined = group.combine.is_some();
        let named = [("starts", &group.start), ("next values", &group.next)];
        for (what, atoms) in named {
            if atoms.len() != n {
                found.push(format!("{n} variable(s), but {} {what}", atoms.len()));
            }
        }
        if group.identity.len() != n && (combined || !group.identity.is_empty()) {
            found.push(format!(
                "{n} variable(s), but {} identities",
                group.identity.len()
            ));
        }
        for a in &group.identity {
            if let Atom::Var(v) = a
                && self.view.param[v.index()] != Some(ParamKind::Scalar)
            {
                found.push(format!(
                    "identity `{}`: not a literal or parameter",
                    self.name(*v)
                ));
            }
        }
        if !combined && group.order != Order::Sequential {
            found.push("without `combine` a group is sequential".into());
        }
        let (lanes, what) = match group.order {
            Order::Lanes(lanes) => (lanes, "lanes"),
            Order::Runs(steps) => (steps, "steps per run"),
            Order::Prefix(lanes) => (lanes, "elements per block"),
            Order::Exact | Order::Sequential => (1, ""),
        };
        if !lanes.is_power_of_two() {
            found.push(format!("{lanes} {what}: not a power of two"));
        }
        if lanes > MAX_LANES {
            found.push(format!("{lanes} {what}: more than {MAX_LANES}"));
        }
        if lanes > 1 && matches!(group.order, Order::Prefix(_)) && l.rate(group.step).kind.is_sub()
        {
            found.push("`prefix` above 1 needs a loop rate to step".into());
        }
        let inner = |r: &Rate| !r.kind.is_sub() && r.kind.parent().is_some();
        let below = l.rates.iter().enumerate().any(|(i, r)| {
            inner(r) && RateId::new(i) != group.step && l.is_within(RateId::new(i), group.step)
        });
        if matches!(group.order, Order::Runs(_)) && (below || l.rate(group.step).kind.is_sub()) {
            found.push("`runs` need a loop rate to step, with none below".into());
        }
        let float = group.vars.iter().any(|v| l.ty(*v).elem().is_float());
        let rounds = matches!(group.combine, Some(Combine::Op(Op::Add | Op::Mul)));
        if group.order == Order::Exact && float && rounds {
            found.push("sums and products of floats are not `exact`".into());
        }
    }

    /// Checks the step rate's counter, which numbers the blocks of a `prefix` group. It must not
    /// restart during the group's lifetime.
    fn blocks_in_step(&self, i: usize, group: &Group, found: &mut Vec<String>) {
        let (view, l) = (self.view, self.view.l);
        let (Order::Prefix(2..), Some(counter)) = (group.order, l.rate(group.step).kind.counter())
        else {
            return;
        };
        let carried_in = |v: Var| self.carries[v.index()].map(|(b, _)| view.blocks[b].place);
        let place = carried_in(counter);
        if place != Some(Place::Init) && place != group.vars.first().and_then(|v| carried_in(*v)) {
            let counter = self.name(counter);
            found.push(format!(
                "`prefix` above 1, but its counter `{counter}` starts anew while the group goes on"
            ));
        }
        let mut phases: Vec<RateId> = self.updates[i]
            .iter()
            .filter_map(|u| match view.blocks[u.block].place {
                Place::At { rate, .. } => Some(rate),
                _ => None,
            })
            .collect();
        phases.sort_by_key(|r| l.roots.iter().position(|root| *root == view.root_of(*r)));
        for pair in phases.windows(2) {
            if !self.goes_on(pair[0], pair[1]) {
                let (from, to) = (&l.rate(pair[0]).name, &l.rate(pair[1]).name);
                found.push(format!(
                    "`prefix` above 1, but `{to}` does not count on where `{from}` always ends"
                ));
            }
        }
    }

    /// Tells whether a phase's root continues the counter of an earlier one, which always reaches
    /// its bound.
    fn goes_on(&self, from: RateId, to: RateId) -> bool {
        let (view, l) = (self.view, self.view.l);
        let (RateKind::Root { bound, .. }, RateKind::Root { counter, .. }) =
            (l.rate(from).kind, l.rate(to).kind)
        else {
            return false;
        };
        let end = view.tree.done(l, from);
        let ends = |label: &Label| view.tree.place(l, *label) == end;
        let exits = view.blocks.iter().flat_map(|b| &b.block.exits);
        let ways_out = exits.filter_map(|e| e.target).filter(|t| ends(t)).count();
        let start = self.carries[counter.index()].map(|(_, start)| start);
        ways_out == 1 && start == Some(bound)
    }

    /// Checks the owner and the `carry` statements.
    fn start(&self, group: &Group, found: &mut Vec<String>) {
        let (view, l) = (self.view, self.view.l);
        let owner = l.rate(group.owner);
        let place = match owner.kind {
            RateKind::Sub { .. } => {
                return found.push(format!("its owner `{}` is a sub rate", owner.name));
            }
            RateKind::Root { .. } => Place::Init,
            _ => Place::At {
                rate: group.owner,
                stage: 0,
                section: Section::Nest,
            },
        };
        if place != Place::Init && !view.below(group.step, group.owner) {
            let step = &l.rate(group.step).name;
            found.push(format!(
                "steps at `{step}`, outside of its owner `{}`",
                owner.name
            ));
        }
        for (v, start) in group.vars.iter().zip(&group.start) {
            match self.carries[v.index()] {
                None => found.push(format!("`{}` is not carried", self.name(*v))),
                Some((b, from)) => {
                    if view.blocks[b].place != place {
                        let (name, place) = (self.name(*v), view.show(place));
                        found.push(format!("`{name}` must be carried in {place}"));
                    }
                    if from != *start {
                        let name = self.name(*v);
                        found.push(format!(
                            "`{name}` is carried from another start than the group's"
                        ));
                    }
                }
            }
        }
    }

    /// Checks the place, number and values of updates, by phase.
    fn updated(&self, i: usize, group: &Group, found: &mut Vec<String>) {
        let (view, l) = (self.view, self.view.l);
        let first = view.root_of(group.step);
        let mut phases: FxHashMap<RateId, (RateId, Vec<&UpdateStmt>)> = FxHashMap::default();
        let mut order = vec![first];
        phases.insert(first, (group.step, Vec::new()));
        for update in &self.updates[i] {
            let Place::At { rate, section, .. } = view.blocks[update.block].place else {
                found.push(format!(
                    "is updated in `{}`, outside of any rate",
                    view.name(update.block)
                ));
                continue;
            };
            let root = view.root_of(rate);
            let (step, updates) = phases.entry(root).or_insert_with(|| {
                order.push(root);
                (rate, Vec::new())
            });
            let sequential = group.order == Order::Sequential;
            let in_step = rate == *step || sequential && (view.below(rate, *step) || root != first);
            if !in_step {
                let (block, step) = (view.name(update.block), &l.rate(*step).name);
                found.push(format!(
                    "is updated in `{block}`, not in its step rate `{step}`"
                ));
            } else if !sequential
                && !matches!(section, Section::Body | Section::Yield | Section::Bottom)
            {
                let block = view.name(update.block);
                found.push(format!(
                    "is updated in `{block}`, not in `body`, `yield` or `bottom`"
                ));
            }
            updates.push(update);
        }
        for root in order {
            let expected = if root == first { &group.next[..] } else { &[] };
            match group.order {
                Order::Prefix(_) => self.scanned(&phases[&root].1, expected, found),
                order => self.assigned(group, order, &phases[&root].1, expected, found),
            }
        }
    }

    fn scanned(&self, updates: &[&UpdateStmt], expected: &[Atom], found: &mut Vec<String>) {
        let scans: Vec<&Vec<Var>> = updates
            .iter()
            .filter_map(|u| scan_results(u.kind))
            .collect();
        if scans.len() != 1 || updates.len() != 1 {
            return found.push("a `prefix` group is updated by one `scan`".into());
        }
        let results = scans[0].iter().map(|v| Atom::Var(*v));
        if !expected.is_empty() && !results.eq(expected.iter().copied()) {
            found.push("its `scan` gives other values than its `next`".into());
        }
    }

    fn assigned(
        &self,
        group: &Group,
        order: Order,
        updates: &[&UpdateStmt],
        expected: &[Atom],
        found: &mut Vec<String>,
    ) {
        let mut values: FxHashMap<Var, Vec<Atom>> = FxHashMap::default();
        for update in updates {
            match update.kind {
                StmtKind::Assign(v, a) => values.entry(*v).or_default().push(*a),
                _ => return found.push("only `prefix` groups are updated by `scan`".into()),
            }
        }
        for (k, v) in group.vars.iter().enumerate() {
            let given = values.get(v).map_or(&[][..], |a| a);
            let name = self.name(*v);
            if given.is_empty() {
                found.push(format!("`{name}` is never updated"));
            } else if given.len() > 1 && order != Order::Sequential {
                found.push(format!("`{name}` is updated more than once"));
            } else if expected.get(k).is_some_and(|next| !given.contains(next)) {
                found.push(format!(
                    "`{name}` is assigned another value than the group's `next`"
                ));
            }
        }
    }

    /// Checks that counters of loop rates increase by one.
    fn counters(&mut self) {
        let view = self.view;
        for (i, rate) in view.l.rates.iter().enumerate() {
            let Some(counter) = rate.kind.counter() else {
                continue;
            };
            let id = RateId::new(i);
            let name = self.name(counter).to_string();
            let assigned = self.assigned.remove(&counter).unwrap_or_default();
            let cursor = matches!(rate.kind, RateKind::Cursor { .. });
            if self.carries[counter.index()].is_none() {
                self.faults
                    .add(&rate.name, format!("its counter `{name}` is not carried"));
            }
            if assigned.is_empty() || !cursor && assigned.len() > 1 {
                let message = format!("its counter `{name}` must be counted up once");
                self.faults.add(&rate.name, message);
            }
            for (b, a) in assigned {
                let fits = match view.blocks[b].place {
                    Place::At { rate, section, .. } if cursor => {
                        view.tree.loop_rate(rate) == id && section != Section::Nest
                    }
                    Place::At { rate, section, .. } => rate == id && section == Section::Bottom,
                    _ => false,
                };
                if !fits {
                    let who = if cursor {
                        "own blocks do"
                    } else {
                        "`bottom` does"
                    };
                    let message = format!("must not count `{name}` up: its rate's {who}");
                    self.faults.add(view.name(b), message);
                } else if let Some(message) = self.skips(id, counter, a) {
                    self.faults.add(view.name(b), message);
                }
            }
        }
    }

    /// Returns the reason why `a` is not the rate's counter plus one. A sum computed before the
    /// iteration uses an outdated counter.
    fn skips(&self, rate: RateId, counter: Var, a: Atom) -> Option<String> {
        let (view, name) = (self.view, self.name(counter));
        let sum = |v: Var| Some((v, self.sums.get(&v)?));
        let (one, counter) = (Atom::Const(Const::int(Ty::U64, 1)), Atom::Var(counter));
        match a.var().and_then(sum) {
            Some((v, (block, x, y))) if [(counter, one), (one, counter)].contains(&(*x, *y)) => {
                let around = view.tree.iteration(view.l, view.blocks[*block].place);
                let fresh = around.is_some_and(|around| view.below(around, rate));
                let outside = || {
                    let sum = self.name(v);
                    format!(
                        "`{name}` must go up by 1: `{sum}` is computed outside of the iteration"
                    )
                };
                (!fresh).then(outside)
            }
            _ => Some(format!("`{name}` must go up by 1")),
        }
    }
}

fn scan_results(kind: &StmtKind) -> Option<&Vec<Var>> {
    match kind {
        StmtKind::Scan { results, .. } => Some(results),
        _ => None,
    }
}
