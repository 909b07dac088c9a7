//! Innermost loops: their statements in order, with uses, updates and accesses.

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

/// Describes a loop rate with only subrates inside.
///
/// Its counter increases by one up to its bound, as in a `for` loop. Statements are identified by
/// their positions in `statements`.
pub struct InnerLoop<'a> {
    /// The rate.
    pub rate: RateId,
    /// Its counter.
    pub counter: Var,
    /// The exclusive upper bound of the counter.
    pub bound: Atom,
    /// Further tests of its guard: the loop exits if one is false.
    pub exits: Vec<Atom>,
    /// Its blocks in order, the guard first.
    pub steps: Vec<Step>,
    /// All statements in order; statements in a region precede their owner.
    pub statements: Vec<Statement<'a>>,
    /// Indexed reads and writes, in order.
    pub accesses: Vec<Access>,
    /// Accesses (array, index) whose index grows by at most one per iteration. They are in bounds
    /// for as many iterations as the array had capacity before the loop. Conditional reads are
    /// excluded: their array may be shorter than the rate, and must not limit the loop.
    pub proven: FxHashSet<(Var, Var)>,
    /// Accesses (array, index) at a count that grows by at most one per iteration, in a loop with
    /// exits. An exit may bound the array to few elements while many iterations fill it. Code that
    /// relies on capacity needs a fallback.
    pub scarce: FxHashSet<(Var, Var)>,
    /// For an inner loop: accesses (array, index) in all iterations, at the counter plus an
    /// invariant. They are in bounds for a range if the array has the range's capacity from the
    /// first index on. Where an array is shorter, the elements beyond its end are not read. Code
    /// that relies on capacity needs a fallback.
    pub near: FxHashSet<(Var, Var)>,
    /// For an inner loop: conditional reads (array, index) at the counter plus variables, without a
    /// constant. They begin where the row does, not at a constant distance from it. Code that
    /// relies on capacity reads more than the loop does.
    pub sometimes: FxHashSet<(Var, Var)>,
    /// For an inner loop: contiguous scatters (array, index) in all iterations. The index is as in
    /// `near`, and an iteration uses the array for nothing else. Vectors may therefore scatter like
    /// sequential steps.
    pub joined: FxHashSet<(Var, Var)>,
    /// Variables that it reads.
    pub uses: FxHashSet<Var>,
    /// Variables that it defines.
    pub defs: FxHashSet<Var>,
    /// The values assigned to each carried variable, one per assignment; none for a scan.
    pub updates: FxHashMap<Var, Vec<Option<Var>>>,
    /// Arrays that it reads and writes.
    pub arrays: BTreeSet<Var>,
    /// Arrays that are read without a proof.
    pub checked: BTreeSet<Var>,
    /// Arrays with a length in use.
    pub lengths: BTreeSet<Var>,
    /// Scalars from outside, including reductions of earlier loops in the same iteration.
    pub scalars: BTreeSet<Var>,
    /// Plain carried variables that it updates, except the counter.
    pub carried: BTreeSet<Var>,
    /// Groups with a local part that it updates.
    pub groups: BTreeSet<GroupId>,
    /// The roles of all carried variables, except the counter.
    pub roles: BTreeMap<Var, Role>,
    /// Whether it scatters.
    pub scatters: bool,
    /// Whether it sorts. Only loops with inner loops do.
    pub sorts: bool,
    /// The statements of each step.
    pub(super) at: Vec<Range<usize>>,
    pub(super) sums: Sums,
    /// Definitions that are loop-invariant.
    pub(super) fixed: FxHashSet<Var>,
    /// Maps each `v + 1` to `v`.
    pub(super) successors: FxHashMap<Var, Var>,
    /// Variables of inner loops that restart in each iteration.
    pub(super) starts: BTreeSet<Var>,
}

/// Describes a statement of an innermost loop.
pub struct Statement<'a> {
    /// Its position among all statements.
    pub id: usize,
    /// The statement.
    pub stmt: &'a Stmt,
    /// The step that it is in.
    pub step: usize,
    /// Its subrate, as the step that enters it; none for the rate itself.
    pub sub: Option<usize>,
    /// Whether it is at top level, outside arms and scalar loops.
    pub top: bool,
    /// The first statement in its regions, or itself without regions.
    pub first: usize,
    /// Its cost, including its regions.
    pub cost: Cost,
    /// Its effect besides definitions, without its regions.
    pub effect: Effect,
}

/// Lists the effects of a statement besides definitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing.
    Pure,
    /// It reads memory.
    Read,
    /// It writes memory.
    Write,
    /// It scatters.
    Scatter,
    /// It sorts.
    Sort,
    /// It updates a carried variable.
    Update,
    /// It starts a carried variable of an inner loop.
    Start,
    /// It may trap.
    Trap,
}

/// Describes an indexed read or write.
pub struct Access {
    /// The statement.
    pub statement: usize,
    /// The array: a parameter, or an array made by the loop.
    pub array: Var,
    /// The index.
    pub index: Atom,
    /// The index as a function of the counter.
    pub shape: Index,
    /// Whether it reads.
    pub is_read: bool,
    /// Whether it is in bounds after a capacity check before the loop; see [`InnerLoop::proven`].
    pub is_proven: bool,
}

