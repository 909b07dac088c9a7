//! C for the scalar operators: short expressions inline, everything else as a small static function
//! that is written once per file, and only where the file needs it.

use super::ideas::Ideas;
use livefusion_backend::{math, sort};
use livefusion_tile::target::{Extension, Target};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashSet;
use std::ffi::c_void;
use std::fmt::Write;

/// The exported function that takes the [table](table) of the host's functions after loading.
pub const LINK_SYMBOL: &str = "lf_link";

/// The addresses of the functions of the host that generated code calls: [`math::entries`], then the one that sorts.
pub fn table() -> Vec<*const c_void> {
    let entries = math::entries().iter().map(|e| e.address() as *const c_void);
    entries
        .chain([sort::sort as sort::Sort as *const c_void])
        .collect()
}

/// The helper functions that a file needs, in the order in which C must see them.
pub struct Helpers {
    /// The machine that the file is for.
    pub target: Target,
    /// What the file's kernels make use of.
    pub(super) ideas: Ideas,
    seen: FxHashSet<String>,
    text: String,
    linked: Vec<(String, usize)>,
    missing: Vec<String>,
}

impl Helpers {
    /// None yet, of a file for a machine.
    pub fn new(target: &Target) -> Helpers {
        Helpers {
            target: target.clone(),
            ideas: Ideas::default(),
            seen: FxHashSet::default(),
            text: String::new(),
            linked: Vec::new(),
            missing: Vec::new(),
        }
    }

    /// The helpers' definitions, and the function that receives the addresses of linked ones (see
    /// [`LINK_SYMBOL`]).
    pub fn finish(self) -> Result<String, String> {
        if !self.missing.is_empty() {
            return Err(format!("no implementation of {}", self.missing.join(", ")));
        }
        let mut out = self.text;
        let _ = writeln!(out, "\nvoid {LINK_SYMBOL}(void *const *table) {{");
        for (name, index) in &self.linked {
            let _ = writeln!(out, "  {name} = ({name}_type)table[{index}];");
        }
        out.push_str("}\n");
        Ok(out)
    }

    /// Whether a helper is there.
    pub(super) fn is_there(&self, name: &str) -> bool {
        self.seen.contains(name)
    }

    /// Adds a helper's text once.
    pub fn require(&mut self, name: &str, text: impl FnOnce() -> String) {
        if self.seen.insert(name.to_string()) {
            self.text.push_str(&text());
        }
    }

    /// A function that the host links in after loading.
    pub(super) fn linked(&mut self, op: Op, ty: Ty) -> String {
        let name = format!("lf_{}_{}", op.name(), ty.name());
        if self.seen.insert(format!("{name}_type")) {
            let Some(index) = math::index_of(op, ty) else {
                self.missing.push(format!("{} on {ty}", op.name()));
                return name;
            };
            let (result, params) = math::entries()[index].c_signature();
            let params = params.join(", ");
            let _ = writeln!(
                self.text,
                "typedef {result} (*{name}_type)({params});\nstatic {name}_type {name};"
            );
            self.linked.push((name.clone(), index));
        }
        name
    }

    /// A function of the host's other than those of operators, by its place in the table.
    pub(super) fn linked_at(&mut self, name: &str, params: &str, index: usize) {
        if self.seen.insert(format!("{name}_type")) {
            let _ = writeln!(
                self.text,
                "typedef void (*{name}_type)({params});\nstatic {name}_type {name};"
            );
            self.linked.push((name.to_string(), index));
        }
    }

    /// A helper of one operator and type: `lf_op_ty(params) { return body; }`.
    fn function(&mut self, name: &str, result: &str, params: &str, body: &str) {
        self.require(name, || {
            format!("static inline {result} {name}({params}) {{ {body} }}\n")
        });
    }

    /// Conversion of a bit pattern: `lf_f64_of(u64)` and the like.
    fn bitcast(&mut self, from: &str, to: &str) -> String {
        let name = format!("lf_{to}_of_{from}");
        let body = format!("union {{ {from} from; {to} to; }} u = {{ x }}; return u.to;");
        self.function(&name, to, &format!("{from} x"), &body);
        name
    }

