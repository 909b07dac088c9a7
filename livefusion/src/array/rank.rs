//! Ranks of arrays, and the index, shape and result types of each rank.

use crate::array::Array;
use crate::ast::{Axis, Builder, Node, Shape, Value};
use crate::elt::{Elt, Int};
use crate::error::{Error, ErrorKind, Result};
use crate::exp::{Exp, Field};
use crate::manifest::Manifest;
use livefusion_backend::Buffer;
use std::fmt;
use std::sync::Arc;

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// Marks rank 0, a delayed scalar.
#[derive(Clone, Copy, Debug)]
pub struct Ix0;

/// Marks a rank of one or more axes known only at run time.
#[derive(Clone, Copy, Debug)]
pub struct IxDyn;

/// Describes the rank of an array, [`Ix0`] to [`Ix6`] or [`IxDyn`].
pub trait Rank:
    Sealed + Sized + 'static + Join<Self, Joined = Self> + Join<Ix0, Joined = Self>
{
    /// Gives the number of axes, or the least number for [`IxDyn`].
    const RANK: u8;
    /// Gives the name for messages.
    const NAME: &'static str;
    /// Names the type of a forced result: a value, or a [`Manifest`].
    type Out<T: Elt>;
    /// Names the rank with one axis more.
    type Larger: Dim;
    /// Names the rank with the axes of `R` and these.
    type With<R: Rank>: Rank;
    /// Tests if an array with this many axes has this rank.
    fn fits(rank: u8) -> bool {
        rank == Self::RANK
    }
    /// Takes the computed values of a node: its elements, then the lengths of its delayed axes.
    fn take<T: Elt>(node: &Node, values: &mut dyn Iterator<Item = Value>) -> Result<Self::Out<T>>;
    /// Moves the arrays of a result out: a column per field, or none for a value.
    fn columns<T: Elt>(out: &mut Self::Out<T>) -> Vec<Arc<Buffer>>;
}

/// Gives the rank of an operator's result.
///
/// A delayed scalar is combined with each element of an array.
#[diagnostic::on_unimplemented(
    message = "arrays of these ranks cannot be joined by an operator",
    note = "both have one rank, or one is a delayed scalar; `broadcast` repeats an array along new axes"
)]
pub trait Join<E> {
    /// Names the larger of the two ranks.
    type Joined: Rank;
}

/// Describes a rank of one axis or more: [`Ix1`] to [`Ix6`], or [`IxDyn`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a rank of one axis or more",
    note = "delayed scalars have no axes: join them by operators, `&a + &b`, or use one within a closure, `a.map(|a| a.max(&b))`"
)]
pub trait Dim: Rank {
    /// Names the index type of closures.
    ///
    /// It is an expression, a tuple of expressions, or a `Vec` for [`IxDyn`].
    type Index;
    /// Names the type of an index that may lie outside an array.
    ///
    /// Its parts are signed.
    type Signed;
    /// Names the type of known axis lengths.
    type Counts: AsRef<[usize]> + Clone + fmt::Debug + PartialEq + Send + Sync;
    /// Names the type of delayed axis lengths.
    type Lens;
    /// Names the rank with one axis less.
    type Smaller: Rank;
    /// Builds an index from its parts.
    fn index(parts: &[Field]) -> Self::Index;
    /// Builds a signed index from its parts.
    fn signed(parts: &[Field]) -> Self::Signed;
    /// Converts lengths of axes to counts; `None` if the number of axes is wrong.
    fn counts(axes: &[usize]) -> Option<Self::Counts>;
    /// Returns the counts of an array without elements.
    fn none() -> Self::Counts;
    /// Collects one delayed length per axis.
    fn lens(axes: &mut dyn Iterator<Item = Array<u64, Ix0>>) -> Self::Lens;
}

/// Describes a rank of two or more axes, [`Ix2`] to [`Ix6`], or [`IxDyn`].
///
/// [`IxDyn`] is included although it may have a single axis.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a rank of two axes or more")]
pub trait Multi: Dim {}

impl Join<Ix0> for Ix0 {
    type Joined = Ix0;
}

impl Sealed for Ix0 {}

