//! Results in memory.

use crate::array::Array;
use crate::ast::{Builder, Types, Value};
use crate::elt::{Elt, Scalar};
use crate::error::{Error, ErrorKind, Result};
use crate::exp::types_of;
use livefusion_backend::Buffer;
use std::alloc::{self, Layout};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

/// An array in memory: what [`force`](Array::force) gives. Cheap to clone.
///
/// Of scalars it is a slice (`&ys[..]`, `ys.len()`, `ys.iter()`); of tuples and structs it has one
/// [`column`](Manifest::column) per field. [`Array::from`] makes it an input again, without a copy.
///
/// ```
/// use livefusion::prelude::*;
/// let ys = Array::from(vec![1.0f64, 2.0]).map(|x| x + 1.0).force()?;
/// let total: f64 = ys.iter().sum();
/// assert_eq!((&ys[..], total), (&[2.0, 3.0][..], 5.0));
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

    /// An element; none outside.
    pub fn get(&self, i: usize) -> Option<T> {
        T::read(&mut self.columns.iter(), i)
    }

    /// The elements, one by one.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter {
            manifest: self,
            range: 0..self.len(),
        }
    }

    /// A copy of the elements. As with a `Vec`, the process ends if there is no memory for it;
    /// [`Array::to_vec`] gives an error.
    pub fn to_vec(&self) -> Vec<T> {
        self.clone().into_vec()
    }

    /// The elements as a vector. No copy if they are scalars that came from a vector, and no array
    /// refers to them any more.
    pub fn into_vec(self) -> Vec<T> {
        let layout = Layout::array::<T>(self.len());
        self.try_into_vec()
            .unwrap_or_else(|_| alloc::handle_alloc_error(layout.unwrap_or(Layout::new::<T>())))
    }

    /// As [`into_vec`](Manifest::into_vec), but an error if there is no memory for a copy.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`].
    pub fn try_into_vec(self) -> Result<Vec<T>> {
        let bytes = (self.len() as u64).saturating_mul(size_of::<T>() as u64);
        // The columns' types were checked when they were put together: only memory can be missing.
        T::join(&mut self.columns.into_iter()).ok_or(Error {
            combinator: "to_vec",
            location: None,
            kind: ErrorKind::Memory {
                bytes,
                limit: u64::MAX,
            },
        })
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
        // The type was checked when the columns were put together.
        self.columns
            .first()
            .and_then(|c| c.as_slice())
            .unwrap_or_default()
    }
}

impl<T: Elt> fmt::Debug for Manifest<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::show::value(f, &Value::Array(self.columns.clone()))
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
        self.iter().eq(other.iter())
    }
}

macro_rules! equals {
    ($(<$($n:ident)?> $t:ty;)*) => {$(
        impl<T: Elt + PartialEq $(, const $n: usize)?> PartialEq<$t> for Manifest<T> {
            fn eq(&self, other: &$t) -> bool {
                self.len() == other.len() && self.iter().zip(other.iter()).all(|(a, b)| a == *b)
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
    type IntoIter = std::vec::IntoIter<T>;
    fn into_iter(self) -> std::vec::IntoIter<T> {
        self.into_vec().into_iter()
    }
}

impl<'a, T: Elt> IntoIterator for &'a Manifest<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

/// The elements of a [`Manifest`], by value.
#[derive(Debug)]
pub struct Iter<'a, T: Elt> {
    manifest: &'a Manifest<T>,
    range: std::ops::Range<usize>,
}

impl<T: Elt> Iterator for Iter<'_, T> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        self.manifest.get(self.range.next()?)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

impl<T: Elt> DoubleEndedIterator for Iter<'_, T> {
    fn next_back(&mut self) -> Option<T> {
        self.manifest.get(self.range.next_back()?)
    }
}

impl<T: Elt> ExactSizeIterator for Iter<'_, T> {}
