//! A segment's folds in vectors: lanes in registers, the end of the segment under a mask.
//!
//! Compilers make vectors of a loop over lanes, but not of what goes with it when segments are short: the
//! join of the lanes, and a body with traps for elements that are not there.
//!
//! ```text
//! if (size <= 16) {
//!   lf_8f64 lf_lanes_9[2];
//!   for (u64 lane = 0; lane < 16; lane += 8) {
//!     const lf_8i64 lf_here = lf_here_8(lane, size);
//!     ...
//!     lf_lanes_9[lane / 8] = lf_8f64_pick(lf_here, new_1, acc_1);
//!   }
//!   ... the upper half of the lanes is joined onto the lower, down to one
//! }
//! ```

use super::body::Body;
use super::fit::{Fitting, Vectors};
use super::pack::{Shape, signed};
use crate::emit::ideas::Idea;
use crate::emit::nest::FEW;
use crate::emit::ops::{Helpers, join, joins_at_once};
use crate::emit::plan::Plan;
use crate::emit::unit::Unit;
use crate::facts;
use livefusion_tile::region::cost::is_cheap;
use livefusion_tile::region::{Effect, Region, Sweep};
use loop_lang::Loop;
use loop_lang::ir::{Atom, Combine, GroupId, Order, Stmt, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// Bytes of a group's lanes at most: more do not stay in registers.
const MOST: u64 = 512;

/// An inner loop whose folds are written in vectors.
pub struct Segment {
    vectors: Vectors,
    /// Its groups: each has one variable.
    folds: Vec<Fold>,
    traps: bool,
}

#[derive(Clone, Copy)]
struct Fold {
    group: GroupId,
    var: Var,
    op: Op,
}

/// The form of an inner loop in vectors, if it has one and each of its groups so many lanes.
pub fn segment(region: &Region, sweep: &Sweep, lanes: u64) -> Option<Segment> {
    let fitting = Fitting { region, sweep };
    let groups = sweep.groups.iter();
    let folds: Option<Vec<Fold>> = groups.map(|g| fold(region.program, lanes, *g)).collect();
    let folds = folds.filter(|all| !all.is_empty())?;
    let plain = sweep.carried.is_empty()
        && sweep.is_plain()
        && sweep.proven.iter().all(|(_, i)| *i == sweep.counter)
        && (sweep.statements.iter()).all(|s| s.top && fitting.fits_segment(s.stmt));
    if !plain {
        return None;
    }
    let vectors = fitting.folds(sweep.groups.iter().copied().collect());
    let traps = sweep.statements.iter().any(|s| s.effect == Effect::Trap);
    let fits = vectors.widest >= 4 && lanes * vectors.widest as u64 <= MOST;
    fits.then_some(Segment {
        vectors,
        folds,
        traps,
    })
}

fn fold(program: &Loop, lanes: u64, group: GroupId) -> Option<Fold> {
    let data = &program.groups[group.index()];
    let (Order::Lanes(l), Some(Combine::Op(op)), [var]) =
        (data.order, data.combine, &data.vars[..])
    else {
        return None;
    };
    let ty = facts::elem(program, *var);
    let joins = joins_at_once(op, ty);
    let fits = u64::from(l) == lanes && lanes > FEW && joins;
    let var = *var;
    fits.then_some(Fold { group, var, op })
}

impl Fitting<'_> {
    /// Whether a statement may run for an element that is not there: under the mask, if it counts.
    fn fits_segment(&self, s: &Stmt) -> bool {
        match &s.kind {
            StmtKind::Let(..) => is_cheap(self.program(), s),
            // At random, elements that are not there would cost as much as the others.
            StmtKind::ReadArray(_, a, Atom::Var(index)) => self.in_step(*a, *index),
            StmtKind::Trap { .. } | StmtKind::ArrayLength(..) | StmtKind::Assign(..) => true,
            _ => false,
        }
    }
}

impl Segment {
    /// Writes the folds of `size` elements from `first` on.
    pub fn write(&self, unit: &mut Unit, plan: &Plan) {
        unit.uses(Idea::Segments);
        let lanes = plan.strip;
        let mut body = Body::of(unit, plan, &self.vectors);
        body.segment = true;
        if self.traps {
            let mask = body.shape.mask(body.unit.helpers);
            body.unit.line(format!("{mask} lf_stuck = {{0}};"));
        }
        body.unit.open(format!("if (size <= {FEW}) {{"));
        self.begin(&mut body, FEW);
        body.tile(FEW, "first", Some("size"));
        self.join(&mut body, FEW);
        body.unit.depth -= 1;
        body.unit.open("} else {");
        self.begin(&mut body, lanes);
        body.unit.line("u64 strip = first;");
        body.unit.open(format!(
            "for (; strip + {lanes} <= first + size; strip += {lanes}) {{"
        ));
        body.tile(lanes, "strip", None);
        body.unit.close();
        body.unit.open("if (strip < first + size) {");
        body.tile(lanes, "strip", Some("first + size - strip"));
        body.unit.close();
        self.join(&mut body, lanes);
        body.unit.close();
        if self.traps {
            let bits = body.shape.bits(body.unit.helpers);
            body.unit.line(format!("trapped |= {bits}(lf_stuck) != 0;"));
        }
    }

