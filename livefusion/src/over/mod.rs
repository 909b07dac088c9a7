//! Combinators over all elements, along axes, or over each segment.
//!
//! Examples are `xs.sum()`, `m.along(1).sum()` and `rows.sum()`. Each combinator is declared once,
//! for all three.
//!
//! | file | combinators |
//! | --- | --- |
//! | `reduce` | `sum`, `product`, `min`, `max`, `mean`, `var`, `std`, `any`, `all`, `count` |
//! | `extremum` | `min_index`, `max_index` |
//! | `fold` | `fold`, `fold1`, `fold_seq`, `aggregate`; over all elements `fold_right` |
//! | `scan` | `scan`, `scan1`, `scan_exclusive`, `scan_seq`, `cumsum`, `cumprod`, `cummax`, `cummin` |
//! | `scan` | over all elements also `scan_with_total`, `scan_with_start` |
//! | `right` | `scan_right`, `scan1_right`, `scan_exclusive_right` |
//! | `moments` | fold states of `mean`, `var` and `std` |
//!
//! The untyped forms are methods of [`Builder`](crate::ast::Builder) that take a [`Domain`].

mod extremum;
mod fold;
mod moments;
mod reduce;
mod right;
mod scan;

pub(crate) use fold::operator_of;
pub(crate) use moments::{Statistic, as_pair, corrected, float, pairs, pairs_in_order, plain_sum};
pub use reduce::Summed;
pub(crate) use reduce::{NUMBERS, by, number, one, step_of};

use crate::array::{Array, Dim, Ix1, Rank};
use crate::ast::Node;
use crate::elt::Elt;
use crate::ranked::Without;
use crate::segmented::Segments;
use std::fmt;
use std::sync::Arc;

/// Selects the elements for a combinator of [`Builder`](crate::ast::Builder).
///
/// A reference to the node of an array selects all of its elements. A reference to [`Segments`]
/// selects each segment.
///
/// ```
/// use livefusion::ast::Builder;
/// use livefusion::over::Domain;
/// use livefusion::prelude::*;
/// let (m, rows) = (Array::from([[1i64, 2], [3, 4]]), Segmented::from_vecs(vec![vec![5i64], vec![6, 7]]));
/// let call = Builder::named("sum");
/// let all: Array<i64, Ix0> = Array::from_node(call.sum(m.node()))?;
/// let along: Array<i64> = Array::from_node(call.sum(Domain::Along(m.node(), &[1])))?;
/// let each: Array<i64> = Array::from_node(call.sum(&rows.nodes()))?;
/// assert_eq!((all.force()?, along.to_vec()?, each.to_vec()?), (10, vec![3, 7], vec![5, 13]));
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// An axis that the array lacks, or that occurs twice, is a mistake. A fold removes these axes, and
/// gives a delayed scalar if none is left. A scan keeps the shape. For segments it returns only
/// their elements.
#[derive(Clone, Copy, Debug)]
pub enum Domain<'a> {
    /// All elements of an array.
    All(&'a Arc<Node>),
    /// The elements along axes of an array, for each index of the others. Scans go along one axis.
    Along(&'a Arc<Node>, &'a [usize]),
    /// The elements of each segment: the lengths (`u64`) and the data.
    Segments(&'a Arc<Node>, &'a Arc<Node>),
}

impl<'a> Domain<'a> {
    /// Returns the elements.
    pub fn data(self) -> &'a Arc<Node> {
        match self {
            Domain::All(xs) | Domain::Along(xs, _) | Domain::Segments(_, xs) => xs,
        }
    }

    /// Replaces the elements by others in the same positions.
    pub fn with(self, data: &'a Arc<Node>) -> Domain<'a> {
        match self {
            Domain::All(_) => Domain::All(data),
            Domain::Along(_, axes) => Domain::Along(data, axes),
            Domain::Segments(lengths, _) => Domain::Segments(lengths, data),
        }
    }

    /// Returns the rank of a fold.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Domain::All(_) => 0,
            Domain::Along(xs, axes) => usize::from(xs.rank).saturating_sub(axes.len()) as u8,
            Domain::Segments(..) => 1,
        }
    }
}

