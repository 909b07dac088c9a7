//! Merge paths: threads share the elements of rows in equal numbers.
//!
//! The shared steps are those of the root and of one nested rate, in order. One giant row among a
//! million empty ones is therefore as efficient as any other distribution.
//!
//! The code before a row's elements is its *head*. Each thread with a part of the row recomputes
//! it, without its effects. These effects and the code after the elements form the row's *end*. The
//! end is a step of its own, if it has any work.

use crate::threads::demand::Demand;
use crate::threads::shape::{Exits, at, each, may_leave};
use livefusion_backend::facts::{Facts, Placed};
use loop_lang::ir::{
    Atom, Combine, GroupId, Loop, Place, RateId, RateKind, Section, Stmt, StmtKind, Var,
};
use loop_lang::op::Op;
use loop_lang::walk;
use rustc_hash::FxHashSet;

/// Describes a root and a nested rate with steps shared among threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    /// The nested rate.
    pub rate: RateId,
    /// Its counter.
    pub counter: Var,
    /// Its bound.
    pub bound: Atom,
    /// Whether the counter continues from row to row.
    pub running: bool,
    /// The steps per row, if equal for all rows and known in advance.
    pub length: Option<Atom>,
    /// Whether rows have an end.
    pub ends: bool,
    /// Values that the head must compute for the elements.
    pub head: FxHashSet<Var>,
    /// Head values that the elements read.
    pub read: Vec<Var>,
}

impl Path {
    /// Finds the steps that threads may share.
    ///
    /// # Errors
    ///
    /// Returns the reason if there are none.
    pub fn of(
        program: &Loop,
        facts: &Facts<'_>,
        demand: &Demand<'_>,
        exits: Exits,
    ) -> Result<Path, String> {
        let nested = |r: &RateId| matches!(program.rate(*r).kind, RateKind::Nested { .. });
        let rates: Vec<RateId> = (0..program.rates.len())
            .map(RateId::new)
            .filter(nested)
            .collect();
        let Some(rate) = rates.first().copied() else {
            return Err("nothing is nested".into());
        };
        if rates.iter().any(|r| !program.is_within(*r, rate)) {
            return Err("it has several passes".into());
        }
        if exits.nested {
            return Err("a row may end in the middle of what else it does".into());
        }
        let RateKind::Nested {
            parent,
            counter,
            bound,
            ..
        } = program.rate(rate).kind
        else {
            return Err("nothing is nested".into());
        };
        if !program.roots.contains(&parent) {
            return Err("not every iteration has one".into());
        }
        let search = RowSearch {
            program,
            facts,
            rate,
            root: parent,
        };
        if exits.any {
            search.leaves()?;
        }
        let running = facts.group.contains_key(&counter);
        search.flags(running, counter)?;
        let read = search.read(counter, bound);
        let behind = demand.of_values(read.iter().copied());
        let inside = |v: &Var| {
            search
                .rate_of(*v)
                .is_some_and(|r| program.is_within(r, rate))
        };
        if behind.rates.contains(&rate) || behind.vars.iter().any(|v| *v != counter && inside(v)) {
            return Err("a row begins with what came of others' elements".into());
        }
        let head_reads = search.reads_of_head();
        if head_reads.iter().any(|v| *v != counter && inside(v)) {
            return Err("a row begins with what came of others' elements".into());
        }
        search.starts(counter, demand)?;
        Ok(Path {
            rate,
            counter,
            bound,
            running,
            length: search.length(counter, bound, running),
            // Each row has a step that tells whether it begins.
            ends: exits.any || search.ends(),
            head: behind.vars,
            read,
        })
    }
}

struct RowSearch<'l, 'a> {
    program: &'l Loop,
    facts: &'l Facts<'a>,
    rate: RateId,
    root: RateId,
}

impl RowSearch<'_, '_> {
    /// Tells whether a block is the test for the begin of a row.
    fn is_entry(&self, placed: &Placed<'_>) -> bool {
        placed.place == at(self.root, 0, Section::Guard)
    }

