//! Scalar loops of several elements side by side, as masked vectors.
//!
//! A `while` per element is one long chain of dependent operations. Here a strip of elements runs it
//! together, in lanes: a mask says which lanes still run, and the strip is done when none does. What
//! only computes may run for a lane that has ended; its state is kept as it was if something reads it
//! afterwards, and what nobody reads is left to run wild.
//!
//! ```text
//! do {
//!   if (!test of what is the same in all lanes) break;
//!   for (lane ..) { test; now = go[lane] & -test; body; x[lane] = now ? next : x; go[lane] = now; }
//! } while (any of go);
//! ```
//!
//! What is the same for all elements, as a count of the turns is, is computed once per turn (`turn`).
//! There is no branch in it: compilers make one of a condition that they see used twice.

use super::phases::{Phase, phases, shared};
use super::plan::Plan;
use super::unit::Unit;
use crate::facts;
use livefusion_tile::region::Turn;
use livefusion_tile::target::{Extension, Target};
use loop_lang::Loop;
use loop_lang::ir::{Stmt, StmtKind, Var};
use loop_lang::types::Ty;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Arms nested deeper than this keep the loop scalar.
const MAX_DEPTH: usize = 8;

/// Whether statements may run for a lane that has ended, and vectorise.
fn only_computes(program: &Loop, stmts: &[Stmt], depth: usize) -> bool {
    depth < MAX_DEPTH
        && stmts.iter().all(|s| match &s.kind {
            StmtKind::Let(v, op, args) => {
                let (from, to) = (program.atom_ty(args[0]), facts::elem(program, *v));
                op.vectorises(from, to)
            }
            StmtKind::ReadArray(..) => true,
            StmtKind::If { then, other, .. } => {
                only_computes(program, then, depth + 1) && only_computes(program, other, depth + 1)
            }
            _ => false,
        })
}

/// States of scalar loops that fit the registers for four vectors of elements.
const FEW: usize = 4;

/// A strip of elements, side by side.
struct Strip {
    shared: BTreeSet<Var>,
    /// The type of masks.
    mask: Ty,
    /// Where the loops over lanes begin and end: one, or two of which each has the usual number of vectors.
    edges: &'static [&'static str],
}

impl Plan<'_> {
    /// Whether the loop's scalar loops can run in lanes.
    pub(super) fn masks(&self, unit: &Unit) -> bool {
        let plain = self.strip == 1
            && self.sweep.groups.is_empty()
            && self.sweep.carried.is_empty()
            && self.sweep.is_plain();
        let mut loops = 0;
        plain
            && self.sweep.all_tops().all(|s| match &s.stmt.kind {
                StmtKind::While { test, body, .. } => {
                    loops += 1;
                    only_computes(unit.program, test, 0) && only_computes(unit.program, body, 0)
                }
                _ => true,
            })
            && loops > 0
    }

    /// Writes the strips; `strip` is behind them afterwards.
    pub(super) fn write_masked(&self, unit: &mut Unit) {
        let phases = phases(self.sweep);
        let turns: Vec<_> = phases.iter().map(|p| self.turn(&phases, p)).collect();
        let states = turns.iter().flatten().map(|t| t.varying_states().count());
        let strip = Strip {
            shared: shared(unit.program, &phases),
            mask: mask(unit.program, &phases),
            edges: match states.max() <= Some(FEW) {
                true => &["0", "width / 2", "width"],
                false => &["0", "width"],
            },
        };
        // Two vectors of each kind of value run side by side.
        let side = 2 * unit.helpers.target.vector_bytes().max(32);
        let lanes = (strip.edges.len() - 1) * side / strip.mask.size();
        unit.line(format!("u64 strip = from, width = {lanes};"));
        unit.open("for (; strip + width <= end; strip += width) {");
        self.declare_shared(unit, &strip.shared, &lanes.to_string());
        let mask = strip.mask.name();
        unit.line(format!(
            "{mask} lf_go[{lanes}] __attribute__((aligned(32)));"
        ));
        for (i, (phase, turn)) in phases.iter().zip(&turns).enumerate() {
            if let Some(turn) = turn {
                let later = phases[i + 1..].iter().flat_map(|p| &p.uses);
                let later: FxHashSet<Var> = later.copied().collect();
                self.write_while(unit, (phase, turn), &strip, &later);
            } else if !phase.statements.is_empty() {
                self.open_side(unit, phase, &strip.shared, ("0", "width"));
                phase.write(unit);
                self.close_lanes(unit, phase, &strip.shared);
            }
        }
        unit.close();
    }

    /// The turn of a phase that is a scalar loop.
    fn turn<'s>(&self, phases: &[Phase<'s>], phase: &Phase<'s>) -> Option<Turn<'s>> {
        let defines = |v: Var| phases.iter().any(|p| p.defs.contains(&v));
        let moves = |v| v == self.sweep.counter || !phase.defs.contains(&v) && defines(v);
        Turn::of(
            phase.statements.first().filter(|_| phase.is_cut)?.stmt,
            moves,
        )
    }

    /// A loop over lanes that stays one until it is vectorised.
    fn open_side(
        &self,
        unit: &mut Unit,
        phase: &Phase,
        shared: &BTreeSet<Var>,
        lanes: (&str, &str),
    ) {
        unit.line("#pragma GCC unroll 1");
        self.open_lanes(unit, phase, shared, lanes);
    }

    fn write_while(
        &self,
        unit: &mut Unit,
        (phase, turn): (&Phase, &Turn),
        strip: &Strip,
        later: &FxHashSet<Var>,
    ) {
        self.open_side(unit, phase, &strip.shared, ("0", "width"));
        for (v, start, _) in &turn.states {
            if turn.varies.contains(v) || later.contains(v) {
                let (name, start) = (unit.names.var(*v).to_string(), unit.atom(*start));
                unit.line(format!("lf_{name}[lane] = {start};"));
            }
        }
        unit.line("lf_go[lane] = -1;");
        unit.close();
        for (v, start, _) in turn.common_states() {
            let (ty, start) = (facts::elem(unit.program, *v).name(), unit.atom(*start));
            unit.line(format!("{ty} lf_one_{} = {start};", unit.names.var(*v)));
        }
        unit.open("do {");
        for (v, ..) in turn.common_states() {
            let (ty, name) = (facts::elem(unit.program, *v).name(), unit.names.var(*v));
            unit.line(format!("const {ty} {name} = lf_one_{name};"));
        }
        unit.acts(turn.test.iter().filter(|s| !turn.act_varies(s)));
        if let Some(go) = unit.all_of(turn, false) {
            unit.line(format!("if (!({go})) break;"));
        }
        unit.acts(turn.body.iter().filter(|s| !turn.act_varies(s)));
        for lanes in strip.edges.windows(2) {
            self.open_side(unit, phase, &strip.shared, (lanes[0], lanes[1]));
            write_lanes(unit, turn, strip.mask, later);
            unit.close();
        }
        for (v, _, next) in turn.common_states() {
            let next = unit.atom(*next);
            unit.line(format!("lf_one_{} = {next};", unit.names.var(*v)));
        }
        let left = left(&unit.helpers.target);
        unit.helpers.require("lf_left", || left);
        unit.depth -= 1;
        // As everywhere: a trapped loop may count on what trapped.
        let trapped = match unit.program.traps.is_empty() {
            true => "",
            false => " && !trapped",
        };
        unit.line(format!(
            "}} while (lf_left(lf_go, sizeof lf_go){trapped} && !*lf_halt);"
        ));
    }
}

