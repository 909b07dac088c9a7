//! Tracing instance of [`Real`]: records a computation as a Loop-level function.

use super::real::{Real, Truth, Word};
use crate::entity::{CombId, Var};
use crate::eval::eval;
use crate::ir::{Args, Atom, Function, Loop, Stmt, StmtKind, Type, VarData};
use crate::op::Op;
use crate::types::{Const, Ty};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

/// Records a function.
///
/// Equal statements are recorded once.
#[derive(Default)]
pub struct Tracer {
    body: RefCell<Body>,
}

#[derive(Default)]
struct Body {
    vars: Vec<VarData>,
    stmts: Vec<Stmt>,
    seen: FxHashMap<(Op, Ty, Args), Atom>,
}

impl Body {
    fn var(&mut self, name: String, ty: Ty) -> Var {
        let ty = Type::Scalar(ty);
        self.vars.push(VarData {
            name,
            ty,
            scratch: false,
        });
        Var::new(self.vars.len() - 1)
    }

    fn ty(&self, a: Atom) -> Ty {
        match a {
            Atom::Const(c) => c.ty,
            Atom::Var(v) => self.vars[v.index()].ty.elem(),
        }
    }
}

impl Tracer {
    /// Adds a parameter.
    pub fn param<T: Scalar>(&self, name: &str) -> Term<'_, T> {
        let var = self.body.borrow_mut().var(name.to_string(), T::TY);
        Term {
            tracer: self,
            atom: Atom::Var(var),
            value: PhantomData,
        }
    }

    /// Returns the function with these parameters and this result.
    pub fn finish(&self, name: String, params: &[Atom], result: Atom) -> Loop {
        let body = self.body.take();
        let var = |a: &Atom| match a {
            Atom::Var(v) => Some(*v),
            Atom::Const(_) => None,
        };
        let function = Function {
            name,
            comb: CombId::new(0),
            params: params.iter().filter_map(var).collect(),
            body: body.stmts,
            results: vec![result],
        };
        Loop {
            vars: body.vars,
            functions: vec![function],
            ..Loop::default()
        }
    }

    /// Records an operator and returns its value; constants are folded.
    fn op(&self, op: Op, to: Ty, args: &[Atom]) -> Atom {
        let mut body = self.body.borrow_mut();
        let position = usize::from(op == Op::Select);
        let from = args.get(position).map_or(to, |a| body.ty(*a));
        let constants: Option<Vec<u64>> = args
            .iter()
            .map(|a| match a {
                Atom::Const(c) => Some(c.bits),
                Atom::Var(_) => None,
            })
            .collect();
        if let Some(words) = constants {
            return Atom::Const(Const::new(to, eval(op, from, to, &words)));
        }
        let args = Args::from_slice(args);
        if let Some(known) = body.seen.get(&(op, to, args.clone())) {
            return *known;
        }
        let name = format!("t{}", body.vars.len());
        let var = body.var(name, to);
        body.stmts.push(Stmt {
            comb: CombId::new(0),
            kind: StmtKind::Let(var, op, args.clone()),
        });
        body.seen.insert((op, to, args), Atom::Var(var));
        Atom::Var(var)
    }
}

/// Maps a Rust type to its scalar type.
pub trait Scalar: Copy {
    /// The scalar type.
    const TY: Ty;
}

macro_rules! scalars {
    ($($t:ident $ty:ident)*) => { $(impl Scalar for $t { const TY: Ty = Ty::$ty; })* };
}

scalars!(bool Bool i32 I32 u32 U32 u64 U64 f32 F32 f64 F64);

/// Represents a value of type `T` in a recorded function.
pub struct Term<'a, T> {
    tracer: &'a Tracer,
    /// Its operand.
    pub atom: Atom,
    value: PhantomData<T>,
}

impl<T> Clone for Term<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Term<'_, T> {}

impl<T> std::fmt::Debug for Term<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.atom.fmt(f)
    }
}

impl<'a, T: Scalar> Term<'a, T> {
    fn op<U: Scalar>(self, op: Op, others: &[Atom]) -> Term<'a, U> {
        let args: Args = std::iter::once(self.atom)
            .chain(others.iter().copied())
            .collect();
        self.at(self.tracer.op(op, U::TY, &args))
    }

    fn at<U>(self, atom: Atom) -> Term<'a, U> {
        Term {
            tracer: self.tracer,
            atom,
            value: PhantomData,
        }
    }

    fn constant(self, word: u64) -> Term<'a, T> {
        self.at(Atom::Const(Const::new(T::TY, word)))
    }
}

