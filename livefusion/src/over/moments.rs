//! The states of means and variances: `f64`s and pairs of them, so that little is lost far from zero.
//!
//! * Means of `f32` elements: a plain sum. The 29 bits that an `f64` has beyond an `f32` pay for its rounding.
//! * Other means: a sum, and the rounding errors of its additions, added up beside it.
//! * Variances: in the same ways the distances from an element, added up, and their squares. Each lane takes the first element that it meets, so no
//!   element has to be known before the loop. Such a shift is among the elements: for `n` of them, the squares about it are at most
//!   `n + 1` times those about the mean. States are joined about their common mean.

use crate::array::by;
use crate::ast::{Body, BodyBuilder, Builder, Fold, Node, TermId};
use crate::exp::{Exp, ToExp, closure, value};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// A sum, and its missing part.
type Pair = (f64, f64);
/// How many elements, the shift, the sum of the distances from it, and that of their squares.
type State = (u64, f64, Pair, Pair);

/// A statistic of elements as `f64`s: a fold, and the function that ends its state.
pub(crate) struct Statistic {
    pub(crate) fold: Fold,
    /// Of a state and the number of elements, an `f64`.
    finish: Body,
    /// The type of the result.
    ty: Ty,
}

impl Statistic {
    /// The mean of elements that were of this type.
    pub(crate) fn mean(ty: Ty) -> Statistic {
        let (fold, finish) = match ty {
            Ty::F32 => (
                plain_sum(),
                closure::<(f64, u64), f64>(|(sum, n)| sum / n.cast::<f64>()),
            ),
            _ => (
                pairs(),
                closure::<(Pair, u64), f64>(|(sum, n)| share(sum, n)),
            ),
        };
        Statistic {
            fold,
            finish,
            ty: float(ty),
        }
    }

    /// The variance.
    pub(crate) fn var(ty: Ty) -> Statistic {
        Statistic {
            fold: moments(ty),
            finish: closure::<(State, u64), f64>(|(state, n)| variance(state, n)),
            ty: float(ty),
        }
    }

    /// The square root of the variance.
    pub(crate) fn std(ty: Ty) -> Statistic {
        Statistic {
            finish: closure::<(State, u64), f64>(|(state, n)| variance(state, n).sqrt()),
            ..Statistic::var(ty)
        }
    }

    /// The result of a state, over so many elements.
    pub(crate) fn result(&self, b: &mut BodyBuilder, state: &[TermId], n: TermId) -> Vec<TermId> {
        let given = [state, &[n]].concat();
        let found = b.embed(&self.finish, &given).unwrap_or_default();
        found.into_iter().map(|x| b.cast(x, self.ty)).collect()
    }

    /// How many fields a state has.
    pub(crate) fn width(&self) -> u32 {
        self.finish.params.len() as u32 - 1
    }
}

impl Builder {
    /// A statistic of all elements of an array of one axis, which are numbers of a type.
    pub(crate) fn statistic(self, xs: &Arc<Node>, of: &Statistic) -> Arc<Node> {
        let floats = self.floats(xs);
        let state = self.fold(&floats, of.fold.clone());
        let len = self.len(xs);
        let mut b = BodyBuilder::new(&[]);
        let fields: Vec<TermId> = (0..of.width()).map(|k| b.scalar(&state, k)).collect();
        let n = b.scalar(&len, 0);
        let result = of.result(&mut b, &fields, n);
        self.compute(b.finish(&result))
    }

    /// Numbers as `f64`s.
    pub(crate) fn floats(self, xs: &Arc<Node>) -> Arc<Node> {
        if *xs.types == [Ty::F64] {
            return xs.clone();
        }
        let mut b = BodyBuilder::new(&xs.types);
        let x = b.param(0);
        let x = b.cast(x, Ty::F64);
        self.map(std::slice::from_ref(xs), b.finish(&[x]))
    }
}

/// The type of statistics of elements of a type.
pub(crate) fn float(ty: Ty) -> Ty {
    match ty {
        Ty::F32 => Ty::F32,
        _ => Ty::F64,
    }
}

/// A sum of `f64`s as any other.
pub(crate) fn plain_sum() -> Fold {
    by(Op::Add, Const::zero(Ty::F64))
}

/// Sums in pairs.
pub(crate) fn pairs() -> Fold {
    let join = closure::<(Pair, Pair), Pair>(|((sum, missing), (more, rest))| {
        let (sum, lost) = two_sum(sum, more);
        (sum, missing + rest + lost).to_exp()
    });
    let step = closure::<(Pair, f64), Pair>(|(sum, x)| one_more(sum, x).to_exp());
    Fold::dealt(value::<Pair>(|| (0.0, 0.0).to_exp()), step, join)
}

/// Sums in pairs from left to right, of elements that are pairs as well: nothing is missing from them.
pub(crate) fn pairs_in_order() -> Fold {
    let step = closure::<(Pair, Pair), Pair>(|(sum, (x, _))| one_more(sum, x).to_exp());
    Fold::sequential(value::<Pair>(|| (0.0, 0.0).to_exp()), step)
}

