//! Several results per element: `flat_map`, `combinations`, `cartesian`.

use crate::array::Array;
use crate::ast::{Body, Builder, Field, Fields, Node, trace};
use crate::elt::Elt;
use crate::exp::{IntoExp, ToExp, closure};
use crate::segmented::Segments;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Untyped forms.
impl Builder {
    /// Expands each element into `count(element)` elements (`u64`).
    ///
    /// `f` takes the fields of the element and the index within its expansion.
    pub fn flat_map(self, xs: &Arc<Node>, count: Body, f: &Body) -> Arc<Node> {
        self.flat_mapped(xs, count, f).data
    }

    /// As [`flat_map`](Builder::flat_map), with the expansion of each element as a segment.
    pub(crate) fn flat_mapped(self, xs: &Arc<Node>, count: Body, f: &Body) -> Segments {
        let lengths = self.map(std::slice::from_ref(xs), count);
        let params: Vec<Ty> = [Ty::U64].iter().chain(&xs.types).copied().collect();
        let body = trace(&params, |p| {
            let element: Fields = p[1..].iter().chain(&p[..1]).copied().collect();
            Field::apply(f, &element, self.loc())
        });
        let data = self.expand(&lengths, std::slice::from_ref(xs), body);
        Segments { lengths, data }
    }

    /// Returns all pairs of an element and a later element.
    pub fn combinations(self, xs: &Arc<Node>) -> Arc<Node> {
        let (n, loc) = (self.len(xs), self.loc());
        let op = |op, a, b| Field::op(op, &[a, b], loc);
        let next = |i| op(Op::Add, i, Field::literal(Const::u64(1)));
        // The first of a pair comes in order. The second is read at a later index.
        let firsts = self.zip(&[xs.clone(), self.places(xs)]);
        let rest = trace(&firsts.types, |p| {
            let all = Field::value(&n, loc);
            let behind = all
                .first()
                .zip(p.last())
                .map(|(n, i)| op(Op::Sub, *n, next(*i)));
            behind.into_iter().collect()
        });
        let params = [&firsts.types[..], &[Ty::U64]].concat();
        let pair = trace(&params, |p| {
            let [first @ .., i, j] = p else {
                return Fields::new();
            };
            let second = Field::at_unchecked(xs, op(Op::Add, next(*i), *j), loc);
            first.iter().copied().chain(second).collect()
        });
        self.flat_map(&firsts, rest, &pair)
    }

    /// Returns all pairs of an element of `xs` and an element of `ys`.
    pub fn cartesian(self, xs: &Arc<Node>, ys: &Arc<Node>) -> Arc<Node> {
        let (n, loc) = (self.len(ys), self.loc());
        let all = trace(&xs.types, |_| Field::value(&n, loc));
        let params = [&xs.types[..], &[Ty::U64]].concat();
        let pair = trace(&params, |p| {
            let [x @ .., j] = p else {
                return Fields::new();
            };
            let y = Field::at_unchecked(ys, *j, loc);
            x.iter().copied().chain(y).collect()
        });
        self.flat_map(xs, all, &pair)
    }
}

impl<T: Elt> Array<T> {
    /// Expands each element into `count(element)` elements.
    ///
    /// They are `f(element, i)` for `i` below the count, concatenated. This is a nested rate: the
    /// loop over the elements contains a loop over each expansion. Consumers of the result fuse
    /// into the inner loop.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![2u64, 0, 3]);
    /// let all = xs.flat_map(|x| x, |x, i| 10 * x + i);
    /// assert_eq!(all.force()?, [20, 21, 30, 31, 32]);
    /// // To each its own: the counts are segments' lengths.
    /// let each = Segmented::new(&xs, &all).sum();
    /// assert_eq!(each.force()?, [41, 0, 93]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* Fuses with its producer and all its consumers. If the result goes to
    /// memory and only the counts give its length, a first loop adds up the counts.
    ///
    /// *Source.* `concatMap` of Haskell's lists; `expand` of Accelerate.
    #[doc(alias("concatMap", "expand", "explode"))]
    #[track_caller]
    pub fn flat_map<N: ToExp<u64>, R: IntoExp>(
        &self,
        count: impl FnOnce(T::Exp) -> N,
        f: impl FnOnce(T::Exp, crate::Exp<u64>) -> R,
    ) -> Array<R::Elt> {
        let builder = Builder::named("flat_map");
        let count = closure::<T, u64>(|x| count(x).to_exp());
        let f = closure::<(T, u64), R::Elt>(|(x, i)| f(x, i).to_exp());
        Array::wrap(builder.flat_map(self.node(), count, &f))
    }

    /// Returns all pairs of an element and a later element.
    ///
    /// The order is `(xs[0], xs[1]), (xs[0], xs[2]), .., (xs[1], xs[2]), ..`. There are n (n - 1) /
    /// 2 pairs of n elements. They are stored only if the pairs themselves are forced.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1.0f64, 4.0, 9.0]);
    /// assert_eq!(xs.combinations().to_vec()?, [(1.0, 4.0), (1.0, 9.0), (4.0, 9.0)]);
    /// let nearest = xs.combinations().map(|(a, b)| (a - b).abs()).min();
    /// assert_eq!(nearest.force()?, 3.0);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* A [`flat_map`](Array::flat_map): two nested loops that also contain the
    /// consumers of the pairs. The second element of a pair is read at an index. So the array is in
    /// memory, or its elements are cheap index functions, or an earlier loop stores it.
    ///
    /// # Errors
    /// When forced: [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is not enough memory
    /// for all pairs. If a filter consumes the pairs, only the kept pairs need memory.
    #[doc(alias("tuple_combinations", "triu_indices", "pdist", "pairs"))]
    #[track_caller]
    pub fn combinations(&self) -> Array<(T, T)> {
        Array::wrap(Builder::named("combinations").combinations(self.node()))
    }

    /// Returns all pairs of an element of this array and one of another.
    ///
    /// The order is `(xs[0], ys[0]), (xs[0], ys[1]), .., (xs[1], ys[0]), ..`. To apply an operator
    /// to each pair and get a matrix, use [`outer`](Array::outer).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (xs, ys) = (Array::from(vec![1u8, 2]), Array::from(vec![0.5f64, 1.5]));
    /// assert_eq!(xs.cartesian(&ys).to_vec()?, [(1, 0.5), (1, 1.5), (2, 0.5), (2, 1.5)]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* As for [`combinations`](Array::combinations). This array may be a stream.
    #[doc(alias("cartesian_product", "product", "cross_join"))]
    #[track_caller]
    pub fn cartesian<U: Elt>(&self, other: &Array<U>) -> Array<(T, U)> {
        Array::wrap(Builder::named("cartesian").cartesian(self.node(), other.node()))
    }
}
