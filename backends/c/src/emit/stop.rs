//! Which scalar loops look whether the run is to stop, and how often.
//!
//! Only a scalar loop can keep one step busy without end; everything else comes back to the caller soon. A
//! look takes as long as two operations, so that strips of elements look once for all lanes, and loops of
//! few statements once in several turns.

use super::unit::Unit;
use crate::facts;
use loop_lang::Loop;
use loop_lang::ir::{Stmt, StmtKind};

/// The flag that says so, as a parameter or a variable.
pub(super) const HALT: &str = "const volatile u8 *const lf_halt";

/// Turns between two looks of a short scalar loop: compilers write as many, one after the other.
pub(super) const TURNS: usize = 8;

/// Statements of a scalar loop next to which a look in each turn is not felt.
const MANY: usize = 16;

/// Whether a loop has scalar loops, which look.
pub(super) fn any_looks(program: &Loop) -> bool {
    let mut any = false;
    let blocks = program.blocks.iter().map(|(_, block)| &block.stmts);
    let functions = program.functions.iter().map(|f| &f.body);
    for stmts in blocks.chain(functions) {
        facts::each_stmt(stmts, &mut |s| {
            any |= matches!(s.kind, StmtKind::While { .. })
        });
    }
    any
}

/// Whether a scalar loop is written in several turns to a look.
pub(super) fn is_short(test: &[Stmt], body: &[Stmt]) -> bool {
    let (mut statements, mut loops) = (0, false);
    for stmts in [test, body] {
        facts::each_stmt(stmts, &mut |s| {
            statements += 1;
            loops |= matches!(s.kind, StmtKind::While { .. });
        });
    }
    statements < MANY && !loops
}

impl Unit<'_> {
    /// The parameters that a combine function begins with.
    pub(super) fn function_params(&self) -> Vec<String> {
        let halt = self.stops.then_some(HALT);
        let params = ["u64 *trapped"].into_iter().chain(halt);
        params.map(str::to_string).collect()
    }

    /// The arguments that its call begins with.
    pub(super) fn function_args(&self, trapped: &str) -> Vec<String> {
        let halt = self.stops.then_some("lf_halt");
        let args = [trapped].into_iter().chain(halt);
        args.map(str::to_string).collect()
    }
}