    /// A constant as a C expression.
    pub fn constant(&mut self, c: Const) -> String {
        match c.ty {
            Ty::Bool => (c.bits & 1).to_string(),
            Ty::U64 => format!("{}ul", c.bits),
            Ty::U32 => format!("{}u", c.bits),
            Ty::U8 | Ty::U16 => c.bits.to_string(),
            Ty::I64 if c.bits as i64 == i64::MIN => "(-9223372036854775807l - 1)".into(),
            Ty::I64 => signed(c.bits as i64, "l"),
            Ty::I32 if c.bits as i64 == i64::from(i32::MIN) => "(-2147483647 - 1)".into(),
            Ty::I8 | Ty::I16 | Ty::I32 => signed(c.bits as i64, ""),
            Ty::F64 => {
                let x = f64::from_bits(c.bits);
                if x.is_nan() {
                    format!("{}(0x{:x}ul)", self.bitcast("u64", "f64"), c.bits)
                } else if x.is_infinite() {
                    negated(x < 0.0, "__builtin_inf()".into())
                } else {
                    negated(x.is_sign_negative(), format!("{:?}", x.abs()))
                }
            }
            Ty::F32 => {
                let x = f32::from_bits(c.bits as u32);
                if x.is_nan() {
                    format!("{}(0x{:x}u)", self.bitcast("u32", "f32"), c.bits)
                } else if x.is_infinite() {
                    negated(x < 0.0, "__builtin_inff()".into())
                } else {
                    negated(x.is_sign_negative(), format!("{:?}f", x.abs()))
                }
            }
        }
    }

    /// The value of a canonical word as type `ty`.
    pub fn value_of(&mut self, ty: Ty, word: &str) -> String {
        match ty {
            Ty::U64 => word.to_string(),
            Ty::F64 => format!("{}({word})", self.bitcast("u64", "f64")),
            Ty::F32 => format!("{}((u32){word})", self.bitcast("u32", "f32")),
            Ty::Bool => format!("(bool)({word} & 1)"),
            _ => format!("({}){word}", ty.name()),
        }
    }

    /// The canonical word of a value of type `ty`.
    pub fn word_of(&mut self, ty: Ty, value: &str) -> String {
        match ty {
            Ty::U64 => value.to_string(),
            Ty::F64 => format!("{}({value})", self.bitcast("f64", "u64")),
            Ty::F32 => format!("{}({value})", self.bitcast("f32", "u32")),
            t if t.is_signed() => format!("(u64)(i64){value}"),
            _ => format!("(u64){value}"),
        }
    }