/// Describes an index as a function of the counter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Index {
    /// Affine.
    Affine(Affine),
    /// A carried count: each update increments it.
    Count,
    /// Unknown.
    Random,
}

/// Describes reads that no proof covers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Aside {
    /// There are none.
    Nowhere,
    /// At arbitrary indices.
    Anywhere,
    /// Contiguous.
    Near,
}

impl<'a> InnerLoop<'a> {
    /// Tells whether it neither defines nor updates a variable.
    pub fn leaves(&self, v: Var) -> bool {
        !self.defs.contains(&v) && !self.updates.contains_key(&v)
    }

    /// Tells whether a value may change between iterations.
    pub fn varies(&self, a: Atom) -> bool {
        a.var()
            .is_some_and(|v| !self.leaves(v) && !self.fixed.contains(&v))
    }

    /// Returns `u` if the value is `u + 1`.
    pub fn next_of(&self, v: Var) -> Option<Var> {
        self.successors.get(&v).copied()
    }

    /// Returns a word as a sum over the counter, if that has few terms.
    pub fn affine(&self, a: Atom) -> Option<Affine> {
        self.sums.get(a, |v| self.leaves(v))
    }

    /// Tells whether a step may write to an array.
    pub fn may_write(&self, array: Var) -> bool {
        let written = |x: &Access| x.array == array && !x.is_read;
        self.scatters || self.sorts || self.accesses.iter().any(written)
    }

    /// Tells whether a segment may check the capacity for an access.
    ///
    /// See [`InnerLoop::near`].
    pub fn is_near(&self, access: &Access) -> bool {
        let index = access.index.var();
        index.is_some_and(|v| self.near.contains(&(access.array, v)))
    }

    /// Tells whether vectors of rows may check the capacity for a conditional read.
    ///
    /// See [`InnerLoop::sometimes`].
    pub fn is_sometimes(&self, access: &Access) -> bool {
        let index = access.index.var();
        index.is_some_and(|v| self.sometimes.contains(&(access.array, v)))
    }

    /// Tells whether a statement scatters contiguously.
    ///
    /// See [`InnerLoop::joined`].
    pub fn joins_side_by_side(&self, region: &Region, s: &Stmt) -> bool {
        join(region, s).is_some_and(|at| self.joined.contains(&at))
    }

    /// Tells whether it updates elements in place, so that it cannot be repeated.
    pub fn changes_what_it_reads(&self) -> bool {
        self.scatters || self.sorts || self.writes_what_it_reads()
    }

    /// Tells whether it writes to an array that it also reads.
    pub fn writes_what_it_reads(&self) -> bool {
        let written = |array: Var| self.accesses.iter().any(|a| a.array == array && !a.is_read);
        (self.accesses.iter()).any(|a| a.is_read && written(a.array))
    }

    /// Classifies the reads that neither the loop nor `proves` covers.
    ///
    /// The result is `Near` if any of them is contiguous.
    pub fn reads_aside(&self, proves: impl Fn(&Access) -> bool) -> Aside {
        let reads = self.accesses.iter().filter(|a| a.is_read && !a.is_proven);
        let aside = reads.filter(|a| !proves(a)).map(|a| match &a.shape {
            Index::Affine(affine) if affine.is_near() => Aside::Near,
            _ => Aside::Anywhere,
        });
        aside.max().unwrap_or(Aside::Nowhere)
    }

    /// Lists its blocks, in order.
    pub fn blocks(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().filter_map(|step| step.block())
    }

    /// Lists the statements of a step, including those in regions.
    pub fn of_step(&self, step: usize) -> &[Statement<'a>] {
        &self.statements[self.at[step].clone()]
    }

    /// Lists the top-level statements of a step.
    pub fn tops(&self, step: usize) -> impl Iterator<Item = &Statement<'a>> {
        self.of_step(step).iter().filter(|s| s.top)
    }

    /// Lists all top-level statements.
    pub fn all_tops(&self) -> impl Iterator<Item = &Statement<'a>> {
        self.statements.iter().filter(|s| s.top)
    }

    /// Returns a statement after all statements in its regions.
    pub fn within(&self, s: &Statement<'a>) -> &[Statement<'a>] {
        &self.statements[s.first..=s.id]
    }

    /// Returns the work of a step and the latency of its critical path.
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

    /// Returns a variable and its limit if a statement only computes that exit.
    ///
    /// The loop continues while the variable is below the limit.
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

    /// Tells whether a subrate equals or encloses another one.
    ///
    /// Each is identified by the step that enters it.
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

    /// Tells whether it admits every element everywhere.
    pub fn is_plain(&self) -> bool {
        self.steps.iter().all(|s| matches!(s, Step::Block(_)))
    }

    /// Returns the run length shared by all carried values.
    ///
    /// The result is none unless all of them fold in runs of equal length.
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

    /// Lists the arrays that it reads at its counter with a capacity check.
    pub fn in_step(&self) -> BTreeSet<Var> {
        let all = self.accesses.iter().filter(|a| a.is_read && a.is_proven);
        let all = all.filter(|a| a.index == Atom::Var(self.counter));
        all.map(|a| a.array).collect()
    }

    /// Adds the operands of needed values, transitively.
    ///
    /// Returns the number of statements that compute them.
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

/// Returns the array and the index of a scatter to one array, with an operator or none.
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
