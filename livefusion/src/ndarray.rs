//! Conversions to and from arrays of the `ndarray` crate, of every rank.

use crate::array::{Array, Dim, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn};
use crate::ast::{Builder, Shape};
use crate::elt::{Elt, Scalar};
use crate::error::{Error, ErrorKind, Result};
use crate::manifest::Manifest;
use ndarray::{ArrayView, Dimension};

/// Lists the ranks that `ndarray` has, too.
pub trait Shared: Dim {
    /// The rank's type in `ndarray`.
    type There: Dimension;
    /// Converts the lengths of the axes.
    #[doc(hidden)]
    fn there(counts: &Self::Counts) -> Self::There;
}

macro_rules! shared {
    ($($D:ident)*) => {$(
        impl Shared for $D {
            type There = ndarray::$D;
            fn there(counts: &Self::Counts) -> ndarray::$D {
                ndarray::IntoDimension::into_dimension(counts.clone())
            }
        }

        impl<T: Elt> From<ndarray::Array<T, ndarray::$D>> for Array<T, $D> {
            /// Wraps an owned array. Scalars are not copied if they are contiguous, row by row, and
            /// the memory holds nothing else.
            ///
            /// ```
            /// use livefusion::prelude::*;
            /// let xs = Array::from(ndarray::array![1.0, 2.0, 3.0]);
            /// assert_eq!(xs.sum().force()?, 6.0);
            /// let m = Array::from(ndarray::array![[1, 2], [3, 4]]);
            /// assert_eq!(m.along(0).sum().force()?, [4, 6]);
            /// # Ok::<(), livefusion::Error>(())
            /// ```
            #[track_caller]
            fn from(xs: ndarray::Array<T, ndarray::$D>) -> Array<T, $D> {
                owned(xs)
            }
        }

        impl<T: Elt> From<ArrayView<'_, T, ndarray::$D>> for Array<T, $D> {
            /// Copies a view, of any strides.
            ///
            /// ```
            /// use livefusion::prelude::*;
            /// let table = ndarray::array![[1, 2], [3, 4]];
            /// assert_eq!(Array::from(table.column(1)).force()?, [2, 4]);
            /// assert_eq!(Array::from(table.t()).force()?, [[1, 3], [2, 4]]);
            /// # Ok::<(), livefusion::Error>(())
            /// ```
            #[track_caller]
            fn from(xs: ArrayView<'_, T, ndarray::$D>) -> Array<T, $D> {
                viewed(xs)
            }
        }
    )*};
}

shared!(Ix1 Ix2 Ix3 Ix4 Ix5 Ix6 IxDyn);

/// Makes an array of elements in row-major order and a shape. Without axes it is one element.
#[track_caller]
fn shaped<T: Elt, D: Dim>(values: Vec<T>, shape: &[usize]) -> Array<T, D> {
    let builder = Builder::named("manifest");
    let axes = shape.iter().map(|n| builder.length(*n as u64));
    let shape = Shape::new(axes);
    let elements = Array::from(values);
    let shape = Some(shape).filter(|s| s.rank() > 1);
    Array::checked(builder, builder.reshape(elements.node(), shape))
}

#[track_caller]
fn owned<T: Elt, D: Dim, N: Dimension>(xs: ndarray::Array<T, N>) -> Array<T, D> {
    if !xs.is_standard_layout() {
        return viewed(xs.view());
    }
    let (len, shape) = (xs.len(), xs.shape().to_vec());
    let values = match xs.into_raw_vec_and_offset() {
        (values, None | Some(0)) if values.len() == len => values,
        (values, offset) => {
            let start = offset.unwrap_or(0);
            values.get(start..start + len).unwrap_or_default().to_vec()
        }
    };
    shaped(values, &shape)
}

#[track_caller]
fn viewed<T: Elt, D: Dim, N: Dimension>(xs: ArrayView<'_, T, N>) -> Array<T, D> {
    let shape = xs.shape().to_vec();
    shaped(xs.iter().cloned().collect(), &shape)
}

impl<T: Elt, D: Shared + crate::array::Rank<Out<T> = Manifest<T, D>>> Array<T, D> {
    /// Forces the array, and returns an owned array of `ndarray`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1.0f64, 2.0]).map(|x| 2.0 * x);
    /// assert_eq!(xs.to_ndarray()?, ndarray::array![2.0, 4.0]);
    /// let m = generate((2, 2), |(i, j)| 2 * i + j);
    /// assert_eq!(m.to_ndarray()?, ndarray::array![[0, 1], [2, 3]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`force`](Array::force).
    pub fn to_ndarray(&self) -> Result<ndarray::Array<T, D::There>> {
        self.force()?.into_ndarray()
    }
}

impl<T: Elt, D: Shared> Manifest<T, D> {
    /// Converts the elements to an owned array of `ndarray`.
    ///
    /// It copies only where [`into_vec`](Manifest::into_vec) does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = generate((2, 2), |(i, j)| 2 * i + j).force()?;
    /// assert_eq!(m.into_ndarray()?, ndarray::array![[0, 1], [2, 3]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if there is not enough memory for a copy.
    pub fn into_ndarray(self) -> Result<ndarray::Array<T, D::There>> {
        let shape = D::there(&self.shape());
        let made = ndarray::Array::from_shape_vec(shape, self.into_vec()?);
        made.map_err(|e| Error {
            combinator: "into_ndarray",
            row: None,
            element: None,
            location: None,
            kind: ErrorKind::Malformed {
                expected: "a shape that ndarray takes".to_string(),
                got: e.to_string(),
            },
        })
    }
}

impl<T: Scalar, D: Shared> Manifest<T, D> {
    /// Returns the elements as a view of `ndarray`, without a copy.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = generate((2, 2), |(i, j)| 2 * i + j).force()?;
    /// assert_eq!(m.as_ndarray().row(1).sum(), 5);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Panics
    /// If `ndarray` rejects the shape because it has more elements than an `isize` counts.
    pub fn as_ndarray(&self) -> ArrayView<'_, T, D::There> {
        let shape = D::there(&self.shape());
        let view = ArrayView::from_shape(shape, self);
        view.expect("a shape of as many elements as there are")
    }
}
