//! Nested programs: a closure on a whole segment, which may use every combinator, flattened onto all segments.
//!
//! The closure is called once. It gets an array that stands for any segment, and the graph that it makes is walked:
//! what depends on the segment becomes a combinator on all segments, the rest stays as it is and is computed once. Nothing
//! is run segment by segment, so a nested program fuses as one does that was written with the combinators of
//! [`Segmented`] by hand.
//!
//! | file | contents |
//! | --- | --- |
//! | `lift` | the walk, and what becomes of each kind of node |
//! | `reads` | bodies: what they capture of a segment comes in as parameters |
//! | `align` | values of a segment for its elements, invariants for each segment, arrays in step |
//! | `folds` | folds and scans whose operator or start depends on the segment |
//! | `segments` | segments in the closure: segments of segments; `scatter`, `scan_by_index` |
//! | `ends` | `take` and `take_while`, where nothing before the end may fail |
//! | `merge` | streams that advance on their own |
//! | `stream` | what comes before an end, as one scan that computes nothing behind it |

mod align;
mod ends;
mod folds;
mod lift;
mod merge;
mod reads;
mod segments;
mod stream;

pub use lift::Lift;

use crate::array::{Array, Ix0};
use crate::ast::{Builder, Node, show_node};
use crate::elt::Elt;
use crate::error::{ErrorKind, Result};
use crate::loc::Loc;
use crate::segmented::{Segmented, Segments};
use lift::{Lifted, Rows};
use loop_lang::types::Ty;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Placeholders have numbers that no input of a prepared program has.
const FIRST: u32 = 1 << 31;
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Whether an input of this number stands for a segment.
pub(crate) fn is_placeholder(k: u32) -> bool {
    k >= FIRST
}

/// What each segment has a part of, or what a closure on a segment gives: untyped.
#[derive(Clone, Debug)]
pub enum Part {
    /// Of all segments an array with one element for each. Of what a closure gives a delayed scalar or an array.
    Array(Arc<Node>),
    /// Segments.
    Segments(Segments),
}

/// What a closure's result is of all segments: untyped.
#[derive(Clone, Debug)]
pub enum OfAll {
    /// Of a delayed scalar: an array with one element per segment.
    Each(Arc<Node>),
    /// Of an array.
    Segments(Segments),
    /// Of segments: how many of them each segment has, and all of them, one after the other.
    Nested(Arc<Node>, Segments),
}

impl Part {
    /// The part, or a mistake in its place: an array is of this rank at least and 1 at most.
    fn checked(&self, b: Builder, least: u8, expected: &str) -> Part {
        let instead = |inputs: &[&Arc<Node>], types: &[Ty], expected: &str, wrong: &Node| {
            let (expected, got) = (expected.to_string(), show_node(wrong));
            Part::Array(b.instead(inputs, (types, 1), ErrorKind::Malformed { expected, got }))
        };
        match self {
            Part::Array(node) if node.rank < least || node.rank > 1 => {
                instead(&[node], &node.types, expected, node)
            }
            Part::Segments(Segments { lengths, data })
                if lengths.rank != 1 || *lengths.types != [Ty::U64] =>
            {
                instead(&[lengths, data], &[Ty::U64], "lengths of type u64", lengths)
            }
            Part::Segments(Segments { lengths, data }) if data.rank != 1 => {
                instead(&[lengths, data], &data.types, "elements of rank 1", data)
            }
            _ => self.clone(),
        }
    }
}

/// The untyped form.
impl Builder {
    /// `f` of each segment, once, on nodes that stand for these parts of it: an array for segments, a delayed scalar for an
    /// array with one element per segment. Gives each of its results for all segments.
    ///
    /// ```
    /// use livefusion::ast::Builder;
    /// use livefusion::nested::{OfAll, Part};
    /// use livefusion::prelude::*;
    /// let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![], vec![2]]);
    /// let b = Builder::named("map_segments");
    /// let results = b.map_segments(&[Part::Segments(rows.nodes())], |row| {
    ///     let length = b.len(&row[0]);
    ///     vec![Part::Array(length), Part::Array(row[0].clone())]
    /// });
    /// let [OfAll::Each(lengths), OfAll::Segments(same)] = &results[..] else { panic!() };
    /// assert_eq!(Array::<u64>::from_node(lengths.clone())?.force()?, [2, 0, 1]);
    /// assert_eq!(Segmented::<i64>::from_nodes(same.clone())?.to_vecs()?, [vec![3, 1], vec![], vec![2]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn map_segments(
        self,
        parts: &[Part],
        f: impl FnOnce(&[Arc<Node>]) -> Vec<Part>,
    ) -> Vec<OfAll> {
        let mut given = Given::at(self.loc());
        let expected = "segments, or an array with one element per segment";
        let parts = parts.iter().map(|p| p.checked(self, 1, expected));
        let within: Vec<Arc<Node>> = parts.map(|p| given.placeholder(&p)).collect();
        let results = f(&within);
        let mut lift = given.lift(self);
        let expected = "a delayed scalar, an array of rank 1, or segments";
        let of_all = |part: &Part| match part.checked(self, 0, expected) {
            Part::Array(node) if node.rank == 0 => OfAll::Each(lift.each_of(self, &node)),
            Part::Array(node) => OfAll::Segments(lift.segments(self, &node)),
            Part::Segments(segments) => {
                let (counts, segments) = lift.nested(self, &segments);
                OfAll::Nested(counts, segments)
            }
        };
        results.iter().map(of_all).collect()
    }
}

