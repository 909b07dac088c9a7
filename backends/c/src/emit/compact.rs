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

use super::plan::Plan;
use super::unit::Unit;
use livefusion_tile::region::Step;
use livefusion_tile::region::cost::is_cheap;
use loop_lang::ir::{Atom, Stmt, StmtKind, Var};

impl Plan<'_> {
    /// Whether the subrate that the step at `enter` opens can do without its branch.
    pub(super) fn compacts(&self, unit: &Unit, enter: usize) -> bool {
        let mut inside: Vec<&Stmt> = Vec::new();
        for (at, step) in self.sweep.steps.iter().enumerate().skip(enter + 1) {
            match *step {
                Step::Block(_) => inside.extend(self.sweep.tops(at).map(|s| s.stmt)),
                Step::Enter(_) => return false,
                Step::Leave => break,
            }
        }
        let fits = |s: &Stmt| match s.kind {
            StmtKind::Assign(..) | StmtKind::WriteArray(_, Atom::Var(_), _) => true,
            _ => is_cheap(unit.program, s),
        };
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
        inside.iter().all(|s| fits(s))
            && inside
                .iter()
                .any(|s| matches!(s.kind, StmtKind::WriteArray(..)))
            && writes.all(|(a, index)| {
                let counted = counts.contains(&index) && self.proven.contains(&(a, index));
                counted && unit.facts.is_cut_to(a, index)
            })
    }
}
