//! Long conditions: a body without `else` that is too long for a piece is cut as other statements are.
//!
//! Each of its statements then knows the conditions around it. Where one of them crosses between pieces, its buffer
//! says no wherever the condition was not reached. So the innermost one tells whether a statement is done.

use super::cut::fill;
use super::parts::cost;
use super::{Limits, Parts};
use crate::ir::{Operand, Stmt, StmtKind, Tile, Value};
use rustc_hash::FxHashSet;

/// A statement, and the conditions around it that are taken apart, the innermost last.
#[derive(Clone)]
pub(super) struct Guarded {
    pub stmt: Stmt,
    pub within: Vec<Value>,
}

/// The statements of a body. Those within long conditions come one by one, if they may.
pub(super) fn take_apart(tile: &Tile, body: &[Stmt], limits: Option<Limits>) -> Vec<Guarded> {
    let mut all = Vec::new();
    let mut within = Vec::new();
    let mut open = vec![(body, 0, FxHashSet::default())];
    while let Some((stmts, next, own)) = open.last_mut() {
        let Some(s) = stmts.get(*next) else {
            open.pop();
            within.pop();
            continue;
        };
        *next += 1;
        match &s.kind {
            StmtKind::If {
                cond: Operand::Value(guard),
                then,
                other,
            } if other.is_empty()
                && own.contains(guard)
                && limits.is_some_and(|l| fill(cost(tile, s), l) > 1.0) =>
            {
                within.push(*guard);
                open.push((then, 0, FxHashSet::default()));
            }
            kind => {
                own.extend(kind.target());
                all.push(Guarded {
                    stmt: s.clone(),
                    within: within.clone(),
                });
            }
        }
    }
    all
}

/// The conditions that are open while the statements of a piece are written, each with something of its own.
pub(super) struct Open<T>(Vec<(Value, T)>);

impl<T> Open<T> {
    pub(super) fn new() -> Open<T> {
        Open(Vec::new())
    }

    /// Closes the innermost condition, if a statement is not within it.
    pub(super) fn close(&mut self, within: &[Value]) -> Option<(Value, T)> {
        let (guard, _) = self.0.last()?;
        (!within.contains(guard)).then(|| self.0.pop()).flatten()
    }

    /// The condition that a statement needs, if it is not open.
    pub(super) fn missing(&self, within: &[Value]) -> Option<Value> {
        let innermost = within.last().copied()?;
        (self.0.last().map(|o| o.0) != Some(innermost)).then_some(innermost)
    }

    pub(super) fn open(&mut self, guard: Value, own: T) {
        self.0.push((guard, own));
    }

    pub(super) fn innermost(&mut self) -> Option<&mut T> {
        self.0.last_mut().map(|o| &mut o.1)
    }
}

impl Parts<'_> {
    /// The values of a piece that are needed again in it after the condition around them is closed.
    pub(super) fn needed_after_close(&self, piece: &[usize]) -> FxHashSet<Value> {
        let mut open: Open<Vec<Value>> = Open::new();
        let (mut closed, mut needed) = (FxHashSet::default(), FxHashSet::default());
        for i in piece {
            let s = &self.statements[*i];
            while let Some((_, own)) = open.close(s.within) {
                closed.extend(own);
            }
            needed.extend(s.uses.iter().filter(|v| closed.contains(v)));
            if let Some(guard) = open.missing(s.within) {
                open.open(guard, Vec::new());
            }
            if let Some(own) = open.innermost() {
                own.extend(s.defs.iter().map(|d| d.0));
            }
        }
        needed
    }
}
