//! Nested programs: flattens a closure over one segment to combinators over all segments.
//!
//! The closure is called once, with an array that represents any segment, and may use every
//! combinator. A walk over the resulting graph lifts each node that depends on the segment to a
//! combinator on all segments. Other nodes are invariants: they stay unchanged and are computed
//! once. Nothing runs segment by segment. So a nested program fuses like a program that was written
//! by hand with the combinators of [`Segmented`].
//!
//! | file | contents |
//! | --- | --- |
//! | `placeholders` | inputs that represent any segment while the closure is called |
//! | `lift` | the walk, and the rule of each kind of node |
//! | `reads` | bodies: their captures of a segment become parameters |
//! | `align` | per-segment values of elements, per-segment copies of invariants, elementwise arrays |
//! | `folds` | folds and scans whose operator or start depends on the segment |
//! | `segments` | segments in the closure: segments of segments; `scatter`, `scan_by_index` |
//! | `ends` | `take` and `take_while`, without traps after the end |
//! | `loops` | loops over arrays, whose steps all segments take together |
//! | `stopping` | loops over arrays whose segments stop at different steps |
//! | `blocks` | loops over arrays on blocks of rows, whose states stay in the caches |
//! | `merge` | streams that advance independently |
//! | `stream` | elementwise code before an early exit, as one guarded scan |

mod align;
mod blocks;
mod ends;
mod folds;
mod lift;
mod loops;
mod merge;
mod near;
mod placeholders;
mod reads;
mod segments;
mod stopping;
mod stream;

#[doc(hidden)]
pub use blocks::BlockBytes;
pub use lift::Lift;
pub use placeholders::Placeholders;
pub(crate) use placeholders::is_placeholder;

use crate::array::{Array, Ix0};
use crate::ast::{Builder, Node, show_node};
use crate::elt::Elt;
use crate::error::{ErrorKind, Result};
use crate::loc::Loc;
use crate::segmented::{Segmented, Segments};
use loop_lang::types::Ty;
use std::sync::Arc;

/// Describes, untyped, an operand or a result of a closure on segments.
#[derive(Clone, Debug)]
pub enum SegmentPart {
    /// As an operand: an array with one element per segment. As a result: a delayed scalar or an
    /// array.
    Array(Arc<Node>),
    /// Segments.
    Segments(Segments),
}

/// Describes, untyped, a closure's result over all segments.
#[derive(Clone, Debug)]
pub enum OfAll {
    /// For a delayed scalar: an array with one element per segment.
    Each(Arc<Node>),
    /// For an array.
    Segments(Segments),
    /// For segments: the number of inner segments per segment, and all inner segments in order.
    Nested(Arc<Node>, Segments),
}

impl SegmentPart {
    /// Checks that the rank of an array is between `least` and 1, and checks the types of segments.
    /// Returns an error node otherwise.
    fn checked(&self, b: Builder, least: u8, expected: &str) -> SegmentPart {
        let instead = |inputs: &[&Arc<Node>], types: &[Ty], expected: &str, wrong: &Node| {
            let (expected, got) = (expected.to_string(), show_node(wrong));
            SegmentPart::Array(b.instead(
                inputs,
                (types, 1),
                ErrorKind::Malformed { expected, got },
            ))
        };
        match self {
            SegmentPart::Array(node) if node.rank < least || node.rank > 1 => {
                instead(&[node], &node.types, expected, node)
            }
            SegmentPart::Segments(Segments { lengths, data })
                if lengths.rank != 1 || *lengths.types != [Ty::U64] =>
            {
                instead(&[lengths, data], &[Ty::U64], "lengths of type u64", lengths)
            }
            SegmentPart::Segments(Segments { lengths, data }) if data.rank != 1 => {
                instead(&[lengths, data], &data.types, "elements of rank 1", data)
            }
            _ => self.clone(),
        }
    }
}

