//! Writing at computed indices: `permute`.

use super::index::Target;
use super::make::{built, place, shaped, traced};
use crate::array::{Array, Dim, operator_of};
use crate::ast::{Body, BodyBuilder, Builder, Node};
use crate::elt::Elt;
use crate::exp::{Field, Fields, ToExp, trace};
use loop_lang::types::Const;
use std::sync::Arc;

impl Builder {
    /// Combines each element of `xs` into the element of `base` at an index.
    ///
    /// The elements are combined in order, by `op` of (old element, new element). `f` maps the
    /// index of an element to an index of `base`, and may also return a condition (`bool`). An
    /// element is left out if its condition is false.
    ///
    /// ```
    /// use livefusion::ast::{Builder, Op, Ty, BodyBuilder};
    /// use livefusion::prelude::*;
    /// let (m, base) = (Array::from([[1i64, 2], [3, 4]]), Array::from(vec![0i64, 100]));
    /// let mut add = BodyBuilder::new(&[Ty::I64, Ty::I64]);
    /// let both = [add.param(0), add.param(1)];
    /// let sum = add.op(Op::Add, &both);
    /// let add = add.finish(&[sum]);
    /// let sums = Builder::named("permute").permute(m.node(), base.node(), add, |at| (None, vec![at[1]]));
    /// assert_eq!(Array::<i64>::from_node(sums)?.force()?, [4, 106]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn permute(
        self,
        xs: &Arc<Node>,
        base: &Arc<Node>,
        op: Body,
        f: impl FnOnce(&[Field]) -> (Option<Field>, Vec<Field>),
    ) -> Arc<Node> {
        let loc = self.loc();
        built(self, &[xs, base], (&base.types, base.rank), || {
            let (from, to) = (self.shape(xs), self.shape(base));
            let mut leaves_out = false;
            let mut places = traced(self, &from, |parts| {
                let (condition, index) = f(parts);
                let at = place(&to, &index, loc);
                leaves_out = condition.is_some();
                let Some(is_kept) = condition else {
                    return Fields::from_slice(&[at]);
                };
                // The index of an element that is left out may be out of range.
                let arms = [(at, Field::literal(Const::u64(0)))];
                let at = trace::cond(is_kept, &arms, loc);
                [is_kept].into_iter().chain(at).collect()
            });
            let [base, mut elements] = [base, xs].map(|n| self.flatten(n));
            if leaves_out {
                let all = self.zip(&[places, elements]);
                let mut b = BodyBuilder::new(&all.types);
                let is_kept = b.param(0);
                let kept = self.filter(&all, b.finish(&[is_kept]));
                places = self.fields(&kept, 1..2);
                elements = self.fields(&kept, 2..all.types.len() as u32);
            }
            let made = self.scatter(&base, &places, &elements, Some(op));
            Ok(shaped(self, &made, &to))
        })
    }
}

impl<T: Elt, D: Dim> Array<T, D> {
    /// Combines each element into the element of `base` at an index.
    ///
    /// The elements are combined in order, by `op` of (old element, new element). `f` maps the
    /// index of an element to an index of `base`. It can leave an element out by
    /// [`then_some`](crate::Exp::then_some). Fuses with the producer of the elements. The result is
    /// stored before consumers read it. This is `permute` in Accelerate.
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
    /// When forced: if a part of an index is negative, or not below the length of its axis. Indices
    /// of elements that are left out are not checked.
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
        Array::wrap(builder.permute(self.node(), base.node(), op, |parts| {
            let target = f(D::index(parts));
            (target.condition(), target.parts(loc))
        }))
    }
}
