//! Results in memory.

use crate::array::Array;
use crate::ast::{Builder, Types, Value};
use crate::elt::{Elt, Scalar};
use crate::error::{Error, ErrorKind, Result};
use crate::exp::types_of;
use livefusion_backend::Buffer;
use loop_lang::types::Ty;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// An array in memory: what [`force`](Array::force) gives. Cheap to clone.
///
/// Of scalars it is a slice: `ys[3]`, `&ys[1..]`, `ys.iter()`, `for y in &ys` and all methods of slices
/// give what they give there. Of tuples and structs it has a [`column`](Manifest::column) per field, each a
/// slice; [`row`](Manifest::row), `iter()` and `for` put elements together, by value. [`Array::from`] makes
/// it an input again, without a copy.
///
/// ```
/// use livefusion::prelude::*;
/// let ys = Array::from(vec![1.0f64, 2.0]).map(|x| x + 1.0).force()?;
/// let largest: Option<&f64> = ys.iter().max_by(|a, b| a.total_cmp(b));
/// assert_eq!((ys[0], largest, ys.get(1..)), (2.0, Some(&3.0), Some(&[3.0][..])));
/// let ps = Array::from(vec![(1i64, 0.5f64), (2, 1.5)]).force()?;
/// let sum: f64 = ps.iter().map(|(n, x)| n as f64 * x).sum();
/// assert_eq!((sum, ps.row(1)), (3.5, Some((2, 1.5))));
/// # Ok::<(), livefusion::Error>(())
/// ```
pub struct Manifest<T: Elt> {
    columns: Vec<Arc<Buffer>>,
    elements: PhantomData<fn() -> T>,
}

impl<T: Elt> Manifest<T> {
    /// Puts buffers together, one per field of `T`, all of one length.
    ///
    /// # Errors
    /// If types or lengths do not fit.
    pub fn from_columns(columns: Vec<Arc<Buffer>>) -> Result<Manifest<T>> {
        let (want, got): (_, Types) = (types_of::<T>(), columns.iter().map(|c| c.ty()).collect());
        let fail = |kind| {
            Err(Error {
                combinator: "manifest",
                element: None,
                location: None,
                kind,
            })
        };
        if want != got {
            let [expected, got] = [&want, &got].map(|t| crate::ast::show_types(t));
            return fail(ErrorKind::Malformed { expected, got });
        }
        let expected = columns.first().map_or(0, |c| c.len() as u64);
        if let Some(odd) = columns.iter().find(|c| c.len() as u64 != expected) {
            return fail(ErrorKind::LengthMismatch {
                expected,
                got: odd.len() as u64,
            });
        }
        Ok(Manifest {
            columns,
            elements: PhantomData,
        })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |c| c.len())
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An element by value, put together from its fields; none outside.
    pub fn row(&self, i: usize) -> Option<T> {
        T::read(&mut self.columns.iter(), i)
    }

    /// The elements, one by one: of scalars the slice's iterator, of tuples and structs by value.
    pub fn iter(&self) -> T::Iter<'_> {
        T::iter(&self.columns)
    }

    fn rows(&self) -> Rows<'_, T> {
        Rows::new(&self.columns)
    }

    /// A copy of the elements.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if there is no room for it.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.clone().into_vec()
    }

    /// The elements as a vector. No copy if they are scalars that came from a vector, and no array
    /// refers to them any more.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let ys = Array::from(vec![1.0f64, 2.0]).map(|x| x + 1.0).force()?;
    /// assert_eq!(ys.into_vec()?, [2.0, 3.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if there is no room for a copy.
    pub fn into_vec(self) -> Result<Vec<T>> {
        let bytes = (self.len() as u64).saturating_mul(size_of::<T>() as u64);
        // The columns' types were checked when they were put together: only memory can be missing.
        T::join(&mut self.columns.into_iter()).ok_or_else(|| no_room(bytes))
    }

    /// The values of the k-th scalar field, if they are of type `U`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let ps = Array::from(vec![(1i64, 0.5f64), (2, 1.5)]).force()?;
    /// assert_eq!(ps.column::<f64>(1), Some(&[0.5, 1.5][..]));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn column<U: Scalar>(&self, k: usize) -> Option<&[U]> {
        self.columns.get(k)?.as_slice()
    }

    /// The buffers, one per scalar field.
    pub fn columns(&self) -> &[Arc<Buffer>] {
        &self.columns
    }

    /// The buffers, for good.
    pub(crate) fn into_columns(self) -> Vec<Arc<Buffer>> {
        self.columns
    }
}

