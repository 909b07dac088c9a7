//! Constant folding: values known at compile time are not computed.
//!
//! * An operation on constants becomes the constant given by [`eval`], so it matches every backend.
//! * Algebraic identities that hold for the type are applied (see `identities`).
//! * An `if` with a known condition is replaced by its arm. Results that are equal in both arms
//!   become copies. Traps that cannot occur and exits that are never taken are removed.
//!
//! Before: `let a_1 = add 1 2; let b_1 = mul x_0 1; let c_1 = add a_1 b_1`. After: `let a_1 = 3;
//! let b_1 = x_0; let c_1 = add 3 x_0`.
//!
//! The tests of loop rates' guards stay unchanged: they identify the loop.
//!
//! Input: a verified loop. Output: a verified loop without foldable statements. One walk suffices,
//! as values are known before they are used. The pass is classic: Muchnick, *Advanced Compiler
//! Design and Implementation*, 1997, section 12.1.

use super::context::{Context, variable};
use super::identities::{Simpler, simplify};
use crate::eval::eval;
use crate::ir::{Args, Atom, Block, Loop, RateKind, Stmt, StmtKind, Type, Var};
use crate::op::Op;
use crate::types::{Const, Ty};
use crate::walk;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// Folds constants in a loop.
pub fn run(program: &mut Loop) -> bool {
    let context = Context::of(program);
    let mut fold = Fold {
        types: program.vars.iter().map(|v| v.ty).collect(),
        tests: context.loop_tests(program),
        carried: &context,
        known: FxHashMap::default(),
        inner: FxHashMap::default(),
        changed: false,
    };
    let cursors: Vec<bool> = program
        .rates
        .iter()
        .map(|r| matches!(r.kind, RateKind::Cursor { .. }))
        .collect();
    let cursors = cursors.contains(&true);
    for block in context.blocks_mut(program) {
        fold.stmts(&mut block.stmts);
        if !cursors {
            fold.exits(block);
        }
    }
    for function in &mut program.functions {
        fold.stmts(&mut function.body);
    }
    fold.changed
}

struct Fold<'a> {
    types: Vec<Type>,
    /// The tests of loop rates' guards.
    tests: FxHashSet<Var>,
    carried: &'a Context,
    /// Copies, resolved transitively: variables that equal constants or variables that are not
    /// carried.
    known: FxHashMap<Var, Atom>,
    /// Operations that help to simplify others, by their defined variables.
    inner: FxHashMap<Var, (Op, Args)>,
    changed: bool,
}

