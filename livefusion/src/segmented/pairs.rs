//! Several elements for each of a segment's: `flat_map`, `combinations`, `cartesian`. They are rates in rates: segments, firsts,
//! seconds.

use super::{Segmented, Segments};
use crate::ast::{Body, Builder, Field, Fields, Node, trace};
use crate::elt::Elt;
use crate::exp::{Exp, IntoExp, ToExp, closure};
use crate::nested::{OfAll, Part};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

/// Untyped forms.
impl Segments {
    /// For each element so many others as `count` of it says (`u64`), in the same segment: `f` of the element's fields and the index
    /// among these.
    pub fn flat_map(&self, builder: Builder, count: Body, f: &Body) -> Segments {
        builder
            .flat_mapped(&self.data, count, f)
            .flatten(builder, &self.lengths)
    }

    /// All pairs of an element and one behind it in its segment.
    pub fn combinations(&self, builder: Builder) -> Segments {
        builder.of_each(self, |row| builder.combinations(row))
    }

    /// All pairs of an element of each segment and one of the other's.
    pub fn cartesian(&self, builder: Builder, other: &Segments) -> Segments {
        let loc = builder.loc();
        let begins = builder.offsets_within(&other.lengths, &other.data);
        let seconds = builder.zip(&[other.lengths.clone(), begins]);
        let seconds = builder.spread(&self.lengths, &seconds);
        let firsts = self.with_data(builder.zip(&[self.data.clone(), seconds]));
        let types = &firsts.data.types;
        let count = trace(types, |p| match p {
            [.., n, _] => Fields::from_slice(&[*n]),
            _ => Fields::new(),
        });
        let pair = trace(&[&types[..], &[Ty::U64]].concat(), |p| {
            let [first @ .., _, begin, j] = p else {
                return Fields::new();
            };
            let at = Field::op(Op::Add, &[*begin, *j], loc);
            let second = Field::at_unchecked(&other.data, at, loc);
            first.iter().copied().chain(second).collect()
        });
        firsts.flat_map(builder, count, &pair)
    }
}

impl Builder {
    /// The array that `f` makes of each segment.
    pub(crate) fn of_each(
        self,
        of: &Segments,
        f: impl FnOnce(&Arc<Node>) -> Arc<Node>,
    ) -> Segments {
        let part = Part::Segments(of.clone());
        let made = self.map_segments(&[part], |row| vec![Part::Array(f(&row[0]))]);
        match made.into_iter().next() {
            Some(OfAll::Segments(made)) => made,
            // What segments cannot be made of is a mistake.
            Some(OfAll::Each(data) | OfAll::Nested(data, _)) => Segments {
                lengths: self.mistaken(&data, &[Ty::U64], 1),
                data,
            },
            None => of.clone(),
        }
    }
}

impl<T: Elt> Segmented<T> {
    /// Makes several elements of each, in the same segment.
    ///
    /// There are as many as `count` of the element says: `f` of the element and the index among these.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![2u64, 0, 1], vec![3]]);
    /// let all = rows.flat_map(|x| x, |x, i| 10 * x + i);
    /// assert_eq!(all.to_vecs()?, [vec![20, 21, 10], vec![30, 31, 32]]);
    /// assert_eq!(all.sum().force()?, [51, 93]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* As of [`Array::flat_map`](crate::Array::flat_map), one loop deeper. Folds of the new segments by operators that have an identity run in
    /// that nest, as do `filter` and `zip_with_each`; other folds and scans of them read them from memory.
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[doc(alias("concatMap", "flat_map_s"))]
    #[track_caller]
    pub fn flat_map<N: ToExp<u64>, R: IntoExp>(
        &self,
        count: impl FnOnce(T::Exp) -> N,
        f: impl FnOnce(T::Exp, Exp<u64>) -> R,
    ) -> Segmented<R::Elt> {
        let builder = Builder::named("flat_map");
        let count = closure::<T, u64>(|x| count(x).to_exp());
        let f = closure::<(T, u64), R::Elt>(|(x, i)| f(x, i).to_exp());
        Segmented::wrap(self.nodes().flat_map(builder, count, &f))
    }

    /// Pairs each element with each one behind it in its segment.
    ///
    /// Pairs are in the order of the first, then of the second.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// // Events, each with the energies of its particles: of all pairs in an event, how many come to 5 or more?
    /// let events = Segmented::from_vecs(vec![vec![1i64, 2, 4], vec![7], vec![3, 2]]);
    /// let pairs = events.combinations();
    /// assert_eq!(pairs.to_vecs()?, [vec![(1, 2), (1, 4), (2, 4)], vec![], vec![(3, 2)]]);
    /// let many = pairs.map(|(a, b)| a + b).count(|e| e.ge(5));
    /// assert_eq!(many.force()?, [2, 0, 1]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* Three loops, one in the other: over the segments, the firsts, the seconds. What maps, filters, folds or scatters
    /// the pairs is in them, and no pair is in memory. The second of a pair is read at an index: the data is in memory, or a cheap
    /// function of the index, or made so by an earlier loop. What folds per segment fuses as [`flat_map`](Segmented::flat_map) says.
    ///
    /// # Errors
    /// When forced: if the lengths ask for more than the data has.
    #[doc(alias("combinations_s", "ak.combinations", "pairs"))]
    #[track_caller]
    pub fn combinations(&self) -> Segmented<(T, T)> {
        Segmented::wrap(self.nodes().combinations(Builder::named("combinations")))
    }

    /// Pairs each element of a segment with each one of the other's.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Segmented::from_vecs(vec![vec![1i64, 2], vec![3]]);
    /// let ys = Segmented::from_vecs(vec![vec![0.5f64], vec![1.5, 2.5]]);
    /// let pairs = xs.cartesian(&ys);
    /// assert_eq!(pairs.to_vecs()?, [vec![(1, 0.5), (2, 0.5)], vec![(3, 1.5), (3, 2.5)]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* As of [`combinations`](Segmented::combinations), but that these segments' data may be a stream: the other's
    /// is read at an index.
    ///
    /// # Errors
    /// When forced: if there are not as many segments in both, or lengths do not match their data.
    #[doc(alias("cartesian_s", "ak.cartesian", "cross_join"))]
    #[track_caller]
    pub fn cartesian<U: Elt>(&self, other: &Segmented<U>) -> Segmented<(T, U)> {
        let builder = Builder::named("cartesian");
        Segmented::wrap(self.nodes().cartesian(builder, &other.nodes()))
    }
}
