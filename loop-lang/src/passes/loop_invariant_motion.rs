//! Loop-invariant motion: what is the same in every iteration is computed once, in `init`.
//!
//! *Invariant*: an operation, an array length, or a read of a random-access parameter, all of whose
//! operands are constants, parameters, or defined in `init` and not carried. Operators are total and
//! reads outside of an array give zero, so nothing can go wrong where the loop would not have come by.
//! What regions compute stays there: an arm that is not taken is not computed.
//!
//! Before: in `body`, `let s_1 = sqrt k_1; let y_1 = mul x_0 s_1`. After: `let s_1 = sqrt k_1` at the end
//! of `init`.
//!
//! In: a loop that verifies. Out: besides, no block of a loop holds an invariant statement. One walk
//! in execution order: linear. Classic: Aho, Sethi and Ullman, *Compilers*, 1986, section 10.7; with one
//! definition per variable and no side effects its conditions come down to the above.

use super::context::Context;
use crate::ir::{Atom, Block, Loop, ParamKind, Place, Section, Stmt, StmtKind, Var};
use crate::op::Op;
use crate::walk;
use rustc_hash::FxHashSet;

/// Runs the pass.
pub fn run(program: &mut Loop) -> bool {
    let context = Context::of(program);
    let in_loop: Vec<bool> = context
        .places
        .iter()
        .map(|p| repeats(program, *p))
        .collect();
    let mut fixed = Fixed::of(program);
    let mut moved: Vec<Stmt> = Vec::new();
    let mut blocks = context.blocks_mut(program);
    let Some((init, rest)) = blocks.split_first_mut() else {
        return false;
    };
    init.stmts.iter().for_each(|s| fixed.define(s));
    for (block, _) in rest
        .iter_mut()
        .zip(&in_loop[1..])
        .filter(|(_, in_loop)| **in_loop)
    {
        fixed.hoist(block, &mut moved);
    }
    let changed = !moved.is_empty();
    init.stmts.append(&mut moved);
    changed
}

/// Whether a place may be come by more than once: all but `init`, the end, and roots' `done`.
fn repeats(program: &Loop, place: Place) -> bool {
    match place {
        Place::Init | Place::Return => false,
        Place::At { rate, section, .. } => {
            section != Section::Done || program.rate(rate).kind.parent().is_some()
        }
    }
}

struct Fixed {
    /// Variables with one value from the end of `init` on.
    vars: FxHashSet<Var>,
    /// Arrays that may be read anywhere and that nothing writes.
    readable: FxHashSet<Var>,
}

impl Fixed {
    fn of(program: &Loop) -> Fixed {
        let random = program
            .params
            .iter()
            .filter(|p| p.kind == ParamKind::Random);
        Fixed {
            vars: program.params.iter().map(|p| p.var).collect(),
            readable: random.map(|p| p.var).collect(),
        }
    }

    /// Notes what a statement of `init` defines.
    fn define(&mut self, stmt: &Stmt) {
        if !matches!(stmt.kind, StmtKind::Carry(..)) {
            walk::definitions(&stmt.kind, &mut |v| {
                self.vars.insert(v);
            });
        }
    }

    fn hoist(&mut self, block: &mut Block, moved: &mut Vec<Stmt>) {
        if !block.stmts.iter().any(|s| self.is_invariant(s)) {
            return;
        }
        for stmt in std::mem::take(&mut block.stmts) {
            if self.is_invariant(&stmt) {
                self.define(&stmt);
                moved.push(stmt);
            } else {
                block.stmts.push(stmt);
            }
        }
    }

    fn is_invariant(&self, stmt: &Stmt) -> bool {
        let mut invariant = match &stmt.kind {
            StmtKind::Let(_, op, _) => *op != Op::Copy,
            StmtKind::ArrayLength(..) => true,
            StmtKind::ReadArray(_, a, _) => self.readable.contains(a),
            _ => false,
        };
        walk::operands(&stmt.kind, &mut |a| {
            invariant &= match a {
                Atom::Const(_) => true,
                Atom::Var(v) => self.vars.contains(&v),
            };
        });
        invariant
    }
}
