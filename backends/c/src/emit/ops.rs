//! C for the scalar operators: short expressions inline, everything else as a small static function
//! that is written once per file, and only where the file needs it.

use super::ideas::Ideas;
use livefusion_backend::math;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashSet;
use std::fmt::Write;

/// The exported function that takes the table of [`math::entries`]' addresses after loading.
pub const LINK_SYMBOL: &str = "lf_link";

/// The helper functions that a file needs, in the order in which C must see them.
#[derive(Default)]
pub struct Helpers {
    /// What the file's kernels make use of.
    pub(super) ideas: Ideas,
    seen: FxHashSet<String>,
    text: String,
    linked: Vec<(String, usize)>,
    missing: Vec<String>,
}

impl Helpers {
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
    pub(super) fn has(&self, name: &str) -> bool {
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

    /// A helper of one operator and type: `lf_op_ty(params) { return body; }`.
    fn function(&mut self, name: &str, result: &str, params: &str, body: &str) {
        self.require(name, || {
            format!("static inline {result} {name}({params}) {{ {body} }}\n")
        });
    }

    /// The type of vectors of 32 bytes.
    pub fn vector(&mut self, ty: Ty) -> String {
        let (t, name) = (ty.name(), format!("lf_{}x{}", ty.name(), 32 / ty.size()));
        self.require("LF_SHUFFLE", || {
            "#ifdef __clang__\n\
             #define LF_SHUFFLE(mask, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)\n\
             #else\n\
             #define LF_SHUFFLE(mask, a, b, ...) __builtin_shuffle(a, b, (mask){ __VA_ARGS__ })\n\
             #endif\n"
                .to_string()
        });
        self.require(&name, || {
            format!("typedef {t} {name} __attribute__((vector_size(32)));\n")
        });
        name
    }

    /// An operator on vectors: sums and products of all types, for integers bits and extrema, too.
    pub fn vector_op(&mut self, op: Op, ty: Ty, a: &str, b: &str) -> String {
        let sign = match op {
            Op::Add => "+",
            Op::Mul => "*",
            Op::And => "&",
            Op::Or => "|",
            Op::Xor => "^",
            _ => {
                let vector = self.vector(ty);
                let name = format!("{vector}_{}", op.name());
                let less = if op == Op::Min { "<" } else { ">" };
                let text = format!(
                    "static inline {vector} {name}({vector} x, {vector} y) {{ \
                     {vector} m = ({vector})(x {less} y); return (x & m) | (y & ~m); }}\n"
                );
                self.require(&name, || text);
                return format!("{name}({a}, {b})");
            }
        };
        format!("{a} {sign} {b}")
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
        if op.is_transcendental() {
            return call(&self.transcendental(op, from), args);
        }
        if from.is_float() {
            if let Some(expr) = self.float_op(op, from, args) {
                return expr;
            }
        } else if let Some(expr) = self.int_op(op, from, args) {
            return expr;
        }
        let a = &args[0];
        match op {
            Op::Eq => format!("{a} == {}", args[1]),
            Op::Ne => format!("{a} != {}", args[1]),
            Op::Lt => format!("{a} < {}", args[1]),
            Op::Le => format!("{a} <= {}", args[1]),
            Op::Gt => format!("{a} > {}", args[1]),
            Op::Ge => format!("{a} >= {}", args[1]),
            Op::Select => format!("{a} ? {} : {}", args[1], args[2]),
            Op::Cast => self.cast(from, to, a),
            Op::Bitcast => {
                let name = self.bitcast(from.name(), to.name());
                call(&name, args)
            }
            _ => a.clone(),
        }
    }

    /// Operators of integers and `bool` that differ from those of floats.
    fn int_op(&mut self, op: Op, ty: Ty, args: &[String]) -> Option<String> {
        let t = ty.name();
        let a = &args[0];
        let infix = |sign: &str| Some(format!("({t})({a} {sign} {})", args[1]));
        match op {
            Op::Add => return infix("+"),
            Op::Sub => return infix("-"),
            // u16 * u16 would be computed as int and overflow it.
            Op::Mul if ty == Ty::U16 => return Some(format!("(u16)((u32){a} * {})", args[1])),
            Op::Mul => return infix("*"),
            Op::And => return infix("&"),
            Op::Or => return infix("|"),
            Op::Xor => return infix("^"),
            Op::Neg => return Some(format!("({t})-{a}")),
            Op::Not if ty == Ty::Bool => return Some(format!("(bool)({a} ^ 1)")),
            Op::Not => return Some(format!("({t})~{a}")),
            _ => {}
        }
        let name = format!("lf_{}_{t}", op.name());
        let unsigned = unsigned(ty).name();
        let (bits, mask) = (ty.bits(), ty.bits() - 1);
        let min = format!("({t})(({unsigned})1 << {mask})");
        let signed = ty.is_signed();
        let (params, body) = match op {
            Op::Min => ("x, y", "return x < y ? x : y;".to_string()),
            Op::Max => ("x, y", "return x > y ? x : y;".to_string()),
            Op::Div if signed => (
                "x, y",
                format!("return y == 0 ? 0 : y == -1 ? ({t})(0 - ({unsigned})x) : ({t})(x / y);"),
            ),
            Op::Div | Op::DivEuclid if !signed => ("x, y", "return y == 0 ? 0 : x / y;".into()),
            Op::Rem if signed => ("x, y", "return y == 0 || y == -1 ? 0 : x % y;".into()),
            Op::Rem | Op::RemEuclid if !signed => ("x, y", "return y == 0 ? 0 : x % y;".into()),
            Op::DivEuclid => (
                "x, y",
                format!(
                    "if (y == 0) return 0; if (y == -1) return ({t})(0 - ({unsigned})x); \
                     {t} q = x / y; return x % y < 0 ? (y > 0 ? q - 1 : q + 1) : q;"
                ),
            ),
            Op::RemEuclid => (
                "x, y",
                format!(
                    "if (y == 0 || y == -1) return 0; {t} r = x % y; \
                     return r < 0 ? ({t})(r + (y < 0 ? ({unsigned})(0 - ({unsigned})y) : ({unsigned})y)) : r;"
                ),
            ),
            Op::DivOk if signed => (
                "x, y",
                format!("return (y != 0) & !((y == -1) & (x == {min}));"),
            ),
            Op::DivOk => ("x, y", "return y != 0;".into()),
            Op::Shl => {
                // At the operand's own width, so that as many elements fit a vector.
                let wide = if bits == 64 { "u64" } else { "u32" };
                ("x, y", format!("return ({t})(({wide})x << (y & {mask}));"))
            }
            Op::Shr => ("x, y", format!("return ({t})(x >> (y & {mask}));")),
            Op::Abs if signed => ("x", format!("return x < 0 ? ({t})(0 - ({unsigned})x) : x;")),
            Op::Abs => ("x", "return x;".into()),
            Op::Signum => ("x", "return (x > 0) - (x < 0);".into()),
            Op::CountOnes => (
                "x",
                format!("return ({t})__builtin_popcountl(({unsigned})x);"),
            ),
            Op::LeadingZeros => (
                "x",
                format!(
                    "return ({t})(x ? __builtin_clzl(({unsigned})x) - {} : {bits});",
                    64 - bits
                ),
            ),
            Op::TrailingZeros => (
                "x",
                format!("return ({t})(x ? __builtin_ctzl(({unsigned})x) : {bits});"),
            ),
            _ => return None,
        };
        let result = if op == Op::DivOk { "bool" } else { t };
        self.function(&name, result, &typed(t, params), &body);
        Some(call(&name, args))
    }

    /// Operators of floats that differ from those of integers.
    fn float_op(&mut self, op: Op, ty: Ty, args: &[String]) -> Option<String> {
        let t = ty.name();
        let a = &args[0];
        // Suffix of the builtins and of literals, and the integer of the same size.
        let (f, word, top) = if ty == Ty::F32 {
            ("f", "u32", 31)
        } else {
            ("", "u64", 63)
        };
        match op {
            Op::Add => Some(format!("{a} + {}", args[1])),
            Op::Sub => Some(format!("{a} - {}", args[1])),
            Op::Mul => Some(format!("{a} * {}", args[1])),
            Op::Div => Some(format!("{a} / {}", args[1])),
            Op::Neg => Some(format!("-{a}")),
            Op::Abs => Some(format!("__builtin_fabs{f}({a})")),
            Op::Sqrt => Some(format!("__builtin_sqrt{f}({a})")),
            Op::Copysign => Some(format!("__builtin_copysign{f}({a}, {})", args[1])),
            Op::SignBit => {
                let bits = self.bitcast(t, word);
                Some(format!("(bool)({bits}({a}) >> {top})"))
            }
            Op::Signum => {
                let name = format!("lf_signum_{t}");
                let body = format!("return x != x ? x : __builtin_copysign{f}(1, x);");
                self.function(&name, t, &format!("{t} x"), &body);
                Some(call(&name, args))
            }
            Op::Min | Op::Max => Some(self.float_extremum(op, ty, word, args)),
            Op::Rem | Op::DivEuclid | Op::RemEuclid => Some(call(&self.linked(op, ty), args)),
            Op::Floor | Op::Ceil | Op::Trunc => {
                let builtin = format!("__builtin_{}{f}", op.name());
                Some(self.native(op, ty, "__SSE4_1__", "x", &format!("{builtin}(x)"), args))
            }
            Op::RoundEven => {
                let builtin = format!("__builtin_rint{f}(x)");
                Some(self.native(op, ty, "__SSE4_1__", "x", &builtin, args))
            }
            Op::Round => {
                let trunc = self.op(Op::Trunc, ty, ty, &["x".into()]);
                let name = format!("lf_round_{t}");
                // x - t is exact; no fraction of a half or more is lost to rounding.
                let body = format!(
                    "{t} t = {trunc}; {t} away = __builtin_fabs{f}(x - t) >= 0.5{f} ? 1 : 0; \
                     return __builtin_copysign{f}(__builtin_fabs{f}(t) + away, x);"
                );
                self.function(&name, t, &format!("{t} x"), &body);
                Some(call(&name, args))
            }
            Op::MulAdd => {
                let builtin = format!("__builtin_fma{f}(x, y, z)");
                Some(self.native(op, ty, "__FMA__", "x, y, z", &builtin, args))
            }
            _ => None,
        }
    }

    /// Smaller or larger float. Equal operands may be -0.0 and +0.0: their bits joined are right.
    fn float_extremum(&mut self, op: Op, ty: Ty, word: &str, args: &[String]) -> String {
        let t = ty.name();
        let (bits, back) = (self.bitcast(t, word), self.bitcast(word, t));
        let (less, join) = if op == Op::Min {
            ("<", "|")
        } else {
            (">", "&")
        };
        let name = format!("lf_{}_{t}", op.name());
        // The comparison takes y where one is no number; instructions for it are the same way.
        let body = format!(
            "{t} equal = {back}({bits}(x) {join} {bits}(y)); {t} number = x {less} y ? x : y; \
             number = y == y ? number : x; return x == y ? equal : number;"
        );
        self.function(&name, t, &typed(t, "x, y"), &body);
        call(&name, args)
    }

    /// An operator that is one instruction where the target has `feature`, else a linked function.
    fn native(
        &mut self,
        op: Op,
        ty: Ty,
        feature: &str,
        params: &str,
        builtin: &str,
        args: &[String],
    ) -> String {
        let host = self.linked(op, ty);
        let t = ty.name();
        let name = format!("lf_native_{}_{t}", op.name());
        let params_typed = typed(t, params);
        self.require(&name, || {
            format!(
                "static inline {t} {name}({params_typed}) {{\n\
                 #if defined({feature}) || defined(__aarch64__)\n  return {builtin};\n\
                 #else\n  return {host}({params});\n#endif\n}}\n"
            )
        });
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
        let bits = to.bits();
        let suffix = if from == Ty::F32 { "f" } else { "" };
        let one = unsigned(to).name();
        // Both limits are powers of two (or zero), which every float type has exactly.
        let (low, high, min, max) = if to.is_signed() {
            let power = format!("{}.0{suffix}", 1u128 << (bits - 1));
            let min = format!("({t})(({one})1 << {})", bits - 1);
            (
                format!("-{power}"),
                power,
                min.clone(),
                format!("({t})~{min}"),
            )
        } else {
            let power = format!("{}.0{suffix}", 1u128 << bits);
            (
                format!("0.0{suffix}"),
                power,
                "0".into(),
                format!("({t})-1"),
            )
        };
        let body =
            format!("return x >= {high} ? {max} : x >= {low} ? ({t})x : x == x ? {min} : 0;");
        self.function(&name, t, &format!("{f} x"), &body);
        format!("{name}({a})")
    }
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