    /// Declares lanes that hold the identity.
    fn begin(&self, body: &mut Body, lanes: u64) {
        let vectors = lanes / self.vectors.elements(body.unit) as u64;
        for fold in &self.folds {
            let ty = facts::elem(body.unit.program, fold.var);
            let (vector, all) = (body.vector_of(ty), body.shape.all(body.unit.helpers, ty));
            let (name, identity) = (name(fold.var), body.unit.identity(fold.group, 0));
            body.unit.line(format!("{vector} {name}[{vectors}];"));
            body.unit.line("#pragma GCC unroll 16");
            body.unit.line(format!(
                "for (u64 l = 0; l < {vectors}; l++) {name}[l] = {all}({identity});"
            ));
        }
    }

    /// Joins lanes by halves onto the starting value.
    fn join(&self, body: &mut Body, lanes: u64) {
        let vectors = lanes / self.vectors.elements(body.unit) as u64;
        for fold in &self.folds {
            let ty = facts::elem(body.unit.program, fold.var);
            let lane = name(fold.var);
            let both = joined(
                body.shape,
                body.unit.helpers,
                fold.op,
                ty,
                [&format!("{lane}[l]"), &format!("{lane}[l + lf_half]")],
            );
            body.unit.line("#pragma GCC unroll 8");
            body.unit.open(format!(
                "for (u64 lf_half = {}; lf_half > 0; lf_half /= 2) {{",
                vectors / 2
            ));
            body.unit.line("#pragma GCC unroll 8");
            body.unit.line(format!(
                "for (u64 l = 0; l < lf_half; l++) {lane}[l] = {both};"
            ));
            body.unit.close();
            let within = within(body.shape, body.unit.helpers, fold.op, ty);
            let name = body.unit.names.var(fold.var).to_string();
            let of = [name.clone(), format!("{within}({lane}[0])")];
            let value = body.unit.helpers.op(fold.op, ty, ty, &of);
            body.unit.line(format!("{name} = {value};"));
        }
    }
}

impl Body<'_, '_> {
    /// So many elements, all or those that are there.
    fn tile(&mut self, lanes: u64, from: &str, size: Option<&str>) {
        let elements = self.vectors.elements(self.unit);
        let counter = self.unit.names.var(self.plan.sweep.counter).to_string();
        self.unit.line("#pragma GCC unroll 16");
        self.unit.open(format!(
            "for (u64 lane = 0; lane < {lanes}; lane += {elements}) {{"
        ));
        self.unit
            .line(format!("const u64 {counter} = {from} + lane;"));
        if let Some(size) = size {
            let (mask, here) = (
                self.shape.mask(self.unit.helpers),
                here(self.shape, self.unit.helpers),
            );
            self.unit
                .line(format!("const {mask} lf_here = {here}(lane, {size});"));
        }
        self.here = size.is_some();
        self.vector();
        self.here = false;
        self.unit.close();
    }

    /// The vector of lanes of a segment's fold.
    pub(super) fn segment_lane(&mut self, v: Var) -> String {
        let elements = self.vectors.elements(self.unit);
        format!("{}[lane / {elements}]", name(v))
    }
}

fn name(v: Var) -> String {
    format!("lf_lanes_{}", v.index())
}

/// A function for the mask of the elements that a segment still has, from a lane on.
fn here(shape: Shape, helpers: &mut Helpers) -> String {
    let (mask, n) = (shape.mask(helpers), shape.elements(helpers));
    let t = signed(shape.0).name();
    let name = format!("lf_here_{}", shape.0);
    helpers.require(&name, || {
        format!(
            "static inline {mask} {name}(u64 lane, u64 size) {{\n  {mask} at;\n  \
             for (u64 k = 0; k < {n}; k++) at[k] = k;\n  \
             return at + ({t})lane < ({mask}){{0}} + ({t})size;\n}}\n"
        )
    });
    name
}

/// Two vectors of lanes joined.
fn joined(shape: Shape, helpers: &mut Helpers, op: Op, ty: Ty, of: [&str; 2]) -> String {
    join(op, of[0], of[1], || shape.extremum(helpers, op, ty))
}

/// A function that joins the lanes of one vector by halves.
fn within(shape: Shape, helpers: &mut Helpers, op: Op, ty: Ty) -> String {
    let v = shape.vector(helpers, ty);
    let int = shape.vector(helpers, signed(ty.size()));
    let both = joined(shape, helpers, op, ty, ["x", "y"]);
    let name = format!("{v}_join_{}", op.name());
    let mut text = format!("static inline {} {name}({v} x) {{\n  {v} y;\n", ty.name());
    let n = shape.elements(helpers);
    let mut half = n / 2;
    while half > 0 {
        let at: Vec<String> = (0..n).map(|k| ((k + half) % n).to_string()).collect();
        text += &format!(
            "  y = LF_SHUFFLE({int}, x, x, {});\n  x = {both};\n",
            at.join(", ")
        );
        half /= 2;
    }
    text += "  return x[0];\n}\n";
    helpers.require(&name, || text);
    name
}
