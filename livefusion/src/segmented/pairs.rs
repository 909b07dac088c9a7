//! Several results per element: `flat_map`, `combinations`, `cartesian`.
//!
//! They nest three rates: segments, first elements, second elements.

use super::{Segmented, Segments};
use crate::ast::{Body, Builder, Field, Fields, Node, trace};
use crate::elt::Elt;
use crate::exp::{Exp, IntoExp, ToExp, closure};
use crate::nested::{OfAll, SegmentPart};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

/// Untyped forms.
impl Segments {
    /// Expands each element into `count(element)` elements (`u64`) of its segment.
    ///
    /// `f` takes the fields of the element and the index within its expansion.
    pub fn flat_map(&self, builder: Builder, count: Body, f: &Body) -> Segments {
        builder
            .flat_mapped(&self.data, count, f)
            .flatten(builder, &self.lengths)
    }

    /// Returns all pairs of an element and a later element of its segment.
    pub fn combinations(&self, builder: Builder) -> Segments {
        builder.of_each(self, |row| builder.combinations(row))
    }

    /// Returns all pairs of elements of corresponding segments.
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
    /// Applies `f` to each segment.
    pub(crate) fn of_each(
        self,
        of: &Segments,
        f: impl FnOnce(&Arc<Node>) -> Arc<Node>,
    ) -> Segments {
        let part = SegmentPart::Segments(of.clone());
        let made = self.map_segments(&[part], |row| vec![SegmentPart::Array(f(&row[0]))]);
        match made.into_iter().next() {
            Some(OfAll::Segments(made)) => made,
            // A result that is not a segment is a mistake.
            Some(OfAll::Each(data) | OfAll::Nested(data, _)) => Segments {
                lengths: self.mistaken(&data, &[Ty::U64], 1),
                data,
            },
            None => of.clone(),
        }
    }
}

impl<T: Elt> Segmented<T> {
    /// Expands each element into several, in the same segment.
    ///
    /// An element gives `count(element)` elements: `f(element, i)` for `i` below the count.
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
    /// *Cost and fusion.* As for [`Array::flat_map`](crate::Array::flat_map), one loop deeper.
    /// Folds of the new segments by operators with an identity run in the same loop nest, as do
    /// `filter` and `zip_with_each`. Other folds and scans of them read them from memory.
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

    /// Pairs each element with each later element of its segment.
    ///
    /// Pairs are ordered by the first element, then by the second.
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
    /// *Cost and fusion.* Three nested loops: over the segments, the first elements, and the second
    /// elements. Maps, filters, folds and scatters of the pairs run in them, and no pair is stored.
    /// The second element of a pair is read at an index. So the data is in memory, or its elements
    /// are cheap index functions. Elements that a filter keeps of segments in memory are in scratch
    /// memory, one segment at a time. Other data is stored by an earlier loop. Folds per segment fuse as
    /// [`flat_map`](Segmented::flat_map) explains.
    ///
    /// # Errors
    /// When forced: if the lengths exceed the data.
    #[doc(alias("combinations_s", "ak.combinations", "pairs"))]
    #[track_caller]
    pub fn combinations(&self) -> Segmented<(T, T)> {
        Segmented::wrap(self.nodes().combinations(Builder::named("combinations")))
    }

    /// Pairs each element of a segment with each of the other's segment.
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
    /// *Cost and fusion.* As for [`combinations`](Segmented::combinations). The data of these
    /// segments may be a stream, but that of `other` is read at an index.
    ///
    /// # Errors
    /// When forced: if the numbers of segments differ, or lengths do not match their data.
    #[doc(alias("cartesian_s", "ak.cartesian", "cross_join"))]
    #[track_caller]
    pub fn cartesian<U: Elt>(&self, other: &Segmented<U>) -> Segmented<(T, U)> {
        let builder = Builder::named("cartesian");
        Segmented::wrap(self.nodes().cartesian(builder, &other.nodes()))
    }
}
