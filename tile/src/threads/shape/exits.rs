//! Whether a loop may be left before its bound, and how.

use super::{Refusal, Shape, each};
use livefusion_backend::facts::Placed;
use loop_lang::ir::{Atom, Exit, Place, Section, StmtKind, Var};
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
    /// How the root is left; `elsewhere` has what other phases use.
    pub(super) fn find_exits(&self, elsewhere: &FxHashSet<Var>) -> Result<Exits, Refusal> {
        let mut exits = Exits::default();
        let mut loops = false;
        for placed in self.steps() {
            let Place::At { rate, section, .. } = placed.place else {
                continue;
            };
            let at_guard = section == Section::Guard;
            let all = placed.block.exits.len();
            let leaving = placed.block.exits.iter().filter(|e| self.leaves(placed, e));
            let leaving = leaving.count();
            let exits_here = placed.block.exits.iter();
            let own = exits_here.filter(|e| self.leaves_own(placed, e)).count();
            match (at_guard, rate == self.root) {
                (true, true) if leaving == all => exits.any |= all > 1,
                // Of other rates' guards, no exit is known but that from the rate itself.
                (true, false) if own == all && leaving == 0 => {}
                (false, _) if leaving == all => exits.within |= all > 0,
                _ => return Err(Refusal::Exit),
            }
            each(&placed.block.stmts, &mut |s| {
                loops |= matches!(s.kind, StmtKind::While { .. });
                Ok(())
            })?;
        }
        exits.any |= exits.within;
        // Behind the end a loop in a step might go on for ever; and the host comes to the end by the counter's bound.
        let is_other =
            exits.any && loops || exits.within && self.is_read_behind(self.counter, elsewhere);
        (!is_other).then_some(exits).ok_or(Refusal::Exit)
    }

    /// Whether an exit leaves the root.
    fn leaves(&self, placed: &Placed<'_>, exit: &Exit) -> bool {
        self.target(placed, exit) == self.facts.tree.way_out(self.program, self.root)
    }

    /// Whether an exit leaves its own rate, and no other.
    fn leaves_own(&self, placed: &Placed<'_>, exit: &Exit) -> bool {
        self.target(placed, exit) == self.way_out(placed)
    }

    fn target(&self, placed: &Placed<'_>, exit: &Exit) -> Place {
        let named = exit.target.map(|t| self.facts.tree.place(self.program, t));
        named.unwrap_or_else(|| self.way_out(placed))
    }

    /// Where a block's rate is left to.
    fn way_out(&self, placed: &Placed<'_>) -> Place {
        match placed.place {
            Place::At { rate, .. } => self.facts.tree.way_out(self.program, rate),
            place => place,
        }
    }

    /// Whether a variable is read elsewhere than in the root's steps.
    fn is_read_behind(&self, v: Var, elsewhere: &FxHashSet<Var>) -> bool {
        let mut reads = elsewhere.contains(&v);
        let mut read = |a: Atom| reads |= a == Atom::Var(v);
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
        reads
    }

    /// The values without which a block leaves the root.
    pub fn leaves_unless(&self, place: Place) -> impl Iterator<Item = Atom> {
        let block = self.facts.at.get(&place).map(|at| &self.facts.blocks[*at]);
        let exits = block.filter(|_| self.exits.any).into_iter().flat_map(|b| {
            let exits = b.block.exits.iter();
            exits.filter(|e| self.leaves(b, e))
        });
        exits.map(|e| e.unless)
    }
}
