//! Scalar operators: names, type rules, costs and algebraic properties.
//!
//! One table has a row per operator. [`crate::eval`] defines the values.
//!
//! Every operator is total: it has a value for every operand. Where Rust would panic, lowering
//! places a `trap unless` before the operator, and the operator itself has a safe value (`div` and
//! `rem` by zero give 0, `MIN / -1` wraps).

pub mod sums;
mod table;
#[cfg(test)]
mod tests;

pub use table::Op;

use crate::types::{Const, Ty};
use std::ops::AddAssign;
use table::{Kind, Sides, Unit, Vectors};

/// Describes how operand types determine an operator's result type.
///
/// `t` ranges over the given class.
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
    /// `s -> t`, any two scalar types; the statement names the target (`cast.f64 x`).
    Cast,
    /// `f32 -> u32`, `f64 -> u64` and back: the bit pattern; the target is named as for `cast`.
    Bitcast,
}

/// Holds the cost of an operator or of a sequence of operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// The number of operations.
    pub work: u64,
    /// The latency of the result in cycles.
    pub wait: u64,
}

/// In a sequence, each operator waits for the previous one.
impl AddAssign for Cost {
    fn add_assign(&mut self, more: Cost) {
        self.work += more.work;
        self.wait += more.wait;
    }
}

