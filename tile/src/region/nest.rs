//! Loop nests: the statements of an outer loop around its inner loops.

use super::{InnerLoop, Region};
use livefusion_backend::facts;
use loop_lang::ir::{Atom, Order, RateId, RateKind, StmtKind, Var};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Describes a loop rate whose steps contain loops.
///
/// The inner loops are innermost loops or nests themselves. Its subrates contain no loops.
pub struct Nest<'a> {
    /// The statements around the inner loops. Its inputs and outputs include those of the inner
    /// loops.
    pub outer: InnerLoop<'a>,
    /// The order of an iteration.
    pub parts: Vec<NestPart>,
    /// The rates of the inner loops.
    pub inner: Vec<RateId>,
    /// Variables that restart in each iteration of this loop or of an inner loop.
    pub starts: BTreeSet<Var>,
}

/// Lists the kinds of loops in a step of a nest.
#[derive(Clone, Copy)]
pub enum Inner<'r, 'a> {
    /// An innermost loop.
    InnerLoop(&'r InnerLoop<'a>),
    /// A loop with inner loops.
    Nest(&'r Nest<'a>),
}

impl<'r, 'a> Inner<'r, 'a> {
    /// Returns its own statements.
    pub fn inner_loop(self) -> &'r InnerLoop<'a> {
        match self {
            Inner::InnerLoop(inner_loop) => inner_loop,
            Inner::Nest(nest) => &nest.outer,
        }
    }
}

/// Lists the parts of an iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NestPart {
    /// A step around the inner loops, by position.
    Step(usize),
    /// An inner loop, by position among them.
    Inner(usize),
}

impl<'a> Nest<'a> {
    /// Returns the nest of a rate, if it is one. Nests inside it are already known.
    pub(super) fn of(
        region: &Region<'a>,
        random: &FxHashSet<Var>,
        rate: RateId,
    ) -> Option<Nest<'a>> {
        let (steps, begin) = region.steps_around(rate)?;
        let inner: Vec<RateId> = begin.iter().map(|(_, rate)| *rate).collect();
        let loops: Option<Vec<Inner>> = inner.iter().map(|r| region.inner(*r)).collect();
        let loops = loops.filter(|all| !all.is_empty())?;
        let parts = (0..steps.len()).flat_map(|at| {
            let begins = begin.iter().position(|(before, _)| *before == at);
            begins
                .map(NestPart::Inner)
                .into_iter()
                .chain([NestPart::Step(at)])
        });
        let parts = parts.collect();
        let mut outer = InnerLoop::with(region, random, rate, steps)?;
        let mut starts = std::mem::take(&mut outer.starts);
        outer.carried.retain(|v| !starts.contains(v));
        let mut inside: FxHashSet<Var> = FxHashSet::default();
        for inner in &loops {
            take_in(region, &mut outer, inner.inner_loop(), &starts)?;
            each_inside(region, *inner, &mut |inner_loop| {
                inside.extend(&inner_loop.defs)
            });
        }
        for inner in &loops {
            if let Inner::Nest(nest) = inner {
                starts.extend(&nest.starts);
            }
        }
        // Definitions in an inner loop must not be used outside it: a guard's test used after the
        // loop, for example.
        if outer.scalars.iter().any(|v| inside.contains(v)) {
            return None;
        }
        let (carried, counter) = (&outer.carried, outer.counter);
        let own = |v: &Var| carried.contains(v) || starts.contains(v) || *v == counter;
        outer.scalars.retain(|v| !own(v) && !outer.defs.contains(v));
        let joined = |v: &Var| region.facts.local_group(region.program, *v).is_some();
        (!outer.scalars.iter().any(joined)).then_some(Nest {
            outer,
            parts,
            inner,
            starts,
        })
    }
}

/// Calls `f` on an inner loop and on all loops nested in it.
fn each_inside<'r, 'a>(
    region: &'r Region<'a>,
    inner: Inner<'r, 'a>,
    f: &mut impl FnMut(&'r InnerLoop<'a>),
) {
    // Recursion is bounded by the language's nesting limit for rates.
    f(inner.inner_loop());
    if let Inner::Nest(nest) = inner {
        nest.loops(region).for_each(|i| each_inside(region, i, f));
    }
}

