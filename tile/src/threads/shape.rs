//! Which loops this backend can run in parallel, and what it has to know of them.

mod exits;
mod scatter;
mod wide;

use crate::threads::form::{Groups, Tiles};
use crate::threads::handed::Handed;
use crate::threads::near::Near;
use crate::threads::phases;
use crate::threads::plan::{Nests, Plan, Work};
use crate::threads::streams::Streams;
use crate::threads::{Asked, ENOUGH, Threads};
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

/// Levels of groups that a kernel may have: each is found in a pass of its own over a tile.
pub const MOST_LEVELS: u32 = 4;

/// Why a loop does not run here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It has no root rate, or several where one is asked for.
    Roots(usize),
    /// A combinator asks its sides for elements one by one.
    Inner(String),
    /// A group can be summed up from left to right only.
    Sequential(String),
    /// It may end before its bound, in a way that has no kernel.
    Exit,
    /// It joins values onto elements anywhere, in an order that matters.
    Scatter(&'static str),
    /// Its steps write where others write or read, so that their order matters.
    Order(String),
    /// Its groups depend on each other at more levels than this.
    Levels(u32),
    /// Its groups have so many words: too many, or more than a loop's that may end before its bound.
    Words(usize),
    /// What is asked for cannot be.
    Asked(String),
    /// Something that verified loops of this shape do not have.
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
            Refusal::Asked(what) | Refusal::Other(what) => f.write_str(what),
        }
    }
}

/// A root rate of a loop, with sub rates and nested ones, that can run in parallel.
pub struct Shape<'a> {
    /// The loop: a phase alone, if there are several.
    pub program: &'a Loop,
    /// The loop with all of its phases.
    whole: &'a Loop,
    /// Which of them this is.
    pub phase: usize,
    /// What is known of it.
    pub facts: Facts<'a>,
    /// How its state is laid out.
    pub layout: Layout,
    /// The root rate.
    pub root: RateId,
    /// Its counter.
    pub counter: Var,
    /// Its bound.
    pub bound: Atom,
    /// How its iterations become work of threads.
    pub work: Work,
    /// The groups that tiles join, level by level.
    pub levels: Vec<Vec<GroupId>>,
    /// Where it has nested rates: what else the plan says.
    pub nests: Nests,
    /// Arrays by which an iteration hands on to itself.
    pub handed: Handed,
    /// How it may be left before its bound.
    pub exits: Exits,
    /// What steps join onto elements of arrays, array by array.
    pub scatters: Vec<Scatter>,
    /// What they overwrite, anywhere.
    pub last: Vec<Last>,
    /// What steps read of what is there before them, in order: scalars and arrays.
    pub given: Vec<Var>,
    /// Arrays whose elements come and go by tiles.
    pub streams: Streams,
    /// Arrays of which the elements of rows come and go by rooms.
    pub near: Near,
    /// Groups, by what steps know of them.
    pub groups: Groups,
    /// How steps are dealt out.
    pub tiles: Tiles,
    /// From how many threads on teams have rows, where threads share these else.
    pub teams: u64,
}

impl<'a> Shape<'a> {
    /// Looks at a loop of one root.
    ///
    /// # Errors
    /// Why it cannot run in parallel here.
    pub fn of(program: &'a Loop) -> Result<Shape<'a>, Refusal> {
        match program.roots[..] {
            [_] => Shape::at(program, program, 0, Layout::of(program), Asked::default()),
            _ => Err(Refusal::Roots(program.roots.len())),
        }
    }

    /// Looks at a [phase](super::phases) of a loop, as a loop of one root.
    pub(super) fn at(
        whole: &'a Loop,
        program: &'a Loop,
        phase: usize,
        layout: Layout,
        asked: Asked,
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
        let handed = Handed::of(program, &facts).without(&elsewhere);
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
            handed,
            scatters: Vec::new(),
            last: Vec::new(),
            given: Vec::new(),
            streams: Streams::default(),
            near: Near::default(),
            groups: Groups::default(),
            tiles: Tiles::default(),
            teams: asked.teams.unwrap_or(ENOUGH),
        };
        let mut scatters = scatter::find(program)?;
        scatters.retain(|s| shape.is_scattered(s.array));
        shape.scatters = scatters;
        shape.last = shape.find_last()?;
        let behind = shape.read_behind(elsewhere);
        shape.exits = shape.find_exits(&behind)?;
        let updated = shape.updated();
        let left = (shape.exits, &behind);
        let who = asked.threads.map(|t| t.who);
        let mut plan = Plan::of(program, &shape.facts, &shape.handed, &updated, left, who)?
            .checked(shape.exits)?;
        match (asked.teams.is_some(), &plan.nests.rows) {
            (true, None) => return Err(Refusal::Asked("no team may have its rows".into())),
            // What is asked for is all there is.
            (false, _) if asked.threads.is_some() => plan.nests.rows = None,
            _ => {}
        }
        (shape.work, shape.levels, shape.nests) = (plan.work, plan.levels, plan.nests);
        let words = shape.words();
        // Another form of it may have a count more.
        if words > MOST_WORDS || shape.exits.any && words >= FEW_WORDS {
            return Err(Refusal::Words(words));
        }
        shape.check_blocks()?;
        shape.check_order()?;
        shape.given = shape.find_given();
        shape.deal(asked.threads)?;
        Ok(shape)
    }

