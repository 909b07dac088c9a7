//! Values of a loop whose last bits may differ on a device.
//!
//! These are floats joined in an order other than the interpreter's, results of the device's own
//! functions, and values computed from these.

use loop_lang::Loop;
use loop_lang::ir::{Atom, Block, Combine, End, Function, Stmt, StmtKind, Var};
use loop_lang::math;
use loop_lang::op::Op;
use loop_lang::walk;
use std::collections::HashSet;

/// Holds the inexact values of a loop.
#[derive(Default)]
pub struct Inexact {
    vars: HashSet<Var>,
    /// Whether an inexact value controls execution or an index. Then no result is comparable.
    pub decides: bool,
    /// Whether floats are multiplied from step to step.
    pub multiplies: bool,
}

impl Inexact {
    /// Analyses a loop.
    pub fn of(program: &Loop) -> Inexact {
        let mut all = Inexact::default();
        for group in &program.groups {
            let extreme = matches!(group.combine, Some(Combine::Op(Op::Min | Op::Max)));
            let floats = group.vars.iter().any(|v| program.ty(*v).elem().is_float());
            if floats && !extreme {
                all.vars.extend(&group.vars);
                all.multiplies |= group.combine == Some(Combine::Op(Op::Mul));
            }
        }
        loop {
            let before = all.vars.len();
            let blocks = || program.blocks.iter().map(|(_, b)| b);
            blocks().for_each(|b| all.block(program, b));
            program
                .functions
                .iter()
                .for_each(|f| all.function(program, f));
            if all.vars.len() == before {
                return all;
            }
        }
    }

    /// Returns whether each of the loop's results is inexact.
    pub fn results(&self, program: &Loop) -> Vec<bool> {
        let ends = program.blocks.iter().map(|(_, b)| &b.end);
        let returned = ends.filter_map(|end| match end {
            End::Return(atoms) => Some(atoms),
            _ => None,
        });
        returned.flatten().map(|a| self.has(*a)).collect()
    }

    fn has(&self, a: Atom) -> bool {
        a.var().is_some_and(|v| self.vars.contains(&v))
    }

    fn block(&mut self, program: &Loop, block: &Block) {
        block.stmts.iter().for_each(|s| self.statement(program, s));
        self.decides |= block.exits.iter().any(|e| self.has(e.unless));
    }

    fn function(&mut self, program: &Loop, function: &Function) {
        function
            .body
            .iter()
            .for_each(|s| self.statement(program, s));
    }

    fn statement(&mut self, program: &Loop, outer: &Stmt) {
        let mut any = false;
        walk::each(outer, &mut |s| {
            walk::operands(&s.kind, &mut |a| any |= self.has(a));
            walk::handed_out(&s.kind, &mut |a| any |= self.has(a));
            any |= match &s.kind {
                StmtKind::Let(v, op, _) => of_device(program, *v, *op),
                StmtKind::Scan { group, .. } => {
                    let vars = &program.groups[group.index()].vars;
                    vars.iter().any(|v| self.vars.contains(v))
                }
                _ => false,
            };
        });
        if !any {
            return;
        }
        walk::each(outer, &mut |s| {
            walk::definitions(&s.kind, &mut |v| {
                self.vars.insert(v);
            });
            match &s.kind {
                StmtKind::Assign(v, _) | StmtKind::WriteArray(v, ..) => {
                    self.vars.insert(*v);
                }
                StmtKind::Scan { group, .. } => {
                    self.vars.extend(&program.groups[group.index()].vars);
                }
                StmtKind::ScatterArray { arrays, .. } => self.vars.extend(arrays),
                StmtKind::Trap { .. } => self.decides = true,
                _ => {}
            }
        });
    }
}

/// Returns whether an operator's body, or a part of it, is not in the kernel's text.
fn of_device(program: &Loop, v: Var, op: Op) -> bool {
    let ty = program.ty(v).elem();
    op.is_transcendental() && (math::limit(op, ty).is_some() || math::body(op, ty).is_none())
}