impl Rank for Ix0 {
    const RANK: u8 = 0;
    const NAME: &'static str = "Ix0";
    type Out<T: Elt> = T;
    type Larger = Ix1;
    type With<R: Rank> = R;
    fn take<T: Elt>(_: &Node, values: &mut dyn Iterator<Item = Value>) -> Result<T> {
        match next(values)? {
            Value::Scalar(fields) if fields.len() == T::FIELDS as usize => {
                let mut fields = fields.iter();
                Ok(T::of_words(&mut || fields.next().map_or(0, |c| c.bits)))
            }
            _ => Err(wrong("a scalar", "an array")),
        }
    }
    fn columns<T: Elt>(_: &mut T) -> Vec<Arc<Buffer>> {
        Vec::new()
    }
}

macro_rules! exp {
    ($n:tt $t:ty) => { Exp<$t> };
}

macro_rules! ranks {
    ($($(#[$doc:meta])* $D:ident $n:literal $name:literal: $index:ident($($k:tt)*) $Smaller:ident $Larger:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $D;

        impl Sealed for $D {}

        impl Join<$D> for Ix0 {
            type Joined = $D;
        }
        impl Join<Ix0> for $D {
            type Joined = $D;
        }
        impl Join<$D> for $D {
            type Joined = $D;
        }

        impl Rank for $D {
            const RANK: u8 = $n;
            const NAME: &'static str = $name;
            type Out<T: Elt> = Manifest<T, $D>;
            type Larger = $Larger;
            type With<R: Rank> = <<$Smaller as Rank>::With<R> as Rank>::Larger;
            fn take<T: Elt>(
                node: &Node,
                values: &mut dyn Iterator<Item = Value>,
            ) -> Result<Manifest<T, $D>> {
                manifest(node, values)
            }
            fn columns<T: Elt>(out: &mut Manifest<T, $D>) -> Vec<Arc<Buffer>> {
                out.take_columns()
            }
        }

        impl Dim for $D {
            type Index = $index!(u64; $($k)*);
            type Signed = $index!(i64; $($k)*);
            type Counts = [usize; $n];
            type Lens = [Array<u64, Ix0>; $n];
            type Smaller = $Smaller;
            fn index(parts: &[Field]) -> Self::Index {
                ($(part(parts, $k)),*)
            }
            fn signed(parts: &[Field]) -> Self::Signed {
                ($(part(parts, $k)),*)
            }
            fn counts(axes: &[usize]) -> Option<[usize; $n]> {
                axes.try_into().ok()
            }
            fn none() -> [usize; $n] {
                [0; $n]
            }
            fn lens(axes: &mut dyn Iterator<Item = Array<u64, Ix0>>) -> Self::Lens {
                std::array::from_fn(|_| axes.next().unwrap_or_else(nothing))
            }
        }
    )*};
}

macro_rules! one {
    ($t:ty; 0) => { Exp<$t> };
}

macro_rules! tuple {
    ($t:ty; $($k:tt)*) => { ($(exp!($k $t)),*) };
}

ranks! {
    /// Marks rank 1: an array with one index.
    Ix1 1 "Ix1": one(0) Ix0 Ix2;
    /// Marks rank 2: a matrix.
    Ix2 2 "Ix2": tuple(0 1) Ix1 Ix3;
    /// Marks rank 3.
    Ix3 3 "Ix3": tuple(0 1 2) Ix2 Ix4;
    /// Marks rank 4.
    Ix4 4 "Ix4": tuple(0 1 2 3) Ix3 Ix5;
    /// Marks rank 5.
    Ix5 5 "Ix5": tuple(0 1 2 3 4) Ix4 Ix6;
    /// Marks rank 6.
    Ix6 6 "Ix6": tuple(0 1 2 3 4 5) Ix5 IxDyn;
}

impl Multi for Ix2 {}
impl Multi for Ix3 {}
impl Multi for Ix4 {}
impl Multi for Ix5 {}
impl Multi for Ix6 {}
impl Multi for IxDyn {}

impl Sealed for IxDyn {}

impl Join<IxDyn> for Ix0 {
    type Joined = IxDyn;
}
impl Join<Ix0> for IxDyn {
    type Joined = IxDyn;
}
impl Join<IxDyn> for IxDyn {
    type Joined = IxDyn;
}

impl Rank for IxDyn {
    const RANK: u8 = 1;
    const NAME: &'static str = "IxDyn";
    type Out<T: Elt> = Manifest<T, IxDyn>;
    type Larger = IxDyn;
    type With<R: Rank> = IxDyn;
    fn fits(rank: u8) -> bool {
        rank > 0
    }
    fn take<T: Elt>(
        node: &Node,
        values: &mut dyn Iterator<Item = Value>,
    ) -> Result<Manifest<T, IxDyn>> {
        manifest(node, values)
    }
    fn columns<T: Elt>(out: &mut Manifest<T, IxDyn>) -> Vec<Arc<Buffer>> {
        out.take_columns()
    }
}

impl Dim for IxDyn {
    type Index = Vec<Exp<u64>>;
    type Signed = Vec<Exp<i64>>;
    type Counts = Vec<usize>;
    type Lens = Vec<Array<u64, Ix0>>;
    type Smaller = IxDyn;
    fn index(parts: &[Field]) -> Vec<Exp<u64>> {
        (0..parts.len()).map(|k| part(parts, k)).collect()
    }
    fn signed(parts: &[Field]) -> Vec<Exp<i64>> {
        (0..parts.len()).map(|k| part(parts, k)).collect()
    }
    fn counts(axes: &[usize]) -> Option<Vec<usize>> {
        (!axes.is_empty()).then(|| axes.to_vec())
    }
    fn none() -> Vec<usize> {
        vec![0]
    }
    fn lens(axes: &mut dyn Iterator<Item = Array<u64, Ix0>>) -> Vec<Array<u64, Ix0>> {
        axes.collect()
    }
}

/// Returns a part of an index, or zero if there are fewer parts.
fn part<T: Int>(parts: &[Field], k: usize) -> Exp<T> {
    parts
        .get(k)
        .map_or(Exp::lit(T::from_word(0)), |f| Exp::of(*f))
}

/// A delayed 0, for a missing length.
fn nothing() -> Array<u64, Ix0> {
    Array::wrap(Axis::from(0).node().clone())
}

/// Returns the length of an array of rank 1.
pub(crate) fn length_of(builder: Builder, node: &Arc<Node>) -> Axis {
    match node.known_len() {
        Some(n) => builder.length(n),
        None => Axis::delayed(builder.len(node)),
    }
}

/// Returns the delayed lengths that a force computes besides the elements. The set is fixed for a
/// node.
pub(crate) fn delayed_axes(node: &Node) -> impl Iterator<Item = &Arc<Node>> {
    let axes = node.shape.as_ref().map_or(&[][..], Shape::axes);
    let delayed = |axis: &&Axis| axis.node().literal().is_none();
    axes.iter().filter(delayed).map(Axis::node)
}

/// Returns the next value. Every node has one.
fn next(values: &mut dyn Iterator<Item = Value>) -> Result<Value> {
    values
        .next()
        .ok_or_else(|| wrong("one value per result", "fewer"))
}

/// Combines the elements of a node with its shape.
fn manifest<T: Elt, D: Dim>(
    node: &Node,
    values: &mut dyn Iterator<Item = Value>,
) -> Result<Manifest<T, D>> {
    let Value::Array(columns) = next(values)? else {
        return Err(wrong("an array", "a scalar"));
    };
    let Some(shape) = &node.shape else {
        let len = columns.first().map_or(0, |c| c.len());
        return Manifest::of(columns, D::counts(&[len]));
    };
    let mut counts = Vec::with_capacity(shape.rank());
    for axis in shape.axes() {
        let value = match axis.node().literal() {
            Some(value) => value,
            None => next(values)?,
        };
        let Value::Scalar(fields) = value else {
            return Err(wrong("a length", "an array"));
        };
        counts.push(fields.first().map_or(0, |c| c.bits as usize));
    }
    let len = columns.first().map_or(0, |c| c.len());
    if size_of_counts(&counts) != Some(len) {
        let kind = ErrorKind::Malformed {
            expected: format!("a shape for {len} elements"),
            got: show_counts(&counts),
        };
        return Err(Error::new(node.name, node.loc, kind));
    }
    Manifest::of(columns, D::counts(&counts))
}

/// Counts the elements of a shape; `None` if a `usize` overflows.
pub(crate) fn size_of_counts(counts: &[usize]) -> Option<usize> {
    match counts.contains(&0) {
        true => Some(0),
        false => counts.iter().try_fold(1usize, |n, c| n.checked_mul(*c)),
    }
}

/// Formats counts as `(3, 4)`.
pub(crate) fn show_counts(counts: &[usize]) -> String {
    let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
    format!("({})", counts.join(", "))
}

fn wrong(expected: &str, got: &str) -> Error {
    let kind = ErrorKind::Malformed {
        expected: expected.to_string(),
        got: got.to_string(),
    };
    Error {
        combinator: "force",
        row: None,
        element: None,
        location: None,
        kind,
    }
}
