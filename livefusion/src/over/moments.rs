//! Fold states of means and variances.
//!
//! States hold `f64`s and pairs of them, to keep precision for numbers far from zero.
//!
//! - Means of `f32` elements: a plain sum. The 29 extra bits of an `f64` cover its rounding errors.
//! - Other means: a sum, and the sum of the rounding errors of its additions.
//! - Variances: the distances from a shift and their squares, summed in the same ways. Each lane
//!   takes its first element as the shift, so no element must be known before the loop. For `n`
//!   elements the squares about such a shift are at most `n + 1` times those about the mean. Joined
//!   states are about their common mean.

use crate::array::by;
use crate::ast::{Body, BodyBuilder, Builder, Fold, Node, TermId};
use crate::exp::{Exp, ToExp, closure, value};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// A sum, and its accumulated rounding error.
type Pair = (f64, f64);
/// The count, the shift, the sum of the distances from it, and the sum of their squares.
type State = (u64, f64, Pair, Pair);

/// A statistic of `f64` elements: a fold, and a function that finishes its state.
pub(crate) struct Statistic {
    pub(crate) fold: Fold,
    /// Maps a state and the number of elements to an `f64`.
    finish: Body,
    /// The result type.
    ty: Ty,
}

impl Statistic {
    /// The mean of elements of this original type.
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

    /// Finishes a state over `n` elements.
    pub(crate) fn result(&self, b: &mut BodyBuilder, state: &[TermId], n: TermId) -> Vec<TermId> {
        let given = [state, &[n]].concat();
        let found = b.embed(&self.finish, &given).unwrap_or_default();
        found.into_iter().map(|x| b.cast(x, self.ty)).collect()
    }

    /// The number of fields of a state.
    pub(crate) fn width(&self) -> u32 {
        self.finish.params.len() as u32 - 1
    }
}

impl Builder {
    /// Computes a statistic of all elements of an array of one axis. The elements are numbers.
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

    /// Casts numbers to `f64`.
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

/// Returns the result type of a statistic, given the element type.
pub(crate) fn float(ty: Ty) -> Ty {
    match ty {
        Ty::F32 => Ty::F32,
        _ => Ty::F64,
    }
}

/// An ordinary sum of `f64`s.
pub(crate) fn plain_sum() -> Fold {
    by(Op::Add, Const::zero(Ty::F64))
}

/// Sums with accumulated rounding errors.
pub(crate) fn pairs() -> Fold {
    let join = closure::<(Pair, Pair), Pair>(|((sum, missing), (more, rest))| {
        let (sum, lost) = two_sum(sum, more);
        (sum, missing + rest + lost).to_exp()
    });
    let step = closure::<(Pair, f64), Pair>(|(sum, x)| one_more(sum, x).to_exp());
    Fold::dealt(value::<Pair>(|| (0.0, 0.0).to_exp()), step, join)
}

/// Sums from left to right with accumulated rounding errors. Elements are exact pairs.
pub(crate) fn pairs_in_order() -> Fold {
    let step = closure::<(Pair, Pair), Pair>(|(sum, (x, _))| one_more(sum, x).to_exp());
    Fold::sequential(value::<Pair>(|| (0.0, 0.0).to_exp()), step)
}

/// Converts an element to a pair.
pub(crate) fn as_pair() -> Body {
    closure::<f64, Pair>(|x| (x, 0.0).to_exp())
}

/// Adds an element to a sum. If the element is larger than the sum, an error of up to one rounding
/// of that element is lost. In total this is at most one rounding per element, however many there
/// are. The exact `two_sum` takes six operations and 1.5 times as long.
fn one_more((sum, missing): Two, x: Exp<f64>) -> Two {
    let more = sum + x;
    (more, missing + (x - (more - sum)))
}

/// Returns a sum and its exact rounding error.
fn two_sum(a: Exp<f64>, b: Exp<f64>) -> Two {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// Divides a pair by a number: the quotient plus that of the remainder. For a sum that is not
/// finite the error is ignored.
fn share((sum, missing): Two, n: Exp<u64>) -> Exp<f64> {
    let n = n.cast::<f64>();
    let quotient = sum / n;
    let left = (-quotient).mul_add(n, sum) + missing;
    sum.is_finite().cond(quotient + left / n, quotient)
}

/// Moments about a shift, for elements of this original type. For `f32` elements plain sums are
/// precise enough.
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

/// Orders two parts, so that a join is commutative bit for bit. The longer part comes first.
/// Equally long parts are ordered by shift, then by sum. If these are equal too, the order makes no
/// difference.
fn comes_first(a: Fields, b: Fields) -> Exp<bool> {
    let (sum, other) = (a.2.0 + a.2.1, b.2.0 + b.2.1);
    let by_sum = a.1.eq(b.1) & sum.lt(other);
    a.0.gt(b.0) | (a.0.eq(b.0) & (a.1.lt(b.1) | by_sum))
}

/// Joins the moments of two non-empty parts, about their mean rounded to `f64`.
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
    // Move the squares to the mean of each part, add the squares of the means' distance, and move
    // the result to the new shift.
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

/// The mean of the squared distances from the mean. A negative result of rounding becomes 0.
fn variance((_, _, sum, squares): Fields, n: Exp<u64>) -> Exp<f64> {
    let n = n.cast::<f64>();
    about_mean(sum.0 + sum.1, squares, n) / n
}

/// Converts the sum of squares about a shift to that about the mean. For infinite squares the error
/// is ignored.
fn about_mean(sum: Exp<f64>, (squares, missing): Two, n: Exp<f64>) -> Exp<f64> {
    let found = (squares - sum * (sum / n)) + missing;
    let found = squares.eq(f64::INFINITY).cond(squares, found);
    found.lt(0.0).cond(0.0, found)
}

/// Computes a variance from sums of distances and squares about a number near the mean, and the
/// count.
pub(crate) fn corrected() -> Body {
    closure::<(f64, Pair, u64), f64>(|(sum, squares, n)| {
        let n = n.cast::<f64>();
        about_mean(sum, squares, n) / n
    })
}
