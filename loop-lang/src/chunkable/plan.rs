//! Chunk plans: combine the sums of chunks into the loop's state at each chunk's beginning.

use super::roles::{Role, roles};
use super::scratch::{begins_with_root, first_loop};
use crate::eval::{combine, combine_onto};
use crate::gotos::Tree;
use crate::ir::{
    Atom, Group, GroupId, Loop, Order, Place, RateId, RateKind, Section, StmtKind, Var,
};
use crate::state::{DONE, Layout, group_total, reset_local};
use crate::steps::Steps;
use rustc_hash::FxHashMap;

/// Holds a chunkable loop and cached queries on it.
pub struct ChunkPlan {
    /// The loop.
    pub program: Loop,
    /// The level of the summary that locates chunks.
    pub place_level: u32,
    /// The levels above it.
    pub levels: Vec<u32>,
    /// The role of each group.
    pub roles: Vec<Role>,
    /// The first inner loop of a root's iterations.
    pub first_loop: Option<RateId>,
    /// Whether chunks [must begin](super::begins_with_root) where an iteration of the root reaches
    /// that loop.
    pub begins_with_root: bool,
    tree: Tree,
    steps: Steps,
    rank: FxHashMap<Place, usize>,
    /// The position of each variable's definition.
    defined: FxHashMap<Var, usize>,
    /// The places and values of each carried variable's assignments.
    assigned: FxHashMap<Var, Vec<(Place, Atom)>>,
}

/// Describes how a group gets its value at the end of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtChunkEnd {
    /// The chunk's sum is combined with the prefix.
    Joined,
    /// The group restarted within the chunk.
    Restarted,
    /// The chunk began while the group's lanes were in use.
    Bound,
    /// The value is dead.
    Dead,
}

impl ChunkPlan {
    /// Plans a chunkable loop with [raised levels](super::raise_levels).
    pub fn of(program: &Loop) -> ChunkPlan {
        let roles = roles(program);
        let of = |placing: bool| {
            let all = program.groups.iter().zip(&roles);
            let these = all.filter(|(_, r)| (**r == Role::Placing) == placing);
            let mut levels: Vec<u32> = these.map(|(g, _)| g.level).collect();
            levels.sort_unstable();
            levels.dedup();
            levels
        };
        let (below, levels) = (of(true), of(false));
        let tree = Tree::of(program);
        let places = tree.places().iter().enumerate();
        let mut plan = ChunkPlan {
            place_level: below.last().copied().unwrap_or(0),
            levels,
            rank: places.map(|(i, p)| (*p, i)).collect(),
            steps: Steps::of(program, &tree),
            roles,
            first_loop: first_loop(program, &tree),
            begins_with_root: begins_with_root(program),
            tree,
            program: program.clone(),
            defined: FxHashMap::default(),
            assigned: FxHashMap::default(),
        };
        plan.updates();
        plan
    }

