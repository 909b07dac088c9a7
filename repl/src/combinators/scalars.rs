//! Scalar functions and constants.

use crate::eval::{Eval, Result, Site};
use crate::value::{Elt, Value};
use livefusion::ast::{Field, Fields};
use loop_lang::{Const, Op, Ty};

/// Describes a scalar function, which applies to arrays element by element.
pub struct ScalarFunction {
    /// Its name, as in Rust.
    pub name: &'static str,
    /// The largest number of arguments.
    pub arity: usize,
    /// The smallest number of arguments.
    pub least: usize,
    /// An example, which a test evaluates.
    pub example: &'static str,
    does: Does,
}

#[derive(Clone, Copy)]
enum Does {
    Operator(Op),
    Made(Make),
}

type Make = fn(&mut Eval<'_>, &[Value], Site<'_>) -> Result<Value>;

impl ScalarFunction {
    /// Returns whether it accepts `n` arguments.
    pub fn takes(&self, n: usize) -> bool {
        (self.least..=self.arity).contains(&n)
    }

    /// Applies it to as many values as it accepts.
    pub fn apply(&self, eval: &mut Eval<'_>, args: Vec<Value>, site: Site<'_>) -> Result<Value> {
        match self.does {
            Does::Operator(op) => eval.operator(op, site, args),
            Does::Made(make) => make(eval, &args, site),
        }
    }
}

impl std::fmt::Debug for ScalarFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

const fn op(name: &'static str, arity: usize, op: Op, example: &'static str) -> ScalarFunction {
    ScalarFunction {
        name,
        arity,
        least: arity,
        example,
        does: Does::Operator(op),
    }
}

const fn made(
    name: &'static str,
    arity: usize,
    example: &'static str,
    make: Make,
) -> ScalarFunction {
    ScalarFunction {
        name,
        arity,
        least: arity,
        example,
        does: Does::Made(make),
    }
}

/// A conversion, named like its type.
macro_rules! ty {
    ($name:literal, $ty:ident) => {
        made($name, 1, concat!($name, "(3)"), |e, x, s| {
            e.cast(x[0].clone(), Ty::$ty, s.span)
        })
    };
}

/// Holds the minimum of two scalars.
///
/// The combinator of this name takes one array.
pub static MIN: ScalarFunction = op("min", 2, Op::Min, "2.min(3)");
/// Holds the maximum of two scalars.
pub static MAX: ScalarFunction = op("max", 2, Op::Max, "2.max(3)");

