//! Sums of integers: collects their constants and the multiples of equal operands.
//!
//! Integers wrap, so a sum has the same bits in any order.

use super::Op;
use crate::types::{Const, Ty};
use smallvec::SmallVec;

/// Describes an operand, as far as sums look into it.
#[derive(Clone, Copy, Debug)]
pub enum SumView<A> {
    /// A constant.
    Constant(Const),
    /// An operation on one operand.
    One(Op, A),
    /// An operation on two operands.
    Two(Op, A, A),
    /// Any other value.
    Other,
}

/// Represents an operand or a constant of a collected sum.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SumPart<A> {
    /// An operand.
    Of(A),
    /// A constant.
    Is(Const),
}

/// Represents a part, or one operation on two parts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Sum<A> {
    /// A part alone.
    One(SumPart<A>),
    /// An operation.
    Two(Op, SumPart<A>, SumPart<A>),
}

/// The maximal number of operands and operations that a sum is collected from.
const MOST: usize = 12;

/// Collects `op` on two integers, if a single operation or less remains.
///
/// `view` looks into an operand. An operand that cancels must not be needed, as `may_drop` tells.
///
/// ```
/// use loop_lang::op::sums::{SumPart, Sum, SumView, collect};
/// use loop_lang::types::{Const, Ty};
/// use loop_lang::Op;
/// // The operand 1 is `x + 5`, and 2 is the constant 3.
/// let view = |a| match a {
///     1 => SumView::Two(Op::Add, 0, 9),
///     2 => SumView::Constant(Const::int(Ty::I64, 3)),
///     9 => SumView::Constant(Const::int(Ty::I64, 5)),
///     _ => SumView::Other,
/// };
/// let sum = collect(Op::Sub, Ty::I64, [1, 2], view, |_| true);
/// let two = SumPart::Is(Const::int(Ty::I64, 2));
/// assert_eq!(sum, Some(Sum::Two(Op::Add, SumPart::Of(0), two)));
/// ```
pub fn collect<A: Copy + PartialEq>(
    op: Op,
    ty: Ty,
    args: [A; 2],
    view: impl Fn(A) -> SumView<A>,
    may_drop: impl Fn(A) -> bool,
) -> Option<Sum<A>> {
    let sign = match op {
        Op::Add if ty.is_int() => 1,
        Op::Sub if ty.is_int() => u64::MAX,
        _ => return None,
    };
    let (mut parts, mut visited, mut constant) = (0, 0, 0u64);
    let mut multiples: SmallVec<[(A, u64); 4]> = SmallVec::new();
    let mut stack: SmallVec<[(A, u64); 8]> = SmallVec::from_slice(&[(args[1], sign), (args[0], 1)]);
    while let Some((a, times)) = stack.pop() {
        visited += 1;
        if visited > MOST {
            return None;
        }
        let number = |a: A| match view(a) {
            SumView::Constant(c) => Some(times.wrapping_mul(c.bits)),
            _ => None,
        };
        match view(a) {
            SumView::Two(Op::Add, x, y) => stack.extend([(y, times), (x, times)]),
            SumView::Two(Op::Sub, x, y) => stack.extend([(y, times.wrapping_neg()), (x, times)]),
            SumView::One(Op::Neg, x) => stack.push((x, times.wrapping_neg())),
            SumView::Two(Op::Mul, x, y) if let Some(times) = number(y) => stack.push((x, times)),
            SumView::Two(Op::Mul, x, y) if let Some(times) = number(x) => stack.push((y, times)),
            SumView::Constant(c) => {
                parts += 1;
                constant = constant.wrapping_add(times.wrapping_mul(c.bits));
            }
            _ => {
                parts += 1;
                match multiples.iter_mut().find(|m| m.0 == a) {
                    Some(known) => known.1 = known.1.wrapping_add(times),
                    None => multiples.push((a, times)),
                }
            }
        }
    }
    let wrapped = |n: u64| Const::new(ty, n);
    let is_zero = |n: u64| wrapped(n) == Const::zero(ty);
    if multiples.iter().any(|m| is_zero(m.1) && !may_drop(m.0)) {
        return None;
    }
    multiples.retain(|m| !is_zero(m.1));
    let left = multiples.len() + usize::from(!is_zero(constant));
    if left >= parts {
        return None;
    }
    let (one, less) = (wrapped(1), wrapped(u64::MAX));
    let factor = |n: u64| wrapped(n);
    match multiples[..] {
        [] => Some(Sum::One(SumPart::Is(wrapped(constant)))),
        [(x, n)] if is_zero(constant) && factor(n) == one => Some(Sum::One(SumPart::Of(x))),
        [(x, n)] if is_zero(constant) => {
            Some(Sum::Two(Op::Mul, SumPart::Of(x), SumPart::Is(factor(n))))
        }
        [(x, n)] if factor(n) == one => Some(plus(x, constant, ty)),
        [(x, n)] if factor(n) == less => Some(Sum::Two(
            Op::Sub,
            SumPart::Is(wrapped(constant)),
            SumPart::Of(x),
        )),
        [(x, n), (y, m)] if is_zero(constant) => match (factor(n), factor(m)) {
            (n, m) if n == one && m == one => {
                Some(Sum::Two(Op::Add, SumPart::Of(x), SumPart::Of(y)))
            }
            (n, m) if n == one && m == less => {
                Some(Sum::Two(Op::Sub, SumPart::Of(x), SumPart::Of(y)))
            }
            (n, m) if n == less && m == one => {
                Some(Sum::Two(Op::Sub, SumPart::Of(y), SumPart::Of(x)))
            }
            _ => None,
        },
        _ => None,
    }
}

/// `x` plus a constant, or minus one if that is the smaller number.
fn plus<A>(x: A, constant: u64, ty: Ty) -> Sum<A> {
    let (more, less) = (
        Const::new(ty, constant),
        Const::new(ty, constant.wrapping_neg()),
    );
    let width = u64::MAX >> (64 - 8 * ty.size());
    match less.bits & width < more.bits & width {
        true => Sum::Two(Op::Sub, SumPart::Of(x), SumPart::Is(less)),
        false => Sum::Two(Op::Add, SumPart::Of(x), SumPart::Is(more)),
    }
}
