//! Instructions that report steps to an observer, emitted only if there is one.

use super::Compiler;
use crate::code::{Instr, Reg, Watch, Watched};
use loop_lang::ir::{Atom, Place, RateId, Section, Stmt, StmtKind, Type, Var};
use loop_lang::walk;

impl Compiler<'_> {
    /// Reports a step in the current block, with the values of these variables.
    fn watch(&mut self, step: Watch, values: Vec<(Var, Reg)>) {
        let Some(block) = self.blocks.get(self.block) else {
            return;
        };
        self.code.watched.push(Watched {
            place: block.place,
            step,
            values,
        });
        self.emit(Instr::Watch(self.code.watched.len() as u32 - 1));
    }

    /// Returns the registers of scalars, each once.
    fn scalars(&mut self, atoms: &[Atom]) -> Vec<(Var, Reg)> {
        let mut values: Vec<(Var, Reg)> = Vec::new();
        for v in atoms.iter().filter_map(|a| a.var()) {
            let seen = values.iter().any(|(seen, _)| *seen == v);
            if !seen && matches!(self.program.ty(v), Type::Scalar(_)) {
                values.push((v, self.operand(Atom::Var(v))));
            }
        }
        values
    }

    /// Reports the entry of a block. At a guard it includes the carried variables.
    pub(super) fn watch_enter(&mut self, place: Place) {
        if !self.mode.observed {
            return;
        }
        let mut carried: Vec<Atom> = Vec::new();
        if let Place::At {
            rate,
            section: Section::Guard,
            ..
        } = place
        {
            let program = self.program;
            let parent = |r: &RateId| program.rate(*r).kind.parent();
            let around = std::iter::successors(Some(rate), parent);
            let counters = around.filter_map(|r| program.rate(r).kind.counter());
            let known = program
                .groups
                .iter()
                .filter(|g| program.is_within(rate, g.owner));
            let vars = known.flat_map(|g| g.vars.iter().copied());
            carried = counters.chain(vars).map(Atom::Var).collect();
        }
        let values = self.scalars(&carried);
        self.watch(Watch::Enter, values);
    }

    /// Reports a finished statement.
    pub(super) fn watch_stmt(&mut self, stmt: &Stmt) {
        if !self.mode.observed || self.in_function {
            return;
        }
        let mut atoms = Vec::new();
        walk::operands(&stmt.kind, &mut |a| atoms.push(a));
        walk::definitions(&stmt.kind, &mut |v| atoms.push(Atom::Var(v)));
        let mut values = self.scalars(&atoms);
        if let StmtKind::Assign(v, a) = stmt.kind {
            values.retain(|(seen, _)| *seen != v);
            values.push((v, self.operand(a)));
        }
        self.watch(Watch::Statement(Box::new(stmt.clone())), values);
    }

    /// Reports the exit of a block.
    pub(super) fn watch_leave(&mut self, step: Watch, atoms: &[Atom]) {
        if self.mode.observed {
            let values = self.scalars(atoms);
            self.watch(step, values);
        }
    }
}
