//! The scalar operators: names, arities, type rules. What they compute is in [`crate::eval`].
//!
//! Every operator is total: it has a value for every operand. Where Rust would panic, lowering
//! places a `trap unless` before the operator and the operator itself takes a safe value
//! (`div` and `rem` by zero give 0, `MIN / -1` wraps).

use crate::types::Ty;

macro_rules! ops {
    ($($(#[$doc:meta])* $variant:ident = $name:literal : $sig:ident),* $(,)?) => {
        /// A scalar operator.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op { $($(#[$doc])* $variant),* }
        impl Op {
            /// Every operator except the casts, which carry a type.
            pub const ALL: &'static [Op] = &[$(Op::$variant),*];
            /// The name in the text form.
            pub fn name(self) -> &'static str { match self { $(Op::$variant => $name),* } }
            /// The rule that its operand and result types follow.
            #[inline]
            pub fn sig(self) -> Sig { match self { $(Op::$variant => Sig::$sig),* } }
        }
    };
}

/// How an operator's operand types determine its result type. `t` ranges over the class named.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sig {
    /// `t t -> t`, integers and floats.
    Num2,
    /// `t t -> t`, integers only.
    Int2,
    /// `t t -> t`, integers and `bool`.
    Bits2,
    /// `t t -> t`, floats only.
    Float2,
    /// `f i32 -> f`, `f` a float.
    FloatInt,
    /// `t t t -> t`, floats only.
    Float3,
    /// `t t -> bool`, any scalar type.
    Cmp,
    /// `t t -> bool`, integers only.
    IntTest,
    /// `t -> t`, integers and floats.
    Num1,
    /// `t -> t`, integers and `bool`.
    Bits1,
    /// `t -> t`, integers only.
    Int1,
    /// `t -> t`, floats only.
    Float1,
    /// `f -> bool`, floats only.
    FloatTest,
    /// `bool t t -> t`, any scalar type.
    Select,
    /// `t -> t`, any scalar type (a copy).
    Any1,
    /// `s -> t`, any two scalar types; the target is written in the statement (`cast.f64 x`).
    Cast,
    /// `f32 -> u32`, `f64 -> u64` and back: the bit pattern; target written as with `cast`.
    Bitcast,
}

ops! {
    /// Sum; integers wrap.
    Add = "add": Num2,
    /// Difference; integers wrap.
    Sub = "sub": Num2,
    /// Product; integers wrap.
    Mul = "mul": Num2,
    /// Quotient; integers truncate, `x / 0 = 0`, `MIN / -1` wraps.
    Div = "div": Num2,
    /// Remainder with the sign of the dividend; `x % 0 = 0`, `MIN % -1 = 0`.
    Rem = "rem": Num2,
    /// Smaller operand; floats ignore NaN and order -0.0 below +0.0.
    Min = "min": Num2,
    /// Larger operand; floats ignore NaN and order -0.0 below +0.0.
    Max = "max": Num2,
    /// Euclidean quotient; zero and overflow as `div`.
    DivEuclid = "divEuclid": Num2,
    /// Euclidean remainder; zero and overflow as `rem`.
    RemEuclid = "remEuclid": Num2,
    /// Whether Rust would divide these integers: divisor not 0, not `MIN / -1`.
    DivOk = "divOk": IntTest,
    /// Bitwise (logical) and; both sides are evaluated.
    And = "and": Bits2,
    /// Bitwise (logical) or.
    Or = "or": Bits2,
    /// Bitwise (logical) exclusive or.
    Xor = "xor": Bits2,
    /// Left shift; the amount is masked to the width.
    Shl = "shl": Int2,
    /// Right shift (arithmetic for signed types); the amount is masked to the width.
    Shr = "shr": Int2,
    /// Equal, IEEE on floats.
    Eq = "eq": Cmp,
    /// Not equal, IEEE on floats.
    Ne = "ne": Cmp,
    /// Less, IEEE on floats; `false < true`.
    Lt = "lt": Cmp,
    /// Less or equal.
    Le = "le": Cmp,
    /// Greater.
    Gt = "gt": Cmp,
    /// Greater or equal.
    Ge = "ge": Cmp,
    /// `if c then a else b` with both already computed.
    Select = "select": Select,
    /// The operand itself.
    Copy = "copy": Any1,
    /// Conversion as Rust's `as`: integers wrap, floats to integers saturate, NaN is 0; to `bool`: not equal to 0.
    Cast = "cast": Cast,
    /// Bit pattern of a float as an unsigned integer, and back.
    Bitcast = "bitcast": Bitcast,
    /// Negation; integers wrap.
    Neg = "neg": Num1,
    /// Absolute value; `MIN` wraps.
    Abs = "abs": Num1,
    /// Rust's `signum`: floats give +-1.0 (NaN stays NaN), integers -1, 0, 1.
    Signum = "signum": Num1,
    /// Bitwise (logical) not.
    Not = "not": Bits1,
    /// Number of one bits, in the operand's type.
    CountOnes = "countOnes": Int1,
    /// Number of leading zero bits, in the operand's type.
    LeadingZeros = "leadingZeros": Int1,
    /// Number of trailing zero bits, in the operand's type.
    TrailingZeros = "trailingZeros": Int1,
    /// Largest integer at most x.
    Floor = "floor": Float1,
    /// Smallest integer at least x.
    Ceil = "ceil": Float1,
    /// Nearest integer, halves away from zero.
    Round = "round": Float1,
    /// Nearest integer, halves to even.
    RoundEven = "roundEven": Float1,
    /// Integer part.
    Trunc = "trunc": Float1,
    /// Square root.
    Sqrt = "sqrt": Float1,
    /// Cube root.
    Cbrt = "cbrt": Float1,
    /// `e^x`.
    Exp = "exp": Float1,
    /// `2^x`.
    Exp2 = "exp2": Float1,
    /// `e^x - 1`.
    ExpM1 = "expM1": Float1,
    /// Natural logarithm.
    Ln = "ln": Float1,
    /// `ln(1 + x)`.
    Ln1p = "ln1p": Float1,
    /// Base 2 logarithm.
    Log2 = "log2": Float1,
    /// Base 10 logarithm.
    Log10 = "log10": Float1,
    /// Sine.
    Sin = "sin": Float1,
    /// Cosine.
    Cos = "cos": Float1,
    /// Tangent.
    Tan = "tan": Float1,
    /// Arc sine.
    Asin = "asin": Float1,
    /// Arc cosine.
    Acos = "acos": Float1,
    /// Arc tangent.
    Atan = "atan": Float1,
    /// Hyperbolic sine.
    Sinh = "sinh": Float1,
    /// Hyperbolic cosine.
    Cosh = "cosh": Float1,
    /// Hyperbolic tangent.
    Tanh = "tanh": Float1,
    /// Inverse hyperbolic sine.
    Asinh = "asinh": Float1,
    /// Inverse hyperbolic cosine.
    Acosh = "acosh": Float1,
    /// Inverse hyperbolic tangent.
    Atanh = "atanh": Float1,
    /// `x` to the power `y`.
    Powf = "powf": Float2,
    /// `x` to an `i32` power.
    Powi = "powi": FloatInt,
    /// Four-quadrant arc tangent of `y / x`.
    Atan2 = "atan2": Float2,
    /// `sqrt(x^2 + y^2)`.
    Hypot = "hypot": Float2,
    /// Magnitude of the first, sign of the second operand.
    Copysign = "copysign": Float2,
    /// `a * b + c` with one rounding.
    MulAdd = "mulAdd": Float3,
    /// Whether the float's sign bit is set.
    SignBit = "signBit": FloatTest,
}

impl Op {
    /// The operator with the given text name.
    pub fn from_name(name: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|o| o.name() == name)
    }

    /// Number of operands.
    #[inline]
    pub fn arity(self) -> usize {
        match self.sig() {
            Sig::Num1
            | Sig::Bits1
            | Sig::Int1
            | Sig::Float1
            | Sig::FloatTest
            | Sig::Any1
            | Sig::Cast
            | Sig::Bitcast => 1,
            Sig::Float3 | Sig::Select => 3,
            _ => 2,
        }
    }

    /// Result type for operands of these types, or `None` if they do not fit.
    /// For `cast` and `bitcast` the target cannot be inferred: give it as `target`.
    #[inline]
    pub fn result(self, args: &[Ty], target: Option<Ty>) -> Option<Ty> {
        if args.len() != self.arity() {
            return None;
        }
        let same = args.iter().all(|t| *t == args[0]);
        let t = args[0];
        match self.sig() {
            Sig::Num2 | Sig::Num1 => (same && t.is_num()).then_some(t),
            Sig::Int2 | Sig::Int1 => (same && t.is_int()).then_some(t),
            Sig::Bits2 | Sig::Bits1 => (same && !t.is_float()).then_some(t),
            Sig::Float1 | Sig::Float2 | Sig::Float3 => (same && t.is_float()).then_some(t),
            Sig::FloatInt => (t.is_float() && args[1] == Ty::I32).then_some(t),
            Sig::Cmp => same.then_some(Ty::Bool),
            Sig::IntTest => (same && t.is_int()).then_some(Ty::Bool),
            Sig::FloatTest => t.is_float().then_some(Ty::Bool),
            Sig::Select => (t == Ty::Bool && args[1] == args[2]).then_some(args[1]),
            Sig::Any1 => Some(t),
            Sig::Cast => target,
            Sig::Bitcast => target.filter(|u| {
                matches!(
                    (t, u),
                    (Ty::F32, Ty::U32)
                        | (Ty::U32, Ty::F32)
                        | (Ty::F64, Ty::U64)
                        | (Ty::U64, Ty::F64)
                )
            }),
        }
    }

    /// Same value with the operands of a binary operator exchanged, bit for bit (NaN payloads aside).
    pub fn commutes(self) -> bool {
        matches!(
            self,
            Op::Add
                | Op::Mul
                | Op::Min
                | Op::Max
                | Op::And
                | Op::Or
                | Op::Xor
                | Op::Eq
                | Op::Ne
        )
    }

    /// The operator's transcendental functions, which every CPU backend takes from one shared
    /// implementation so that their bits agree.
    pub fn is_transcendental(self) -> bool {
        matches!(
            self,
            Op::Cbrt
                | Op::Exp
                | Op::Exp2
                | Op::ExpM1
                | Op::Ln
                | Op::Ln1p
                | Op::Log2
                | Op::Log10
                | Op::Sin
                | Op::Cos
                | Op::Tan
                | Op::Asin
                | Op::Acos
                | Op::Atan
                | Op::Sinh
                | Op::Cosh
                | Op::Tanh
                | Op::Asinh
                | Op::Acosh
                | Op::Atanh
                | Op::Powf
                | Op::Powi
                | Op::Atan2
                | Op::Hypot
        )
    }
}
