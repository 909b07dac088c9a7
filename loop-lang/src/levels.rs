//! Levels: dependence order of groups in summary passes.
//!
//! A group depends on another group in two ways: through its next value, or through the condition
//! of its update. A group without dependences has level 0. Otherwise its level is one more than the
//! highest level that it depends on. The summary pass of level k computes the groups of levels up
//! to k, given the prefixes of the lower levels. No pass has to run the whole loop.
//!
//! Groups in a strongly connected component share a level; the text form marks them as `cycle`. An
//! example is a filter's count with the flag that ends the filter at a limit. No chunk's sum of
//! such groups is independent of earlier chunks. The pass that locates chunks computes them in
//! order.
//!
//! A group is a component of its own if its value controls its own update. The exception is a flag
//! that admits while it is true: later elements would not change it. Groups store whether they are
//! marked, since a pass may find that they need not be.

use crate::gotos::Tree;
use crate::ir::{
    Atom, Combine, End, GroupId, Loop, Place, RateId, RateKind, Section, Stmt, StmtKind, Var,
};
use crate::op::Op;
use crate::walk;
use rustc_hash::FxHashMap;

/// Returns each group's minimum level, and whether it is a `cycle`.
pub fn required_levels(program: &Loop) -> Vec<(u32, bool)> {
    let (levels, cycles) = GroupGraph::of(program).levels_and_cycles();
    levels.into_iter().zip(cycles).collect()
}

/// Sets each group's required level and its `cycle` flag.
pub fn set_levels(program: &mut Loop) {
    let required = required_levels(program);
    for (group, (level, cycle)) in program.groups.iter_mut().zip(required) {
        (group.level, group.cycle) = (level, cycle);
    }
}

/// Tells whether a group's value controls its own update, other than as an admitting flag.
pub(crate) fn decides(program: &Loop, group: GroupId) -> bool {
    Dependencies::of(program).decides(program, group.index())
}

/// Holds the dependences of groups and rates.
struct GroupGraph<'l> {
    program: &'l Loop,
    /// The groups that each group's next value depends on.
    next: Vec<Vec<GroupId>>,
    /// The groups that control the admission to each rate, without those of its parents.
    control: Vec<Vec<GroupId>>,
    /// The rates at which phases update each group.
    rates: Vec<Vec<RateId>>,
    /// Whether each group controls its own updates.
    decides: Vec<bool>,
}

impl<'l> GroupGraph<'l> {
    fn of(program: &'l Loop) -> GroupGraph<'l> {
        let analysis = Dependencies::of(program);
        let behind = |vars: Vec<Var>, own| analysis.groups_behind(vars, own);
        let next = program.groups.iter().enumerate().map(|(id, g)| {
            let next = g.next.iter().filter_map(|a| a.var());
            let updates = analysis.updates[id].iter();
            let vars = next.chain(updates.flat_map(|u| &u.vars).copied());
            behind(vars.collect(), Some(GroupId::new(id)))
        });
        let control = analysis.control.iter();
        let control = control.map(|vars| behind(vars.clone(), None));
        let rates = analysis.updates.iter();
        GroupGraph {
            next: next.collect(),
            control: control.collect(),
            rates: rates
                .map(|updates| updates.iter().map(|u| u.rate).collect())
                .collect(),
            decides: (0..program.groups.len())
                .map(|g| analysis.decides(program, g))
                .collect(),
            program,
        }
    }

    /// Lists the dependences of a group, except itself. A rate is also controlled by its parents'
    /// conditions.
    fn below(&self, group: usize) -> Vec<usize> {
        let step = self.program.groups.get(group).map(|g| g.step);
        let steps = step.into_iter().chain(self.rates[group].iter().copied());
        let control = steps.flat_map(move |step| {
            let mut rate = Some(step);
            std::iter::from_fn(move || {
                let r = rate?;
                rate = self.program.rates.get(r.index())?.kind.parent();
                self.control.get(r.index())
            })
        });
        let all = self.next[group].iter().chain(control.flatten());
        all.map(|g| g.index()).filter(|g| *g != group).collect()
    }

    /// Returns each group's level and whether it is a `cycle`, by Tarjan's algorithm with an
    /// explicit stack. A component is complete when all of its dependences are.
    fn levels_and_cycles(&self) -> (Vec<u32>, Vec<bool>) {
        const UNSEEN: usize = usize::MAX;
        let groups = self.program.groups.len();
        let mut cycles = vec![false; groups];
        let mut level = vec![0; groups];
        // By order of discovery; completed groups have the highest numbers.
        let (mut low, mut found) = (vec![UNSEEN; groups], 0);
        let mut complete = vec![false; groups];
        let mut open: Vec<usize> = Vec::new();
        for root in 0..groups {
            let mut stack: Vec<(usize, usize, Vec<usize>)> = Vec::new();
            let mut enter = (low[root] == UNSEEN).then_some(root);
            loop {
                if let Some(n) = enter.take() {
                    low[n] = found;
                    stack.push((n, found, self.below(n)));
                    open.push(n);
                    found += 1;
                }
                let Some((n, number, below)) = stack.last_mut() else {
                    break;
                };
                if let Some(to) = below.pop() {
                    if low[to] == UNSEEN {
                        below.push(to);
                        enter = Some(to);
                    } else if complete[to] {
                        level[*n] = level[*n].max(level[to] + 1);
                    } else {
                        low[*n] = low[*n].min(low[to]);
                    }
                    continue;
                }
                let (n, number) = (*n, *number);
                stack.pop();
                if low[n] < number {
                    continue;
                }
                let first = open.iter().rposition(|g| *g == n).unwrap_or(0);
                let cycle = open.split_off(first);
                let highest = cycle.iter().map(|g| level[*g]).max().unwrap_or(0);
                for g in &cycle {
                    (complete[*g], level[*g]) = (true, highest);
                    cycles[*g] = cycle.len() > 1 || self.decides[*g];
                }
            }
        }
        (level, cycles)
    }
}

/// Holds the operands of every variable.
struct Dependencies {
    operands: FxHashMap<Var, Vec<Var>>,
    /// Variables that hold a group's old or next value.
    group_of: FxHashMap<Var, GroupId>,
    /// Variables that control whether a rate's elements exist.
    control: Vec<Vec<Var>>,
    updates: Vec<Vec<GroupUpdate>>,
}

/// Describes an update of a group.
struct GroupUpdate {
    rate: RateId,
    /// The rate that controls this update. In a subrate, `bottom` runs in each iteration of the
    /// parent.
    within: RateId,
    vars: Vec<Var>,
}

impl Dependencies {
    fn of(program: &Loop) -> Dependencies {
        let mut d = Dependencies {
            operands: FxHashMap::default(),
            group_of: FxHashMap::default(),
            control: vec![Vec::new(); program.rates.len()],
            updates: program.groups.iter().map(|_| Vec::new()).collect(),
        };
        let tree = Tree::of(program);
        let groups = || program.groups.iter().zip((0..).map(GroupId::new));
        for (g, id) in groups() {
            let next = g.next.iter().filter_map(|a| a.var());
            d.group_of.extend(next.map(|v| (v, id)));
        }
        // If a group's next value is another group's variable, it belongs to the other group.
        for (g, id) in groups() {
            d.group_of.extend(g.vars.iter().map(|v| (*v, id)));
        }
        for (labels, block) in program.blocks.iter() {
            d.statements(&block.stmts);
            for s in &block.stmts {
                if let StmtKind::Scan { results, group, .. } = &s.kind {
                    let vars = &program.groups[group.index()].vars;
                    for v in results {
                        d.group_of.insert(*v, *group);
                        d.operands.entry(*v).or_default().extend(vars);
                    }
                }
            }
            let Some(Place::At { rate, section, .. }) =
                labels.first().map(|l| tree.place(program, *l))
            else {
                continue;
            };
            d.updated(program, (rate, section), &block.stmts);
            let mut decides = |rate: RateId, a: Atom| {
                if !matches!(program.rate(rate).kind, RateKind::Root { .. }) {
                    d.control[rate.index()].extend(a.var());
                }
            };
            for exit in &block.exits {
                // An exit in the middle of an iteration controls the rest of it.
                let left = exit.target.map(|t| tree.place(program, t));
                match left {
                    _ if section == Section::Guard => decides(rate, exit.unless),
                    Some(Place::At { rate, .. }) => decides(rate, exit.unless),
                    _ => {}
                }
            }
            if let (Section::Guard, End::Branch(c, ..)) = (section, &block.end) {
                decides(rate, *c);
            }
        }
        d
    }

