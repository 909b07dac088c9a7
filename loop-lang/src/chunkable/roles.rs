//! Group roles: the values that a chunk needs before it runs.

use super::origins::Origins;
use super::placing_groups;
use crate::ir::{Block, Group, GroupId, Loop, Place, RateId, Stmt, StmtKind, Var};
use crate::liveness::saved_variables;
use crate::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// Describes when a chunk needs a group's value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Role {
    /// It determines the position of steps.
    Placing,
    /// Elements, traps or other groups depend on its value: it must be known before these are
    /// emitted.
    Prefix,
    /// It counts elements that are appended to arrays, and has no other use in the loop. A chunk
    /// may append to its own arrays from zero, and copy them later.
    Count,
    /// It is read only at the loop's end. A chunk may start from the identity, and be combined
    /// later.
    Total,
}

/// Returns the role of each group.
///
/// A group of an outer rate with a loop below it is neither a count nor a total: a chunk may begin
/// while its lanes are in use.
pub fn roles(program: &Loop) -> Vec<Role> {
    let origins = Origins::of(program);
    let read = origins.read_groups();
    let placing = placing_groups(program);
    let groups = program.groups.iter().enumerate();
    let role = |(i, group): (usize, &Group)| {
        let outer = program.rate(group.owner).kind.parent().is_none();
        let later = outer && !origins.steps_above_loops(group);
        match read[i] {
            _ if placing[i] => Role::Placing,
            Read::No if later => Role::Total,
            Read::Appends if later && origins.counts_by_one(group) => Role::Count,
            _ => Role::Prefix,
        }
    };
    groups.map(role).collect()
}

/// Describes an array with all writes at one carried variable of a group.
///
/// Kernels may also write to it beyond the variable, up to its length.
#[derive(Clone, Copy, Debug)]
pub struct Appended {
    /// The array.
    pub array: Var,
    /// The variable.
    pub at: Var,
    /// Its group.
    pub group: GroupId,
    /// Whether an appending iteration contains a loop: an unfinished iteration may have written.
    pub above_loops: bool,
    /// Whether filters select the appending iterations, in any phase.
    pub filtered: bool,
}

/// Lists the arrays that a loop appends to.
pub fn appended(program: &Loop) -> Vec<Appended> {
    let origins = Origins::of(program);
    let appended = |(array, at): (Var, Var)| {
        let group = *origins.group_of.get(&at)?;
        let of = &program.groups[group.index()];
        let is_sub = |rate| program.rate(rate).kind.is_sub();
        Some(Appended {
            array,
            at,
            group,
            above_loops: origins.steps_above_loops(of),
            filtered: origins.updated_at(of).any(is_sub),
        })
    };
    origins
        .appended()
        .into_iter()
        .filter_map(appended)
        .collect()
}

/// Raises the groups' levels by role, so that summaries can stop early.
///
/// Placing groups come first, and groups read only at the end come last. A second call changes
/// nothing.
pub fn raise_levels(program: &mut Loop) {
    let roles = roles(program);
    let mut below = 0;
    for role in [Role::Placing, Role::Prefix, Role::Count, Role::Total] {
        let all = || roles.iter().enumerate().filter(|(_, r)| **r == role);
        let Some(lowest) = all().map(|(i, _)| program.groups[i].level).min() else {
            continue;
        };
        let ids: Vec<usize> = all().map(|(i, _)| i).collect();
        let by = u32::saturating_sub(below, lowest);
        for i in ids {
            let level = &mut program.groups[i].level;
            *level += by;
            below = below.max(*level + 1);
        }
    }
}

