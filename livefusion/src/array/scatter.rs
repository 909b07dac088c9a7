//! Writes at computed indices: scatters, and folds and scans by index.

use crate::array::length::IntoLen;
use crate::array::{Array, as_indices, replicate};
use crate::ast::{Body, Builder, Len, Node, Places, ScanKind};
use crate::elt::{Elt, Int};
use crate::exp::{IntoExp, ToExp, closure, value as value_of};
use crate::over::operator_of;
use std::sync::Arc;

/// Untyped forms besides [`Builder::scatter`], which is `scatter` and `scatter_with`, and
/// [`Builder::scan_by_index`].
impl Builder {
    /// Replaces the element at one index.
    ///
    /// The index and the new element are bodies without parameters.
    pub fn update(self, xs: &Arc<Node>, index: &Body, value: &Body) -> Arc<Node> {
        let index = self.indices_of(&self.repeated(Len::Known(1), index));
        let value = self.repeated(Len::Known(1), value);
        self.scatter(xs, &index, &value, None)
    }

    /// Folds each value into the bin given by its index, in order.
    ///
    /// `step` takes (bin, value).
    pub fn reduce_by_index(
        self,
        values: &Arc<Node>,
        indices: &Arc<Node>,
        bins: Bins<Len, &Body>,
        step: Body,
    ) -> Arc<Node> {
        let bins = self.bins(bins.count, bins.start);
        self.scatter(&bins, &self.indices_of(indices), values, Some(step))
    }

    /// Returns `n` bins with the same start value, a body without parameters.
    ///
    /// They are the base of a [`scan_by_index`](Builder::scan_by_index).
    pub fn bins(self, n: Len, start: &Body) -> Arc<Node> {
        self.renamed("replicate").repeated(n, start)
    }

    /// Casts indices of any integer type to `u64`, which scatters require.
    ///
    /// Other arrays are returned unchanged.
    pub fn indices_of(self, indices: &Arc<Node>) -> Arc<Node> {
        match indices.types[..] {
            [ty] if ty.is_int() => as_indices(self, indices),
            _ => indices.clone(),
        }
    }
}

impl<T: Elt> Array<T> {
    /// Writes `values` at `indices` of this array, in order.
    ///
    /// The last value written at an index stays. Fuses with the producers of the indices and
    /// values. The result is stored before consumers read it.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let base = Array::from(vec![0i64, 0, 0]);
    /// let ys = base.scatter(&Array::from(vec![2i64, 0, 2]), &Array::from(vec![7i64, 8, 9]));
    /// assert_eq!(ys.force()?, [8, 0, 9]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if an index is out of range, or there are not as many values as indices.
    #[doc(alias = "put")]
    #[track_caller]
    pub fn scatter<I: Int>(&self, indices: &Array<I>, values: &Array<T>) -> Array<T> {
        let builder = Builder::named("scatter");
        let indices = as_indices(builder, indices.node());
        Array::wrap(builder.scatter(self.node(), &indices, values.node(), None))
    }

    /// Replaces the element at one index.
    ///
    /// If this array is computed in the same force and has no other consumer, it is updated in
    /// place. Then the update costs one write.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = iota(4).map(|i| i * i);
    /// assert_eq!(xs.update(2, 7).update(0, 9).force()?, [9, 1, 7, 9]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if the index is out of range.
    #[doc(alias = "put")]
    #[track_caller]
    pub fn update(&self, index: impl ToExp<u64>, value: impl ToExp<T>) -> Array<T> {
        let builder = Builder::named("update");
        let index = value_of::<u64>(|| index.to_exp());
        let value = value_of::<T>(|| value.to_exp());
        Array::wrap(builder.update(self.node(), &index, &value))
    }

    /// Combines `values` into the elements at `indices` by `op`, in order.
    ///
    /// `op` takes the old element and the value.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let base = Array::from(vec![0i64, 0, 5]);
    /// let (ixs, vals) = (Array::from(vec![2i64, 0, 2]), Array::from(vec![7i64, 8, 9]));
    /// assert_eq!(base.scatter_with(&ixs, &vals, |old, new| old + new).force()?, [8, 0, 21]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if an index is out of range, or there are not as many values as indices.
    #[doc(alias = "ufunc.at")]
    #[track_caller]
    pub fn scatter_with<I: Int, R: ToExp<T>>(
        &self,
        indices: &Array<I>,
        values: &Array<T>,
        op: impl FnOnce(T::Exp, T::Exp) -> R,
    ) -> Array<T> {
        let builder = Builder::named("scatter_with");
        let indices = as_indices(builder, indices.node());
        let op = operator_of::<T, R>(op);
        Array::wrap(builder.scatter(self.node(), &indices, values.node(), Some(op)))
    }
}

/// Describes the bins of a combinator by index.
///
/// They have a number and a common start value.
///
/// ```
/// use livefusion::prelude::*;
/// let two = Bins { count: 2, start: 0.5f64 };
/// let sums = Array::from(vec![1.0f64, 2.0, 4.0]).reduce_by_index(&Array::from(vec![1u8, 0, 1]), two, |bin, x| bin + x);
/// assert_eq!(sums.force()?, [2.5, 5.5]);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Bins<N, S> {
    /// Gives the number of bins: an integer, or a delayed one.
    pub count: N,
    /// Gives the start value of every bin.
    pub start: S,
}

