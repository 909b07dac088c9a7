//! Dependences of groups: lanes stay separate, and levels are above those of their dependences.
//!
//! Both checks propagate facts through the statements in execution order, in which definitions
//! precede uses. A statement with regions counts as one step from all of its reads to all of its
//! definitions.

use super::Faults;
use super::view::View;
use crate::ir::*;
use crate::levels::decides;
use crate::steps::Steps;
use crate::walk;
use rustc_hash::FxHashMap;

pub(super) fn check(view: &View, faults: &mut Faults) {
    lanes(view, faults);
    let sequential = view.l.groups.iter().any(|g| g.combine.is_none());
    let cursors = view
        .l
        .rates
        .iter()
        .any(|r| matches!(r.kind, RateKind::Cursor { .. }));
    if !sequential && !cursors {
        levels(view, faults);
    }
}

/// The group with lanes that a value depends on.
#[derive(Clone, Copy, PartialEq)]
enum Lane {
    None,
    Of(GroupId),
    Mixed,
}

impl Lane {
    fn join(self, other: Lane) -> Lane {
        match (self, other) {
            (Lane::None, x) | (x, Lane::None) => x,
            (a, b) if a == b => a,
            _ => Lane::Mixed,
        }
    }
}

struct Lanes<'a> {
    view: &'a View<'a>,
    of: Vec<Lane>,
    /// The root of the last phase that updates each group of a root.
    last_phase: Vec<Option<RateId>>,
    steps: Steps,
}

/// Checks that values of lanes are used only by their own group's update.
fn lanes(view: &View, faults: &mut Faults) {
    if !view.l.groups.iter().any(|g| g.order.lanes().is_some()) {
        return;
    }
    let mut lanes = Lanes {
        view,
        of: vec![Lane::None; view.l.vars.len()],
        last_phase: last_phases(view),
        steps: Steps::of(view.l, &view.tree),
    };
    for (b, placed) in view.blocks.iter().enumerate() {
        lanes.strays(b, faults);
        let mut report = |l: &Loop, lane: Lane, what: &str| {
            let message = match lane {
                Lane::None => return,
                Lane::Of(g) => {
                    let group = l.groups[g.index()].vars.first().map_or("?", |v| l.name(*v));
                    format!(
                        "{what} depends on a lane of `{group}`, which feeds its own update only"
                    )
                }
                Lane::Mixed => format!("{what} depends on the lanes of several groups"),
            };
            faults.add(view.name(b), message);
        };
        for stmt in &placed.block.stmts {
            let mut lane = Lane::None;
            let mut defined = Vec::new();
            walk::summary(
                stmt,
                &mut |a| lane = lane.join(lanes.read(a, b)),
                &mut |v| defined.push(v),
            );
            match &stmt.kind {
                StmtKind::Assign(v, _) => {
                    if view.group_of[v.index()].is_none_or(|g| lane != Lane::Of(g)) {
                        report(view.l, lane, &format!("`{}`", view.l.name(*v)));
                    }
                }
                StmtKind::Let(..)
                | StmtKind::ReadArray(..)
                | StmtKind::ArrayLength(..)
                | StmtKind::Trap { .. }
                | StmtKind::If { .. }
                | StmtKind::While { .. } => {
                    if lane == Lane::Mixed {
                        let v = defined.first().map_or("a trap", |v| view.l.name(*v));
                        report(view.l, lane, &format!("`{v}`"));
                        // Reported once, not for its dependents.
                        lane = Lane::None;
                    }
                    defined.iter().for_each(|v| lanes.of[v.index()] = lane);
                }
                _ => report(view.l, lane, "a carried, scanned or stored value"),
            }
        }
        for exit in &placed.block.exits {
            report(view.l, lanes.read(exit.unless, b), "an exit");
        }
        if let End::Branch(cond, ..) = placed.block.end {
            report(view.l, lanes.read(cond, b), "a branch");
        }
    }
}

fn last_phases(view: &View) -> Vec<Option<RateId>> {
    let mut last = vec![None; view.l.groups.len()];
    for placed in &view.blocks {
        let Place::At { rate, .. } = placed.place else {
            continue;
        };
        for stmt in &placed.block.stmts {
            let StmtKind::Assign(v, _) = stmt.kind else {
                continue;
            };
            if let Some(g) = view.group_of[v.index()] {
                last[g.index()] = Some(view.root_of(rate));
            }
        }
    }
    last
}

