//! Loop shapes: which loops a device can run in parallel, and their properties.

mod exits;
mod scatter;
mod wide;

use crate::threads::contracted::Contracted;
use crate::threads::form::{Groups, Tiles};
use crate::threads::near::Near;
use crate::threads::phases;
use crate::threads::plan::{Nests, Plan, Work};
use crate::threads::streams::Streams;
use crate::threads::{ENOUGH, Requested, Threads};
use livefusion_backend::facts::{Facts, Placed};
use loop_lang::ir::{
    Atom, Comb, End, Group, GroupId, Loop, Part, Place, RateId, RateKind, Section, Stmt, StmtKind,
    Var,
};
use loop_lang::state::Layout;
use loop_lang::walk;
use rustc_hash::FxHashSet;
use std::fmt;

pub use exits::Exits;
pub(super) use exits::{may_leave, nest_left};
pub use scatter::{Joins, Last, Scatter};
pub use wide::{FEW_WORDS, MOST_WORDS};

/// Limits the levels of groups in a kernel.
///
/// Each level takes a pass over a tile.
pub const MOST_LEVELS: u32 = 4;

/// Lists the reasons why a loop does not run on a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It has no root rate, or several where one is required.
    Roots(usize),
    /// A combinator advances its inputs one element at a time.
    Inner(String),
    /// A group can be folded only sequentially.
    Sequential(String),
    /// It may exit early, in a way that no kernel supports.
    Exit,
    /// It scatters in an order that matters.
    Scatter(&'static str),
    /// Its steps write where other steps access, so their order matters.
    Order(String),
    /// Its groups have too many levels of dependence.
    Levels(u32),
    /// Its groups have too many words. The limit is lower for a loop that may exit early.
    Words(usize),
    /// The requested mapping is not possible.
    Requested(String),
    /// A property that verified loops of this shape do not have.
    Other(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Roots(n) => write!(f, "it has {n} loops that follow each other"),
            Refusal::Inner(comb) => write!(f, "the sides of `{comb}` advance differently"),
            Refusal::Sequential(group) => write!(f, "{group} goes from left to right"),
            Refusal::Exit => write!(
                f,
                "it may end before its bound in the middle of what else it does"
            ),
            Refusal::Scatter(why) => write!(f, "it joins values onto elements {why}"),
            Refusal::Order(why) => f.write_str(why),
            Refusal::Levels(n) => write!(f, "its groups depend on each other at {n} levels"),
            Refusal::Words(n) if *n > MOST_WORDS => write!(f, "its groups have {n} words"),
            Refusal::Words(n) => write!(
                f,
                "its groups have {n} words, and it may end before its bound"
            ),
            Refusal::Requested(what) | Refusal::Other(what) => f.write_str(what),
        }
    }
}

/// Describes a root rate that can run in parallel.
///
/// It may contain subrates and nested rates.
pub struct Shape<'a> {
    /// The loop: one phase, if there are several.
    pub program: &'a Loop,
    /// The loop with all of its phases.
    whole: &'a Loop,
    /// The index of this phase.
    pub phase: usize,
    /// Its facts.
    pub facts: Facts<'a>,
    /// The layout of its state.
    pub layout: Layout,
    /// The root rate.
    pub root: RateId,
    /// Its counter.
    pub counter: Var,
    /// Its bound.
    pub bound: Atom,
    /// The mapping of its iterations.
    pub work: Work,
    /// The groups that tiles combine, by level.
    pub levels: Vec<Vec<GroupId>>,
    /// The plan's facts about nested rates.
    pub nests: Nests,
    /// Its contracted arrays.
    pub contracted: Contracted,
    /// Its early exits.
    pub exits: Exits,
    /// The scatters of its steps, per array.
    pub scatters: Vec<Scatter>,
    /// The overwriting scatters of its steps.
    pub last: Vec<Last>,
    /// The loop-invariant scalars and arrays that steps read, in order.
    pub given: Vec<Var>,
    /// Arrays that are staged by tiles.
    pub streams: Streams,
    /// Staged arrays of row elements.
    pub near: Near,
    /// Groups, by how steps use them.
    pub groups: Groups,
    /// The distribution of steps.
    pub tiles: Tiles,
    /// The minimum number of threads for teams to execute rows; with fewer, threads share rows.
    pub teams: u64,
}