/// The untyped form.
impl Builder {
    /// Applies a closure to each segment, and returns its results for all segments.
    ///
    /// `f` is called once, on nodes that represent these parts of any segment. Segments become an
    /// array, and an array with one element per segment becomes a delayed scalar.
    ///
    /// ```
    /// use livefusion::ast::Builder;
    /// use livefusion::nested::{OfAll, SegmentPart};
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![], vec![2]]);
    /// let b = Builder::named("map_segments");
    /// let results = b.map_segments(&[SegmentPart::Segments(rows.nodes())], |row| {
    ///     let length = b.len(&row[0]);
    ///     vec![SegmentPart::Array(length), SegmentPart::Array(row[0].clone())]
    /// });
    /// let [OfAll::Each(lengths), OfAll::Segments(same)] = &results[..] else { panic!() };
    /// assert_eq!(Array::<u64>::from_node(lengths.clone())?.force()?, [2, 0, 1]);
    /// assert_eq!(Segmented::<i64>::from_nodes(same.clone())?.to_vecs()?, [vec![3, 1], vec![], vec![2]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn map_segments(
        self,
        parts: &[SegmentPart],
        f: impl FnOnce(&[Arc<Node>]) -> Vec<SegmentPart>,
    ) -> Vec<OfAll> {
        let mut given = Placeholders::at(self.loc());
        let expected = "segments, or an array with one element per segment";
        let parts = parts.iter().map(|p| p.checked(self, 1, expected));
        let within: Vec<Arc<Node>> = parts.map(|p| given.placeholder(&p)).collect();
        let results = f(&within);
        let mut lift = given.lift(self);
        let expected = "a delayed scalar, an array of rank 1, or segments";
        let of_all = |part: &SegmentPart| match part.checked(self, 0, expected) {
            SegmentPart::Array(node) if node.rank == 0 => OfAll::Each(lift.each_of(self, &node)),
            SegmentPart::Array(node) => OfAll::Segments(lift.segments(self, &node)),
            SegmentPart::Segments(segments) => {
                let (counts, segments) = lift.nested(self, &segments);
                OfAll::Nested(counts, segments)
            }
        };
        results.iter().map(of_all).collect()
    }
}

impl<T: Elt> Segmented<T> {
    /// Applies a closure to each segment, which it gets as an array.
    ///
    /// The closure runs once. It may use all combinators.
    ///
    /// | result of the closure | result of the call |
    /// | --- | --- |
    /// | a delayed scalar, `Array<U, Ix0>` | `Array<U>`, one element per segment |
    /// | an array, `Array<U>` | `Segmented<U>` |
    /// | segments, `Segmented<U>` | [`Nested<U>`], segments of segments |
    /// | a tuple of up to 6 of these | a tuple; common operands are computed once |
    ///
    /// Arrays and delayed scalars from outside of the closure are invariants: they are computed
    /// once. An elementwise combination with a segment requires that they have the length of every
    /// segment. A closure may itself map segments, and use outer values there.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3.0f64, 1.0], vec![], vec![5.0, -1.0]]);
    /// let shares = rows.map_segments(|row| {
    ///     let total = row.sum();
    ///     row.map(|x| x / &total)
    /// });
    /// assert_eq!(shares.to_vecs()?, [vec![0.75, 0.25], vec![], vec![1.25, -0.25]]);
    /// let running = rows.map_segments(|row| row.filter(|x| x.gt(0.0)).scan(0.0, |a, b| a + b));
    /// assert_eq!(running.to_vecs()?, [vec![3.0, 4.0], vec![], vec![5.0]]);
    /// let (sums, longest) = rows.map_segments(|row| (row.sum(), row.len()));
    /// assert_eq!(sums.to_vec()?, [4.0, 0.0, 4.0]);
    /// assert_eq!(longest.max().force()?, 2);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* The cost is that of the equivalent combinators on segments: a loop over
    /// the segments with inner loops over their elements. Folds of a segment and maps that use them
    /// share one loop. It iterates over each segment twice, once for the fold and once for the map.
    ///
    /// `windows` and `shift` of a scan or of a costly map are a second pass over the segment, which
    /// reads a buffer of one segment. Other indexed reads (`reverse`, `slice`, `at`, `append` ..) read
    /// all data at random. The data is materialised first, unless it is in memory or cheap to compute
    /// inline. `take_while` and `take` do not leave the loop early. It continues to the end of the
    /// segment, but skips all code there that could trap.
    ///
    /// A loop over arrays in the closure ([`iterate_n`](crate::iterate::iterate_n),
    /// [`iterate_while`](crate::iterate::iterate_while)) is one loop for all segments, whose step passes over
    /// the state of all. If segments stop at different steps, later steps pass over the others
    /// only. No code runs for a segment that stopped, so none traps.
    ///
    /// A known state of more than 32 MiB exceeds the caches. Its rows then take their steps in blocks
    /// of 1 MiB, one block after the other ([`explain`](crate::Force::explain) shows the loop
    /// `blocks`). All rows then take equally many steps, which keep the lengths of the rows and have no
    /// float sums or scans: blocks would group their terms in another way.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![12u64, 7, 40], vec![], vec![5]]);
    /// let odd = rows.map_segments(|row| {
    ///     let halved = |xs: Array<u64>| xs.filter(|x| (x % 2).eq(0)).map(|x| x / 2);
    ///     iterate_while(&row, |xs| xs.any(|x| (x % 2).eq(0)), halved)
    /// });
    /// assert_eq!(odd.to_vecs()?, [vec![5], vec![], vec![5]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Source.* Flattening of nested calls comes from NESL. Closures on streams inside of a fold
    /// or a map are the "nested second-order combinators" of "A T2 Graph-Reduction Approach To
    /// Fusion", section 2.
    ///
    /// # Errors
    /// When forced:
    ///
    /// * An error of a combinator in the closure for some segment, with the location of its call.
    /// * `NotNested` for nodes without a rule for segments: user combinators, and functions without
    ///   a form for segments. Also for operators that depend on the segment, if they belong to a
    ///   scatter or a scan by index, or are the join of an `aggregate`.
    /// * Lengths that do not match the data.
    /// * `LeakedArray` for an array that leaves its closure other than as the result.
    #[doc(alias = "apply")]
    #[track_caller]
    pub fn map_segments<R: PerSegmentResult>(&self, f: impl FnOnce(Array<T>) -> R) -> R::Out {
        let loc = Loc::caller();
        run((self,), loc, |(row,)| f(row))
    }
}