impl<'a> Nest<'a> {
    /// Lists its inner loops, in order.
    pub fn loops<'r>(&'r self, region: &'r Region<'a>) -> impl Iterator<Item = Inner<'r, 'a>> {
        self.inner.iter().filter_map(|r| region.inner(*r))
    }

    /// Lists all loops inside it, at any depth.
    pub fn inside<'r>(&'r self, region: &'r Region<'a>) -> Vec<&'r InnerLoop<'a>> {
        let mut all = Vec::new();
        self.loops(region)
            .for_each(|i| each_inside(region, i, &mut |inner_loop| all.push(inner_loop)));
        all
    }

    /// Lists the innermost loops inside it, at any depth.
    pub fn inner_loops<'r>(&'r self, region: &'r Region<'a>) -> Vec<&'r InnerLoop<'a>> {
        let all = self.inside(region).into_iter();
        all.filter(|s| region.inner_loop(s.rate).is_some())
            .collect()
    }

    /// Tells whether an iteration can be rolled back without visible effects.
    ///
    /// A write is repeated on the next try, so no earlier read of the iteration may depend on it.
    /// In-place updates must be in the last inner loop, which begins when no rollback can follow.
    /// If that loop is a nest, a dry run precedes it. There are no exits then.
    pub fn can_roll_back(&self, region: &Region) -> bool {
        let last = self.inner.last().and_then(|r| region.inner(*r));
        let Some(Inner::Nest(nest)) = last.filter(|_| self.needs_dry_run(region)) else {
            let last = last.filter(|inner| matches!(inner, Inner::InnerLoop(_)));
            return self.leaves_nothing(region, last.is_some());
        };
        let inside = nest.inside(region);
        self.leaves_nothing(region, true)
            && nest.outer.exits.is_empty()
            && inside.iter().all(|inner_loop| inner_loop.exits.is_empty())
    }

    /// Tells whether its last inner loop is a nest that needs a dry run.
    ///
    /// This excludes nests over rows of equal length. Those rows are usually long and have a tile
    /// of their own, so entering it per row is cheaper.
    pub fn needs_dry_run(&self, region: &Region) -> bool {
        let last = self.inner.last().and_then(|r| region.inner(*r));
        let uniform = |nest: &Nest| {
            let kind = &region.program.rate(nest.outer.rate).kind;
            matches!(kind, RateKind::Nested { uniform: true, .. })
        };
        matches!(last, Some(Inner::Nest(nest)) if !uniform(nest))
            && !self.leaves_nothing(region, false)
    }

    /// Tells whether a rolled-back iteration leaves no visible effects. `but_last` exempts the last
    /// inner loop, which is not rolled back after its first effect.
    fn leaves_nothing(&self, region: &Region, but_last: bool) -> bool {
        let last = but_last.then(|| NestPart::Inner(self.inner.len() - 1));
        let mut read: BTreeSet<Var> = BTreeSet::new();
        self.parts.iter().all(|part| {
            let (blocks, repeats): (Vec<usize>, bool) = match part {
                NestPart::Step(at) => (self.outer.steps[*at].block().into_iter().collect(), false),
                NestPart::Inner(k) => {
                    let mut blocks = Vec::new();
                    if let Some(inner) = region.inner(self.inner[*k]) {
                        each_inside(region, inner, &mut |s| blocks.extend(s.blocks()));
                    }
                    (blocks, true)
                }
            };
            let (mut written, mut sound) = (BTreeSet::new(), true);
            for i in blocks {
                facts::each_stmt(&region.facts.blocks[i].block.stmts, &mut |s| match s.kind {
                    StmtKind::ScatterArray { .. } => sound &= Some(*part) == last,
                    // Sorting is idempotent.
                    StmtKind::SortArrays(ref arrays, _) => {
                        let all = || arrays.iter().map(|a| region.owner(*a));
                        sound &= Some(*part) == last || !all().any(|a| read.contains(&a));
                        read.extend(all());
                        written.extend(all());
                    }
                    StmtKind::ReadArray(_, a, _) => {
                        read.insert(region.owner(a));
                    }
                    StmtKind::WriteArray(a, ..) => {
                        sound &= Some(*part) == last || !read.contains(&region.owner(a));
                        written.insert(region.owner(a));
                    }
                    _ => {}
                });
            }
            // A later iteration of an inner loop writes after an earlier one has read.
            let changes = repeats && Some(*part) != last;
            sound && !(changes && written.iter().any(|a| read.contains(a)))
        })
    }
}

/// Adds an inner loop's inputs and outputs to those of the outer loop.
fn take_in(
    region: &Region,
    outer: &mut InnerLoop,
    inner: &InnerLoop,
    starts: &BTreeSet<Var>,
) -> Option<()> {
    let (program, facts) = (region.program, &region.facts);
    outer.arrays.extend(&inner.arrays);
    outer.checked.extend(&inner.checked);
    outer.lengths.extend(&inner.lengths);
    outer.lengths.extend(inner.proven.iter().map(|(a, _)| *a));
    outer.scalars.extend(&inner.scalars);
    let carried = inner.carried.iter().chain([&inner.counter]);
    outer
        .carried
        .extend(carried.filter(|v| !starts.contains(v)));
    for g in &inner.groups {
        let group = &program.groups[g.index()];
        let anew = group.vars.iter().all(|v| starts.contains(v));
        match group.order {
            Order::Runs(_) if !anew => return None,
            Order::Prefix(_) if !anew => {
                outer.groups.insert(*g);
            }
            _ => {}
        }
    }
    let joined = |a: Atom| {
        a.var()
            .is_some_and(|v| facts.local_group(program, v).is_some())
    };
    (!joined(inner.bound)).then_some(())
}
