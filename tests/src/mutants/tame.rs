//! Bounds for scalar loops, because a mutant's may be endless.

use loop_lang::Loop;
use loop_lang::ir::{Atom, Stmt, StmtKind, Type, Var, VarData};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// The limit on iterations of a scalar loop.
const TURNS: u64 = 40;

/// Ends each scalar loop after some iterations.
pub fn tame(program: &mut Loop) {
    let vars = &mut program.vars;
    for block in program.blocks.values_mut() {
        tame_stmts(&mut block.stmts, vars);
    }
    for function in &mut program.functions {
        tame_stmts(&mut function.body, vars);
    }
}

fn tame_stmts(stmts: &mut [Stmt], vars: &mut Vec<VarData>) {
    for stmt in stmts {
        let comb = stmt.comb;
        match &mut stmt.kind {
            StmtKind::If { then, other, .. } => {
                tame_stmts(then, vars);
                tame_stmts(other, vars);
            }
            StmtKind::While {
                state,
                test,
                cond,
                body,
                next,
            } => {
                tame_stmts(test, vars);
                tame_stmts(body, vars);
                let mut new = |ty| {
                    let name = format!("tame{}", vars.len());
                    let ty = Type::Scalar(ty);
                    vars.push(VarData {
                        name,
                        ty,
                        scratch: false,
                    });
                    Var::new(vars.len() - 1)
                };
                let (turn, more) = (new(Ty::U64), new(Ty::U64));
                let (few, both) = (new(Ty::Bool), new(Ty::Bool));
                let op = |v: Var, op: Op, a: Atom, b: Atom| Stmt {
                    comb,
                    kind: StmtKind::Let(v, op, [a, b].into_iter().collect()),
                };
                test.push(op(few, Op::Lt, turn.into(), Const::u64(TURNS).into()));
                test.push(op(both, Op::And, few.into(), *cond));
                body.push(op(more, Op::Add, turn.into(), Const::u64(1).into()));
                state.push((turn, Const::u64(0).into()));
                next.push(more.into());
                *cond = both.into();
            }
            _ => {}
        }
    }
}
