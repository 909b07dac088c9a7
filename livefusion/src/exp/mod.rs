//! Scalar expressions, which closures compute with instead of values.
//!
//! | module | contents |
//! | --- | --- |
//! | `arith` | `+ - * / % & \| ^ << >> ! -` |
//! | `compare` | `lt`, `eq`, ..., `min`, `max`, `clamp` |
//! | `float` | std's float functions |
//! | `int` | `pow`, bit counting, ... |
//! | `control` | `cond`, `and`, `or`, `while_loop`, `iterate` |
//! | `trace` | tracing of closures to bodies |
//! | `field` | expressions whose types are known at run time only |

mod arith;
mod compare;
mod control;
mod field;
mod float;
mod int;
pub(crate) mod trace;

pub use control::{iterate, while_loop};
pub use trace::{Field, Fields};

use crate::ast::{Body, Types};
use crate::elt::{Elt, Scalar};
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::Const;
use std::fmt;
use std::marker::PhantomData;

/// Represents a scalar expression of type `T`.
///
/// Combinators call your closure once, on expressions that represent the elements, and record its
/// operations. Operators work as on numbers, with literals and delayed scalars on either side.
/// Operators that Rust does not let a type redefine are methods: [`lt`](Exp::lt), [`eq`](Exp::eq),
/// [`cond`](Exp::cond), [`and`](Exp::and), [`or`](Exp::or), [`cast`](Exp::cast).
///
/// An expression belongs to its closure. If it leaks out of the closure, an array that uses it
/// reports an error when forced.
///
/// A literal needs a suffix (`1.0f64`) if nothing else decides its type. Next to an expression it
/// takes the type of that expression.
///
/// An expression has no value while the closure runs, so Rust's own control flow cannot test it.
/// The compiler says "expected `bool`, found `Exp<bool>`".
///
/// | instead of | write |
/// | --- | --- |
/// | `if c { a } else { b }` | `c.cond(a, b)` |
/// | `a && b`, `a \|\| b`, `!a` | `a.and(b)`, `a.or(b)`, `!a` |
/// | `match x { 0 => a, 1 => b, _ => c }` | `x.eq(0).cond(a, x.eq(1).cond(b, c))` |
/// | `while c { .. }`, `for _ in 0..n { .. }` | [`while_loop`], [`iterate`] |
/// | `x < y`, `x == y` | `x.lt(y)`, `x.eq(y)` |
///
/// ```
/// use livefusion::prelude::*;
/// let xs = Array::from(vec![1.0f64, 4.0, 9.0]);
/// let ys = xs.map(|x| 2.0 * x.sqrt() + 1.0);
/// assert_eq!(ys.force()?, [3.0, 5.0, 7.0]);
/// # Ok::<(), livefusion::Error>(())
/// ```
pub struct Exp<T> {
    scope: u64,
    word: u64,
    ty: PhantomData<fn() -> T>,
    /// Keeps expressions on the thread of their closure.
    _not_send: [*const (); 0],
}

impl<T> Clone for Exp<T> {
    fn clone(&self) -> Exp<T> {
        *self
    }
}

impl<T> Copy for Exp<T> {}

impl<T: Scalar> Exp<T> {
    /// Makes a literal.
    pub fn lit(x: T) -> Exp<T> {
        Exp::of(Field::literal(Const {
            ty: T::TY,
            bits: x.to_word(),
        }))
    }

    /// Returns the expression without its static type.
    pub fn field(self) -> Field {
        Field::new(self.scope, self.word, T::TY)
    }

    /// Returns the expression of a field.
    ///
    /// A field of another type is converted, as by [`cast`](Exp::cast).
    #[track_caller]
    pub fn of(f: Field) -> Exp<T> {
        let f = f.cast(T::TY, Loc::caller());
        Exp {
            scope: f.scope,
            word: f.word,
            ty: PhantomData,
            _not_send: [],
        }
    }