impl Lanes<'_> {
    /// Returns the lane read by an operand in a block.
    fn read(&self, a: Atom, b: usize) -> Lane {
        let Atom::Var(v) = a else { return Lane::None };
        match self.view.group_of[v.index()] {
            Some(g) if self.running(g, b) => Lane::Of(g),
            Some(_) => Lane::None,
            None => self.of[v.index()],
        }
    }

    /// Reports variables that a block reads where they are meaningless.
    fn strays(&self, b: usize, faults: &mut Faults) {
        for stmt in &self.view.blocks[b].block.stmts {
            let mut stray = None;
            let mut read = |a: Atom| stray = stray.or(a.var().filter(|v| self.is_stray(*v, b)));
            walk::summary(stmt, &mut read, &mut |_| {});
            if let Some(v) = stray {
                let name = self.view.l.name(v);
                let message =
                    format!("`{name}` is read where its lanes are neither dealt nor joined");
                faults.add(self.view.name(b), message);
            }
        }
    }

    /// Tells whether a variable is read where no lane is defined. That is in `init`, or in a rate's
    /// block outside the loop that assigns its group's elements to lanes, before the final
    /// combination.
    fn is_stray(&self, v: Var, b: usize) -> bool {
        let (view, place) = (self.view, self.view.blocks[b].place);
        let Some(g) = view.group_of[v.index()] else {
            return false;
        };
        let Place::At { rate, section, .. } = place else {
            return place == Place::Init && self.running(g, b);
        };
        let outside = matches!(section, Section::Nest | Section::Done);
        let dealt = self.steps.at(g, rate);
        let inside = dealt.is_some_and(|r| view.within(place, r) && !(outside && r == rate));
        self.running(g, b) && !inside
    }

    /// Tells whether a group's variables refer to lanes in a block: its owner's loop has not ended.
    fn running(&self, g: GroupId, b: usize) -> bool {
        let (view, place) = (self.view, self.view.blocks[b].place);
        let group = &view.l.groups[g.index()];
        if group.order.lanes().is_none() {
            return false;
        }
        let over = Place::At {
            rate: group.owner,
            stage: 0,
            section: Section::Done,
        };
        match view.l.rate(group.owner).kind {
            RateKind::Root { .. } => {
                let end = self.last_phase[g.index()].unwrap_or(group.owner);
                // The `done` of a root is its last place, if the tree has one.
                let done = view.tree.done(view.l, end);
                view.rank(place) < view.rank(done)
            }
            _ => place != over && view.within(place, group.owner),
        }
    }
}

/// The two highest levels, of different groups, that a value depends on, each plus one. A group may
/// depend on itself, so the highest alone is not enough.
#[derive(Clone, Copy, Default)]
struct Need {
    first: Option<(u32, GroupId)>,
    second: Option<(u32, GroupId)>,
}

impl Need {
    fn add(&mut self, need: (u32, GroupId)) {
        match self.first {
            Some(first) if first.1 == need.1 => {}
            Some(first) if first.0 >= need.0 => {
                if self.second.is_none_or(|second| second.0 < need.0) {
                    self.second = Some(need);
                }
            }
            first => {
                self.first = Some(need);
                self.second = first;
            }
        }
    }

    fn join(&mut self, other: Need) {
        other
            .first
            .into_iter()
            .chain(other.second)
            .for_each(|n| self.add(n));
    }

    /// Returns the highest level of groups other than `own`.
    fn without(self, own: GroupId) -> Option<(u32, GroupId)> {
        match self.first {
            Some((_, g)) if g == own => self.second,
            first => first,
        }
    }
}

struct Levels<'a> {
    view: &'a View<'a>,
    /// The representative of each group (see [`cycles`]).
    cycle: Vec<GroupId>,
    of: Vec<Need>,
    /// The dependences of each rate's admission.
    admission: Vec<Need>,
}

