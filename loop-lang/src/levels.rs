//! Levels: which groups must be known before others can be summed up without running the whole loop.
//!
//! A group depends on another if its next value, or whether it is updated at all, depends on the other's
//! value. Its level is 0 if it depends on none, else one more than the highest level that it depends on.
//! A summary pass of level k computes the groups of levels up to k, given the prefixes of those below.

use crate::ir::{Atom, End, GroupId, Loop, RateKind, Section, Stmt, Var};
use crate::walk;
use rustc_hash::FxHashMap;

/// The level of each group, at least. Groups that depend on each other in a circle share a level; they can
/// only be sequential.
pub fn required_levels(program: &Loop) -> Vec<u32> {
    let analysis = Dependencies::of(program);
    let groups = program.groups.len();
    // Rates are nodes of the dependency graph too: what decides over a parent decides over its children.
    let mut depends: Vec<Vec<Edge>> = Vec::with_capacity(groups + program.rates.len());
    for (id, g) in program.groups.iter().enumerate() {
        let next = g.next.iter().filter_map(var).collect();
        let mut edges = analysis.groups_behind(next, Some(GroupId::new(id)));
        edges.push(Edge {
            to: groups + g.step.index(),
            rise: 0,
        });
        depends.push(edges);
    }
    for (id, rate) in program.rates.iter().enumerate() {
        let mut edges = analysis.groups_behind(analysis.control[id].clone(), None);
        edges.extend(rate.kind.parent().map(|p| Edge {
            to: groups + p.index(),
            rise: 0,
        }));
        depends.push(edges);
    }
    let mut levels = longest_chains(&depends);
    levels.truncate(groups);
    levels
}

/// A dependency: the level is at least that of `to`, plus `rise`.
struct Edge {
    to: usize,
    rise: u32,
}

/// Height of the longest chain below each node, on an explicit stack; an edge back into the chain that is
/// being followed is ignored.
fn longest_chains(depends: &[Vec<Edge>]) -> Vec<u32> {
    let mut level = vec![0; depends.len()];
    let mut state = vec![0u8; depends.len()];
    for root in 0..depends.len() {
        let mut stack = vec![root];
        while let Some(&n) = stack.last() {
            if state[n] == 0 {
                state[n] = 1;
                stack.extend(depends[n].iter().map(|e| e.to).filter(|to| state[*to] == 0));
                continue;
            }
            stack.pop();
            if state[n] == 1 {
                state[n] = 2;
                let below = depends[n].iter().filter(|e| state[e.to] == 2);
                level[n] = below.map(|e| level[e.to] + e.rise).max().unwrap_or(0);
            }
        }
    }
    level
}

/// What every variable is computed from.
struct Dependencies {
    operands: FxHashMap<Var, Vec<Var>>,
    /// Variables that hold a group's old or next value.
    group_of: FxHashMap<Var, GroupId>,
    /// Variables that decide whether a rate's elements exist.
    control: Vec<Vec<Var>>,
}

impl Dependencies {
    fn of(program: &Loop) -> Dependencies {
        let mut d = Dependencies {
            operands: FxHashMap::default(),
            group_of: FxHashMap::default(),
            control: vec![Vec::new(); program.rates.len()],
        };
        for (id, g) in program.groups.iter().enumerate() {
            let next = g.next.iter().filter_map(var);
            for v in g.vars.iter().copied().chain(next) {
                d.group_of.insert(v, GroupId::new(id));
            }
        }
        for (labels, block) in program.blocks.iter() {
            d.statements(&block.stmts);
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
                d.control[home.rate.index()].extend(exits.chain(branch).filter_map(|a| var(&a)));
            }
        }
        d
    }

    /// A statement with regions counts as one step from all that it reads to all that it hands out, as
    /// the verifier has it.
    fn statements(&mut self, stmts: &[Stmt]) {
        for s in stmts {
            let mut reads = Vec::new();
            walk::summary(s, &mut |a| reads.extend(var(&a)), &mut |_| {});
            walk::definitions(&s.kind, &mut |v| {
                self.operands
                    .entry(v)
                    .or_default()
                    .extend_from_slice(&reads);
            });
        }
    }

    /// The groups, `own` excepted, whose values are behind these variables.
    fn groups_behind(&self, mut stack: Vec<Var>, own: Option<GroupId>) -> Vec<Edge> {
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
        found
            .into_iter()
            .map(|g| Edge {
                to: g.index(),
                rise: 1,
            })
            .collect()
    }
}

fn var(a: &Atom) -> Option<Var> {
    match a {
        Atom::Var(v) => Some(*v),
        Atom::Const(_) => None,
    }
}