    /// `op` on operands that are identifiers, literals or parenthesised. `from` is the type of the
    /// first operand (of the arms, for `select`), `to` the result's.
    pub fn op(&mut self, op: Op, from: Ty, to: Ty, args: &[String]) -> String {
        use Op::*;
        let (t, f, float, signed) = (from.name(), suffix(from), from.is_float(), from.is_signed());
        let (a, b) = (&args[0], args.get(1).map_or("", String::as_str));
        let (one, bits, mask) = (unsigned(from).name(), from.bits(), from.bits() - 1);
        match op {
            Add => infix(from, a, "+", b),
            Sub => infix(from, a, "-", b),
            // u16 * u16 would be computed as int and overflow it.
            Mul if from == Ty::U16 => format!("(u16)((u32){a} * {b})"),
            Mul => infix(from, a, "*", b),
            Div if float => infix(from, a, "/", b),
            Rem | DivEuclid | RemEuclid if float => call(&self.linked(op, from), args),
            Div | DivEuclid if !signed => self.own(op, from, args, "return y == 0 ? 0 : x / y;"),
            Rem | RemEuclid if !signed => self.own(op, from, args, "return y == 0 ? 0 : x % y;"),
            Div => {
                let body =
                    format!("return y == 0 ? 0 : y == -1 ? ({t})(0 - ({one})x) : ({t})(x / y);");
                self.own(op, from, args, &body)
            }
            Rem => self.own(op, from, args, "return y == 0 || y == -1 ? 0 : x % y;"),
            DivEuclid => {
                let body = format!(
                    "if (y == 0) return 0; if (y == -1) return ({t})(0 - ({one})x); \
                     {t} q = x / y; return x % y < 0 ? (y > 0 ? q - 1 : q + 1) : q;"
                );
                self.own(op, from, args, &body)
            }
            RemEuclid => {
                let body = format!(
                    "if (y == 0 || y == -1) return 0; {t} r = x % y; \
                     return r < 0 ? ({t})(r + (y < 0 ? ({one})(0 - ({one})y) : ({one})y)) : r;"
                );
                self.own(op, from, args, &body)
            }
            DivOk if signed => {
                let min = format!("({t})(({one})1 << {mask})");
                let body = format!("return (y != 0) & !((y == -1) & (x == {min}));");
                self.own(op, from, args, &body)
            }
            DivOk => self.own(op, from, args, "return y != 0;"),
            Min | Max if float => self.float_extremum(op, from, args),
            Min => self.own(op, from, args, "return x < y ? x : y;"),
            Max => self.own(op, from, args, "return x > y ? x : y;"),
            And => infix(from, a, "&", b),
            Or => infix(from, a, "|", b),
            Xor => infix(from, a, "^", b),
            Not if from == Ty::Bool => format!("(bool)({a} ^ 1)"),
            Not => format!("({t})~{a}"),
            Shl => {
                // At the operand's own width, so that as many elements fit a vector.
                let wide = if bits == 64 { "u64" } else { "u32" };
                let body = format!("return ({t})(({wide})x << (y & {mask}));");
                self.own(op, from, args, &body)
            }
            Shr => self.own(op, from, args, &format!("return ({t})(x >> (y & {mask}));")),
            Eq => format!("{a} == {b}"),
            Ne => format!("{a} != {b}"),
            Lt => format!("{a} < {b}"),
            Le => format!("{a} <= {b}"),
            Gt => format!("{a} > {b}"),
            Ge => format!("{a} >= {b}"),
            Select => format!("{a} ? {b} : {}", args[2]),
            Copy => a.clone(),
            Cast => self.cast(from, to, a),
            Bitcast => call(&self.bitcast(t, to.name()), args),
            Neg if float => format!("-{a}"),
            Neg => format!("({t})-{a}"),
            Abs if float => format!("__builtin_fabs{f}({a})"),
            Abs if signed => {
                let body = format!("return x < 0 ? ({t})(0 - ({one})x) : x;");
                self.own(op, from, args, &body)
            }
            Abs => self.own(op, from, args, "return x;"),
            Signum if float => {
                let body = format!("return x != x ? x : __builtin_copysign{f}(1, x);");
                self.own(op, from, args, &body)
            }
            Signum => self.own(op, from, args, "return (x > 0) - (x < 0);"),
            CountOnes => {
                let body = format!("return ({t})__builtin_popcountl(({one})x);");
                self.own(op, from, args, &body)
            }
            LeadingZeros => {
                let above = 64 - bits;
                let body =
                    format!("return ({t})(x ? __builtin_clzl(({one})x) - {above} : {bits});");
                self.own(op, from, args, &body)
            }
            TrailingZeros => {
                let body = format!("return ({t})(x ? __builtin_ctzl(({one})x) : {bits});");
                self.own(op, from, args, &body)
            }
            Floor | Ceil | Trunc => {
                let builtin = format!("__builtin_{}{f}", op.name());
                self.native(op, from, Extension::Sse41, &builtin, args)
            }
            RoundEven => {
                let builtin = format!("__builtin_rint{f}");
                self.native(op, from, Extension::Sse41, &builtin, args)
            }
            Round => {
                let trunc = self.op(Trunc, from, from, &["x".into()]);
                // x - t is exact; no fraction of a half or more is lost to rounding.
                let body = format!(
                    "{t} t = {trunc}; {t} away = __builtin_fabs{f}(x - t) >= 0.5{f} ? 1 : 0; \
                     return __builtin_copysign{f}(__builtin_fabs{f}(t) + away, x);"
                );
                self.own(op, from, args, &body)
            }
            Sqrt => format!("__builtin_sqrt{f}({a})"),
            Copysign => format!("__builtin_copysign{f}({a}, {b})"),
            MulAdd => {
                let builtin = format!("__builtin_fma{f}");
                self.native(op, from, Extension::Fma, &builtin, args)
            }
            SignBit => format!("(bool)({}({a}) >> {mask})", self.bitcast(t, word(from))),
            Cbrt | Exp | Exp2 | ExpM1 | Ln | Ln1p | Log2 | Log10 | Sin | Cos | Tan | Asin
            | Acos | Atan | Sinh | Cosh | Tanh | Asinh | Acosh | Atanh | Powf | Powi | Atan2
            | Hypot => call(&self.transcendental(op, from), args),
        }
    }

    /// A call of the operator's own function at a type, whose parameters are `x` and `y`.
    fn own(&mut self, op: Op, ty: Ty, args: &[String], body: &str) -> String {
        let (t, name) = (ty.name(), format!("lf_{}_{}", op.name(), ty.name()));
        let result = if op == Op::DivOk { "bool" } else { t };
        let params = if op.arity() == 1 { "x" } else { "x, y" };
        self.function(&name, result, &typed(t, params), body);
        call(&name, args)
    }

