//! Arrays side by side: `zip`, `unzip`, `zip_with`.

use crate::array::{Array, Ix1, Rank};
use crate::ast::{Builder, Node};
use crate::elt::Elt;
use crate::exp::{IntoExp, closure};
use std::sync::Arc;

/// Tuples of 2 to 6 arrays of one rank.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be zipped",
    note = "give a tuple of 2 to 6 references to arrays of one rank: `zip((&xs, &ys))`"
)]
pub trait ZipArgs {
    /// The tuple of their elements.
    type Elt: Elt;
    /// Their rank.
    type Rank: Rank;
    /// Their nodes.
    fn nodes(self) -> Vec<Arc<Node>>;
}

/// Arrays as one array of tuples. Copies nothing, and fuses with everything.
///
/// ```
/// use livefusion::prelude::*;
/// let (xs, ns) = (Array::from(vec![1.5f64, 2.5]), Array::from(vec![true, false]));
/// assert_eq!(zip((&xs, &ns)).to_vec()?, [(1.5, true), (2.5, false)]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When forced: if lengths differ.
#[track_caller]
pub fn zip<Z: ZipArgs>(arrays: Z) -> Array<Z::Elt, Z::Rank> {
    Array::wrap(Builder::named("zip").zip(&arrays.nodes()))
}

impl<T: Elt> Array<T, Ix1> {
    /// Pairs of elements, as [`zip()`].
    ///
    /// # Errors
    /// When forced: if lengths differ.
    #[track_caller]
    pub fn zip<U: Elt>(&self, other: &Array<U>) -> Array<(T, U)> {
        Array::wrap(Builder::named("zip").zip(&[self.node().clone(), other.node().clone()]))
    }

    /// `f` of the elements of two arrays in step; for up to six arrays see [`ZipWith3`] and so on.
    /// Fuses with everything.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (xs, ys) = (Array::from(vec![1.0f64, 2.0]), Array::from(vec![3.0f64, 4.0]));
    /// assert_eq!(xs.zip_with(&ys, |x, y| x * y).sum().force()?, 11.0);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if lengths differ.
    #[track_caller]
    pub fn zip_with<U: Elt, R: IntoExp>(
        &self,
        other: &Array<U>,
        f: impl FnOnce(T::Exp, U::Exp) -> R,
    ) -> Array<R::Elt> {
        let builder = Builder::named("zip_with");
        let body = closure::<(T, U), R::Elt>(|(x, y)| f(x, y).to_exp());
        Array::wrap(builder.map(&[self.node().clone(), other.node().clone()], body))
    }
}

/// Arrays of tuples, which can be taken apart.
pub trait Unzip {
    /// One array per element of the tuple.
    type Parts;
    /// One array per element of the tuple. Copies nothing; a part that nobody uses is not computed.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (ns, xs) = Array::from(vec![(1i64, 0.5f64), (2, 1.5)]).unzip();
    /// assert_eq!((ns.sum().force()?, xs.sum().force()?), (3, 2.0));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    fn unzip(&self) -> Self::Parts;
}

macro_rules! arity {
    ($With:ident; $($T:ident $v:ident $i:tt),*) => {
        impl<D: Rank, $($T: Elt),*> ZipArgs for ($(&Array<$T, D>,)*) {
            type Elt = ($($T,)*);
            type Rank = D;
            fn nodes(self) -> Vec<Arc<Node>> {
                vec![$(self.$i.node().clone()),*]
            }
        }

        impl<D: Rank, $($T: Elt),*> Unzip for Array<($($T,)*), D> {
            type Parts = ($(Array<$T, D>,)*);
            #[track_caller]
            fn unzip(&self) -> Self::Parts {
                let builder = Builder::named("unzip");
                let mut end = 0;
                ($({
                    let start = end;
                    end += $T::FIELDS;
                    Array::<$T, D>::wrap(builder.fields(self.node(), start..end))
                },)*)
            }
        }

        /// `zip_with` on a tuple of references to arrays of one rank.
        pub trait $With: Sized {
            $(
                /// An element type.
                type $T: Elt;
            )*
            /// The arrays' rank.
            type Rank: Rank;
            /// A function of the arrays' elements in step; of delayed scalars, of them. Fuses with
            /// everything. Lengths that differ are an error when forced.
            ///
            /// ```
            /// use livefusion::prelude::*;
            /// let (a, b, c) = (Array::from([1i64, 2]), Array::from([3i64, 4]), Array::from([5i64, 6]));
            /// assert_eq!((&a, &b, &c).zip_with(|a, b, c| a * b + c).force()?, [8, 14]);
            /// # Ok::<(), livefusion::Error>(())
            /// ```
            #[track_caller]
            fn zip_with<R: IntoExp>(
                self,
                f: impl FnOnce($(<Self::$T as Elt>::Exp),*) -> R,
            ) -> Array<R::Elt, Self::Rank>;
        }

        impl<D: Rank, $($T: Elt),*> $With for ($(&Array<$T, D>,)*) {
            $(type $T = $T;)*
            type Rank = D;
            #[track_caller]
            fn zip_with<R: IntoExp>(
                self,
                f: impl FnOnce($($T::Exp),*) -> R,
            ) -> Array<R::Elt, D> {
                let builder = Builder::named("zip_with");
                let body = closure::<($($T,)*), R::Elt>(|($($v,)*)| f($($v),*).to_exp());
                Array::wrap(builder.map(&self.nodes(), body))
            }
        }
    };
}

arity!(ZipWith2; A a 0, B b 1);
arity!(ZipWith3; A a 0, B b 1, C c 2);
arity!(ZipWith4; A a 0, B b 1, C c 2, D0 d 3);
arity!(ZipWith5; A a 0, B b 1, C c 2, D0 d 3, E e 4);
arity!(ZipWith6; A a 0, B b 1, C c 2, D0 d 3, E e 4, F f5 5);
