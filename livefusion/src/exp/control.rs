//! Conditions and loops in expressions.

use crate::elt::Elt;
use crate::exp::{Exp, Field, IntoExp, ToExp, exp_of, fields_of, trace};
use crate::loc::Loc;

impl Exp<bool> {
    /// Returns `then` if this is true, else `otherwise`.
    ///
    /// Only the selected arm is computed, so a condition can guard a division or an index. Arms are
    /// expressions, literals, tuples or derived structs of one type. Conditions and scalar loops
    /// nest up to 90 deep.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![4i64, 0, 2]);
    /// let ys = xs.map(|x| x.eq(0).cond(0, 8 / x));
    /// assert_eq!(ys.force()?, [2, 0, 4]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if conditions and loops nest deeper than that.
    #[doc(alias("where", "if"))]
    #[track_caller]
    pub fn cond<T: Elt, A: ToExp<T>, B: ToExp<T>>(self, then: A, otherwise: B) -> T::Exp {
        choose::<T>(self, then.to_exp(), otherwise.to_exp(), Loc::caller())
    }

    /// Computes `self && other`, with `other` only if `self` is true.
    ///
    /// `&` always computes both.
    #[track_caller]
    pub fn and(self, other: impl ToExp<bool>) -> Exp<bool> {
        choose::<bool>(self, other.to_exp(), Exp::lit(false), Loc::caller())
    }

    /// Computes `self || other`, with `other` only if `self` is false.
    ///
    /// `|` always computes both.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![4i64, 0, 3]);
    /// let ok = xs.map(|x| x.eq(0).or((12 % x).eq(0)));
    /// assert_eq!(ok.force()?, [true, true, true]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn or(self, other: impl ToExp<bool>) -> Exp<bool> {
        choose::<bool>(self, Exp::lit(true), other.to_exp(), Loc::caller())
    }
}

fn choose<T: Elt>(c: Exp<bool>, a: T::Exp, b: T::Exp, loc: Loc) -> T::Exp {
    let arms: Vec<_> = fields_of::<T>(a)
        .into_iter()
        .zip(fields_of::<T>(b))
        .collect();
    exp_of::<T>(&trace::cond(c.field(), &arms, loc))
}

/// Repeats `state = step(state)` while `test(state)`, and returns the last state.
///
/// For that state the test is false. Both closures are traced once. The number of iterations is
/// unbounded: if the test never fails, the force runs forever.
///
/// ```
/// use livefusion::prelude::*;
/// // How often a number can be halved.
/// let xs = Array::from(vec![1u32, 40, 96]);
/// let halvings = xs.map(|x| {
///     let (_, n) = while_loop((x, 0u32), |(x, _)| (x % 2).eq(0), |(x, n)| (x / 2, n + 1));
///     n
/// });
/// assert_eq!(halvings.force()?, [0, 3, 5]);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[doc(alias = "while")]
#[track_caller]
pub fn while_loop<I: IntoExp, C: ToExp<bool>, S: ToExp<I::Elt>>(
    start: I,
    test: impl FnOnce(<I::Elt as Elt>::Exp) -> C,
    step: impl FnOnce(<I::Elt as Elt>::Exp) -> S,
) -> <I::Elt as Elt>::Exp {
    let start = fields_of::<I::Elt>(start.to_exp());
    let end = trace::while_loop(
        &start,
        |state| test(exp_of::<I::Elt>(state)).to_exp().field(),
        |state| fields_of::<I::Elt>(step(exp_of::<I::Elt>(state)).to_exp()),
        Loc::caller(),
    );
    exp_of::<I::Elt>(&end)
}

/// Applies `step` to `start`, `n` times.
///
/// The closure is traced once.
///
/// ```
/// use livefusion::prelude::*;
/// let xs = Array::from(vec![1.0f64, 4.0]);
/// // Newton's method for the square root.
/// let roots = xs.map(|x| iterate(6, x, |r| 0.5 * (r + x / r)));
/// let error = roots.map(|r| (r * r).fract().abs()).max().force()?;
/// assert!(error < 1e-15);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[track_caller]
pub fn iterate<I: IntoExp, S: ToExp<I::Elt>>(
    n: impl ToExp<u64>,
    start: I,
    step: impl FnOnce(<I::Elt as Elt>::Exp) -> S,
) -> <I::Elt as Elt>::Exp {
    let n = n.to_exp().field();
    let start = fields_of::<I::Elt>(start.to_exp());
    let next = |state: &[Field]| fields_of::<I::Elt>(step(exp_of::<I::Elt>(state)).to_exp());
    exp_of::<I::Elt>(&Field::iterate(n, &start, next, Loc::caller()))
}