impl<'a> Shape<'a> {
    /// Analyses a loop with one root.
    ///
    /// # Errors
    ///
    /// Returns the reason if it cannot run in parallel on a device.
    pub fn of(program: &'a Loop) -> Result<Shape<'a>, Refusal> {
        match program.roots[..] {
            [_] => Shape::at(
                program,
                program,
                0,
                Layout::of(program),
                Requested::default(),
            ),
            _ => Err(Refusal::Roots(program.roots.len())),
        }
    }

    /// Analyses a [phase](super::phases) of a loop as a loop with one root.
    pub(super) fn at(
        whole: &'a Loop,
        program: &'a Loop,
        phase: usize,
        layout: Layout,
        requested: Requested,
    ) -> Result<Shape<'a>, Refusal> {
        let root = program.roots[0];
        let facts = Facts::of(program, &layout.arrays, &layout.held).map_err(Refusal::Other)?;
        let RateKind::Root { counter, bound } = program.rate(root).kind else {
            return Err(Refusal::Other("its root rate is none".into()));
        };
        if let Some(comb) = advancing(program) {
            return Err(Refusal::Inner(comb));
        }
        let elsewhere = phases::elsewhere(whole, program);
        let contracted = Contracted::of(program, &facts).without(&elsewhere);
        let mut shape = Shape {
            whole,
            phase,
            program,
            facts,
            exits: Exits::default(),
            layout,
            root,
            counter,
            bound,
            work: Work::Steps,
            levels: Vec::new(),
            nests: Nests::default(),
            contracted,
            scatters: Vec::new(),
            last: Vec::new(),
            given: Vec::new(),
            streams: Streams::default(),
            near: Near::default(),
            groups: Groups::default(),
            tiles: Tiles::default(),
            teams: requested.teams.unwrap_or(ENOUGH),
        };
        let mut scatters = scatter::find(program)?;
        scatters.retain(|s| shape.is_scattered(s.array));
        shape.scatters = scatters;
        shape.last = shape.find_last()?;
        let behind = shape.read_behind(elsewhere);
        shape.exits = shape.find_exits(&behind)?;
        let updated = shape.updated();
        let left = (shape.exits, &behind);
        let who = requested.threads.map(|t| t.who);
        let mut plan = Plan::of(
            program,
            &shape.facts,
            &shape.contracted,
            &updated,
            left,
            who,
        )?
        .checked(shape.exits)?;
        match (requested.teams.is_some(), &plan.nests.rows) {
            (true, None) => return Err(Refusal::Requested("no team may have its rows".into())),
            // A requested mapping has no alternatives.
            (false, _) if requested.threads.is_some() => plan.nests.rows = None,
            _ => {}
        }
        (shape.work, shape.levels, shape.nests) = (plan.work, plan.levels, plan.nests);
        let words = shape.words();
        // An alternative kernel of the loop may have one more count.
        if words > MOST_WORDS || shape.exits.any && words >= FEW_WORDS {
            return Err(Refusal::Words(words));
        }
        shape.check_blocks()?;
        shape.check_order()?;
        shape.given = shape.find_given();
        shape.deal(requested.threads)?;
        Ok(shape)
    }

    /// Returns the mapping, in the form of a request for it.
    pub fn dealt(&self) -> Requested {
        Requested {
            threads: Some(Threads {
                who: self.work.who(),
                block: self.tiles.threads,
                each: self.tiles.elements,
            }),
            teams: self.nests.rows.is_some().then_some(self.teams),
        }
    }

