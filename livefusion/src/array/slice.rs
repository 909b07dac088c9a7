//! Parts and reorderings by index: `take`, `drop`, `reverse`, `shift`.
//!
//! Each is an index function and costs only the read where it is used. A source that is an index
//! function too is not stored, but recomputed at each read, unless that would repeat costly work.
//! Unread elements of the source are not computed and cannot fail. Delays of streams are
//! streams, as `delay.rs` says.

use crate::array::Array;
use crate::array::generate::reading;
use crate::array::length::{Amount, IntoLen};
use crate::ast::{Body, BodyBuilder, Builder, Len, Node, StreamPart, TermId};
use crate::elt::Elt;
use crate::exp::{Field, ToExp, trace, value};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

impl Builder {
    /// Takes the first `n` elements, or all if there are fewer.
    ///
    /// For a stream this is [`Builder::take`], else an index function.
    pub fn take_n(self, xs: &Arc<Node>, n: Amount) -> Arc<Node> {
        let len = n.clone().len();
        let part = match n.check().is_ok() && ends_with(xs, &n) {
            true => {
                let mut b = BodyBuilder::new(&[]);
                let n = n.term(b.locate(Some(self.loc())));
                self.take(xs, b.finish(&[n]))
            }
            false => self.part(xs, Amount::Known(0), n),
        };
        part_of_stream(xs, part, len.ok().map(|n| (0, Some(n))))
    }

    /// Drops the first `n` elements, or all if there are fewer.
    pub fn drop(self, xs: &Arc<Node>, n: Amount) -> Arc<Node> {
        let without = match n {
            Amount::Known(n) => Some((n, None)),
            _ => None,
        };
        let part = self.part(xs, n, Amount::Known(u64::MAX));
        part_of_stream(xs, part, without)
    }

    /// Reverses the order of the elements.
    pub fn reverse(self, xs: &Arc<Node>) -> Arc<Node> {
        let len = self.len(xs);
        let body = reading(self, xs, |b, i| {
            let (n, one) = (b.scalar(&len, 0), b.lit(Const::u64(1)));
            let last = b.op(Op::Sub, &[n, one]);
            b.op(Op::Sub, &[last, i])
        });
        self.generate(Len::Delayed(len), body)
    }

    /// Moves the elements by `by` places, to higher indices if it is positive.
    ///
    /// `fill`, a body without parameters, gives the elements that come in.
    pub fn shift(self, xs: &Arc<Node>, by: i64, fill: &Body) -> Arc<Node> {
        let later = usize::try_from(by).ok();
        if let Some(delayed) = later.and_then(|by| self.delay(xs, by, fill)) {
            return delayed;
        }
        let (len, loc) = (self.len(xs), self.loc());
        let body = trace::trace(&[Ty::U64], |i| {
            let n = trace::scalar(&len, 0, Ty::U64, loc);
            let (there, inside) = trace::neighbour(i[0], n, -i128::from(by), loc);
            let fill = Field::apply(fill, &[], loc);
            inside.cond(&Field::at_unchecked(xs, there, loc), &fill, loc)
        });
        let moved = self.generate(Len::Delayed(len), body);
        let is_ahead = by.is_negative() && !fill.may_trap() && xs.comes_in_order();
        let ahead = || StreamPart::Ahead(xs.clone(), by.unsigned_abs(), fill.clone());
        marked(moved, is_ahead.then(ahead))
    }

    /// Takes at most `n` elements after the first `skip`.
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

    /// Takes `len` elements from `start` on.
    fn starting_at(self, xs: &Arc<Node>, start: &Amount, len: Len) -> Arc<Node> {
        let body = reading(self, xs, |b, i| {
            let start = start.term(b);
            b.op(Op::Add, &[start, i])
        });
        self.generate(len, body)
    }
}

