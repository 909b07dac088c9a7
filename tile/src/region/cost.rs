//! The cost of statements: their work, and their latency on a critical path.

use loop_lang::Loop;
use loop_lang::ir::{Stmt, StmtKind};
pub use loop_lang::op::Cost;

/// The operations in a processor's reorder window.
const AHEAD: u64 = 96;
/// The target number of operations per cycle.
const WANTED: u64 = 3;

/// Returns the cost of a statement without its regions.
pub fn cost(program: &Loop, s: &Stmt) -> Cost {
    match &s.kind {
        StmtKind::Let(_, op, args) => op.cost(program.atom_ty(args[0])),
        _ => Cost { work: 1, wait: 1 },
    }
}

/// Returns the cycles of work if nothing stalls.
pub fn busy(cost: Cost) -> u64 {
    cost.work / WANTED
}

/// Tells whether latency limits throughput to less than one `share`th of the target.
pub fn waits(cost: Cost, share: u64) -> bool {
    cost.wait * WANTED > cost.work.max(AHEAD) * share
}

/// Tells whether a statement computes a value for less than a mispredicted branch.
///
/// It may then also run for rejected elements.
pub fn is_cheap(program: &Loop, s: &Stmt) -> bool {
    let StmtKind::Let(_, op, args) = &s.kind else {
        return false;
    };
    op.is_cheap(program.atom_ty(args[0]))
}
