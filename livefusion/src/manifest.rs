//! Results in memory.

mod iter;

pub use iter::{IntoIter, Rows};

use crate::array::{
    Array, Dim, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn, Multi, show_counts, size_of_counts,
};
use crate::ast::{Builder, Shape, Types};
use crate::elt::{Elt, Scalar};
use crate::error::{Error, ErrorKind, Result};
use crate::exp::types_of;
use crate::runtime::lost;
use livefusion_backend::Buffer;
use loop_lang::types::Ty;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, Index};
use std::sync::Arc;

/// Holds an array in memory, the result of [`force`](Array::force).
///
/// It is cheap to clone. An array of scalars is a slice: `ys[3]`, `&ys[1..]`, `ys.iter()`,
/// `for y in &ys` and all methods of slices work as usual. An array of tuples or structs has a
/// [`column`](Manifest::column) per field, each a slice. [`row`](Manifest::row), `iter()` and `for`
/// assemble its elements by value. [`Array::from`] makes it an input again, without a copy.
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
///
/// An array of rank 2 or more has a [`shape`](Manifest::shape), and is indexed with a tuple. One of
/// rank [`IxDyn`] is indexed with a slice. As a slice it has all elements, row by row.
///
/// ```
/// use livefusion::prelude::*;
/// let m = generate((2, 3), |(i, j)| 10 * i + j).force()?;
/// assert_eq!((m.shape(), m[(1, 2)], m.get((2, 0))), ([2, 3], 12, None));
/// assert_eq!(m.rows().map(|row| row.iter().sum::<u64>()).collect::<Vec<_>>(), [3, 33]);
/// assert_eq!(m.to_string(), "[[0, 1, 2], [10, 11, 12]]");
/// # Ok::<(), livefusion::Error>(())
/// ```
pub struct Manifest<T: Elt, D: Dim = Ix1> {
    columns: Vec<Arc<Buffer>>,
    shape: D::Counts,
    elements: PhantomData<fn() -> T>,
}

impl<T: Elt> Manifest<T> {
    /// Assembles buffers, one per field of `T`, all of one length.
    ///
    /// # Errors
    /// If types or lengths do not match.
    pub fn from_columns(columns: Vec<Arc<Buffer>>) -> Result<Manifest<T>> {
        let len = columns.first().map_or(0, |c| c.len());
        Manifest::of(columns, Some([len]))
    }

    /// Returns an element by value, or none outside.
    ///
    /// It is assembled from its fields.
    pub fn row(&self, i: usize) -> Option<T> {
        self.element(i)
    }
}

impl<T: Elt, D: Dim> Manifest<T, D> {
    /// Assembles buffers and a shape.
    pub(crate) fn of(
        columns: Vec<Arc<Buffer>>,
        shape: Option<D::Counts>,
    ) -> Result<Manifest<T, D>> {
        let want = types_of::<T>();
        let got = columns.iter().map(|c| c.ty());
        let fail = |kind| {
            Err(Error {
                combinator: "manifest",
                row: None,
                element: None,
                location: None,
                kind,
            })
        };
        if !got.clone().eq(want.iter().copied()) {
            let got: Types = got.collect();
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
        let size = |shape: &D::Counts| size_of_counts(shape.as_ref()).map(|n| n as u64);
        let Some(shape) = shape.filter(|s| size(s) == Some(expected)) else {
            return fail(ErrorKind::Malformed {
                expected: format!("a shape for {expected} elements"),
                got: "another".to_string(),
            });
        };
        Ok(Manifest {
            columns,
            shape,
            elements: PhantomData,
        })
    }

    /// Returns the lengths of the axes.
    ///
    /// They are an array, or a `Vec` for rank [`IxDyn`].
    pub fn shape(&self) -> D::Counts {
        self.shape.clone()
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |c| c.len())
    }

    /// Tells whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an element by its position in the flat data.
    pub(crate) fn element(&self, i: usize) -> Option<T> {
        T::read(&mut self.columns.iter(), i)
    }

    /// Returns an element by its index, or none outside.
    fn at(&self, index: &[usize]) -> Option<T> {
        self.element(place(self.shape.as_ref(), index)?)
    }

