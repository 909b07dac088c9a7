//! A straight body cut in phases: each runs for all lanes of a strip before the next begins.
//!
//! What one phase computes and another needs is kept in small arrays, one cell per lane, which compilers
//! keep in registers.

use super::plan::Plan;
use super::unit::Unit;
use crate::facts;
use livefusion_tile::region::{Statement, Sweep};
use loop_lang::Loop;
use loop_lang::ir::{StmtKind, Type, Var};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// A run of plain statements, or one at which the body is cut.
pub(super) struct Phase<'s> {
    pub statements: Vec<&'s Statement<'s>>,
    pub defs: FxHashSet<Var>,
    pub uses: FxHashSet<Var>,
    /// Whether it is a statement at which the body is cut.
    pub is_cut: bool,
}

impl<'s> Phase<'s> {
    pub(super) fn of(statements: Vec<&'s Statement<'s>>, is_cut: bool) -> Phase<'s> {
        let (mut defs, mut uses) = (FxHashSet::default(), FxHashSet::default());
        for s in &statements {
            facts::each_stmt(std::slice::from_ref(s.stmt), &mut |s| {
                facts::each_def(s, &mut |v| {
                    defs.insert(v);
                });
                facts::each_use(s, &mut |v| {
                    uses.insert(v);
                });
            });
        }
        Phase {
            statements,
            defs,
            uses,
            is_cut,
        }
    }

    /// Writes its statements.
    pub(super) fn write(&self, unit: &mut Unit) {
        for s in &self.statements {
            unit.stmts(std::slice::from_ref(s.stmt));
        }
    }
}

/// The phases of a sweep's body, cut at scalar loops and scans.
pub(super) fn phases<'s>(sweep: &'s Sweep<'s>) -> Vec<Phase<'s>> {
    let mut phases = Vec::new();
    let mut plain = Vec::new();
    for s in sweep.all_tops() {
        if matches!(s.stmt.kind, StmtKind::While { .. } | StmtKind::Scan { .. }) {
            phases.push(Phase::of(std::mem::take(&mut plain), false));
            phases.push(Phase::of(vec![s], true));
        } else {
            plain.push(s);
        }
    }
    phases.push(Phase::of(plain, false));
    phases
}

/// What one phase defines and another uses.
pub(super) fn shared(program: &Loop, phases: &[Phase]) -> BTreeSet<Var> {
    let mut shared = BTreeSet::new();
    for (i, phase) in phases.iter().enumerate() {
        for later in &phases[i + 1..] {
            shared.extend(phase.defs.intersection(&later.uses));
        }
    }
    shared.retain(|v| matches!(program.ty(*v), Type::Scalar(_)));
    shared
}

impl Plan<'_> {
    /// A loop over a strip's lanes, with what other phases left for this one.
    pub(super) fn open_lanes(
        &self,
        unit: &mut Unit,
        phase: &Phase,
        shared: &BTreeSet<Var>,
        width: &str,
    ) {
        unit.open(format!("for (u64 lane = 0; lane < {width}; lane++) {{"));
        let counter = unit.names.var(self.sweep.counter);
        unit.line(format!("const u64 {counter} = strip + lane;"));
        for v in shared {
            if phase.uses.contains(v) && !phase.defs.contains(v) {
                let (ty, name) = (facts::elem(unit.program, *v).name(), unit.names.var(*v));
                unit.line(format!("const {ty} {name} = lf_{name}[lane];"));
            }
        }
    }

    /// The end of it.
    pub(super) fn close_lanes(&self, unit: &mut Unit, phase: &Phase, shared: &BTreeSet<Var>) {
        for v in shared.iter().filter(|v| phase.defs.contains(v)) {
            let name = unit.names.var(*v);
            unit.line(format!("lf_{name}[lane] = {name};"));
        }
        unit.close();
    }

    /// Declares the cells of what phases share.
    pub(super) fn declare_shared(&self, unit: &mut Unit, shared: &BTreeSet<Var>, width: &str) {
        for v in shared {
            let (ty, name) = (facts::elem(unit.program, *v).name(), unit.names.var(*v));
            unit.line(format!("{ty} lf_{name}[{width}];"));
        }
    }
}
