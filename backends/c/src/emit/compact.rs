//! Filters without a branch: where rejected elements may be written too, because the next element
//! overwrites them and the array is cut to its count in the end.
//!
//! Which elements pass is often as good as random, and a mispredicted branch costs more than computing,
//! storing and dropping an element. So a subrate that only computes cheaply, writes at its own count and
//! updates variables runs for every element, and each update takes effect for admitted ones only:
//!
//! ```text
//! out_1[ix_1] = elt_0;
//! ix_1 += (nix_1 - ix_1) & -(u64)admitted;
//! ```

use super::plan::{Plan, Step};
use super::unit::Unit;
use loop_lang::Op;
use loop_lang::ir::{Atom, Stmt, StmtKind, Var};

impl Plan {
    /// Whether the subrate that the step at `enter` opens can do without its branch.
    pub(super) fn compacts(&self, unit: &Unit, enter: usize) -> bool {
        let mut inside: Vec<&Stmt> = Vec::new();
        for step in &self.steps[enter + 1..] {
            match *step {
                Step::Block(i) => inside.extend(&unit.facts.blocks[i].block.stmts),
                Step::Enter(_) => return false,
                Step::Leave => break,
            }
        }
        let counts: Vec<Var> = inside
            .iter()
            .filter_map(|s| match s.kind {
                StmtKind::Assign(v, _) => Some(v),
                _ => None,
            })
            .collect();
        let mut writes = inside.iter().filter_map(|s| match s.kind {
            StmtKind::WriteArray(a, Atom::Var(index), _) => Some((a, index)),
            _ => None,
        });
        inside.iter().all(|s| is_cheap(unit, s))
            && inside
                .iter()
                .any(|s| matches!(s.kind, StmtKind::WriteArray(..)))
            && writes.all(|(a, index)| {
                let counted = counts.contains(&index) && self.proven.contains(&(a, index));
                counted && unit.facts.is_cut_to(a, index)
            })
    }
}

/// Whether a statement costs less than a mispredicted branch, and may run for a rejected element.
fn is_cheap(unit: &Unit, s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Let(_, op, args) => {
            let divides = matches!(op, Op::Div | Op::Rem | Op::DivEuclid | Op::RemEuclid);
            let float = unit.program.atom_ty(args[0]).is_float();
            !op.is_transcendental() && (!divides || (float && *op == Op::Div))
        }
        StmtKind::Assign(..) => true,
        StmtKind::WriteArray(_, Atom::Var(_), _) => true,
        _ => false,
    }
}