    /// Checks that the loop exits only where a row begins, or after its elements.
    fn leaves(&self) -> Result<(), String> {
        let behind = |placed: &&Placed<'_>| self.is_inside(placed);
        let last = self.steps().filter(behind).last().map(|b| b.place);
        let mut before = last.is_some();
        for placed in self.steps().filter(|b| !self.is_entry(b)) {
            if before && may_leave(self.program, self.facts, placed) {
                return Err("a row may be left before its end".into());
            }
            before &= Some(placed.place) != last;
        }
        // The test runs once, on values known at that point.
        let mut own = FxHashSet::default();
        for s in self
            .steps()
            .filter(|b| self.is_entry(b))
            .flat_map(|b| &b.block.stmts)
        {
            if !matches!(s.kind, StmtKind::Let(..)) {
                return Err("what begins a row does more".into());
            }
            walk::definitions(&s.kind, &mut |v| {
                own.insert(v);
            });
        }
        let others = self.steps().filter(|b| !self.is_entry(b));
        let mut read = others.flat_map(|b| {
            let exits = b.block.exits.iter().filter_map(|e| e.unless.var());
            reads(&b.block.stmts).into_iter().chain(exits)
        });
        match read.any(|v| own.contains(&v)) {
            true => Err("what begins a row is read in it".into()),
            false => Ok(()),
        }
    }

    /// Tells whether a cleared flag exits the loop where the next row would begin.
    fn is_left_by(&self, flag: Var) -> bool {
        let entry = self.steps().filter(|b| self.is_entry(b));
        let mut exits = entry.flat_map(|b| &b.block.exits);
        exits.any(|e| e.unless == Atom::Var(flag))
    }

    /// Returns the loop rate that updates a group's variable.
    fn rate_of(&self, v: Var) -> Option<RateId> {
        let (group, _) = self.facts.group.get(&v)?;
        let step = self.program.groups[group.index()].step;
        Some(self.facts.tree.loop_rate(step))
    }

    /// Tells whether a block belongs to the elements of a row.
    fn is_inside(&self, placed: &Placed<'_>) -> bool {
        match placed.place {
            Place::At {
                rate,
                section: Section::Nest | Section::Done,
                ..
            } if rate == self.rate => false,
            Place::At { rate, .. } => self.program.is_within(rate, self.rate),
            _ => false,
        }
    }

