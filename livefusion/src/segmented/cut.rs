//! Segments cut from arrays: `chunks`, `from_flags`.

use super::{Segmented, Segments};
use crate::array::{Array, IntoLen, extent, length_of};
use crate::ast::{Axis, Builder, Field, Fields, Node, trace};
use crate::elt::Elt;
use crate::error::ErrorKind;
use crate::exp::types_of;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Untyped forms.
impl Builder {
    /// Cuts an array into segments of equal length, a delayed `u64`.
    ///
    /// The last segment may be shorter.
    pub fn chunks(self, xs: &Arc<Node>, length: Axis) -> Segments {
        let (data, loc, len) = (xs.clone(), self.loc(), length_of(self, xs));
        if length.known() == Some(0) {
            let (expected, got) = ("chunks of 1 element or more".to_string(), "0".to_string());
            let kind = ErrorKind::Malformed { expected, got };
            let lengths = self.instead(&[xs], (&[Ty::U64], 1), kind);
            return Segments { lengths, data };
        }
        let op = |op, args: &[Field]| Field::op(op, args, loc);
        let known = len.known().zip(length.known());
        let chunks = self.computed(known.map(|(n, length)| n.div_ceil(length)), || {
            let (n, length) = (len.value(loc), length.value(loc));
            let some = op(Op::Ne, &[n, Field::literal(Const::u64(0))]).cast(Ty::U64, loc);
            let whole = op(Op::Div, &[op(Op::Sub, &[n, some]), length]);
            op(Op::Add, &[whole, some])
        });
        let lengths = trace(&[Ty::U64], |i| {
            let (n, length) = (len.value(loc), length.value(loc));
            let left = op(Op::Sub, &[n, op(Op::Mul, &[i[0], length])]);
            Fields::from_slice(&[op(Op::Min, &[left, length])])
        });
        let lengths = self.generate(chunks.len(), lengths);
        Segments { lengths, data }
    }

    /// Begins a segment at each true flag, and at the first element.
    ///
    /// There is one `bool` per element.
    pub fn from_flags(self, flags: &Arc<Node>, data: &Arc<Node>) -> Segments {
        if *flags.types != [Ty::Bool] {
            let lengths = self.unfit(flags, &[Ty::U64], 1, "flags of type bool");
            return Segments {
                lengths,
                data: data.clone(),
            };
        }
        let loc = self.loc();
        let goes_on = trace(&[Ty::Bool; 2], |p| {
            Fields::from_slice(&[Field::op(Op::Not, &p[1..], loc)])
        });
        let (_, lengths) = self.group_by(flags, &goes_on);
        Segments {
            lengths,
            data: data.clone(),
        }
    }
}

impl<T: Elt> Array<T> {
    /// Cuts the array into segments of `length` elements each.
    ///
    /// The last segment may be shorter.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 3, 4, 5]);
    /// assert_eq!(xs.chunks(2).to_vecs()?, [vec![1, 2], vec![3, 4], vec![5]]);
    /// assert_eq!(xs.chunks(2).sum().force()?, [3, 7, 5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* The lengths are an index function, which is never stored.
    /// [`from_uniform`](Segmented::from_uniform) makes segments that all have the same length,
    /// which vectorise better.
    ///
    /// # Errors
    /// When forced: if the length is 0 or negative.
    #[doc(alias("array_split", "chunks_exact", "batch"))]
    #[track_caller]
    pub fn chunks(&self, length: impl IntoLen) -> Segmented<T> {
        let builder = Builder::named("chunks");
        Segmented::wrap(match extent(builder, length) {
            Ok(length) => builder.chunks(self.node(), length),
            Err(kind) => Segments {
                lengths: builder.fault(&[Ty::U64], 1, kind.clone()),
                data: builder.fault(&types_of::<T>(), 1, kind),
            },
        })
    }
}

impl<T: Elt> Segmented<T> {
    /// Begins a segment at each true flag, and at the first element.
    ///
    /// The flag of the first element makes no difference.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let flags = Array::from(vec![true, false, false, true, true]);
    /// let rows = Segmented::from_flags(&flags, &Array::from(vec![1i64, 2, 3, 4, 5]));
    /// assert_eq!(rows.to_vecs()?, [vec![1, 2, 3], vec![4], vec![5]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* The lengths are those of runs ([`group_by`](Array::group_by)). The loop
    /// that makes the flags computes them. They are stored before consumers of the segments run.
    ///
    /// # Errors
    /// When a result is forced: if there are not as many flags as elements.
    #[track_caller]
    pub fn from_flags(flags: &Array<bool>, data: &Array<T>) -> Segmented<T> {
        Segmented::wrap(Builder::named("from_flags").from_flags(flags.node(), data.node()))
    }
}
