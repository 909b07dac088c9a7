//! Selection by indices of an axis: `select`.

use super::make::{self, IndexedElement, axis_of, built, computed, shaped};
use crate::array::{Array, Multi, length_of};
use crate::ast::{Builder, Node, Shape};
use crate::elt::{Elt, Int};
use std::sync::Arc;

impl Builder {
    /// Selects the slices at these indices of an axis, in order.
    ///
    /// The indices are integers of rank 1. The axis must exist.
    ///
    /// ```
    /// use livefusion::ast::Builder;
    /// use livefusion::prelude::*;
    /// let (m, indices) = (Array::from([[1i64, 2, 3], [4, 5, 6]]), Array::from([2, 2]));
    /// let chosen = Builder::named("select").select(m.node(), 1, indices.node());
    /// assert_eq!(Array::<i64, Ix2>::from_node(chosen)?.force()?, [[3, 3], [6, 6]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn select(self, xs: &Arc<Node>, axis: usize, indices: &Arc<Node>) -> Arc<Node> {
        built(self, &[xs, indices], (&xs.types, xs.rank), || {
            let from = self.shape(xs);
            axis_of(&from, axis)?;
            let source = self.flatten(xs);
            let indices = make::indices(self, indices)?;
            let mut to = from.axes().to_vec();
            to[axis] = length_of(self, &indices);
            let to = Shape::new(to);
            let made = computed(self, &to, |b, parts| {
                let chosen = b.at(&indices, 0, parts[axis], false);
                let mut element = IndexedElement::new(b, &source, &from);
                for (along, part) in parts.iter().enumerate() {
                    match along == axis {
                        true => element.checked(along, chosen),
                        false => element.inside(along, *part),
                    }
                }
                element.read()
            });
            Ok(shaped(self, &made, &to))
        })
    }
}

impl<T: Elt, D: Multi> Array<T, D> {
    /// Selects the slices at these indices of an axis, in order.
    ///
    /// The axis of the result is as long as `indices`. This is a map over the elements of the
    /// result, which fuses with its consumers. The indices and this array are in memory, or their
    /// elements are recomputed at each read if they are cheap index functions. For arrays of rank 1
    /// use [`gather`](Array::gather).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2, 3], [4, 5, 6]]);
    /// assert_eq!(m.select(0, &Array::from([1, 0, 1])).force()?, [[4, 5, 6], [1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(m.select(1, &Array::from([2, 2])).force()?, [[3, 3], [6, 6]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there is no such axis, or an index is negative or not below its length.
    #[doc(alias = "take")]
    #[track_caller]
    pub fn select<I: Int>(&self, axis: usize, indices: &Array<I>) -> Array<T, D> {
        let builder = Builder::named("select");
        Array::wrap(builder.select(self.node(), axis, indices.node()))
    }
}
