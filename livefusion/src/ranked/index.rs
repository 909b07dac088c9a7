//! Random access: `at`, `backpermute`, and index arguments.

use super::make::{built, place, shaped, traced, under};
use crate::array::{Array, Dim, IntoShape, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn, Multi};
use crate::ast::{Builder, Node, Shape};
use crate::elt::{Elt, Int};
use crate::exp::{Exp, Field, Fields, exp_of, trace, value};
use crate::loc::Loc;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Untyped forms. See also [`Field::at`], which reads an element in a closure.
impl Builder {
    /// Builds an array of this shape whose elements are read from `xs`.
    ///
    /// `f` maps the index of an element to an index of `xs`, one integer per axis.
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
    /// Reads the element at an index.
    ///
    /// The index is a tuple or an array of expressions, numbers and delayed scalars. If a part is
    /// an expression, inside a closure, the result is an expression. Otherwise it is a delayed
    /// scalar. The array is in memory, or its elements are recomputed at each read if they are
    /// cheap index functions. Otherwise it is stored first.
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
    /// Builds an array of this shape whose elements are read from this array.
    ///
    /// `f` maps the index of an element to an index of this array. An array in memory is read at
    /// random. If this array is a cheap index function, its elements are recomputed at each read.
    /// Fuses with its consumers. This is `backpermute` in Accelerate.
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

/// Describes the context of an index, which decides the type of the element.
pub trait Where {
    /// Names the type of the element: an expression or a delayed scalar.
    type Out<T: Elt>;
    /// Names the context of an index that also has a part with context `W`.
    type With<W: Where>: Where;
    /// Returns the element that a closure reads.
    #[doc(hidden)]
    fn element<T: Elt>(builder: Builder, read: impl FnOnce() -> T::Exp) -> Self::Out<T>;
}

/// Marks an index with an expression as a part, for closures only.
pub struct InClosure;

/// Marks an index of numbers and delayed scalars, valid anywhere.
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

/// Describes a part of an index.
///
/// It is an integer, an expression of an integer type, or a delayed scalar of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no part of an index",
    note = "an index consists of integers, of expressions of an integer type, or of delayed scalars of one",
    note = "for an array of indices use `gather`"
)]
pub trait Coordinate {
    /// Names the context of this part.
    type At: Where;
    /// Returns the value, in a closure in tracing.
    #[doc(hidden)]
    fn field(self, loc: Loc) -> Field;
}

impl<I: Int> Coordinate for Exp<I> {
    type At = InClosure;
    fn field(self, _: Loc) -> Field {
        Exp::field(self)
    }
}

// One implementation covers all integers. So a literal can be recognised as one, which also decides
// the type of the result.
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

/// Describes an index into an array of rank `D`.
///
/// For one axis it is a [`Coordinate`], for more axes a tuple or an array of them. For rank
/// [`IxDyn`] it is an array, a `Vec` or a slice.
#[diagnostic::on_unimplemented(
    message = "an array of rank `{D}` cannot be indexed with `{Self}`",
    note = "give as many parts as there are axes: `(i, j)` for `Ix2`; each is an integer, an expression, or a delayed scalar"
)]
pub trait Position<D>: Target<D> {
    /// Names the context of this index.
    type At: Where;
}

/// Describes the destination of an element in an array of rank `D`.
///
/// It is an index ([`Position`]) or a conditional index ([`Maybe`]).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no place in an array of rank `{D}`",
    note = "give as many parts as there are axes: `(i, j)` for `Ix2`; `keep.then_some((i, j))` leaves out dropped elements"
)]
pub trait Target<D> {
    /// Returns the parts of the index, in a closure in tracing.
    #[doc(hidden)]
    fn parts(self, loc: Loc) -> Vec<Field>;
    /// Returns the condition, if the index is conditional.
    #[doc(hidden)]
    fn condition(&self) -> Option<Field> {
        None
    }
}

/// Holds a conditional index, made by [`then_some`](Exp::then_some).
pub struct Maybe<P> {
    condition: Exp<bool>,
    index: P,
}

impl Exp<bool> {
    /// Returns the index if this is true, else none, as `bool::then_some`.
    ///
    /// The index is computed only if this is true. See [`permute`](Array::permute).
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

/// The index types of each rank, and their parts.
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
