//! What of a loop decides how its chunks run beside each other.

use super::chunk_of;
use super::restart::{Needs, Restart};
use livefusion_backend::kernel::known_word;
use livefusion_backend::{Arg, Kernel, Pass};
use loop_lang::Loop;
use loop_lang::chunkable::{
    Appended, AtChunkEnd, ChunkPlan, Role, appended, chunkable, kept_from_groups,
};
use loop_lang::gotos::Tree;
use loop_lang::ir::{Atom, End, GroupId, Label, Order, RateId, RateKind, StmtKind, Var};
use loop_lang::state::{Layout, group_total};
use loop_lang::walk;

/// A loop whose chunks may run in any order.
pub struct Shape {
    /// Its groups and how they are joined.
    pub plan: ChunkPlan,
    /// If it has one counter, and no circle of groups: chunks lie where that says.
    pub flat: Option<Flat>,
    /// Groups that must be known before a chunk is emitted, by level.
    pub levels: Vec<(u32, Vec<GroupId>)>,
    /// Groups that a chunk starts from their identities, and that are joined when it has run.
    pub later: Vec<GroupId>,
    /// Arrays that a chunk appends to from the first element on, and where in `later` their count is.
    pub own: Vec<(usize, usize)>,
    /// Whether what a pause in an inner loop keeps depends on groups of outer rates, and of inner ones.
    kept: (bool, bool),
    /// Arrays of which a chunk must see no more than is its own, and the group with the variable of it
    /// that says where that ends.
    pub limited: Vec<(usize, GroupId, usize)>,
    /// How it can be cut where segments begin, if it can.
    pub restart: Option<Restart>,
}

/// A loop of one counter, which goes up by one from step to step.
pub struct Flat {
    words: Vec<usize>,
    /// Whether it may end before its bound.
    pub ends_early: bool,
    bound: Atom,
    bound_word: Option<usize>,
}

impl Shape {
    /// The shape of a loop; none if its chunks run in order.
    pub fn of(program: &Loop, layout: &Layout) -> Option<Shape> {
        chunkable(program).ok()?;
        if joining_may_trap(program) {
            return None;
        }
        let plan = ChunkPlan::of(program);
        // What depends on itself in a circle is computed in order, where places are found.
        let circles = program.groups.iter().any(|g| g.circle);
        let flat = Flat::of(program, layout).filter(|_| !circles);
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
                // A chunk may end in an iteration that has written: what it may write cannot be told from
                // the counter. Only filters write beyond that, too.
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
        let needs = Needs {
            first: &levels,
            later: &later,
            keeps: kept.0 || !own.is_empty(),
        };
        let restart = Restart::of(program, layout, &plan, needs);
        if plan.begins_with_root && restart.is_none() {
            return None;
        }
        Some(Shape {
            restart,
            kept,
            flat,
            levels,
            later,
            own,
            limited,
            plan,
        })
    }

    /// Whether nothing happens where chunks meet: several can run as one.
    pub fn joins_nothing(&self) -> bool {
        let exact = |id: &GroupId| self.plan.group(*id).order == Order::Exact;
        self.levels.is_empty() && self.own.is_empty() && self.later.iter().all(exact)
    }

    /// The summary passes that chunks need.
    pub fn passes(&self) -> Vec<Pass> {
        let places = self.flat.is_none().then_some(self.plan.place_level);
        // Where units must begin with segments nothing is summed up.
        let levels = self.levels.iter().filter(|_| !self.plan.begins_with_root);
        let all = places.into_iter().chain(levels.map(|(level, _)| *level));
        all.map(|level| Pass::Summary { level }).collect()
    }

