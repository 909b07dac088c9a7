//! What statements cost: how much there is to do, and how long one thing waits for another.

use crate::facts;
use loop_lang::Loop;
use loop_lang::ir::{Stmt, StmtKind};
use loop_lang::op::Op;

/// Operations that a processor keeps waiting at a time.
const AHEAD: u64 = 96;
/// Operations that should be in the works in each cycle.
const WANTED: u64 = 3;

/// Operations, and cycles until the last has its result.
#[derive(Clone, Copy, Default)]
pub(super) struct Cost {
    pub work: u64,
    pub depth: u64,
}

impl Cost {
    /// Whether the processor would find less to do in each cycle than a `share` of what it could.
    pub(super) fn waits(self, share: u64) -> bool {
        self.depth * WANTED > self.work.max(AHEAD) * share
    }
}

/// What statements cost that follow each other.
pub(super) fn cost<'s>(program: &Loop, stmts: &[&'s Stmt]) -> Cost {
    let mut sum = Cost::default();
    let mut add = |s: &'s Stmt| {
        let (work, depth) = match &s.kind {
            StmtKind::Let(_, op, _) if op.is_transcendental() => (30, 60),
            StmtKind::Let(_, Op::Div | Op::Sqrt | Op::Rem, _) => (1, 15),
            StmtKind::Let(_, _, args) if program.atom_ty(args[0]).is_float() => (1, 4),
            _ => (1, 1),
        };
        sum.work += work;
        sum.depth += depth;
    };
    for s in stmts {
        facts::each_stmt(std::slice::from_ref(*s), &mut add);
    }
    sum
}
