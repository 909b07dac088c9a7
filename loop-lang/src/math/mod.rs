//! Transcendental functions, shared by all CPU backends.
//!
//! Each function is straight-line code over the trait [`Real`]. Its operations are exact or rounded
//! once on every machine: sums, products, quotients, square roots, fused multiply-adds, bit
//! patterns, comparisons and selections. So a function gives the same bits everywhere, and it
//! vectorises. There are two instances. The trait [`Math`] computes native numbers. [`body`]
//! returns a Loop-level function, for backends that inline it.
//!
//! Sine, cosine and tangent of large arguments have no such form: see [`limit`]. Neither has
//! `powi`, because its exponent determines the order of its products.
//!
//! Fused multiply-adds are worth their price. They halve the operations of a polynomial, and
//! argument reduction is exact with fewer constants. Machines without the instruction compute the
//! same bits slowly.
//!
//! Some `f32` functions are computed as `f64` and rounded once at the end. They cost little more at
//! that width, or would lose digits at their own.
//!
//! The table lists the largest errors in units in the last place. `tests/math.rs` tests the
//! documented bounds against a reference of 192 bits. The example `ulps` measured the errors for
//! every 1009th `f32` and for 40,000 `f64` operands of each function, many near hard cases. For
//! `exp`, `exp2`, `expM1` and `ln`, it used all `f32` and 100,000 `f64` operands.
//!
//! | operator | `f32` | bound | `f64` | bound |
//! | --- | --- | --- | --- | --- |
//! | `exp` | 0.92 | 1.0 | 0.86 | 1.0 |
//! | `exp2` | 0.89 | 1.0 | 0.90 | 1.0 |
//! | `expM1` | 1.59 | 2.0 | 1.90 | 2.5 |
//! | `ln` | 0.84 | 1.0 | 0.75 | 1.0 |
//! | `ln1p` | 0.85 | 1.0 | 0.74 | 1.0 |
//! | `log2` | 0.62 | 1.0 | 0.59 | 1.0 |
//! | `log10` | 0.63 | 1.0 | 0.56 | 1.0 |
//! | `sin` | 0.78 | 1.0 | 0.95 | 1.0 |
//! | `cos` | 0.85 | 1.0 | 0.84 | 1.0 |
//! | `tan` | 0.50 | 0.51 | 1.95 | 2.5 |
//! | `asin` | 0.50 | 0.51 | 1.51 | 2.0 |
//! | `acos` | 0.50 | 0.51 | 0.99 | 1.5 |
//! | `atan` | 0.50 | 0.51 | 1.75 | 2.5 |
//! | `sinh` | 0.50 | 0.51 | 2.02 | 3.0 |
//! | `cosh` | 1.22 | 2.0 | 1.30 | 2.0 |
//! | `tanh` | 2.41 | 3.0 | 2.19 | 3.0 |
//! | `asinh` | 0.50 | 0.51 | 1.41 | 2.5 |
//! | `acosh` | 0.50 | 0.51 | 1.79 | 2.5 |
//! | `atanh` | 0.50 | 0.51 | 1.59 | 2.5 |
//! | `cbrt` | 0.50 | 0.51 | 0.50 | 0.51 |
//! | `powf` | 0.50 | 0.51 | 0.97 | 1.1 |
//! | `powi` to the `n` | 0.60 n | n | 0.76 n | n |
//! | `atan2` | 0.50 | 0.51 | 1.68 | 2.5 |
//! | `hypot` | 0.50 | 0.51 | 1.07 | 1.5 |

pub mod exp;
mod huge;
mod hyperbolic;
mod inverse;
mod log;
mod native;
mod power;
pub mod real;
mod trace;
mod trig;

pub use native::Math;
pub use power::by_squares;

use crate::ir::Loop;
use crate::op::Op;
use crate::types::Ty;
use real::Real;
use trace::{Scalar, Term, Tracer};

