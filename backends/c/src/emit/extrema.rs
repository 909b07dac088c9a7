//! Largest and smallest floats in lanes, with one instruction where that is right.
//!
//! The operators ignore NaN and order the zeros, which takes six instructions. But a lane that began with a
//! number, and has ended neither at zero nor at the infinity that loses to everything, never saw a case in
//! which `x > lane ? x : lane` is wrong. So the lanes begin as that infinity where they hold none, run with
//! the one instruction, and if one ends where it says nothing, the range runs again from the old lanes.

use super::plan::Plan;
use super::unit::Unit;
use crate::facts;
use crate::names::Part;
use loop_lang::ir::{Atom, Combine, Order, StmtKind, Var};
use loop_lang::op::Op;

impl Plan<'_> {
    /// Whether some lanes hold extrema of floats, and the loop can run again.
    pub(super) fn has_extrema(&self, unit: &Unit) -> bool {
        let lanes = |g: &loop_lang::ir::GroupId| {
            let order = unit.program.groups[g.index()].order;
            matches!(order, Order::Lanes(l) if u64::from(l) == self.strip)
        };
        self.strip > 1
            && self.sweep.carried.is_empty()
            && self.sweep.groups.iter().all(lanes)
            && self.sweep.is_plain()
            && self.sweep.all_tops().all(|s| {
                matches!(
                    s.stmt.kind,
                    StmtKind::Let(..) | StmtKind::Assign(..) | StmtKind::ReadArray(..)
                )
            })
            && !self.extrema(unit).is_empty()
    }

    /// The variables of lanes that hold extrema of floats, with the operator.
    pub(super) fn extrema(&self, unit: &Unit) -> Vec<(Var, Op)> {
        let groups = self
            .sweep
            .groups
            .iter()
            .map(|g| &unit.program.groups[g.index()]);
        let found = groups.flat_map(|g| g.vars.iter().map(|v| (*v, g.combine)));
        let of_floats = |(v, combine): (Var, Option<Combine>)| match combine {
            Some(Combine::Op(op @ (Op::Min | Op::Max))) => {
                facts::elem(unit.program, v).is_float().then_some((v, op))
            }
            _ => None,
        };
        found.filter_map(of_floats).collect()
    }

    /// Writes the loop in both ways.
    pub(super) fn write_extrema(&self, unit: &mut Unit, counter: &str) {
        let width = self.strip;
        let vars = |unit: &Unit| -> Vec<Var> {
            let groups = self
                .sweep
                .groups
                .iter()
                .map(|g| &unit.program.groups[g.index()]);
            groups.flat_map(|g| g.vars.iter().copied()).collect()
        };
        for v in vars(unit) {
            let (ty, name) = (facts::elem(unit.program, v).name(), unit.names.var(v));
            let lanes = unit.names.part(v, Part::Lanes);
            unit.line(format!("{ty} lf_old_{name}[{width}];"));
            unit.line(format!(
                "for (u64 lane = 0; lane < {width}; lane++) lf_old_{name}[lane] = {lanes}[lane];"
            ));
        }
        let extrema = self.extrema(unit);
        for (v, op) in &extrema {
            let lanes = unit.names.part(*v, Part::Lanes).to_string();
            let limit = losing(*op);
            unit.line(format!(
                "for (u64 lane = 0; lane < {width}; lane++) \
                 {lanes}[lane] = {lanes}[lane] == {lanes}[lane] ? {lanes}[lane] : {limit};"
            ));
        }
        unit.plain.extend(&extrema);
        self.write_loop(unit, counter);
        unit.plain.clear();
        unit.line("u64 again = 0;");
        for (v, op) in &extrema {
            let lanes = unit.names.part(*v, Part::Lanes).to_string();
            let limit = losing(*op);
            unit.line(format!(
                "for (u64 lane = 0; lane < {width}; lane++) \
                 again |= ({lanes}[lane] == 0) | ({lanes}[lane] == {limit});"
            ));
        }
        unit.open("if (again) {");
        for v in vars(unit) {
            let (name, lanes) = (unit.names.var(v), unit.names.part(v, Part::Lanes));
            unit.line(format!(
                "for (u64 lane = 0; lane < {width}; lane++) {lanes}[lane] = lf_old_{name}[lane];"
            ));
        }
        self.write_loop(unit, counter);
        unit.close();
    }
}

/// The infinity that loses to everything.
fn losing(op: Op) -> &'static str {
    match op {
        Op::Max => "-__builtin_inf()",
        _ => "__builtin_inf()",
    }
}

impl Unit<'_> {
    /// What lanes of a variable begin as, if its extrema take one instruction now.
    pub(super) fn losing(&self, v: Var) -> Option<String> {
        let (_, op) = self.plain.iter().find(|p| p.0 == v)?;
        Some(losing(*op).to_string())
    }

    /// Two lanes of such a variable, joined.
    pub(super) fn plain_join(&self, v: Var, x: &str, y: &str) -> String {
        let largest = self.plain.contains(&(v, Op::Max));
        let sign = if largest { ">" } else { "<" };
        format!("{y} {sign} {x} ? {y} : {x}")
    }

    /// An extremum that is written as one instruction: of a lane and an element, in this order.
    pub(super) fn plain_extremum(&mut self, op: Op, args: &[Atom]) -> Option<String> {
        let lane = |a: &Atom| matches!(a, Atom::Var(v) if self.plain.contains(&(*v, op)));
        let (lane, other) = match args {
            [a, b] if lane(a) => (*a, *b),
            [a, b] if lane(b) => (*b, *a),
            _ => return None,
        };
        let sign = if op == Op::Max { ">" } else { "<" };
        let (lane, other) = (self.atom(lane), self.atom(other));
        Some(format!("{other} {sign} {lane} ? {other} : {lane}"))
    }
}