/// Lists the scalar functions.
#[rustfmt::skip]
pub static SCALARS: &[ScalarFunction] = &[
    op("abs", 1, Op::Abs, "abs(-3)"),
    op("signum", 1, Op::Signum, "signum(-3)"),
    op("floor", 1, Op::Floor, "floor(2.5)"),
    op("ceil", 1, Op::Ceil, "ceil(2.5)"),
    op("round", 1, Op::Round, "round(2.5)"),
    op("round_ties_even", 1, Op::RoundEven, "round_ties_even(2.5)"),
    op("trunc", 1, Op::Trunc, "trunc(-2.5)"),
    op("sqrt", 1, Op::Sqrt, "sqrt(2)"),
    op("cbrt", 1, Op::Cbrt, "cbrt(27)"),
    op("exp", 1, Op::Exp, "exp(1)"),
    op("exp2", 1, Op::Exp2, "exp2(10)"),
    op("exp_m1", 1, Op::ExpM1, "exp_m1(1e-9)"),
    op("ln", 1, Op::Ln, "ln(10)"),
    op("ln_1p", 1, Op::Ln1p, "ln_1p(1e-9)"),
    op("log2", 1, Op::Log2, "log2(1024)"),
    op("log10", 1, Op::Log10, "log10(1000)"),
    op("sin", 1, Op::Sin, "sin(1)"),
    op("cos", 1, Op::Cos, "cos(1)"),
    op("tan", 1, Op::Tan, "tan(1)"),
    op("asin", 1, Op::Asin, "asin(1)"),
    op("acos", 1, Op::Acos, "acos(1)"),
    op("atan", 1, Op::Atan, "atan(1)"),
    op("sinh", 1, Op::Sinh, "sinh(1)"),
    op("cosh", 1, Op::Cosh, "cosh(1)"),
    op("tanh", 1, Op::Tanh, "tanh(1)"),
    op("asinh", 1, Op::Asinh, "asinh(1)"),
    op("acosh", 1, Op::Acosh, "acosh(2)"),
    op("atanh", 1, Op::Atanh, "atanh(0.5)"),
    op("powf", 2, Op::Powf, "powf(2, 0.5)"),
    op("powi", 2, Op::Powi, "powi(2.0, 10)"),
    op("atan2", 2, Op::Atan2, "atan2(1, -1)"),
    op("hypot", 2, Op::Hypot, "hypot(3, 4)"),
    op("copysign", 2, Op::Copysign, "copysign(3, -0.0)"),
    op("mul_add", 3, Op::MulAdd, "mul_add(2, 3, 4)"),
    op("div_euclid", 2, Op::DivEuclid, "div_euclid(-7i64, 2)"),
    op("rem_euclid", 2, Op::RemEuclid, "rem_euclid(-7i64, 2)"),
    op("count_ones", 1, Op::CountOnes, "count_ones(255)"),
    op("leading_zeros", 1, Op::LeadingZeros, "leading_zeros(1u8)"),
    op("trailing_zeros", 1, Op::TrailingZeros, "trailing_zeros(8)"),
    op("is_sign_negative", 1, Op::SignBit, "is_sign_negative(-0.0)"),
    op("lt", 2, Op::Lt, "1.lt(2)"),
    op("le", 2, Op::Le, "1.le(2)"),
    op("gt", 2, Op::Gt, "1.gt(2)"),
    op("ge", 2, Op::Ge, "1.ge(2)"),
    op("eq", 2, Op::Eq, "1.eq(2)"),
    op("ne", 2, Op::Ne, "1.ne(2)"),
    made("recip", 1, "recip(4)", |e, x, s| e.operator(Op::Div, s.only(0), vec![Value::Float(1.0), x[0].floating()])),
    made("fract", 1, "fract(2.5)", |e, x, s| {
        let whole = e.operator(Op::Trunc, s.only(0), x.to_vec())?;
        e.operator(Op::Sub, s.only(0), vec![x[0].floating(), whole])
    }),
    ScalarFunction { least: 1, ..made("log", 2, "log(8, 2)", |e, x, s| {
        let of = e.operator(Op::Ln, s.only(0), vec![x[0].clone()])?;
        let Some(base) = x.get(1) else { return Ok(of) };
        let base = e.operator(Op::Ln, s.only(1), vec![base.clone()])?;
        e.operator(Op::Div, s.only(0), vec![of, base])
    }) },
    made("to_degrees", 1, "to_degrees(f64::consts::PI)", |e, x, s| {
        let factor = Value::Float(180.0 / std::f64::consts::PI);
        e.operator(Op::Mul, s.only(0), vec![x[0].floating(), factor])
    }),
    made("to_radians", 1, "to_radians(180)", |e, x, s| {
        let factor = Value::Float(std::f64::consts::PI / 180.0);
        e.operator(Op::Mul, s.only(0), vec![x[0].floating(), factor])
    }),
    made("is_nan", 1, "is_nan(0.0 / 0.0)", |e, x, s| {
        e.operator(Op::Ne, s.only(0), vec![x[0].floating(), x[0].floating()])
    }),
    made("is_infinite", 1, "is_infinite(1.0 / 0.0)", |e, x, s| {
        let size = e.operator(Op::Abs, s.only(0), vec![x[0].floating()])?;
        e.operator(Op::Eq, s.only(0), vec![size, Value::Float(f64::INFINITY)])
    }),
    made("is_finite", 1, "is_finite(1)", |e, x, s| {
        let size = e.operator(Op::Abs, s.only(0), vec![x[0].floating()])?;
        e.operator(Op::Lt, s.only(0), vec![size, Value::Float(f64::INFINITY)])
    }),
    made("isclose", 5, "isclose(1.0, 1.000001, 1e-5, 1e-8, false)", isclose),
    made("clamp", 3, "clamp(12, 0, 9)", clamp),
    op("xor", 2, Op::Xor, "xor(6, 3)"),
    made("where", 3, "where([1, 5, 3] > 2, 1, 0)", |e, x, s| e.choice(x.to_vec(), s)),
    ty!("f64", F64), ty!("f32", F32), ty!("i64", I64), ty!("i32", I32), ty!("i16", I16), ty!("i8", I8),
    ty!("u64", U64), ty!("u32", U32), ty!("u16", U16), ty!("u8", U8), ty!("bool", Bool),
];

/// Lists NumPy's names for scalar functions and types.
pub static ALIASES: &[(&str, &str)] = &[
    ("float", "f64"),
    ("int", "i64"),
    ("float64", "f64"),
    ("float32", "f32"),
    ("int64", "i64"),
    ("int32", "i32"),
    ("int16", "i16"),
    ("int8", "i8"),
    ("uint64", "u64"),
    ("uint32", "u32"),
    ("uint16", "u16"),
    ("uint8", "u8"),
    ("absolute", "abs"),
    ("arcsin", "asin"),
    ("arccos", "acos"),
    ("arctan", "atan"),
    ("arctan2", "atan2"),
    ("log1p", "ln_1p"),
    ("expm1", "exp_m1"),
    ("isnan", "is_nan"),
    ("isfinite", "is_finite"),
    ("isinf", "is_infinite"),
    ("clip", "clamp"),
    ("sign", "signum"),
    ("maximum", "max"),
    ("minimum", "min"),
    ("degrees", "to_degrees"),
    ("radians", "to_radians"),
];

