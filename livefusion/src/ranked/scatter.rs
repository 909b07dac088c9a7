//! Writing at computed indices: `permute`.

use super::index::Target;
use super::make::{built, flat, place, shape, shaped, traced};
use crate::array::{Array, Dim, operator_of};
use crate::ast::{BodyBuilder, Builder};
use crate::elt::Elt;
use crate::exp::{Field, Fields, ToExp, trace};
use loop_lang::types::Const;

impl<T: Elt, D: Dim> Array<T, D> {
    /// `base` with each element here joined onto what is at an index, in order, by `op` of (what is there, element). `f`
    /// gives the index in `base` from that here; an element is left out where `f` gives none, which
    /// [`then_some`](crate::Exp::then_some) says. Fuses with what makes the elements; the result is in memory before others
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
    /// let apart = m.permute(&base, |_, new| new, |(i, j)| i.ne(j).then_some((i, j)));
    /// assert_eq!(apart.force()?, [[0, 2, 0], [3, 0, 0]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if a part of an index is negative, or not below the length of its axis, and it is not left out.
    #[track_caller]
    pub fn permute<E: Dim, P: Target<E>, R: ToExp<T>>(
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
            let mut leaves_out = false;
            let mut places = traced(builder, &from, |parts| {
                let target = f(D::index(parts));
                let condition = target.condition();
                let at = place(&to, &target.parts(loc), loc);
                leaves_out = condition.is_some();
                let Some(is_kept) = condition else {
                    return Fields::from_slice(&[at]);
                };
                // What is left out may lie outside.
                let arms = [(at, Field::literal(Const::u64(0)))];
                let at = trace::cond(is_kept, &arms, loc);
                [is_kept].into_iter().chain(at).collect()
            });
            let [base, mut elements] = [base.node(), self.node()].map(|n| flat(builder, n));
            if leaves_out {
                let all = builder.zip(&[places, elements]);
                let mut b = BodyBuilder::new(&all.types);
                let is_kept = b.param(0);
                let kept = builder.filter(&all, b.finish(&[is_kept]));
                places = builder.fields(&kept, 1..2);
                elements = builder.fields(&kept, 2..all.types.len() as u32);
            }
            let made = builder.scatter(&base, &places, &elements, Some(op));
            Ok(shaped(builder, &made, &to))
        })
    }
}
