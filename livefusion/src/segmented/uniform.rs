//! Segments of equal length: `from_uniform`, and `to_segmented` for the rows of a matrix.

use super::{Segmented, Segments};
use crate::array::{Array, IntoLen, Ix2, extent, length_of};
use crate::ast::{Axis, BodyBuilder, Builder, Node, Shape, show_node};
use crate::elt::Elt;
use crate::error::ErrorKind;
use crate::exp::types_of;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Untyped forms.
impl Builder {
    /// Cuts data into segments of one length, a delayed `u64`.
    pub fn from_uniform(self, length: Axis, data: &Arc<Node>) -> Segments {
        let data = data.clone();
        let node = length.node();
        if *node.types != [Ty::U64] {
            let lengths = self.unfit(node, &[Ty::U64], 1, "a length of type u64");
            return Segments { lengths, data };
        }
        let all = length_of(self, &data);
        let mut b = BodyBuilder::new(&[]);
        b.locate(Some(self.loc()));
        // For length 0 there is one segment per element. Then the check of the lengths requires
        // that there are no elements.
        let (all, n, one) = (all.term(&mut b), length.term(&mut b), b.lit(Const::u64(1)));
        let n = b.op(Op::Max, &[n, one]);
        let segments = b.op(Op::Div, &[all, n]);
        let segments = Axis::delayed(self.compute(b.finish(&[segments])));
        let rows = self.descriptors(&Shape::new([segments, length])).pop();
        let lengths = rows.unwrap_or_else(|| data.clone());
        Segments { lengths, data }
    }

    /// Converts the rows of a matrix to segments.
    ///
    /// Costs nothing.
    pub fn to_segmented(self, matrix: &Arc<Node>) -> Segments {
        let rows = match &matrix.shape {
            Some(shape) if shape.rank() == 2 && matrix.error.is_none() => {
                self.descriptors(shape).pop()
            }
            _ => None,
        };
        match rows {
            Some(lengths) => Segments {
                lengths,
                data: self.reshape(matrix, None),
            },
            None => {
                let (expected, got) = ("an array of rank 2".to_string(), show_node(matrix));
                let kind = ErrorKind::Malformed { expected, got };
                let data = self.instead(&[matrix], (&matrix.types, 1), kind);
                let lengths = self.mistaken(&data, &[Ty::U64], 1);
                Segments { lengths, data }
            }
        }
    }
}

impl<T: Elt> Segmented<T> {
    /// Cuts data into segments of one length.
    ///
    /// The lengths are never stored.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let pairs = Segmented::from_uniform(2, &iota(6));
    /// assert_eq!(pairs.sum().force()?, [1, 5, 9]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a result is forced: if the number of elements is not a multiple of the length, or the
    /// length is negative.
    #[track_caller]
    pub fn from_uniform(length: impl IntoLen, data: &Array<T>) -> Segmented<T> {
        let builder = Builder::named("from_uniform");
        let length = match extent(builder, length) {
            Ok(length) => length,
            Err(kind) => {
                return Segmented {
                    lengths: Array::wrap(builder.fault(&[Ty::U64], 1, kind.clone())),
                    data: Array::wrap(builder.fault(&types_of::<T>(), 1, kind)),
                };
            }
        };
        Segmented::wrap(builder.from_uniform(length, data.node()))
    }
}

impl<T: Elt> Array<T, Ix2> {
    /// Converts the rows to segments.
    ///
    /// Costs nothing.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Array::from([[3i64, 1], [2, 5]]).to_segmented();
    /// let large = rows.filter(|x| x.gt(2));
    /// assert_eq!(large.to_vecs()?, [vec![3], vec![5]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn to_segmented(&self) -> Segmented<T> {
        Segmented::wrap(Builder::named("to_segmented").to_segmented(self.node()))
    }
}
