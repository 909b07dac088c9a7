//! Index of an extreme element: `min_index`, `max_index`.

use super::{Along, Domain, number};
use crate::array::{Array, Dim, Ix0};
use crate::ast::{Body, BodyBuilder, Builder, Len, Node, identity};
use crate::elt::Num;
use crate::segmented::Segmented;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

/// Untyped forms. Elements must be one number each.
impl Builder {
    /// Finds the index of the smallest element.
    ///
    /// Ties give the lowest index.
    ///
    /// It goes along at most one axis.
    pub fn min_index<'a>(self, of: impl Into<Domain<'a>>) -> Arc<Node> {
        self.extremum(of.into(), Op::Lt)
    }

    /// Finds the index of the largest element.
    ///
    /// Ties give the lowest index.
    ///
    /// It goes along at most one axis.
    pub fn max_index<'a>(self, of: impl Into<Domain<'a>>) -> Arc<Node> {
        self.extremum(of.into(), Op::Gt)
    }

    /// Folds pairs of value and index.
    fn extremum(self, of: Domain<'_>, better: Op) -> Arc<Node> {
        if let Domain::Along(xs, axes) = of {
            return self.extremum_along(xs, axes, |xs| Ok(step(better, number(xs)?)));
        }
        self.numbers(of.data(), (&[Ty::U64], of.rank()), |ty| {
            let indices = match of {
                Domain::Segments(lengths, _) => self.expand(lengths, &[], identity(&[Ty::U64])),
                of => self.places(of.data()),
            };
            let pairs = self.zip(&[of.data().clone(), indices]);
            let found = self.fold_chosen(of.with(&pairs), step(better, ty));
            self.fields(&found, 1..2)
        })
    }

    /// Returns the index of each element.
    pub(crate) fn places(self, xs: &Arc<Node>) -> Arc<Node> {
        let len = Len::Delayed(self.len(xs));
        self.generate(len, identity(&[Ty::U64]))
    }
}

macro_rules! indices {
    ($( $(#[$meta:meta])* pub fn $name:ident() -> $U:ty, $verb:literal; )*) => {
        impl<T: Num> Array<T> {$(
            $(#[$meta])*
            #[track_caller]
            pub fn $name(&self) -> Array<$U, Ix0> {
                Array::wrap(Builder::named(stringify!($name)).$name(self.node()))
            }
        )*}

        impl<T: Num, D: Dim> Along<T, D> {$(
            #[doc = concat!($verb, " along the axis.")]
            ///
            #[doc = concat!("[`Array::", stringify!($name), "`] has the details and examples.")]
            ///
            /// # Errors
            /// Also when forced: if there is no such axis.
            #[track_caller]
            pub fn $name(&self) -> Array<$U, D::Smaller> {
                let builder = Builder::named(stringify!($name));
                let of = Domain::Along(self.array.node(), std::slice::from_ref(&self.axes));
                Array::checked(builder, builder.$name(of))
            }
        )*}

        impl<T: Num> Segmented<T> {$(
            #[doc = concat!($verb, " of each segment.")]
            ///
            #[doc = concat!("[`Array::", stringify!($name), "`] has the details and examples.")]
            ///
            /// # Errors
            /// Also when forced: if the lengths do not match the data.
            #[track_caller]
            pub fn $name(&self) -> Array<$U> {
                Array::wrap(Builder::named(stringify!($name)).$name(&self.nodes()))
            }
        )*}
    };
}

indices! {
    /// Finds the index of the smallest element.
    ///
    /// Ties give the lowest index. Floats are compared by `<`, so the two zeros are equal. NaN is
    /// ignored; if all elements are NaN, the index is 0. For segments it is the index within the
    /// segment.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![f64::NAN, 2.0, 1.0, 1.0]);
    /// assert_eq!((&xs.min_index(), &xs.max_index()).force()?, (2, 1));
    /// let m = Array::from([[1.0f64, -2.0], [0.5, 4.0]]);
    /// assert_eq!((m.along(0).min_index().to_vec()?, m.along(1).max_index().to_vec()?), (vec![1, 0], vec![0, 1]));
    /// let rows = Segmented::from_vecs(vec![vec![3.0f64, 1.0], vec![2.0, 7.0, 2.0]]);
    /// assert_eq!((rows.min_index().to_vec()?, rows.max_index().to_vec()?), (vec![1, 0], vec![0, 1]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are no elements.
    #[doc(alias("argmin", "min_index_axis", "min_index_s"))]
    pub fn min_index() -> u64, "Finds the index of the smallest element";

    /// Finds the index of the largest element.
    ///
    /// Ties and NaN as in [`min_index`](Array::min_index), which has examples.
    ///
    /// # Errors
    /// When forced: if there are no elements.
    #[doc(alias("argmax", "max_index_axis", "max_index_s"))]
    pub fn max_index() -> u64, "Finds the index of the largest element";
}
/// Selects the better of two pairs (value, index). Lanes combine elements out of order, so ties are
/// decided by the index instead of the side.
pub(crate) fn step(better: Op, ty: Ty) -> Body {
    let mut b = BodyBuilder::new(&[ty, Ty::U64, ty, Ty::U64]);
    let [x, i, y, j] = [0, 1, 2, 3].map(|k| b.param(k));
    let wins = b.op(better, &[y, x]);
    let ties = b.op(Op::Eq, &[y, x]);
    let before = b.op(Op::Lt, &[j, i]);
    let earlier = b.op(Op::And, &[ties, before]);
    let mut right = b.op(Op::Or, &[wins, earlier]);
    if ty.is_float() {
        // A number replaces a NaN on the left, and so does a NaN with a lower index.
        let left_nan = b.op(Op::Ne, &[x, x]);
        let number = b.op(Op::Eq, &[y, y]);
        let gives_way = b.op(Op::Or, &[number, before]);
        let replaced = b.op(Op::And, &[left_nan, gives_way]);
        right = b.op(Op::Or, &[right, replaced]);
    }
    let value = b.op(Op::Select, &[right, y, x]);
    let index = b.op(Op::Select, &[right, j, i]);
    b.finish(&[value, index])
}
