//! Joined segments: `append` segment by segment, `flatten` by an outer descriptor.

use super::{Segmented, Segments};
use crate::array::{Array, step_of};
use crate::ast::{BodyBuilder, Builder, Node, TermId, show_types};
use crate::elt::{Elt, Int};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

/// Untyped forms.
impl Segments {
    /// Appends to each segment that of `other`.
    ///
    /// The elements of both must have the same type.
    pub fn append(&self, builder: Builder, other: &Segments) -> Segments {
        let lengths = [self.lengths.clone(), other.lengths.clone()];
        let add = step_of(Op::Add, Ty::U64);
        let lengths = builder.renamed("zip_with").map(&lengths, add);
        let types = &self.data.types;
        if other.data.types != *types {
            let expected = format!("elements of type {}", show_types(types));
            let data = builder.unfit(&other.data, types, 1, &expected);
            return Segments { lengths, data };
        }
        let begins = builder.renamed("scan_exclusive");
        let per_segment = [
            self.lengths.clone(),
            begins.offsets(&self.lengths),
            begins.offsets(&other.lengths),
        ];
        let mut b = BodyBuilder::new(&[Ty::U64; 4]);
        b.locate(Some(builder.loc()));
        let [i, len, mine, theirs] = [0, 1, 2, 3].map(|k| b.param(k));
        let first = b.op(Op::Lt, &[i, len]);
        let here = b.op(Op::Add, &[mine, i]);
        let rest = b.op(Op::Sub, &[i, len]);
        let there = b.op(Op::Add, &[theirs, rest]);
        let fields: Vec<TermId> = (0..types.len() as u32)
            .map(|f| {
                let x = b.at(&self.data, f, here, true);
                let y = b.at(&other.data, f, there, true);
                b.cond(first, x, y)
            })
            .collect();
        let data = builder.expand(&lengths, &per_segment, b.finish(&fields));
        Segments { lengths, data }
    }

    /// Removes the outer level of nested segments.
    ///
    /// `outer` gives the number of adjacent segments that form one segment of the result, as one
    /// integer each.
    pub fn flatten(&self, builder: Builder, outer: &Arc<Node>) -> Segments {
        let segments = builder.segments(outer, &self.lengths);
        Segments {
            lengths: builder.renamed("sum").sum(&segments),
            data: self.data.clone(),
        }
    }
}

impl<T: Elt> Segmented<T> {
    /// Appends to each segment that of `other`.
    ///
    /// Both must have the same number of segments. Data after the last segment belongs to no
    /// segment, and is left out.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (xs, ys) = (vec![vec![1i64, 2], vec![]], vec![vec![3i64], vec![4]]);
    /// let both = Segmented::from_vecs(xs).append(&Segmented::from_vecs(ys));
    /// assert_eq!(both.to_vecs()?, [vec![1, 2, 3], vec![4]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* Both are read by index, so data that is not an index function is stored
    /// first.
    ///
    /// # Errors
    /// When forced: if the numbers of segments differ, or the lengths exceed the data.
    #[doc(alias = "append_s")]
    #[track_caller]
    pub fn append(&self, other: &Segmented<T>) -> Segmented<T> {
        Segmented::wrap(
            self.nodes()
                .append(Builder::named("append"), &other.nodes()),
        )
    }

    /// Joins adjacent segments.
    ///
    /// `outer` gives the number of segments to join at a time.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let words = Segmented::from_vecs(vec![vec![1i64], vec![2, 3], vec![], vec![4]]);
    /// let lines = words.flatten(&Array::from(vec![2u64, 2]));
    /// assert_eq!(lines.to_vecs()?, [vec![1, 2, 3], vec![4]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if `outer` does not sum to the number of segments.
    #[doc(alias = "flatten_s")]
    #[track_caller]
    pub fn flatten<I: Int>(&self, outer: &Array<I>) -> Segmented<T> {
        let builder = Builder::named("flatten");
        Segmented::wrap(self.nodes().flatten(builder, outer.node()))
    }
}
