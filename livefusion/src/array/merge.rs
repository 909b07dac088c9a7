//! Two sorted arrays as one: `merge`.

use crate::array::append::total;
use crate::array::{Array, Ix0};
use crate::ast::{Body, Builder, Fold, FoldStyle, ScanKind, identity};
use crate::elt::Elt;
use crate::exp::{Exp, ToExp, closure, exp_of, trace, types_of, value};
use crate::loc::Loc;
use loop_lang::types::Ty;

impl<T: Elt> Array<T> {
    /// The elements of two arrays that are sorted by the same order, sorted by it. `in_order(a, b)`
    /// says whether `a` may stand before `b`. Give `le` or `ge`, not `lt`: then of equal elements
    /// those of this array come first, and each array's own stay in their order.
    ///
    /// If an array is not sorted the result has all elements all the same, each array's in their
    /// order.
    ///
    /// One pass over the result, which fuses with what uses it; one comparison per element. A loop
    /// that holds one runs on one thread. Fuses with streams (filters, scans, elements of segments, further merges, ...):
    /// each is advanced where its last element was taken. Where neither is a stream both are read at random: index
    /// functions of arrays in memory are computed in place, whatever else is computed goes through memory.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (xs, ys) = (Array::from(vec![1i64, 4, 9]), Array::from(vec![2i64, 4, 6]));
    /// assert_eq!(xs.merge(&ys, |a, b| a.le(b)).force()?, [1, 2, 4, 4, 6, 9]);
    /// // Of pairs (key, value), by key.
    /// let (xs, ys) = (Array::from(vec![(1u8, 0.5f64)]), Array::from(vec![(0u8, 2.5f64)]));
    /// let merged = xs.merge(&ys, |(a, _), (b, _)| a.le(b));
    /// assert_eq!(merged.to_vec()?, [(0, 2.5), (1, 0.5)]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn merge<R: ToExp<bool>>(
        &self,
        other: &Array<T>,
        in_order: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T> {
        let builder = Builder::named("merge");
        let inputs = [self.node().clone(), other.node().clone()];
        if inputs.iter().any(|n| n.comes_in_order()) {
            return Array::wrap(builder.merge(&inputs, take_one::<T, R>(in_order)));
        }
        let len = total(builder, &[self.node().clone(), other.node().clone()]);
        let indices = builder.generate(len, identity(&[Ty::U64]));
        let fold = Fold {
            start: value::<(u64, T)>(|| exp_of::<(u64, T)>(&[])),
            step: next_of_two(builder, self, other, in_order),
            style: FoldStyle::Sequential,
        };
        let merged = builder.scan(&indices, fold, ScanKind::Inclusive);
        Array::wrap(builder.fields(&merged, 1..1 + T::FIELDS))
    }
}

/// The step of a merge of streams: the element that may stand first, or what one still has when the other has ended.
fn take_one<T: Elt, R: ToExp<bool>>(in_order: impl FnOnce(T::Exp, T::Exp) -> R) -> Body {
    closure::<(T, T, bool, bool, u64), Merged<T>>(|(x, y, more_x, more_y, _)| {
        // The order is not asked about elements behind an end.
        let ordered = more_x.and((!more_y).or(in_order(x, y)));
        let fits = (Exp::lit(true), Exp::lit(0), Exp::lit(0));
        ((ordered, !ordered), fits, ordered.cond(x, y))
    })
}

/// What a merge's step gives of two inputs: which it takes, whether lengths fit (with what was got and expected), and the
/// element.
pub(crate) type Merged<T> = ((bool, bool), (bool, u64, u64), T);

/// The step of a scan over the result's indices. Its state: how many elements of `xs` are taken,
/// and the last element of the result.
fn next_of_two<T: Elt, R: ToExp<bool>>(
    builder: Builder,
    xs: &Array<T>,
    ys: &Array<T>,
    in_order: impl FnOnce(T::Exp, T::Exp) -> R,
) -> Body {
    let loc = builder.loc();
    let [n, m] = [xs, ys].map(|a| Array::<u64, Ix0>::wrap(builder.len(a.node())));
    closure::<((u64, T), u64), (u64, T)>(|((left, _), i)| {
        let right = i - left;
        let (x, y) = (element(xs, left, loc), element(ys, right, loc));
        // The order is not asked about elements behind an end.
        let ordered = left.lt(&n).and(in_order(x, y));
        let is_left = right.ge(&m).or(ordered);
        (left + is_left.cast::<u64>(), is_left.cond(x, y))
    })
}

/// An element that exists wherever it is used.
fn element<T: Elt>(xs: &Array<T>, index: Exp<u64>, loc: Loc) -> T::Exp {
    let types = (0..).zip(types_of::<T>());
    let fields: Vec<_> = types
        .map(|(f, ty)| trace::at_unchecked(xs.node(), f, ty, index.field(), loc))
        .collect();
    exp_of::<T>(&fields)
}
