//! Early exits: whether and how a loop may exit before its bound.

use super::{Refusal, Shape, each};
use livefusion_backend::facts::{Facts, Placed};
use loop_lang::ir::{Atom, Exit, Loop, Place, RateId, RateKind, Section, StmtKind, Var};
use loop_lang::walk;
use rustc_hash::FxHashSet;

/// Describes the early exits of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Exits {
    /// Whether it may exit early.
    pub any: bool,
    /// Whether it may exit within a step.
    pub within: bool,
    /// Whether nested rates may exit other than by their own guards.
    pub nested: bool,
}

impl Shape<'_> {
    /// Finds the exits of the root. `behind` has the variables read elsewhere.
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
        // After the exit, an inner loop might not terminate. The host also infers the end from the
        // counter's bound.
        let is_other = exits.any && loops || exits.within && behind.contains(&self.counter);
        (!is_other).then_some(exits).ok_or(Refusal::Exit)
    }

    /// Tells whether an exit leaves the root.
    pub(super) fn leaves(&self, placed: &Placed<'_>, exit: &Exit) -> bool {
        leads_to(self.program, &self.facts, placed, exit) == way_out(self.program, &self.facts)
    }

    /// Tells whether an exit leaves only its own rate.
    fn leaves_own(&self, placed: &Placed<'_>, exit: &Exit) -> bool {
        leads_to(self.program, &self.facts, placed, exit)
            == way_out_of(self.program, &self.facts, placed)
    }

    /// Lists the variables read outside the root's steps. `elsewhere` has the uses of other phases.
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

    /// Lists the exits at a place that leave more than a guard's own rate.
    ///
    /// Each has its condition to continue, the conditions that hold before it, and the nested rate
    /// that it leaves. No rate means the root.
    pub fn ways_out(&self, place: Place) -> Vec<(Atom, Vec<Atom>, Option<RateId>)> {
        let block = self.facts.at.get(&place).map(|at| &self.facts.blocks[*at]);
        let (mut ways, mut before) = (Vec::new(), Vec::new());
        if let Some(placed) = block {
            for exit in &placed.block.exits {
                match self.is_own(placed, exit) {
                    true => before.push(exit.unless),
                    false => {
                        let nest = nest_left(self.program, &self.facts, placed, exit);
                        // Reaching the root's bound is no early exit.
                        if nest.is_some() || self.exits.any {
                            ways.push((exit.unless, before.clone(), nest));
                        }
                    }
                }
            }
        }
        ways
    }

    /// Tells whether an exit is a guard's exit from its own rate, which is not the root.
    pub(super) fn is_own(&self, placed: &Placed<'_>, exit: &Exit) -> bool {
        let guards = matches!(placed.place, Place::At { rate, section: Section::Guard, .. } if rate != self.root);
        guards && self.leaves_own(placed, exit)
    }
}

/// Returns the enclosing nested rate that an exit leaves, if it leaves no further rate.
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

/// Tells whether a block may leave the root of a loop with one root.
pub(crate) fn may_leave(program: &Loop, facts: &Facts<'_>, placed: &Placed<'_>) -> bool {
    let mut exits = placed.block.exits.iter();
    exits.any(|e| leads_to(program, facts, placed, e) == way_out(program, facts))
}

fn leads_to(program: &Loop, facts: &Facts<'_>, placed: &Placed<'_>, exit: &Exit) -> Place {
    let named = exit.target.map(|t| facts.tree.place(program, t));
    named.unwrap_or_else(|| way_out_of(program, facts, placed))
}

/// Returns the target of an exit from a block's rate.
fn way_out_of(program: &Loop, facts: &Facts<'_>, placed: &Placed<'_>) -> Place {
    match placed.place {
        Place::At { rate, .. } => facts.tree.way_out(program, rate),
        place => place,
    }
}

/// Returns the target of an exit from the root.
fn way_out(program: &Loop, facts: &Facts<'_>) -> Place {
    let root = program.roots.first();
    root.map_or(Place::Return, |r| facts.tree.way_out(program, *r))
}
