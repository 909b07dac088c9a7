//! Arithmetic, bit and shift operators on expressions.
//!
//! There is one implementation per operator for `Exp op operand`. There is also one per scalar type
//! for `literal op Exp`, so that Rust can infer the types of literals.

use crate::elt::{Bits, Int, Num, Scalar};
use crate::exp::{Exp, Field, ToExp, apply};
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::Const;
use std::iter::{Product, Sum};
use std::ops::*;

fn binary<T: Scalar>(op: Op, a: Exp<T>, b: Exp<T>, loc: Loc) -> Exp<T> {
    apply(op, &[a.field(), b.field()], loc)
}

macro_rules! operators {
    ($($Trait:ident $method:ident $Assign:ident $assign:ident $op:ident $Bound:ident: $($t:ty)*;)*) => {$(
        impl<T: $Bound, R: ToExp<T>> $Trait<R> for Exp<T> {
            type Output = Exp<T>;
            #[track_caller]
            fn $method(self, r: R) -> Exp<T> {
                binary(Op::$op, self, r.to_exp(), Loc::caller())
            }
        }
        impl<T: $Bound, R: ToExp<T>> $Assign<R> for Exp<T> {
            #[track_caller]
            fn $assign(&mut self, r: R) {
                *self = binary(Op::$op, *self, r.to_exp(), Loc::caller());
            }
        }
        $(impl $Trait<Exp<$t>> for $t {
            type Output = Exp<$t>;
            #[track_caller]
            fn $method(self, r: Exp<$t>) -> Exp<$t> {
                binary(Op::$op, Exp::lit(self), r, Loc::caller())
            }
        })*
    )*};
}

operators! {
    Add add AddAssign add_assign Add Num: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
    Sub sub SubAssign sub_assign Sub Num: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
    Mul mul MulAssign mul_assign Mul Num: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
    Div div DivAssign div_assign Div Num: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
    Rem rem RemAssign rem_assign Rem Num: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64;
    BitAnd bitand BitAndAssign bitand_assign And Bits: bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
    BitOr bitor BitOrAssign bitor_assign Or Bits: bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
    BitXor bitxor BitXorAssign bitxor_assign Xor Bits: bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
    Shl shl ShlAssign shl_assign Shl Int: i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
    Shr shr ShrAssign shr_assign Shr Int: i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
}

impl<T: Num> Neg for Exp<T> {
    type Output = Exp<T>;
    #[track_caller]
    fn neg(self) -> Exp<T> {
        apply(Op::Neg, &[self.field()], Loc::caller())
    }
}

impl<T: Bits> Not for Exp<T> {
    type Output = Exp<T>;
    #[track_caller]
    fn not(self) -> Exp<T> {
        apply(Op::Not, &[self.field()], Loc::caller())
    }
}

macro_rules! folds {
    ($($Trait:ident $method:ident $op:ident $start:expr;)*) => {$(
        impl<T: Num> $Trait for Exp<T> {
            #[track_caller]
            fn $method<I: Iterator<Item = Exp<T>>>(all: I) -> Exp<T> {
                let loc = Loc::caller();
                let joined = all.reduce(|a, b| binary(Op::$op, a, b, loc));
                joined.unwrap_or_else(|| $start)
            }
        }
        impl<'a, T: Num> $Trait<&'a Exp<T>> for Exp<T> {
            #[track_caller]
            fn $method<I: Iterator<Item = &'a Exp<T>>>(all: I) -> Exp<T> {
                $Trait::$method(all.copied())
            }
        }
    )*};
}

folds! {
    Sum sum Add Exp::of(Field::literal(Const::zero(T::TY)));
    Product product Mul Exp::lit(T::ONE);
}
