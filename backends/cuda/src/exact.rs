//! Loops with the same bits on devices and processors, for any thread mapping.
//!
//! They contain no join whose bits depend on the order, and no function of the device's own.

use loop_lang::Loop;
use loop_lang::ir::{Combine, Order, Stmt, StmtKind, Var};
use loop_lang::math;
use loop_lang::op::Op;
use loop_lang::walk;
use std::fmt;

/// Lists the reasons why a loop's bits may differ on a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Inexact {
    /// The bits of this variable depend on the order of joins.
    Order(String),
    /// A function whose last bits depend on the device, at least for large numbers.
    Function(Op),
}

impl fmt::Display for Inexact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Inexact::Order(var) => write!(f, "the bits of {var} hang on the order of joins"),
            Inexact::Function(op) => write!(f, "the bits of {} are the device's own", op.name()),
        }
    }
}

/// Checks that a loop has the same bits everywhere.
///
/// # Errors
///
/// Returns the first inexact part.
pub fn check(program: &Loop) -> Result<(), Inexact> {
    for group in program.groups.iter().filter(|g| g.order != Order::Exact) {
        if let Some(var) = of_join(program, &group.vars, group.combine.as_ref()) {
            return Err(Inexact::Order(program.name(var).into()));
        }
    }
    let mut found = None;
    let bodies = program.functions.iter().map(|f| &f.body);
    let blocks = program.blocks.iter().map(|(_, block)| &block.stmts);
    for stmt in bodies.chain(blocks).flatten() {
        walk::each(stmt, &mut |s| {
            if found.is_none() {
                found = of_statement(program, s);
            }
        });
    }
    found.map_or(Ok(()), Err)
}

/// Returns the float variable whose bits depend on the order of joins, if any.
///
/// Joins are associative except for the last bits of floats. The minimum or maximum of two floats
/// is exact.
fn of_join(program: &Loop, vars: &[Var], combine: Option<&Combine>) -> Option<Var> {
    if matches!(combine, None | Some(Combine::Op(Op::Min | Op::Max))) {
        return None;
    }
    let mut vars = vars.iter().copied();
    vars.find(|v| program.ty(*v).elem().is_float())
}

fn of_statement(program: &Loop, stmt: &Stmt) -> Option<Inexact> {
    match &stmt.kind {
        StmtKind::Let(v, op, _) => {
            let ty = program.ty(*v).elem();
            let own = op.is_transcendental() && math::body(*op, ty).is_none();
            (own || math::limit(*op, ty).is_some()).then_some(Inexact::Function(*op))
        }
        StmtKind::ScatterArray {
            arrays, combine, ..
        } => {
            let array = of_join(program, arrays, combine.as_ref())?;
            Some(Inexact::Order(program.name(array).into()))
        }
        _ => None,
    }
}