    /// How it is dealt out: what would be asked for to have it so.
    pub fn dealt(&self) -> Asked {
        Asked {
            threads: Some(Threads {
                who: self.work.who(),
                block: self.tiles.threads,
                each: self.tiles.elements,
            }),
            teams: self.nests.rows.is_some().then_some(self.teams),
        }
    }

    /// Finds what goes by tiles, and how large these are.
    fn deal(&mut self, asked: Option<Threads>) -> Result<(), Refusal> {
        self.groups = Groups::of(self);
        let (mut streams, mut near) = (Streams::of(self), Near::of(self));
        self.tiles = match asked {
            Some(asked) => Tiles::asked(self, &mut streams, &mut near, asked)?,
            None => Tiles::of(self, &mut streams, &mut near),
        };
        (self.streams, self.near) = (streams, near);
        Ok(())
    }

    /// The loop that finds where rows lie, if a kernel of its own does.
    pub fn places(&self) -> Option<Shape<'a>> {
        self.planned(self.nests.places.as_deref()?.clone())
    }

    /// The loop as it is run where rows are many, if that is another kernel.
    pub fn rows(&self) -> Option<Shape<'a>> {
        self.planned(self.nests.rows.as_deref()?.clone())
    }

    /// The loop as it is run where nobody can tell where rows lie, if that is another kernel.
    pub fn anywhere(&self) -> Option<Shape<'a>> {
        self.planned(self.nests.anywhere.as_deref()?.clone())
    }

    fn planned(&self, plan: Plan) -> Option<Shape<'a>> {
        let (layout, program) = (self.layout.clone(), self.program);
        let exits = match plan.work {
            // It goes through all of them.
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
            handed: self.handed.clone(),
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

    /// A group.
    pub fn group(&self, id: GroupId) -> &'a Group {
        &self.program.groups[id.index()]
    }

    /// The variables of groups.
    pub fn vars(&self, level: &[GroupId]) -> Vec<Var> {
        let groups = level.iter().map(|g| self.group(*g));
        groups.flat_map(|g| g.vars.iter().copied()).collect()
    }

    /// The level of a carried variable that tiles join, and its group.
    pub fn level_of(&self, v: Var) -> Option<(u32, GroupId)> {
        let (id, _) = *self.facts.group.get(&v)?;
        let level = self.levels.iter().position(|l| l.contains(&id))?;
        Some((level as u32, id))
    }

    /// The blocks of the root's steps.
    pub fn steps(&self) -> impl Iterator<Item = &Placed<'a>> {
        let is_step = |place: Place| match place {
            Place::At { rate, section, .. } => {
                // Those of sub rates of the root are run with its own, by the host.
                let is_nested = self.facts.tree.loop_rate(rate) != self.root;
                let outside = !is_nested && matches!(section, Section::Nest | Section::Done);
                !outside && self.program.root_of(rate) == self.root
            }
            _ => false,
        };
        let blocks = self.facts.blocks.iter();
        blocks.filter(move |b| is_step(b.place))
    }

    /// How many phases the loop has.
    pub fn phases(&self) -> usize {
        self.whole.roots.len()
    }

    /// The statements at a place.
    pub fn statements(&self, place: Place) -> &'a [Stmt] {
        let at = self.facts.at.get(&place);
        at.map_or(&[], |at| &self.facts.blocks[*at].block.stmts)
    }

    /// What admits an element to a rate, as far as it does not leave the root.
    pub fn admits(&self, rate: RateId) -> impl Iterator<Item = Atom> {
        let guard = at(rate, 0, Section::Guard);
        let block = self.facts.at.get(&guard).map(|at| &self.facts.blocks[*at]);
        let exits = block.into_iter().flat_map(|b| {
            let exits = b.block.exits.iter();
            exits.filter(|e| self.is_own(b, e))
        });
        exits.map(|e| e.unless)
    }

    /// The groups that steps update; what other roots' steps do is what it is.
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

    /// The variables that steps read and do not define, but for what is carried.
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
            let is_own = carried || self.handed.cells.contains_key(v);
            !is_own && !defined.contains(v) && seen.insert(*v)
        });
        read
    }

    /// The parts of a rate.
    pub fn parts(&self, rate: RateId) -> &'a [Part] {
        &self.program.rate(rate).parts
    }
}

/// The combinator that advances a stream on demand, if one does: what the user called.
fn advancing(program: &Loop) -> Option<String> {
    let mut kinds = program.rates.iter().map(|r| r.kind);
    let cursor = kinds.find(|kind| matches!(kind, RateKind::Cursor { .. }))?;
    let asks = |c: &&Comb| c.home.map(|h| h.rate) == cursor.parent();
    let comb = program.combs.iter().find(asks);
    Some(comb.map_or_else(String::new, |c| c.kind.clone()))
}

/// A place of a rate.
pub fn at(rate: RateId, stage: u32, section: Section) -> Place {
    Place::At {
        rate,
        stage,
        section,
    }
}

/// Calls `f` with each statement, those in regions included.
pub fn each<E>(stmts: &[Stmt], f: &mut dyn FnMut(&Stmt) -> Result<(), E>) -> Result<(), E> {
    for s in stmts {
        f(s)?;
        for region in walk::regions(&s.kind) {
            each(region, f)?;
        }
    }
    Ok(())
}