    /// Finds the definitions and assignments of variables.
    fn updates(&mut self) {
        for (labels, block) in self.program.blocks.iter() {
            let Some(label) = labels.first() else {
                continue;
            };
            let place = self.tree.place(&self.program, *label);
            let rank = self.rank[&place];
            for stmt in &block.stmts {
                match &stmt.kind {
                    StmtKind::Assign(v, a) => {
                        self.assigned.entry(*v).or_default().push((place, *a));
                    }
                    StmtKind::Let(v, ..) => {
                        self.defined.insert(*v, rank);
                    }
                    StmtKind::If { results, .. } => {
                        self.defined.extend(results.iter().map(|r| (r.0, rank)));
                    }
                    StmtKind::While { state, .. } => {
                        self.defined.extend(state.iter().map(|s| (s.0, rank)));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Returns the word of a variable's pending next value. The update may be pending until the end
    /// of the iteration. Or the value was computed before the inner loop where the frame paused,
    /// and is assigned after it.
    fn next_word(&self, layout: &Layout, v: Var, words: &[u64]) -> Option<usize> {
        let waits = layout.held.iter().find(|h| h.0 == v).map(|h| h.1);
        let Some(at) = self.at(layout, words) else {
            return waits;
        };
        let here = self.rank[&at_section(at, Section::Guard)];
        let ahead = |(place, a): &(Place, Atom)| {
            let (Place::At { rate, .. }, Atom::Var(next)) = (*place, *a) else {
                return None;
            };
            let around = self.tree.loop_rate(rate);
            let within = at != around && self.program.is_within(at, around);
            let under_way = within && self.defined.get(&next)? < &here && here < self.rank[place];
            under_way.then(|| layout.word(next)).flatten()
        };
        let assigned = self.assigned.get(&v).into_iter().flatten();
        assigned.filter_map(ahead).next().or(waits)
    }

    /// Lists the groups of a level.
    pub fn groups(&self, level: u32) -> impl Iterator<Item = GroupId> {
        let groups = self.program.groups.iter().enumerate();
        groups
            .filter(move |(_, g)| g.level == level)
            .map(|(i, _)| GroupId::new(i))
    }

    /// Returns a group.
    pub fn group(&self, id: GroupId) -> &Group {
        &self.program.groups[id.index()]
    }

    /// Returns the loop rate with the guard where a frame paused.
    pub fn at(&self, layout: &Layout, words: &[u64]) -> Option<RateId> {
        match words[0] {
            0 | DONE => None,
            k => layout.resume.get(k as usize - 1).copied(),
        }
    }

    /// Tells whether a rate is an inner loop.
    ///
    /// Chunks that begin at its guard begin within an outer iteration.
    pub fn is_inner(&self, rate: RateId) -> bool {
        self.program.rate(rate).kind.parent().is_some()
    }

    /// Tells how a group gets its value at the end of a chunk.
    ///
    /// `start` and `end` are the frames at the chunk's beginning and end.
    pub fn part(&self, layout: &Layout, id: GroupId, start: &[u64], end: &[u64]) -> AtChunkEnd {
        let group = self.group(id);
        if self.is_inner(group.owner) {
            let run = self.run_of(layout, group.owner, end);
            if run.is_none() {
                return AtChunkEnd::Dead;
            }
            if run != self.run_of(layout, group.owner, start) {
                return AtChunkEnd::Restarted;
            }
        }
        match self.is_joined(layout, id, start) {
            true => AtChunkEnd::Joined,
            false => AtChunkEnd::Bound,
        }
    }

    /// Tells whether a chunk's end at a frame combines a group's local part.
    pub fn is_joined(&self, layout: &Layout, id: GroupId, words: &[u64]) -> bool {
        let strictly_below = |at| {
            let step = self.steps.at(id, at);
            step.is_some_and(|step| at != step && self.program.is_within(at, step))
        };
        let local = self.group(id).order.is_local();
        !(local && self.at(layout, words).is_some_and(strictly_below))
    }

    /// Tells whether the chunk's sum determines a group's value at the end.
    ///
    /// `start` and `end` are the frames. The sum is insufficient if lanes continue beyond a
    /// boundary, or if an update is pending whose old value is still read.
    pub fn tells(&self, layout: &Layout, id: GroupId, start: &[u64], end: &[u64]) -> bool {
        let waits = |v: &Var| self.next_word(layout, *v, end).is_some();
        match self.part(layout, id, start, end) {
            AtChunkEnd::Restarted | AtChunkEnd::Dead => true,
            AtChunkEnd::Bound => false,
            AtChunkEnd::Joined => {
                let inner = self.at(layout, end).is_some_and(|r| self.is_inner(r));
                self.is_joined(layout, id, end) && !(inner && self.group(id).vars.iter().any(waits))
            }
        }
    }

    /// Tells whether two frames are in the same iteration of a root.
    pub fn same_outer_iteration(&self, layout: &Layout, a: &[u64], b: &[u64]) -> bool {
        let counter = |r: &RateId| self.program.rate(*r).kind.counter();
        let mut words = self.program.roots.iter().filter_map(counter);
        words.all(|c| layout.word(c).is_none_or(|w| a[w] == b[w]))
    }

    /// Identifies the run of a nested rate that a frame is in, or after in the same outer
    /// iteration, by the enclosing counters. The result is none if its variables are dead.
    fn run_of(&self, layout: &Layout, rate: RateId, words: &[u64]) -> Option<Vec<u64>> {
        let (at, parent) = (
            self.at(layout, words)?,
            self.program.rate(rate).kind.parent()?,
        );
        let begun = self.rank[&at_section(rate, Section::Nest)]
            < self.rank[&at_section(at, Section::Guard)];
        if at == parent || !self.program.is_within(at, parent) || !begun {
            return None;
        }
        let mut counters = Vec::new();
        let mut around = Some(parent);
        while let Some(r) = around {
            let kind = self.program.rate(r).kind;
            counters.extend(
                kind.counter()
                    .and_then(|c| layout.word(c))
                    .map(|w| words[w]),
            );
            around = kind.parent();
        }
        Some(counters)
    }

    /// Returns a group's value in a frame, including pending updates.
    pub fn value(&self, layout: &Layout, id: GroupId, words: &[u64]) -> Vec<u64> {
        let group = self.group(id);
        match group.order {
            _ if group.order.is_local() => group_total(&self.program, layout, words, id),
            _ => {
                let next = |v| self.next_word(layout, v, words);
                let word = |v| next(v).or_else(|| layout.word(v));
                group
                    .vars
                    .iter()
                    .map(|v| word(*v).map_or(0, |w| words[w]))
                    .collect()
            }
        }
    }

    /// Combines a chunk's sum with a prefix.
    pub fn join(&self, id: GroupId, prefix: &[u64], sum: &[u64]) -> Vec<u64> {
        combine(&self.program, self.group(id), prefix, sum)
    }

    /// Combines a chunk's sum with a prefix in place.
    pub fn join_onto(&self, id: GroupId, prefix: &mut [u64], sum: &[u64]) {
        combine_onto(&self.program, self.group(id), prefix, sum);
    }

    /// Stores a value as a group's prefix in a frame.
    ///
    /// An old value that is still to be read stays, and so do lanes that continue.
    pub fn set(&self, layout: &Layout, id: GroupId, words: &mut [u64], value: &[u64]) {
        if !self.is_joined(layout, id, words) {
            return;
        }
        for (v, x) in self.group(id).vars.iter().zip(value) {
            let Some(word) = layout.word(*v) else {
                continue;
            };
            match self.next_word(layout, *v, words) {
                Some(next) if words[next] != words[word] => words[next] = *x,
                Some(next) => (words[next], words[word]) = (*x, *x),
                None => words[word] = *x,
            }
        }
    }

    /// Resets a group to the identity, including its local part.
    ///
    /// `known` returns the values of literals and parameters.
    pub fn clear(
        &self,
        layout: &Layout,
        id: GroupId,
        words: &mut [u64],
        known: &dyn Fn(Atom) -> u64,
    ) {
        let group = self.group(id);
        for (i, (v, a)) in group.vars.iter().zip(&group.identity).enumerate() {
            let next = self.next_word(layout, *v, words);
            let word = layout.word(*v).into_iter().chain(next);
            word.for_each(|w| words[w] = known(*a));
            if let Order::Prefix(_) = group.order {
                // The value seen by reads.
                words[layout.local(id, group, i)] = known(*a);
            }
        }
        if group.order.is_local() {
            reset_local(&self.program, layout, words, id, known);
        }
    }

    /// Tells whether the loop has nested rates.
    pub fn is_nested(&self) -> bool {
        let nested = |k: RateKind| matches!(k, RateKind::Nested { .. });
        self.program.rates.iter().any(|r| nested(r.kind))
    }
}

fn at_section(rate: RateId, section: Section) -> Place {
    Place::At {
        rate,
        stage: 0,
        section,
    }
}
