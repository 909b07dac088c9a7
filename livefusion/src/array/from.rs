//! Arrays from what is in memory.

use crate::array::{Array, IntoShape, Ix0, Ix2, Ix3};
use crate::ast::{Builder, Shape};
use crate::elt::Elt;
use crate::exp::{IntoExp, value};

impl<T: Elt> From<Vec<T>> for Array<T> {
    /// Wraps a vector: no copy for scalars; tuples and structs are taken apart into columns.
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
    /// Copies arrays of arrays of arrays.
    #[track_caller]
    fn from(planes: [[[T; K]; M]; N]) -> Array<T, Ix3> {
        let all = planes.into_iter().flatten().flatten().collect();
        Array::wrap(shaped(all, &[N, M, K]))
    }
}

/// Elements in memory under a shape.
#[track_caller]
fn shaped<T: Elt>(values: Vec<T>, shape: &[usize]) -> std::sync::Arc<crate::ast::Node> {
    let builder = Builder::named("manifest");
    let axes = shape.iter().map(|n| builder.length(*n as u64));
    builder.reshape(Array::from(values).node(), Some(Shape::new(axes)))
}

impl<T: Elt, D: crate::array::Dim> Array<T, D> {
    /// The elements of a vector, row by row, under a shape. Scalars are not copied.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from_vec((2, 3), vec![1i64, 2, 3, 4, 5, 6]);
    /// assert_eq!(m.sum_axis(1).force()?, [6, 15]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// When forced: if there are not as many elements as the shape has, or a length is negative.
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
    /// A delayed scalar of a value that is known already, or that is made of delayed scalars.
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
        Array::wrap(Builder::named("scalar").compute(value::<T>(|| x.to_exp())))
    }
}
