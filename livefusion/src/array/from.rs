//! Arrays from what is in memory.

use crate::array::{Array, Ix0};
use crate::ast::Builder;
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
