//! The one implementation of each transcendental function, called by compiled kernels.
//!
//! The functions are those of [`loop_lang::math`], which [`loop_lang::eval`] also uses. So all CPU
//! backends give the same bits. Compiled code calls them through a table of addresses in the order
//! of [`entries`].

use loop_lang::math::Math;
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// Holds a function with C's calling convention.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "each variant is the type that it holds")]
pub enum MathFn {
    F32(extern "C" fn(f32) -> f32),
    F32F32(extern "C" fn(f32, f32) -> f32),
    F32I32(extern "C" fn(f32, i32) -> f32),
    F32F32F32(extern "C" fn(f32, f32, f32) -> f32),
    F64(extern "C" fn(f64) -> f64),
    F64F64(extern "C" fn(f64, f64) -> f64),
    F64I32(extern "C" fn(f64, i32) -> f64),
    F64F64F64(extern "C" fn(f64, f64, f64) -> f64),
}

/// Describes an operator at one type, as a function.
#[derive(Clone, Copy, Debug)]
pub struct MathEntry {
    /// The operator.
    pub op: Op,
    /// The type of its first operand and its result.
    pub ty: Ty,
    /// Its name in C: `lf_exp_f64`.
    pub c_name: &'static str,
    /// The function.
    pub function: MathFn,
}

impl MathEntry {
    /// Returns the function's address.
    pub fn address(&self) -> usize {
        match self.function {
            MathFn::F32(f) => f as usize,
            MathFn::F32F32(f) => f as usize,
            MathFn::F32I32(f) => f as usize,
            MathFn::F32F32F32(f) => f as usize,
            MathFn::F64(f) => f as usize,
            MathFn::F64F64(f) => f as usize,
            MathFn::F64I32(f) => f as usize,
            MathFn::F64F64F64(f) => f as usize,
        }
    }

    /// Returns the C types of the result and of the parameters.
    pub fn c_signature(&self) -> (&'static str, &'static [&'static str]) {
        match self.function {
            MathFn::F32(_) => ("float", &["float"]),
            MathFn::F32F32(_) => ("float", &["float", "float"]),
            MathFn::F32I32(_) => ("float", &["float", "int"]),
            MathFn::F32F32F32(_) => ("float", &["float", "float", "float"]),
            MathFn::F64(_) => ("double", &["double"]),
            MathFn::F64F64(_) => ("double", &["double", "double"]),
            MathFn::F64I32(_) => ("double", &["double", "int"]),
            MathFn::F64F64F64(_) => ("double", &["double", "double", "double"]),
        }
    }
}

/// Lists every function, f32 and f64 in turn.
///
/// The order is the same in every run of one build.
pub fn entries() -> &'static [MathEntry] {
    ENTRIES
}

/// Returns the position in [`entries`] of an operator at a float type.
pub fn index_of(op: Op, ty: Ty) -> Option<usize> {
    ENTRIES.iter().position(|e| e.op == op && e.ty == ty)
}

macro_rules! functions {
    ($($op:ident $name:literal $shape:ident $method:ident;)*) => {
        const ENTRIES: &[MathEntry] = &[$(
            MathEntry {
                op: Op::$op,
                ty: Ty::F32,
                c_name: concat!("lf_", $name, "_f32"),
                function: functions!(@$shape f32 $method),
            },
            MathEntry {
                op: Op::$op,
                ty: Ty::F64,
                c_name: concat!("lf_", $name, "_f64"),
                function: functions!(@$shape f64 $method),
            },
        )*];
    };
    (@math $t:ident $m:ident) => {
        functions!(@one $t { extern "C" fn f(x: $t) -> $t { Math::$m(x) } f })
    };
    (@math2 $t:ident $m:ident) => {
        functions!(@two $t { extern "C" fn f(x: $t, y: $t) -> $t { Math::$m(x, y) } f })
    };
    (@one f32 $f:expr) => { MathFn::F32($f) };
    (@one f64 $f:expr) => { MathFn::F64($f) };
    (@two f32 $f:expr) => { MathFn::F32F32($f) };
    (@two f64 $f:expr) => { MathFn::F64F64($f) };
    (@unary f32 $m:ident) => { MathFn::F32({ extern "C" fn f(x: f32) -> f32 { x.$m() } f }) };
    (@unary f64 $m:ident) => { MathFn::F64({ extern "C" fn f(x: f64) -> f64 { x.$m() } f }) };
    (@binary f32 $m:ident) => { MathFn::F32F32({ extern "C" fn f(x: f32, y: f32) -> f32 { x.$m(y) } f }) };
    (@binary f64 $m:ident) => { MathFn::F64F64({ extern "C" fn f(x: f64, y: f64) -> f64 { x.$m(y) } f }) };
    (@power f32 $m:ident) => { MathFn::F32I32({ extern "C" fn f(x: f32, n: i32) -> f32 { Math::$m(x, n) } f }) };
    (@power f64 $m:ident) => { MathFn::F64I32({ extern "C" fn f(x: f64, n: i32) -> f64 { Math::$m(x, n) } f }) };
    (@ternary f32 $m:ident) => {
        MathFn::F32F32F32({ extern "C" fn f(x: f32, y: f32, z: f32) -> f32 { x.$m(y, z) } f })
    };
    (@ternary f64 $m:ident) => {
        MathFn::F64F64F64({ extern "C" fn f(x: f64, y: f64, z: f64) -> f64 { x.$m(y, z) } f })
    };
}

