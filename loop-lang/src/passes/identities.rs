//! Algebraic identities: operations whose value is an operand or a constant for all values of the
//! other operands.
//!
//! They must hold bit for bit for every value of the type. `x + 0` is `x` for integers. For floats,
//! `x + -0.0` is `x`, and `x * 0.0` has no simpler form.

use crate::ir::{Args, Atom};
use crate::op::Op;
use crate::op::sums::{Sum, SumPart, SumView, collect};
use crate::types::{Const, Ty};

/// Represents a simpler form of an operation.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Simpler {
    /// An operand or a constant.
    Atom(Atom),
    /// Another operation.
    Op(Op, Args),
}

impl From<Const> for Simpler {
    fn from(c: Const) -> Simpler {
        Simpler::Atom(Atom::Const(c))
    }
}

/// Returns a simpler form of `op args`. `ty` is the type of the operands (of the arms, for
/// `select`), `to` the result's. `inner` returns an operand's definition, if it is known.
pub(super) fn simplify<'a>(
    op: Op,
    ty: Ty,
    to: Ty,
    args: &[Atom],
    inner: impl Fn(Atom) -> Option<(Op, &'a [Atom])>,
) -> Option<Simpler> {
    match *args {
        [a] => unary(op, ty, to, a, inner),
        [_, by] if op == Op::DivOk && least(ty, by, &inner, 0) >= 1 => {
            Some(Const::bool(true).into())
        }
        [a, b] => binary(op, ty, a, b).or_else(|| sum(op, ty, [a, b], inner)),
        [c, a, b] if op == Op::Select => select(ty, c, a, b),
        _ => None,
    }
}

/// The maximum nesting of operations for lower bounds.
const MAX_DEPTH: usize = 4;

/// Returns a lower bound of an integer: a maximum is no less than either operand.
fn least<'a>(
    ty: Ty,
    a: Atom,
    inner: &impl Fn(Atom) -> Option<(Op, &'a [Atom])>,
    depth: usize,
) -> i128 {
    let any = match (ty.is_signed(), ty.size()) {
        (true, bytes) => -1i128 << (8 * bytes - 1),
        (false, _) => 0,
    };
    if let Atom::Const(c) = a {
        return c.integer().unwrap_or(any);
    }
    let of = |x| least(ty, x, inner, depth + 1);
    match inner(a).filter(|_| depth < MAX_DEPTH) {
        Some((Op::Max, &[x, y])) => of(x).max(of(y)),
        Some((Op::Min, &[x, y])) => of(x).min(of(y)),
        Some((Op::Sub, &[x, Atom::Const(c)])) if !ty.is_signed() => {
            // Values below the constant wrap around.
            let less = of(x) - i128::from(c.bits);
            less.max(any)
        }
        _ => any,
    }
}

fn unary<'a>(
    op: Op,
    ty: Ty,
    to: Ty,
    a: Atom,
    inner: impl Fn(Atom) -> Option<(Op, &'a [Atom])>,
) -> Option<Simpler> {
    match op {
        Op::Cast if ty == to => Some(Simpler::Atom(a)),
        Op::Abs if ty.is_int() && !ty.is_signed() => Some(Simpler::Atom(a)),
        Op::Neg | Op::Not => match inner(a) {
            Some((same, &[x])) if same == op => Some(Simpler::Atom(x)),
            _ => None,
        },
        _ => None,
    }
}

fn select(ty: Ty, c: Atom, a: Atom, b: Atom) -> Option<Simpler> {
    let arm = |is: bool| move |x: Atom| ty == Ty::Bool && x == Atom::Const(Const::bool(is));
    match c {
        Atom::Const(c) => Some(Simpler::Atom(if c.bits == 1 { a } else { b })),
        _ if a == b => Some(Simpler::Atom(a)),
        _ if arm(true)(a) && arm(false)(b) => Some(Simpler::Atom(c)),
        _ if arm(false)(a) && arm(true)(b) => Some(Simpler::Op(Op::Not, [c].into_iter().collect())),
        _ => None,
    }
}

