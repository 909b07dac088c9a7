//! Levels: which groups must be known before others can be summed up without running the whole loop.
//!
//! A group depends on another if its next value, or whether it is updated at all, depends on the other's
//! value. Its level is 0 if it depends on none, else one more than the highest level that it depends on.
//! A summary pass of level k computes the groups of levels up to k, given the prefixes of those below.

use crate::ir::{Atom, End, GroupId, Loop, RateId, RateKind, Section, Stmt, StmtKind, Var};
use crate::walk;
use rustc_hash::FxHashMap;

/// The level of each group, at least. Groups that depend on each other in a circle share a level; they can
/// only be sequential.
pub fn required_levels(program: &Loop) -> Vec<u32> {
    let analysis = Dependencies::of(program);
    let behind = |vars: Vec<Var>, own| analysis.groups_behind(vars, own);
    let next = program.groups.iter().enumerate().map(|(id, g)| {
        let next = g.next.iter().filter_map(|a| a.var());
        let updates = analysis.updates[id].iter();
        let vars = next.chain(updates.flat_map(|(_, vars)| vars).copied());
        behind(vars.collect(), Some(GroupId::new(id)))
    });
    let control = analysis
        .control
        .iter()
        .map(|vars| behind(vars.clone(), None));
    let graph = Graph {
        program,
        next: next.collect(),
        control: control.collect(),
        rates: (analysis.updates.iter())
            .map(|updates| updates.iter().map(|(rate, _)| *rate).collect())
            .collect(),
    };
    graph.longest_chains()
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
}

impl Graph<'_> {
    /// The groups that a group depends on: a rate is under the control of its parents' as well. A counter
    /// decides over its own updates, but no other order of these could give another count.
    fn below(&self, group: usize) -> impl Iterator<Item = usize> {
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
        all.map(|g| g.index()).filter(move |g| *g != group)
    }

    /// Height of the longest chain below each group, on an explicit stack; an edge back into the chain
    /// that is being followed is ignored.
    fn longest_chains(&self) -> Vec<u32> {
        let groups = self.program.groups.len();
        let mut level = vec![0; groups];
        let mut state = vec![0u8; groups];
        for root in 0..groups {
            let mut stack = vec![root];
            while let Some(&n) = stack.last() {
                if state[n] == 0 {
                    state[n] = 1;
                    stack.extend(self.below(n).filter(|to| state[*to] == 0));
                    continue;
                }
                stack.pop();
                if state[n] == 1 {
                    state[n] = 2;
                    let below = self.below(n).filter(|to| state[*to] == 2);
                    level[n] = below.map(|to| level[to] + 1).max().unwrap_or(0);
                }
            }
        }
        level
    }
}

/// What every variable is computed from.
struct Dependencies {
    operands: FxHashMap<Var, Vec<Var>>,
    /// Variables that hold a group's old or next value.
    group_of: FxHashMap<Var, GroupId>,
    /// Variables that decide whether a rate's elements exist.
    control: Vec<Vec<Var>>,
    /// Where each group is updated, and by what.
    updates: Vec<Vec<(RateId, Vec<Var>)>>,
}

impl Dependencies {
    fn of(program: &Loop) -> Dependencies {
        let mut d = Dependencies {
            operands: FxHashMap::default(),
            group_of: FxHashMap::default(),
            control: vec![Vec::new(); program.rates.len()],
            updates: vec![Vec::new(); program.groups.len()],
        };
        for (id, g) in program.groups.iter().enumerate() {
            let next = g.next.iter().filter_map(|a| a.var());
            for v in g.vars.iter().copied().chain(next) {
                d.group_of.insert(v, GroupId::new(id));
            }
        }
        for (labels, block) in program.blocks.iter() {
            d.statements(&block.stmts);
            for s in &block.stmts {
                if let StmtKind::Scan { results, group, .. } = &s.kind {
                    d.group_of.extend(results.iter().map(|v| (*v, *group)));
                }
            }
            let home = labels.iter().find_map(|l| program.comb(l.comb).home);
            if let Some(home) = home {
                d.updated(home.rate, &block.stmts);
            }
            let Some(home) = labels.iter().find_map(|l| {
                program
                    .comb(l.comb)
                    .home
                    .filter(|_| l.section == Section::Guard)
            }) else {
                continue;
            };
            let is_root = matches!(program.rate(home.rate).kind, RateKind::Root { .. });
            let exits = block.exits.iter().map(|e| e.unless);
            let branch = match block.end {
                End::Branch(c, ..) => Some(c),
                _ => None,
            };
            if !is_root {
                d.control[home.rate.index()].extend(exits.chain(branch).filter_map(Atom::var));
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
    fn updated(&mut self, rate: RateId, stmts: &[Stmt]) {
        for s in stmts {
            let group = match &s.kind {
                StmtKind::Assign(v, _) => self.group_of.get(v).copied(),
                StmtKind::Scan { group, .. } => Some(*group),
                _ => None,
            };
            if let Some(g) = group {
                let mut vars = Vec::new();
                walk::operands(&s.kind, &mut |a| vars.extend(a.var()));
                self.updates[g.index()].push((rate, vars));
            }
        }
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
