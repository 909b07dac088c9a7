//! Which loops this backend can run in parallel, and what it has to know of them.

mod exits;
mod scatter;

use livefusion_backend::facts::Facts;
use loop_lang::ir::{
    Atom, End, Group, GroupId, Loop, Order, Part, Place, RateId, RateKind, Section, Stmt, StmtKind,
    Var,
};
use loop_lang::state::Layout;
use loop_lang::walk;
use rustc_hash::FxHashSet;
use std::fmt;

pub use exits::Exits;
pub use scatter::Scatter;

/// Levels of groups that a kernel may have: each is found in a pass of its own over a tile.
pub const MOST_LEVELS: u32 = 4;

/// Words that the groups of a kernel may have: a block shares what its warps have of each.
pub const MOST_WORDS: usize = 64;

/// Why a loop does not run here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It has no root rate, or several.
    Roots(usize),
    /// A rate runs within the iterations of another.
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
    /// Its groups have more words than this.
    Words(usize),
    /// Something that verified loops of this shape do not have.
    Other(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Roots(n) => write!(f, "it has {n} loops that follow each other"),
            Refusal::Inner(rate) => write!(f, "{rate} runs within another rate"),
            Refusal::Sequential(group) => write!(f, "{group} goes from left to right"),
            Refusal::Exit => write!(
                f,
                "it may end before its bound in the middle of what else it does"
            ),
            Refusal::Scatter(why) => write!(f, "it joins values onto elements {why}"),
            Refusal::Order(why) => f.write_str(why),
            Refusal::Levels(n) => write!(f, "its groups depend on each other at {n} levels"),
            Refusal::Words(n) => write!(f, "its groups have {n} words"),
            Refusal::Other(what) => f.write_str(what),
        }
    }
}

/// A loop that can run in parallel: one root rate, with sub rates.
pub struct Shape<'a> {
    /// The loop.
    pub program: &'a Loop,
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
    /// The groups of each level.
    pub levels: Vec<Vec<GroupId>>,
    /// How it may be left before its bound.
    pub exits: Exits,
    /// What steps join onto elements of arrays, array by array.
    pub scatters: Vec<Scatter>,
    /// What steps read of what is there before them, in order: scalars and arrays.
    pub given: Vec<Var>,
}

impl<'a> Shape<'a> {
    /// Looks at a loop.
    ///
    /// # Errors
    /// Why it cannot run in parallel here.
    pub fn of(program: &'a Loop) -> Result<Shape<'a>, Refusal> {
        let layout = Layout::of(program);
        let facts = Facts::of(program, &layout.arrays, &layout.held).map_err(Refusal::Other)?;
        let [root] = program.roots[..] else {
            return Err(Refusal::Roots(program.roots.len()));
        };
        let RateKind::Root { counter, bound } = program.rate(root).kind else {
            return Err(Refusal::Other("its root rate is none".into()));
        };
        if let Some(inner) = program.rates.iter().find(|r| {
            let root = matches!(r.kind, RateKind::Root { .. });
            !root && !r.kind.is_sub()
        }) {
            return Err(Refusal::Inner(inner.name.clone()));
        }
        let exits = exits::find(program, &facts, root, counter)?;
        let mut shape = Shape {
            program,
            facts,
            exits,
            layout,
            root,
            counter,
            bound,
            levels: Vec::new(),
            scatters: scatter::find(program)?,
            given: Vec::new(),
        };
        shape.levels = shape.find_levels()?;
        let words = shape.levels.iter().map(|l| shape.vars(l).len()).sum();
        if words > MOST_WORDS {
            return Err(Refusal::Words(words));
        }
        // Where it is left is found as one more level.
        let levels = shape.levels.len() as u32 + u32::from(exits.any);
        if levels > MOST_LEVELS {
            return Err(Refusal::Levels(levels));
        }
        shape.check_blocks()?;
        scatter::check_order(program)?;
        shape.given = shape.find_given();
        Ok(shape)
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

    /// The level of a carried variable, and its group.
    pub fn level_of(&self, v: Var) -> Option<(u32, GroupId)> {
        let (id, _) = *self.facts.group.get(&v)?;
        Some((self.group(id).level, id))
    }

    /// The statements at a place.
    pub fn statements(&self, place: Place) -> &'a [Stmt] {
        let at = self.facts.at.get(&place);
        at.map_or(&[], |at| &self.facts.blocks[*at].block.stmts)
    }

    /// What admits an element to a sub rate.
    pub fn admits(&self, rate: RateId) -> impl Iterator<Item = Atom> {
        let guard = at(rate, 0, Section::Guard);
        let block = self.facts.at.get(&guard);
        let exits = block.map_or(&[][..], |at| &self.facts.blocks[*at].block.exits);
        exits.iter().map(|e| e.unless)
    }

    fn find_levels(&self) -> Result<Vec<Vec<GroupId>>, Refusal> {
        let mut levels: Vec<Vec<GroupId>> = Vec::new();
        for (i, group) in self.program.groups.iter().enumerate() {
            let joins = group.combine.is_some() && group.identity.len() == group.vars.len();
            if !joins || group.circle || group.order == Order::Sequential {
                let name = group.vars.first().map(|v| self.program.name(*v));
                return Err(Refusal::Sequential(name.unwrap_or_default().into()));
            }
            if group.level >= MOST_LEVELS {
                return Err(Refusal::Levels(group.level + 1));
            }
            let level = group.level as usize;
            levels.resize(levels.len().max(level + 1), Vec::new());
            levels[level].push(GroupId::new(i));
        }
        Ok(levels)
    }

    fn check_blocks(&self) -> Result<(), Refusal> {
        for placed in &self.facts.blocks {
            if !matches!(placed.place, Place::At { .. }) {
                continue;
            }
            if matches!(placed.block.end, End::Branch(..) | End::Return(_)) {
                return Err(Refusal::Other("a block has two ways on".into()));
            }
            each(&placed.block.stmts, &mut |s| match s.kind {
                StmtKind::NewArray(..)
                | StmtKind::FillArray(..)
                | StmtKind::CopyArray(..)
                | StmtKind::SliceArray(..)
                | StmtKind::Carry(..) => Err(Refusal::Other("a step makes an array".into())),
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
        for placed in &self.facts.blocks {
            if !matches!(placed.place, Place::At { .. }) {
                continue;
            }
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
        let identities = self.program.groups.iter().flat_map(|g| &g.identity);
        read.extend(identities.filter_map(|a| a.var()));
        let mut seen = FxHashSet::default();
        read.retain(|v| {
            let carried = self.facts.group.contains_key(v) || *v == self.counter;
            !carried && !defined.contains(v) && seen.insert(*v)
        });
        read
    }

    /// The parts of a rate.
    pub fn parts(&self, rate: RateId) -> &'a [Part] {
        &self.program.rate(rate).parts
    }
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
fn each<E>(stmts: &[Stmt], f: &mut dyn FnMut(&Stmt) -> Result<(), E>) -> Result<(), E> {
    for s in stmts {
        f(s)?;
        for region in walk::regions(&s.kind) {
            each(region, f)?;
        }
    }
    Ok(())
}
