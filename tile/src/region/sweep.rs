//! What a sweep does in an iteration: its statements in order, what they use, update and access.

use super::affine::{Affine, Sums};
use super::cost::Cost;
use super::{Region, Role, Step};
use livefusion_backend::facts;
use loop_lang::Loop;
use loop_lang::ir::{Atom, Combine, GroupId, Order, RateId, Stmt, StmtKind, Var};
use loop_lang::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A loop rate with only subrates below it, whose counter goes up by one to its bound: what a `for` loop can do.
///
/// Statements are known by their positions in `statements`.
pub struct Sweep<'a> {
    /// The rate.
    pub rate: RateId,
    /// Its counter.
    pub counter: Var,
    /// What the counter stays below.
    pub bound: Atom,
    /// What else its guard tests: the loop ends where one of these is false.
    pub exits: Vec<Atom>,
    /// Its blocks in order, the guard first.
    pub steps: Vec<Step>,
    /// All statements in order; those in the regions of a statement come before it.
    pub statements: Vec<Statement<'a>>,
    /// Reads and writes at an index, in order.
    pub accesses: Vec<Access>,
    /// Accesses (array, index) that go up by at most one in an iteration: they cannot miss for as many iterations as
    /// there is room before the loop. What only some iterations read may be shorter than the rate, and is not among
    /// them: it must not end the loop.
    pub proven: FxHashSet<(Var, Var)>,
    /// Accesses (array, index) at a count that goes up by at most one in an iteration, beside exits. Few elements may be left
    /// of what an exit bounds, and many iterations to go until it is full: who counts on room has to know what to do then.
    pub scarce: FxHashSet<(Var, Var)>,
    /// Of an inner loop: accesses (array, index) that all iterations do, at an index that goes up by one with the counter, from somewhere. They
    /// cannot miss in a whole range of the counter if there are as many elements from its first value on. An array may be
    /// shorter than that, and what is beyond its end is not read then; so who counts on room has to know what to do without.
    pub near: FxHashSet<(Var, Var)>,
    /// Of an inner loop: reads (array, index) that some iterations do, in an arm, at an index that goes up by one with the counter, from what
    /// is computed: so from where a row begins, not from beside it. Who counts on room reads more than the loop does.
    pub sometimes: FxHashSet<(Var, Var)>,
    /// Of an inner loop: what all iterations join onto elements side by side, as (array, index). The index goes as that of what is
    /// `near`, and nothing else in an iteration uses the array: so vectors join as one step after the other does.
    pub joined: FxHashSet<(Var, Var)>,
    /// Variables that it reads.
    pub uses: FxHashSet<Var>,
    /// Variables that it defines.
    pub defs: FxHashSet<Var>,
    /// What each carried variable is assigned, once per assignment; none for a scan.
    pub updates: FxHashMap<Var, Vec<Option<Var>>>,
    /// Arrays that it reads and writes.
    pub arrays: BTreeSet<Var>,
    /// Arrays that are read without a proof.
    pub checked: BTreeSet<Var>,
    /// Arrays whose length is looked at.
    pub lengths: BTreeSet<Var>,
    /// Scalars from outside; what an earlier loop of the same iteration joins is among them.
    pub scalars: BTreeSet<Var>,
    /// Plain carried variables that it updates, without the counter.
    pub carried: BTreeSet<Var>,
    /// Groups with a local part that it updates.
    pub groups: BTreeSet<GroupId>,
    /// How all that it carries is updated, its counter aside.
    pub roles: BTreeMap<Var, Role>,
    /// Whether values are joined onto elements anywhere.
    pub scatters: bool,
    /// Whether it puts elements in order. Only what has loops in its steps does that.
    pub sorts: bool,
    /// The statements of each step.
    pub(super) at: Vec<Range<usize>>,
    pub(super) sums: Sums,
    /// What it defines and is the same in all iterations.
    pub(super) fixed: FxHashSet<Var>,
    /// `v + 1`, with `v`.
    pub(super) successors: FxHashMap<Var, Var>,
    /// Variables of inner loops that begin anew in each iteration.
    pub(super) starts: BTreeSet<Var>,
}

/// A statement of a sweep.
pub struct Statement<'a> {
    /// Its position among all.
    pub id: usize,
    /// What it says.
    pub stmt: &'a Stmt,
    /// The step that it is in.
    pub step: usize,
    /// The subrate that it is in, by the step that enters it; none at the rate itself.
    pub sub: Option<usize>,
    /// Whether it is in no arm and no scalar loop.
    pub top: bool,
    /// The first statement in its regions; itself, if it has none.
    pub first: usize,
    /// What it costs, its regions included.
    pub cost: Cost,
    /// What it does beside defining values, its regions aside.
    pub effect: Effect,
}

