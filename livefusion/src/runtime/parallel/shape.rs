//! Shapes: the properties of a loop that decide how its chunks run in parallel.

use super::chunk_of;
use super::restart::{Restart, UnitInputs};
use super::survey::Surveyed;
use livefusion_backend::kernel::known_word;
use livefusion_backend::{Arg, Frame, Kernel, Pass};
use loop_lang::Loop;
use loop_lang::chunkable::{
    Appended, AtChunkEnd, ChunkPlan, Role, Why, appended, arrays_of_sums, chunkable,
    chunkable_apart, kept_from_groups,
};
use loop_lang::gotos::Tree;
use loop_lang::ir::{Atom, GroupId, Order, RateId, RateKind, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::state::{Layout, group_total};
use loop_lang::walk;

/// Minimum steps for each element that a thread sums up apart.
const EACH_SUM: u64 = 64;

/// Describes a loop whose chunks may run in any order.
pub struct ChunkedLoop {
    /// Its groups and how they are joined.
    pub plan: ChunkPlan,
    /// Its single counter, if groups form no strongly connected component. The counter then gives
    /// each chunk's place.
    pub flat: Option<FlatLoop>,
    /// Groups whose prefix must be known before a chunk is emitted, by level.
    pub levels: Vec<(u32, Vec<GroupId>)>,
    /// Groups that start from identities in a chunk and are joined after it.
    pub later: Vec<GroupId>,
    /// Arrays that a chunk appends to from element 0, and the index of their count in `later`.
    pub own: Vec<(usize, usize)>,
    /// Whether a pause in an inner loop keeps values that depend on outer groups, or on inner ones.
    kept: (bool, bool),
    /// Arrays that must be limited to a chunk's own elements, with the group and variable that give
    /// the limit.
    pub limited: Vec<(usize, GroupId, usize)>,
    /// How to cut it at segment beginnings, if possible.
    pub restart: Option<Restart>,
    /// How threads find the places of its chunks together, if iterations can be counted in any order.
    pub survey: Option<Surveyed>,
    /// Arrays to which each thread adds apart, with their operators.
    pub sums: Vec<(usize, Op)>,
}

/// Describes a loop with one counter that grows by one a step.
pub struct FlatLoop {
    words: Vec<usize>,
    /// Whether it has an early exit.
    pub ends_early: bool,
    bound: Atom,
    bound_word: Option<usize>,
}

/// Returns the reason why a loop's chunks run in order.
///
/// None if threads may share them.
pub fn why_in_order(program: &Loop, layout: &Layout) -> Option<Why> {
    let why = chunkable(program).err()?;
    // Threads share sums by key all the same, each in arrays of its own.
    ChunkedLoop::of(program, layout).is_none().then_some(why)
}

impl ChunkedLoop {
    /// Returns the shape of a loop, or none if its chunks run in order.
    pub fn of(program: &Loop, layout: &Layout) -> Option<ChunkedLoop> {
        chunkable_apart(program).ok()?;
        if joining_may_trap(program) {
            return None;
        }
        let plan = ChunkPlan::of(program);
        // A strongly connected component of groups is computed in order, in the pass that finds
        // places.
        let cycles = program.groups.iter().any(|g| g.cycle);
        let flat = FlatLoop::of(program, layout).filter(|_| !cycles);
        let sums = arrays_of_sums(program).into_iter();
        let sums = sums.map(|(array, op)| Some((layout.array_slot(array)?, op)));
        let sums: Vec<(usize, Op)> = sums.collect::<Option<_>>()?;
        // Threads beyond an exit would have added too much.
        if !sums.is_empty() && flat.as_ref().is_none_or(|f| f.ends_early) {
            return None;
        }
        let counts = |id: GroupId| matches!(plan.roles[id.index()], Role::Count | Role::Total);
        let ids = (0..program.groups.len()).map(GroupId::new);
        let later: Vec<GroupId> = ids.filter(|id| counts(*id)).collect();
        let placed = |id: GroupId| match &flat {
            Some(flat) => plan.group(id).vars.iter().any(|v| flat.counts(layout, *v)),
            None => plan.roles[id.index()] == Role::Placing,
        };
        let mut levels: Vec<u32> = program.groups.iter().map(|g| g.level).collect();
        levels.sort_unstable();
        levels.dedup();
        let known_first = |level: u32| -> Vec<GroupId> {
            plan.groups(level)
                .filter(|id| !counts(*id) && !placed(*id))
                .collect()
        };
        let levels = levels.into_iter().map(|l| (l, known_first(l)));
        let levels: Vec<_> = levels.filter(|(_, ids)| !ids.is_empty()).collect();
        let (mut own, mut limited) = (Vec::new(), Vec::new());
        for Appended {
            array,
            at,
            group,
            above_loops,
            filtered,
        } in appended(program)
        {
            let slot = layout.array_slot(array)?;
            if above_loops {
                // A chunk may end in an iteration that has written, so the counter does not limit
                // its writes. Only filters write beyond it.
                if filtered {
                    return None;
                }
                continue;
            }
            let vars = &program.groups[group.index()].vars;
            let var = vars.iter().position(|v| *v == at)?;
            match later.iter().position(|id| *id == group) {
                Some(at) => own.push((slot, at)),
                None => limited.push((slot, group, var)),
            }
        }
        let kept = kept_from_groups(program, &plan.roles);
        let needs = UnitInputs {
            first: &levels,
            later: &later,
            keeps: kept.0 || !own.is_empty(),
        };
        let restart = Restart::of(program, layout, &plan, needs);
        if plan.begins_with_root && restart.is_none() {
            return None;
        }
        Some(ChunkedLoop {
            survey: match flat {
                Some(_) => None,
                None => Surveyed::of(program, layout, &plan),
            },
            restart,
            sums,
            kept,
            flat,
            levels,
            later,
            own,
            limited,
            plan,
        })
    }

    /// Tells whether nothing is joined between chunks.
    ///
    /// Several chunks can then run as one.
    pub fn joins_nothing(&self) -> bool {
        let exact = |id: &GroupId| self.plan.group(*id).order == Order::Exact;
        self.levels.is_empty() && self.own.is_empty() && self.later.iter().all(exact)
    }

    /// Tells whether adding up all threads' sums takes too long.
    ///
    /// The bound is the time of the steps that are left.
    pub fn has_large_sums(&self, frame: &Frame<'_>, threads: u64, left: Option<u64>) -> bool {
        let arrays = self.sums.iter();
        let arrays = arrays.filter_map(|(slot, _)| frame.arrays.get(*slot)?.as_ref());
        let elements: u64 = arrays.map(|array| array.len() as u64).sum();
        elements.saturating_mul(EACH_SUM * threads) > left.unwrap_or(u64::MAX)
    }

    /// Lists the summary passes that chunks need.
    pub fn passes(&self) -> Vec<Pass> {
        let places = self.flat.is_none().then_some(self.plan.place_level);
        // Units that begin with segments need no sums.
        let levels = self.levels.iter().filter(|_| !self.plan.begins_with_root);
        let all = places.into_iter().chain(levels.map(|(level, _)| *level));
        all.map(|level| Pass::Summary { level }).collect()
    }

    /// Sets groups to their identities.
    pub fn clear(&self, kernel: &dyn Kernel, ids: &[GroupId], words: &mut [u64], args: &[Arg<'_>]) {
        let known = |a| known_word(&self.plan.program, args, a);
        for id in ids {
            self.plan.clear(kernel.layout(), *id, words, &known);
        }
    }

    /// Tells whether a chunk's final groups follow from its words.
    ///
    /// These are the words at its beginning, and the words at its end when its groups began as
    /// identities.
    pub fn tells(&self, kernel: &dyn Kernel, ids: &[GroupId], start: &[u64], end: &[u64]) -> bool {
        let (plan, layout) = (&self.plan, kernel.layout());
        let inner = plan.at(layout, end).is_some_and(|r| plan.is_inner(r));
        let (outer_kept, inner_kept) = self.kept;
        let same = || plan.same_outer_iteration(layout, start, end);
        let kept = inner && (outer_kept || (inner_kept && same()));
        !kept && ids.iter().all(|id| plan.tells(layout, *id, start, end))
    }

    /// Tells whether a group's sum at a chunk's end is joined onto its prefix.
    pub fn is_joined(&self, kernel: &dyn Kernel, id: GroupId, start: &[u64], end: &[u64]) -> bool {
        self.plan.part(kernel.layout(), id, start, end) == AtChunkEnd::Joined
    }

    /// Sets the value of a joined group in a paused frame.
    pub fn set(&self, kernel: &dyn Kernel, id: GroupId, end: &mut [u64], value: &[u64]) {
        let (layout, group) = (kernel.layout(), self.plan.group(id));
        self.plan.set(layout, id, end, value);
        if let Order::Prefix(_) = group.order {
            // The copy that reads use.
            for (i, x) in value.iter().enumerate() {
                end[layout.local(id, group, i)] = *x;
            }
        }
    }

    /// Returns a group's value at the end of a chunk.
    pub fn value(&self, kernel: &dyn Kernel, id: GroupId, words: &[u64]) -> Vec<u64> {
        self.plan.value(kernel.layout(), id, words)
    }

    /// Works as [`value`](Shape::value), for groups that are joined at every chunk end.
    ///
    /// Their local parts are identities at the end of a chunk.
    pub fn joined_value(&self, kernel: &dyn Kernel, id: GroupId, words: &[u64]) -> Vec<u64> {
        let (layout, group) = (kernel.layout(), self.plan.group(id));
        match group.order {
            order if order.is_local() && !words[1].is_multiple_of(chunk_of(kernel)) => {
                group_total(&self.plan.program, layout, words, id)
            }
            order if order.is_local() => {
                let word = |v: &Var| layout.word(*v).map_or(0, |w| words[w]);
                group.vars.iter().map(word).collect()
            }
            _ => self.plan.value(layout, id, words),
        }
    }
}

impl FlatLoop {
    /// Returns the single counter of a loop, if it has one.
    pub fn of(program: &Loop, layout: &Layout) -> Option<FlatLoop> {
        let loops = program.rates.iter().enumerate();
        let mut loops = loops.filter(|(_, r)| !r.kind.is_sub());
        let (Some((root, rate)), None) = (loops.next(), loops.next()) else {
            return None;
        };
        let RateKind::Root { counter, bound } = rate.kind else {
            return None;
        };
        let held = layout.held.iter().filter(|h| h.0 == counter).map(|h| h.1);
        Some(FlatLoop {
            ends_early: Tree::of(program).ways_out(program, RateId::new(root)) > 1,
            words: layout.word(counter).into_iter().chain(held).collect(),
            bound,
            bound_word: match bound {
                Atom::Var(v) => layout.word(v),
                Atom::Const(_) => None,
            },
        })
    }

    fn counts(&self, layout: &Layout, v: Var) -> bool {
        layout.word(v).is_some_and(|w| self.words.contains(&w))
    }

    /// Returns the steps from a paused frame to the loop's end.
    pub fn left(&self, program: &Loop, words: &[u64], args: &[Arg<'_>]) -> u64 {
        let bound = match self.bound_word {
            Some(w) => words[w],
            None => known_word(program, args, self.bound),
        };
        let counter = self.words.first().map_or(bound, |w| words[*w]);
        bound.saturating_sub(counter)
    }

    /// Advances the place of a paused frame.
    pub fn advance(&self, words: &mut [u64], steps: u64) {
        words[1] += steps;
        for w in &self.words {
            words[*w] = words[*w].wrapping_add(steps);
        }
    }
}

/// Tells whether an atom is a literal or a scalar parameter.
pub fn is_known(program: &Loop, a: Atom) -> bool {
    match a {
        Atom::Const(_) => true,
        Atom::Var(v) => program.params.iter().any(|p| p.var == v),
    }
}

/// Tells whether steps are heavy because elements are iterated.
pub fn is_heavy(program: &Loop) -> bool {
    let mut iterates = false;
    for stmt in program.blocks.iter().flat_map(|(_, b)| &b.stmts) {
        walk::each(stmt, &mut |s| {
            iterates |= matches!(s.kind, StmtKind::While { .. });
        });
    }
    iterates
}

/// Tells whether an operator that joins chunks may trap.
///
/// Such a trap must happen at its place in the order.
fn joining_may_trap(program: &Loop) -> bool {
    let mut traps = false;
    for f in &program.functions {
        for stmt in &f.body {
            walk::each(stmt, &mut |s| {
                traps |= matches!(s.kind, StmtKind::Trap { .. });
            });
        }
    }
    traps
}
