//! Folds of groups without a sort: `reduce_by_key`, `top_k_by_index`, `top_k_by_key`.

use super::order;
use super::top::Few;
use crate::array::{Amount, Array, Bins, IntoLen};
use crate::ast::{Axis, Body, Builder, Len, Node};
use crate::elt::{Elt, Int};
use crate::exp::{Field, Fields, IntoExp, ToExp, closure, trace, value};
use crate::segmented::{Segmented, Segments};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// The untyped methods.
impl Builder {
    /// Folds the values of each key.
    ///
    /// Returns the distinct keys in the order of first occurrence, and the states. `step` takes
    /// (state, value).
    pub fn reduce_by_key(
        self,
        values: &Arc<Node>,
        keys: &Arc<Node>,
        start: &Body,
        step: Body,
    ) -> (Arc<Node>, Arc<Node>) {
        let (codes, found) = self.factorize(keys);
        let count = Len::Delayed(self.len(&found));
        let states = self.reduce_by_index(values, &codes, Bins { count, start }, step);
        (found, states)
    }

    /// Returns the first `k` values of each bin in descending order.
    ///
    /// There are fewer if the bin has fewer.
    pub fn top_k_by_index(
        self,
        values: &Arc<Node>,
        indices: &Arc<Node>,
        count: Len,
        k: usize,
    ) -> Segments {
        let keys = self.keys_by(values, order::falling_keys);
        let counts = self.bincount(indices, count.clone());
        if !self.fits(&keys, k) {
            let order = self.argsort(indices);
            let groups = self.segments(&counts, &self.gather(values, &order));
            return groups
                .sort_falling(self)
                .take(self, Amount::Known(k as u64));
        }
        let few = Few::of(&keys, k, self.loc());
        let bins = self.bins(count, &few.none());
        let states = self.scatter(&bins, &self.indices_of(indices), &keys, Some(few.step()));
        let most = trace::trace(&[Ty::U64], |n| {
            let k = Field::literal(Const::u64(k as u64));
            Fields::from_slice(&[Field::op(Op::Min, &[n[0], k], self.loc())])
        });
        let lengths = self.map(&[counts], most);
        let found = self.expand(&lengths, std::slice::from_ref(&states), few.row_of_state());
        Segments {
            data: self.map(&[found], order::falling_elements(&values.types, self.loc())),
            lengths,
        }
    }

    /// Returns the distinct keys, and the first `k` values of each in descending order.
    ///
    /// Keys come in the order of first occurrence.
    pub fn top_k_by_key(
        self,
        values: &Arc<Node>,
        keys: &Arc<Node>,
        k: usize,
    ) -> (Arc<Node>, Segments) {
        let (codes, found) = self.factorize(keys);
        let count = Axis::delayed(self.len(&found)).len();
        let best = self.top_k_by_index(values, &codes, count, k);
        (found, best)
    }
}

impl<T: Elt> Array<T> {
    /// Folds the elements of each key, in order.
    ///
    /// Returns the distinct keys in the order of first occurrence, and the state of each. `op`
    /// takes a state and an element.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let state = Array::from(vec![70u32, 30, 70]);
    /// let rain = Array::from(vec![1.0f64, 2.0, 3.0]);
    /// let (states, sums) = rain.reduce_by_key(&state, (0u64, 0.0), |(n, sum), x| (n + 1, sum + x));
    /// let (states, sums) = (&states, &sums).force()?;
    /// assert_eq!((&states[..], sums.to_vec()?), (&[70, 30][..], vec![(2, 4.0), (1, 2.0)]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* [`factorize`](Array::factorize) numbers the keys, and
    /// [`reduce_by_index`](Array::reduce_by_index) folds. Nothing is sorted, and the elements are
    /// computed in the loop that folds them.
    ///
    /// # Errors
    /// When forced: if the number of keys differs, and as for [`factorize`](Array::factorize).
    #[doc(alias("groupby", "group_by", "aggregate_by_key"))]
    #[track_caller]
    pub fn reduce_by_key<K: Elt, S: IntoExp, R: ToExp<S::Elt>>(
        &self,
        keys: &Array<K>,
        start: S,
        op: impl FnOnce(<S::Elt as Elt>::Exp, T::Exp) -> R,
    ) -> (Array<K>, Array<S::Elt>) {
        let start = value::<S::Elt>(|| start.to_exp());
        let step = closure::<(S::Elt, T), S::Elt>(|(state, x)| op(state, x).to_exp());
        let builder = Builder::named("reduce_by_key");
        let (keys, states) = builder.reduce_by_key(self.node(), keys.node(), &start, step);
        (Array::wrap(keys), Array::wrap(states))
    }

    /// Returns the `k` largest elements of each bin in descending order.
    ///
    /// The bin of an element is given by its index. A bin with fewer elements has all of them. The
    /// order is that of [`top_k`](Array::top_k).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let bins = Array::from(vec![1u32, 0, 1, 1]);
    /// let best = Array::from(vec![4.0f64, 7.0, 9.0, 5.0]).top_k_by_index(&bins, 3, 2);
    /// assert_eq!(best.to_vecs()?, [vec![7.0], vec![9.0, 5.0], vec![]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* A scatter with `k` elements for each bin: one comparison for most
    /// elements. It fuses with the producers of the elements and indices, and with other scatters
    /// by these indices. If `k` times the number of fields exceeds 32, the elements are sorted.
    ///
    /// # Errors
    /// When forced: if an index is not below the number of bins, or there are not as many indices.
    #[doc(alias("nlargest", "topk"))]
    #[track_caller]
    pub fn top_k_by_index<I: Int>(
        &self,
        indices: &Array<I>,
        count: impl IntoLen,
        k: usize,
    ) -> Segmented<T> {
        let builder = Builder::named("top_k_by_index");
        Segmented::wrap(match count.into_len().0.len() {
            Ok(count) => builder.top_k_by_index(self.node(), indices.node(), count, k),
            Err(kind) => Segments {
                lengths: builder.fault(&[Ty::U64], 1, kind.clone()),
                data: builder.fault(&self.node().types, 1, kind),
            },
        })
    }

    /// Returns the `k` largest elements of each key in descending order.
    ///
    /// The distinct keys come first, in the order of first occurrence.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let team = Array::from(vec![7u64, 5, 7, 7]);
    /// let (teams, best) = Array::from(vec![4i64, 6, 9, 5]).top_k_by_key(&team, 2);
    /// assert_eq!(teams.force()?, [7, 5]);
    /// assert_eq!(best.to_vecs()?, [vec![9, 5], vec![6]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* [`factorize`](Array::factorize) numbers the keys, and
    /// [`top_k_by_index`](Array::top_k_by_index) finds the elements.
    ///
    /// # Errors
    /// When forced: if the number of keys differs, and as for [`factorize`](Array::factorize).
    #[doc(alias("nlargest", "groupby"))]
    #[track_caller]
    pub fn top_k_by_key<K: Elt>(&self, keys: &Array<K>, k: usize) -> (Array<K>, Segmented<T>) {
        let builder = Builder::named("top_k_by_key");
        let (keys, best) = builder.top_k_by_key(self.node(), keys.node(), k);
        (Array::wrap(keys), Segmented::wrap(best))
    }
}