impl Fold<'_> {
    fn stmts(&mut self, stmts: &mut Vec<Stmt>) {
        if stmts
            .iter()
            .any(|s| matches!(s.kind, StmtKind::If { .. } | StmtKind::Trap { .. }))
        {
            let old = std::mem::take(stmts);
            for stmt in old {
                self.rewrite(stmt, stmts);
            }
        } else {
            stmts.iter_mut().for_each(|s| self.stmt(s));
        }
    }

    /// Folds a statement that may disappear or become several.
    fn rewrite(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) {
        let comb = stmt.comb;
        match stmt.kind {
            StmtKind::Trap { unless, .. } if self.truth(unless) == Some(true) => {
                self.changed = true
            }
            StmtKind::If {
                cond,
                then,
                other,
                results,
            } if self.truth(cond).is_some() => {
                let first = self.truth(cond) == Some(true);
                self.changed = true;
                for inner in if first { then } else { other } {
                    self.rewrite(inner, out);
                }
                for (v, a, b) in results {
                    let copied = smallvec![if first { a } else { b }];
                    let mut copy = Stmt {
                        comb,
                        kind: StmtKind::Let(v, Op::Copy, copied),
                    };
                    self.stmt(&mut copy);
                    out.push(copy);
                }
            }
            StmtKind::If { .. } => {
                self.stmt(&mut stmt);
                let same = self.agreed(&mut stmt.kind);
                out.push(stmt);
                for (v, a) in same {
                    out.push(Stmt {
                        comb,
                        kind: StmtKind::Let(v, Op::Copy, smallvec![a]),
                    });
                }
            }
            _ => {
                self.stmt(&mut stmt);
                out.push(stmt);
            }
        }
    }

    /// Removes results of an `if` that are the same constant in both arms. (Equal variables are
    /// found once they are computed outside.)
    fn agreed(&mut self, kind: &mut StmtKind) -> Vec<(Var, Atom)> {
        let StmtKind::If { results, .. } = kind else {
            return Vec::new();
        };
        let mut same = Vec::new();
        results.retain(|(v, a, b)| {
            let (a, b) = (resolve(&self.known, *a), resolve(&self.known, *b));
            let agree = a == b && variable(a).is_none();
            if agree {
                same.push((*v, a));
            }
            !agree
        });
        for (v, a) in &same {
            self.known.insert(*v, *a);
            self.changed = true;
        }
        same
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        match &mut stmt.kind {
            StmtKind::Let(v, op, args) => {
                let v = *v;
                if !self.tests.contains(&v)
                    && let Some(simpler) = self.simpler(v, *op, args)
                {
                    let (op, args) = match simpler {
                        Simpler::Atom(a) => (Op::Copy, smallvec![a]),
                        Simpler::Op(op, args) => (op, args),
                    };
                    stmt.kind = StmtKind::Let(v, op, args);
                    self.changed = true;
                }
                self.note(&stmt.kind);
            }
            kind => {
                for region in walk::regions_mut(kind) {
                    self.stmts(region);
                }
            }
        }
    }

    fn simpler(&self, v: Var, op: Op, args: &[Atom]) -> Option<Simpler> {
        if op == Op::Copy {
            return None;
        }
        let args: Args = args.iter().map(|a| resolve(&self.known, *a)).collect();
        let position = usize::from(op == Op::Select);
        let (ty, to) = (self.ty(*args.get(position)?), self.types[v.index()].elem());
        let words: Option<smallvec::SmallVec<[u64; 3]>> =
            args.iter().map(|a| constant(*a)).collect();
        if let Some(words) = words {
            return Some(Const::new(to, eval(op, ty, to, &words)).into());
        }
        let inner = |a: Atom| {
            let (op, args) = self.inner.get(&variable(a)?)?;
            Some((*op, &args[..]))
        };
        simplify(op, ty, to, &args, inner)
    }

    /// Records facts for later statements.
    fn note(&mut self, kind: &StmtKind) {
        let StmtKind::Let(v, op, args) = kind else {
            return;
        };
        match (*op, &args[..]) {
            (Op::Copy, &[a]) => {
                let a = resolve(&self.known, a);
                if variable(a).is_none_or(|s| !self.carried.is_carried(s)) {
                    self.known.insert(*v, a);
                }
            }
            (Op::Neg | Op::Not | Op::Max | Op::Min | Op::Add | Op::Sub | Op::Mul, args) => {
                let args: Args = args.iter().map(|a| resolve(&self.known, *a)).collect();
                // A carried operand may change before the result is used.
                let carried = |a: &Atom| variable(*a).is_some_and(|s| self.carried.is_carried(s));
                if !args.iter().any(carried) {
                    self.inner.insert(*v, (*op, args));
                }
            }
            _ => {}
        }
    }

    /// Removes exits that are never taken.
    fn exits(&mut self, block: &mut Block) {
        let before = block.exits.len();
        block.exits.retain(|e| self.truth(e.unless) != Some(true));
        self.changed |= block.exits.len() != before;
    }

    fn truth(&self, a: Atom) -> Option<bool> {
        constant(resolve(&self.known, a)).map(|word| word == 1)
    }

    fn ty(&self, a: Atom) -> Ty {
        match a {
            Atom::Var(v) => self.types[v.index()].elem(),
            Atom::Const(c) => c.ty,
        }
    }
}

fn resolve(known: &FxHashMap<Var, Atom>, a: Atom) -> Atom {
    variable(a)
        .and_then(|v| known.get(&v).copied())
        .unwrap_or(a)
}

fn constant(a: Atom) -> Option<u64> {
    match a {
        Atom::Const(c) => Some(c.bits),
        Atom::Var(_) => None,
    }
}