/// Provides `map_segments` on tuples.
///
/// A tuple consists of segmented arrays with the same segments, and of arrays with one element per
/// segment. The closure gets a tuple. For a [`Segmented`] it contains the segment as an array. For
/// an [`Array`] it contains the segment's element as a delayed scalar. In all other respects it is
/// like [`Segmented::map_segments`].
///
/// ```
/// use livefusion::prelude::*;
/// let xs = Segmented::from_vecs(vec![vec![1.0f64, 2.0], vec![3.0]]);
/// let ys = Segmented::from_vecs(vec![vec![4.0f64, 5.0], vec![6.0]]);
/// let weights = Array::from(vec![10.0f64, 100.0]);
/// let products = (&xs, &ys, &weights)
///     .map_segments(|(x, y, w)| x.zip_with(&y, |a, b| a * b).sum() * w);
/// assert_eq!(products.force()?, [140.0, 1800.0]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When forced: if segments have different lengths, or the numbers of segments differ. For other
/// errors see [`Segmented::map_segments`].
pub trait MapSegments: Sized {
    /// The argument of the closure.
    type Within;
    /// Applies a closure to each segment.
    #[doc(alias = "apply")]
    #[track_caller]
    fn map_segments<R: PerSegmentResult>(self, f: impl FnOnce(Self::Within) -> R) -> R::Out;
}

/// Represents a closure's argument for each segment.
///
/// It is a reference to a [`Segmented`], or to an [`Array`] with one element per segment.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has nothing for each segment",
    note = "take references: to `Segmented`s, or to arrays with one element per segment"
)]
pub trait PerSegment {
    /// The argument of the closure.
    type Within;
    /// Creates a placeholder that represents the part in any segment.
    fn placeholder(self, given: &mut Placeholders) -> Self::Within;
}

impl<T: Elt> PerSegment for &Segmented<T> {
    type Within = Array<T>;
    fn placeholder(self, given: &mut Placeholders) -> Array<T> {
        Array::wrap(given.placeholder(&SegmentPart::Segments(self.nodes())))
    }
}

impl<T: Elt> PerSegment for &Array<T> {
    type Within = Array<T, Ix0>;
    fn placeholder(self, given: &mut Placeholders) -> Array<T, Ix0> {
        Array::wrap(given.placeholder(&SegmentPart::Array(self.node().clone())))
    }
}

/// Represents the result of a closure on a segment.
///
/// It is a delayed scalar, an array, segments, or a tuple of up to 6 of these.
#[diagnostic::on_unimplemented(
    message = "a closure on a segment cannot give `{Self}`",
    note = "give an `Array`, a delayed scalar, a `Segmented`, or a tuple of up to 6 of these"
)]
pub trait PerSegmentResult {
    /// The result over all segments.
    type Out;
    /// Returns the results of all segments, at the location of the call.
    fn of_all(self, lift: &mut Lift, loc: Loc) -> Self::Out;
}

impl<T: Elt> PerSegmentResult for Array<T, Ix0> {
    type Out = Array<T>;
    fn of_all(self, lift: &mut Lift, loc: Loc) -> Array<T> {
        Array::wrap(lift.each_of(builder(loc), self.node()))
    }
}

impl<T: Elt> PerSegmentResult for Array<T> {
    type Out = Segmented<T>;
    fn of_all(self, lift: &mut Lift, loc: Loc) -> Segmented<T> {
        Segmented::wrap(lift.segments(builder(loc), self.node()))
    }
}

