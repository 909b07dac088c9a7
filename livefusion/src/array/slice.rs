//! Parts and rearrangements that keep neighbours: `take`, `drop`, `reverse`, `shift`. Each
//! is an index function: it costs nothing but the read where it is used. A source that is itself a
//! function of the index is not made first, but computed where it is read, unless that would do
//! costly work twice; of its elements that nobody reads none is computed, and none can be an error.

use crate::array::Array;
use crate::array::generate::reading;
use crate::array::length::{Amount, IntoLen};
use crate::ast::{Body, BodyBuilder, Builder, Len, Node, TermId};
use crate::elt::Elt;
use crate::exp::{Field, ToExp, trace, value};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

impl Builder {
    /// The first elements, so many; all of them if there are fewer. Of what is made one after the other it is
    /// [`Builder::take`], else an index function.
    pub fn take_n(self, xs: &Arc<Node>, n: Amount) -> Arc<Node> {
        if n.check().is_ok() && ends_with(xs, &n) {
            let mut b = BodyBuilder::new(&[]);
            let n = n.term(b.locate(Some(self.loc())));
            return self.take(xs, b.finish(&[n]));
        }
        self.part(xs, Amount::Known(0), n)
    }

    /// All but the first elements, so many; none if there are fewer.
    pub fn drop(self, xs: &Arc<Node>, n: Amount) -> Arc<Node> {
        self.part(xs, n, Amount::Known(u64::MAX))
    }

    /// The elements from last to first.
    pub fn reverse(self, xs: &Arc<Node>) -> Arc<Node> {
        let len = self.len(xs);
        let body = reading(self, xs, |b, i| {
            let (n, one) = (b.scalar(&len, 0), b.lit(Const::u64(1)));
            let last = b.op(Op::Sub, &[n, one]);
            b.op(Op::Sub, &[last, i])
        });
        self.generate(Len::Delayed(len), body)
    }

    /// The elements moved by `by` places, to higher indices if it is positive; what comes in is `fill`, a body without
    /// parameters that gives an element.
    pub fn shift(self, xs: &Arc<Node>, by: i64, fill: &Body) -> Arc<Node> {
        let (len, loc) = (self.len(xs), self.loc());
        let body = trace::trace(&[Ty::U64], |i| {
            let n = trace::scalar(&len, 0, Ty::U64, loc);
            let (there, inside) = trace::neighbour(i[0], n, -i128::from(by), loc);
            let fill = Field::apply(fill, &[], loc);
            inside.cond(&Field::at_unchecked(xs, there, loc), &fill, loc)
        });
        self.generate(Len::Delayed(len), body)
    }

    /// At most `n` elements after the first `skip`.
    fn part(self, xs: &Arc<Node>, skip: Amount, n: Amount) -> Arc<Node> {
        if let Err(kind) = skip.check().and_then(|()| n.check()) {
            return self.fault(&xs.types, 1, kind);
        }
        if let (Some(len), Amount::Known(skip), Amount::Known(n)) = (xs.known_len(), &skip, &n) {
            let skip = (*skip).min(len);
            let len = Len::Known((len - skip).min(*n));
            return self.starting_at(xs, &Amount::Known(skip), len);
        }
        let all = self.len(xs);
        let skip = match skip {
            Amount::Known(0) => skip,
            _ => Amount::Delayed(computed(self, |b| {
                let (skip, all) = (skip.term(b), b.scalar(&all, 0));
                b.op(Op::Min, &[skip, all])
            })),
        };
        let len = computed(self, |b| {
            let (skip, n, all) = (skip.term(b), n.term(b), b.scalar(&all, 0));
            let left = b.op(Op::Sub, &[all, skip]);
            b.op(Op::Min, &[left, n])
        });
        self.starting_at(xs, &skip, Len::Delayed(len))
    }

    /// Elements from `start` on.
    fn starting_at(self, xs: &Arc<Node>, start: &Amount, len: Len) -> Arc<Node> {
        let body = reading(self, xs, |b, i| {
            let start = start.term(b);
            b.op(Op::Add, &[start, i])
        });
        self.generate(len, body)
    }
}

/// Whether the loop that makes the elements ends with the last one that is taken. A part of known length
/// that is most of the elements stays what it is, an array of known length.
fn ends_with(xs: &Node, n: &Amount) -> bool {
    let most = match (xs.known_len(), n) {
        (Some(len), Amount::Known(n)) => n.saturating_mul(2) > len,
        _ => false,
    };
    !most && xs.is_stream && !xs.is_leaf()
}

impl<T: Elt> Array<T> {
    /// The first `n` elements; all of them if there are fewer.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 3]);
    /// assert_eq!((xs.take(2).to_vec()?, xs.take(9).to_vec()?), (vec![1, 2], vec![1, 2, 3]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// Of what is made one after the other (by a filter, a scan, a walk over segments), the loop that makes it
    /// ends with the last element that is taken, if it has nothing else to do; what lies behind is neither
    /// computed nor can it fail.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let quotients = Array::from(vec![8i64, 4, 2, 0, 5]).map(|x| 8 / x);
    /// assert_eq!(quotients.filter(|q| q.gt(1)).take(2).force()?, [2, 4]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn take(&self, n: impl IntoLen) -> Array<T> {
        Array::wrap(Builder::named("take").take_n(self.node(), n.into_len().0))
    }

    /// All but the first `n` elements; none if there are fewer.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 3]);
    /// assert_eq!((xs.drop(2).to_vec()?, xs.drop(9).to_vec()?), (vec![3], vec![]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "skip")]
    #[track_caller]
    pub fn drop(&self, n: impl IntoLen) -> Array<T> {
        Array::wrap(Builder::named("drop").drop(self.node(), n.into_len().0))
    }

    /// The elements from last to first. Of a scan, and of maps of one, the loop that makes it writes the reverse
    /// from the end, and runs maps behind it; of what goes by the order of its elements otherwise (a filter, say),
    /// and for what does, the source is made first.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// assert_eq!(iota(3).map(|i| i * i).reverse().force()?, [4, 1, 0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("rev", "flip"))]
    #[track_caller]
    pub fn reverse(&self) -> Array<T> {
        Array::wrap(Builder::named("reverse").reverse(self.node()))
    }

    /// The elements moved by `by` places, to higher indices if it is positive; what comes in is
    /// `fill`, what goes out is lost.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 3]);
    /// assert_eq!((xs.shift(1, 0).to_vec()?, xs.shift(-2, 9).to_vec()?), (vec![0, 1, 2], vec![3, 9, 9]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "lag")]
    #[track_caller]
    pub fn shift(&self, by: i64, fill: impl ToExp<T>) -> Array<T> {
        let builder = Builder::named("shift");
        let fill = value::<T>(|| fill.to_exp());
        Array::wrap(builder.shift(self.node(), by, &fill))
    }
}

/// A delayed `u64`.
fn computed(builder: Builder, f: impl FnOnce(&mut BodyBuilder) -> TermId) -> Arc<Node> {
    let mut b = BodyBuilder::new(&[]);
    let n = f(b.locate(Some(builder.loc())));
    builder.compute(b.finish(&[n]))
}
