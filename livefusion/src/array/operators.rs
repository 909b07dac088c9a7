//! Elementwise operators between arrays, scalars and delayed scalars.
//!
//! A scalar or a delayed scalar is combined with each element. Operators fuse with every producer
//! and consumer. If lengths differ, forcing fails.
//!
//! ```
//! use livefusion::prelude::*;
//! let xs = Array::from(vec![1.0f64, 2.0, 3.0]);
//! let ys = &xs * &xs + 1.0;
//! assert_eq!((2.0 * (&ys - xs.mean())).force()?, [0.0, 6.0, 16.0]);
//! # Ok::<(), livefusion::Error>(())
//! ```

use crate::array::{Array, Ix0, Join, Rank};
use crate::ast::{Builder, Inputs, Node, OperandTerm, operator, show_types};
use crate::elt::{Bits, Elt, Int, Num, Scalar};
use crate::error::ErrorKind;
use crate::exp::{Exp, apply};
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::Const;
use smallvec::SmallVec;
use std::ops::*;
use std::sync::Arc;

impl Builder {
    /// Applies an operator element by element.
    ///
    /// A delayed scalar is combined with each element of an array.
    pub fn operator(self, op: Op, args: &[Arc<Node>]) -> Arc<Node> {
        self.applied(
            op,
            &args.iter().map(OperatorSide::Array).collect::<Vec<_>>(),
        )
    }

    /// Applies an operator to its sides. Arrays are inputs in step. Numbers, and delayed scalars
    /// next to an array, are captured.
    fn applied(self, op: Op, sides: &[OperatorSide<'_>]) -> Arc<Node> {
        let mut arrays = Inputs::new();
        for side in sides {
            if let OperatorSide::Array(n) = side {
                arrays.push((*n).clone());
            }
        }
        let rank = arrays.iter().map(|n| n.rank).max().unwrap_or(0);
        if let Some(several) = arrays.iter().find(|n| n.types.len() != 1) {
            let (expected, got) = (SCALARS.to_string(), show_types(&several.types));
            let kind = ErrorKind::Malformed { expected, got };
            let arrays: Vec<&Arc<Node>> = arrays.iter().collect();
            return self.instead(&arrays, (&several.types, rank), kind);
        }
        let is_input = |n: &Node| n.rank > 0 || rank == 0;
        let mut operands: SmallVec<[OperandTerm<'_>; 2]> = SmallVec::new();
        for side in sides {
            operands.push(match side {
                OperatorSide::Array(n) if is_input(n) => OperandTerm::Param(n.types[0]),
                OperatorSide::Array(n) => OperandTerm::Scalar(n),
                OperatorSide::Number(c) => OperandTerm::Literal(*c),
            });
        }
        let mut inputs = arrays;
        inputs.retain(|n| is_input(n));
        self.map(&inputs, operator(op, &operands, Some(self.loc())))
    }
}

const SCALARS: &str = "elements of one scalar each";

/// One side of an operator.
enum OperatorSide<'a> {
    Array(&'a Arc<Node>),
    Number(Const),
}

fn number<T: Scalar>(x: T) -> OperatorSide<'static> {
    OperatorSide::Number(Const {
        ty: T::TY,
        bits: x.to_word(),
    })
}

#[track_caller]
fn binary(op: Op, sides: [OperatorSide<'_>; 2]) -> Arc<Node> {
    Builder::named(op.name()).applied(op, &sides)
}

#[track_caller]
fn unary(op: Op, input: &Arc<Node>) -> Arc<Node> {
    Builder::named(op.name()).applied(op, &[OperatorSide::Array(input)])
}

/// Describes the right side of an operator or a comparison.
///
/// For an array of elements `T` and rank `D` it is a number, an array or a delayed scalar. If the
/// left side is a delayed scalar, it can also be an expression in a closure.
#[diagnostic::on_unimplemented(
    message = "elements of type `{T}` cannot meet `{Self}` in an operator or a comparison",
    label = "neither a number nor an array of type `{T}`",
    note = "convert an array with `.map(|x| x.cast::<{T}>())` and a number with `as {T}`; a literal is `2.0` for floats, `2` for integers",
    note = "elements that are no scalars are joined and compared in a closure"
)]
pub trait Operand<T: Elt, D: Rank> {
    /// Names the type of the result, with elements `U`.
    ///
    /// It is an array, or an expression if this is one.
    type Out<U: Scalar>;
    /// Returns the result of an operator with this on its right.
    #[doc(hidden)]
    #[track_caller]
    fn joined<U: Scalar>(self, op: Op, left: &Array<T, D>) -> Self::Out<U>;
}

