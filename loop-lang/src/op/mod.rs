//! The scalar operators: names, type rules, cost, and what may be done with them. One table has a row per
//! operator. What they compute is in [`crate::eval`].
//!
//! Every operator is total: it has a value for every operand. Where Rust would panic, lowering
//! places a `trap unless` before the operator and the operator itself takes a safe value
//! (`div` and `rem` by zero give 0, `MIN / -1` wraps).

mod table;
#[cfg(test)]
mod tests;

pub use table::Op;

use crate::types::{Const, Ty};
use std::ops::AddAssign;
use table::{Kind, Sides, Unit, Vectors};

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

/// What an operator, or several that follow each other, cost a processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Operations that the processor has to do.
    pub work: u64,
    /// Cycles until whoever needs the result has it.
    pub wait: u64,
}

/// What follows waits for what goes before.
impl AddAssign for Cost {
    fn add_assign(&mut self, more: Cost) {
        self.work += more.work;
        self.wait += more.wait;
    }
}

impl Op {
    /// The operator with the given text name.
    pub fn from_name(name: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|o| o.name() == name)
    }

    /// The name in the text form.
    #[inline]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The rule that its operand and result types follow.
    #[inline]
    pub fn sig(self) -> Sig {
        self.row().sig
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

    /// What the operator costs; `from` is the type of its first operand. A rule of thumb that holds on
    /// most processors.
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

    /// Whether the operator is one of the transcendental functions, which every CPU backend takes from one
    /// shared implementation so that their bits agree.
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

    /// Whether the operator divides its left operand by its right one, for the quotient or the remainder.
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

    /// Whether the operator shifts its left operand by its right one.
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

    /// Whether Rust would panic for some operands of this type, so that a trap may be needed in front.
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

    /// Whether the operator costs so much at some type that nothing is won by computing it twice.
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

    /// Whether the operator costs less than a mispredicted branch, so that it may as well run for an element
    /// that is not asked for. `from` is the type of its first operand.
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

    /// Whether every machine with vectors has the operator on them, or puts it together from a few others.
    /// `from` is the type of the first operand, `to` the result's.
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

    /// Same value with the operands of a binary operator exchanged, bit for bit (NaN payloads aside).
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

    /// Whether folds and scans are by this operator as it is: it commutes, has an identity, and would
    /// associate if floats did not round.
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

    /// Whether values of this type may be joined by the operator in any order: the result is the same, bit
    /// for bit. For floats the order is part of a fold's meaning, even of extrema.
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

    /// Whether a value joined with itself is that value, so that it does not matter how often one is joined.
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

    /// The value that folds by the operator may start from: joined with any other it gives that one, bit for
    /// bit (NaN payloads aside). None if the operator does not join, or not at this type.
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

    /// The right operand that gives back the left one, bit for bit, if there is one at this type. Not NaN,
    /// which extrema ignore: of two NaN they give a third.
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
