//! Operators on vectors: what compilers have for vectors, and everything else lane by lane.

use super::Writer;
use super::pack::{signed, unsigned};
use crate::emit::ops::limits;
use livefusion_tile::ir::{Operand, Shape, Value};
use livefusion_tile::target::Arch;
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// Bytes of the narrowest vectors that registers hold.
const NARROWEST: usize = 16;

impl Writer<'_, '_, '_> {
    /// The type of a value.
    pub(super) fn vector(&mut self, shape: Shape) -> String {
        if shape.is_scalar() {
            return shape.ty.name().to_string();
        }
        if shape.ty == Ty::Bool {
            return self.mask();
        }
        let (t, size) = (shape.ty.name(), shape.ty.size());
        let name = format!("lf_v{}{t}", shape.lanes);
        self.unit.helpers.require(&name, || {
            format!(
                "typedef {t} {name} __attribute__((vector_size({})));\n\
                 typedef {name} {name}_at __attribute__((aligned({size}), may_alias));\n",
                shape.lanes as usize * size
            )
        });
        name
    }

    /// A function from a scalar to a vector of it.
    pub(super) fn all(&mut self, shape: Shape) -> String {
        let (v, t) = (self.vector(shape), shape.ty.name());
        let name = format!("{v}_all");
        // The difference to zero is the number itself, -0.0 included.
        self.unit.helpers.require(&name, || {
            format!("static inline {v} {name}({t} x) {{ return x - ({v}){{0}}; }}\n")
        });
        name
    }

    /// A function that gives the positions of lanes.
    pub(super) fn positions(&mut self, shape: Shape) -> String {
        let v = self.vector(shape);
        let name = format!("{v}_positions");
        let all: Vec<String> = (0..shape.lanes).map(|k| k.to_string()).collect();
        self.unit.helpers.require(&name, || {
            format!(
                "static inline {v} {name}(void) {{ return ({v}){{{}}}; }}\n",
                all.join(", ")
            )
        });
        name
    }

    pub(super) fn let_op(&mut self, to: Value, op: Op, args: &[Operand]) {
        let shape = self.shape(to);
        let typed = args.get(usize::from(op == Op::Select)).or(args.first());
        let from = typed.map_or(shape.ty, |a| self.operand_shape(*a).ty);
        if shape.is_scalar() {
            let of: Vec<String> = args.iter().map(|a| self.operand(*a)).collect();
            let text = self.unit.helpers.op(op, from, shape.ty, &of);
            self.define(to, &text);
            return;
        }
        self.note_half(to, op, args);
        let product = self.half_product(shape, op, args);
        let of: Vec<String> = (args.iter())
            .map(|a| self.in_lanes(*a, shape.lanes))
            .collect();
        match product.or_else(|| self.vector_op(op, from, shape, &of)) {
            Some(text) => self.define(to, &text),
            None => {
                let of: Vec<String> = args.iter().map(|a| self.lane(*a)).collect();
                let text = self.unit.helpers.op(op, from, shape.ty, &of);
                self.each(to, &text);
            }
        }
    }

    /// The operator as an expression on vectors, if there is one.
    pub(super) fn vector_op(
        &mut self,
        op: Op,
        from: Ty,
        to: Shape,
        of: &[String],
    ) -> Option<String> {
        use Op::*;
        let lanes = to.lanes;
        let (a, b) = (&of[0], of.get(1).map_or("", |b| b.as_str()));
        let infix = |sign: &str| format!("{a} {sign} {b}");
        if op == Select {
            return Some(self.select(from, a, b, &of[2]));
        }
        if from == Ty::Bool && op != Cast {
            return self.mask_op(op, a, b);
        }
        let float = from.is_float();
        let wide = self.unit.helpers.target.vector_bytes() == 64;
        let own = Shape::of(from, lanes);
        Some(match op {
            Select => return None,
            Add => infix("+"),
            Sub => infix("-"),
            Mul => infix("*"),
            Div if float => infix("/"),
            Neg => format!("-{a}"),
            And => infix("&"),
            Or => infix("|"),
            Xor => infix("^"),
            Not => format!("~{a}"),
            Eq | Ne | Lt | Le | Gt | Ge => self.compare(op, from, a, b),
            Min | Max => {
                let name = self.extremum(op, own);
                format!("{name}({a}, {b})")
            }
            Shl | Shr | Abs | Signum | Copysign | SignBit | Round => {
                return self.bits_op(op, own, of);
            }
            Cast if from == Ty::Bool && to.ty == Ty::Bool => a.clone(),
            Cast if from == Ty::Bool => {
                let (v, all) = (self.vector(to), self.all(to));
                let one = match to.ty {
                    Ty::F32 => "1.0f",
                    Ty::F64 => "1.0",
                    _ => "1",
                };
                self.select(to.ty, a, &format!("{all}({one})"), &format!("({v}){{0}}"))
            }
            Cast if to.ty == Ty::Bool => {
                let v = self.vector(own);
                self.compare(Ne, from, a, &format!("({v}){{0}}"))
            }
            Cast if from == to.ty => a.clone(),
            // Where no instruction makes wider integers of floats, scalars do better.
            Cast if float && to.ty.is_int() && from.size() < to.ty.size() && !wide => return None,
            Cast if float && to.ty.is_int() => {
                let name = self.saturating(from, to);
                format!("{name}({a})")
            }
            Cast => match self.wider(from, to) {
                Some(name) => format!("{name}({a})"),
                None => {
                    let v = self.vector(to);
                    format!("__builtin_convertvector({a}, {v})")
                }
            },
            Bitcast => format!("({}){a}", self.vector(to)),
            Copy => a.clone(),
            MulAdd | Sqrt | Floor | Ceil | RoundEven | Trunc => {
                return self.instruction(op, own, of);
            }
            Exp | Exp2 | ExpM1 | Ln | Ln1p | Log2 | Log10 | Sin | Cos | Tan | Asin | Acos
            | Atan | Sinh | Cosh | Tanh | Asinh | Acosh | Atanh | Cbrt | Powf | Atan2 | Hypot => {
                return self.function_op(op, own, of);
            }
            // One lane after the other.
            Div | Rem | DivEuclid | RemEuclid | DivOk | CountOnes | LeadingZeros
            | TrailingZeros | Powi => return None,
        })
    }

    /// A lane of an operand, in a loop over `k`.
    pub(super) fn lane(&mut self, a: Operand) -> String {
        self.lane_at(a, "k")
    }

    /// A lane of an operand, by its number in the part that is written.
    pub(super) fn lane_at(&mut self, a: Operand, k: &str) -> String {
        let (shape, text) = (self.operand_shape(a), self.operand(a));
        match (shape.is_scalar(), shape.ty) {
            (true, _) => text,
            (false, Ty::Bool) if self.masks.registers => format!("(bool)({text} >> {k} & 1)"),
            (false, Ty::Bool) => format!("(bool)({text}[{k}] & 1)"),
            (false, _) => format!("{text}[{k}]"),
        }
    }

    /// Defines a value by an expression for each lane `k`.
    pub(super) fn each(&mut self, to: Value, text: &str) {
        let shape = self.shape(to);
        let (name, lanes) = (self.name(to), shape.lanes);
        if shape.ty == Ty::Bool && self.masks.registers {
            let mask = self.mask();
            self.unit.line(format!("u64 lf_{name} = 0;"));
            self.unit.line(format!(
                "for (u64 k = 0; k < {lanes}; k++) lf_{name} |= (u64)({text}) << k;"
            ));
            self.define(to, &format!("({mask})lf_{name}"));
            return;
        }
        let v = self.vector(shape);
        let (cell, sign) = match shape.ty {
            Ty::Bool => (signed(self.masks.bytes).name(), "-"),
            ty => (ty.name(), ""),
        };
        // Not in the vector itself: some versions of gcc fail on vectors that are put together from others.
        self.unit.line(format!(
            "union {{ {cell} cell[{lanes}]; {v} all; }} lf_{name};"
        ));
        self.unit.line(format!(
            "for (u64 k = 0; k < {lanes}; k++) lf_{name}.cell[k] = {sign}({text});"
        ));
        self.define(to, &format!("lf_{name}.all"));
    }

    /// A function for the smaller or larger element. Floats ignore NaN; equal ones may be -0.0 and +0.0: their
    /// bits joined are right.
    fn extremum(&mut self, op: Op, shape: Shape) -> String {
        let v = self.vector(shape);
        let bits = self.vector(Shape::of(signed(shape.ty.size()), shape.lanes));
        let name = format!("{v}_{}_{}", op.name(), self.masks.bytes);
        let body = if shape.ty.is_float() {
            let (number, equal) = (
                self.compare(Op::Eq, shape.ty, "y", "y"),
                self.compare(Op::Eq, shape.ty, "x", "y"),
            );
            // One instruction, where there is one; it gives the second of two that are equal, or of which one is no number.
            let z = format!("{}(x, y)", self.beat_of_vectors(op, shape));
            let join = if op == Op::Min { "|" } else { "&" };
            let both = format!("({v})(({bits})x {join} ({bits})y)");
            let same = self.select(shape.ty, &equal, &both, "z");
            let kept = self.select(shape.ty, &number, &same, "x");
            format!("const {v} z = {z}; return {kept};")
        } else {
            let order = if op == Op::Min { Op::Lt } else { Op::Gt };
            let less = self.compare(order, shape.ty, "x", "y");
            let z = self.select(shape.ty, &less, "x", "y");
            format!("return {z};")
        };
        self.unit.helpers.require(&name, || {
            format!("static inline {v} {name}({v} x, {v} y) {{ {body} }}\n")
        });
        name
    }

    /// A function from floats to integers, the nearest where there is none; NaN is zero.
    fn saturating(&mut self, from: Ty, to: Shape) -> String {
        let own = Shape::of(from, to.lanes);
        let (x, y) = (self.vector(own), self.vector(to));
        let name = format!("{y}_from_{x}_{}", self.masks.bytes);
        let (all, each) = (self.all(own), self.all(to));
        let limits = limits(from, to.ty);
        let (low, high) = (
            format!("{all}({})", limits.low),
            format!("{all}({})", limits.high),
        );
        let over = self.compare(Op::Ge, from, "x", &high);
        let under = self.compare(Op::Lt, from, "x", &low);
        let (above, below) = (
            self.compare(Op::Ge, from, "x", &low),
            self.compare(Op::Lt, from, "x", &high),
        );
        let inside = self.mask_op(Op::And, &above, &below).unwrap_or_default();
        let some = self.select(from, &format!("({inside})"), "x", &format!("({x}){{0}}"));
        let top = self.select(to.ty, &over, &format!("{each}({})", limits.max), "y");
        // What is left out is zero, which is the least of what has no sign.
        let all = match to.ty.is_signed() {
            true => self.select(to.ty, &under, &format!("{each}({})", limits.min), &top),
            false => top,
        };
        self.unit.helpers.require(&name, || {
            format!(
                "static inline {y} {name}({x} x) {{\n  \
                 const {y} y = __builtin_convertvector({some}, {y});\n  return {all};\n}}\n"
            )
        });
        name
    }

    /// A function to wider integers, where there is one instruction for it: gcc makes five of a conversion.
    fn wider(&mut self, from: Ty, to: Shape) -> Option<String> {
        let bytes = to.lanes as usize * to.ty.size();
        let whole = bytes == 32 && self.unit.helpers.target.vector_bytes() == 32;
        if !whole || from.is_float() || to.ty.is_float() || from.size() >= to.ty.size() {
            return None;
        }
        let (x, y) = (self.vector(Shape::of(from, to.lanes)), self.vector(to));
        let letter = |size| match size {
            1 => 'b',
            2 => 'w',
            4 => 'd',
            _ => 'q',
        };
        let kind = if from.is_signed() { "sx" } else { "zx" };
        let builtin = format!(
            "__builtin_ia32_pmov{kind}{}{}256",
            letter(from.size()),
            letter(to.ty.size())
        );
        let name = format!("{y}_of_{x}");
        // The instruction reads the first lanes of a vector.
        let element = match from.size() {
            1 => "char",
            2 => "short",
            _ => "int",
        };
        let narrow = to.lanes as usize * from.size();
        let first = match narrow {
            16 => format!("return ({y}){builtin}((lf_x)x);"),
            _ => {
                let word = unsigned(narrow).name();
                format!(
                    "typedef u64 lf_l __attribute__((vector_size(16)));\n  \
                     const lf_l l = {{ ((union {{ {x} x; {word} word; }}){{ x }}).word }};\n  \
                     return ({y}){builtin}((lf_x)l);"
                )
            }
        };
        self.unit.helpers.require(&name, || {
            format!(
                "static inline {y} {name}({x} x) {{\n#ifdef __clang__\n  \
                 return __builtin_convertvector(x, {y});\n#else\n  \
                 typedef {element} lf_x __attribute__((vector_size(16)));\n  {first}\n#endif\n}}\n"
            )
        });
        Some(name)
    }

    /// What wins by one comparison, else what was there.
    pub(super) fn beat(&mut self, to: Value, op: Op, new: Operand, old: Operand) {
        let shape = self.shape(to);
        let (new, old) = (
            self.in_lanes(new, shape.lanes),
            self.in_lanes(old, shape.lanes),
        );
        let sign = if op == Op::Min { "<" } else { ">" };
        if shape.is_scalar() {
            return self.define(to, &format!("{new} {sign} {old} ? {new} : {old}"));
        }
        let function = self.beat_of_vectors(op, shape);
        self.define(to, &format!("{function}({new}, {old})"));
    }

    /// A function that says which lanes of its first vector beat those of its second, which stay elsewhere.
    fn beat_of_vectors(&mut self, op: Op, shape: Shape) -> String {
        let v = self.vector(shape);
        let name = if op == Op::Min { "min" } else { "max" };
        let function = format!("{v}_beat_{name}_{}", self.masks.bytes);
        let wins = if op == Op::Min { Op::Lt } else { Op::Gt };
        let wins = self.compare(wins, shape.ty, "x", "y");
        let plain = self.select(shape.ty, &wins, "x", "y");
        let builtin = self.beat_builtin(name, shape);
        self.unit.helpers.require(&function, || {
            let body = match builtin {
                Some(builtin) => {
                    format!("\n#ifndef __clang__\n  return {builtin};\n#else\n  return {plain};\n#endif\n")
                }
                None => format!(" return {plain}; "),
            };
            format!("static inline {v} {function}({v} x, {v} y) {{{body}}}\n")
        });
        function
    }

    /// gcc's builtin for that, of `x` and `y`.
    fn beat_builtin(&self, name: &str, shape: Shape) -> Option<String> {
        let target = &self.unit.helpers.target;
        let kind = match shape.ty {
            Ty::F32 => "ps",
            Ty::F64 => "pd",
            _ => return None,
        };
        match shape.lanes as usize * shape.ty.size() {
            _ if target.arch() != Arch::X86_64 => None,
            16 => Some(format!("__builtin_ia32_{name}{kind}(x, y)")),
            32 => Some(format!("__builtin_ia32_{name}{kind}256(x, y)")),
            64 => Some(format!(
                "__builtin_ia32_{name}{kind}512_mask(x, y, y, -1, 4)"
            )),
            _ => None,
        }
    }

    /// The first half joined with the second, until one lane is left: vectors first, then the lanes of one.
    pub(super) fn halves(&mut self, to: Value, (op, beats): (Op, bool), of: Operand) {
        let (shape, lanes) = (self.operand_shape(of), self.tile.operand_shape(of).lanes);
        if lanes == 1 {
            let one = self.operand(of);
            return self.define(to, &one);
        }
        let two = ["x".to_string(), "y".to_string()];
        // Masks have as many lanes as the tile's vectors.
        let joined = match shape.lanes == self.masks.lanes {
            true => self.two_halves((op, beats), shape, &two),
            false => None,
        };
        let Some(joined) = joined else {
            return self.halves_of_lanes(to, (op, beats), of);
        };
        let (v, name) = (self.vector(shape), self.name(to));
        let mut all = Vec::new();
        for part in 0..self.parts(lanes) {
            self.part = part;
            all.push(self.operand(of));
        }
        self.part = 0;
        while all.len() > 1 {
            let half = all.len() / 2;
            for k in 0..half {
                let two = [all[k].clone(), all[half + k].clone()];
                let text = self.two_halves((op, beats), shape, &two);
                let text = text.unwrap_or_default();
                all[k] = format!("{name}_{half}_{k}");
                self.unit.line(format!("const {v} {} = {text};", all[k]));
            }
            all.truncate(half);
        }
        let within = self.halves_of_vector((op, beats), shape, &joined);
        self.define(to, &format!("{within}({})", all[0]));
    }

    /// Two vectors joined, if compilers have that for vectors.
    fn two_halves(
        &mut self,
        (op, beats): (Op, bool),
        shape: Shape,
        two: &[String; 2],
    ) -> Option<String> {
        if !beats {
            return self.vectors_join(op, shape, two);
        }
        let function = self.beat_of_vectors(op, shape);
        Some(format!("{function}({}, {})", two[1], two[0]))
    }

    /// A function that joins the lanes of one vector by halves: in narrower vectors from half to half, where these are joined by
    /// the same operator, and no narrower than registers are.
    fn halves_of_vector(&mut self, (op, beats): (Op, bool), shape: Shape, joined: &str) -> String {
        let v = self.vector(shape);
        let how = if beats { "_beat" } else { "" };
        let name = format!("{v}_halves{how}_{}", op.name());
        let (ty, size) = (shape.ty.name(), shape.ty.size());
        let plain = matches!(op, Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor) && !beats;
        let (mut body, mut now) = (String::new(), shape);
        while plain && now.lanes as usize * size > NARROWEST {
            let wide = self.vector(now);
            let from = now.lanes;
            now.lanes /= 2;
            let half = self.vector(now);
            let two = [0, 1].map(|k| format!("h{from}.half[{k}]"));
            let text = self.two_halves((op, beats), now, &two).unwrap_or_default();
            body += &format!(
                "  const union {{ {wide} whole; {half} half[2]; }} h{from} = {{ x{from} }};\n  \
                 {half} x{} = {text};\n",
                now.lanes
            );
        }
        let (narrow, from) = (self.vector(now), now.lanes);
        body += &format!("  {narrow} x = x{from}, y;\n");
        let mut half = from / 2;
        while half > 0 {
            let behind = self.lanes_of_two(now, "x", "x", |k| (k + half) % from);
            body += &format!("  y = {behind};\n  x = {joined};\n");
            half /= 2;
        }
        let lanes = shape.lanes;
        self.unit.helpers.require(&name, || {
            format!("static inline {ty} {name}({v} x{lanes}) {{\n{body}  return x[0];\n}}\n")
        });
        name
    }

    fn halves_of_lanes(&mut self, to: Value, (op, beats): (Op, bool), of: Operand) {
        let (ty, lanes) = (self.shape(to).ty, self.tile.operand_shape(of).lanes);
        let (name, each) = (self.name(to), self.operand_shape(of).lanes);
        self.unit.line(format!("{} {name}_l[{lanes}];", ty.name()));
        for part in 0..self.parts(lanes) {
            self.part = part;
            let (lane, before) = (self.lane(of), self.before());
            self.unit.line(format!(
                "for (u64 k = 0; k < {each}; k++) {name}_l[k{before}] = {lane};"
            ));
        }
        self.part = 0;
        let mut half = lanes / 2;
        while half > 0 {
            let [front, behind] = [format!("{name}_l[k]"), format!("{name}_l[k + {half}]")];
            let text = match (beats, op) {
                (false, _) => self.unit.helpers.op(op, ty, ty, &[front, behind]),
                (true, Op::Min) => format!("{behind} < {front} ? {behind} : {front}"),
                (true, _) => format!("{behind} > {front} ? {behind} : {front}"),
            };
            self.unit.line(format!(
                "for (u64 k = 0; k < {half}; k++) {name}_l[k] = {text};"
            ));
            half /= 2;
        }
        self.define(to, &format!("{name}_l[0]"));
    }
}
