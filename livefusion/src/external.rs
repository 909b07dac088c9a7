//! User functions on whole arrays, as nodes of a program: [`Array::external`].

use crate::array::Array;
use crate::ast::{Buffer, Builder, Function, Gives, Types, Value};
use crate::elt::Scalar;
use crate::error::ErrorKind;
use loop_lang::types::Ty;
use std::marker::PhantomData;
use std::panic::RefUnwindSafe;
use std::sync::Arc;

/// A function of a slice.
struct OfSlice<F, T, U>(F, PhantomData<fn(T) -> U>);

impl<T: Scalar, U: Scalar, F> Function for OfSlice<F, T, U>
where
    F: Fn(&[T]) -> Vec<U> + Send + Sync + RefUnwindSafe,
{
    fn call(&self, inputs: &[Value], _: usize) -> Result<Value, ErrorKind> {
        let column = match inputs {
            [Value::Array(columns)] => columns.first(),
            _ => None,
        };
        let elements = column.and_then(|column| column.as_slice::<T>());
        let elements = elements.ok_or_else(|| ErrorKind::Malformed {
            expected: format!("elements of type {}", T::TY),
            got: "something else".into(),
        })?;
        let made = Buffer::from_vec((self.0)(elements));
        Ok(Value::Array(vec![Arc::new(made)]))
    }
}

impl<T: Scalar> Array<T> {
    /// Applies a function of yours to all elements at once.
    ///
    /// Examples are a library's transform or a solver. The function is called once for its result,
    /// when a consumer of the result is forced.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 3]).map(|x| x * 10);
    /// let rotated = xs.external(|xs| {
    ///     let mut ys = xs.to_vec();
    ///     ys.rotate_left(1);
    ///     ys
    /// });
    /// assert_eq!(rotated.map(|y| y + 1).force()?, [21, 31, 11]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// Functions of several inputs, of tuples or of scalars are [`Function`]s, for
    /// [`Builder::external`](crate::ast::Builder::external). So are functions that can fail, or
    /// whose bits differ from call to call.
    ///
    /// *Cost and fusion.* Nothing fuses across it, as [`explain`](crate::Force::explain) reports:
    /// it takes a slice and returns a `Vec`. Producers of its elements run in the loop before it,
    /// and consumers of its result in the loop after it.
    ///
    /// # Errors
    /// None of its own. It is called on the forcing thread. A panic propagates to the caller of the
    /// force. Inputs and engine stay usable, and the next force calls the function again.
    #[doc(alias("apply", "pipe", "custom", "foreign"))]
    #[track_caller]
    pub fn external<U: Scalar>(
        &self,
        f: impl Fn(&[T]) -> Vec<U> + Send + Sync + RefUnwindSafe + 'static,
    ) -> Array<U> {
        let gives = Gives {
            types: Types::from_slice(&[U::TY]),
            rank: 1,
            like: None,
        };
        let function = Arc::new(OfSlice(f, PhantomData));
        let inputs = std::slice::from_ref(self.node());
        Array::wrap(Builder::named("external").external(inputs, gives, function))
    }
}

/// Returns the error that there is no memory for a function's result.
pub(crate) fn no_memory(bytes: usize) -> ErrorKind {
    ErrorKind::Memory {
        bytes: bytes as u64,
        limit: u64::MAX,
    }
}

/// Allocates a function's result, all of which it writes. Large arrays reuse the pages of dropped
/// ones, because fresh pages cost as much as many a loop.
pub(crate) fn uncleared(ty: Ty, len: usize) -> Result<Buffer, ErrorKind> {
    Buffer::uncleared(ty, len).ok_or_else(|| no_memory(len.saturating_mul(ty.size())))
}

/// Works as [`uncleared`], but with zeros.
pub(crate) fn zeros(ty: Ty, len: usize) -> Result<Buffer, ErrorKind> {
    Buffer::zeroed(ty, len).ok_or_else(|| no_memory(len.saturating_mul(ty.size())))
}

/// Allocates a vector of this capacity, or returns an error: for scratch memory and for results
/// that are pushed.
pub(crate) fn reserved<T>(len: usize) -> Result<Vec<T>, ErrorKind> {
    let mut reserved = Vec::new();
    match reserved.try_reserve_exact(len) {
        Ok(()) => Ok(reserved),
        Err(_) => Err(no_memory(len.saturating_mul(size_of::<T>()))),
    }
}