impl<T: Elt> PerSegmentResult for Segmented<T> {
    type Out = Nested<T>;
    fn of_all(self, lift: &mut Lift, loc: Loc) -> Nested<T> {
        let (counts, segments) = lift.nested(builder(loc), &self.nodes());
        Nested {
            counts: Array::wrap(counts),
            segments: Segmented::wrap(segments),
        }
    }
}

/// Holds segments of segments.
///
/// It stores the number of inner segments of each segment, and all inner segments in order.
///
/// ```
/// use livefusion::prelude::*;
/// let rows = Segmented::from_vecs(vec![vec![1i64, 1, 2], vec![], vec![3]]);
/// // Of each row its runs of equal elements.
/// let runs = rows.map_segments(|row| Segmented::new(&row.group().1, &row));
/// assert_eq!(runs.to_vecs()?, [vec![vec![1, 1], vec![2]], vec![], vec![vec![3]]]);
/// assert_eq!(runs.counts().to_vec()?, [2, 0, 1]);
/// assert_eq!(runs.segments().sum().force()?, [2, 2, 3]);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Nested<T: Elt> {
    counts: Array<u64>,
    segments: Segmented<T>,
}

impl<T: Elt> Nested<T> {
    /// Returns the number of inner segments of each segment.
    pub fn counts(&self) -> &Array<u64> {
        &self.counts
    }

    /// Returns all inner segments in order.
    pub fn segments(&self) -> &Segmented<T> {
        &self.segments
    }

    /// Returns the elements of each outer segment, without their inner segments.
    #[track_caller]
    pub fn flatten(&self) -> Segmented<T> {
        self.segments.flatten(&self.counts)
    }

    /// Returns the lengths of the inner segments of each segment.
    pub fn lengths(&self) -> Segmented<u64> {
        Segmented::new(&self.counts, self.segments.lengths())
    }

    /// Computes the segments of segments, as vectors.
    ///
    /// # Errors
    /// As for [`Segmented::to_vecs`].
    pub fn to_vecs(&self) -> Result<Vec<Vec<Vec<T>>>> {
        let counts = self.lengths().to_vecs()?;
        let mut segments = self.segments.to_vecs()?.into_iter();
        let taken = counts
            .iter()
            .map(|row| segments.by_ref().take(row.len()).collect());
        Ok(taken.collect())
    }
}

fn builder(loc: Loc) -> Builder {
    Builder::at("map_segments", loc)
}

/// Calls a closure on placeholders for any segment. Returns its result for all segments.
fn run<P: PerSegments, R: PerSegmentResult>(
    parts: P,
    loc: Loc,
    f: impl FnOnce(P::Within) -> R,
) -> R::Out {
    let mut given = Placeholders::at(loc);
    let result = f(parts.placeholders(&mut given));
    result.of_all(&mut given.lift(builder(loc)), loc)
}

/// Calls a closure on a placeholder for any of these rows (lengths and data).
///
/// Returns its result, and the flattening onto all rows.
pub(crate) fn on_rows<R>(
    b: Builder,
    (lengths, data): (Arc<Node>, Arc<Node>),
    f: impl FnOnce(&Arc<Node>) -> R,
) -> (R, Lift) {
    let mut given = Placeholders::at(b.loc());
    let row = given.placeholder(&SegmentPart::Segments(Segments { lengths, data }));
    let result = f(&row);
    (result, given.lift(b))
}

/// Tuples of per-segment parts.
trait PerSegments {
    type Within;
    fn placeholders(self, given: &mut Placeholders) -> Self::Within;
}

macro_rules! tuples {
    ($($($P:ident $i:tt),*;)*) => {$(
        impl<$($P: PerSegment),*> PerSegments for ($($P,)*) {
            type Within = ($($P::Within,)*);
            fn placeholders(self, given: &mut Placeholders) -> Self::Within {
                ($(self.$i.placeholder(given),)*)
            }
        }

        impl<$($P: PerSegment),*> MapSegments for ($($P,)*) {
            type Within = ($($P::Within,)*);
            #[track_caller]
            fn map_segments<R: PerSegmentResult>(
                self,
                f: impl FnOnce(Self::Within) -> R,
            ) -> R::Out {
                run(self, Loc::caller(), f)
            }
        }

        impl<$($P: PerSegmentResult),*> PerSegmentResult for ($($P,)*) {
            type Out = ($($P::Out,)*);
            fn of_all(self, lift: &mut Lift, loc: Loc) -> Self::Out {
                ($(self.$i.of_all(lift, loc),)*)
            }
        }
    )*};
}

crate::tuples::up_to_six!(tuples);
