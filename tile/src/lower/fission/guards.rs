//! Long conditions: a body without `else` that is too long for a piece is cut as other statements are.
//!
//! Each of its statements then knows the *guards* around it: the values that such conditions test. A guard may cross
//! between pieces under three invariants, which `verify/crossing.rs` checks in the tile.
//!
//! * One `let` defines a guard, in the body that has its condition, and one piece computes it. So a guard that holds
//!   says that the guards around it hold, too. Another condition is not cut: a register changes, and a value from
//!   outside of the body may hold where the guards around the condition do not.
//!
//! Their buffers:
//!
//! * The piece that defines a guard within others says no in its buffer first, in each step. So the buffer says no
//!   wherever the guard was not reached, and the innermost guard alone tells whether a statement is done.
//! * Any other buffer has a value only in steps that reached its definition. It is read within the same guards.

use super::cut::fill;
use super::parts::cost;
use super::{Limits, Parts};
use crate::ir::{Operand, Origin, Stmt, StmtKind, Tile, Value};
use rustc_hash::FxHashSet;

/// A statement, and the guards around it, the innermost last.
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
                let target = kind.target();
                own.extend(target.filter(|v| tile.value(*v).origin == Origin::Let));
                all.push(Guarded {
                    stmt: s.clone(),
                    within: within.clone(),
                });
            }
        }
    }
    all
}

/// The guards that are open while the statements of a piece are written, each with something of its own.
pub(super) struct Open<T>(Vec<(Value, T)>);

impl<T> Open<T> {
    pub(super) fn new() -> Open<T> {
        Open(Vec::new())
    }

    /// Closes the innermost guard, if a statement is not within it.
    pub(super) fn close(&mut self, within: &[Value]) -> Option<T> {
        let (guard, _) = self.0.last()?;
        let closed = (!within.contains(guard)).then(|| self.0.pop());
        Some(closed.flatten()?.1)
    }

    /// The guard that a statement needs, if it is not open.
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
    /// The values of a piece that are needed again in it after a guard around them is closed.
    pub(super) fn needed_after_close(&self, piece: &[usize]) -> FxHashSet<Value> {
        let mut open: Open<Vec<Value>> = Open::new();
        let (mut closed, mut needed) = (FxHashSet::default(), FxHashSet::default());
        for i in piece {
            let s = &self.statements[*i];
            while let Some(own) = open.close(s.within) {
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
