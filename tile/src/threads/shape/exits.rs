//! Whether a loop may be left before its bound, and how.

use super::{Refusal, Shape, each};
use livefusion_backend::facts::{Facts, Placed};
use loop_lang::ir::{Atom, Exit, Loop, Place, Section, StmtKind, Var};
use loop_lang::walk;
use rustc_hash::FxHashSet;

/// How a loop may be left before its bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Exits {
    /// Whether it may be left at all.
    pub any: bool,
    /// Whether that may be within a step.
    pub within: bool,
}

impl Shape<'_> {
    /// How the root is left; `behind` has what is read elsewhere.
    pub(super) fn find_exits(&self, behind: &FxHashSet<Var>) -> Result<Exits, Refusal> {
        let mut exits = Exits::default();
        let mut loops = false;
        for placed in self.steps() {
            let Place::At { rate, section, .. } = placed.place else {
                continue;
            };
            let at_guard = section == Section::Guard;
            let all = &placed.block.exits;
            let leaving = all.iter().filter(|e| self.leaves(placed, e)).count();
            let own = all.iter().filter(|e| self.leaves_own(placed, e));
            match (at_guard, rate == self.root) {
                (true, true) if leaving == all.len() => exits.any |= leaving > 1,
                // Of others, no exit is known but that from the rate itself, and only of its guard.
                (true, false) if leaving + own.count() == all.len() => exits.within |= leaving > 0,
                (false, _) if leaving == all.len() => exits.within |= leaving > 0,
                _ => return Err(Refusal::Exit),
            }
            each(&placed.block.stmts, &mut |s| {
                loops |= matches!(s.kind, StmtKind::While { .. });
                Ok(())
            })?;
        }
        exits.any |= exits.within;
        // Behind the end a loop in a step might go on for ever; and the host comes to the end by the counter's bound.
        let is_other = exits.any && loops || exits.within && behind.contains(&self.counter);
        (!is_other).then_some(exits).ok_or(Refusal::Exit)
    }

    /// Whether an exit leaves the root.
    pub(super) fn leaves(&self, placed: &Placed<'_>, exit: &Exit) -> bool {
        leads_to(self.program, &self.facts, placed, exit) == way_out(self.program, &self.facts)
    }

    /// Whether an exit leaves its own rate, and no other.
    fn leaves_own(&self, placed: &Placed<'_>, exit: &Exit) -> bool {
        leads_to(self.program, &self.facts, placed, exit)
            == way_out_of(self.program, &self.facts, placed)
    }

    /// What is read elsewhere than in the root's steps; `elsewhere` has what other phases use.
    pub(super) fn read_behind(&self, mut elsewhere: FxHashSet<Var>) -> FxHashSet<Var> {
        let mut read = |a: Atom| elsewhere.extend(a.var());
        let own: Vec<Place> = self.steps().map(|b| b.place).collect();
        let others = self.facts.blocks.iter().filter(|b| !own.contains(&b.place));
        for other in others {
            walk::leaving(other.block, &mut read);
            for stmt in &other.block.stmts {
                walk::each(stmt, &mut |s| {
                    walk::operands(&s.kind, &mut read);
                    walk::handed_out(&s.kind, &mut read);
                });
            }
        }
        elsewhere
    }

    /// The ways out of the root at a place: what leaves it unless it holds, and what holds where control comes to that.
    pub fn ways_out(&self, place: Place) -> Vec<(Atom, Vec<Atom>)> {
        let block = self.facts.at.get(&place).map(|at| &self.facts.blocks[*at]);
        let (mut ways, mut before) = (Vec::new(), Vec::new());
        if let Some(placed) = block.filter(|_| self.exits.any) {
            for exit in &placed.block.exits {
                match self.leaves(placed, exit) {
                    true => ways.push((exit.unless, before.clone())),
                    false => before.push(exit.unless),
                }
            }
        }
        ways
    }
}

/// Whether a block may leave the root of a loop that has one.
pub(crate) fn may_leave(program: &Loop, facts: &Facts<'_>, placed: &Placed<'_>) -> bool {
    let mut exits = placed.block.exits.iter();
    exits.any(|e| leads_to(program, facts, placed, e) == way_out(program, facts))
}

fn leads_to(program: &Loop, facts: &Facts<'_>, placed: &Placed<'_>, exit: &Exit) -> Place {
    let named = exit.target.map(|t| facts.tree.place(program, t));
    named.unwrap_or_else(|| way_out_of(program, facts, placed))
}

/// Where a block's rate is left to.
fn way_out_of(program: &Loop, facts: &Facts<'_>, placed: &Placed<'_>) -> Place {
    match placed.place {
        Place::At { rate, .. } => facts.tree.way_out(program, rate),
        place => place,
    }
}

/// Where the root is left to.
fn way_out(program: &Loop, facts: &Facts<'_>) -> Place {
    let root = program.roots.first();
    root.map_or(Place::Return, |r| facts.tree.way_out(program, *r))
}