/// Tells which groups the saved values of an unfinished iteration depend on.
///
/// Placing groups are ignored. The first result is for groups that continue over outer iterations,
/// the second for groups that start in each.
pub fn kept_from_groups(program: &Loop, roles: &[Role]) -> (bool, bool) {
    let origins = Origins::of(program);
    let in_iteration = |v: &Var| !origins.group_of.contains_key(v) && !origins.fixed.contains(v);
    let kept = saved_variables(program);
    let kept = kept.into_iter().filter(in_iteration).collect();
    let mut read = vec![Read::No; program.groups.len()];
    origins.mark(kept, Read::Yes, &mut read);
    let (mut outer, mut inner) = (false, false);
    for (i, group) in program.groups.iter().enumerate() {
        if read[i] == Read::Yes && roles[i] != Role::Placing {
            match program.rate(group.owner).kind.parent() {
                None => outer = true,
                Some(_) => inner = true,
            }
        }
    }
    (outer, inner)
}

/// Describes an iteration's use of a group, other than its own updates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Read {
    No,
    /// Its value is the index of appended elements.
    Appends,
    Yes,
}

impl Origins<'_> {
    /// Returns the rates that update a group: its step rate, and those of other phases.
    fn updated_at(&self, group: &Group) -> impl Iterator<Item = RateId> {
        let updated = group.vars.iter().filter_map(|v| self.assigned.get(v));
        let rates = updated.flatten().map(|(rate, _)| *rate);
        rates.chain([group.step])
    }

    /// Tells whether an iteration that updates a group contains a loop, in any phase.
    fn steps_above_loops(&self, group: &Group) -> bool {
        let above = |rate| self.above_loops[self.tree.loop_rate(rate).index()];
        self.updated_at(group).any(above)
    }

    /// As [`appended`].
    fn appended(&self) -> Vec<(Var, Var)> {
        let mut at: FxHashMap<Var, Option<Var>> = FxHashMap::default();
        self.each_stmt(&mut |s| match &s.kind {
            // Each thread has its own.
            StmtKind::WriteArray(a, ..) if self.scratch.contains(a) => {}
            StmtKind::SortArrays(all, _) if all.iter().all(|a| self.scratch.contains(a)) => {}
            StmtKind::WriteArray(a, i, _) => {
                let index = i.var().filter(|v| self.group_of.contains_key(v));
                let known = at.entry(*a).or_insert(index);
                *known = known.filter(|v| index == Some(*v));
            }
            StmtKind::ScatterArray { arrays, .. } | StmtKind::SortArrays(arrays, _) => {
                at.extend(arrays.iter().map(|a| (*a, None)));
            }
            StmtKind::ArrayLength(_, a) => {
                at.insert(*a, None);
            }
            _ => {}
        });
        let mut all: Vec<(Var, Var)> = at.into_iter().filter_map(|(a, v)| Some((a, v?))).collect();
        all.sort_unstable();
        all
    }

    /// Calls `f` on each statement of an iteration, including those in regions.
    fn each_stmt(&self, f: &mut dyn FnMut(&Stmt)) {
        let inside = |p: &&(Place, &Block)| matches!(p.0, Place::At { .. });
        for (_, block) in self.blocks.iter().filter(inside) {
            for stmt in &block.stmts {
                walk::each(stmt, &mut |s| f(s));
            }
        }
    }

    /// Tells whether one statement writes an array's elements.
    pub(super) fn is_written_once(&self, array: Var) -> bool {
        let mut writes = 0;
        self.each_stmt(&mut |s| match &s.kind {
            StmtKind::WriteArray(a, ..) => writes += usize::from(*a == array),
            StmtKind::ScatterArray { arrays, .. } | StmtKind::SortArrays(arrays, _) => {
                writes += usize::from(arrays.contains(&array));
            }
            _ => {}
        });
        writes == 1
    }

    /// Tells whether a group counts from the loop's beginning.
    fn counts_by_one(&self, group: &Group) -> bool {
        let ([v], [next]) = (&group.vars[..], &group.next[..]) else {
            return false;
        };
        let by_one = next.var().is_some_and(|next| self.is_one_more(*v, next));
        let updates = self.assigned.get(v).map_or(0, Vec::len);
        by_one && updates == 1 && self.rises(*v)
    }

    /// Returns the use of each group by iterations.
    fn read_groups(&self) -> Vec<Read> {
        let appended: FxHashMap<Var, Var> = self.appended().into_iter().collect();
        let mut updates = vec![Vec::new(); self.program.groups.len()];
        let (mut effects, mut appends) = (Vec::new(), Vec::new());
        for (place, block) in &self.blocks {
            if let Place::Return = place {
                continue;
            }
            walk::leaving(block, &mut |a| effects.extend(a.var()));
            for stmt in &block.stmts {
                let reads = &mut Vec::new();
                walk::summary(stmt, &mut |a| reads.extend(a.var()), &mut |_| {});
                let target = match &stmt.kind {
                    StmtKind::Scan { group, .. } => Some(*group),
                    StmtKind::Assign(v, _) => self.group_of.get(v).copied(),
                    _ => None,
                };
                let mut acts = false;
                walk::each(stmt, &mut |s| acts |= has_effect(&s.kind));
                match (&stmt.kind, target) {
                    (StmtKind::WriteArray(a, i, x), _) if appended.contains_key(a) => {
                        appends.extend(i.var());
                        effects.extend(x.var());
                    }
                    (_, Some(group)) => updates[group.index()].append(reads),
                    (_, None) if acts => effects.append(reads),
                    _ => {}
                }
            }
        }
        let mut read = vec![Read::No; updates.len()];
        self.mark(appends, Read::Appends, &mut read);
        self.mark(effects, Read::Yes, &mut read);
        self.mark_updates(updates, &mut read);
        read
    }

    /// Marks the groups that these variables depend on.
    fn mark(&self, mut stack: Vec<Var>, how: Read, read: &mut [Read]) {
        let mut seen = FxHashSet::default();
        while let Some(v) = stack.pop() {
            if !seen.insert(v) {
                continue;
            }
            match self.group_of.get(&v) {
                Some(g) => read[g.index()] = how,
                None => stack.extend(self.operands.get(&v).into_iter().flatten()),
            }
        }
    }

    /// Marks the groups that other groups' updates depend on. A variable is visited at most twice,
    /// for any number of dependent groups: once for the first group, once for all others.
    fn mark_updates(&self, updates: Vec<Vec<Var>>, read: &mut [Read]) {
        let updates = updates.into_iter().enumerate();
        let mut stack: Vec<(Var, Behind)> = updates
            .flat_map(|(i, vars)| vars.into_iter().map(move |v| (v, Behind::One(i))))
            .collect();
        let mut known: FxHashMap<Var, Behind> = FxHashMap::default();
        while let Some((v, by)) = stack.pop() {
            let by = match known.get(&v) {
                Some(old) if *old == by || *old == Behind::Several => continue,
                Some(_) => Behind::Several,
                None => by,
            };
            known.insert(v, by);
            match self.group_of.get(&v) {
                Some(g) if by == Behind::One(g.index()) => {}
                Some(g) => read[g.index()] = Read::Yes,
                None => {
                    let operands = self.operands.get(&v).into_iter().flatten();
                    stack.extend(operands.map(|v| (*v, by)));
                }
            }
        }
    }
}

/// The groups with updates that depend on a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// One group.
    One(usize),
    Several,
}

/// Tells whether a statement has effects besides its results. Updates of counters, which are in no
/// group, are effects as well.
fn has_effect(kind: &StmtKind) -> bool {
    matches!(
        kind,
        StmtKind::Assign(..)
            | StmtKind::Scan { .. }
            | StmtKind::Carry(..)
            | StmtKind::Trap { .. }
            | StmtKind::WriteArray(..)
            | StmtKind::ScatterArray { .. }
            | StmtKind::SortArrays(..)
            | StmtKind::NewArray(..)
            | StmtKind::FillArray(..)
            | StmtKind::CopyArray(..)
            | StmtKind::SliceArray(..)
    )
}
