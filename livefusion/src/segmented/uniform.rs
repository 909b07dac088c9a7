//! Segments of one length: `from_uniform`, and the rows of a matrix: `to_segmented`.

use super::Segmented;
use crate::array::{Array, IntoLen, Ix2, extent, length_of};
use crate::ast::{BodyBuilder, Builder, Shape};
use crate::elt::Elt;
use crate::exp::types_of;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl<T: Elt> Segmented<T> {
    /// Segments that are all of one length. The lengths are in no memory.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let pairs = Segmented::from_uniform(2, &iota(6));
    /// assert_eq!(pairs.sum_s().force()?, [1, 5, 9]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When what is computed from it is forced: if the number of elements is no multiple of the length, or the length is
    /// negative.
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
        let all = length_of(builder, data.node());
        let mut b = BodyBuilder::new(&[]);
        b.locate(Some(builder.loc()));
        // Of length 0 there is none for each element, of which there must be none.
        let (all, n, one) = (all.term(&mut b), length.term(&mut b), b.lit(Const::u64(1)));
        let n = b.op(Op::Max, &[n, one]);
        let segments = b.op(Op::Div, &[all, n]);
        let segments = crate::ast::Axis::delayed(builder.compute(b.finish(&[segments])));
        let rows = builder.descriptors(&Shape::new([segments, length])).pop();
        Segmented {
            lengths: Array::wrap(rows.unwrap_or_else(|| data.node().clone())),
            data: data.clone(),
        }
    }
}

impl<T: Elt> Array<T, Ix2> {
    /// The rows as segments. Costs nothing.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Array::from([[3i64, 1], [2, 5]]).to_segmented();
    /// let large = rows.filter_s(|x| x.gt(2));
    /// assert_eq!(large.to_vecs()?, [vec![3], vec![5]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn to_segmented(&self) -> Segmented<T> {
        let builder = Builder::named("to_segmented");
        let data = builder.reshape(self.node(), None);
        let rows = match &self.node().shape {
            Some(shape) if data.error.is_none() => builder.descriptors(shape).pop(),
            _ => None,
        };
        let lengths = rows.unwrap_or_else(|| builder.mistaken(&data, &[Ty::U64], 1));
        Segmented {
            lengths: Array::wrap(lengths),
            data: Array::wrap(data),
        }
    }
}
