//! What lies at chosen indices of an axis: `select`.

use super::make::{Element, axis_of, built, computed, flat, shape, shaped};
use crate::array::{Array, Multi, as_indices, length_of};
use crate::ast::{Builder, Shape};
use crate::elt::{Elt, Int};

impl<T: Elt, D: Multi> Array<T, D> {
    /// What lies at these indices of an axis, in their order: the axis of the result is as long as `indices`. It is a map over
    /// the elements of the result, which fuses with what uses it; the indices and this array are in memory, or computed where
    /// they are read, if each element is a cheap function of its index. Of one axis it is [`gather`](Array::gather).
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
    /// When forced: if there is no such axis, or an index is negative, or not below the axis's length.
    #[track_caller]
    pub fn select<I: Int>(&self, axis: usize, indices: &Array<I>) -> Array<T, D> {
        let builder = Builder::named("select");
        built(builder, &[self.node(), indices.node()], || {
            let from = shape(builder, self);
            axis_of(&from, axis)?;
            let source = flat(builder, self.node());
            let indices = as_indices(builder, indices.node());
            let mut to = from.axes().to_vec();
            to[axis] = length_of(builder, &indices);
            let to = Shape::new(to);
            let made = computed(builder, &to, |b, parts| {
                let chosen = b.at(&indices, 0, parts[axis], false);
                let mut element = Element::new(b, &source, &from);
                for (along, part) in parts.iter().enumerate() {
                    match along == axis {
                        true => element.checked(along, chosen),
                        false => element.inside(along, *part),
                    }
                }
                element.read()
            });
            Ok(shaped(builder, &made, &to))
        })
    }
}