/// A sum of integers whose constants or equal operands are collected.
fn sum<'a>(
    op: Op,
    ty: Ty,
    args: [Atom; 2],
    inner: impl Fn(Atom) -> Option<(Op, &'a [Atom])>,
) -> Option<Simpler> {
    let view = |a: Atom| match (a, inner(a)) {
        (Atom::Const(c), _) => SumView::Constant(c),
        (_, Some((op, &[x]))) => SumView::One(op, x),
        (_, Some((op, &[x, y]))) => SumView::Two(op, x, y),
        _ => SumView::Other,
    };
    let part = |part| match part {
        SumPart::Of(a) => a,
        SumPart::Is(c) => Atom::Const(c),
    };
    Some(match collect(op, ty, args, view, |_| true)? {
        Sum::One(a) => Simpler::Atom(part(a)),
        Sum::Two(op, a, b) => Simpler::Op(op, [part(a), part(b)].into_iter().collect()),
    })
}

fn binary(op: Op, ty: Ty, a: Atom, b: Atom) -> Option<Simpler> {
    if let Atom::Const(c) = b
        && let Some(simpler) = with_right(op, ty, a, c)
    {
        return Some(simpler);
    }
    if let Atom::Const(c) = a
        && let Some(simpler) = with_left(op, ty, c, b)
    {
        return Some(simpler);
    }
    if a == b { with_itself(op, ty, a) } else { None }
}

/// `a op c`.
fn with_right(op: Op, ty: Ty, a: Atom, c: Const) -> Option<Simpler> {
    let is = |k: Known| k.is(c, ty);
    let same = Some(Simpler::Atom(a));
    match op {
        _ if op.right_identity(ty) == Some(c) => same,
        Op::DivEuclid if is(Known::One) => same,
        Op::Rem | Op::RemEuclid if is(Known::One) => Some(Const::zero(ty).into()),
        Op::Mul | Op::And if is(Known::Zero) => Some(Const::zero(ty).into()),
        Op::Or if is(Known::Ones) => Some(c.into()),
        Op::Xor if is(Known::Ones) => Some(Simpler::Op(Op::Not, [a].into_iter().collect())),
        Op::Eq if ty == Ty::Bool && is(Known::Ones) => same,
        Op::Ne if ty == Ty::Bool && is(Known::Zero) => same,
        Op::DivOk if is(Known::Zero) => Some(Const::bool(false).into()),
        Op::DivOk if !(ty.is_signed() && is(Known::Ones)) => Some(Const::bool(true).into()),
        Op::Lt if ty.is_int() && !ty.is_signed() && is(Known::Zero) => {
            Some(Const::bool(false).into())
        }
        Op::Ge if ty.is_int() && !ty.is_signed() && is(Known::Zero) => {
            Some(Const::bool(true).into())
        }
        _ => None,
    }
}

/// `c op b`: for commutative operators, the same as `b op c`.
fn with_left(op: Op, ty: Ty, c: Const, b: Atom) -> Option<Simpler> {
    match op {
        Op::Shl | Op::Shr if Known::Zero.is(c, ty) => Some(c.into()),
        _ if op.commutes() => with_right(op, ty, b, c),
        _ => None,
    }
}

/// `a op a`. Floats may be NaN, which differs from itself.
fn with_itself(op: Op, ty: Ty, a: Atom) -> Option<Simpler> {
    match op {
        Op::Copysign => Some(Simpler::Atom(a)),
        _ if op.is_idempotent() => Some(Simpler::Atom(a)),
        Op::Sub | Op::Xor if !ty.is_float() => Some(Const::zero(ty).into()),
        Op::Eq | Op::Le | Op::Ge if !ty.is_float() => Some(Const::bool(true).into()),
        Op::Ne | Op::Lt | Op::Gt => (!ty.is_float()).then(|| Const::bool(false).into()),
        _ => None,
    }
}

/// Constants with a special role for some operator on integers and `bool`.
enum Known {
    /// 0, `false`.
    Zero,
    /// 1.
    One,
    /// All bits set: -1, the largest unsigned number, `true`.
    Ones,
}

impl Known {
    fn is(&self, c: Const, ty: Ty) -> bool {
        match self {
            _ if ty.is_float() => false,
            Known::Zero => c == Const::zero(ty),
            Known::One => ty.is_int() && c == Const::int(ty, 1),
            Known::Ones => c == Const::int(ty, -1),
        }
    }
}
