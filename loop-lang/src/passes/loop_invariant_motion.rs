//! Loop-invariant motion.
//!
//! Values that are constant in the whole loop move to `init`. Values that are constant in an inner
//! loop move to its `nest`. Values that are constant in a scalar loop move before it.
//!
//! *Invariant* are operations, array lengths, and reads of random-access parameters with invariant
//! operands: constants, parameters, or uncarried variables defined in `init`. For an inner loop,
//! operands may also be defined before it, if the loop does not carry them. Operators are total and
//! out-of-bounds reads give zero, so speculation is safe.
//!
//! Computations in an arm stay there, since the arm may not be taken. Exceptions are sums, products
//! and comparisons of words, as used for indices: they cost less than the branch, and move before
//! an inner loop. A scalar loop is assumed to iterate: invariant code of its test or body moves
//! before it. Traps stay.
//!
//! Before: in `body`, `let s_1 = sqrt k_1; let y_1 = mul x_0 s_1`. After: `let s_1 = sqrt k_1` at
//! the end of `init`.
//!
//! Input: a verified loop. Output: a verified loop without invariant statements in its blocks. The
//! pass makes one walk in execution order, and one for each level of inner loops. It is classic:
//! Aho, Sethi and Ullman, *Compilers*, 1986, section 10.7. With one definition per variable and no
//! side effects, its conditions reduce to the above.

use super::context::Context;
use crate::ir::{
    Atom, Block, Loop, ParamKind, Place, Rate, RateId, RateKind, Section, Stmt, StmtKind, Type, Var,
};
use crate::op::Op;
use crate::types::Ty;
use crate::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximum depth of regions that are transformed.
const MAX_DEPTH: usize = 32;

/// Hoists invariant statements.
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
    let mut changed = !moved.is_empty();
    init.stmts.append(&mut moved);
    changed |= to_nests(program, &context, &fixed.readable);
    for block in context.blocks_mut(program) {
        changed |= lift(&mut block.stmts, &fixed.readable, MAX_DEPTH);
    }
    changed
}

/// Moves statements that are invariant in an inner loop to its `nest`, innermost loops first.
fn to_nests(program: &mut Loop, context: &Context, readable: &FxHashSet<Var>) -> bool {
    let nested = |r: &Rate| matches!(r.kind, RateKind::Nested { .. });
    if !program.rates.iter().any(nested) {
        return false;
    }
    let inner: Vec<RateId> = (0..program.rates.len())
        .map(RateId::new)
        .filter(|r| nested(program.rate(*r)))
        .collect();
    let mut defined: FxHashMap<Var, usize> = FxHashMap::default();
    for (rank, block) in context.blocks(program).into_iter().enumerate() {
        for stmt in &block.stmts {
            walk::definitions(&stmt.kind, &mut |v| _ = defined.insert(v, rank));
        }
    }
    let words: Vec<bool> = (program.vars.iter())
        .map(|v| v.ty == Type::Scalar(Ty::U64))
        .collect();
    let mut changed = false;
    let mut blocks = context.blocks_mut(program);
    for rate in inner.into_iter().rev() {
        let Some((nest, first, last)) = context.inner_loop(rate) else {
            continue;
        };
        for rank in first..=last {
            let same = |a: Atom, defined: &FxHashMap<Var, usize>| match a {
                Atom::Const(_) => true,
                Atom::Var(v) => {
                    let before = defined.get(&v).is_none_or(|at| *at <= nest);
                    before && context.keeps_value(a, nest, rank)
                }
            };
            let moves = |stmt: &Stmt, defined: &FxHashMap<Var, usize>| {
                let mut moves = computes(stmt, readable);
                walk::operands(&stmt.kind, &mut |a| moves = moves && same(a, defined));
                moves
            };
            for mut stmt in std::mem::take(&mut blocks[rank].stmts) {
                each_in_arms(&mut stmt, MAX_DEPTH, &mut |inner| {
                    let goes = is_cheap(inner, &words) && moves(inner, &defined);
                    let to = if goes { nest } else { rank };
                    walk::definitions(&inner.kind, &mut |v| _ = defined.insert(v, to));
                    if goes {
                        blocks[nest].stmts.push(inner.clone());
                        changed = true;
                    }
                    !goes
                });
                let to = match moves(&stmt, &defined) {
                    true => nest,
                    false => rank,
                };
                walk::definitions(&stmt.kind, &mut |v| _ = defined.insert(v, to));
                blocks[to].stmts.push(stmt);
                changed |= to == nest;
            }
        }
    }
    changed
}

