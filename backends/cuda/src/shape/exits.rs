//! Whether a loop may be left before its bound, and how.

use super::{Refusal, Shape, each};
use livefusion_backend::facts::{Facts, Placed};
use loop_lang::Loop;
use loop_lang::ir::{Atom, Exit, Place, RateId, Section, StmtKind, Var};
use loop_lang::walk;

/// How a loop may be left before its bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Exits {
    /// Whether it may be left at all.
    pub any: bool,
    /// Whether that may be within a step.
    pub within: bool,
}

/// How a loop is left.
pub(super) fn find(
    program: &Loop,
    facts: &Facts<'_>,
    root: RateId,
    counter: Var,
) -> Result<Exits, Refusal> {
    let mut exits = Exits::default();
    let mut loops = false;
    for placed in &facts.blocks {
        let Place::At { rate, section, .. } = placed.place else {
            continue;
        };
        let at_guard = section == Section::Guard;
        let leaving = placed
            .block
            .exits
            .iter()
            .filter(|e| leaves(program, facts, root, placed, e));
        let leaving = leaving.count();
        let all = placed.block.exits.len();
        match (at_guard, rate == root) {
            (true, true) if leaving == all => exits.any |= all > 1,
            (true, false) if leaving == 0 => {}
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
    let is_other = exits.any && loops || exits.within && reads_at_end(facts, counter);
    (!is_other).then_some(exits).ok_or(Refusal::Exit)
}

/// Whether an exit leaves the loop; of a sub rate's own guard, no exit but to its next element is known.
fn leaves(
    program: &Loop,
    facts: &Facts<'_>,
    root: RateId,
    placed: &Placed<'_>,
    exit: &Exit,
) -> bool {
    let tree = &facts.tree;
    let own = match placed.place {
        Place::At { rate, .. } => tree.way_out(program, rate),
        place => place,
    };
    let target = exit.target.map_or(own, |t| tree.place(program, t));
    target == tree.way_out(program, root)
}

/// Whether what the host does at the end reads a variable.
fn reads_at_end(facts: &Facts<'_>, v: Var) -> bool {
    let mut reads = false;
    let mut read = |a: Atom| reads |= a == Atom::Var(v);
    let ends = facts.blocks.iter().filter(|b| b.place == Place::Return);
    for end in ends {
        walk::leaving(end.block, &mut read);
        for stmt in &end.block.stmts {
            walk::each(stmt, &mut |s| {
                walk::operands(&s.kind, &mut read);
                walk::handed_out(&s.kind, &mut read);
            });
        }
    }
    reads
}

impl Shape<'_> {
    /// The values without which a block leaves the loop.
    pub fn leaves_unless(&self, place: Place) -> impl Iterator<Item = Atom> {
        let block = self.facts.at.get(&place).map(|at| &self.facts.blocks[*at]);
        let exits = block.filter(|_| self.exits.any).into_iter().flat_map(|b| {
            let leaving = |e: &&Exit| leaves(self.program, &self.facts, self.root, b, e);
            b.block.exits.iter().filter(leaving)
        });
        exits.map(|e| e.unless)
    }
}
