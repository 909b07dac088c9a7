//! Levels: which groups must be known before others can be summed up without running the whole loop.
//!
//! A group depends on another if its next value, or whether it is updated at all, depends on the other's
//! value. Its level is 0 if it depends on none, else one more than the highest level that it depends on.
//! A summary pass of level k computes the groups of levels up to k, given the prefixes of those below.
//!
//! Groups that depend on each other in a *circle* share a level: the count of a filter, say, and the flag
//! that ends it after so many elements. No chunk's sum of theirs can be told without what was before. They are
//! computed in order, in the pass that finds where chunks begin. A group is a circle of its own if its value
//! decides whether it is updated, but for a flag that admits as long as it is true: what comes behind its end
//! would not change it. Groups say that they are in a circle, since a pass may find that they need not be.

use crate::gotos::Tree;
use crate::ir::{
    Atom, Combine, End, GroupId, Loop, Place, RateId, RateKind, Section, Stmt, StmtKind, Var,
};
use crate::op::Op;
use crate::walk;
use rustc_hash::FxHashMap;

/// The level of each group, at least, and whether it is in a circle.
pub fn required_levels(program: &Loop) -> Vec<(u32, bool)> {
    let (levels, circles) = Graph::of(program).levels_and_circles();
    levels.into_iter().zip(circles).collect()
}

/// Gives each group the level that it requires, and says which are in circles.
pub fn set_levels(program: &mut Loop) {
    let required = required_levels(program);
    for (group, (level, circle)) in program.groups.iter_mut().zip(required) {
        (group.level, group.circle) = (level, circle);
    }
}

/// Whether a group's value decides whether it is updated, by other ways than a flag that admits.
pub(crate) fn decides(program: &Loop, group: GroupId) -> bool {
    Dependencies::of(program).decides(program, group.index())
}

/// What decides over groups and rates.
struct Graph<'l> {
    program: &'l Loop,
    /// Groups behind each group's next value.
    next: Vec<Vec<GroupId>>,
    /// Groups behind the admission to each rate, its parents' left out.
    control: Vec<Vec<GroupId>>,
    /// The rates at which phases update each group.
    rates: Vec<Vec<RateId>>,
    /// Whether each group decides over its own updates.
    decides: Vec<bool>,
}

impl<'l> Graph<'l> {
    fn of(program: &'l Loop) -> Graph<'l> {
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
        Graph {
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

    /// The groups that a group depends on, itself left out: a rate is under the control of its parents' as well.
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

    /// Each group's level, and whether it is in a circle: Tarjan's algorithm, on an explicit stack. A circle is
    /// complete when all that it depends on is.
    fn levels_and_circles(&self) -> (Vec<u32>, Vec<bool>) {
        const UNSEEN: usize = usize::MAX;
        let groups = self.program.groups.len();
        let mut circles = vec![false; groups];
        let mut level = vec![0; groups];
        // By order of discovery; complete ones lie behind all.
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
                let circle = open.split_off(first);
                let highest = circle.iter().map(|g| level[*g]).max().unwrap_or(0);
                for g in &circle {
                    (complete[*g], level[*g]) = (true, highest);
                    circles[*g] = circle.len() > 1 || self.decides[*g];
                }
            }
        }
        (level, circles)
    }
}

/// What every variable is computed from.
struct Dependencies {
    operands: FxHashMap<Var, Vec<Var>>,
    /// Variables that hold a group's old or next value.
    group_of: FxHashMap<Var, GroupId>,
    /// Variables that decide whether a rate's elements exist.
    control: Vec<Vec<Var>>,
    updates: Vec<Vec<Update>>,
}

/// Where a group is updated, and by what.
struct Update {
    rate: RateId,
    /// The rate whose admission decides whether this comes about: `bottom` of a sub rate comes to each iteration
    /// around it.
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
        // What one group holds may be what another goes on with: it is the first one's.
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
                // What leaves an iteration in its middle decides over the rest of it.
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

    /// A statement with regions counts as one step from all that it reads to all that it hands out, as
    /// the verifier has it.
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

    /// Notes which groups a rate's statements update.
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
                self.updates[g.index()].push(Update { rate, within, vars });
            }
        }
    }

    /// As [`decides`].
    fn decides(&self, program: &Loop, group: usize) -> bool {
        let of = &program.groups[group];
        // Where a chunk stands says what loop rates have counted to.
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

    /// The groups, `own` excepted, whose values are behind these variables.
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