impl<'a> BitAnd for Term<'a, bool> {
    type Output = Term<'a, bool>;
    fn bitand(self, other: Self) -> Self {
        self.op(Op::And, &[other.atom])
    }
}

impl<'a> BitOr for Term<'a, bool> {
    type Output = Term<'a, bool>;
    fn bitor(self, other: Self) -> Self {
        self.op(Op::Or, &[other.atom])
    }
}

impl Truth for Term<'_, bool> {}

macro_rules! operators {
    ($float:ident: $($trait:ident $method:ident)*) => { $(
        impl<'a> $trait for Term<'a, $float> {
            type Output = Term<'a, $float>;
            fn $method(self, other: Self) -> Self {
                self.op(Op::$trait, &[other.atom])
            }
        }
    )* };
}

macro_rules! traced {
    ($float:ident $word:ident $single:literal) => {
        operators!($float: Add add Sub sub Mul mul Div div);

        impl<'a> Neg for Term<'a, $float> {
            type Output = Term<'a, $float>;
            fn neg(self) -> Self {
                self.op(Op::Neg, &[])
            }
        }

        impl<'a> Real for Term<'a, $float> {
            type Bits = Term<'a, $word>;
            type Truth = Term<'a, bool>;
            type Wide = Term<'a, f64>;
            const SINGLE: bool = $single;

            fn of(self, x: f64) -> Self {
                self.constant(u64::from((x as $float).to_bits()))
            }
            fn mul_add(self, a: Self, b: Self) -> Self {
                self.op(Op::MulAdd, &[a.atom, b.atom])
            }
            fn sqrt(self) -> Self {
                self.op(Op::Sqrt, &[])
            }
            fn round(self) -> Self {
                self.op(Op::RoundEven, &[])
            }
            fn abs(self) -> Self {
                self.op(Op::Abs, &[])
            }
            fn copysign(self, sign: Self) -> Self {
                self.op(Op::Copysign, &[sign.atom])
            }
            fn bits(self) -> Self::Bits {
                self.op(Op::Bitcast, &[])
            }
            fn lt(self, other: Self) -> Self::Truth {
                self.op(Op::Lt, &[other.atom])
            }
            fn same(self, other: Self) -> Self::Truth {
                self.op(Op::Eq, &[other.atom])
            }
            fn select(c: Self::Truth, a: Self, b: Self) -> Self {
                c.op(Op::Select, &[a.atom, b.atom])
            }
            fn widen(self) -> Self::Wide {
                if $single { self.op(Op::Cast, &[]) } else { self.at(self.atom) }
            }
            fn narrow(wide: Self::Wide) -> Self {
                if $single { wide.op(Op::Cast, &[]) } else { wide.at(wide.atom) }
            }
        }

        impl<'a> Word for Term<'a, $word> {
            type Real = Term<'a, $float>;
            type Truth = Term<'a, bool>;

            fn of(self, x: u64) -> Self {
                self.constant(x)
            }
            fn plus(self, other: Self) -> Self {
                self.op(Op::Add, &[other.atom])
            }
            fn minus(self, other: Self) -> Self {
                self.op(Op::Sub, &[other.atom])
            }
            fn and(self, other: Self) -> Self {
                self.op(Op::And, &[other.atom])
            }
            fn xor(self, other: Self) -> Self {
                self.op(Op::Xor, &[other.atom])
            }
            fn shl(self, by: u32) -> Self {
                self.op(Op::Shl, &[Word::of(self, u64::from(by)).atom])
            }
            fn shr(self, by: u32) -> Self {
                self.op(Op::Shr, &[Word::of(self, u64::from(by)).atom])
            }
            fn same(self, other: Self) -> Self::Truth {
                self.op(Op::Eq, &[other.atom])
            }
            fn real(self) -> Self::Real {
                self.op(Op::Bitcast, &[])
            }
        }
    };
}

traced!(f32 u32 true);
traced!(f64 u64 false);
