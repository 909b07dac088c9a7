//! Random access: `at`, `backpermute`, and what an array is indexed with.

use super::make::{built, place, shaped, traced, under};
use crate::array::{Array, Dim, IntoShape, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn, Multi};
use crate::ast::{Builder, Node, Shape};
use crate::elt::{Elt, Int};
use crate::exp::{Exp, Field, Fields, exp_of, trace, value};
use crate::loc::Loc;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// See also [`Field::at`], which reads an element in a closure.
impl Builder {
    /// An array of this shape whose elements are read from another: `f` gives the index of each, as many integers as that has
    /// axes, from its own.
    ///
    /// ```
    /// use livefusion::ast::{Builder, Shape};
    /// use livefusion::prelude::*;
    /// let (m, builder) = (Array::from([[1i64, 2], [3, 4]]), Builder::named("backpermute"));
    /// let shape = Shape::new([builder.length(2)]);
    /// let diagonal = builder.backpermute(m.node(), &shape, |i| [i[0], i[0]].into_iter().collect());
    /// assert_eq!(Array::<i64>::from_node(diagonal)?.force()?, [1, 4]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn backpermute(
        self,
        xs: &Arc<Node>,
        shape: &Shape,
        f: impl FnOnce(&[Field]) -> Fields,
    ) -> Arc<Node> {
        let loc = self.loc();
        built(self, &[xs], (&xs.types, shape.rank() as u8), || {
            let from = self.shape(xs);
            let elements = self.flatten(xs);
            let made = traced(self, shape, |parts| {
                Field::at_unchecked(&elements, place(&from, &f(parts), loc), loc)
            });
            Ok(shaped(self, &made, shape))
        })
    }
}

impl<T: Elt, D: Multi> Array<T, D> {
    /// The element at an index: a tuple (or an array) of expressions, numbers and delayed scalars. With an expression among
    /// them, inside of a closure, it is an expression; else it is a delayed scalar. The array that is read is in memory, or
    /// its elements are computed where they are read, if each is a cheap function of its index; else it is made first.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1.0f64, 2.0], [3.0, 4.0]]);
    /// let diagonal = generate(2, |i| m.at((i, i)));
    /// assert_eq!((&diagonal.sum(), &m.at((0, 1))).force()?, (5.0, 2.0));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if a part of the index is negative, or not below the length of its axis.
    #[track_caller]
    pub fn at<P: Position<D>>(&self, index: P) -> <P::At as Where>::Out<T> {
        let builder = Builder::named("at");
        let loc = builder.loc();
        P::At::element::<T>(builder, || {
            exp_of::<T>(&Field::at(self.node(), &index.parts(loc), loc))
        })
    }
}

impl<T: Elt, D: Dim> Array<T, D> {
    /// An array of this shape whose elements are read from here: `f` gives the index of each, from its own. In memory this
    /// array is read at random; of one that is a cheap function of the index, elements are computed where they are read.
    /// Fuses with what uses the result. It is the Accelerate chapter's `backpermute`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// let swapped = m.backpermute((2, 2), |(i, j)| (j, i));
    /// assert_eq!(swapped.force()?, [[1, 3], [2, 4]]);
    /// let column = m.backpermute(2, |i| (i, 1));
    /// assert_eq!(column.force()?, [2, 4]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if a part of an index is negative, or not below the length of its axis.
    #[doc(alias = "gather")]
    #[track_caller]
    pub fn backpermute<S: IntoShape, P: Position<D>>(
        &self,
        shape: S,
        f: impl FnOnce(<S::Rank as Dim>::Index) -> P,
    ) -> Array<T, S::Rank> {
        let builder = Builder::named("backpermute");
        let loc = builder.loc();
        let to = shape.into_shape(builder);
        under(builder, &[self.node()], to, |to| {
            builder.backpermute(self.node(), to, |parts| {
                let index = f(<S::Rank as Dim>::index(parts)).parts(loc);
                index.into_iter().collect()
            })
        })
    }
}

/// Where an index is used, which says what the element there is.
pub trait Where {
    /// An expression, or a delayed scalar.
    type Out<T: Elt>;
    /// Where an index is used that has a part of this kind, and one of another.
    type With<W: Where>: Where;
    /// The element that a closure reads.
    #[doc(hidden)]
    fn element<T: Elt>(builder: Builder, read: impl FnOnce() -> T::Exp) -> Self::Out<T>;
}

/// Expressions are indices in closures only, and so are what has one among its parts.
pub struct InClosure;

/// Numbers and delayed scalars are indices anywhere.
pub struct Fixed;

impl Where for InClosure {
    type Out<T: Elt> = T::Exp;
    type With<W: Where> = InClosure;
    fn element<T: Elt>(_: Builder, read: impl FnOnce() -> T::Exp) -> T::Exp {
        read()
    }
}

impl Where for Fixed {
    type Out<T: Elt> = Array<T, Ix0>;
    type With<W: Where> = W;
    fn element<T: Elt>(builder: Builder, read: impl FnOnce() -> T::Exp) -> Array<T, Ix0> {
        Array::wrap(builder.compute(value::<T>(read)))
    }
}

/// A part of an index: an integer, an expression of an integer type, a delayed scalar of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no part of an index",
    note = "an index consists of integers, of expressions of an integer type, or of delayed scalars of one",
    note = "for an array of indices use `gather`"
)]
pub trait Coordinate {
    /// Where it may be used.
    type At: Where;
    /// Its value, in a closure that is traced.
    #[doc(hidden)]
    fn field(self, loc: Loc) -> Field;
}