    /// Treats a statement with regions as one step from all of its reads to all of its results,
    /// like the verifier.
    fn statements(&mut self, stmts: &[Stmt]) {
        for s in stmts {
            let mut reads = Vec::new();
            walk::summary(s, &mut |a| reads.extend(a.var()), &mut |_| {});
            walk::definitions(&s.kind, &mut |v| {
                self.operands
                    .entry(v)
                    .or_default()
                    .extend_from_slice(&reads);
            });
        }
    }

    /// Records the groups that a rate's statements update.
    fn updated(&mut self, program: &Loop, (rate, section): (RateId, Section), stmts: &[Stmt]) {
        let within = match program.rate(rate).kind {
            RateKind::Sub { parent, .. } if section == Section::Bottom => parent,
            _ => rate,
        };
        for s in stmts {
            let group = match &s.kind {
                StmtKind::Assign(v, _) => self.group_of.get(v).copied(),
                StmtKind::Scan { group, .. } => Some(*group),
                _ => None,
            };
            if let Some(g) = group {
                let mut vars = Vec::new();
                walk::operands(&s.kind, &mut |a| vars.extend(a.var()));
                self.updates[g.index()].push(GroupUpdate { rate, within, vars });
            }
        }
    }

    /// As [`decides`].
    fn decides(&self, program: &Loop, group: usize) -> bool {
        let of = &program.groups[group];
        // A chunk's position determines the counters of loop rates.
        let counts = |v: &Var| program.rates.iter().any(|r| r.kind.counter() == Some(*v));
        if of.vars.iter().any(counts) {
            return false;
        }
        let admits = |v: &Var| of.combine == Some(Combine::Op(Op::And)) && of.vars.contains(v);
        let mut around: Vec<RateId> = self.updates[group].iter().map(|u| u.within).collect();
        let mut behind = Vec::new();
        while let Some(rate) = around.pop() {
            behind.extend(self.control[rate.index()].iter().filter(|v| !admits(v)));
            around.extend(program.rate(rate).kind.parent());
        }
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(v) = behind.pop() {
            if of.vars.contains(v) {
                return true;
            }
            if seen.insert(v) {
                behind.extend(self.operands.get(v).into_iter().flatten());
            }
        }
        false
    }

    /// Lists the groups, except `own`, that these variables depend on.
    fn groups_behind(&self, mut stack: Vec<Var>, own: Option<GroupId>) -> Vec<GroupId> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut found = rustc_hash::FxHashSet::default();
        while let Some(v) = stack.pop() {
            if !seen.insert(v) {
                continue;
            }
            match self.group_of.get(&v) {
                Some(other) if Some(*other) != own => {
                    found.insert(*other);
                }
                _ => stack.extend(self.operands.get(&v).into_iter().flatten()),
            }
        }
        found.into_iter().collect()
    }
}
