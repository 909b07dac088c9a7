//! Writing at computed indices: `scatter`, `update`, `scatter_with`, `reduce_by_index`; running folds there: `scan_by_index`,
//! `scan_exclusive_by_index`.

use crate::array::fold::operator_of;
use crate::array::length::IntoLen;
use crate::array::{Array, as_indices, replicate};
use crate::ast::{Body, Builder, Len, Node, Places, ScanKind};
use crate::elt::{Elt, Int};
use crate::exp::{IntoExp, ToExp, closure, value as value_of};
use std::sync::Arc;

/// Beside [`Builder::scatter`], which is `scatter` and `scatter_with`, and [`Builder::scan_by_index`].
impl Builder {
    /// An array with another element at one index: an integer and an element, of which each is a body without parameters.
    pub fn update(self, xs: &Arc<Node>, index: &Body, value: &Body) -> Arc<Node> {
        let index = self.indices_of(&self.repeated(Len::Known(1), index));
        let value = self.repeated(Len::Known(1), value);
        self.scatter(xs, &index, &value, None)
    }

    /// A histogram: bins, so many, that begin with a value; each value is joined onto the bin that its index names, in order, by
    /// `step` of (bin, value).
    pub fn reduce_by_index(
        self,
        (n, start): (Len, &Body),
        indices: &Arc<Node>,
        values: &Arc<Node>,
        step: Body,
    ) -> Arc<Node> {
        let bins = self.bins(n, start);
        self.scatter(&bins, &self.indices_of(indices), values, Some(step))
    }

    /// Bins, so many, that begin with a value, which is a body without parameters: the base of a
    /// [`scan_by_index`](Builder::scan_by_index).
    pub fn bins(self, n: Len, start: &Body) -> Arc<Node> {
        self.renamed("replicate").repeated(n, start)
    }

    /// Indices of any integer type as `u64`s, which those of scatters are in the graph. What is none is left as it is.
    pub fn indices_of(self, indices: &Arc<Node>) -> Arc<Node> {
        match indices.types[..] {
            [ty] if ty.is_int() => as_indices(self, indices),
            _ => indices.clone(),
        }
    }
}

impl<T: Elt> Array<T> {
    /// This array with `values` put at `indices`, in order: the last value put at an index stays. Fuses
    /// with what makes the indices and values; the result is in memory before others read it.
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

    /// This array with another element at one index. If this array is computed in the same force, and
    /// nobody else needs it, it is changed in place: the update costs one write.
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

    /// This array with `values` joined onto what is at `indices`, in order, by `op` of (what is there,
    /// value).
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

/// A histogram: `n` bins that begin with `start`; each value is joined onto the bin that its index
/// names, in order, by `op` of (bin, value).
///
/// ```
/// use livefusion::prelude::*;
/// let bins = Array::from(vec![1i64, 0, 1, 1]);
/// let weights = Array::from(vec![0.5f64, 1.0, 2.0, 4.0]);
/// let sums = reduce_by_index(2, 0.0, &bins, &weights, |bin, w| bin + w);
/// assert_eq!(sums.force()?, [1.0, 6.5]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When forced: if an index is not below `n`, or there are not as many values as indices.
#[doc(alias("bincount", "histogram", "groupby"))]
#[track_caller]
pub fn reduce_by_index<T: Elt, I: Int, R: ToExp<T>>(
    n: impl IntoLen,
    start: impl IntoExp<Elt = T>,
    indices: &Array<I>,
    values: &Array<T>,
    op: impl FnOnce(T::Exp, T::Exp) -> R,
) -> Array<T> {
    let builder = Builder::named("reduce_by_index");
    let bins = replicate(n, start);
    let indices = as_indices(builder, indices.node());
    let op = operator_of::<T, R>(op);
    Array::wrap(builder.scatter(bins.node(), &indices, values.node(), Some(op)))
}

/// Running folds by index: `n` bins that begin with `start`. Each value is joined onto the bin that its index names, in order, by
/// `op` of (bin, value), and what the bin is then is the element. Fuses with what makes the indices and values and with what uses
/// the elements; the bins are memory of the loop's own. The last element of each bin is what [`reduce_by_index`] gives.
///
/// ```
/// use livefusion::prelude::*;
/// let accounts = Array::from(vec![0u64, 1, 0, 1, 1]);
/// let paid = Array::from(vec![10i64, 5, -3, 2, 1]);
/// let balances = scan_by_index(2, 0i64, &accounts, &paid, |balance, x| balance + x);
/// assert_eq!(balances.force()?, [10, 5, 7, 7, 8]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When forced: if an index is not below `n`, or there are not as many values as indices.
#[doc(alias = "cumsum")]
#[track_caller]
pub fn scan_by_index<T: Elt, I: Int, V: Elt, R: ToExp<T>>(
    n: impl IntoLen,
    start: impl IntoExp<Elt = T>,
    indices: &Array<I>,
    values: &Array<V>,
    op: impl FnOnce(T::Exp, V::Exp) -> R,
) -> Array<T> {
    let builder = Builder::named("scan_by_index");
    let bins = replicate(n, start);
    running(builder, &bins, indices, values, (op, ScanKind::Inclusive))
}

/// As [`scan_by_index`], but an element is what its bin was before its value was joined onto it.
///
/// ```
/// use livefusion::prelude::*;
/// let groups = Array::from(vec![0u64, 1, 0, 1, 1]);
/// let places = scan_exclusive_by_index(2, 0u64, &groups, &groups, |n, _| n + 1);
/// assert_eq!(places.force()?, [0, 0, 1, 1, 2]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When forced: if an index is not below `n`, or there are not as many values as indices.
#[doc(alias = "cumcount")]
#[track_caller]
pub fn scan_exclusive_by_index<T: Elt, I: Int, V: Elt, R: ToExp<T>>(
    n: impl IntoLen,
    start: impl IntoExp<Elt = T>,
    indices: &Array<I>,
    values: &Array<V>,
    op: impl FnOnce(T::Exp, V::Exp) -> R,
) -> Array<T> {
    let builder = Builder::named("scan_exclusive_by_index");
    let bins = replicate(n, start);
    running(builder, &bins, indices, values, (op, ScanKind::Exclusive))
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