impl<T: Elt> Segmented<T> {
    /// `f` of each segment, which it gets as an array. The closure runs once; all combinators may be used in it.
    ///
    /// | the closure gives | the result is |
    /// | --- | --- |
    /// | a delayed scalar, `Array<U, Ix0>` | `Array<U>`, one element per segment |
    /// | an array, `Array<U>` | `Segmented<U>` |
    /// | segments, `Segmented<U>` | [`Nested<U>`], segments of segments |
    /// | a tuple of up to 6 of these | a tuple; what they have in common is computed once |
    ///
    /// Arrays and delayed scalars from outside of the closure are invariants: they are computed once. In step
    /// with the segment's elements they must be as long as each segment. A closure may map segments itself, and use what
    /// is around it there.
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
    /// *Cost and fusion.* It is that of the combinators on segments that the closure becomes: a loop over the segments
    /// with inner loops over their elements. Folds of a segment and maps that use them share one loop, which runs over
    /// each segment once for the fold and once for the map. What reads the segment at an index (`reverse`, `slice`,
    /// `windows`, `at`, `append` ..) reads all data at random, which is made first unless it is in memory or cheap to
    /// compute in place. `take_while` and `take` end nothing early: the loop goes on to the end of the segment,
    /// but computes nothing there that could fail.
    ///
    /// *Source.* Flattening of nested calls is NESL's; closures on streams inside of a fold or a map are the
    /// "nested second-order combinators" of "A T2 Graph-Reduction Approach To Fusion", section 2.
    ///
    /// # Errors
    /// When forced: what the combinators in the closure say of a segment, with the place of their call; `NotNested` for
    /// what has no form on segments yet: combinators of your own, loops over arrays that depend on the segment, operators by
    /// which `aggregate` joins and those of scatters and scans by index that depend on it; that lengths do not match the data.
    /// An array that leaves its closure in another way than as the result is `LeakedArray`.
    #[doc(alias = "apply")]
    #[track_caller]
    pub fn map_segments<R: PerSegmentResult>(&self, f: impl FnOnce(Array<T>) -> R) -> R::Out {
        let loc = Loc::caller();
        run((self,), loc, |(row,)| f(row))
    }
}

/// `map_segments` on a tuple: segmented arrays with the same segments, and arrays with one element per segment.
///
/// The closure gets a tuple: of a [`Segmented`] the segment as an array, of an [`Array`] the segment's element as a
/// delayed scalar. Otherwise as [`Segmented::map_segments`].
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
/// When forced: if segments are not as long as each other, or there are not as many of each. Otherwise as
/// [`Segmented::map_segments`].
pub trait MapSegments: Sized {
    /// What the closure gets.
    type Within;
    /// `f` of each segment.
    #[doc(alias = "apply")]
    #[track_caller]
    fn map_segments<R: PerSegmentResult>(self, f: impl FnOnce(Self::Within) -> R) -> R::Out;
}

/// What a closure may get of each segment: a reference to a [`Segmented`], or to an [`Array`] with one element per segment.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has nothing for each segment",
    note = "take references: to `Segmented`s, or to arrays with one element per segment"
)]
pub trait PerSegment {
    /// What the closure gets.
    type Within;
    /// Something that stands for it in any segment.
    fn placeholder(self, given: &mut Given) -> Self::Within;
}

/// What stands for parts of a segment while a closure is called.
#[derive(Debug)]
pub struct Given {
    loc: Loc,
    parts: Vec<(Arc<Node>, Lifted)>,
}

impl Given {
    /// Of the closure that is called at a place.
    fn at(loc: Loc) -> Given {
        let parts = Vec::new();
        Given { loc, parts }
    }

    /// Something that stands for a part of any segment.
    fn placeholder(&mut self, part: &Part) -> Arc<Node> {
        let k = FIRST | NEXT.fetch_add(1, Ordering::Relaxed);
        let builder = Builder::at("segment", self.loc);
        let (of, rank, lifted) = match part {
            Part::Array(each) => (each, 0, Lifted::Each(each.clone())),
            Part::Segments(rows) => (&rows.data, 1, Lifted::Rows(rows.clone())),
        };
        let node = match of.error {
            Some(_) => builder.mistaken(of, &of.types, rank),
            None => builder.input(k, &of.types, rank),
        };
        self.parts.push((node.clone(), lifted));
        node
    }