    /// Groups as identities.
    pub fn clear(&self, kernel: &dyn Kernel, ids: &[GroupId], words: &mut [u64], args: &[Arg<'_>]) {
        let known = |a| known_word(&self.plan.program, args, a);
        for id in ids {
            self.plan.clear(kernel.layout(), *id, words, &known);
        }
    }

    /// Whether the words at the end of a chunk whose groups began as identities, and the words at its
    /// beginning, tell those that it ends with.
    pub fn tells(&self, kernel: &dyn Kernel, ids: &[GroupId], start: &[u64], end: &[u64]) -> bool {
        let (plan, layout) = (&self.plan, kernel.layout());
        let inner = plan.at(layout, end).is_some_and(|r| plan.is_inner(r));
        let (outer_kept, inner_kept) = self.kept;
        let same = || plan.same_outer_iteration(layout, start, end);
        let kept = inner && (outer_kept || (inner_kept && same()));
        !kept && ids.iter().all(|id| plan.tells(layout, *id, start, end))
    }

    /// Joins a group's sum in the words at a chunk's end onto its prefix in those at the beginning.
    pub fn join(&self, kernel: &dyn Kernel, id: GroupId, start: &[u64], end: &mut [u64]) {
        let (plan, layout) = (&self.plan, kernel.layout());
        if plan.part(layout, id, start, end) != AtChunkEnd::Joined {
            return;
        }
        let prefix = plan.value(layout, id, start);
        let value = plan.join(id, &prefix, &plan.value(layout, id, end));
        self.set(kernel, id, end, &value);
    }

    /// Gives a group that is joined in a paused frame a value.
    pub fn set(&self, kernel: &dyn Kernel, id: GroupId, end: &mut [u64], value: &[u64]) {
        let (layout, group) = (kernel.layout(), self.plan.group(id));
        self.plan.set(layout, id, end, value);
        if let Order::Prefix(_) = group.order {
            // What reads see.
            for (i, x) in value.iter().enumerate() {
                end[layout.local(id, group, i)] = *x;
            }
        }
    }

    /// A group's value at the end of a chunk.
    pub fn value(&self, kernel: &dyn Kernel, id: GroupId, words: &[u64]) -> Vec<u64> {
        self.plan.value(kernel.layout(), id, words)
    }

    /// As [`value`](Shape::value), for groups that are joined wherever a chunk ends: local parts are
    /// identities there.
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

impl Flat {
    /// The one counter of a loop.
    pub fn of(program: &Loop, layout: &Layout) -> Option<Flat> {
        let loops = program.rates.iter().enumerate();
        let mut loops = loops.filter(|(_, r)| !r.kind.is_sub());
        let (Some((root, rate)), None) = (loops.next(), loops.next()) else {
            return None;
        };
        let RateKind::Root { counter, bound } = rate.kind else {
            return None;
        };
        let held = layout.held.iter().filter(|h| h.0 == counter).map(|h| h.1);
        Some(Flat {
            ends_early: ways_out(program, RateId::new(root)) > 1,
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

    /// Steps from a paused frame's place to the loop's end.
    pub fn left(&self, program: &Loop, words: &[u64], args: &[Arg<'_>]) -> u64 {
        let bound = match self.bound_word {
            Some(w) => words[w],
            None => known_word(program, args, self.bound),
        };
        let counter = self.words.first().map_or(bound, |w| words[*w]);
        bound.saturating_sub(counter)
    }

    /// Moves a paused frame's place on.
    pub fn advance(&self, words: &mut [u64], steps: u64) {
        words[1] += steps;
        for w in &self.words {
            words[*w] = words[*w].wrapping_add(steps);
        }
    }
}

/// How many ways lead to the end of a loop rate.
pub fn ways_out(program: &Loop, rate: RateId) -> usize {
    let tree = Tree::of(program);
    let end = tree.done(program, rate);
    let mut ways = 0;
    for (_, block) in program.blocks.iter() {
        let mut goes = |l: Label| ways += usize::from(tree.place(program, l) == end);
        block
            .exits
            .iter()
            .filter_map(|e| e.target)
            .for_each(&mut goes);
        if let End::Goto(l) = block.end {
            goes(l);
        }
    }
    ways
}

/// Whether an atom is a literal or a scalar parameter.
pub fn is_known(program: &Loop, a: Atom) -> bool {
    match a {
        Atom::Const(_) => true,
        Atom::Var(v) => program.params.iter().any(|p| p.var == v),
    }
}

/// Whether steps take long: elements are iterated.
pub fn is_heavy(program: &Loop) -> bool {
    let mut iterates = false;
    for stmt in program.blocks.iter().flat_map(|(_, b)| &b.stmts) {
        walk::each(stmt, &mut |s| {
            iterates |= matches!(s.kind, StmtKind::While { .. });
        });
    }
    iterates
}

/// Whether an operator that joins chunks may trap: then it must do so where it stands in the order.
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
