//! Filters without a branch: where rejected elements may be computed and written too, because the next
//! element overwrites them and the array is cut to its count in the end.
//!
//! Which elements pass is often as good as random, and a mispredicted branch costs more than computing,
//! storing and dropping an element. So a subrate that only computes cheaply, writes at its own count and
//! updates variables runs for every element, and each update takes effect for admitted ones only.

use super::Emit;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use livefusion_backend::facts;
use livefusion_tile::region::cost::is_cheap;
use livefusion_tile::region::{Step, Sweep};
use loop_lang::ir::{Atom, Stmt, StmtKind, Var};

/// More statements than this cost more than a branch.
const MAX_STATEMENTS: usize = 24;

impl Emit<'_, '_> {
    /// Whether the subrate that the step at `enter` opens can do without its branch.
    pub(super) fn needs_no_branch(&self, sweep: &Sweep, enter: usize) -> bool {
        let mut inside: Vec<&Stmt> = Vec::new();
        for (at, step) in sweep.steps.iter().enumerate().skip(enter + 1) {
            match *step {
                Step::Block(_) => inside.extend(sweep.tops(at).map(|s| s.stmt)),
                Step::Enter(_) => return false,
                Step::Leave => break,
            }
        }
        let assigned = |v: Var| {
            let mut all = inside.iter();
            all.any(|s| matches!(s.kind, StmtKind::Assign(a, _) if a == v))
        };
        inside.len() <= MAX_STATEMENTS
            && inside.iter().all(|s| match &s.kind {
                StmtKind::Assign(..) => true,
                StmtKind::WriteArray(a, Atom::Var(index), _) => {
                    let proven = sweep.proven.contains(&(self.owner(*a), *index));
                    assigned(*index) && proven && self.facts.is_cut_to(*a, *index)
                }
                _ => is_cheap(self.program, s),
            })
    }

    /// The new value of `v` if the element was admitted, else the one that it has.
    pub(super) fn if_admitted(&mut self, admitted: Value, v: Var, new: Value, old: Value) -> Value {
        let register = Self::register(facts::elem(self.program, v));
        let word = match register {
            types::F32 => types::I32,
            types::F64 => types::I64,
            _ => return self.builder.ins().select(admitted, new, old),
        };
        // Machines choose between integers without a branch.
        let flags = MemFlagsData::new();
        let new = self.builder.ins().bitcast(word, flags, new);
        let old = self.builder.ins().bitcast(word, flags, old);
        let chosen = self.builder.ins().select(admitted, new, old);
        self.builder.ins().bitcast(register, flags, chosen)
    }
}