/// What a statement does beside defining values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing.
    Pure,
    /// It reads memory.
    Read,
    /// It writes memory.
    Write,
    /// It joins values onto elements anywhere.
    Scatter,
    /// It puts elements in order.
    Sort,
    /// It updates what is carried.
    Update,
    /// It starts what an inner loop carries.
    Start,
    /// It may trap.
    Trap,
}

/// A read or a write at an index.
pub struct Access {
    /// The statement.
    pub statement: usize,
    /// The array: a parameter, or one that the loop makes.
    pub array: Var,
    /// Where.
    pub index: Atom,
    /// How that goes with the counter.
    pub shape: Index,
    /// Whether it reads.
    pub is_read: bool,
    /// Whether it cannot miss once the sweep was entered with room: see [`Sweep::proven`].
    pub is_proven: bool,
}

/// How an index goes with a sweep's counter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Index {
    /// As a sum over it.
    Affine(Affine),
    /// A carried count: it goes up by one where it is updated.
    Count,
    /// Nobody knows.
    Random,
}

/// Where a sweep reads what no proof speaks of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Aside {
    /// Nowhere.
    Nowhere,
    /// Anywhere.
    Anywhere,
    /// Side by side.
    Near,
}

impl<'a> Sweep<'a> {
    /// Whether it neither defines nor updates a variable.
    pub fn leaves(&self, v: Var) -> bool {
        !self.defs.contains(&v) && !self.updates.contains_key(&v)
    }

    /// Whether a value may be another one in the next iteration.
    pub fn varies(&self, a: Atom) -> bool {
        a.var()
            .is_some_and(|v| !self.leaves(v) && !self.fixed.contains(&v))
    }

    /// The variable that a value is one more than, if there is one.
    pub fn next_of(&self, v: Var) -> Option<Var> {
        self.successors.get(&v).copied()
    }

    /// A word as a sum over the counter, if it is one of few terms.
    pub fn affine(&self, a: Atom) -> Option<Affine> {
        self.sums.get(a, |v| self.leaves(v))
    }

    /// Whether a step may write to an array.
    pub fn may_write(&self, array: Var) -> bool {
        let written = |x: &Access| x.array == array && !x.is_read;
        self.scatters || self.sorts || self.accesses.iter().any(written)
    }

    /// Whether an access is one of those that a segment may have room for: see [`Sweep::near`].
    pub fn is_near(&self, access: &Access) -> bool {
        let index = access.index.var();
        index.is_some_and(|v| self.near.contains(&(access.array, v)))
    }

    /// Whether an access is one of those that vectors of rows may have room for: see [`Sweep::sometimes`].
    pub fn is_sometimes(&self, access: &Access) -> bool {
        let index = access.index.var();
        index.is_some_and(|v| self.sometimes.contains(&(access.array, v)))
    }

    /// Whether a statement joins onto elements side by side: see [`Sweep::joined`].
    pub fn joins_side_by_side(&self, region: &Region, s: &Stmt) -> bool {
        join(region, s).is_some_and(|at| self.joined.contains(&at))
    }

    /// Whether it changes elements by what they are, so that it cannot be gone through again.
    pub fn changes_what_it_reads(&self) -> bool {
        self.scatters || self.sorts || self.writes_what_it_reads()
    }

    /// Whether it writes to an array that it reads, too.
    pub fn writes_what_it_reads(&self) -> bool {
        let written = |array: Var| self.accesses.iter().any(|a| a.array == array && !a.is_read);
        (self.accesses.iter()).any(|a| a.is_read && written(a.array))
    }

    /// What it reads without a proof, and what proves it otherwise; side by side if any of it is.
    pub fn reads_aside(&self, proves: impl Fn(&Access) -> bool) -> Aside {
        let reads = self.accesses.iter().filter(|a| a.is_read && !a.is_proven);
        let aside = reads.filter(|a| !proves(a)).map(|a| match &a.shape {
            Index::Affine(affine) if affine.is_near() => Aside::Near,
            _ => Aside::Anywhere,
        });
        aside.max().unwrap_or(Aside::Nowhere)
    }

    /// Its blocks, in order.
    pub fn blocks(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().filter_map(|step| step.block())
    }

    /// The statements of a step, those in regions included.
    pub fn of_step(&self, step: usize) -> &[Statement<'a>] {
        &self.statements[self.at[step].clone()]
    }