impl<T: Scalar, D: Rank> Operand<T, D> for T {
    type Out<U: Scalar> = Array<U, D>;
    #[track_caller]
    fn joined<U: Scalar>(self, op: Op, left: &Array<T, D>) -> Array<U, D> {
        Array::wrap(binary(op, [OperatorSide::Array(left.node()), number(self)]))
    }
}

impl<T: Scalar, D: Rank + Join<E>, E: Rank> Operand<T, D> for &Array<T, E> {
    type Out<U: Scalar> = Array<U, <D as Join<E>>::Joined>;
    #[track_caller]
    fn joined<U: Scalar>(self, op: Op, left: &Array<T, D>) -> Self::Out<U> {
        let sides = [
            OperatorSide::Array(left.node()),
            OperatorSide::Array(self.node()),
        ];
        Array::wrap(binary(op, sides))
    }
}

impl<T: Scalar, D: Rank + Join<E>, E: Rank> Operand<T, D> for Array<T, E> {
    type Out<U: Scalar> = Array<U, <D as Join<E>>::Joined>;
    #[track_caller]
    fn joined<U: Scalar>(self, op: Op, left: &Array<T, D>) -> Self::Out<U> {
        (&self).joined(op, left)
    }
}

impl<T: Scalar> Operand<T, Ix0> for Exp<T> {
    type Out<U: Scalar> = Exp<U>;
    #[track_caller]
    fn joined<U: Scalar>(self, op: Op, left: &Array<T, Ix0>) -> Exp<U> {
        apply(op, &[left.value().field(), self.field()], Loc::caller())
    }
}

macro_rules! array_and_operand {
    ($Trait:ident $method:ident $op:ident $Bound:ident: $($A:ty;)*) => {$(
        impl<T: $Bound, D: Rank, R: Operand<T, D>> $Trait<R> for $A {
            type Output = R::Out<T>;
            #[track_caller]
            fn $method(self, r: R) -> R::Out<T> {
                r.joined(Op::$op, &self)
            }
        }
    )*};
}

macro_rules! number_and_array {
    ($Trait:ident $method:ident $op:ident: $($t:ty)*) => {$(
        impl<D: Rank> $Trait<&Array<$t, D>> for $t {
            type Output = Array<$t, D>;
            #[track_caller]
            fn $method(self, r: &Array<$t, D>) -> Array<$t, D> {
                Array::wrap(binary(Op::$op, [number(self), OperatorSide::Array(r.node())]))
            }
        }
        impl<D: Rank> $Trait<Array<$t, D>> for $t {
            type Output = Array<$t, D>;
            #[track_caller]
            fn $method(self, r: Array<$t, D>) -> Array<$t, D> {
                Array::wrap(binary(Op::$op, [number(self), OperatorSide::Array(r.node())]))
            }
        }
    )*};
}

macro_rules! operators {
    ($($Trait:ident $method:ident $op:ident $Bound:ident: $($t:ty)*;)*) => {$(
        array_and_operand! { $Trait $method $op $Bound: &Array<T, D>; Array<T, D>; }
        number_and_array! { $Trait $method $op: $($t)* }
    )*};
}

operators! {
    Add add Add Num: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
    Sub sub Sub Num: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
    Mul mul Mul Num: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
    Div div Div Num: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
    Rem rem Rem Num: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
    BitAnd bitand And Bits: bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
    BitOr bitor Or Bits: bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
    BitXor bitxor Xor Bits: bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
    Shl shl Shl Int: i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
    Shr shr Shr Int: i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
}

macro_rules! unary_operators {
    ($($Trait:ident $method:ident $op:ident $Bound:ident: $($A:ty)*;)*) => {$($(
        impl<T: $Bound, D: Rank> $Trait for $A {
            type Output = Array<T, D>;
            #[track_caller]
            fn $method(self) -> Array<T, D> {
                Array::wrap(unary(Op::$op, self.node()))
            }
        }
    )*)*};
}

unary_operators! {
    Neg neg Neg Num: &Array<T, D> Array<T, D>;
    Not not Not Bits: &Array<T, D> Array<T, D>;
}
