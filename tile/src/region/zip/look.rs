//! Cursor analysis for zips: outputs of the cursors, and their effects.

use livefusion_backend::facts::{self, Facts, Placed, Source};
use loop_lang::Loop;
use loop_lang::ir::{Atom, End, Part, Place, RateId, RateKind, Section, StmtKind, Var};
use loop_lang::types::Const;
use rustc_hash::{FxHashMap, FxHashSet};

/// Describes a cursor of a zip.
pub struct Cursor {
    /// Its rate.
    pub rate: RateId,
    /// Its counter.
    pub counter: Var,
    /// The exclusive upper bound of the counter.
    pub bound: Atom,
    /// The exit of the cursor that provides an element.
    pub delivers: Place,
    /// The produced values.
    pub values: Vec<Var>,
    /// Flags set when it ends.
    pub ends: Vec<Var>,
}

/// Returns the cursors of a root that is a zip of streams, in order. The result is none if a cursor
/// has other effects.
pub(super) fn cursors(program: &Loop, facts: &Facts, root: RateId) -> Option<Vec<Cursor>> {
    let parts = program.rate(root).parts.iter();
    let rates: Vec<RateId> = parts
        .filter_map(|p| match p {
            Part::Child(r) if is_cursor(program, *r) => Some(*r),
            _ => None,
        })
        .collect();
    let look = Look::of(program, facts, root)?;
    let cursors: Option<Vec<Cursor>> = rates.iter().map(|r| look.cursor(*r)).collect();
    let cursors = cursors.filter(|all| !all.is_empty())?;
    look.values_come_first(&cursors).then_some(cursors)
}

fn is_cursor(program: &Loop, rate: RateId) -> bool {
    matches!(program.rate(rate).kind, RateKind::Cursor { .. })
}

/// Holds the reads and updates of blocks.
#[derive(Default)]
struct BlockUses {
    reads: FxHashSet<Var>,
    /// Definitions and updates.
    sets: FxHashSet<Var>,
}

impl BlockUses {
    fn add(&mut self, program: &Loop, placed: &Placed) {
        facts::each_stmt(&placed.block.stmts, &mut |s| {
            facts::each_use(s, &mut |v| {
                self.reads.insert(v);
            });
            let mut sets = |v| {
                self.sets.insert(v);
            };
            facts::each_def(s, &mut sets);
            facts::each_update(program, s, &mut sets);
        });
        facts::each_leaving_use(placed.block, &mut |v| {
            self.reads.insert(v);
        });
    }
}

struct Look<'l, 'a> {
    program: &'l Loop,
    facts: &'l Facts<'a>,
    root: RateId,
    /// Uses of each cursor's blocks, and of the rest of the loop.
    inside: FxHashMap<RateId, BlockUses>,
    outside: BlockUses,
}

impl<'l, 'a> Look<'l, 'a> {
    fn of(program: &'l Loop, facts: &'l Facts<'a>, root: RateId) -> Option<Look<'l, 'a>> {
        let mut look = Look {
            program,
            facts,
            root,
            inside: FxHashMap::default(),
            outside: BlockUses::default(),
        };
        for placed in &facts.blocks {
            let Place::At { rate, section, .. } = placed.place else {
                continue;
            };
            if !program.is_within(rate, root) {
                continue;
            }
            match look.cursor_around(rate) {
                None => look.outside.add(program, placed),
                Some(c) if c == rate && matches!(section, Section::Nest | Section::Done) => {}
                Some(c) => look.inside.entry(c).or_default().add(program, placed),
            }
        }
        Some(look)
    }

    fn cursor_around(&self, rate: RateId) -> Option<RateId> {
        let mut at = Some(rate);
        while let Some(r) = at.filter(|r| *r != self.root) {
            if is_cursor(self.program, r) {
                return Some(r);
            }
            at = self.program.rate(r).kind.parent();
        }
        None
    }

