//! Common-subexpression elimination.
//!
//! An expression is *available* if it was computed earlier in the same block, or in a dominator,
//! and its operands still have the same values (`Context::keeps_value`). A computation of an
//! available expression becomes a copy, which is propagated at once. Expressions are operators,
//! array lengths, and reads of parameters, which are never written. Regions also see the
//! expressions of enclosing regions.
//!
//! Before: `let a_1 = mul x_0 y_0; let b_2 = mul y_0 x_0`. After: `let a_1 = mul x_0 y_0; let b_2 =
//! a_1`.
//!
//! Input: a verified loop. Output: a verified loop in which no statement computes an available
//! expression.
//!
//! The cost is one table lookup per statement. Only the latest few computations of an expression
//! are tried, so that expressions common to many sibling rates stay cheap. Seed: value numbering by
//! hash (Cocke and Schwartz, 1970) over the dominator tree.

use super::context::{Context, variable};
use super::copy_propagation;
use crate::ir::{Args, Atom, Loop, ParamKind, Stmt, StmtKind, Type, Var};
use crate::op::Op;
use crate::walk;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The number of earlier computations of an expression that are tried.
const TRIES: usize = 8;

/// Eliminates common subexpressions.
pub fn run(program: &mut Loop) -> bool {
    let context = Context::of(program);
    let params = program
        .params
        .iter()
        .filter(|p| p.kind != ParamKind::Scalar);
    let params: FxHashSet<Var> = params.map(|p| p.var).collect();
    let types: Vec<Type> = program.vars.iter().map(|v| v.ty).collect();
    let mut search = Search {
        context: &context,
        params,
        types,
        available: FxHashMap::default(),
        same_as: FxHashMap::default(),
        changed: false,
    };
    for (rank, block) in context.blocks_mut(program).into_iter().enumerate() {
        search.stmts(rank, &mut block.stmts, None);
    }
    for function in &mut program.functions {
        search.available.clear();
        search.stmts(0, &mut function.body, None);
    }
    let changed = search.changed;
    if changed {
        // Counters and tests must be defined by their operations, not by copies of them.
        copy_propagation::run(program);
    }
    changed
}

/// An expression. Operands of commutative operators are sorted.
#[derive(Clone, PartialEq, Eq, Hash)]
enum ExpressionKey {
    Op(Op, Type, Args),
    Read(Var, Atom),
    Length(Var),
}

struct Search<'a> {
    context: &'a Context,
    /// Array parameters.
    params: FxHashSet<Var>,
    types: Vec<Type>,
    /// The computations of each expression, latest last.
    available: FxHashMap<ExpressionKey, SmallVec<[(Var, usize); 2]>>,
    /// The source of each copy, if it is not carried.
    same_as: FxHashMap<Var, Atom>,
    changed: bool,
}

impl Search<'_> {
    /// Processes statements; `entered` collects the expressions that become available in a region.
    fn stmts(
        &mut self,
        rank: usize,
        stmts: &mut [Stmt],
        mut entered: Option<&mut Vec<ExpressionKey>>,
    ) {
        for stmt in stmts {
            let regions = walk::regions_mut(&mut stmt.kind);
            if !regions.is_empty() {
                self.regions(rank, regions);
                continue;
            }
            let Some((v, key)) = self.key(&stmt.kind) else {
                continue;
            };
            if let Some(known) = self.find(&key, rank) {
                stmt.kind = StmtKind::Let(v, Op::Copy, [Atom::Var(known)].into_iter().collect());
                self.same_as.insert(v, Atom::Var(known));
                self.changed = true;
                continue;
            }
            if let Some(entered) = entered.as_deref_mut() {
                entered.push(key.clone());
            }
            self.available.entry(key).or_default().push((v, rank));
        }
    }

    /// Processes regions; their expressions are not available outside.
    fn regions(&mut self, rank: usize, regions: Vec<&mut Vec<Stmt>>) {
        for region in regions {
            let mut entered = Vec::new();
            self.stmts(rank, region, Some(&mut entered));
            for key in entered {
                if let Some(places) = self.available.get_mut(&key) {
                    places.pop();
                }
            }
        }
    }

    /// Returns a statement's expression and its defined variable.
    fn key(&mut self, kind: &StmtKind) -> Option<(Var, ExpressionKey)> {
        match kind {
            StmtKind::Let(v, op, args) => {
                let mut args: Args = args.iter().map(|a| self.canonical(*a)).collect();
                let source = args.first().copied().filter(|_| *op == Op::Copy);
                if let Some(source) = source
                    && variable(source).is_none_or(|s| !self.context.is_carried(s))
                {
                    self.same_as.insert(*v, source);
                    return None;
                }
                if op.commutes() {
                    args.sort_by_key(|a| match a {
                        Atom::Var(v) => (0, u64::from(v.0)),
                        Atom::Const(c) => (1, c.bits),
                    });
                }
                Some((*v, ExpressionKey::Op(*op, self.types[v.index()], args)))
            }
            StmtKind::ReadArray(v, a, i) if self.params.contains(a) => {
                Some((*v, ExpressionKey::Read(*a, self.canonical(*i))))
            }
            StmtKind::ArrayLength(v, a) => Some((*v, ExpressionKey::Length(*a))),
            _ => None,
        }
    }

    fn canonical(&self, a: Atom) -> Atom {
        variable(a)
            .and_then(|v| self.same_as.get(&v).copied())
            .unwrap_or(a)
    }

    /// Returns a variable that holds the expression's value in this block.
    fn find(&self, key: &ExpressionKey, rank: usize) -> Option<Var> {
        let places = self.available.get(key)?.iter().rev().take(TRIES);
        let holds = |from: usize| {
            self.context.dominates(from, rank)
                && match key {
                    ExpressionKey::Op(_, _, args) => args
                        .iter()
                        .all(|a| self.context.keeps_value(*a, from, rank)),
                    ExpressionKey::Read(_, i) => self.context.keeps_value(*i, from, rank),
                    ExpressionKey::Length(_) => true,
                }
        };
        places
            .copied()
            .find(|(_, from)| *from == rank || holds(*from))
            .map(|(v, _)| v)
    }
}
