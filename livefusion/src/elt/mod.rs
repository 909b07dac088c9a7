//! What arrays hold: scalars, tuples, derived structs; one buffer per field.

mod scalar;
mod tuple;

pub use scalar::{Bits, Float, Int, Num, Scalar};

use crate::ast::Types;
use crate::exp::{Field, Fields, IntoExp, ToExp};
pub use crate::manifest::Rows;
use livefusion_backend::Buffer;
use loop_lang::types::Ty;
use std::fmt;
use std::sync::Arc;

/// An element type: a scalar (`bool`, the integers up to 64 bits, `isize`, `usize`, `f32`, `f64`), a
/// tuple of 2 to 6 elements, or a struct with `#[derive(Elt)]`.
///
/// An array of tuples or structs is stored as one buffer per field, so putting arrays side by side
/// and taking them apart costs nothing. The methods are plumbing that the derive writes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an array element",
    note = "elements are bool, integers up to 64 bits, f32, f64, tuples of 2 to 6 elements, and structs with #[derive(Clone, Elt)]",
    note = "a `Vec` of rows becomes a matrix by `Array::from_vec((rows, columns), v.concat())`, or segments by `Segmented::from(v)`"
)]
pub trait Elt: ToExp<Self> + Clone + Send + Sync + Sized + 'static {
    /// What closures see: `Exp<f64>`, a tuple of such, the struct that the derive makes.
    type Exp: Copy + IntoExp<Elt = Self>;
    /// Number of scalar fields, nested ones counted.
    const FIELDS: u32;
    /// Appends the types of the fields.
    fn types(out: &mut Types);
    /// The expression made of the next fields.
    fn of_fields(next: &mut dyn FnMut(Ty) -> Field) -> Self::Exp;
    /// Appends an expression's fields.
    fn fields(e: Self::Exp, out: &mut Fields);
    /// Appends one buffer per field.
    fn split(values: Vec<Self>, out: &mut Vec<Arc<Buffer>>);
    /// The elements in the next buffers; none if those are of other types, or if there is no memory.
    fn join(columns: &mut dyn Iterator<Item = Arc<Buffer>>) -> Option<Vec<Self>>;
    /// An element of the next buffers; none outside.
    fn read(columns: &mut std::slice::Iter<'_, Arc<Buffer>>, at: usize) -> Option<Self>;
    /// The element that the next canonical words are.
    fn of_words(next: &mut dyn FnMut() -> u64) -> Self;
    /// What a [`Manifest`](crate::Manifest) gives to loops: a slice's iterator for scalars, else [`Rows`].
    type Iter<'a>: DoubleEndedIterator + ExactSizeIterator;
    /// The elements in these buffers, one per field and of the right types.
    fn iter(columns: &[Arc<Buffer>]) -> Self::Iter<'_>;
    /// Writes the element whose fields' texts come next, with names and nesting.
    fn show(next: &mut dyn FnMut() -> String, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// Elements as a vector with room for `n`, which they are at most; none if there is no memory for it.
pub fn collected<T>(n: usize, elements: impl Iterator<Item = T>) -> Option<Vec<T>> {
    let mut all = Vec::new();
    all.try_reserve_exact(n).ok()?;
    all.extend(elements.take(n));
    Some(all)
}
