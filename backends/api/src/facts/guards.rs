//! Guards that only test: the counter's bound, and other exit conditions.

use super::Facts;
use loop_lang::ir::{Atom, End, Exit, Loop, Place, RateId, Section, Stmt, StmtKind, Type, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;

impl Facts<'_> {
    /// Returns the exit conditions of a guard besides its counter's bound.
    ///
    /// Returns `None` if the guard does anything but test, or if a test does not end the loop.
    pub fn other_exits(
        &self,
        program: &Loop,
        rate: RateId,
        (counter, bound): (Var, Atom),
    ) -> Option<Vec<Atom>> {
        let place = Place::At {
            rate,
            stage: 0,
            section: Section::Guard,
        };
        let block = self.blocks[*self.at.get(&place)?].block;
        let u64s =
            program.atom_ty(bound) == Ty::U64 && program.ty(counter) == Type::Scalar(Ty::U64);
        let counted = |a: &Atom| {
            let test = |s: &Stmt| match &s.kind {
                StmtKind::Let(v, Op::Lt, args) => {
                    *a == Atom::Var(*v) && args[0] == Atom::Var(counter) && args[1] == bound
                }
                _ => false,
            };
            block.stmts.iter().any(test)
        };
        let out = self.tree.way_out(program, rate);
        let leaves = |e: &Exit| {
            let target = e.target.map(|t| self.tree.place(program, t));
            target == Some(out)
        };
        let lets = |s: &Stmt| matches!(s.kind, StmtKind::Let(..));
        let goes_on = matches!(block.end, End::Goto(_));
        if !u64s || !goes_on || !block.stmts.iter().all(lets) || !block.exits.iter().all(leaves) {
            return None;
        }
        let mut exits: Vec<Atom> = block.exits.iter().map(|e| e.unless).collect();
        exits.remove(exits.iter().position(counted)?);
        Some(exits)
    }
}