impl<I: Int> Coordinate for Exp<I> {
    type At = InClosure;
    fn field(self, _: Loc) -> Field {
        Exp::field(self)
    }
}

// One implementation for all, so that a literal is known to be one, and with it the result's type.
#[diagnostic::do_not_recommend]
impl<I: Int> Coordinate for I {
    type At = Fixed;
    fn field(self, _: Loc) -> Field {
        let index = Const {
            ty: I::TY,
            bits: self.to_word(),
        };
        let known = index.integer().and_then(|n| u64::try_from(n).ok());
        Field::literal(known.map_or(index, Const::u64))
    }
}

impl<I: Int> Coordinate for &Array<I, Ix0> {
    type At = Fixed;
    fn field(self, loc: Loc) -> Field {
        let ty = self.node().types.first().copied().unwrap_or(Ty::U64);
        trace::scalar(self.node(), 0, ty, loc)
    }
}

impl<I: Int> Coordinate for Array<I, Ix0> {
    type At = Fixed;
    fn field(self, loc: Loc) -> Field {
        (&self).field(loc)
    }
}

/// What an array of rank `D` is indexed with: of one axis a [`Coordinate`], of more a tuple or an array of them, of rank
/// [`IxDyn`] an array, a `Vec` or a slice.
#[diagnostic::on_unimplemented(
    message = "an array of rank `{D}` cannot be indexed with `{Self}`",
    note = "give as many parts as there are axes: `(i, j)` for `Ix2`; each is an integer, an expression, or a delayed scalar"
)]
pub trait Position<D>: Target<D> {
    /// Where it may be used.
    type At: Where;
}

/// Where in an array of rank `D` an element is put: an index ([`Position`]), or one on a condition ([`Maybe`]).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no place in an array of rank `{D}`",
    note = "give as many parts as there are axes: `(i, j)` for `Ix2`; `keep.then_some((i, j))` leaves out what is not to be kept"
)]
pub trait Target<D> {
    /// The parts of the index, in a closure that is traced.
    #[doc(hidden)]
    fn parts(self, loc: Loc) -> Vec<Field>;
    /// On which condition there is one; none if there always is.
    #[doc(hidden)]
    fn condition(&self) -> Option<Field> {
        None
    }
}

/// An index on a condition, which [`then_some`](Exp::then_some) gives.
pub struct Maybe<P> {
    condition: Exp<bool>,
    index: P,
}

impl Exp<bool> {
    /// The index, if this is true; else none, as of `bool::then_some`. It is computed only where this is true. See
    /// [`permute`](Array::permute).
    pub fn then_some<P>(self, index: P) -> Maybe<P> {
        let condition = self;
        Maybe { condition, index }
    }
}

impl<D, P: Position<D>> Target<D> for Maybe<P> {
    fn parts(self, loc: Loc) -> Vec<Field> {
        self.index.parts(loc)
    }
    fn condition(&self) -> Option<Field> {
        Some(self.condition.field())
    }
}

macro_rules! with {
    ($A:ident) => { $A::At };
    ($A:ident $($B:ident)+) => { <$A::At as Where>::With<with!($($B)+)> };
}

/// The indices of ranks, and their parts.
macro_rules! positions {
    ($(<$($C:ident),* $(; const $N:ident)?> $D:ident $P:ty, $At:ty: |$index:ident, $loc:ident| $parts:expr;)*) => {$(
        impl<$($C: Coordinate,)* $(const $N: usize)?> Position<$D> for $P {
            type At = $At;
        }

        impl<$($C: Coordinate,)* $(const $N: usize)?> Target<$D> for $P {
            fn parts(self, $loc: Loc) -> Vec<Field> {
                let $index = self;
                $parts
            }
        }
    )*};
}

positions! {
    <C> Ix1 C, C::At: |index, loc| vec![index.field(loc)];
    <C; const N> IxDyn [C; N], C::At: |index, loc| fields(index, loc);
    <C> IxDyn Vec<C>, C::At: |index, loc| fields(index, loc);
}

fn fields<C: Coordinate>(index: impl IntoIterator<Item = C>, loc: Loc) -> Vec<Field> {
    index.into_iter().map(|c| c.field(loc)).collect()
}

macro_rules! tuples {
    ($($D:ident $n:literal: $($A:ident $k:tt)*;)*) => {
        positions! {$(
            <$($A),*> $D ($($A,)*), with!($($A)*): |index, loc| vec![$(index.$k.field(loc)),*];
            <C> $D [C; $n], C::At: |index, loc| fields(index, loc);
        )*}
    };
}

tuples! {
    Ix2 2: A 0 B 1;
    Ix3 3: A 0 B 1 C 2;
    Ix4 4: A 0 B 1 C 2 E 3;
    Ix5 5: A 0 B 1 C 2 E 3 F 4;
    Ix6 6: A 0 B 1 C 2 E 3 F 4 G 5;
}

impl<C: Coordinate + Clone> Position<IxDyn> for &[C] {
    type At = C::At;
}

impl<C: Coordinate + Clone> Target<IxDyn> for &[C] {
    fn parts(self, loc: Loc) -> Vec<Field> {
        fields(self.iter().cloned(), loc)
    }
}
