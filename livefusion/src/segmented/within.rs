//! Elements of each segment by their places in it: `take_s`, `reverse_s`, `gather_s`.

use super::{Segmented, Segments};
use crate::array::{Amount, IntoLen, as_indices};
use crate::ast::{BodyBuilder, Builder, Ensure, TermId};
use crate::elt::{Elt, Int};
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// Untyped forms.
impl Builder {
    /// The first elements of each segment, as many as the number says; all of a segment that has fewer.
    pub fn take_s(self, of: &Segments, n: Amount) -> Segments {
        self.of_each(of, |row| self.take_n(row, n))
    }

    /// Each segment's elements from the last to the first.
    pub fn reverse_s(self, of: &Segments) -> Segments {
        self.of_each(of, |row| self.reverse(row))
    }

    /// The elements at each segment's indices within it, one integer each.
    pub fn gather_s(self, of: &Segments, indices: &Segments) -> Segments {
        if !matches!(indices.data.types[..], [ty] if ty.is_int()) {
            let expected = "indices of an integer type";
            return indices.with_data(self.unfit(&indices.data, &of.data.types, 1, expected));
        }
        let begins = self.offsets_within(&of.lengths, &of.data);
        let segments = self.zip(&[of.lengths.clone(), begins]);
        let segments = self.spread(&indices.lengths, &segments);
        let mut b = BodyBuilder::new(&[Ty::U64; 3]);
        b.locate(Some(self.loc()));
        let [index, length, begin] = [0, 1, 2].map(|k| b.param(k));
        let index = b.ensure(Ensure::Below, &[index, length]);
        let at = b.op(Op::Add, &[begin, index]);
        let fields = 0..of.data.types.len() as u32;
        let fields: Vec<TermId> = fields.map(|f| b.at(&of.data, f, at, false)).collect();
        let at = as_indices(self, &indices.data);
        indices.with_data(self.map(&[at, segments], b.finish(&fields)))
    }
}

impl<T: Elt> Segmented<T> {
    /// The first `n` elements of each segment; all of a segment that has fewer.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![1i64, 2, 3], vec![4], vec![]]);
    /// assert_eq!(rows.take_s(2).to_vecs()?, [vec![1, 2], vec![4], vec![]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* What [`map_segments`](Segmented::map_segments) makes of [`take`](crate::Array::take): elements that are in
    /// memory, or cheap functions of the index, are read where they are used; a stream is gone through to the end of each segment.
    ///
    /// # Errors
    /// When forced: if `n` is negative, or the lengths do not match the data.
    #[doc(alias = "head")]
    #[track_caller]
    pub fn take_s(&self, n: impl IntoLen) -> Segmented<T> {
        Segmented::wrap(Builder::named("take_s").take_s(&self.nodes(), n.into_len().0))
    }

    /// Each segment's elements from the last to the first.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![1i64, 2, 3], vec![4], vec![]]);
    /// assert_eq!(rows.reverse_s().to_vecs()?, [vec![3, 2, 1], vec![4], vec![]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* What [`map_segments`](Segmented::map_segments) makes of [`reverse`](crate::Array::reverse): a read at an
    /// index where the elements are used.
    ///
    /// # Errors
    /// When forced: if the lengths do not match the data.
    #[doc(alias = "flip")]
    #[track_caller]
    pub fn reverse_s(&self) -> Segmented<T> {
        Segmented::wrap(Builder::named("reverse_s").reverse_s(&self.nodes()))
    }

    /// The elements at each segment's indices within it: as many segments as `indices` has, each as long as there.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![1.5f64, 2.5, 3.5], vec![4.5]]);
    /// let at = Segmented::from_vecs(vec![vec![2u8, 0], vec![0, 0, 0]]);
    /// assert_eq!(rows.gather_s(&at).to_vecs()?, [vec![3.5, 1.5], vec![4.5, 4.5, 4.5]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* A map over the indices, as [`gather`](crate::Array::gather): what makes these may be a stream.
    ///
    /// # Errors
    /// When forced: if an index is negative or not below its segment's length, if there are not as many segments in both, or if lengths do
    /// not match their data.
    #[doc(alias("take", "take_along_axis", "bpermute"))]
    #[track_caller]
    pub fn gather_s<I: Int>(&self, indices: &Segmented<I>) -> Segmented<T> {
        let builder = Builder::named("gather_s");
        Segmented::wrap(builder.gather_s(&self.nodes(), &indices.nodes()))
    }
}
