//! The operator table: all properties except the values, which are in [`crate::eval`].

use super::{Cost, Sig};

/// Holds the properties of an operator.
pub(super) struct Row {
    pub name: &'static str,
    pub sig: Sig,
    pub cost: Costs,
    pub kind: Kind,
    pub vectors: Vectors,
    pub sides: Sides,
    pub unit: Unit,
}

/// The cost on integers and `bool`, and on floats.
#[derive(Clone, Copy)]
pub(super) struct Costs {
    pub ints: Cost,
    pub floats: Cost,
}

const fn costs(work: u64, ints: u64, floats: u64) -> Costs {
    Costs {
        ints: Cost { work, wait: ints },
        floats: Cost { work, wait: floats },
    }
}

/// One or a few instructions.
const STEP: Costs = costs(1, 1, 4);
/// An instruction with a long latency.
const LONG: Costs = costs(1, 15, 15);
/// A polynomial with argument reduction.
const FUNCTION: Costs = costs(30, 60, 60);

/// Classifies operators by the cost of rematerialisation and speculation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Cheap at any type.
    Step,
    /// As cheap; the right operand is a number of bits.
    Shift,
    /// Divides; one instruction for floats, costly for integers.
    Quotient,
    /// Divides; costly at any type.
    Division,
    /// A transcendental function.
    Function,
}

/// Lists the types with a vector form on every machine with vectors.
#[derive(Clone, Copy)]
pub(super) enum Vectors {
    /// All types of the operator.
    Always,
    /// Floats.
    Floats,
    /// Casts with a vector form, or with a short sequence of vector operators.
    Casts,
    /// None.
    Never,
}

/// Describes the algebraic properties of the operands' order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sides {
    /// Not commutative.
    Fixed,
    /// Commutative.
    Commutes,
    /// Commutative, and associative except on floats.
    Joins,
    /// Like `Joins`, and idempotent.
    Chooses,
}

/// Describes the right identity.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// There is none.
    Nothing,
    /// 0, `false`, +0.0.
    Zero,
    /// 0, -0.0: a sum of -0.0 and +0.0 is +0.0.
    NoAddend,
    /// 1, 1.0.
    One,
    /// All bits set: -1, the largest unsigned number, `true`.
    Ones,
    /// The largest integer; NaN, which extrema of floats ignore.
    Greatest,
    /// The smallest integer; NaN.
    Least,
}

macro_rules! ops {
    ($($(#[$doc:meta])* $op:ident = $name:literal : $sig:ident, $cost:ident, $kind:ident, $vectors:ident,
       $sides:ident, $unit:ident;)*) => {
        /// Lists the scalar operators.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op { $($(#[$doc])* $op),* }

        impl Op {
            /// Lists every operator.
            pub const ALL: &'static [Op] = &[$(Op::$op),*];

            #[inline]
            pub(super) fn row(self) -> &'static Row {
                const ROWS: &[Row] = &[$(Row {
                    name: $name,
                    sig: Sig::$sig,
                    cost: $cost,
                    kind: Kind::$kind,
                    vectors: Vectors::$vectors,
                    sides: Sides::$sides,
                    unit: Unit::$unit,
                }),*];
                &ROWS[self as usize]
            }
        }
    };
}

