//! Ranks: how many dimensions an array has, and what indices, shapes and results of each rank are.

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

/// Rank 0: a delayed scalar.
#[derive(Clone, Copy, Debug)]
pub struct Ix0;

/// A rank that is known at run time only: one axis or more.
#[derive(Clone, Copy, Debug)]
pub struct IxDyn;

/// The rank of an array: [`Ix0`] to [`Ix6`], or [`IxDyn`].
pub trait Rank:
    Sealed + Sized + 'static + Join<Self, Joined = Self> + Join<Ix0, Joined = Self>
{
    /// Number of dimensions; of [`IxDyn`] the least.
    const RANK: u8;
    /// The name for people.
    const NAME: &'static str;
    /// What forcing gives: a value, or a [`Manifest`].
    type Out<T: Elt>;
    /// Whether an array with so many axes is of this rank.
    fn fits(rank: u8) -> bool {
        rank == Self::RANK
    }
    /// Takes a computed result of a node: its elements, then the lengths of its axes that are delayed.
    fn take<T: Elt>(node: &Node, values: &mut dyn Iterator<Item = Value>) -> Result<Self::Out<T>>;
    /// The arrays that a result consists of: a column per field, none of a value.
    fn columns<T: Elt>(out: Self::Out<T>) -> Vec<Arc<Buffer>>;
}

/// The rank of an operator's result: a delayed scalar beside an array meets each element.
#[diagnostic::on_unimplemented(
    message = "arrays of these ranks cannot be joined by an operator",
    note = "both have one rank, or one is a delayed scalar; `broadcast` repeats an array along new axes"
)]
pub trait Join<E> {
    /// The larger of the two.
    type Joined: Rank;
}

/// A rank of one axis or more: [`Ix1`] to [`Ix6`], or [`IxDyn`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a rank of one axis or more",
    note = "delayed scalars have no axes: join them by operators, `&a + &b`, or use one within a closure, `a.map(|a| a.max(&b))`"
)]
pub trait Dim: Rank {
    /// An index, as closures get it: an expression, a tuple of expressions, of [`IxDyn`] a `Vec`.
    type Index;
    /// An index that may lie outside of an array, as closures get it: its parts are signed.
    type Signed;
    /// Lengths of the axes that are known.
    type Counts: AsRef<[usize]> + Clone + fmt::Debug + PartialEq + Send + Sync;
    /// Lengths of the axes that are delayed.
    type Lens;
    /// One axis less.
    type Smaller: Rank;
    /// One axis more.
    type Larger: Multi;
    /// The index of these parts.
    fn index(parts: &[Field]) -> Self::Index;
    /// The signed index of these parts.
    fn signed(parts: &[Field]) -> Self::Signed;
    /// As many lengths as there are axes; none if there are others.
    fn counts(axes: &[usize]) -> Option<Self::Counts>;
    /// The counts of an array without elements.
    fn none() -> Self::Counts;
    /// As many delayed lengths as there are axes.
    fn lens(axes: &mut dyn Iterator<Item = Array<u64, Ix0>>) -> Self::Lens;
}

/// A rank of two axes or more, or one that is known at run time only: [`Ix2`] to [`Ix6`], [`IxDyn`].
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
    fn take<T: Elt>(_: &Node, values: &mut dyn Iterator<Item = Value>) -> Result<T> {
        match next(values)? {
            Value::Scalar(fields) if fields.len() == T::FIELDS as usize => {
                let mut fields = fields.iter();
                Ok(T::of_words(&mut || fields.next().map_or(0, |c| c.bits)))
            }
            _ => Err(wrong("a scalar", "an array")),
        }
    }
    fn columns<T: Elt>(_: T) -> Vec<Arc<Buffer>> {
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
            fn take<T: Elt>(
                node: &Node,
                values: &mut dyn Iterator<Item = Value>,
            ) -> Result<Manifest<T, $D>> {
                manifest(node, values)
            }
            fn columns<T: Elt>(out: Manifest<T, $D>) -> Vec<Arc<Buffer>> {
                out.into_columns()
            }
        }

        impl Dim for $D {
            type Index = $index!(u64; $($k)*);
            type Signed = $index!(i64; $($k)*);
            type Counts = [usize; $n];
            type Lens = [Array<u64, Ix0>; $n];
            type Smaller = $Smaller;
            type Larger = $Larger;
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
    /// Rank 1: an array with one index.
    Ix1 1 "Ix1": one(0) Ix0 Ix2;
    /// Rank 2: a matrix.
    Ix2 2 "Ix2": tuple(0 1) Ix1 Ix3;
    /// Rank 3.
    Ix3 3 "Ix3": tuple(0 1 2) Ix2 Ix4;
    /// Rank 4.
    Ix4 4 "Ix4": tuple(0 1 2 3) Ix3 Ix5;
    /// Rank 5.
    Ix5 5 "Ix5": tuple(0 1 2 3 4) Ix4 Ix6;
    /// Rank 6.
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
    fn fits(rank: u8) -> bool {
        rank > 0
    }
    fn take<T: Elt>(
        node: &Node,
        values: &mut dyn Iterator<Item = Value>,
    ) -> Result<Manifest<T, IxDyn>> {
        manifest(node, values)
    }
    fn columns<T: Elt>(out: Manifest<T, IxDyn>) -> Vec<Arc<Buffer>> {
        out.into_columns()
    }
}

impl Dim for IxDyn {
    type Index = Vec<Exp<u64>>;
    type Signed = Vec<Exp<i64>>;
    type Counts = Vec<usize>;
    type Lens = Vec<Array<u64, Ix0>>;
    type Smaller = IxDyn;
    type Larger = IxDyn;
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

/// A part of an index; zero if there are fewer.
fn part<T: Int>(parts: &[Field], k: usize) -> Exp<T> {
    parts
        .get(k)
        .map_or(Exp::lit(T::from_word(0)), |f| Exp::of(*f))
}

/// A delayed 0, for what is not there.
fn nothing() -> Array<u64, Ix0> {
    Array::wrap(Axis::from(0).node().clone())
}

/// The length of an array of rank 1.
pub(crate) fn length_of(builder: Builder, node: &Arc<Node>) -> Axis {
    match node.known_len() {
        Some(n) => builder.length(n),
        None => Axis::delayed(builder.len(node)),
    }
}

/// The delayed lengths that a force of a node asks for, beside its elements. Which these are never changes.
pub(crate) fn delayed_axes(node: &Node) -> impl Iterator<Item = &Arc<Node>> {
    let axes = node.shape.as_ref().map_or(&[][..], Shape::axes);
    let delayed = |axis: &&Axis| axis.node().literal().is_none();
    axes.iter().filter(delayed).map(Axis::node)
}

/// The next value; every node has one.
fn next(values: &mut dyn Iterator<Item = Value>) -> Result<Value> {
    values
        .next()
        .ok_or_else(|| wrong("one value per result", "fewer"))
}

/// The elements of a node with its shape.
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

/// How many elements axes of these lengths have, if a `usize` counts them.
pub(crate) fn size_of_counts(counts: &[usize]) -> Option<usize> {
    match counts.contains(&0) {
        true => Some(0),
        false => counts.iter().try_fold(1usize, |n, c| n.checked_mul(*c)),
    }
}

/// `(3, 4)`.
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
        element: None,
        location: None,
        kind,
    }
}