    /// The statements of a step that are in no region.
    pub fn tops(&self, step: usize) -> impl Iterator<Item = &Statement<'a>> {
        self.of_step(step).iter().filter(|s| s.top)
    }

    /// All statements that are in no region.
    pub fn all_tops(&self) -> impl Iterator<Item = &Statement<'a>> {
        self.statements.iter().filter(|s| s.top)
    }

    /// A statement with all statements in its regions, itself last.
    pub fn within(&self, s: &Statement<'a>) -> &[Statement<'a>] {
        &self.statements[s.first..=s.id]
    }

    /// What a step costs: how much there is to do, and the longest that one thing waits for another.
    pub fn cost(&self) -> Cost {
        let mut ready: FxHashMap<Var, u64> = FxHashMap::default();
        let mut sum = Cost::default();
        for top in self.all_tops() {
            let mut starts = 0;
            for s in self.within(top) {
                let mut waits = |v| starts = starts.max(ready.get(&v).copied().unwrap_or(0));
                facts::each_use(s.stmt, &mut waits);
            }
            let ends = starts + top.cost.wait;
            for s in self.within(top) {
                facts::each_def(s.stmt, &mut |v| _ = ready.insert(v, ends));
            }
            sum.work += top.cost.work;
            sum.wait = sum.wait.max(ends);
        }
        sum
    }

    /// The variable and its limit, if a statement makes nothing but an exit of that: it goes on while the one is less.
    pub fn limit(&self, s: &Stmt) -> Option<(Var, Atom)> {
        let StmtKind::Let(made, Op::Lt, args) = &s.kind else {
            return None;
        };
        let &[Atom::Var(v), limit] = &args[..] else {
            return None;
        };
        if !self.exits.contains(&Atom::Var(*made)) || self.varies(limit) {
            return None;
        }
        let mut read = false;
        for s in &self.statements {
            facts::each_use(s.stmt, &mut |u| read |= u == *made);
        }
        (!read).then_some((v, limit))
    }

    /// Whether a sub rate is another one, or around it; each is known by the step that enters it.
    pub fn encloses(&self, outer: Option<usize>, inner: Option<usize>) -> bool {
        let Some(outer) = outer else {
            return true;
        };
        let Some(inner) = inner.filter(|inner| *inner >= outer) else {
            return false;
        };
        let mut depth = 0usize;
        self.steps[outer..=inner].iter().all(|step| {
            match step {
                Step::Enter(_) => depth += 1,
                Step::Leave => depth -= 1,
                Step::Block(_) => {}
            }
            depth > 0
        })
    }

    /// Whether every element is admitted everywhere.
    pub fn is_plain(&self) -> bool {
        self.steps.iter().all(|s| matches!(s, Step::Block(_)))
    }

    /// How many steps a run has, if all that it carries goes in runs, and these are of as many steps.
    pub fn run(&self, program: &Loop) -> Option<u32> {
        let mut runs = self
            .groups
            .iter()
            .map(|g| match program.groups[g.index()].order {
                Order::Runs(steps) => Some(steps),
                _ => None,
            });
        let first = runs.next().flatten().filter(|_| self.carried.is_empty());
        first.filter(|_| runs.all(|run| run == first))
    }

    /// The arrays that it reads at its counter, where there is room for all steps.
    pub fn in_step(&self) -> BTreeSet<Var> {
        let all = self.accesses.iter().filter(|a| a.is_read && a.is_proven);
        let all = all.filter(|a| a.index == Atom::Var(self.counter));
        all.map(|a| a.array).collect()
    }

    /// Adds what is needed to compute what is needed; how many statements that takes.
    pub fn close(&self, needed: &mut FxHashSet<Var>) -> usize {
        let mut count = 0;
        for s in self.statements.iter().rev() {
            let mut defines = false;
            facts::each_def(s.stmt, &mut |v| defines |= needed.contains(&v));
            if defines && matches!(s.stmt.kind, StmtKind::Let(..) | StmtKind::If { .. }) {
                count += 1;
                facts::each_use(s.stmt, &mut |u| {
                    needed.insert(u);
                });
            }
        }
        count
    }
}

/// The array and the index of a join onto one array, by an operator or by nothing.
pub(super) fn join(region: &Region, s: &Stmt) -> Option<(Var, Var)> {
    match &s.kind {
        StmtKind::ScatterArray {
            arrays,
            index: Atom::Var(index),
            combine: None | Some(Combine::Op(_)),
            ..
        } => match arrays[..] {
            [a] => Some((region.owner(a), *index)),
            _ => None,
        },
        _ => None,
    }
}
