//! Arrays of the `ndarray` crate, in and out.

use crate::array::Array;
use crate::elt::{Elt, Scalar};
use crate::error::Result;
use crate::manifest::Manifest;
use ndarray::{Array1, ArrayView1};

impl<T: Elt> From<Array1<T>> for Array<T> {
    /// Wraps an owned array: scalars are not copied if they lie one behind the other and the memory
    /// holds nothing else.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(ndarray::array![1.0, 2.0, 3.0]);
    /// assert_eq!(xs.sum().force()?, 6.0);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    fn from(xs: Array1<T>) -> Array<T> {
        if !xs.is_standard_layout() {
            return Array::from(xs.view());
        }
        let len = xs.len();
        match xs.into_raw_vec_and_offset() {
            (values, None | Some(0)) if values.len() == len => Array::from(values),
            (values, offset) => {
                let start = offset.unwrap_or(0);
                Array::from(values.get(start..start + len).unwrap_or_default())
            }
        }
    }
}

impl<T: Elt> From<ArrayView1<'_, T>> for Array<T> {
    /// Copies a view.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let table = ndarray::array![[1, 2], [3, 4]];
    /// assert_eq!(Array::from(table.column(1)).force()?, [2, 4]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    fn from(xs: ArrayView1<'_, T>) -> Array<T> {
        Array::from(xs.iter().cloned().collect::<Vec<T>>())
    }
}

impl<T: Elt> Array<T> {
    /// The elements, computed, as an owned array of `ndarray`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1.0f64, 2.0]).map(|x| 2.0 * x);
    /// assert_eq!(xs.to_ndarray()?, ndarray::array![2.0, 4.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`force`](Array::force).
    pub fn to_ndarray(&self) -> Result<Array1<T>> {
        Ok(Array1::from_vec(self.to_vec()?))
    }
}

impl<T: Scalar> Manifest<T> {
    /// The elements as a view of `ndarray`, without a copy.
    pub fn as_ndarray(&self) -> ArrayView1<'_, T> {
        ArrayView1::from(&self[..])
    }
}