/// Calls a macro with every function: its operator, its name, its module, and for each width
/// whether it is computed at that width or as `f64`.
macro_rules! for_all_functions {
    ($then:ident) => {
        $then! {
            unary {
                Exp exp exp own;
                Exp2 exp2 exp own;
                ExpM1 exp_m1 exp own;
                Ln ln log own;
                Ln1p ln_1p log own;
                Log2 log2 log own;
                Log10 log10 log own;
                Sin sin trig own;
                Cos cos trig own;
                Tan tan trig wide;
                Asin asin inverse wide;
                Acos acos inverse wide;
                Atan atan inverse wide;
                Sinh sinh hyperbolic wide;
                Cosh cosh hyperbolic own;
                Tanh tanh hyperbolic own;
                Asinh asinh hyperbolic wide;
                Acosh acosh hyperbolic wide;
                Atanh atanh hyperbolic wide;
                Cbrt cbrt power wide;
            }
            binary {
                Powf powf power own;
                Atan2 atan2 inverse wide;
                Hypot hypot power wide;
            }
        }
    };
}
use for_all_functions;

/// Returns an operator at a float type as a Loop-level function without branches.
///
/// The result is none for operators outside this module. If [`limit`] returns a number, the
/// function is valid only for operands of smaller magnitude. For larger ones, backends call
/// [`Math`].
pub fn body(op: Op, ty: Ty) -> Option<Loop> {
    match ty {
        Ty::F32 => single(op),
        Ty::F64 => double(op),
        _ => None,
    }
}

/// Returns the magnitude from which on [`body`] is invalid.
///
/// If there is one, NaN is excluded as well.
pub fn limit(op: Op, ty: Ty) -> Option<f64> {
    match (op, ty) {
        (Op::Sin | Op::Cos, Ty::F32) => Some(trig::limit::<f32>()),
        (Op::Tan, Ty::F32) | (Op::Sin | Op::Cos | Op::Tan, Ty::F64) => Some(trig::limit::<f64>()),
        _ => None,
    }
}

/// Traces the functions of one type.
macro_rules! trace {
    (@own $f:path, $($x:expr),*) => { $f($($x),*) };
    (@wide $f:path, $($x:expr),*) => { Real::narrow($f($($x.widen()),*)) };
    (unary { $($op:ident $name:ident $module:ident $width:ident;)* }
     binary { $($op2:ident $name2:ident $module2:ident $width2:ident;)* }) => {
        trace!(@type single f32; $($op $module::$name $width;)* @ $($op2 $module2::$name2 $width2;)*);
        trace!(@type double f64; $($op $module::$name $width;)* @ $($op2 $module2::$name2 $width2;)*);
    };
    (@type $all:ident $t:ident; $($op:ident $m:ident::$n:ident $width:ident;)*
     @ $($op2:ident $m2:ident::$n2:ident $width2:ident;)*) => {
        fn $all(op: Op) -> Option<Loop> {
            let tracer = Tracer::default();
            let x: Term<'_, $t> = tracer.param("x");
            let (params, result): (Vec<_>, Term<'_, $t>) = match op {
                $(Op::$op => (vec![x.atom], trace!(@$width $m::$n, x)),)*
                $(Op::$op2 => {
                    let y: Term<'_, $t> = tracer.param("y");
                    (vec![x.atom, y.atom], trace!(@$width2 $m2::$n2, x, y))
                })*
                _ => return None,
            };
            let name = format!("{}_{}", op.name(), <$t as Scalar>::TY);
            Some(tracer.finish(name, &params, result.atom))
        }
    };
}

for_all_functions!(trace);

/// Tells which functions of `f32` are computed at that width.
macro_rules! own {
    (@own) => { true };
    (@wide) => { false };
    ($($arity:ident { $($op:ident $name:ident $module:ident $width:ident;)* })*) => {
        fn is_single(op: Op) -> Option<bool> {
            match op {
                $($(Op::$op => Some(own!(@$width)),)*)*
                _ => None,
            }
        }
    };
}

for_all_functions!(own);

/// Tells whether all values in [`body`] have the operator's width.
///
/// Vectors then have the same lane count throughout.
///
/// ```
/// use loop_lang::{Op, Ty, math};
///
/// assert!(math::keeps_width(Op::Exp, Ty::F32));
/// assert!(!math::keeps_width(Op::Asin, Ty::F32));
/// assert!(math::keeps_width(Op::Asin, Ty::F64));
/// assert!(!math::keeps_width(Op::Add, Ty::F64));
/// ```
pub fn keeps_width(op: Op, ty: Ty) -> bool {
    match is_single(op).filter(|_| (op, ty) != (Op::Powf, Ty::F32)) {
        Some(own) => own && ty == Ty::F32 || ty == Ty::F64,
        None => false,
    }
}
