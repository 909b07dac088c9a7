//! Levels: which groups must be known before others can be summed up without running the whole loop.
//!
//! A group depends on another if its next value, or whether it is updated at all, depends on the other's
//! value. Its level is 0 if it depends on none, else one more than the highest level that it depends on.
//! A summary pass of level k computes the groups of levels up to k, given the prefixes of those below.

use crate::ir::{Atom, End, GroupId, Loop, RateId, RateKind, Section, Stmt, StmtKind, Var};
use rustc_hash::FxHashMap;

/// The level of each group, at least. Groups that depend on each other in a circle share a level; they can
/// only be sequential.
pub fn required_levels(program: &Loop) -> Vec<u32> {
    let analysis = Dependencies::of(program);
    let depends: Vec<Vec<GroupId>> =
        (0..program.groups.len()).map(|g| analysis.groups_of(program, GroupId::new(g))).collect();
    longest_chains(&depends)
}

/// Length of the longest chain below each group, on an explicit stack; an edge back into the chain that is
/// being followed is ignored.
fn longest_chains(depends: &[Vec<GroupId>]) -> Vec<u32> {
    let mut level = vec![0; depends.len()];
    let mut state = vec![0u8; depends.len()];
    for root in 0..depends.len() {
        let mut stack = vec![root];
        while let Some(&g) = stack.last() {
            if state[g] == 0 {
                state[g] = 1;
                stack.extend(depends[g].iter().map(|h| h.index()).filter(|h| state[*h] == 0));
                continue;
            }
            stack.pop();
            if state[g] == 1 {
                state[g] = 2;
                let below = depends[g].iter().filter(|h| state[h.index()] == 2);
                level[g] = below.map(|h| level[h.index()] + 1).max().unwrap_or(0);
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
                program.comb(l.comb).home.filter(|_| l.section == Section::Guard)
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

    fn statements(&mut self, stmts: &[Stmt]) {
        let mut pending: Vec<&Stmt> = stmts.iter().collect();
        while let Some(s) = pending.pop() {
            match &s.kind {
                StmtKind::Let(v, _, args) => self.add(*v, args.iter()),
                StmtKind::Scan { results, elems, .. } => {
                    results.iter().for_each(|r| self.add(*r, elems.iter()));
                }
                StmtKind::ReadArray(v, _, index) => self.add(*v, [index].into_iter()),
                StmtKind::If { cond, then, other, results } => {
                    pending.extend(then.iter().chain(other));
                    for (v, a, b) in results {
                        self.add(*v, [cond, a, b].into_iter());
                    }
                }
                StmtKind::While { state, test, cond, body, next } => {
                    pending.extend(test.iter().chain(body));
                    for ((v, start), n) in state.iter().zip(next) {
                        self.add(*v, [start, cond, n].into_iter());
                    }
                }
                _ => {}
            }
        }
    }

    fn add<'a>(&mut self, v: Var, from: impl Iterator<Item = &'a Atom>) {
        self.operands.entry(v).or_default().extend(from.filter_map(var));
    }

    /// The other groups on which a group's updates depend.
    fn groups_of(&self, program: &Loop, id: GroupId) -> Vec<GroupId> {
        let group = &program.groups[id.index()];
        let mut stack: Vec<Var> = group.next.iter().filter_map(var).collect();
        for v in &stack {
            debug_assert!(self.group_of.contains_key(v));
        }
        let mut rate: Option<RateId> = Some(group.step);
        while let Some(r) = rate {
            stack.extend(&self.control[r.index()]);
            rate = program.rate(r).kind.parent();
        }
        let mut seen = rustc_hash::FxHashSet::default();
        let mut found = rustc_hash::FxHashSet::default();
        while let Some(v) = stack.pop() {
            if !seen.insert(v) {
                continue;
            }
            match self.group_of.get(&v) {
                Some(other) if *other != id => {
                    found.insert(*other);
                }
                _ => stack.extend(self.operands.get(&v).into_iter().flatten()),
            }
        }
        let mut found: Vec<GroupId> = found.into_iter().collect();
        found.sort_unstable();
        found
    }
}

fn var(a: &Atom) -> Option<Var> {
    match a {
        Atom::Var(v) => Some(*v),
        Atom::Const(_) => None,
    }
}
