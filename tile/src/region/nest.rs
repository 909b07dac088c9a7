//! A loop rate with others inside: what an iteration of it does around them.

use super::{Region, Sweep};
use livefusion_backend::facts;
use loop_lang::ir::{Atom, Order, RateId, RateKind, StmtKind, Var};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// A loop rate with loops in its steps, which are all sweeps, or nests themselves. Its sub rates have none.
pub struct Nest<'a> {
    /// What is done around the inner loops; what these need goes in and out with it.
    pub outer: Sweep<'a>,
    /// The order of an iteration.
    pub parts: Vec<NestPart>,
    /// The rates of the inner loops.
    pub inner: Vec<RateId>,
    /// Variables that begin anew in each iteration, or in one of an inner loop's.
    pub starts: BTreeSet<Var>,
}

/// A loop in a step of a nest.
#[derive(Clone, Copy)]
pub enum Inner<'r, 'a> {
    /// One with no loops in it.
    Sweep(&'r Sweep<'a>),
    /// One with loops in it.
    Nest(&'r Nest<'a>),
}

impl<'r, 'a> Inner<'r, 'a> {
    /// What it does itself.
    pub fn sweep(self) -> &'r Sweep<'a> {
        match self {
            Inner::Sweep(sweep) => sweep,
            Inner::Nest(nest) => &nest.outer,
        }
    }
}

/// A part of an iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NestPart {
    /// A step of what is around the inner loops, by its position.
    Step(usize),
    /// An inner loop, by its position among them.
    Inner(usize),
}

impl<'a> Nest<'a> {
    /// The nest of a rate, if it is one; those inside of it are known.
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
        let mut outer = Sweep::with(region, random, rate, steps)?;
        let mut starts = std::mem::take(&mut outer.starts);
        outer.carried.retain(|v| !starts.contains(v));
        let mut inside: FxHashSet<Var> = FxHashSet::default();
        for inner in &loops {
            take_in(region, &mut outer, inner.sweep(), &starts)?;
            each_inside(region, *inner, &mut |sweep| inside.extend(&sweep.defs));
        }
        for inner in &loops {
            if let Inner::Nest(nest) = inner {
                starts.extend(&nest.starts);
            }
        }
        // What an inner loop defines is known in it alone: a guard's test, say, that is used behind the loop.
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

/// Calls `f` on what an inner loop does, and on what those in it do.
fn each_inside<'r, 'a>(
    region: &'r Region<'a>,
    inner: Inner<'r, 'a>,
    f: &mut impl FnMut(&'r Sweep<'a>),
) {
    // Rates are in each other no deeper than the language allows.
    f(inner.sweep());
    if let Inner::Nest(nest) = inner {
        nest.loops(region).for_each(|i| each_inside(region, i, f));
    }
}

impl<'a> Nest<'a> {
    /// Its inner loops, in order.
    pub fn loops<'r>(&'r self, region: &'r Region<'a>) -> impl Iterator<Item = Inner<'r, 'a>> {
        self.inner.iter().filter_map(|r| region.inner(*r))
    }

    /// What all loops inside of it do, those in its inner loops included.
    pub fn inside<'r>(&'r self, region: &'r Region<'a>) -> Vec<&'r Sweep<'a>> {
        let mut all = Vec::new();
        self.loops(region)
            .for_each(|i| each_inside(region, i, &mut |sweep| all.push(sweep)));
        all
    }

    /// The sweeps in it, those of its inner loops included: they have no loops in them.
    pub fn sweeps<'r>(&'r self, region: &'r Region<'a>) -> Vec<&'r Sweep<'a>> {
        let all = self.inside(region).into_iter();
        all.filter(|s| region.sweep(s.rate).is_some()).collect()
    }

    /// Whether an iteration that is undone leaves nothing behind that the next try would see: a write is written
    /// again, but nothing may be read before it that it changes. What changes elements by what they are has to be last: it
    /// begins when nothing is undone any more. A nest that does is gone through before, as far as it takes to know that; there
    /// are no exits in it then.
    pub fn can_be_undone(&self, region: &Region) -> bool {
        let last = self.inner.last().and_then(|r| region.inner(*r));
        let Some(Inner::Nest(nest)) = last.filter(|_| self.is_rehearsed(region)) else {
            let last = last.filter(|inner| matches!(inner, Inner::Sweep(_)));
            return self.leaves_nothing(region, last.is_some());
        };
        let inside = nest.inside(region);
        self.leaves_nothing(region, true)
            && nest.outer.exits.is_empty()
            && inside.iter().all(|sweep| sweep.exits.is_empty())
    }

    /// Whether the last of its inner loops is a nest that would leave something behind where it is undone. Rows that are all as
    /// long are mostly long, and have a tile of their own: to enter that for each takes less.
    pub fn is_rehearsed(&self, region: &Region) -> bool {
        let last = self.inner.last().and_then(|r| region.inner(*r));
        let uniform = |nest: &Nest| {
            let kind = &region.program.rate(nest.outer.rate).kind;
            matches!(kind, RateKind::Nested { uniform: true, .. })
        };
        matches!(last, Some(Inner::Nest(nest)) if !uniform(nest))
            && !self.leaves_nothing(region, false)
    }

    /// Whether an iteration that is undone leaves nothing behind; given whether its last inner loop is not undone once something
    /// was changed in it.
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
                    // In order, they are in order: to sort once more changes nothing.
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
            // A later turn of an inner loop writes behind what an earlier one has read.
            let changes = repeats && Some(*part) != last;
            sound && !(changes && written.iter().any(|a| read.contains(a)))
        })
    }
}

/// What a sweep needs goes in and out with the outer loop, too.
fn take_in(
    region: &Region,
    outer: &mut Sweep,
    inner: &Sweep,
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