impl Op {
    /// Returns the operator with the given text name.
    pub fn from_name(name: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|o| o.name() == name)
    }

    /// Returns the name in the text form.
    #[inline]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the rule for its operand and result types.
    #[inline]
    pub fn sig(self) -> Sig {
        self.row().sig
    }

    /// Returns the number of operands.
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

    /// Returns the result type for these operand types, if they fit.
    ///
    /// For `cast` and `bitcast`, the target cannot be inferred: pass it as `target`.
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

    /// Returns the operator's cost, given the type of its first operand.
    ///
    /// It is a rule of thumb that holds on most processors.
    ///
    /// ```
    /// use loop_lang::{Op, Ty};
    ///
    /// assert_eq!(Op::Add.cost(Ty::I64).wait, 1);
    /// assert_eq!(Op::Add.cost(Ty::F64).wait, 4);
    /// assert!(Op::Exp.cost(Ty::F64).work > Op::Sqrt.cost(Ty::F64).work);
    /// ```
    pub fn cost(self, from: Ty) -> Cost {
        let costs = self.row().cost;
        match from.is_float() {
            true => costs.floats,
            false => costs.ints,
        }
    }

    /// Tells whether the operator is a transcendental function.
    ///
    /// All CPU backends share one implementation of these, so that their bits agree.
    ///
    /// ```
    /// use loop_lang::Op;
    ///
    /// assert!(Op::Exp.is_transcendental());
    /// assert!(!Op::Sqrt.is_transcendental());
    /// ```
    pub fn is_transcendental(self) -> bool {
        self.row().kind == Kind::Function
    }

    /// Tells whether the operator is a division or remainder.
    ///
    /// ```
    /// use loop_lang::Op;
    ///
    /// assert!(Op::RemEuclid.divides());
    /// assert!(!Op::DivOk.divides());
    /// ```
    pub fn divides(self) -> bool {
        matches!(self.row().kind, Kind::Quotient | Kind::Division)
    }

    /// Tells whether the operator shifts its left operand by its right one.
    ///
    /// ```
    /// use loop_lang::Op;
    ///
    /// assert!(Op::Shl.shifts());
    /// assert!(!Op::Mul.shifts());
    /// ```
    pub fn shifts(self) -> bool {
        self.row().kind == Kind::Shift
    }

    /// Tells whether Rust would panic for some operands of this type.
    ///
    /// Such an operator may need a trap before it.
    ///
    /// ```
    /// use loop_lang::{Op, Ty};
    ///
    /// assert!(Op::Div.may_trap(Ty::I64));
    /// assert!(!Op::Div.may_trap(Ty::F64));
    /// ```
    pub fn may_trap(self, ty: Ty) -> bool {
        self.divides() && ty.is_int()
    }

    /// Tells whether the operator is too costly, at some type, to rematerialise.
    ///
    /// ```
    /// use loop_lang::Op;
    ///
    /// assert!(Op::Div.is_costly() && Op::Sin.is_costly());
    /// assert!(!Op::Mul.is_costly());
    /// ```
    pub fn is_costly(self) -> bool {
        self.divides() || self.is_transcendental()
    }

    /// Tells whether the operator costs less than a mispredicted branch.
    ///
    /// It may then also run for rejected elements. `from` is the type of its first operand.
    ///
    /// ```
    /// use loop_lang::{Op, Ty};
    ///
    /// assert!(Op::Div.is_cheap(Ty::F64));
    /// assert!(!Op::Div.is_cheap(Ty::I64));
    /// assert!(!Op::Rem.is_cheap(Ty::F64));
    /// ```
    pub fn is_cheap(self, from: Ty) -> bool {
        !self.is_costly() || (self.row().kind == Kind::Quotient && from.is_float())
    }

    /// Tells whether every machine with vectors supports the operator on them.
    ///
    /// A short sequence of instructions counts as support. `from` is the type of the first operand,
    /// `to` the result's.
    ///
    /// ```
    /// use loop_lang::{Op, Ty};
    ///
    /// assert!(Op::Sqrt.vectorises(Ty::F32, Ty::F32));
    /// assert!(Op::Cast.vectorises(Ty::I32, Ty::I64));
    /// assert!(Op::Cast.vectorises(Ty::Bool, Ty::U64));
    /// assert!(!Op::Cast.vectorises(Ty::F64, Ty::I64));
    /// ```
    pub fn vectorises(self, from: Ty, to: Ty) -> bool {
        match self.row().vectors {
            Vectors::Always => true,
            Vectors::Floats => from.is_float(),
            Vectors::Casts => {
                let among = |kind: fn(Ty) -> bool| kind(from) && kind(to);
                among(Ty::is_int) || among(Ty::is_float) || from == Ty::Bool || to == Ty::Bool
            }
            Vectors::Never => false,
        }
    }

    /// Tells whether the operator is commutative, bit for bit.
    ///
    /// NaN payloads may differ.
    ///
    /// ```
    /// use loop_lang::Op;
    ///
    /// assert!(Op::Add.commutes());
    /// assert!(!Op::Sub.commutes());
    /// ```
    pub fn commutes(self) -> bool {
        self.row().sides != Sides::Fixed
    }

    /// Tells whether the operator can be a combine of folds and scans.
    ///
    /// It is commutative, has an identity, and is associative except for the rounding of floats.
    ///
    /// ```
    /// use loop_lang::Op;
    ///
    /// assert!(Op::Max.joins());
    /// assert!(!Op::Hypot.joins());
    /// ```
    pub fn joins(self) -> bool {
        matches!(self.row().sides, Sides::Joins | Sides::Chooses)
    }

    /// Tells whether the operator combines this type in any order, bit for bit.
    ///
    /// For floats, the order is part of a fold's semantics, even for extrema.
    ///
    /// ```
    /// use loop_lang::{Op, Ty};
    ///
    /// assert!(Op::Add.joins_in_any_order(Ty::U64));
    /// assert!(!Op::Add.joins_in_any_order(Ty::F64));
    /// ```
    pub fn joins_in_any_order(self, ty: Ty) -> bool {
        self.joins() && !ty.is_float()
    }

    /// Tells whether the operator is idempotent.
    ///
    /// A value combined with itself is then the value, so repetitions do not matter.
    ///
    /// ```
    /// use loop_lang::Op;
    ///
    /// assert!(Op::Min.is_idempotent());
    /// assert!(!Op::Add.is_idempotent());
    /// ```
    pub fn is_idempotent(self) -> bool {
        self.row().sides == Sides::Chooses
    }

    /// Returns the operator's identity, from which folds may start.
    ///
    /// Combined with any other value it gives that value, bit for bit, except for NaN payloads. The
    /// result is none if the operator is no combine at this type.
    ///
    /// ```
    /// use loop_lang::{Const, Op, Ty};
    ///
    /// assert_eq!(Op::Add.identity(Ty::F64), Some(Const::f64(-0.0)));
    /// assert_eq!(Op::Min.identity(Ty::U8), Some(Const::int(Ty::U8, 255)));
    /// assert_eq!(Op::Sub.identity(Ty::F64), None);
    /// ```
    pub fn identity(self, ty: Ty) -> Option<Const> {
        self.unit(ty).filter(|_| self.joins())
    }

    /// Returns the right identity of the operator at this type, if there is one.
    ///
    /// It gives back the left operand bit for bit. NaN does not qualify: extrema ignore it, and
    /// give a third NaN for two of them.
    ///
    /// ```
    /// use loop_lang::{Const, Op, Ty};
    ///
    /// assert_eq!(Op::Div.right_identity(Ty::F64), Some(Const::f64(1.0)));
    /// assert_eq!(Op::Shl.right_identity(Ty::U64), Some(Const::u64(0)));
    /// assert_eq!(Op::Shl.right_identity(Ty::F64), None);
    /// ```
    pub fn right_identity(self, ty: Ty) -> Option<Const> {
        self.unit(ty)
            .filter(|_| !(ty.is_float() && self.is_idempotent()))
    }

    fn unit(self, ty: Ty) -> Option<Const> {
        let unit = match (self.row().unit, ty) {
            (Unit::Nothing, _) => return None,
            (Unit::Greatest | Unit::Least, Ty::F64) => Const::f64(f64::NAN),
            (Unit::Greatest | Unit::Least, Ty::F32) => Const::f32(f32::NAN),
            (Unit::NoAddend, Ty::F64) => Const::f64(-0.0),
            (Unit::NoAddend, Ty::F32) => Const::f32(-0.0),
            (Unit::One, Ty::F64) => Const::f64(1.0),
            (Unit::One, Ty::F32) => Const::f32(1.0),
            (Unit::Zero | Unit::NoAddend, _) => Const::zero(ty),
            (Unit::One, _) => Const::int(ty, 1),
            (Unit::Ones, _) => Const::int(ty, -1),
            (Unit::Greatest | Unit::Least, _) => {
                let least = match ty.is_signed() {
                    true => 1 << (ty.bits() - 1),
                    false => 0,
                };
                let greatest = self.row().unit == Unit::Greatest;
                Const::new(ty, if greatest { !least } else { least })
            }
        };
        (self.result(&[ty, ty], None) == Some(ty)).then_some(unit)
    }
}