    /// The flattening onto these segments, of which there is a part. Segments of several arrays must be as long as each other.
    fn lift(self, b: Builder) -> Lift {
        let rows = self.parts.iter().filter_map(|(_, lifted)| match lifted {
            Lifted::Rows(rows) => Some(rows.clone()),
            _ => None,
        });
        let rows: Vec<Rows> = rows.collect();
        let Some(first) = rows.first() else {
            let any = self.parts.iter().find_map(|(_, lifted)| match lifted {
                Lifted::Each(each) => Some(each.clone()),
                _ => None,
            });
            let nothing = || {
                let expected = "at least one part of each segment".to_string();
                let got = "none".to_string();
                b.fault(&[Ty::U64], 1, ErrorKind::Malformed { expected, got })
            };
            let mut lift = Lift::new(any.unwrap_or_else(nothing));
            for (node, lifted) in self.parts {
                lift.stands_for(&node, lifted);
            }
            return lift;
        };
        let mut lengths = first.lengths.clone();
        // Lengths that are checked before any element is met do for all. Data that comes along with its lengths stays
        // with them.
        let in_order = rows.len() > 1 && rows.iter().any(|r| r.data.comes_in_order());
        for (k, other) in rows.iter().enumerate().skip(1) {
            let known = rows[..k].iter();
            let is_known = known
                .into_iter()
                .any(|r| Arc::ptr_eq(&r.lengths, &other.lengths));
            if !is_known && !in_order {
                lengths = Lift::agreed(b, &lengths, &other.lengths);
            }
        }
        let mut lift = Lift::new(lengths.clone());
        for (node, lifted) in self.parts {
            let lifted = match &lifted {
                Lifted::Rows(rows) => {
                    let data = match in_order {
                        true => lift.aligned(b, &lifted, &lengths),
                        false => rows.data.clone(),
                    };
                    let lengths = lengths.clone();
                    Lifted::Rows(Rows { lengths, data })
                }
                _ => lifted,
            };
            lift.stands_for(&node, lifted);
        }
        lift
    }
}

impl<T: Elt> PerSegment for &Segmented<T> {
    type Within = Array<T>;
    fn placeholder(self, given: &mut Given) -> Array<T> {
        Array::wrap(given.placeholder(&Part::Segments(self.nodes())))
    }
}

impl<T: Elt> PerSegment for &Array<T> {
    type Within = Array<T, Ix0>;
    fn placeholder(self, given: &mut Given) -> Array<T, Ix0> {
        Array::wrap(given.placeholder(&Part::Array(self.node().clone())))
    }
}

/// What a closure on a segment may give: a delayed scalar, an array, segments, or a tuple of up to 6 of these.
#[diagnostic::on_unimplemented(
    message = "a closure on a segment cannot give `{Self}`",
    note = "give an `Array`, a delayed scalar, a `Segmented`, or a tuple of up to 6 of these"
)]
pub trait PerSegmentResult {
    /// What that is of all segments.
    type Out;
    /// The results of all segments, at the place of the call.
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

/// Segments of segments: how many segments each one has, and all of those one after the other.
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
    /// How many segments each segment has.
    pub fn counts(&self) -> &Array<u64> {
        &self.counts
    }

    /// All inner segments, one after the other.
    pub fn segments(&self) -> &Segmented<T> {
        &self.segments
    }

    /// The elements of each outer segment, without their inner segments.
    #[track_caller]
    pub fn flatten(&self) -> Segmented<T> {
        self.segments.flatten(&self.counts)
    }

    /// The lengths of the inner segments of each segment.
    pub fn lengths(&self) -> Segmented<u64> {
        Segmented::new(&self.counts, self.segments.lengths())
    }

    /// Computes the segments of segments, as vectors.
    ///
    /// # Errors
    /// As of [`Segmented::to_vecs`].
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

/// Calls a closure on what stands for any segment, and gives its result for all.
fn run<P: PerSegments, R: PerSegmentResult>(
    parts: P,
    loc: Loc,
    f: impl FnOnce(P::Within) -> R,
) -> R::Out {
    let mut given = Given::at(loc);
    let result = f(parts.placeholders(&mut given));
    result.of_all(&mut given.lift(builder(loc)), loc)
}

/// Calls a closure on what stands for any of these rows, lengths and data, and gives its result with the flattening onto all.
pub(crate) fn on_rows<R>(
    b: Builder,
    (lengths, data): (Arc<Node>, Arc<Node>),
    f: impl FnOnce(&Arc<Node>) -> R,
) -> (R, Lift) {
    let mut given = Given::at(b.loc());
    let row = given.placeholder(&Part::Segments(Segments { lengths, data }));
    let result = f(&row);
    (result, given.lift(b))
}

/// Tuples of what each segment has a part of.
trait PerSegments {
    type Within;
    fn placeholders(self, given: &mut Given) -> Self::Within;
}

macro_rules! tuples {
    ($($($P:ident $i:tt),*;)*) => {$(
        impl<$($P: PerSegment),*> PerSegments for ($($P,)*) {
            type Within = ($($P::Within,)*);
            fn placeholders(self, given: &mut Given) -> Self::Within {
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