/// Tells whether a statement is a sum, a product or a comparison of words.
fn is_cheap(stmt: &Stmt, words: &[bool]) -> bool {
    let StmtKind::Let(_, op, args) = &stmt.kind else {
        return false;
    };
    let is_word = |a: &Atom| match a {
        Atom::Const(c) => c.ty == Ty::U64,
        Atom::Var(v) => words[v.index()],
    };
    matches!(
        op,
        Op::Add | Op::Sub | Op::Mul | Op::Lt | Op::Le | Op::Gt | Op::Ge
    ) && args.iter().all(is_word)
}

/// Calls `stays` on the statements in the arms of a statement, in order, and removes those for
/// which it returns false.
fn each_in_arms(stmt: &mut Stmt, depth: usize, stays: &mut impl FnMut(&Stmt) -> bool) {
    let StmtKind::If { then, other, .. } = &mut stmt.kind else {
        return;
    };
    for arm in [then, other].into_iter().filter(|_| depth > 0) {
        arm.retain_mut(|inner| {
            each_in_arms(inner, depth - 1, stays);
            stays(inner)
        });
    }
}

/// Moves invariant statements before scalar loops, inner loops first. Regions beyond `depth` stay
/// unchanged.
fn lift(stmts: &mut Vec<Stmt>, readable: &FxHashSet<Var>, depth: usize) -> bool {
    let has_regions = |s: &Stmt| walk::regions(&s.kind).iter().any(|r| !r.is_empty());
    if depth == 0 || !stmts.iter().any(has_regions) {
        return false;
    }
    let mut changed = false;
    for mut stmt in std::mem::take(stmts) {
        match &mut stmt.kind {
            StmtKind::If { then, other, .. } => {
                changed |= lift(then, readable, depth - 1) | lift(other, readable, depth - 1);
            }
            StmtKind::While { test, body, .. } => {
                changed |= lift(test, readable, depth - 1) | lift(body, readable, depth - 1);
            }
            _ => {}
        }
        if let StmtKind::While {
            state, test, body, ..
        } = &mut stmt.kind
        {
            let mut varies: FxHashSet<Var> = state.iter().map(|(v, _)| *v).collect();
            for inner in test.iter().chain(body.iter()) {
                walk::definitions(&inner.kind, &mut |v| {
                    varies.insert(v);
                });
            }
            for region in [test, body] {
                for inner in std::mem::take(region) {
                    let mut same = computes(&inner, readable);
                    walk::operands(&inner.kind, &mut |a| {
                        same &= a.var().is_none_or(|v| !varies.contains(&v));
                    });
                    if !same {
                        region.push(inner);
                        continue;
                    }
                    walk::definitions(&inner.kind, &mut |v| {
                        varies.remove(&v);
                    });
                    stmts.push(inner);
                    changed = true;
                }
            }
        }
        stmts.push(stmt);
    }
    changed
}

/// Tells whether a statement only computes from its operands.
fn computes(stmt: &Stmt, readable: &FxHashSet<Var>) -> bool {
    match &stmt.kind {
        StmtKind::Let(_, op, _) => *op != Op::Copy,
        StmtKind::ArrayLength(..) => true,
        StmtKind::ReadArray(_, a, _) => readable.contains(a),
        _ => false,
    }
}

/// Tells whether a place may run more than once: all but `init`, the end, and roots' `done`.
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
    /// Arrays with random access that are never written.
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

    /// Records the definitions of a statement in `init`.
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
        let mut invariant = computes(stmt, &self.readable);
        walk::operands(&stmt.kind, &mut |a| {
            invariant &= match a {
                Atom::Const(_) => true,
                Atom::Var(v) => self.vars.contains(&v),
            };
        });
        invariant
    }
}