    /// Chooses the staged arrays and the tile sizes.
    fn deal(&mut self, requested: Option<Threads>) -> Result<(), Refusal> {
        self.groups = Groups::of(self);
        let (mut streams, mut near) = (Streams::of(self), Near::of(self));
        self.tiles = match requested {
            Some(requested) => Tiles::requested(self, &mut streams, &mut near, requested)?,
            None => Tiles::of(self, &mut streams, &mut near),
        };
        (self.streams, self.near) = (streams, near);
        Ok(())
    }

    /// Returns the kernel that locates rows, if there is one.
    pub fn places(&self) -> Option<Shape<'a>> {
        self.planned(self.nests.places.as_deref()?.clone())
    }

    /// Returns the kernel for many rows, if it differs.
    pub fn rows(&self) -> Option<Shape<'a>> {
        self.planned(self.nests.rows.as_deref()?.clone())
    }

    /// Returns the kernel for rows that cannot be located, if it differs.
    pub fn anywhere(&self) -> Option<Shape<'a>> {
        self.planned(self.nests.anywhere.as_deref()?.clone())
    }

    fn planned(&self, plan: Plan) -> Option<Shape<'a>> {
        let (layout, program) = (self.layout.clone(), self.program);
        let exits = match plan.work {
            // It visits all rows.
            Work::Places(_) => Exits::default(),
            _ => self.exits,
        };
        let mut shape = Shape {
            exits,
            facts: Facts::of(program, &layout.arrays, &layout.held).ok()?,
            layout,
            work: plan.work,
            levels: plan.levels,
            nests: plan.nests,
            contracted: self.contracted.clone(),
            scatters: self.scatters.clone(),
            last: self.last.clone(),
            given: self.given.clone(),
            streams: Streams::default(),
            near: Near::default(),
            groups: Groups::default(),
            ..*self
        };
        shape.deal(None).ok()?;
        if let Work::Teams { .. } = shape.work {
            shape.near = self.near.of_team(self);
        }
        Some(shape)
    }

    /// Returns a group.
    pub fn group(&self, id: GroupId) -> &'a Group {
        &self.program.groups[id.index()]
    }

    /// Lists the variables of groups.
    pub fn vars(&self, level: &[GroupId]) -> Vec<Var> {
        let groups = level.iter().map(|g| self.group(*g));
        groups.flat_map(|g| g.vars.iter().copied()).collect()
    }

    /// Returns the level and the group of a carried variable that tiles combine.
    pub fn level_of(&self, v: Var) -> Option<(u32, GroupId)> {
        let (id, _) = *self.facts.group.get(&v)?;
        let level = self.levels.iter().position(|l| l.contains(&id))?;
        Some((level as u32, id))
    }

    /// Lists the blocks of the root's steps.
    pub fn steps(&self) -> impl Iterator<Item = &Placed<'a>> {
        let is_step = |place: Place| match place {
            Place::At { rate, section, .. } => {
                // The host does not run the blocks of its subrates separately; they are part of
                // its steps.
                let is_nested = self.facts.tree.loop_rate(rate) != self.root;
                let outside = !is_nested && matches!(section, Section::Nest | Section::Done);
                !outside && self.program.root_of(rate) == self.root
            }
            _ => false,
        };
        let blocks = self.facts.blocks.iter();
        blocks.filter(move |b| is_step(b.place))
    }

    /// Returns the number of phases of the loop.
    pub fn phases(&self) -> usize {
        self.whole.roots.len()
    }

    /// Returns the statements at a place.
    pub fn statements(&self, place: Place) -> &'a [Stmt] {
        let at = self.facts.at.get(&place);
        at.map_or(&[], |at| &self.facts.blocks[*at].block.stmts)
    }

    /// Lists the conditions that admit an element to a rate.
    ///
    /// Exits from the root are excluded.
    pub fn admits(&self, rate: RateId) -> impl Iterator<Item = Atom> {
        let guard = at(rate, 0, Section::Guard);
        let block = self.facts.at.get(&guard).map(|at| &self.facts.blocks[*at]);
        let exits = block.into_iter().flat_map(|b| {
            let exits = b.block.exits.iter();
            exits.filter(|e| self.is_own(b, e))
        });
        exits.map(|e| e.unless)
    }

    /// Lists the groups that steps update. Groups updated by other roots are constant here.
    fn updated(&self) -> FxHashSet<GroupId> {
        let mut updated = FxHashSet::default();
        let stmts = self.steps().flat_map(|b| &b.block.stmts);
        for stmt in stmts {
            walk::each(stmt, &mut |s| match &s.kind {
                StmtKind::Assign(v, _) => updated.extend(self.facts.group.get(v).map(|(g, _)| *g)),
                StmtKind::Scan { group, .. } => {
                    updated.insert(*group);
                }
                _ => {}
            });
        }
        updated
    }

    fn check_blocks(&self) -> Result<(), Refusal> {
        for placed in self.steps() {
            if matches!(placed.block.end, End::Branch(..) | End::Return(_)) {
                return Err(Refusal::Other("a block has two ways on".into()));
            }
            each(&placed.block.stmts, &mut |s| match s.kind {
                StmtKind::NewArray(..)
                | StmtKind::FillArray(..)
                | StmtKind::CopyArray(..)
                | StmtKind::SliceArray(..) => Err(Refusal::Other("a step makes an array".into())),
                StmtKind::SortArrays(..) => Err(Refusal::Other("a step sorts arrays".into())),
                _ => Ok(()),
            })?;
        }
        for function in &self.program.functions {
            each(&function.body, &mut |s| match s.kind {
                StmtKind::Trap { .. } => Err(Refusal::Other("a join may trap".into())),
                _ => Ok(()),
            })?;
        }
        Ok(())
    }

    /// Lists the variables that steps read and neither define nor carry.
    fn find_given(&self) -> Vec<Var> {
        let (mut read, mut defined) = (Vec::new(), FxHashSet::default());
        for placed in self.steps() {
            let _ = each(&placed.block.stmts, &mut |s| {
                walk::operands(&s.kind, &mut |a| read.extend(a.var()));
                walk::handed_out(&s.kind, &mut |a| read.extend(a.var()));
                walk::definitions(&s.kind, &mut |v| {
                    defined.insert(v);
                });
                Ok::<(), Refusal>(())
            });
            let exits = placed.block.exits.iter();
            read.extend(exits.filter_map(|e| e.unless.var()));
        }
        let groups = self.levels.iter().flatten().map(|g| self.group(*g));
        let identities = groups.flat_map(|g| &g.identity);
        read.extend(identities.filter_map(|a| a.var()));
        let (updated, mut seen) = (self.updated(), FxHashSet::default());
        read.retain(|v| {
            let group = self.facts.group.get(v);
            let carried = group.is_some_and(|(g, _)| updated.contains(g)) || *v == self.counter;
            let is_own = carried || self.contracted.cells.contains_key(v);
            !is_own && !defined.contains(v) && seen.insert(*v)
        });
        read
    }

    /// Returns the parts of a rate.
    pub fn parts(&self, rate: RateId) -> &'a [Part] {
        &self.program.rate(rate).parts
    }
}

/// Returns the user's combinator that advances a stream on demand, if there is one.
fn advancing(program: &Loop) -> Option<String> {
    let mut kinds = program.rates.iter().map(|r| r.kind);
    let cursor = kinds.find(|kind| matches!(kind, RateKind::Cursor { .. }))?;
    let asks = |c: &&Comb| c.slot.map(|h| h.rate) == cursor.parent();
    let comb = program.combs.iter().find(asks);
    Some(comb.map_or_else(String::new, |c| c.kind.clone()))
}

/// Returns a place of a rate.
pub fn at(rate: RateId, stage: u32, section: Section) -> Place {
    Place::At {
        rate,
        stage,
        section,
    }
}

/// Calls `f` with each statement, including those in regions.
pub fn each<E>(stmts: &[Stmt], f: &mut dyn FnMut(&Stmt) -> Result<(), E>) -> Result<(), E> {
    for s in stmts {
        f(s)?;
        for region in walk::regions(&s.kind) {
            each(region, f)?;
        }
    }
    Ok(())
}
