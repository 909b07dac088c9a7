//! Scans of whole blocks in vector registers.
//!
//! A block of a `Prefix` group is 64 bytes: two vectors. Step k of its tree joins the last element of
//! each lower half of 2^k elements onto all of the upper half, a shuffle and an operation; the last step
//! joins the first vector's last element onto the second vector.
//!
//! ```text
//! x0 x1 x2 x3 | x4 ..      the block
//! x0 01 x2 23 | x4 ..      k = 0
//! x0 01 02 03 | x4 ..      k = 1
//! x0 01 02 03 | 04 ..      k = 2
//! ```

use super::ops::joins_at_once;
use super::phases::{Phase, phases, shared};
use super::plan::Plan;
use super::unit::Unit;
use crate::facts;
use crate::names::Part;
use loop_lang::ir::{Combine, GroupId, Order, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// Bytes of a vector.
const VECTOR: usize = 32;

/// A scan's group in C: its names, and how a vector of it is computed with.
struct Scan {
    var: Var,
    op: Op,
    ty: Ty,
    /// The variable's name.
    name: String,
    /// The vector type.
    vector: String,
    /// Elements of a vector.
    width: usize,
    /// Whether the exclusive values are read.
    read: bool,
}

impl Plan<'_> {
    /// Whether the loop's scans can run a block at a time.
    pub(super) fn scans(&self, unit: &Unit) -> bool {
        let fits = |g: &GroupId| {
            let group = &unit.program.groups[g.index()];
            let [v] = group.vars[..] else { return false };
            let ty = facts::elem(unit.program, v);
            let op = match group.combine {
                Some(Combine::Op(op)) => op,
                _ => return false,
            };
            group.order == Order::Prefix((2 * VECTOR / ty.size()) as u32)
                && self.strip as usize == 2 * VECTOR / ty.size()
                && ty.size() >= 4
                && joins_at_once(op, ty)
        };
        self.strip > 1
            && self.sweep.carried.is_empty()
            && self.sweep.groups.iter().all(fits)
            && self.sweep.is_plain()
            && self.reads_after(unit)
    }

    /// Whether no scan depends on its own values; and nothing else cuts the body.
    fn reads_after(&self, unit: &Unit) -> bool {
        let phases = phases(self.sweep);
        phases
            .iter()
            .enumerate()
            .all(|(i, phase)| match phase.statements[..] {
                [s] if phase.is_cut => match &s.stmt.kind {
                    StmtKind::Scan { group, .. } => {
                        let vars = &unit.program.groups[group.index()].vars;
                        let before = &phases[..=i];
                        vars.iter()
                            .all(|v| before.iter().all(|p| !p.uses.contains(v)))
                    }
                    _ => false,
                },
                _ => true,
            })
    }

    /// Writes the loop over blocks.
    pub(super) fn write_scans(&self, unit: &mut Unit) {
        let phases = phases(self.sweep);
        let shared = shared(unit.program, &phases);
        let scans: Vec<Scan> = self
            .sweep
            .groups
            .iter()
            .filter_map(|g| Scan::of(unit, *g, &phases))
            .collect();
        let width = self.strip.to_string();
        scans.iter().for_each(|s| s.begin(unit));
        unit.open(format!(
            "for (u64 strip = from; strip < end; strip += {width}) {{"
        ));
        self.declare_shared(unit, &shared, &width);
        for phase in &phases {
            match phase.statements[..] {
                [] => {}
                [s] if phase.is_cut => {
                    if let StmtKind::Scan { results, elems, .. } = &s.stmt.kind {
                        let scan = scans.iter().find(|x| phase_of(unit, s.stmt, x.var));
                        if let (Some(scan), [result], [elem]) = (scan, &results[..], &elems[..]) {
                            let (ty, vector, name) = (scan.ty.name(), &scan.vector, &scan.name);
                            unit.line(format!(
                                "union {{ {ty} cell[{width}]; {vector} all[2]; }} lf_sum_{name};"
                            ));
                            self.open_lanes(unit, phase, &shared, &width);
                            let elem = unit.atom(*elem);
                            unit.line(format!("lf_sum_{}.cell[lane] = {elem};", scan.name));
                            unit.close();
                            scan.block(unit);
                            if shared.contains(result) {
                                let result = unit.names.var(*result);
                                unit.line(format!(
                                    "for (u64 lane = 0; lane < {width}; lane++) lf_{result}[lane] = lf_sum_{}.cell[lane];",
                                    scan.name
                                ));
                            }
                        }
                    }
                }
                _ => {
                    self.open_lanes(unit, phase, &shared, &width);
                    for scan in scans.iter().filter(|s| phase.uses.contains(&s.var)) {
                        let now = unit.names.part(scan.var, Part::Now);
                        unit.line(format!(
                            "const {} {now} = lf_old_{}.cell[lane];",
                            scan.ty.name(),
                            scan.name
                        ));
                    }
                    phase.write(unit);
                    self.close_lanes(unit, phase, &shared);
                }
            }
        }
        unit.close();
        scans.iter().for_each(|s| s.end(unit));
    }
}

/// Whether a statement is the scan of a variable.
fn phase_of(unit: &Unit, s: &loop_lang::ir::Stmt, v: Var) -> bool {
    match &s.kind {
        StmtKind::Scan { group, .. } => unit.program.groups[group.index()].vars.contains(&v),
        _ => false,
    }
}

