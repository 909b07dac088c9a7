//! Arrays from data in memory.

use crate::array::{Array, IntoShape, Ix0, Ix2, Ix3};
use crate::ast::{Builder, Shape};
use crate::elt::{Elt, Scalar};
use crate::error::ErrorKind;
use crate::exp::{IntoExp, ToExp, types_of, value};
use livefusion_backend::Buffer;
use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

impl<T: Elt> From<Vec<T>> for Array<T> {
    /// Wraps a vector. Scalars are not copied; tuples and structs are split into columns.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let ps = Array::from(vec![(1i64, 2.0f64), (3, 4.0)]);
    /// assert_eq!(ps.map(|(n, x)| n.cast::<f64>() * x).force()?, [2.0, 12.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    fn from(values: Vec<T>) -> Array<T> {
        let builder = Builder::named("manifest");
        let mut columns = Vec::with_capacity(T::FIELDS as usize);
        T::split(values, &mut columns);
        Array::wrap(builder.manifest(columns))
    }
}

impl<T: Elt> From<&[T]> for Array<T> {
    /// Copies a slice.
    #[track_caller]
    fn from(values: &[T]) -> Array<T> {
        Array::from(values.to_vec())
    }
}

impl<T: Elt> From<&Vec<T>> for Array<T> {
    /// Copies a vector.
    #[track_caller]
    fn from(values: &Vec<T>) -> Array<T> {
        Array::from(values.clone())
    }
}

impl<T: Elt, const N: usize> From<[T; N]> for Array<T> {
    /// Copies an array.
    #[track_caller]
    fn from(values: [T; N]) -> Array<T> {
        Array::from(Vec::from(values))
    }
}

impl<T: Elt, const N: usize, const M: usize> From<[[T; M]; N]> for Array<T, Ix2> {
    /// Copies the rows of a matrix.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1.0f64, 2.0], [3.0, 4.0]]);
    /// assert_eq!(m.transpose().force()?, [[1.0, 3.0], [2.0, 4.0]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    fn from(rows: [[T; M]; N]) -> Array<T, Ix2> {
        let all = rows.into_iter().flatten().collect();
        Array::wrap(shaped(all, &[N, M]))
    }
}

impl<T: Elt, const N: usize, const M: usize, const K: usize> From<[[[T; K]; M]; N]>
    for Array<T, Ix3>
{
    /// Copies the planes of an array of rank 3.
    #[track_caller]
    fn from(planes: [[[T; K]; M]; N]) -> Array<T, Ix3> {
        let all = planes.into_iter().flatten().flatten().collect();
        Array::wrap(shaped(all, &[N, M, K]))
    }
}

impl<T: Scalar> Array<T> {
    /// Wraps foreign memory without a copy.
    ///
    /// The memory is only read. Results that could reuse it (of [`update`](Array::update), or of
    /// loops over arrays) are stored elsewhere. `owner` is dropped when neither this array nor a
    /// result that reads it is needed any more. The drop can happen on any thread. To free the
    /// memory by a function, call that function in the `Drop` of the owner's type.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use std::{ptr::NonNull, sync::Arc};
    /// let owner: Arc<[f64]> = Arc::from([1.5, 2.5]); // as another library would hold it
    /// let at = NonNull::from(&*owner).cast();
    /// // SAFETY: the owner keeps its two numbers where they are, and nobody changes them.
    /// let xs = unsafe { Array::<f64>::foreign(at, 2, Arc::new(owner)) };
    /// assert_eq!(xs.sum().force()?, 4.0);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Safety
    /// While `owner` lives, `ptr` points to `len` initialised elements in one allocation, and
    /// nobody writes to them. `bool`s are bytes 0 or 1.
    ///
    /// # Errors
    /// When forced: if `ptr` is not aligned for `T`.
    #[doc(alias("from_raw_parts", "from_custom_allocation", "frombuffer"))]
    #[track_caller]
    pub unsafe fn foreign(
        ptr: NonNull<T>,
        len: usize,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Array<T> {
        let builder = Builder::named("foreign");
        // SAFETY: the caller guarantees the same conditions that `Buffer::foreign` requires.
        let elements = unsafe { Buffer::foreign(T::TY, len, ptr.cast(), owner) };
        Array::wrap(match elements {
            Some(elements) => builder.manifest(vec![Arc::new(elements)]),
            None => {
                let expected = format!("memory at a multiple of {} bytes", align_of::<T>());
                let got = format!("memory at {ptr:p}");
                let kind = ErrorKind::Malformed { expected, got };
                builder.fault(&types_of::<T>(), 1, kind)
            }
        })
    }
}

impl<T: Elt, const M: usize> From<Vec<[T; M]>> for Array<T, Ix2> {
    /// Copies the rows of a matrix.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from(vec![[1.0f64, 2.0], [3.0, 4.0]]);
    /// assert_eq!(m.along(1).sum().force()?, [3.0, 7.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    fn from(rows: Vec<[T; M]>) -> Array<T, Ix2> {
        let count = rows.len();
        let all = rows.into_iter().flatten().collect();
        Array::wrap(shaped(all, &[count, M]))
    }
}

/// Wraps elements in memory under a shape.
#[track_caller]
fn shaped<T: Elt>(values: Vec<T>, shape: &[usize]) -> Arc<crate::ast::Node> {
    let builder = Builder::named("manifest");
    let axes = shape.iter().map(|n| builder.length(*n as u64));
    builder.reshape(Array::from(values).node(), Some(Shape::new(axes)))
}

impl<T: Elt, D: crate::array::Dim> Array<T, D> {
    /// Wraps a vector under a shape, row by row.
    ///
    /// Scalars are not copied.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from_vec((2, 3), vec![1i64, 2, 3, 4, 5, 6]);
    /// assert_eq!(m.along(1).sum().force()?, [6, 15]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if the vector does not have as many elements as the shape, or a length is
    /// negative.
    #[track_caller]
    pub fn from_vec(shape: impl IntoShape<Rank = D>, values: Vec<T>) -> Array<T, D> {
        let builder = Builder::named("from_vec");
        let elements = Array::from(values);
        crate::ranked::reshaped(builder, elements.node(), shape.into_shape(builder))
    }
}

impl<T: Elt> FromIterator<T> for Array<T> {
    /// Collects an iterator.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs: Array<u32> = (1..=4).collect();
    /// assert_eq!(xs.product().force()?, 24);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Array<T> {
        Array::from(values.into_iter().collect::<Vec<T>>())
    }
}

impl<T: Elt> Array<T, Ix0> {
    /// Wraps a known value, or an expression of delayed scalars, as a delayed scalar.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let a = Array::scalar(2.0f64);
    /// let b = Array::scalar(a.clone());
    /// assert_eq!((a + b).force()?, 4.0);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn scalar(x: impl IntoExp<Elt = T>) -> Array<T, Ix0> {
        Array::of_value(x)
    }

    /// As [`scalar`](Array::scalar), with a given type.
    #[track_caller]
    pub(crate) fn of_value(x: impl ToExp<T>) -> Array<T, Ix0> {
        Array::wrap(Builder::named("scalar").compute(value::<T>(|| x.to_exp())))
    }
}