/// An element as a pair.
pub(crate) fn as_pair() -> Body {
    closure::<f64, Pair>(|x| (x, 0.0).to_exp())
}

/// One more element. Where it is greater than the sum, up to a rounding of its own is lost: over all elements no more than over as
/// many elements' roundings, however many there are. The six operations that lose nothing take half as long again.
fn one_more((sum, missing): Two, x: Exp<f64>) -> Two {
    let more = sum + x;
    (more, missing + (x - (more - sum)))
}

/// A sum, and its exact rounding error.
fn two_sum(a: Exp<f64>, b: Exp<f64>) -> Two {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// A sum in a pair over a number: the quotient, and that of the remainder. A sum that is not finite has lost nothing.
fn share((sum, missing): Two, n: Exp<u64>) -> Exp<f64> {
    let n = n.cast::<f64>();
    let quotient = sum / n;
    let left = (-quotient).mul_add(n, sum) + missing;
    sum.is_finite().cond(quotient + left / n, quotient)
}

/// Moments about a shift, of elements that were of a type. Of `f32` elements plain sums lose too little to keep.
fn moments(ty: Ty) -> Fold {
    let plus = match ty {
        Ty::F32 => |(sum, missing): Two, x| (sum + x, missing),
        _ => one_more,
    };
    let start = value::<State>(|| (0u64, 0.0, (0.0, 0.0), (0.0, 0.0)).to_exp());
    let step = closure::<(State, f64), State>(|((n, shift, sum, squares), x)| {
        let shift = n.eq(0).cond(x, shift);
        let away = x - shift;
        let sums = (plus(sum, away), plus(squares, away * away));
        (n + 1, shift, sums.0, sums.1).to_exp()
    });
    let join = closure::<(State, State), State>(|(left, right)| {
        let both = || {
            let turned = comes_first(right, left);
            let first = turned.cond::<State, _, _>(right, left);
            let second = turned.cond::<State, _, _>(left, right);
            joined(first, second).to_exp()
        };
        let right_or = || right.0.eq(0).cond::<State, _, _>(left, both());
        left.0.eq(0).cond::<State, _, _>(right, right_or())
    });
    Fold::dealt(start, step, join)
}

/// A pair as expressions.
type Two = (Exp<f64>, Exp<f64>);
/// A state as expressions.
type Fields = (Exp<u64>, Exp<f64>, Two, Two);

/// Whether a part is the one that another is joined onto, so that joins commute bit for bit: the longer one. Of equally long ones
/// the shifts and sums tell; where these are equal too, sides make no difference.
fn comes_first(a: Fields, b: Fields) -> Exp<bool> {
    let (sum, other) = (a.2.0 + a.2.1, b.2.0 + b.2.1);
    let by_sum = a.1.eq(b.1) & sum.lt(other);
    a.0.gt(b.0) | (a.0.eq(b.0) & (a.1.lt(b.1) | by_sum))
}

/// The moments of two parts that both have elements, about their mean as nearly as an `f64` tells it.
fn joined(left: Fields, right: Fields) -> Fields {
    let (n, shift, sum, squares) = left;
    let (m, other, more, rest) = right;
    let all = n + m;
    let (a, b) = (n.cast::<f64>(), m.cast::<f64>());
    let (sum, more) = (sum.0 + sum.1, more.0 + more.1);
    let (off, by) = (sum / a, more / b);
    let apart = (other - shift) + (by - off);
    let part = b / all.cast::<f64>();
    let (mean, left_over) = two_sum(shift, off + apart * part);
    let over = left_over * all.cast::<f64>();
    let (both, rounded) = two_sum(squares.0, rest.0);
    // To the squares about the parts' means, those of the means, and back to the new shift.
    let terms = [
        -(sum * off),
        -(more * by),
        apart * apart * (a * part),
        over * left_over,
    ];
    let mut found = (both, squares.1 + rest.1 + rounded);
    for term in terms {
        let (next, rounded) = two_sum(found.0, term);
        found = (next, found.1 + rounded);
    }
    (all, mean, (over, Exp::lit(0.0)), found)
}

/// The mean of the squares of distances from the mean. Rounding may leave less than nothing.
fn variance((_, _, sum, squares): Fields, n: Exp<u64>) -> Exp<f64> {
    let n = n.cast::<f64>();
    about_mean(sum.0 + sum.1, squares, n) / n
}

/// The sum of squares about the mean, from sums about another number. Squares that are infinite have lost nothing.
fn about_mean(sum: Exp<f64>, (squares, missing): Two, n: Exp<f64>) -> Exp<f64> {
    let found = (squares - sum * (sum / n)) + missing;
    let found = squares.eq(f64::INFINITY).cond(squares, found);
    found.lt(0.0).cond(0.0, found)
}

/// From the sum of distances from a number near the mean, that of their squares, and how many there are, the variance.
pub(crate) fn corrected() -> Body {
    closure::<(f64, Pair, u64), f64>(|(sum, squares, n)| {
        let n = n.cast::<f64>();
        about_mean(sum, squares, n) / n
    })
}