    /// Converts to another scalar type, as Rust's `as`.
    ///
    /// Integers wrap. Floats to integers saturate, and NaN gives 0. `bool` gives 0 or 1; a
    /// conversion to `bool` tests `!= 0`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1.9f64, -1.0, f64::NAN, 1e9]);
    /// assert_eq!(xs.map(|x| x.cast::<u8>()).force()?, [1, 0, 0, 255]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "astype")]
    #[track_caller]
    pub fn cast<U: Scalar>(self) -> Exp<U> {
        apply(Op::Cast, &[self.field()], Loc::caller())
    }
}

impl<T: Scalar> From<T> for Exp<T> {
    /// Makes a literal, as [`lit`](Exp::lit).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1u8, 2]);
    /// let powers = xs.map(|x| [x, x * x].iter().sum::<Exp<u8>>() + Exp::from(1u8));
    /// assert_eq!(powers.force()?, [3, 7]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    fn from(x: T) -> Exp<T> {
        Exp::lit(x)
    }
}

impl<T: Scalar> fmt::Debug for Exp<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exp({:?})", self.field())
    }
}

/// Applies an operator whose result has type `T`.
pub(crate) fn apply<T: Scalar>(op: Op, args: &[Field], loc: crate::loc::Loc) -> Exp<T> {
    Exp::of(trace::op(op, args, T::TY, loc))
}

/// Converts an operand to an expression of element type `T`.
///
/// Operands are expressions, values of type `T`, delayed scalars, and tuples of these.
#[diagnostic::on_unimplemented(
    message = "expected an expression of element type `{T}`, found `{Self}`",
    label = "not an expression of type `{T}`",
    note = "convert an expression with `.cast::<{T}>()`, or write a literal of that type: `2.0` for floats, `2` for integers"
)]
pub trait ToExp<T: Elt> {
    /// Returns the expression.
    fn to_exp(self) -> T::Exp;
}

/// Describes the return type of a closure, which fixes the element type of the result.
#[diagnostic::on_unimplemented(
    message = "a combinator's closure must return an expression, not `{Self}`",
    label = "not an expression",
    note = "return an `Exp`, a value such as `1.0f64`, or a tuple of them; an `if` on expressions is written `test.cond(then, otherwise)`"
)]
pub trait IntoExp: ToExp<Self::Elt> {
    /// Names the element type.
    type Elt: Elt;
}

impl<T: Scalar> ToExp<T> for Exp<T> {
    fn to_exp(self) -> Exp<T> {
        self
    }
}

impl<T: Scalar> IntoExp for Exp<T> {
    type Elt = T;
}

/// Returns the types of an element's fields.
pub(crate) fn types_of<T: Elt>() -> Types {
    let mut types = Types::new();
    T::types(&mut types);
    types
}

/// Returns the fields of an expression.
pub(crate) fn fields_of<T: Elt>(e: T::Exp) -> Fields {
    let mut fields = Fields::new();
    T::fields(e, &mut fields);
    fields
}

/// Builds an expression from its fields. Missing fields are zero.
pub(crate) fn exp_of<T: Elt>(fields: &[Field]) -> T::Exp {
    let mut fields = fields.iter();
    T::of_fields(&mut |ty| match fields.next() {
        Some(f) => *f,
        None => Field::literal(Const::zero(ty)),
    })
}

/// Traces a closure from elements of type `T` to expressions of type `U`.
pub(crate) fn closure<T: Elt, U: Elt>(f: impl FnOnce(T::Exp) -> U::Exp) -> Body {
    trace::trace(&types_of::<T>(), |params| {
        fields_of::<U>(f(exp_of::<T>(params)))
    })
}

/// Traces an expression that needs no parameters.
pub(crate) fn value<U: Elt>(f: impl FnOnce() -> U::Exp) -> Body {
    trace::trace(&[], |_| fields_of::<U>(f()))
}
