//! Iterators over the elements of arrays in memory.

use super::Manifest;
use crate::array::Dim;
use crate::elt::Elt;
use livefusion_backend::Buffer;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

impl<T: Elt, D: Dim> IntoIterator for Manifest<T, D> {
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

impl<'a, T: Elt, D: Dim> IntoIterator for &'a Manifest<T, D> {
    type Item = <T::Iter<'a> as Iterator>::Item;
    type IntoIter = T::Iter<'a>;
    fn into_iter(self) -> T::Iter<'a> {
        self.iter()
    }
}

/// Iterates over the elements of a consumed [`Manifest`] by value.
///
/// They are not copied as a whole.
#[derive(Clone, Debug)]
pub struct IntoIter<T> {
    columns: Vec<Arc<Buffer>>,
    range: Range<usize>,
    elements: PhantomData<fn() -> T>,
}

/// Iterates over the elements of a [`Manifest`], assembled from their fields.
#[derive(Clone, Debug)]
pub struct Rows<'a, T> {
    columns: &'a [Arc<Buffer>],
    range: Range<usize>,
    elements: PhantomData<fn() -> T>,
}

impl<'a, T: Elt> Rows<'a, T> {
    /// Iterates over the elements of these buffers, one per field of `T`.
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
