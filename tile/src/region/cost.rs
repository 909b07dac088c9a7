//! What statements cost: how much there is to do, and how long one thing waits for another.

use loop_lang::Loop;
use loop_lang::ir::{Stmt, StmtKind};
use loop_lang::op::Op;
use std::ops::AddAssign;

/// Operations that a processor keeps waiting at a time.
const AHEAD: u64 = 96;
/// Operations that should be in the works in each cycle.
const WANTED: u64 = 3;

/// Operations, and cycles until the last has its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Operations.
    pub work: u64,
    /// Cycles, if each operation waits for the one before.
    pub wait: u64,
}

impl Cost {
    /// What a statement costs, without its regions.
    pub fn of(program: &Loop, s: &Stmt) -> Cost {
        let (work, wait) = match &s.kind {
            StmtKind::Let(_, op, _) if op.is_transcendental() => (30, 60),
            StmtKind::Let(_, Op::Div | Op::Sqrt | Op::Rem, _) => (1, 15),
            StmtKind::Let(_, _, args) if program.atom_ty(args[0]).is_float() => (1, 4),
            _ => (1, 1),
        };
        Cost { work, wait }
    }

    /// Whether the processor would find less to do in each cycle than a `share` of what it could.
    pub fn waits(self, share: u64) -> bool {
        self.wait * WANTED > self.work.max(AHEAD) * share
    }
}

/// What follows waits for what goes before.
impl AddAssign for Cost {
    fn add_assign(&mut self, more: Cost) {
        self.work += more.work;
        self.wait += more.wait;
    }
}

/// Whether a statement computes a value for less than a mispredicted branch costs, so that it may run for
/// elements that are not asked for, too.
pub fn is_cheap(program: &Loop, s: &Stmt) -> bool {
    let StmtKind::Let(_, op, args) = &s.kind else {
        return false;
    };
    match op {
        Op::Div => program.atom_ty(args[0]).is_float(),
        Op::Rem | Op::DivEuclid | Op::RemEuclid => false,
        op => !op.is_transcendental(),
    }
}