/// Compares floats of one type with literal or delayed tolerances. The last argument is a `bool`.
fn isclose(eval: &mut Eval<'_>, args: &[Value], site: Site<'_>) -> Result<Value> {
    eval.elementwise(site, args.to_vec(), &mut |eval, values| {
        let (floats, equal_nan) = values.split_at(4);
        let floats = floats.iter().map(Value::floating).collect();
        let (elt, floats) = eval.alike(floats, &|k| site.at(k))?;
        let mut all = Fields::new();
        for (k, value) in floats.into_iter().enumerate() {
            all.extend(eval.fields(value, Some(&elt), site.at(k))?.0);
        }
        let bool = Elt::Scalar(Ty::Bool);
        all.extend(
            eval.fields(equal_nan[0].clone(), Some(&bool), site.at(4))?
                .0,
        );
        let &[x, y, rtol, atol, equal_nan] = all.as_slice() else {
            return eval.refuse(format!("`isclose` does not take {elt}"), site.at(0));
        };
        let loc = eval.loc(site.span);
        let close = x.isclose(y, rtol, atol, equal_nan, loc);
        Ok((Fields::from_slice(&[close]), bool))
    })
}

/// Clamps by comparisons, so that NaN stays NaN.
fn clamp(eval: &mut Eval<'_>, args: &[Value], site: Site<'_>) -> Result<Value> {
    eval.elementwise(site, args.to_vec(), &mut |eval, values| {
        let (elt, values) = eval.alike(values.to_vec(), &|k| site.at(k))?;
        let mut all = Fields::new();
        for (k, value) in values.into_iter().enumerate() {
            all.extend(eval.fields(value, Some(&elt), site.at(k))?.0);
        }
        let &[x, low, high] = all.as_slice() else {
            return eval.refuse(format!("`clamp` does not take {elt}"), site.at(0));
        };
        let loc = eval.loc(site.span);
        let choose = |op: Op, bound: Field, x: Field| {
            let beyond = Field::op(op, &[x, bound], loc);
            Field::op(Op::Select, &[beyond, bound, x], loc)
        };
        let clamped = choose(Op::Lt, low, choose(Op::Gt, high, x));
        Ok((Fields::from_slice(&[clamped]), elt))
    })
}

/// Lists constants by their paths.
pub static CONSTANTS: &[(&str, Const)] = &{
    const fn f(x: f64) -> Const {
        Const {
            ty: Ty::F64,
            bits: x.to_bits(),
        }
    }
    const fn i(ty: Ty, x: i64) -> Const {
        Const { ty, bits: x as u64 }
    }
    [
        ("f64::consts::PI", f(std::f64::consts::PI)),
        ("f64::consts::TAU", f(std::f64::consts::TAU)),
        ("f64::consts::E", f(std::f64::consts::E)),
        ("pi", f(std::f64::consts::PI)),
        ("e", f(std::f64::consts::E)),
        ("inf", f(f64::INFINITY)),
        ("nan", f(f64::NAN)),
        ("f64::INFINITY", f(f64::INFINITY)),
        ("f64::NEG_INFINITY", f(f64::NEG_INFINITY)),
        ("f64::NAN", f(f64::NAN)),
        ("f64::MAX", f(f64::MAX)),
        ("f64::MIN", f(f64::MIN)),
        ("f64::EPSILON", f(f64::EPSILON)),
        ("i8::MAX", i(Ty::I8, i8::MAX as i64)),
        ("i8::MIN", i(Ty::I8, i8::MIN as i64)),
        ("i16::MAX", i(Ty::I16, i16::MAX as i64)),
        ("i16::MIN", i(Ty::I16, i16::MIN as i64)),
        ("i32::MAX", i(Ty::I32, i32::MAX as i64)),
        ("i32::MIN", i(Ty::I32, i32::MIN as i64)),
        ("i64::MAX", i(Ty::I64, i64::MAX)),
        ("i64::MIN", i(Ty::I64, i64::MIN)),
        ("u8::MAX", i(Ty::U8, u8::MAX as i64)),
        ("u16::MAX", i(Ty::U16, u16::MAX as i64)),
        ("u32::MAX", i(Ty::U32, u32::MAX as i64)),
        ("u64::MAX", i(Ty::U64, -1)),
    ]
};

/// A constant as a value.
pub(super) fn constant(c: Const) -> Value {
    Value::Scalar(Fields::from_slice(&[Field::literal(c)]), Elt::Scalar(c.ty))
}
