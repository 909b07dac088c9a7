//! Which scalar loops look, in each turn, whether the run is to stop.
//!
//! Only a scalar loop can keep one step busy without end; everything else comes back to the caller soon. A
//! loop that looks is not vectorised, so strips of elements look once for all lanes, and loops that a
//! constant bounds to a few turns do not look: compilers unroll these.

use super::unit::Unit;
use crate::facts;
use loop_lang::Loop;
use loop_lang::ir::{Atom, Stmt, StmtKind};
use loop_lang::op::Op;
use loop_lang::types::{Const, canonical};

/// The flag that says so, as a parameter or a variable.
pub(super) const HALT: &str = "const volatile u8 *const lf_halt";

/// A scalar loop of no more turns than this, known beforehand, ends soon enough.
const FEW_TURNS: u64 = 1024;

/// Whether any scalar loop looks.
pub(super) fn any_looks(program: &Loop) -> bool {
    let mut any = false;
    let blocks = program.blocks.iter().map(|(_, block)| &block.stmts);
    let functions = program.functions.iter().map(|f| &f.body);
    for stmts in blocks.chain(functions) {
        facts::each_stmt(stmts, &mut |s| any |= looks(s));
    }
    any
}

/// Whether a statement is a scalar loop that looks.
fn looks(s: &Stmt) -> bool {
    let StmtKind::While { test, body, .. } = &s.kind else {
        return false;
    };
    let mut inner = false;
    if turns(s).is_some_and(|n| n <= FEW_TURNS) {
        let mut each = |s: &Stmt| inner |= matches!(s.kind, StmtKind::While { .. });
        facts::each_stmt(test, &mut each);
        facts::each_stmt(body, &mut each);
        return inner;
    }
    true
}

/// More turns than a scalar loop takes, if it counts up by ones from a constant to a constant.
fn turns(s: &Stmt) -> Option<u64> {
    let StmtKind::While {
        state,
        test,
        cond,
        body,
        next,
    } = &s.kind
    else {
        return None;
    };
    let made_by = |stmts: &[Stmt], a: Atom, by: Op| {
        stmts.iter().find_map(|s| match &s.kind {
            StmtKind::Let(v, op, args) if *op == by && a == Atom::Var(*v) => {
                args[..].try_into().ok()
            }
            _ => None,
        })
    };
    let [counter, Atom::Const(bound)]: [Atom; 2] = made_by(test, *cond, Op::Lt)? else {
        return None;
    };
    let at = state.iter().position(|(v, _)| Atom::Var(*v) == counter)?;
    let (Atom::Const(start), true) = (state[at].1, bound.ty.is_int()) else {
        return None;
    };
    let one = Atom::Const(Const::int(bound.ty, 1));
    let [a, b] = made_by(body, next[at], Op::Add)?;
    let up = (a, b) == (counter, one) || (a, b) == (one, counter);
    // If it starts behind the bound, the difference is of no turn at all.
    up.then(|| canonical(bound.ty, bound.bits.wrapping_sub(start.bits)))
}

impl Unit<'_> {
    /// What ends a scalar loop beside its test.
    pub(super) fn ends_early(&self, s: &Stmt) -> Vec<&'static str> {
        let mut ends = Vec::new();
        // A trapped loop may count on what trapped; its results are not wanted.
        if !self.program.traps.is_empty() {
            ends.push(self.trapped());
        }
        if looks(s) {
            ends.push("*lf_halt");
        }
        ends
    }

    /// The parameters that a combine function begins with.
    pub(super) fn function_params(&self) -> Vec<String> {
        let halt = self.stops.then_some(HALT);
        let params = ["u64 *trapped"].into_iter().chain(halt);
        params.map(str::to_string).collect()
    }

    /// The arguments that its call begins with.
    pub(super) fn function_args(&self, trapped: &str) -> Vec<String> {
        let halt = self.stops.then_some("lf_halt");
        [trapped]
            .into_iter()
            .chain(halt)
            .map(str::to_string)
            .collect()
    }
}