    /// Smaller or larger float. Equal operands may be -0.0 and +0.0: their bits joined are right.
    fn float_extremum(&mut self, op: Op, ty: Ty, args: &[String]) -> String {
        let (t, word) = (ty.name(), word(ty));
        let (bits, back) = (self.bitcast(t, word), self.bitcast(word, t));
        let (less, join) = if op == Op::Min {
            ("<", "|")
        } else {
            (">", "&")
        };
        // The comparison takes y where one is no number; instructions for it are the same way.
        let body = format!(
            "{t} equal = {back}({bits}(x) {join} {bits}(y)); {t} number = x {less} y ? x : y; \
             number = y == y ? number : x; return x == y ? equal : number;"
        );
        self.own(op, ty, args, &body)
    }

    /// Whether the target has one instruction for what an extension of x86 brings, or a part of all 64-bit Arm.
    pub(super) fn has(&self, extension: Extension) -> bool {
        self.target.has(extension) || self.target.has(Extension::Neon)
    }

    /// An operator that is one instruction where the target has an extension, else a linked function.
    fn native(
        &mut self,
        op: Op,
        ty: Ty,
        extension: Extension,
        builtin: &str,
        args: &[String],
    ) -> String {
        if !self.has(extension) {
            return self.runtime_call(op, ty, args);
        }
        let (t, name) = (ty.name(), format!("lf_native_{}_{}", op.name(), ty.name()));
        let names = ["x", "y", "z"][..op.arity()].join(", ");
        let body = format!("return {builtin}({names});");
        self.function(&name, t, &typed(t, &names), &body);
        call(&name, args)
    }

    fn cast(&mut self, from: Ty, to: Ty, a: &str) -> String {
        if from == to {
            return a.to_string();
        }
        if to == Ty::Bool {
            return format!("{a} != 0");
        }
        if !(from.is_float() && to.is_int()) {
            return format!("({}){a}", to.name());
        }
        let (f, t) = (from.name(), to.name());
        let name = format!("lf_{t}_from_{f}");
        let Limits {
            low,
            high,
            min,
            max,
        } = limits(from, to);
        let body =
            format!("return x >= {high} ? {max} : x >= {low} ? ({t})x : x == x ? {min} : 0;");
        self.function(&name, t, &format!("{f} x"), &body);
        format!("{name}({a})")
    }
}

/// A sign between operands; integers narrower than `int` are cut to their type.
fn infix(ty: Ty, a: &str, sign: &str, b: &str) -> String {
    match ty.is_float() {
        true => format!("{a} {sign} {b}"),
        false => format!("({})({a} {sign} {b})", ty.name()),
    }
}

/// The suffix of the builtins and the literals of a float type.
fn suffix(ty: Ty) -> &'static str {
    if ty == Ty::F32 { "f" } else { "" }
}

/// The integer with the bits of a float type.
fn word(ty: Ty) -> &'static str {
    if ty == Ty::F32 { "u32" } else { "u64" }
}

/// A negative literal needs parentheses.
fn signed(x: i64, suffix: &str) -> String {
    if x < 0 {
        format!("({x}{suffix})")
    } else {
        format!("{x}{suffix}")
    }
}

fn negated(negative: bool, magnitude: String) -> String {
    if negative {
        format!("(-{magnitude})")
    } else {
        magnitude
    }
}

/// `x, y` as parameters of type `t`.
fn typed(t: &str, names: &str) -> String {
    names
        .split(", ")
        .map(|n| format!("{t} {n}"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn call(name: &str, args: &[String]) -> String {
    format!("{name}({})", args.join(", "))
}

/// The unsigned type of the same width.
fn unsigned(ty: Ty) -> Ty {
    match ty {
        Ty::I8 => Ty::U8,
        Ty::I16 => Ty::U16,
        Ty::I32 => Ty::U32,
        Ty::I64 => Ty::U64,
        other => other,
    }
}

/// What floats of a type must be at least, and less than, to be some integer of a type; that type's limits.
pub(super) struct Limits {
    pub low: String,
    pub high: String,
    pub min: String,
    pub max: String,
}

/// The limits of casts from floats to integers. Those of floats are powers of two (or zero), which every float type has
/// exactly.
pub(super) fn limits(from: Ty, to: Ty) -> Limits {
    let (bits, suffix) = (to.bits(), suffix(from));
    let (one, t) = (unsigned(to).name(), to.name());
    match to.is_signed() {
        true => {
            let power = format!("{}.0{suffix}", 1u128 << (bits - 1));
            let min = format!("({t})(({one})1 << {})", bits - 1);
            Limits {
                low: format!("-{power}"),
                high: power,
                max: format!("({t})~{min}"),
                min,
            }
        }
        false => Limits {
            low: format!("0.0{suffix}"),
            high: format!("{}.0{suffix}", 1u128 << bits),
            min: "0".into(),
            max: format!("({t})-1"),
        },
    }
}