/// Checks that levels are high enough, and that groups in strongly connected components are marked.
fn levels(view: &View, faults: &mut Faults) {
    let mut levels = Levels {
        view,
        of: vec![Need::default(); view.l.vars.len()],
        admission: vec![Need::default(); view.l.rates.len()],
        cycle: cycles(view.l),
    };
    let updates = levels.updates();
    let name = |g: GroupId| {
        let first = view.l.groups[g.index()].vars.first();
        first.map_or("?", |v| view.l.name(*v)).to_string()
    };
    for (i, (group, (needs, admission))) in view.l.groups.iter().zip(updates).enumerate() {
        let id = GroupId::new(i);
        if let Some((level, on)) = needs.without(levels.cycle[i])
            && group.level < level
        {
            let message = format!(
                "level {} is too low: its update depends on `{}`, so {level} at least",
                group.level,
                name(on)
            );
            faults.add(name(id), message);
        }
        // Few groups have an admission that depends on their own level.
        let first = admission.first.map_or(0, |(level, _)| level);
        if !group.cycle && first > group.level && decides(view.l, id) {
            let message = "its value decides whether it is updated: it is a `cycle` of its own";
            faults.add(name(id), message);
        }
    }
}

/// Returns each group's representative: the first marked group of its level, for all marked groups.
fn cycles(l: &Loop) -> Vec<GroupId> {
    let mut first: FxHashMap<u32, GroupId> = FxHashMap::default();
    let groups = l.groups.iter().enumerate();
    let cycle = |(i, group): (usize, &Group)| match group.cycle {
        true => *first.entry(group.level).or_insert(GroupId::new(i)),
        false => GroupId::new(i),
    };
    groups.map(cycle).collect()
}

impl Levels<'_> {
    /// Returns the dependences of each group's updates, and those of their admission alone.
    fn updates(&mut self) -> Vec<(Need, Need)> {
        let view = self.view;
        let mut updates = vec![(Need::default(), Need::default()); view.l.groups.len()];
        for placed in &view.blocks {
            let rate = match placed.place {
                Place::At { rate, .. } => Some(rate),
                Place::Init | Place::Return => None,
            };
            for stmt in &placed.block.stmts {
                let mut need = Need::default();
                let mut defined = Vec::new();
                walk::summary(stmt, &mut |a| need.join(self.read(a)), &mut |v| {
                    defined.push(v)
                });
                defined.iter().for_each(|v| self.of[v.index()] = need);
                let group = match stmt.kind {
                    StmtKind::Assign(v, _) | StmtKind::Carry(v, _) => view.group_of[v.index()],
                    StmtKind::Scan { group, .. } => {
                        // Its results also depend on the group itself.
                        need.join(self.group(group));
                        defined.iter().for_each(|v| self.of[v.index()] = need);
                        Some(group)
                    }
                    _ => None,
                };
                if let Some(g) = group {
                    let (update, admission) = &mut updates[g.index()];
                    update.join(need);
                    if let Some(r) = rate.filter(|_| !matches!(stmt.kind, StmtKind::Carry(..))) {
                        update.join(self.admission[r.index()]);
                        admission.join(self.admission[r.index()]);
                    }
                }
            }
            if let Place::At { rate, section, .. } = placed.place {
                self.exits(rate, section, &placed.block.exits);
            }
        }
        updates
    }

    fn group(&self, g: GroupId) -> Need {
        let level = self.view.l.groups[g.index()].level.saturating_add(1);
        Need {
            first: Some((level, self.cycle[g.index()])),
            second: None,
        }
    }

    fn read(&self, a: Atom) -> Need {
        let Atom::Var(v) = a else {
            return Need::default();
        };
        let counts = self.view.counts[v.index()];
        let root = counts.is_some_and(|r| self.view.l.rate(r).kind.parent().is_none());
        match self.view.group_of[v.index()] {
            // A chunk knows its position in the roots' iterations.
            _ if root => Need::default(),
            Some(g) => self.group(g),
            None => self.of[v.index()],
        }
    }

    /// Parents' guards come before their children's. An exit in the middle of an iteration controls
    /// the rest of it.
    fn exits(&mut self, rate: RateId, section: Section, exits: &[Exit]) {
        let view = self.view;
        let parent = |r: RateId| view.l.rate(r).kind.parent();
        let guards = section == Section::Guard;
        if guards {
            let above = parent(rate).map(|p| self.admission[p.index()]);
            self.admission[rate.index()] = above.unwrap_or_default();
        }
        for exit in exits {
            let target = exit.target.and_then(|t| view.target(t));
            let left = match target.map(|t| view.blocks[t].place) {
                _ if guards => rate,
                Some(Place::At { rate, .. }) => rate,
                _ => continue,
            };
            let need = self.read(exit.unless);
            let mut within = Some(rate).filter(|_| parent(left).is_some());
            while let Some(r) = within {
                self.admission[r.index()].join(need);
                within = parent(r).filter(|_| r != left);
            }
        }
    }
}
