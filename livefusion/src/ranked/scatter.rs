//! Writing at computed indices: `permute`.

use super::index::Position;
use super::make::{built, flat, place, shape, shaped, traced};
use crate::array::{Array, Dim, operator_of};
use crate::ast::Builder;
use crate::elt::Elt;
use crate::exp::{Fields, ToExp};

impl<T: Elt, D: Dim> Array<T, D> {
    /// `base` with each element here joined onto what is at an index, in order, by `op` of (what is there, element). `f`
    /// gives the index in `base` from that here. Fuses with what makes the elements; the result is in memory before others
    /// read it. It is the Accelerate chapter's `permute`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// let base = replicate((2, 3), 0i64);
    /// let moved = m.permute(&base, |old, new| old + new, |(i, j)| (j, i + 1));
    /// assert_eq!(moved.force()?, [[0, 1, 3], [0, 2, 4]]);
    /// let sums = m.permute(&replicate(2, 100i64), |old, new| old + new, |(_, j)| j);
    /// assert_eq!(sums.force()?, [104, 106]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if a part of an index is negative, or not below the length of its axis.
    #[track_caller]
    pub fn permute<E: Dim, P: Position<E>, R: ToExp<T>>(
        &self,
        base: &Array<T, E>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
        f: impl FnOnce(D::Index) -> P,
    ) -> Array<T, E> {
        let builder = Builder::named("permute");
        let loc = builder.loc();
        let op = operator_of::<T, R>(op);
        built(builder, &[self.node(), base.node()], || {
            let (from, to) = (shape(builder, self), shape(builder, base));
            let places = traced(builder, &from, |parts| {
                let index = f(D::index(parts)).parts(loc);
                Fields::from_slice(&[place(&to, &index, loc)])
            });
            let [base, elements] = [base.node(), self.node()].map(|n| flat(builder, n));
            let made = builder.scatter(&base, &places, &elements, Some(op));
            Ok(shaped(builder, &made, &to))
        })
    }
}
