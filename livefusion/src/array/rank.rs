//! Ranks: how many dimensions an array has.

use crate::ast::Value;
use crate::elt::Elt;
use crate::error::{Error, ErrorKind, Result};
use crate::manifest::Manifest;
use livefusion_backend::Buffer;
use std::sync::Arc;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Ix0 {}
    impl Sealed for super::Ix1 {}
}

/// Rank 0: a delayed scalar.
#[derive(Clone, Copy, Debug)]
pub struct Ix0;

/// Rank 1: an array with one index.
#[derive(Clone, Copy, Debug)]
pub struct Ix1;

/// The rank of an array: [`Ix0`] or [`Ix1`].
pub trait Rank:
    sealed::Sealed + Sized + 'static + Join<Self, Joined = Self> + Join<Ix0, Joined = Self>
{
    /// Number of dimensions.
    const RANK: u8;
    /// The name for people.
    const NAME: &'static str;
    /// What forcing gives: a value, or a [`Manifest`].
    type Out<T: Elt>;
    /// Takes a computed result.
    fn take<T: Elt>(value: Value) -> Result<Self::Out<T>>;
    /// The arrays that a result consists of: a column per field, none of a value.
    fn columns<T: Elt>(out: Self::Out<T>) -> Vec<Arc<Buffer>>;
}

/// The rank of an operator's result: a delayed scalar beside an array meets each element.
#[diagnostic::on_unimplemented(message = "arrays of these ranks cannot be joined by an operator")]
pub trait Join<E> {
    /// The larger of the two.
    type Joined: Rank;
}

impl Join<Ix0> for Ix0 {
    type Joined = Ix0;
}
impl Join<Ix1> for Ix0 {
    type Joined = Ix1;
}
impl Join<Ix0> for Ix1 {
    type Joined = Ix1;
}
impl Join<Ix1> for Ix1 {
    type Joined = Ix1;
}

impl Rank for Ix0 {
    const RANK: u8 = 0;
    const NAME: &'static str = "Ix0";
    type Out<T: Elt> = T;
    fn take<T: Elt>(value: Value) -> Result<T> {
        match value {
            Value::Scalar(fields) if fields.len() == T::FIELDS as usize => {
                let mut fields = fields.iter();
                Ok(T::of_words(&mut || fields.next().map_or(0, |c| c.bits)))
            }
            _ => Err(wrong_rank("a scalar", "an array")),
        }
    }
    fn columns<T: Elt>(_: T) -> Vec<Arc<Buffer>> {
        Vec::new()
    }
}

impl Rank for Ix1 {
    const RANK: u8 = 1;
    const NAME: &'static str = "Ix1";
    type Out<T: Elt> = Manifest<T>;
    fn take<T: Elt>(value: Value) -> Result<Manifest<T>> {
        match value {
            Value::Array(columns) => Manifest::from_columns(columns),
            Value::Scalar(_) => Err(wrong_rank("an array", "a scalar")),
        }
    }
    fn columns<T: Elt>(out: Manifest<T>) -> Vec<Arc<Buffer>> {
        out.into_columns()
    }
}

fn wrong_rank(expected: &str, got: &str) -> Error {
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