use std::ops::Rem as _;

functions! {
    Cbrt "cbrt" math cbrt;
    Exp "exp" math exp;
    Exp2 "exp2" math exp2;
    ExpM1 "expM1" math exp_m1;
    Ln "ln" math ln;
    Ln1p "ln1p" math ln_1p;
    Log2 "log2" math log2;
    Log10 "log10" math log10;
    Sin "sin" math sin;
    Cos "cos" math cos;
    Tan "tan" math tan;
    Asin "asin" math asin;
    Acos "acos" math acos;
    Atan "atan" math atan;
    Sinh "sinh" math sinh;
    Cosh "cosh" math cosh;
    Tanh "tanh" math tanh;
    Asinh "asinh" math asinh;
    Acosh "acosh" math acosh;
    Atanh "atanh" math atanh;
    Powf "powf" math2 powf;
    Powi "powi" power powi;
    Atan2 "atan2" math2 atan2;
    Hypot "hypot" math2 hypot;
    // Not transcendental, but library calls on machines without such an instruction.
    Rem "rem" binary rem;
    RemEuclid "remEuclid" binary rem_euclid;
    DivEuclid "divEuclid" binary div_euclid;
    Floor "floor" unary floor;
    Ceil "ceil" unary ceil;
    Round "round" unary round;
    RoundEven "roundEven" unary round_ties_even;
    Trunc "trunc" unary trunc;
    MulAdd "mulAdd" ternary mul_add;
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_lang::eval::eval;
    use proptest::prelude::*;

    fn call(e: &MathEntry, x: f64, y: f64, z: f64, n: i32) -> (Vec<u64>, u64) {
        let (a, b, c) = (x as f32, y as f32, z as f32);
        let w = |x: f32| x.to_bits() as u64;
        match e.function {
            MathFn::F32(f) => (vec![w(a)], w(f(a))),
            MathFn::F32F32(f) => (vec![w(a), w(b)], w(f(a, b))),
            MathFn::F32I32(f) => (vec![w(a), n as i64 as u64], w(f(a, n))),
            MathFn::F32F32F32(f) => (vec![w(a), w(b), w(c)], w(f(a, b, c))),
            MathFn::F64(f) => (vec![x.to_bits()], f(x).to_bits()),
            MathFn::F64F64(f) => (vec![x.to_bits(), y.to_bits()], f(x, y).to_bits()),
            MathFn::F64I32(f) => (vec![x.to_bits(), n as i64 as u64], f(x, n).to_bits()),
            MathFn::F64F64F64(f) => (
                vec![x.to_bits(), y.to_bits(), z.to_bits()],
                f(x, y, z).to_bits(),
            ),
        }
    }

    fn is_nan(ty: Ty, w: u64) -> bool {
        if ty == Ty::F32 {
            f32::from_bits(w as u32).is_nan()
        } else {
            f64::from_bits(w).is_nan()
        }
    }

    #[test]
    fn every_transcendental_function_is_here() {
        for op in Op::ALL.iter().filter(|op| op.is_transcendental()) {
            for ty in [Ty::F32, Ty::F64] {
                let e = &entries()[index_of(*op, ty).unwrap()];
                assert_eq!(e.c_name, format!("lf_{}_{ty}", op.name()));
                assert_eq!(e.c_signature().1.len(), op.arity());
                assert_ne!(e.address(), 0);
            }
        }
    }

    proptest! {
        #[test]
        fn functions_agree_with_eval(
            x in prop_oneof![any::<f64>(), -10.0..10.0],
            y in prop_oneof![any::<f64>(), -10.0..10.0],
            z in any::<f64>(),
            n in prop_oneof![any::<i32>(), -8..8],
        ) {
            for e in entries() {
                let (args, got) = call(e, x, y, z, n);
                let want = eval(e.op, e.ty, e.ty, &args);
                let nans = is_nan(e.ty, got) && is_nan(e.ty, want);
                prop_assert!(got == want || nans, "{}{:?}: {:x} {:x}", e.c_name, args, got, want);
            }
        }
    }
}
