//! Element types: scalars, tuples and derived structs, with one buffer per field.

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

/// Describes an element type.
///
/// It is a scalar (`bool`, the integers up to 64 bits, `isize`, `usize`, `f32`, `f64`), a tuple of
/// 2 to 6 elements, or a struct with `#[derive(Elt)]`.
///
/// An array of tuples or structs is stored as one buffer per field. So zipping and unzipping arrays
/// costs nothing. The derive implements the methods, which are internal.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an array element",
    note = "elements are bool, integers up to 64 bits, f32, f64, tuples of 2 to 6 elements, and structs with #[derive(Clone, Elt)]",
    note = "a `Vec` of rows becomes a matrix by `Array::from_vec((rows, columns), v.concat())`, or segments by `Segmented::from(v)`"
)]
pub trait Elt: ToExp<Self> + Clone + Send + Sync + Sized + 'static {
    /// Names the type in closures: `Exp<f64>`, a tuple of expressions, or the derived struct.
    type Exp: Copy + IntoExp<Elt = Self>;
    /// Counts the scalar fields, including nested ones.
    const FIELDS: u32;
    /// Appends the types of the fields.
    fn types(out: &mut Types);
    /// Builds an expression from the next fields.
    fn of_fields(next: &mut dyn FnMut(Ty) -> Field) -> Self::Exp;
    /// Appends an expression's fields.
    fn fields(e: Self::Exp, out: &mut Fields);
    /// Appends one buffer per field.
    fn split(values: Vec<Self>, out: &mut Vec<Arc<Buffer>>);
    /// Returns the elements in the next buffers. `None` if the types differ or memory runs out.
    fn join(columns: &mut dyn Iterator<Item = Arc<Buffer>>) -> Option<Vec<Self>>;
    /// Reads an element of the next buffers. `None` if the index is out of range.
    fn read(columns: &mut std::slice::Iter<'_, Arc<Buffer>>, at: usize) -> Option<Self>;
    /// Decodes an element from the next canonical words.
    fn of_words(next: &mut dyn FnMut() -> u64) -> Self;
    /// Names the iterator of a [`Manifest`](crate::Manifest): that of a slice for scalars, else
    /// [`Rows`].
    type Iter<'a>: DoubleEndedIterator + ExactSizeIterator;
    /// Iterates over the elements in buffers, one per field and of the right types.
    fn iter(columns: &[Arc<Buffer>]) -> Self::Iter<'_>;
    /// Writes an element, given the texts of its fields, with names and nesting.
    fn show(next: &mut dyn FnMut() -> String, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// Collects at most `n` elements into a vector.
///
/// `None` if there is not enough memory.
pub fn collected<T>(n: usize, elements: impl Iterator<Item = T>) -> Option<Vec<T>> {
    let mut all = Vec::new();
    all.try_reserve_exact(n).ok()?;
    all.extend(elements.take(n));
    Some(all)
}