impl<'a> From<&'a Arc<Node>> for Domain<'a> {
    fn from(xs: &'a Arc<Node>) -> Domain<'a> {
        Domain::All(xs)
    }
}

impl<'a> From<&'a Segments> for Domain<'a> {
    fn from(of: &'a Segments) -> Domain<'a> {
        Domain::Segments(&of.lengths, &of.data)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for usize {}
    impl<const K: usize> Sealed for [usize; K] {}
}

/// Describes axes of an array of rank `D`: one, or an array of several.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name axes of an array of rank `{D}`",
    note = "`m.along(1)` names one axis, `m.along([0, 2])` several, at most as many as there are"
)]
pub trait Axes<D: Dim>: sealed::Sealed + Clone {
    /// Names the rank without these axes.
    type Rest: Rank;
    /// Names the rank of these axes alone.
    type Named: Dim;
    /// Returns the axes as a slice.
    fn axes(&self) -> &[usize];
}

impl<D: Dim> Axes<D> for usize {
    type Rest = D::Smaller;
    type Named = Ix1;
    fn axes(&self) -> &[usize] {
        std::slice::from_ref(self)
    }
}

impl<const K: usize, D: Without<K>> Axes<D> for [usize; K] {
    type Rest = D::Rest;
    type Named = D::Named;
    fn axes(&self) -> &[usize] {
        self
    }
}

/// Holds an array and the axes for the next combinator.
///
/// [`Array::along`] makes it.
#[derive(Clone)]
#[must_use = "it names axes for a combinator: `m.along(1).sum()`"]
pub struct Along<T: Elt, D: Dim, A = usize> {
    pub(crate) array: Array<T, D>,
    pub(crate) axes: A,
}

impl<T: Elt, D: Dim> Array<T, D> {
    /// Selects the axes for the next combinator.
    ///
    /// A fold goes along one axis or several and removes them. Scans and similar combinators go
    /// along one axis and keep the shape. The same combinators exist for all elements and for
    /// segments.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2, 3], [4, 5, 6]]);
    /// assert_eq!((m.sum().force()?, m.to_segmented().sum().to_vec()?), (21, vec![6, 15]));
    /// assert_eq!((m.along(0).sum().to_vec()?, m.along(1).sum().to_vec()?), (vec![5, 7, 9], vec![6, 15]));
    /// assert_eq!(m.along(1).scan(0, |a, b| a + b).force()?, [[1, 3, 6], [4, 9, 15]]);
    /// assert_eq!(m.along(0).at(1).force()?, [4, 5, 6]);
    /// let cube = generate((2, 3, 2), |(i, j, k)| 100 * i + 10 * j + k);
    /// assert_eq!(cube.along([0, 2]).max().force()?, [101, 111, 121]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* Costs nothing. Memory is read once, in order, for every choice of axes.
    /// Along the last axis a combinator fuses with its producer and its consumers. Along another
    /// axis a fold fuses with its producer, and a scan with both.
    ///
    /// # Errors
    /// When the result is forced: if there is no such axis, or one occurs twice.
    #[doc(alias("axis", "Axis", "keepdims"))]
    pub fn along<A: Axes<D>>(&self, axes: A) -> Along<T, D, A> {
        let array = self.clone();
        Along { array, axes }
    }
}

impl<T: Elt, D: Dim, A: Axes<D>> fmt::Debug for Along<T, D, A> {
    /// Shows the array and the axes. Never forces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Along");
        shown.field("array", &self.array);
        shown.field("axes", &self.axes.axes()).finish()
    }
}

