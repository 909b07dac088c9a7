//! Segments joined: `append_s` segment by segment, `flatten_s` by an outer descriptor.

use super::Segmented;
use crate::array::{Array, as_indices};
use crate::ast::{BodyBuilder, Builder, TermId};
use crate::elt::{Elt, Int};
use loop_lang::op::Op;
use loop_lang::types::Ty;

impl<T: Elt> Segmented<T> {
    /// Each segment followed by the other's: there must be as many in both. Both are read by index, so
    /// what computes their data is made manifest unless it is an index function itself. Data behind the
    /// last segment is in no segment, and left out.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (xs, ys) = (vec![vec![1i64, 2], vec![]], vec![vec![3i64], vec![4]]);
    /// let both = Segmented::from_vecs(xs).append_s(&Segmented::from_vecs(ys));
    /// assert_eq!(both.to_vecs()?, [vec![1, 2, 3], vec![4]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are not as many segments in both, or lengths ask for more than the data has.
    #[track_caller]
    pub fn append_s(&self, other: &Segmented<T>) -> Segmented<T> {
        let builder = Builder::named("append_s");
        let lengths = self.lengths.zip_with(&other.lengths, |a, b| a + b);
        let per_segment = [
            self.lengths.node().clone(),
            self.offsets().node().clone(),
            other.offsets().node().clone(),
        ];
        let mut b = BodyBuilder::new(&[Ty::U64; 4]);
        b.locate(Some(builder.loc()));
        let [i, len, mine, theirs] = [0, 1, 2, 3].map(|k| b.param(k));
        let first = b.op(Op::Lt, &[i, len]);
        let here = b.op(Op::Add, &[mine, i]);
        let rest = b.op(Op::Sub, &[i, len]);
        let there = b.op(Op::Add, &[theirs, rest]);
        let fields: Vec<TermId> = (0..self.data.node().types.len() as u32)
            .map(|f| {
                let x = b.at(self.data.node(), f, here, true);
                let y = b.at(other.data.node(), f, there, true);
                b.cond(first, x, y)
            })
            .collect();
        let data = builder.expand(lengths.node(), &per_segment, b.finish(&fields));
        Segmented {
            lengths,
            data: Array::wrap(data),
        }
    }

    /// The elements in the segments of segments: `outer` says how many of these segments follow each
    /// other in one of the result.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let words = Segmented::from_vecs(vec![vec![1i64], vec![2, 3], vec![], vec![4]]);
    /// let lines = words.flatten_s(&Array::from(vec![2u64, 2]));
    /// assert_eq!(lines.to_vecs()?, [vec![1, 2, 3], vec![4]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if `outer` does not add up to the number of segments.
    #[track_caller]
    pub fn flatten_s<I: Int>(&self, outer: &Array<I>) -> Segmented<T> {
        let outer = as_indices(Builder::named("flatten_s"), outer.node());
        let segments = Segmented {
            lengths: Array::wrap(outer),
            data: self.lengths.clone(),
        };
        Segmented {
            lengths: segments.sum_s(),
            data: self.data.clone(),
        }
    }
}
