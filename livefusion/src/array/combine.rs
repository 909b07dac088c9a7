//! Two arrays in an order that flags give: `combine`.

use crate::array::Array;
use crate::array::append::total;
use crate::array::reduce::operator;
use crate::ast::{BodyBuilder, Builder, Fold, FoldStyle, Node, ScanKind, identity};
use crate::elt::Elt;
use crate::exp::{Exp, value};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

impl Array<bool> {
    /// Where a flag is true the next element of `xs`, else the next one of `ys`: what undoes a
    /// [`partition`](Array::partition) or two [`pack`](Array::pack)s.
    ///
    /// Of the flags' length, computed in one pass over them and fused with what makes them and what
    /// uses the result. `xs` and `ys` are read at random: if they are computed they go through
    /// memory.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let flags = Array::from(vec![true, false, true, true, false]);
    /// let (xs, ys) = (Array::from(vec![1i64, 2, 3]), Array::from(vec![-1i64, -2]));
    /// assert_eq!(flags.combine(&xs, &ys).force()?, [1, -1, 2, 3, -2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are not as many flags as elements in both arrays, or if one of the
    /// arrays has fewer elements than the flags ask it for (an index behind its end).
    #[track_caller]
    pub fn combine<T: Elt>(&self, xs: &Array<T>, ys: &Array<T>) -> Array<T> {
        let builder = Builder::named("combine");
        let (xs, ys) = (xs.node(), ys.node());
        // The map below checks that there are as many flags as elements. So neither array has too
        // many elements if none has too few, which the reads check.
        let len = total(builder, &[xs.clone(), ys.clone()]);
        let indices = builder.generate(len, identity(&[Ty::U64]));
        let taken = trues_before(builder, self.node());
        let mut b = BodyBuilder::new(&[Ty::Bool, Ty::U64, Ty::U64]);
        b.locate(Some(builder.loc()));
        let [flag, left, i] = [0, 1, 2].map(|k| b.param(k));
        let right = b.op(Op::Sub, &[i, left]);
        let fields: Vec<_> = (0..T::FIELDS)
            .map(|f| {
                let (x, y) = (b.at(xs, f, left, true), b.at(ys, f, right, true));
                b.cond(flag, x, y)
            })
            .collect();
        Array::wrap(builder.map(&[self.node().clone(), taken, indices], b.finish(&fields)))
    }
}

/// How many flags before each are true.
fn trues_before(builder: Builder, flags: &Arc<Node>) -> Arc<Node> {
    let mut b = BodyBuilder::new(&[Ty::Bool]);
    let flag = b.param(0);
    let number = b.cast(flag, Ty::U64);
    let numbers = builder.map(std::slice::from_ref(flags), b.finish(&[number]));
    let fold = Fold {
        start: value::<u64>(|| Exp::lit(0)),
        step: operator(Op::Add, Ty::U64),
        style: FoldStyle::Associative,
    };
    builder.scan(&numbers, fold, ScanKind::Exclusive)
}
