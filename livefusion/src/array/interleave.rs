//! Two arrays element by element: `interleave`.

use crate::array::Array;
use crate::array::append::total;
use crate::ast::{BodyBuilder, Builder};
use crate::elt::Elt;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl<T: Elt> Array<T> {
    /// The elements of two arrays of equal length in turn: `x0, y0, x1, y1, ...`.
    ///
    /// An index function, which fuses with what uses the result. The two arrays are read at random,
    /// as those of [`append`](Array::append) are.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (xs, ys) = (Array::from(vec![1i64, 2]), Array::from(vec![-1i64, -2]));
    /// assert_eq!(xs.interleave(&ys).force()?, [1, -1, 2, -2]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if lengths differ.
    #[track_caller]
    pub fn interleave(&self, other: &Array<T>) -> Array<T> {
        let builder = Builder::named("interleave");
        // The zip checks the lengths.
        let pairs = builder.zip(&[self.node().clone(), other.node().clone()]);
        let len = total(builder, &[pairs.clone(), pairs.clone()]);
        let mut b = BodyBuilder::new(&[Ty::U64]);
        let i = b.locate(Some(builder.loc())).param(0);
        let (zero, one) = (b.lit(Const::u64(0)), b.lit(Const::u64(1)));
        let (at, odd) = (b.op(Op::Shr, &[i, one]), b.op(Op::And, &[i, one]));
        let is_even = b.op(Op::Eq, &[odd, zero]);
        let fields: Vec<_> = (0..T::FIELDS)
            .map(|f| {
                let x = b.at(&pairs, f, at, false);
                let y = b.at(&pairs, T::FIELDS + f, at, false);
                b.cond(is_even, x, y)
            })
            .collect();
        Array::wrap(builder.generate(len, b.finish(&fields)))
    }
}