/// Writes what a turn does in a lane.
fn write_lanes(unit: &mut Unit, turn: &Turn, mask: Ty, later: &FxHashSet<Var>) {
    for (v, ..) in turn.varying_states() {
        let (ty, name) = (facts::elem(unit.program, *v).name(), unit.names.var(*v));
        unit.line(format!("const {ty} {name} = lf_{name}[lane];"));
    }
    unit.acts(turn.test.iter().filter(|s| turn.act_varies(s)));
    let go = unit.all_of(turn, true);
    if let Some(go) = &go {
        let mask = mask.name();
        unit.line(format!(
            "const {mask} lf_now = lf_go[lane] & -({mask})({go});"
        ));
    }
    unit.acts(turn.body.iter().filter(|s| turn.act_varies(s)));
    for (v, _, next) in &turn.states {
        let (ty, name) = (facts::elem(unit.program, *v), unit.names.var(*v));
        let (name, next) = (name.to_string(), unit.atom(*next));
        let old = format!("lf_{name}[lane]");
        let value = match later.contains(v) {
            false if !turn.varies.contains(v) => continue,
            true if go.is_some() && ty.is_int() => {
                format!("{old} + (({next} - {name}) & ({})lf_now)", ty.name())
            }
            true if go.is_some() => format!("lf_now ? {next} : {old}"),
            _ => next,
        };
        unit.line(format!("{old} = {value};"));
    }
    if go.is_some() {
        unit.line("lf_go[lane] = lf_now;");
    }
}

/// Whether an element's lane is set, of all that run side by side.
fn left(target: &Target) -> String {
    let (ty, bytes, none) = match target.has(Extension::Avx) {
        true => (
            "long long lf_q __attribute__((vector_size(32), may_alias))",
            32,
            "__builtin_ia32_ptestz256(x, x)",
        ),
        false => ("u64 lf_q __attribute__((may_alias))", 8, "(x == 0)"),
    };
    format!(
        "\
static inline u64 lf_left(const void *go, u64 bytes) {{
  typedef {ty};
  lf_q x = {{0}};
  for (u64 k = 0; k < bytes / {bytes}; k++) x |= ((const lf_q *)go)[k];
  return !{none};
}}
"
    )
}

/// The integer type of masks: as wide as the widest value of the scalar loops.
fn mask(program: &Loop, phases: &[Phase]) -> Ty {
    let loops = phases.iter().filter(|p| p.is_cut);
    let mut all = loops.flat_map(|p| p.defs.iter());
    let wide = |v: &Var| program.ty(*v).elem().size() == 8;
    if all.any(wide) { Ty::U64 } else { Ty::U32 }
}