ops! {
    //             name             types      cost      kind      vectors sides     unit

    /// Sum; integers wrap.
    Add          = "add":           Num2,      STEP,     Step,     Always, Joins,    NoAddend;
    /// Difference; integers wrap.
    Sub          = "sub":           Num2,      STEP,     Step,     Always, Fixed,    Zero;
    /// Product; integers wrap.
    Mul          = "mul":           Num2,      STEP,     Step,     Always, Joins,    One;
    /// Quotient; integers truncate, `x / 0 = 0`, `MIN / -1` wraps.
    Div          = "div":           Num2,      LONG,     Quotient, Floats, Fixed,    One;
    /// Remainder with the sign of the dividend; `x % 0 = 0`, `MIN % -1 = 0`.
    Rem          = "rem":           Num2,      LONG,     Division, Never,  Fixed,    Nothing;
    /// Smaller operand; floats ignore NaN and order -0.0 below +0.0.
    Min          = "min":           Num2,      STEP,     Step,     Always, Chooses,  Greatest;
    /// Larger operand; floats ignore NaN and order -0.0 below +0.0.
    Max          = "max":           Num2,      STEP,     Step,     Always, Chooses,  Least;
    /// Euclidean quotient; zero and overflow as `div`.
    DivEuclid    = "divEuclid":     Num2,      STEP,     Division, Never,  Fixed,    Nothing;
    /// Euclidean remainder; zero and overflow as `rem`.
    RemEuclid    = "remEuclid":     Num2,      STEP,     Division, Never,  Fixed,    Nothing;
    /// Whether Rust would divide these integers: divisor not 0, not `MIN / -1`.
    DivOk        = "divOk":         IntTest,   STEP,     Step,     Never,  Fixed,    Nothing;
    /// Bitwise (logical) and; both sides are evaluated.
    And          = "and":           Bits2,     STEP,     Step,     Always, Chooses,  Ones;
    /// Bitwise (logical) or.
    Or           = "or":            Bits2,     STEP,     Step,     Always, Chooses,  Zero;
    /// Bitwise (logical) exclusive or.
    Xor          = "xor":           Bits2,     STEP,     Step,     Always, Joins,    Zero;
    /// Left shift; the amount is masked to the width.
    Shl          = "shl":           Int2,      STEP,     Shift,    Always, Fixed,    Zero;
    /// Right shift (arithmetic for signed types); the amount is masked to the width.
    Shr          = "shr":           Int2,      STEP,     Shift,    Always, Fixed,    Zero;
    /// Equal, IEEE on floats.
    Eq           = "eq":            Cmp,       STEP,     Step,     Always, Commutes, Nothing;
    /// Not equal, IEEE on floats.
    Ne           = "ne":            Cmp,       STEP,     Step,     Always, Commutes, Nothing;
    /// Less, IEEE on floats; `false < true`.
    Lt           = "lt":            Cmp,       STEP,     Step,     Always, Fixed,    Nothing;
    /// Less or equal.
    Le           = "le":            Cmp,       STEP,     Step,     Always, Fixed,    Nothing;
    /// Greater.
    Gt           = "gt":            Cmp,       STEP,     Step,     Always, Fixed,    Nothing;
    /// Greater or equal.
    Ge           = "ge":            Cmp,       STEP,     Step,     Always, Fixed,    Nothing;
    /// `if c then a else b` with both values computed.
    Select       = "select":        Select,    STEP,     Step,     Always, Fixed,    Nothing;
    /// The operand itself.
    Copy         = "copy":          Any1,      STEP,     Step,     Never,  Fixed,    Nothing;
    /// Conversion as Rust's `as`: integers wrap, floats to integers saturate, NaN is 0; to `bool`: not equal to 0.
    Cast         = "cast":          Cast,      STEP,     Step,     Casts,  Fixed,    Nothing;
    /// Bit pattern of a float as an unsigned integer, and back.
    Bitcast      = "bitcast":       Bitcast,   STEP,     Step,     Always, Fixed,    Nothing;
    /// Negation; integers wrap.
    Neg          = "neg":           Num1,      STEP,     Step,     Always, Fixed,    Nothing;
    /// Absolute value; `MIN` wraps.
    Abs          = "abs":           Num1,      STEP,     Step,     Always, Fixed,    Nothing;
    /// Rust's `signum`: floats give +-1.0 (NaN stays NaN), integers -1, 0, 1.
    Signum       = "signum":        Num1,      STEP,     Step,     Never,  Fixed,    Nothing;
    /// Bitwise (logical) not.
    Not          = "not":           Bits1,     STEP,     Step,     Always, Fixed,    Nothing;
    /// Number of one bits, in the operand's type.
    CountOnes    = "countOnes":     Int1,      STEP,     Step,     Never,  Fixed,    Nothing;
    /// Number of leading zero bits, in the operand's type.
    LeadingZeros = "leadingZeros":  Int1,      STEP,     Step,     Never,  Fixed,    Nothing;
    /// Number of trailing zero bits, in the operand's type.
    TrailingZeros= "trailingZeros": Int1,      STEP,     Step,     Never,  Fixed,    Nothing;
    /// Largest integer at most x.
    Floor        = "floor":         Float1,    STEP,     Step,     Never,  Fixed,    Nothing;
    /// Smallest integer at least x.
    Ceil         = "ceil":          Float1,    STEP,     Step,     Never,  Fixed,    Nothing;
    /// Nearest integer, halves away from zero.
    Round        = "round":         Float1,    STEP,     Step,     Never,  Fixed,    Nothing;
    /// Nearest integer, halves to even.
    RoundEven    = "roundEven":     Float1,    STEP,     Step,     Never,  Fixed,    Nothing;
    /// Integer part.
    Trunc        = "trunc":         Float1,    STEP,     Step,     Never,  Fixed,    Nothing;
    /// Square root.
    Sqrt         = "sqrt":          Float1,    LONG,     Step,     Floats, Fixed,    Nothing;
    /// Cube root.
    Cbrt         = "cbrt":          Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// `e^x`.
    Exp          = "exp":           Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// `2^x`.
    Exp2         = "exp2":          Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// `e^x - 1`.
    ExpM1        = "expM1":         Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// Natural logarithm.
    Ln           = "ln":            Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// `ln(1 + x)`.
    Ln1p         = "ln1p":          Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// Base 2 logarithm.
    Log2         = "log2":          Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// Base 10 logarithm.
    Log10        = "log10":         Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// Sine.
    Sin          = "sin":           Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// Cosine.
    Cos          = "cos":           Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// Tangent.
    Tan          = "tan":           Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// Arc sine.
    Asin         = "asin":          Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// Arc cosine.
    Acos         = "acos":          Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// Arc tangent.
    Atan         = "atan":          Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// Hyperbolic sine.
    Sinh         = "sinh":          Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// Hyperbolic cosine.
    Cosh         = "cosh":          Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// Hyperbolic tangent.
    Tanh         = "tanh":          Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// Inverse hyperbolic sine.
    Asinh        = "asinh":         Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// Inverse hyperbolic cosine.
    Acosh        = "acosh":         Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// Inverse hyperbolic tangent.
    Atanh        = "atanh":         Float1,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// `x` to the power `y`.
    Powf         = "powf":          Float2,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// `x` to an `i32` power.
    Powi         = "powi":          FloatInt,  FUNCTION, Function, Never,  Fixed,    Nothing;
    /// Four-quadrant arc tangent of `y / x`.
    Atan2        = "atan2":         Float2,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// `sqrt(x^2 + y^2)`.
    Hypot        = "hypot":         Float2,    FUNCTION, Function, Never,  Fixed,    Nothing;
    /// Magnitude of the first, sign of the second operand.
    Copysign     = "copysign":      Float2,    STEP,     Step,     Never,  Fixed,    Nothing;
    /// `a * b + c` with one rounding.
    MulAdd       = "mulAdd":        Float3,    STEP,     Step,     Never,  Fixed,    Nothing;
    /// Whether the float's sign bit is set.
    SignBit      = "signBit":       FloatTest, STEP,     Step,     Never,  Fixed,    Nothing;
}