impl Scan {
    fn of(unit: &mut Unit, g: GroupId, phases: &[Phase]) -> Option<Scan> {
        let group = &unit.program.groups[g.index()];
        let (Some(Combine::Op(op)), [var]) = (group.combine, &group.vars[..]) else {
            return None;
        };
        let ty = facts::elem(unit.program, *var);
        Some(Scan {
            var: *var,
            op,
            ty,
            name: unit.names.var(*var).to_string(),
            vector: unit.helpers.vector(ty),
            width: VECTOR / ty.size(),
            read: phases.iter().any(|p| p.uses.contains(var)),
        })
    }

    /// A vector with one value everywhere.
    fn all(&self, value: &str) -> String {
        format!("{{ {} }}", vec![value; self.width].join(", "))
    }

    /// The variables that go from block to block.
    fn begin(&self, unit: &mut Unit) {
        let group = unit.facts.local_group(unit.program, self.var);
        let identity = group.map_or(String::new(), |(g, i, _)| unit.identity(g, i));
        let (vector, name) = (&self.vector, &self.name);
        for (what, value) in [
            ("id", identity.as_str()),
            ("start", name),
            ("total", unit.names.part(self.var, Part::Total)),
            ("last", unit.names.part(self.var, Part::Last)),
            ("now", unit.names.part(self.var, Part::Now)),
        ] {
            unit.line(format!("{vector} lf_{what}_{name} = {};", self.all(value)));
        }
        let trees: Vec<String> = (0..self.steps())
            .map(|k| format!("lf_tree_{k}_{name}"))
            .collect();
        unit.line(format!("{vector} {};", trees.join(", ")));
    }

    /// Steps of the tree.
    fn steps(&self) -> usize {
        self.width.trailing_zeros() as usize + 1
    }

    /// Lanes `at` of two vectors.
    fn shuffle(&self, unit: &mut Unit, a: &str, b: &str, at: impl Fn(usize) -> usize) -> String {
        let at: Vec<String> = (0..self.width).map(|j| at(j).to_string()).collect();
        let mask = match self.ty.size() {
            8 => unit.helpers.vector(Ty::I64),
            _ => unit.helpers.vector(Ty::I32),
        };
        format!("LF_SHUFFLE({mask}, {a}, {b}, {})", at.join(", "))
    }

    /// One block: from its elements to their prefixes.
    fn block(&self, unit: &mut Unit) {
        let name = self.name.clone();
        let part = |what: &str| format!("lf_{what}_{name}");
        let (sum, vector) = (part("sum"), self.vector.clone());
        let last = self.width - 1;
        unit.open("{");
        unit.line(format!("{vector} a = {sum}.all[0], b = {sum}.all[1];"));
        for k in 0..self.steps() - 1 {
            unit.line(format!("lf_tree_{k}_{name} = b;"));
            for x in ["a", "b"] {
                let (low, below) = ((1 << k) - 1, !((2 << k) - 1));
                let lower = |j: usize| {
                    if j >> k & 1 == 1 {
                        j & below | low
                    } else {
                        self.width + j
                    }
                };
                let left = self.shuffle(unit, x, &part("id"), lower);
                let joined = unit.helpers.vector_join(self.op, self.ty, &left, x);
                unit.line(format!("{x} = {joined};"));
            }
        }
        unit.line(format!("lf_tree_{}_{name} = a;", self.steps() - 1));
        let low = self.shuffle(unit, "a", "a", |_| last);
        let end = self.shuffle(unit, "b", "b", |_| last);
        let mut join = |a: &str, b: &str| unit.helpers.vector_join(self.op, self.ty, a, b);
        // From block to block there is one operation, not a shuffle as well.
        let lines = [
            format!("b = {};", join(&low, "b")),
            format!("a = {};", join(&part("total"), "a")),
            format!("{} = {};", part("last"), join(&part("total"), "b")),
            format!("{} = {};", part("total"), join(&part("total"), &end)),
            format!("{sum}.all[0] = {};", join(&part("start"), "a")),
            format!("{sum}.all[1] = {};", join(&part("start"), &part("last"))),
        ];
        lines.iter().for_each(|l| unit.line(l));
        unit.close();
        if self.read {
            let cells = 2 * self.width;
            let ty = self.ty.name();
            unit.line(format!(
                "union {{ {ty} cell[{cells}]; {vector} all[2]; }} {};",
                part("old")
            ));
            let first = format!("{sum}.all[0]");
            let second = format!("{sum}.all[1]");
            for (i, (a, b)) in [(part("now"), first.clone()), (first, second)]
                .iter()
                .enumerate()
            {
                let value = self.shuffle(unit, a, b, |j| last + j);
                unit.line(format!("{}.all[{i}] = {value};", part("old")));
            }
        }
        unit.line(format!("{} = {sum}.all[1];", part("now")));
    }

    /// What the function hands back.
    fn end(&self, unit: &mut Unit) {
        let (name, last) = (&self.name, self.width - 1);
        let names = unit.names;
        for (p, what) in [
            (Part::Now, "now"),
            (Part::Total, "total"),
            (Part::Last, "last"),
        ] {
            let part = names.part(self.var, p);
            unit.line(format!("{part} = lf_{what}_{name}[{last}];"));
        }
        let tree = names.part(self.var, Part::Tree);
        for k in 0..self.steps() {
            // The left neighbour of 2^k elements at a block's end.
            let at = (2 * self.width - 1 - (1 << k)) % self.width;
            unit.line(format!("{tree}[{k}] = lf_tree_{k}_{name}[{at}];"));
        }
    }
}