    /// Iterates over the elements.
    ///
    /// Scalars give the slice's iterator, tuples and structs give values. Elements on a device are
    /// fetched first.
    ///
    /// # Panics
    /// If they cannot be fetched. [`fetch`](Manifest::fetch) returns an error instead.
    pub fn iter(&self) -> T::Iter<'_> {
        if let Err(why) = self.fetch() {
            panic!("{why}");
        }
        T::iter(&self.columns)
    }

    /// Fetches elements that are on a device.
    ///
    /// A backend for devices leaves forced arrays there. Their first access fetches them as well,
    /// but cannot return an error. Elements in host memory cost nothing.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let ys = Array::from(vec![1.0f64, 2.0]).map(|x| x + 1.0).force()?;
    /// ys.fetch()?;
    /// assert_eq!(ys, [2.0, 3.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if there is not enough host memory, [`ErrorKind::Backend`] if the
    /// device fails.
    pub fn fetch(&self) -> Result<()> {
        let far = self.columns.iter().filter(|column| column.is_far());
        for column in far {
            column.here().map_err(|why| lost(column, why))?;
        }
        Ok(())
    }

    fn elements(&self) -> Rows<'_, T> {
        Rows::new(&self.columns)
    }

    /// Copies the elements to a vector.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if there is not enough memory; [`ErrorKind::Backend`] if they are on a
    /// device that fails.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.clone().into_vec()
    }

    /// Returns the elements as a vector.
    ///
    /// Scalars that came from a vector are not copied, if no array refers to them any more.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let ys = Array::from(vec![1.0f64, 2.0]).map(|x| x + 1.0).force()?;
    /// assert_eq!(ys.into_vec()?, [2.0, 3.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if there is not enough memory for a copy; [`ErrorKind::Backend`] if
    /// they are on a device that fails.
    pub fn into_vec(self) -> Result<Vec<T>> {
        self.fetch()?;
        let bytes = (self.len() as u64).saturating_mul(size_of::<T>() as u64);
        // Types were checked when the columns were assembled: only memory can be missing.
        T::join(&mut self.columns.into_iter()).ok_or_else(|| out_of_memory(bytes))
    }

    /// Returns the values of the k-th scalar field.
    ///
    /// It is none if they are not of type `U`.
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

    /// Returns the buffers, one per scalar field.
    pub fn columns(&self) -> &[Arc<Buffer>] {
        &self.columns
    }

    /// Moves the buffers out. The array must then be replaced.
    pub(crate) fn take_columns(&mut self) -> Vec<Arc<Buffer>> {
        std::mem::take(&mut self.columns)
    }
}

impl<T: Scalar, D: Multi> Manifest<T, D> {
    /// Iterates over the rows along the last axis.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1.5f64, 2.0], [0.5, 0.0]]).force()?;
    /// let sums: Vec<f64> = m.rows().map(|row| row.iter().sum()).collect();
    /// assert_eq!(sums, [3.5, 0.5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &[T]> + ExactSizeIterator {
        let (n, rows) = match self.shape.as_ref().split_last() {
            Some((n, outer)) => (*n, size_of_counts(outer).unwrap_or(0)),
            None => (0, 0),
        };
        (0..rows).map(move |k| &self[k * n..(k + 1) * n])
    }
}

/// Returns the position of an element in flat data, or none outside.
fn place(shape: &[usize], index: &[usize]) -> Option<usize> {
    if shape.len() != index.len() || index.iter().zip(shape).any(|(i, n)| i >= n) {
        return None;
    }
    Some(index.iter().zip(shape).fold(0, |at, (i, n)| at * n + i))
}

#[track_caller]
fn outside(shape: &[usize], index: &[usize]) -> ! {
    let [shape, index] = [shape, index].map(show_counts);
    panic!("index {index} is outside of an array of shape {shape}")
}

macro_rules! indexed {
    ($($D:ident $Index:ty: $i:ident => $parts:expr;)*) => {$(
        impl<T: Elt> Manifest<T, $D> {
            /// Returns an element by value, or none outside.
            ///
            /// ```
            /// use livefusion::prelude::*;
            /// let m = Array::from([[(1i64, 0.5f64), (2, 1.5)]]).force()?;
            /// assert_eq!((m.get((0, 1)), m.get((1, 0))), (Some((2, 1.5)), None));
            /// # Ok::<(), livefusion::Error>(())
            /// ```
            pub fn get(&self, $i: $Index) -> Option<T> {
                self.at(&$parts)
            }
        }

        impl<T: Scalar> Index<$Index> for Manifest<T, $D> {
            type Output = T;
            /// Returns the element at an index.
            ///
            /// # Panics
            /// If it is outside, as for a slice.
            fn index(&self, $i: $Index) -> &T {
                let parts: &[usize] = &$parts;
                let shape = self.shape.as_ref();
                match place(shape, parts).and_then(|at| self.iter().as_slice().get(at)) {
                    Some(x) => x,
                    None => outside(shape, parts),
                }
            }
        }
    )*};
}

