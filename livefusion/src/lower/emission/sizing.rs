//! The sizing loop: runs before another loop and counts the elements of its arrays.
//!
//! If takes limit all counts to a few elements, arrays get that capacity, and the sizing loop is
//! left before its first iteration.
//!
//! ```text
//! init_5:   let many_5 = gt k_5 131072
//! guard_0:  unless many_5 | done_0
//! done_0:   let found_5 = select many_5 ix_1 k_5
//! ```

use super::Emission;
use super::blocks::{finish, returning};
use super::names::Names;
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use smallvec::SmallVec;

/// The largest count that needs no sizing: as many words as a mebibyte holds.
const FEW: u64 = 1 << 17;

impl Emission<'_> {
    /// Returns the sizing loop, if some capacity is known in no other way.
    ///
    /// It is a copy of this loop with the counts as its only results. It does not trap: the loop
    /// itself will, for the same reason.
    pub(super) fn sizing(&mut self) -> Option<Loop> {
        let done = returning(&self.program).filter(|_| !self.values.sizes.is_empty())?;
        let mut program = self.program.clone();
        program.name = format!("size_{}", self.scope.at);
        for block in program.blocks.values_mut() {
            remove_traps(&mut block.stmts);
        }
        let (section, comb) = (Section::Init, done.comb);
        let init = Label { section, comb };
        let (mut found, mut many) = (Vec::new(), Vec::new());
        let names = &mut self.names;
        for size in &self.values.sizes {
            let Some(most) = size.most else {
                found.push(size.counted);
                continue;
            };
            let args = [most, Const::u64(FEW).into()];
            let is_many = add(&mut program, names, (init, "many"), (Op::Gt, &args));
            let args = [is_many, size.counted, most];
            let number = add(&mut program, names, (done, "found"), (Op::Select, &args));
            found.push(number);
            many.push(is_many);
        }
        // A count without a limit is always needed.
        if many.len() == found.len() {
            let or = |a, b| add(&mut program, names, (init, "any"), (Op::Or, &[a, b]));
            let any = many.into_iter().reduce(or);
            any.into_iter()
                .for_each(|any| self.count_if(&mut program, any));
        }
        finish(&mut program, found);
        Some(program)
    }

    /// Leaves a sizing loop before its first iteration unless a condition holds.
    fn count_if(&self, program: &mut Loop, unless: Atom) {
        for root in program.roots.clone() {
            let (section, comb) = (Section::Guard, self.values.openers[root.index()]);
            let target = None;
            let exit = Exit {
                comb,
                unless,
                target,
            };
            if let Some(guard) = program.blocks.get_mut(Label { section, comb }) {
                guard.exits.insert(0, exit);
            }
        }
    }
}

/// Adds a statement to a block, and its variable.
fn add(
    program: &mut Loop,
    names: &mut Names<'_>,
    (to, base): (Label, &str),
    (op, args): (Op, &[Atom]),
) -> Atom {
    let comb = to.comb;
    let types: SmallVec<[Ty; 3]> = args.iter().map(|a| program.atom_ty(*a)).collect();
    let ty = op.result(&types, None).unwrap_or(types[0]);
    let name = names.new_name(base, &program.combs[comb.index()].name);
    let var = program.new_var(name, Type::Scalar(ty));
    if let Some(block) = program.blocks.get_mut(to) {
        let kind = StmtKind::Let(var, op, Args::from_slice(args));
        block.stmts.push(Stmt { comb, kind });
    }
    var.into()
}

fn remove_traps(stmts: &mut Vec<Stmt>) {
    stmts.retain(|s| !matches!(s.kind, StmtKind::Trap { .. }));
    for stmt in stmts {
        match &mut stmt.kind {
            StmtKind::If { then, other, .. } => [then, other].map(remove_traps),
            StmtKind::While { test, body, .. } => [test, body].map(remove_traps),
            _ => continue,
        };
    }
}
