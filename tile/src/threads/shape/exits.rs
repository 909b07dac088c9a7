//! Whether a loop may be left before its bound, and how.

use super::{Refusal, Shape, each};
use livefusion_backend::facts::{Facts, Placed};
use loop_lang::ir::{Atom, Exit, Loop, Place, RateId, RateKind, Section, StmtKind, Var};
use loop_lang::walk;
use rustc_hash::FxHashSet;

/// How a loop may be left before its bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Exits {
    /// Whether it may be left at all.
    pub any: bool,
    /// Whether that may be within a step.
    pub within: bool,
    /// Whether rates that are nested may be left otherwise than by their own guards.
    pub nested: bool,
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
            let (at_guard, at_root) = (section == Section::Guard, rate == self.root);
            for (k, exit) in placed.block.exits.iter().enumerate() {
                match at_guard {
                    _ if self.leaves(placed, exit) && at_guard && at_root => exits.any |= k > 0,
                    _ if self.leaves(placed, exit) => exits.within = true,
                    true if !at_root && self.leaves_own(placed, exit) => {}
                    _ if nest_left(self.program, &self.facts, placed, exit).is_some() => {
                        exits.nested = true;
                    }
                    _ => return Err(Refusal::Exit),
                }
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

    /// The ways out at a place of more than a guard's own rate: what leaves unless it holds, what holds where control comes to
    /// that, and the nested rate that is left, if it is not the root.
    pub fn ways_out(&self, place: Place) -> Vec<(Atom, Vec<Atom>, Option<RateId>)> {
        let block = self.facts.at.get(&place).map(|at| &self.facts.blocks[*at]);
        let (mut ways, mut before) = (Vec::new(), Vec::new());
        if let Some(placed) = block {
            for exit in &placed.block.exits {
                match self.is_own(placed, exit) {
                    true => before.push(exit.unless),
                    false => {
                        let nest = nest_left(self.program, &self.facts, placed, exit);
                        // To come to the root's bound is no way out.
                        if nest.is_some() || self.exits.any {
                            ways.push((exit.unless, before.clone(), nest));
                        }
                    }
                }
            }
        }
        ways
    }

    /// Whether an exit is that of a guard from its own rate, which is not the root.
    pub(super) fn is_own(&self, placed: &Placed<'_>, exit: &Exit) -> bool {
        let guards = matches!(placed.place, Place::At { rate, section: Section::Guard, .. } if rate != self.root);
        guards && self.leaves_own(placed, exit)
    }
}

/// The nested rate around a block that an exit leaves, and no more.
pub(crate) fn nest_left(
    program: &Loop,
    facts: &Facts<'_>,
    placed: &Placed<'_>,
    exit: &Exit,
) -> Option<RateId> {
    let (
        Place::At {
            rate: left,
            section: Section::Done,
            ..
        },
        Place::At { rate, .. },
    ) = (leads_to(program, facts, placed, exit), placed.place)
    else {
        return None;
    };
    let is_nested = matches!(program.rate(left).kind, RateKind::Nested { .. });
    (is_nested && program.is_within(rate, left)).then_some(left)
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