/// Marks a new node as a part of a stream: elements after the first `skip`, all or so many. The
/// array may be such a part itself.
pub(crate) fn part_of_stream(
    xs: &Arc<Node>,
    node: Arc<Node>,
    part: Option<(u64, Option<Len>)>,
) -> Arc<Node> {
    let Some((skip, len)) = part else {
        return node;
    };
    let (of, before, most) = match xs.part.as_deref() {
        _ if xs.comes_in_order() => (xs, 0, None),
        Some(StreamPart::Rest(of, before)) if !xs.is_leaf() => (of, *before, None),
        Some(StreamPart::First(of, before, n)) if !xs.is_leaf() => (of, *before, Some(n)),
        _ => return node,
    };
    let Some(skip) = before.checked_add(skip) else {
        return node;
    };
    let part = match (node.known_len(), of.known_len(), len, most) {
        (Some(n), Some(all), ..) if skip.checked_add(n) == Some(all) => {
            StreamPart::Rest(of.clone(), skip)
        }
        (Some(n), Some(_), ..) => StreamPart::First(of.clone(), skip, Len::Known(n)),
        (_, _, None, None) => StreamPart::Rest(of.clone(), skip),
        (_, _, Some(n), None) => StreamPart::First(of.clone(), skip, n),
        _ => return node,
    };
    marked(node, Some(part))
}

fn marked(mut node: Arc<Node>, part: Option<StreamPart>) -> Arc<Node> {
    if let (Some(new), Some(part)) = (Arc::get_mut(&mut node), part) {
        new.part = Some(Arc::new(part));
    }
    node
}

/// Tests if the producing loop should end at the last taken element. If the part has a known length
/// of more than half of the array, the answer is no: the part stays an array of known length.
fn ends_with(xs: &Node, n: &Amount) -> bool {
    let most = match (xs.known_len(), n) {
        (Some(len), Amount::Known(n)) => n.saturating_mul(2) > len,
        _ => false,
    };
    !most && xs.is_stream && !xs.is_leaf()
}

impl<T: Elt> Array<T> {
    /// Takes the first `n` elements, or all if there are fewer.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 3]);
    /// assert_eq!((xs.take(2).to_vec()?, xs.take(9).to_vec()?), (vec![1, 2], vec![1, 2, 3]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// A stream comes from a filter, a scan, or a walk over segments. Its loop ends with the last
    /// taken element if it has no other work. Later elements are not computed and cannot fail.
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

    /// Drops the first `n` elements, or all if there are fewer.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 3]);
    /// assert_eq!((xs.drop(2).to_vec()?, xs.drop(9).to_vec()?), (vec![3], vec![]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    /// A scan or a filter is read from memory. Beside its own first elements, it is not: a zip of both
    /// parts shares its loop, if `n` is 1, or 2 for a scan. A scan shares its loop beside memory, too.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let kept = Array::from(vec![3i64, -1, 4, 9]).filter(|x| x.gt(0));
    /// let differences = kept.drop(1) - kept.take(kept.len() - 1);
    /// assert_eq!(differences.force()?, [1, 5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "skip")]
    #[track_caller]
    pub fn drop(&self, n: impl IntoLen) -> Array<T> {
        Array::wrap(Builder::named("drop").drop(self.node(), n.into_len().0))
    }

    /// Reverses the order of the elements.
    ///
    /// The loop of a scan, or of maps of a scan, writes the reversed result from its end, and also
    /// runs the maps that consume it. Other ordered producers, such as a filter, are stored first.
    /// The same holds for consumers that need their input in order.
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

    /// Moves the elements by `by` places, to higher indices if it is positive.
    ///
    /// `fill` comes in at one end. The elements that leave the other end are lost.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 3]);
    /// assert_eq!((xs.shift(1, 0).to_vec()?, xs.shift(-2, 9).to_vec()?), (vec![0, 1, 2], vec![3, 9, 9]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// An index function. Of a scan, a filter or another stream, a shift by 1 to 8 places is a
    /// stream that remembers the last elements. It then shares the loop of its source and of its
    /// consumers. So does a shift of a scan by -1 or -2 beside other arrays: the loop runs late.
    #[doc(alias = "lag")]
    #[track_caller]
    pub fn shift(&self, by: i64, fill: impl ToExp<T>) -> Array<T> {
        let builder = Builder::named("shift");
        let fill = value::<T>(|| fill.to_exp());
        Array::wrap(builder.shift(self.node(), by, &fill))
    }
}

/// Builds a delayed `u64`.
fn computed(builder: Builder, f: impl FnOnce(&mut BodyBuilder) -> TermId) -> Arc<Node> {
    let mut b = BodyBuilder::new(&[]);
    let n = f(b.locate(Some(builder.loc())));
    builder.compute(b.finish(&[n]))
}