indexed! {
    Ix2 (usize, usize): i => [i.0, i.1];
    Ix3 (usize, usize, usize): i => [i.0, i.1, i.2];
    Ix4 (usize, usize, usize, usize): i => [i.0, i.1, i.2, i.3];
    Ix5 (usize, usize, usize, usize, usize): i => [i.0, i.1, i.2, i.3, i.4];
    Ix6 (usize, usize, usize, usize, usize, usize): i => [i.0, i.1, i.2, i.3, i.4, i.5];
    IxDyn &[usize]: i => *i;
}

impl<T: Elt, D: Dim> Clone for Manifest<T, D> {
    fn clone(&self) -> Manifest<T, D> {
        Manifest {
            columns: self.columns.clone(),
            shape: self.shape.clone(),
            elements: PhantomData,
        }
    }
}

impl<T: Scalar, D: Dim> Deref for Manifest<T, D> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        self.iter().as_slice()
    }
}

impl<T: Elt, D: Dim> Default for Manifest<T, D> {
    /// Returns an array without elements.
    fn default() -> Manifest<T, D> {
        let empty = |ty: &Ty| Arc::new(Buffer::empty(*ty));
        Manifest {
            columns: types_of::<T>().iter().map(empty).collect(),
            shape: D::none(),
            elements: PhantomData,
        }
    }
}

impl<T: Elt, D: Dim> fmt::Debug for Manifest<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::show::elements::<T>(f, &self.columns, self.shape.as_ref())
    }
}

impl<T: Elt, D: Dim> fmt::Display for Manifest<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl<T: Elt, D: Dim> From<&Manifest<T, D>> for Array<T, D> {
    /// Makes the elements an input, without a copy.
    #[track_caller]
    fn from(m: &Manifest<T, D>) -> Array<T, D> {
        Array::from(m.clone())
    }
}

impl<T: Elt, D: Dim> From<Manifest<T, D>> for Array<T, D> {
    /// Makes the elements an input, without a copy.
    #[track_caller]
    fn from(m: Manifest<T, D>) -> Array<T, D> {
        let builder = Builder::named("manifest");
        let shape = m.shape.as_ref().iter().map(|n| builder.length(*n as u64));
        let shape = Shape::new(shape);
        let elements = builder.manifest(m.columns);
        Array::wrap(builder.reshape(&elements, Some(shape).filter(|s| s.rank() > 1)))
    }
}

impl<T: Elt + PartialEq, D: Dim> PartialEq for Manifest<T, D> {
    fn eq(&self, other: &Manifest<T, D>) -> bool {
        self.shape == other.shape && self.elements().eq(other.elements())
    }
}

impl<T: Elt + PartialEq, const N: usize, const M: usize> PartialEq<[[T; M]; N]>
    for Manifest<T, Ix2>
{
    fn eq(&self, other: &[[T; M]; N]) -> bool {
        let mut elements = self.elements();
        self.shape == [N, M]
            && other
                .iter()
                .flatten()
                .all(|x| elements.next().as_ref() == Some(x))
    }
}

impl<T: Elt + PartialEq, const N: usize, const M: usize, const K: usize> PartialEq<[[[T; K]; M]; N]>
    for Manifest<T, Ix3>
{
    fn eq(&self, other: &[[[T; K]; M]; N]) -> bool {
        let mut elements = self.elements();
        let mut others = other.iter().flatten().flatten();
        self.shape == [N, M, K] && others.all(|x| elements.next().as_ref() == Some(x))
    }
}

macro_rules! equals {
    ($(<$($n:ident)?> $t:ty;)*) => {$(
        impl<T: Elt + PartialEq $(, const $n: usize)?> PartialEq<$t> for Manifest<T> {
            fn eq(&self, other: &$t) -> bool {
                self.len() == other.len() && self.elements().zip(other.iter()).all(|(a, b)| a == *b)
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

/// Returns the error that there is no memory for a copy of this many bytes.
pub(crate) fn out_of_memory(bytes: u64) -> Error {
    let limit = u64::MAX;
    Error {
        combinator: "to_vec",
        row: None,
        element: None,
        location: None,
        kind: ErrorKind::Memory { bytes, limit },
    }
}
