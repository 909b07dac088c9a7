//! Operators on vectors: what the compiler has for vectors, selections by mask, and everything else element
//! by element.

use super::body::Body;
use super::pack::{Width, signed};
use crate::emit::ops::Helpers;
use loop_lang::ir::{Atom, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;

impl Body<'_, '_> {
    /// `v = op args`, for every element.
    pub(super) fn let_op(&mut self, v: Var, op: Op, args: &[Atom]) {
        let program = self.unit.program;
        let from = match (op, args) {
            (Op::Select, [_, a, _]) => program.atom_ty(*a),
            _ => program.atom_ty(args[0]),
        };
        let to = program.ty(v).elem();
        match self.vector_op(op, from, to, args) {
            Some(value) => self.define(v, &value),
            None => self.each(v, op, from, to, args),
        }
    }

    /// The operator as an expression on vectors, if there is one. Of `bool` there are masks.
    fn vector_op(&mut self, op: Op, from: Ty, to: Ty, args: &[Atom]) -> Option<String> {
        use Op::*;
        let shape = self.width;
        let of: Vec<String> = args.iter().map(|a| self.value(*a)).collect();
        let (a, b) = (&of[0], of.get(1).map_or("", |b| b.as_str()));
        let (mask, float) = (from == Ty::Bool, from.is_float());
        let infix = |sign: &str| format!("{a} {sign} {b}");
        let helpers = &mut *self.unit.helpers;
        Some(match op {
            Select => self.picked(from, &of),
            Add => infix("+"),
            Sub => infix("-"),
            Mul => infix("*"),
            Div if float => infix("/"),
            Neg => format!("-{a}"),
            And => infix("&"),
            Or => infix("|"),
            Xor => infix("^"),
            Not => format!("~{a}"),
            Eq if mask => format!("~({a} ^ {b})"),
            Ne if mask => infix("^"),
            Lt if mask => format!("~{a} & {b}"),
            Le if mask => format!("~{a} | {b}"),
            Gt if mask => format!("{a} & ~{b}"),
            Ge if mask => format!("{a} | ~{b}"),
            Eq => shape.truth(helpers, from, &infix("==")),
            Ne => shape.truth(helpers, from, &infix("!=")),
            Lt => shape.truth(helpers, from, &infix("<")),
            Le => shape.truth(helpers, from, &infix("<=")),
            Gt => shape.truth(helpers, from, &infix(">")),
            Ge => shape.truth(helpers, from, &infix(">=")),
            Min | Max => {
                let name = shape.extremum(helpers, op, from);
                format!("{name}({a}, {b})")
            }
            Abs if float => {
                let (v, bits) = (
                    shape.vector(helpers, from),
                    shape.vector(helpers, signed(from.size())),
                );
                let all = shape.all(helpers, signed(from.size()));
                let low = match from {
                    Ty::F32 => "0x7fffffff",
                    _ => "0x7fffffffffffffffl",
                };
                format!("({v})(({bits}){a} & {all}({low}))")
            }
            Cast if mask && to == Ty::Bool => return None,
            Cast if mask => {
                let vector = shape.vector(helpers, to);
                format!("__builtin_convertvector(-{a}, {vector})")
            }
            Cast if to == Ty::Bool => {
                let vector = shape.vector(helpers, from);
                shape.truth(helpers, from, &format!("{a} != ({vector}){{0}}"))
            }
            Cast if from == to => a.clone(),
            Cast if !(float && to.is_int()) => {
                let vector = shape.vector(helpers, to);
                format!("__builtin_convertvector({a}, {vector})")
            }
            Bitcast => format!("({}){a}", shape.vector(helpers, to)),
            // One element after the other.
            Div | Rem | DivEuclid | RemEuclid | DivOk | Shl | Shr | Copy | Cast | Abs | Signum
            | CountOnes | LeadingZeros | TrailingZeros | Floor | Ceil | Round | RoundEven
            | Trunc | Sqrt | Cbrt | Exp | Exp2 | ExpM1 | Ln | Ln1p | Log2 | Log10 | Sin | Cos
            | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh | Asinh | Acosh | Atanh | Powf
            | Powi | Atan2 | Hypot | Copysign | MulAdd | SignBit => return None,
        })
    }

    /// Takes from one vector where a mask is set, from another elsewhere.
    fn picked(&mut self, ty: Ty, of: &[String]) -> String {
        let pick = self.width.pick(self.unit.helpers, ty);
        format!("{pick}({})", of.join(", "))
    }

    /// `v = cond ? a : b`, for every element.
    pub(super) fn pick(&mut self, v: Var, cond: Atom, a: Atom, b: Atom) {
        let of: Vec<String> = [cond, a, b].into_iter().map(|x| self.value(x)).collect();
        let picked = self.picked(self.unit.program.ty(v).elem(), &of);
        self.define(v, &picked);
    }

    /// The operator on one element after the other.
    fn each(&mut self, v: Var, op: Op, from: Ty, to: Ty, args: &[Atom]) {
        let (shape, name) = (self.width, self.unit.names.var(v).to_string());
        let elements = shape.elements(self.unit.helpers);
        let vector = self.vector_of(to);
        self.unit.line(format!("{vector} {name};"));
        self.unit.open("{");
        let mut of = Vec::new();
        for (i, a) in args.iter().enumerate() {
            let ty = self.unit.program.atom_ty(*a);
            if self.is_uniform(*a) {
                of.push(self.unit.atom(*a));
                continue;
            }
            let (vector, value) = (self.vector_of(ty), self.value(*a));
            self.unit
                .line(format!("const {vector} lf_of_{i} = {value};"));
            of.push(match ty {
                Ty::Bool => format!("(bool)(lf_of_{i}[lf_k] & 1)"),
                _ => format!("lf_of_{i}[lf_k]"),
            });
        }
        let value = self.unit.helpers.op(op, from, to, &of);
        let sign = if to == Ty::Bool { "-" } else { "" };
        // Not in the vector itself: some versions of gcc fail on vectors that are put together from others.
        self.unit.line(format!(
            "union {{ __typeof__({name}[0]) cell[{elements}]; {vector} all; }} lf_each;"
        ));
        self.unit.line(format!(
            "for (u64 lf_k = 0; lf_k < {elements}; lf_k++) lf_each.cell[lf_k] = {sign}({value});"
        ));
        self.unit.line(format!("{name} = lf_each.all;"));
        self.unit.close();
    }
}

impl Width {
    /// A comparison of vectors of `ty` as a mask.
    pub fn truth(self, helpers: &mut Helpers, ty: Ty, test: &str) -> String {
        let mask = self.mask(helpers);
        if ty.size() == self.0 {
            return format!("({mask})({test})");
        }
        let own = self.vector(helpers, signed(ty.size()));
        format!("__builtin_convertvector(({own})({test}), {mask})")
    }

    /// A function that takes from one vector where the mask is set, from another elsewhere.
    pub fn pick(self, helpers: &mut Helpers, ty: Ty) -> String {
        let mask = self.mask(helpers);
        if ty == Ty::Bool {
            let name = format!("lf_pick_{}", self.0);
            helpers.require(&name, || {
                format!(
                    "static inline {mask} {name}({mask} m, {mask} x, {mask} y) \
                     {{ return (m & x) | (~m & y); }}\n"
                )
            });
            return name;
        }
        let (v, bits) = (
            self.vector(helpers, ty),
            self.vector(helpers, signed(ty.size())),
        );
        let name = format!("{v}_pick");
        let narrow = match ty.size() == self.0 {
            true => "m".to_string(),
            false => format!("__builtin_convertvector(m, {bits})"),
        };
        let body = match helpers.target.vector_bytes() {
            32 if ty.size() == self.0 => format!(
                "  typedef char lf_c __attribute__((vector_size(32)));\n  \
                 return ({v})__builtin_ia32_pblendvb256((lf_c)y, (lf_c)x, (lf_c)m);\n"
            ),
            _ => format!(
                "  const {bits} s = {narrow};\n  \
                 return ({v})((s & ({bits})x) | (~s & ({bits})y));\n"
            ),
        };
        helpers.require(&name, || {
            format!("static inline {v} {name}({mask} m, {v} x, {v} y) {{\n{body}}}\n")
        });
        name
    }

    /// A function for the smaller or larger element. Floats ignore NaN; equal ones may be -0.0 and +0.0:
    /// their bits joined are right.
    pub fn extremum(self, helpers: &mut Helpers, op: Op, ty: Ty) -> String {
        let (v, bits) = (
            self.vector(helpers, ty),
            self.vector(helpers, signed(ty.size())),
        );
        let name = format!("{v}_{}", op.name());
        let less = if op == Op::Min { "<" } else { ">" };
        let pick = Width(ty.size()).pick_of(self, helpers, ty);
        let body = match (ty.is_float(), op) {
            (false, _) => format!("return {pick}(({bits})(x {less} y), x, y);"),
            (true, Op::Min) => format!(
                "const {v} z = {pick}(({bits})(x < y), x, y); \
                 return {pick}(({bits})(y == y), ({v})(({bits})z | (({bits})x & ({bits})(x == y))), x);"
            ),
            (true, _) => format!(
                "const {v} z = {pick}(({bits})(x > y), x, y); \
                 return {pick}(({bits})(y == y), ({v})(({bits})z & (({bits})x | ~({bits})(x == y))), x);"
            ),
        };
        helpers.require(&name, || {
            format!("static inline {v} {name}({v} x, {v} y) {{ {body} }}\n")
        });
        name
    }

    /// Like [`Width::pick`] on vectors of `of`, with a mask as wide as the elements.
    fn pick_of(self, of: Width, helpers: &mut Helpers, ty: Ty) -> String {
        if of.0 == self.0 {
            return of.pick(helpers, ty);
        }
        let (v, bits) = (
            of.vector(helpers, ty),
            of.vector(helpers, signed(ty.size())),
        );
        let name = format!("{v}_pick_own");
        helpers.require(&name, || {
            format!(
                "static inline {v} {name}({bits} s, {v} x, {v} y) \
                 {{ return ({v})((s & ({bits})x) | (~s & ({bits})y)); }}\n"
            )
        });
        name
    }
}