    fn cursor(&self, rate: RateId) -> Option<Cursor> {
        let RateKind::Cursor { counter, bound, .. } = self.program.rate(rate).kind else {
            return None;
        };
        let uses = self.inside.get(&rate)?;
        let ends = self.ends(rate)?;
        let values: Vec<Var> = {
            let mut delivered: Vec<Var> = uses
                .sets
                .intersection(&self.outside.reads)
                .copied()
                .collect();
            delivered.sort();
            delivered
        };
        let delivers = self.delivers(rate, &values)?;
        let others = self
            .inside
            .iter()
            .filter(|(r, _)| **r != rate)
            .map(|(_, u)| u);
        let elsewhere = |v: &Var| {
            let set = others.clone().any(|u| u.sets.contains(v)) || self.outside.sets.contains(v);
            set && !uses.sets.contains(v)
        };
        // If it reads a value that other code writes, it would have to run in step.
        let made = |v: &Var| matches!(self.facts.source.get(v), Some(Source::Made(_)));
        let alone = uses.reads.iter().all(|v| !elsewhere(v) && !made(v))
            && uses.sets.iter().all(|v| !self.outside.sets.contains(v))
            && others.clone().all(|u| uses.sets.is_disjoint(&u.reads))
            && values.iter().all(|v| !uses.reads.contains(v))
            && ends
                .iter()
                .all(|v| !uses.reads.contains(v) && !self.outside.sets.contains(v));
        alone.then_some(Cursor {
            rate,
            counter,
            bound,
            delivers,
            values,
            ends,
        })
    }

    /// Returns the flags set when a cursor ends; none if its end has other effects.
    fn ends(&self, rate: RateId) -> Option<Vec<Var>> {
        let block = |section| {
            let place = Place::At {
                rate,
                stage: 0,
                section,
            };
            Some(self.facts.blocks[*self.facts.at.get(&place)?].block)
        };
        let done = block(Section::Done)?;
        let ends = done.stmts.iter().map(|s| match s.kind {
            StmtKind::Assign(v, Atom::Const(_)) => Some(v),
            _ => None,
        });
        let quiet = done.exits.is_empty() && block(Section::Nest)?.stmts.is_empty();
        ends.collect::<Option<Vec<Var>>>().filter(|_| quiet)
    }

    /// Returns the place where a cursor provides an element. It is the only exit with an element,
    /// and the cursor has no work left there. Each value is set there, or between the last test and
    /// it. Without an element, control goes there too, or ends the zip.
    fn delivers(&self, rate: RateId, values: &[Var]) -> Option<Place> {
        let (program, facts) = (self.program, self.facts);
        let behind = facts.tree.after(program, rate)?;
        let over = facts.tree.done(program, self.root);
        let mut delivers = None;
        let mut assigned: FxHashMap<Var, RateId> = FxHashMap::default();
        let mut twice = false;
        for placed in &facts.blocks {
            let Place::At {
                rate: r, section, ..
            } = placed.place
            else {
                continue;
            };
            if !program.is_within(r, rate) || section == Section::Nest && r == rate {
                continue;
            }
            let End::Goto(to) = placed.block.end else {
                return None;
            };
            let to = facts.tree.place(program, to);
            let leaves = to == behind;
            if section == Section::Done && r == rate {
                if !leaves && to != over {
                    return None;
                }
                continue;
            }
            if delivers.is_some()
                && (leaves || !placed.block.stmts.is_empty() || !placed.block.exits.is_empty())
            {
                return None;
            }
            if leaves {
                delivers = Some((placed.place, r));
            }
            for s in &placed.block.stmts {
                match s.kind {
                    StmtKind::Assign(v, _) if values.contains(&v) => {
                        let before = assigned.insert(v, r);
                        twice |= before.is_some();
                    }
                    StmtKind::WriteArray(..)
                    | StmtKind::ScatterArray { .. }
                    | StmtKind::Scan { .. } => return None,
                    _ => {}
                }
            }
        }
        let (place, r) = delivers?;
        let there = |v: &Var| assigned.get(v) == Some(&r);
        (!twice && values.iter().all(there)).then_some(place)
    }

    /// Tells whether nothing before the cursors reads produced values, in an iteration.
    fn values_come_first(&self, cursors: &[Cursor]) -> bool {
        let mut before = BlockUses::default();
        for placed in &self.facts.blocks {
            let Place::At { rate, .. } = placed.place else {
                continue;
            };
            if self.cursor_around(rate).is_some() {
                break;
            }
            if self.program.is_within(rate, self.root) {
                before.add(self.program, placed);
            }
        }
        let delivered = |c: &Cursor| {
            c.values
                .iter()
                .chain(&c.ends)
                .all(|v| !before.reads.contains(v))
        };
        cursors.iter().all(delivered)
    }
}

/// Returns the start value of a carried variable, if it is a constant.
pub(super) fn start(program: &Loop, v: Var) -> Option<Const> {
    let group = &program.groups[program.group_of(v)?.index()];
    let at = group.vars.iter().position(|x| *x == v)?;
    match group.start.get(at)? {
        Atom::Const(c) => Some(*c),
        Atom::Var(_) => None,
    }
}
