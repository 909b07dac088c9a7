//! What statements cost: how much there is to do, and how long one thing waits for another.

use loop_lang::Loop;
use loop_lang::ir::{Stmt, StmtKind};
pub use loop_lang::op::Cost;

/// Operations that a processor keeps waiting at a time.
const AHEAD: u64 = 96;
/// Operations that should be in the works in each cycle.
const WANTED: u64 = 3;

/// What a statement costs, without its regions.
pub fn cost(program: &Loop, s: &Stmt) -> Cost {
    match &s.kind {
        StmtKind::Let(_, op, args) => op.cost(program.atom_ty(args[0])),
        _ => Cost { work: 1, wait: 1 },
    }
}

/// For how many cycles a processor is busy with so much work, if nothing waits.
pub fn busy(cost: Cost) -> u64 {
    cost.work / WANTED
}

/// Whether the processor would find less to do in each cycle than a `share` of what it could.
pub fn waits(cost: Cost, share: u64) -> bool {
    cost.wait * WANTED > cost.work.max(AHEAD) * share
}

/// Whether a statement computes a value for less than a mispredicted branch costs, so that it may run for
/// elements that are not asked for, too.
pub fn is_cheap(program: &Loop, s: &Stmt) -> bool {
    let StmtKind::Let(_, op, args) = &s.kind else {
        return false;
    };
    op.is_cheap(program.atom_ty(args[0]))
}
