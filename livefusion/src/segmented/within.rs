//! Elements by their index in each segment: `take`, `reverse`, `gather`.

use super::{Segmented, Segments};
use crate::array::{Amount, IntoLen, as_indices};
use crate::ast::{Assert, BodyBuilder, Builder, TermId};
use crate::elt::{Elt, Int};
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// Untyped forms.
impl Segments {
    /// Takes the first `n` elements of each segment, or all if there are fewer.
    pub fn take(&self, builder: Builder, n: Amount) -> Segments {
        builder.of_each(self, |row| builder.take_n(row, n))
    }

    /// Reverses the order of the elements in each segment.
    pub fn reverse(&self, builder: Builder) -> Segments {
        builder.of_each(self, |row| builder.reverse(row))
    }

    /// Reads the elements at indices within each segment.
    ///
    /// Indices are one integer each.
    pub fn gather(&self, builder: Builder, indices: &Segments) -> Segments {
        if !matches!(indices.data.types[..], [ty] if ty.is_int()) {
            let expected = "indices of an integer type";
            return indices.with_data(builder.unfit(&indices.data, &self.data.types, 1, expected));
        }
        let begins = builder.offsets_within(&self.lengths, &self.data);
        let segments = builder.zip(&[self.lengths.clone(), begins]);
        let segments = builder.spread(&indices.lengths, &segments);
        let mut b = BodyBuilder::new(&[Ty::U64; 3]);
        b.locate(Some(builder.loc()));
        let [index, length, begin] = [0, 1, 2].map(|k| b.param(k));
        let index = b.ensure(Assert::Below, &[index, length]);
        let at = b.op(Op::Add, &[begin, index]);
        let fields = 0..self.data.types.len() as u32;
        let fields: Vec<TermId> = fields.map(|f| b.at(&self.data, f, at, false)).collect();
        let at = as_indices(builder, &indices.data);
        indices.with_data(builder.map(&[at, segments], b.finish(&fields)))
    }
}

impl<T: Elt> Segmented<T> {
    /// Takes the first `n` elements of each segment.
    ///
    /// A shorter segment is taken completely.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![1i64, 2, 3], vec![4], vec![]]);
    /// assert_eq!(rows.take(2).to_vecs()?, [vec![1, 2], vec![4], vec![]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* As [`take`](crate::Array::take) in
    /// [`map_segments`](Segmented::map_segments). Elements that are in memory, or cheap index
    /// functions, are read where they are used. A stream is run to the end of each segment.
    ///
    /// # Errors
    /// When forced: if `n` is negative, or the lengths do not match the data.
    #[doc(alias("head", "take_s"))]
    #[track_caller]
    pub fn take(&self, n: impl IntoLen) -> Segmented<T> {
        Segmented::wrap(self.nodes().take(Builder::named("take"), n.into_len().0))
    }

    /// Reverses the order of the elements in each segment.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![1i64, 2, 3], vec![4], vec![]]);
    /// assert_eq!(rows.reverse().to_vecs()?, [vec![3, 2, 1], vec![4], vec![]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* As [`reverse`](crate::Array::reverse) in
    /// [`map_segments`](Segmented::map_segments): a read at an index where the elements are used.
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[doc(alias("flip", "reverse_s"))]
    #[track_caller]
    pub fn reverse(&self) -> Segmented<T> {
        Segmented::wrap(self.nodes().reverse(Builder::named("reverse")))
    }

    /// Reads the elements at indices within each segment.
    ///
    /// The result has the segments of `indices`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![1.5f64, 2.5, 3.5], vec![4.5]]);
    /// let at = Segmented::from_vecs(vec![vec![2u8, 0], vec![0, 0, 0]]);
    /// assert_eq!(rows.gather(&at).to_vecs()?, [vec![3.5, 1.5], vec![4.5, 4.5, 4.5]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* A map over the indices, as [`gather`](crate::Array::gather). The indices
    /// may be a stream.
    ///
    /// # Errors
    /// When forced: if an index is negative or not below the length of its segment. Also if the
    /// numbers of segments differ, or lengths do not match their data.
    #[doc(alias("gather_s", "take_along_axis"))]
    #[track_caller]
    pub fn gather<I: Int>(&self, indices: &Segmented<I>) -> Segmented<T> {
        let builder = Builder::named("gather");
        Segmented::wrap(self.nodes().gather(builder, &indices.nodes()))
    }
}