impl<T: Elt> Clone for Manifest<T> {
    fn clone(&self) -> Manifest<T> {
        Manifest {
            columns: self.columns.clone(),
            elements: PhantomData,
        }
    }
}

impl<T: Scalar> Deref for Manifest<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        self.iter().as_slice()
    }
}

impl<T: Elt> Default for Manifest<T> {
    /// No elements.
    fn default() -> Manifest<T> {
        let empty = |ty: &Ty| Arc::new(Buffer::empty(*ty));
        Manifest {
            columns: types_of::<T>().iter().map(empty).collect(),
            elements: PhantomData,
        }
    }
}

impl<T: Elt> fmt::Debug for Manifest<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::show::value::<T>(f, &Value::Array(self.columns.clone()))
    }
}

impl<T: Elt> fmt::Display for Manifest<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl<T: Elt> From<&Manifest<T>> for Array<T> {
    /// The elements as an input, without a copy.
    #[track_caller]
    fn from(m: &Manifest<T>) -> Array<T> {
        Array::wrap(Builder::named("manifest").manifest(m.columns.clone()))
    }
}

impl<T: Elt> From<Manifest<T>> for Array<T> {
    /// The elements as an input, without a copy.
    #[track_caller]
    fn from(m: Manifest<T>) -> Array<T> {
        Array::wrap(Builder::named("manifest").manifest(m.columns))
    }
}

impl<T: Elt + PartialEq> PartialEq for Manifest<T> {
    fn eq(&self, other: &Manifest<T>) -> bool {
        self.rows().eq(other.rows())
    }
}

macro_rules! equals {
    ($(<$($n:ident)?> $t:ty;)*) => {$(
        impl<T: Elt + PartialEq $(, const $n: usize)?> PartialEq<$t> for Manifest<T> {
            fn eq(&self, other: &$t) -> bool {
                self.len() == other.len() && self.rows().zip(other.iter()).all(|(a, b)| a == *b)
            }
        }
    )*};
}

equals! {
    <> Vec<T>;
    <> [T];
    <> &[T];
    <N> [T; N];
}

impl<T: Elt> IntoIterator for Manifest<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;
    fn into_iter(self) -> IntoIter<T> {
        IntoIter {
            range: 0..self.len(),
            columns: self.columns,
            elements: PhantomData,
        }
    }
}

impl<'a, T: Elt> IntoIterator for &'a Manifest<T> {
    type Item = <T::Iter<'a> as Iterator>::Item;
    type IntoIter = T::Iter<'a>;
    fn into_iter(self) -> T::Iter<'a> {
        self.iter()
    }
}

/// The elements of a [`Manifest`] that nobody needs any more, by value. They are not copied as a whole.
#[derive(Clone, Debug)]
pub struct IntoIter<T> {
    columns: Vec<Arc<Buffer>>,
    range: Range<usize>,
    elements: PhantomData<fn() -> T>,
}

/// The elements of a [`Manifest`], each put together from its fields.
#[derive(Clone, Debug)]
pub struct Rows<'a, T> {
    columns: &'a [Arc<Buffer>],
    range: Range<usize>,
    elements: PhantomData<fn() -> T>,
}

impl<'a, T: Elt> Rows<'a, T> {
    /// The elements in these buffers, one per field of `T`.
    pub fn new(columns: &'a [Arc<Buffer>]) -> Rows<'a, T> {
        Rows {
            columns,
            range: 0..columns.first().map_or(0, |c| c.len()),
            elements: PhantomData,
        }
    }
}

macro_rules! iterates {
    ($($t:ty;)*) => {$(
        impl<T: Elt> Iterator for $t {
            type Item = T;
            fn next(&mut self) -> Option<T> {
                T::read(&mut self.columns.iter(), self.range.next()?)
            }
            fn nth(&mut self, n: usize) -> Option<T> {
                T::read(&mut self.columns.iter(), self.range.nth(n)?)
            }
            fn size_hint(&self) -> (usize, Option<usize>) {
                self.range.size_hint()
            }
        }
        impl<T: Elt> DoubleEndedIterator for $t {
            fn next_back(&mut self) -> Option<T> {
                T::read(&mut self.columns.iter(), self.range.next_back()?)
            }
        }
        impl<T: Elt> ExactSizeIterator for $t {}
    )*};
}

iterates! {
    IntoIter<T>;
    Rows<'_, T>;
}

/// Copies of elements that would take so many bytes have no room.
pub(crate) fn no_room(bytes: u64) -> Error {
    let limit = u64::MAX;
    Error {
        combinator: "to_vec",
        element: None,
        location: None,
        kind: ErrorKind::Memory { bytes, limit },
    }
}