/// Declares folds or scans over all elements, along axes, and over each segment. The array's method
/// has the docs; the other two link to it.
macro_rules! over {
    (folds $T:ident: $Bound:ident; $(
        $(#[$meta:meta])*
        pub fn $name:ident($($arg:ident: $A:ty),*) $([$($generics:tt)*])? -> $U:ty,
        $verb:literal => |$b:ident, $of:ident| $made:expr;
    )*) => {
        impl<$T: $Bound, D: Dim> Array<$T, D> {$(
            $(#[$meta])*
            #[track_caller]
            pub fn $name$(<$($generics)*>)?(&self, $($arg: $A),*) -> Array<$U, Ix0> {
                let ($b, $of) = (Builder::named(stringify!($name)), Domain::All(self.node()));
                Array::wrap($made)
            }
        )*}

        impl<$T: $Bound, D: Dim, Ax: Axes<D>> Along<$T, D, Ax> {$(
            #[doc = concat!($verb, " along the axes.")]
            ///
            #[doc = concat!("[`Array::", stringify!($name), "`] has the details and examples.")]
            ///
            /// # Errors
            /// Also when forced: if there is no such axis, or one occurs twice.
            #[track_caller]
            pub fn $name$(<$($generics)*>)?(&self, $($arg: $A),*) -> Array<$U, Ax::Rest> {
                let $b = Builder::named(stringify!($name));
                let $of = Domain::Along(self.array.node(), self.axes.axes());
                Array::checked($b, $made)
            }
        )*}

        impl<$T: $Bound> Segmented<$T> {$(
            #[doc = concat!($verb, " of each segment.")]
            ///
            #[doc = concat!("[`Array::", stringify!($name), "`] has the details and examples.")]
            ///
            /// # Errors
            /// Also when forced: if the lengths do not match the data.
            #[track_caller]
            pub fn $name$(<$($generics)*>)?(&self, $($arg: $A),*) -> Array<$U> {
                let $b = Builder::named(stringify!($name));
                let $of = Domain::Segments(self.lengths().node(), self.data().node());
                Array::wrap($made)
            }
        )*}
    };
    (scans $T:ident: $Bound:ident; $(
        $(#[$meta:meta])*
        pub fn $name:ident($($arg:ident: $A:ty),*) $([$($generics:tt)*])?,
        $verb:literal => |$b:ident, $of:ident| $made:expr;
    )*) => {
        impl<$T: $Bound> Array<$T> {$(
            $(#[$meta])*
            #[track_caller]
            pub fn $name$(<$($generics)*>)?(&self, $($arg: $A),*) -> Array<$T> {
                let ($b, $of) = (Builder::named(stringify!($name)), Domain::All(self.node()));
                Array::wrap($made)
            }
        )*}

        impl<$T: $Bound, D: Dim> Along<$T, D> {$(
            #[doc = concat!($verb, " along the axis.")]
            ///
            #[doc = concat!("[`Array::", stringify!($name), "`] has the details and examples.")]
            ///
            /// # Errors
            /// Also when forced: if there is no such axis.
            #[track_caller]
            pub fn $name$(<$($generics)*>)?(&self, $($arg: $A),*) -> Array<$T, D> {
                let $b = Builder::named(stringify!($name));
                let $of = Domain::Along(self.array.node(), std::slice::from_ref(&self.axes));
                Array::checked($b, $made)
            }
        )*}

        impl<$T: $Bound> Segmented<$T> {$(
            #[doc = concat!($verb, " of each segment.")]
            ///
            #[doc = concat!("[`Array::", stringify!($name), "`] has the details and examples.")]
            ///
            /// # Errors
            /// Also when forced: if the lengths do not match the data.
            #[track_caller]
            pub fn $name$(<$($generics)*>)?(&self, $($arg: $A),*) -> Segmented<$T> {
                let $b = Builder::named(stringify!($name));
                let $of = Domain::Segments(self.lengths().node(), self.data().node());
                self.with_data(Array::wrap($made))
            }
        )*}
    };
}
use over;