    fn steps(&self) -> impl Iterator<Item = &Placed<'_>> {
        let blocks = self.facts.blocks.iter();
        blocks.filter(|b| matches!(b.place, Place::At { .. }))
    }

    /// Checks that a row's elements end at their bound, or at a flag that stays cleared.
    fn flags(&self, running: bool, counter: Var) -> Result<(), String> {
        let guard = |b: &&Placed<'_>| matches!(b.place, Place::At { rate, section: Section::Guard, .. } if rate == self.rate);
        let exits = self.steps().find(guard).map_or(&[][..], |b| &b.block.exits);
        let owner = |v: Var| {
            let (group, _) = self.facts.group.get(&v)?;
            let group = &self.program.groups[group.index()];
            (group.combine == Some(Combine::Op(Op::And))).then_some(group.owner)
        };
        let stays_down = |v: Var| owner(v).is_some_and(|o| o == self.rate || o == self.root);
        let flags = exits.iter().skip(1).map(|e| e.unless.var());
        if !flags.clone().all(|v| v.is_some_and(stays_down)) {
            return Err("a row may end by more than a flag".into());
        }
        // After an exit of the loop there is no next row.
        let flags = flags.filter(|v| v.is_none_or(|v| !self.is_left_by(v)));
        let outside = self.steps().filter(|b| !self.is_inside(b));
        let counted = outside
            .map(|b| reads(&b.block.stmts))
            .any(|r| r.contains(&counter));
        match flags.count() > 0 && (running || counted) {
            true => Err("what ends a row moves the next one".into()),
            false => Ok(()),
        }
    }

    /// Lists the elements' inputs from outside, including their bound and their groups' start
    /// values.
    fn read(&self, counter: Var, bound: Atom) -> Vec<Var> {
        let (mut read, mut defined) = (Vec::new(), FxHashSet::default());
        read.extend(bound.var());
        for placed in self.steps() {
            let is_nest = matches!(placed.place, Place::At { rate, section: Section::Nest, .. } if rate == self.rate);
            if is_nest {
                carries(&placed.block.stmts, &mut |start| read.extend(start.var()));
            }
            if !self.is_inside(placed) {
                continue;
            }
            read.extend(reads(&placed.block.stmts));
            read.extend(placed.block.exits.iter().filter_map(|e| e.unless.var()));
            for s in &placed.block.stmts {
                walk::each(s, &mut |s| {
                    walk::definitions(&s.kind, &mut |v| {
                        defined.insert(v);
                    });
                });
            }
        }
        let mut seen = FxHashSet::default();
        let within = |v: Var| {
            self.rate_of(v)
                .is_some_and(|r| self.program.is_within(r, self.rate))
        };
        read.retain(|v| *v != counter && !defined.contains(v) && !within(*v) && seen.insert(*v));
        read
    }

    /// Lists the reads before a row's elements.
    fn reads_of_head(&self) -> Vec<Var> {
        let mut all = Vec::new();
        for placed in self.steps() {
            if self.is_inside(placed) {
                break;
            }
            if self.is_entry(placed) {
                continue;
            }
            all.extend(reads(&placed.block.stmts));
            all.extend(placed.block.exits.iter().filter_map(|e| e.unless.var()));
        }
        all
    }

    /// Checks that start values of element groups are known before these are summed up.
    fn starts(&self, counter: Var, demand: &Demand<'_>) -> Result<(), String> {
        let groups = &self.program.groups;
        for group in groups.iter().filter(|g| g.owner == self.rate) {
            let start = group.start.iter().filter_map(|a| a.var());
            let behind = demand.of_values(start);
            let level = |v: &Var| Some(groups[self.facts.group.get(v)?.0.index()].level);
            let others = behind.vars.iter().filter(|v| **v != counter);
            if others.filter_map(level).any(|l| l >= group.level) {
                return Err("a row starts with what is known later".into());
            }
        }
        Ok(())
    }

    fn length(&self, counter: Var, bound: Atom, running: bool) -> Option<Atom> {
        let is_known = |a: &Atom| a.var().is_none_or(|v| self.is_given(v));
        let mut found = None;
        for placed in self.steps() {
            for s in &placed.block.stmts {
                match &s.kind {
                    StmtKind::Carry(v, Atom::Const(zero))
                        if *v == counter && !running && zero.bits == 0 =>
                    {
                        found = Some(bound).filter(is_known);
                    }
                    StmtKind::Let(v, Op::Add, args) if running && bound == Atom::Var(*v) => {
                        let mut others = args.iter().filter(|a| **a != Atom::Var(counter));
                        let other = others.next().copied().filter(|_| others.next().is_none());
                        found = other.filter(is_known);
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// Tells whether a variable is computed by no step.
    fn is_given(&self, v: Var) -> bool {
        let mut computed = self.facts.group.contains_key(&v);
        for placed in self.steps() {
            for s in &placed.block.stmts {
                walk::each(s, &mut |s| {
                    walk::definitions(&s.kind, &mut |d| computed |= d == v)
                });
            }
        }
        !computed
            && self
                .program
                .rates
                .iter()
                .all(|r| r.kind.counter() != Some(v))
    }

    /// Tells whether there is work outside a row's elements.
    fn ends(&self) -> bool {
        let counts = |v: &Var| {
            self.program
                .rates
                .iter()
                .any(|r| r.kind.counter() == Some(*v))
        };
        let mut acts = false;
        for placed in self.steps().filter(|b| !self.is_inside(b)) {
            let _ = each(&placed.block.stmts, &mut |s| {
                acts |= match &s.kind {
                    StmtKind::Assign(v, _) => !counts(v),
                    StmtKind::Scan { .. }
                    | StmtKind::WriteArray(..)
                    | StmtKind::ScatterArray { .. }
                    | StmtKind::Trap { .. } => true,
                    _ => false,
                };
                Ok::<(), ()>(())
            });
        }
        acts
    }
}

/// Lists the operands of statements.
fn reads(stmts: &[Stmt]) -> Vec<Var> {
    let mut all = Vec::new();
    for s in stmts {
        walk::each(s, &mut |s| {
            let mut read = |a: Atom| all.extend(a.var());
            walk::operands(&s.kind, &mut read);
            walk::handed_out(&s.kind, &mut read);
        });
    }
    all
}

/// Calls `f` on the start values of carried variables.
fn carries(stmts: &[Stmt], f: &mut dyn FnMut(Atom)) {
    for s in stmts {
        if let StmtKind::Carry(_, start) = &s.kind {
            f(*start);
        }
    }
}

/// Tells whether a group belongs to a root or to the elements of rows.
pub fn is_shared(program: &Loop, path: &Path, id: GroupId) -> bool {
    let group = &program.groups[id.index()];
    let counts = path.running && group.vars[..] == [path.counter];
    !counts && (program.roots.contains(&group.owner) || group.owner == path.rate)
}
