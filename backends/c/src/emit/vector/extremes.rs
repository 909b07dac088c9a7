//! Minima and maxima of floats, the quick way.
//!
//! They ignore NaN and order -0.0 below +0.0, where instructions give the second operand for a NaN and for
//! equal ones. So the lanes are compared the instructions' way, old value second, on a copy; and what that
//! cannot tell is found out afterwards, once for many elements:
//!
//! * A lane that was NaN starts from the infinity that every number beats. If it is still there, nothing
//!   was taken, unless an element was this infinity: the least of all elements (of a maximum) shows that.
//! * A maximum of -0.0 may have met a +0.0 later, a minimum of +0.0 a -0.0.
//!
//! In doubt, the elements are gone through once more by the rules.

use super::body::Body;
use super::pack::{Shape, signed};
use crate::emit::ops::Helpers;
use crate::facts;
use crate::names::Part;
use loop_lang::ir::{Atom, Order, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl Body<'_, '_> {
    /// Writes the loop over a tile's elements for a variable that is their minimum or maximum.
    pub(super) fn extremes(&mut self, v: Var, op: Op, elements: usize) {
        let ty = facts::elem(self.unit.program, v);
        let group = self.unit.facts.local_group(self.unit.program, v);
        let Some((_, _, Order::Lanes(lanes))) = group else {
            return;
        };
        let (beaten, zero) = match op {
            Op::Max => (f64::NEG_INFINITY, -0.0),
            _ => (f64::INFINITY, 0.0),
        };
        let (vector, all) = (self.vector_of(ty), self.shape.all(self.unit.helpers, ty));
        let helpers = &mut *self.unit.helpers;
        let (start, other) = (
            helpers.constant(float(ty, beaten)),
            helpers.constant(float(ty, -beaten)),
        );
        let test = format!("lf_worst == {all}({start})");
        let test = self.shape.truth(helpers, ty, &test);
        let bits = self.shape.bits(helpers);
        let word = helpers.word_of(ty, "lf_lane[lf_k]");
        let doubtful = helpers.constant(Const::u64(float(ty, zero).bits));
        let lane = self.unit.names.part(v, Part::Lanes).to_string();
        let each = format!("for (u64 lf_k = 0; lf_k < {lanes}; lf_k++)");
        self.unit.open("{");
        self.unit.line(format!("{} lf_lane[{lanes}];", ty.name()));
        self.unit.line(format!(
            "{each} lf_lane[lf_k] = {lane}[lf_k] == {lane}[lf_k] ? {lane}[lf_k] : {start};"
        ));
        self.unit
            .line(format!("{vector} lf_worst = {all}({other});"));
        self.fast = true;
        self.strips("lf_tile", "lf_stop", elements);
        self.fast = false;
        self.unit.line(format!("u64 lf_doubt = {bits}({test});"));
        self.unit
            .line(format!("{each} lf_doubt |= {word} == {doubtful};"));
        self.unit.open("if (lf_doubt) {");
        self.rest = false;
        self.strips("lf_tile", "lf_stop", elements);
        self.unit.depth -= 1;
        self.unit.open("} else {");
        self.unit.line(format!(
            "{each} if ({lane}[lf_k] == {lane}[lf_k] || lf_lane[lf_k] != {start}) {lane}[lf_k] = lf_lane[lf_k];"
        ));
        self.unit.close();
        self.unit.close();
    }

    /// Takes a vector of elements, those outside of the mask as NaN.
    pub(super) fn take_extreme(&mut self, lane: &str, v: Var, op: Op, x: Atom) {
        let ty = facts::elem(self.unit.program, v);
        let (vector, x) = (self.vector_of(ty), self.value(x));
        let whole = self.shape.vector(self.unit.helpers, signed(ty.size()));
        let x = match self.mask() {
            Some(mask) => format!("({vector})(({whole}){x} | ~{mask})"),
            None => x,
        };
        let (most, least) = match op {
            Op::Max => (Op::Max, Op::Min),
            _ => (Op::Min, Op::Max),
        };
        let most = self.shape.instruction(self.unit.helpers, most, ty);
        let least = self.shape.instruction(self.unit.helpers, least, ty);
        let name = self.unit.names.var(v).to_string();
        self.unit.line(format!("const {vector} lf_x = {x};"));
        self.unit.line(format!("{lane} = {most}(lf_x, {name});"));
        self.unit
            .line(format!("lf_worst = {least}(lf_x, lf_worst);"));
    }
}

impl Shape {
    /// A function for the smaller or larger element; the second, if one is NaN or they are equal.
    fn instruction(self, helpers: &mut Helpers, op: Op, ty: Ty) -> String {
        let v = self.vector(helpers, ty);
        let (pick, whole) = (
            self.pick(helpers, ty),
            self.vector(helpers, signed(ty.size())),
        );
        let (name, less) = match op {
            Op::Min => ("min", "<"),
            _ => ("max", ">"),
        };
        let kind = if ty == Ty::F32 { "ps" } else { "pd" };
        let function = format!("{v}_quick_{name}");
        let value = match helpers.target.vector_bytes() {
            32 => format!("__builtin_ia32_{name}{kind}256(x, y)"),
            _ => format!("{pick}(({whole})(x {less} y), x, y)"),
        };
        helpers.require(&function, || {
            format!("static inline {v} {function}({v} x, {v} y) {{ return {value}; }}\n")
        });
        function
    }
}

fn float(ty: Ty, x: f64) -> Const {
    match ty {
        Ty::F32 => Const::f32(x as f32),
        _ => Const::f64(x),
    }
}
