//! Random access: `gather`, `at`.

use crate::array::Array;
use crate::ast::{Body, Builder, Node};
use crate::elt::{Elt, Int};
use crate::exp::{Field, exp_of, trace};
use crate::ranked::{Coordinate, Where};
use std::sync::Arc;

/// Untyped forms. Indices have an integer type. An index out of range is an error.
impl Builder {
    /// Reads the elements at the indices, one per index.
    ///
    /// An index that is a delayed scalar gives a delayed scalar.
    pub fn gather(self, xs: &Arc<Node>, indices: &Arc<Node>) -> Arc<Node> {
        match indices.types[..] {
            [ty] if ty.is_int() => {}
            _ => {
                return self.unfit(
                    indices,
                    &xs.types,
                    indices.rank,
                    "indices of an integer type",
                );
            }
        }
        let loc = self.loc();
        let read = trace::trace(&indices.types, |i| Field::at(xs, i, loc));
        self.map(std::slice::from_ref(indices), read)
    }

    /// Reads the element at an index.
    ///
    /// The index is a body without parameters that gives one integer per axis.
    pub fn item(self, xs: &Arc<Node>, index: &Body) -> Arc<Node> {
        let loc = self.loc();
        let read = |_: &[Field]| Field::at(xs, &Field::apply(index, &[], loc), loc);
        self.compute(trace::trace(&[], read))
    }
}

impl<T: Elt> Array<T> {
    /// Reads the elements at the indices, one per index.
    ///
    /// This is `take` in NumPy, and `bpermute` in the literature on segments. To compute the
    /// indices by a function, use [`backpermute`](Array::backpermute).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1.5f64, 2.5, 3.5]);
    /// assert_eq!(xs.gather(&Array::from(vec![2i64, 0, 0])).force()?, [3.5, 1.5, 1.5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* A map over `indices`, which fuses with their producer and with the
    /// consumers of the result. The source array is in memory, or its elements are recomputed at
    /// each read if they are cheap index functions. Otherwise it is stored first.
    ///
    /// # Errors
    /// When forced: if an index is negative, or not below the length.
    #[doc(alias("take", "fancy_index", "bpermute"))]
    #[track_caller]
    pub fn gather<I: Int>(&self, indices: &Array<I>) -> Array<T> {
        Array::wrap(Builder::named("gather").gather(self.node(), indices.node()))
    }

    /// Reads the element at an index.
    ///
    /// An expression as index, inside a closure, gives an expression. An integer or a delayed
    /// scalar gives a delayed scalar. For an array of indices use [`gather`](Array::gather); for
    /// the last element use [`last`](Array::last).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1.0f64, 2.0, 4.0]);
    /// let steps = generate(2, |i| xs.at(i + 1) - xs.at(i));
    /// assert_eq!((&steps.sum(), &xs.at(0)).force()?, (3.0, 1.0));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if the index is negative, or not below the length.
    #[doc(alias = "item")]
    #[track_caller]
    pub fn at<C: Coordinate>(&self, index: C) -> <C::At as Where>::Out<T> {
        let builder = Builder::named("at");
        let loc = builder.loc();
        C::At::element::<T>(builder, || {
            exp_of::<T>(&Field::at(self.node(), &[index.field(loc)], loc))
        })
    }
}