impl<V: Elt> Array<V> {
    /// Folds each element into the bin given by its index, in order.
    ///
    /// `op` takes the bin and the element. Here the receiver is the array of values. In
    /// [`scatter_with`](Array::scatter_with) it is the base.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let bins = Array::from(vec![1i64, 0, 1, 1]);
    /// let weights = Array::from(vec![0.5f64, 1.0, 2.0, 4.0]);
    /// let sums = weights.reduce_by_index(&bins, Bins { count: 2, start: 0.0 }, |bin, w| bin + w);
    /// assert_eq!(sums.force()?, [1.0, 6.5]);
    /// // A bin may have another type than the elements.
    /// let nothing = (0u64, f64::INFINITY);
    /// let two = Bins { count: 2, start: nothing };
    /// let counted = weights.reduce_by_index(&bins, two, |(n, least), w| (n + 1, least.min(w)));
    /// assert_eq!(counted.force()?, [(1, 1.0), (3, 0.5)]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* Fuses with the producers of the indices and values. The result is stored
    /// before consumers read it.
    ///
    /// # Errors
    /// When forced: if an index is not below the number of bins, or there are not as many values as indices.
    #[doc(alias("bincount", "histogram", "groupby"))]
    #[track_caller]
    pub fn reduce_by_index<I: Int, S: IntoExp, R: ToExp<S::Elt>>(
        &self,
        indices: &Array<I>,
        bins: Bins<impl IntoLen, S>,
        op: impl FnOnce(<S::Elt as Elt>::Exp, V::Exp) -> R,
    ) -> Array<S::Elt> {
        let builder = Builder::named("reduce_by_index");
        let (base, indices) = (bins.array(), as_indices(builder, indices.node()));
        let op = closure::<(S::Elt, V), S::Elt>(|(bin, x)| op(bin, x).to_exp());
        Array::wrap(builder.scatter(base.node(), &indices, self.node(), Some(op)))
    }

    /// Folds each element into its bin, and returns the bin after each step.
    ///
    /// `op` takes the bin and the element. The result has one element per input element. The last
    /// result of each bin is that of [`reduce_by_index`](Array::reduce_by_index).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let accounts = Array::from(vec![0u64, 1, 0, 1, 1]);
    /// let paid = Array::from(vec![10i64, 5, -3, 2, 1]);
    /// let balances = paid.scan_by_index(&accounts, Bins { count: 2, start: 0i64 }, |balance, x| balance + x);
    /// assert_eq!(balances.force()?, [10, 5, 7, 7, 8]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* Fuses with the producers of the indices and values, and with the
    /// consumers of the result. The bins are memory local to the loop.
    ///
    /// # Errors
    /// When forced: if an index is not below the number of bins, or there are not as many values as indices.
    #[doc(alias = "cumsum")]
    #[track_caller]
    pub fn scan_by_index<I: Int, S: IntoExp, R: ToExp<S::Elt>>(
        &self,
        indices: &Array<I>,
        bins: Bins<impl IntoLen, S>,
        op: impl FnOnce(<S::Elt as Elt>::Exp, V::Exp) -> R,
    ) -> Array<S::Elt> {
        let builder = Builder::named("scan_by_index");
        running(
            builder,
            &bins.array(),
            indices,
            self,
            (op, ScanKind::Inclusive),
        )
    }

    /// Folds each element into its bin, and returns the bin before each step.
    ///
    /// Otherwise as [`scan_by_index`](Array::scan_by_index).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let groups = Array::from(vec![0u64, 1, 0, 1, 1]);
    /// let places = groups.scan_exclusive_by_index(&groups, Bins { count: 2, start: 0u64 }, |n, _| n + 1);
    /// assert_eq!(places.force()?, [0, 0, 1, 1, 2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if an index is not below the number of bins, or there are not as many values as indices.
    #[doc(alias = "cumcount")]
    #[track_caller]
    pub fn scan_exclusive_by_index<I: Int, S: IntoExp, R: ToExp<S::Elt>>(
        &self,
        indices: &Array<I>,
        bins: Bins<impl IntoLen, S>,
        op: impl FnOnce(<S::Elt as Elt>::Exp, V::Exp) -> R,
    ) -> Array<S::Elt> {
        let builder = Builder::named("scan_exclusive_by_index");
        running(
            builder,
            &bins.array(),
            indices,
            self,
            (op, ScanKind::Exclusive),
        )
    }
}

impl<N: IntoLen, S: IntoExp> Bins<N, S> {
    /// The bins with their start value.
    #[track_caller]
    fn array(self) -> Array<S::Elt> {
        replicate(self.count, self.start)
    }
}

fn running<T: Elt, I: Int, V: Elt, R: ToExp<T>>(
    builder: Builder,
    bins: &Array<T>,
    indices: &Array<I>,
    values: &Array<V>,
    (op, kind): (impl FnOnce(T::Exp, V::Exp) -> R, ScanKind),
) -> Array<T> {
    let indices = as_indices(builder, indices.node());
    let step = closure::<(T, V), T>(|(bin, x)| op(bin, x).to_exp());
    let inputs = [bins.node(), &indices, values.node()];
    Array::wrap(builder.scan_by_index(inputs, step, kind, Places::Anywhere))
}
