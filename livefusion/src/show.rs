//! Formatting of values and delayed arrays for people. Nothing here forces.

use crate::ast::{Axis, Kind, Node, Value};
use crate::elt::Elt;
use livefusion_backend::Buffer;
use loop_lang::types::Const;
use std::fmt::{self, Write};
use std::sync::Arc;

/// Elements shown at either end of a long array.
const ENDS: usize = 4;
/// Combinators shown above an array's own.
const DEPTH: u32 = 3;

/// Shows a node: its elements if they are in memory, or else its chain of combinators.
pub(crate) fn node<T: Elt>(f: &mut fmt::Formatter<'_>, n: &Node) -> fmt::Result {
    match value_of(n) {
        Some(Value::Array(columns)) => {
            let len = columns.first().map_or(0, |c| c.len());
            let axes = n.shape.as_ref().map_or(&[][..], |s| s.axes());
            let known: Option<Vec<u64>> = axes.iter().map(Axis::known).collect();
            let shape: Vec<usize> = known
                .unwrap_or_default()
                .iter()
                .map(|n| *n as usize)
                .collect();
            // Lengths that are unknown, or do not match: the elements row by row.
            match crate::array::size_of_counts(&shape) == Some(len) && !shape.is_empty() {
                true => elements::<T>(f, columns, &shape),
                false => elements::<T>(f, columns, &[len]),
            }
        }
        Some(Value::Scalar(fields)) => {
            let mut fields = fields.iter();
            let mut next = || fields.next().map_or_else(String::new, |c| c.bare());
            T::show(&mut next, f)
        }
        None => combinators(f, n, DEPTH),
    }
}

/// Returns a node's value, or that of the array it reshapes.
fn value_of(n: &Node) -> Option<&Value> {
    match (n.value.get(), &n.kind, n.inputs.as_slice()) {
        (Some(value), ..) => Some(value),
        (None, Kind::Zip, [flat]) if n.error.is_none() => flat.value.get(),
        _ => None,
    }
}

/// Shows `[1.0, 2.0, ..., 9.0]`, nested by the shape; tuples and structs as in Rust.
pub(crate) fn elements<T: Elt>(
    f: &mut fmt::Formatter<'_>,
    columns: &[Arc<Buffer>],
    shape: &[usize],
) -> fmt::Result {
    rows::<T>(f, columns, shape, 0)
}

/// Shows the elements of this shape that begin at a position.
fn rows<T: Elt>(
    f: &mut fmt::Formatter<'_>,
    columns: &[Arc<Buffer>],
    shape: &[usize],
    start: usize,
) -> fmt::Result {
    let Some((len, inner)) = shape.split_first() else {
        let mut columns = columns.iter();
        let mut next = || {
            let field = columns
                .next()
                .and_then(|c| Some(Const::new(c.ty(), c.get_word(start)?)));
            field.map_or_else(String::new, Const::bare)
        };
        return T::show(&mut next, f);
    };
    let len = *len;
    let size: usize = inner.iter().product();
    let hidden = match len > 2 * ENDS + 1 {
        true => ENDS..len - ENDS,
        false => len..len,
    };
    f.write_char('[')?;
    for at in (0..hidden.start).chain(hidden.end..len) {
        if at > 0 {
            f.write_str(", ")?;
        }
        if at == hidden.end {
            f.write_str("..., ")?;
        }
        rows::<T>(f, columns, inner, start + at * size)?;
    }
    f.write_char(']')
}

/// Shows `sum(map(filter(f64[100])))`, cut off at a depth.
fn combinators(f: &mut fmt::Formatter<'_>, n: &Node, depth: u32) -> fmt::Result {
    if let (Kind::Manifest, Some(Value::Array(_))) = (&n.kind, n.value.get()) {
        return in_memory(f, n);
    }
    f.write_str(n.name)?;
    if n.inputs.is_empty() {
        return Ok(());
    }
    if depth == 0 {
        return f.write_str("(..)");
    }
    f.write_char('(')?;
    for (i, input) in n.inputs.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        if value_of(input).is_some() {
            in_memory(f, input)?;
        } else {
            combinators(f, input, depth - 1)?;
        }
    }
    f.write_char(')')
}

/// Shows `f64[100]`: types and length of an array in memory.
fn in_memory(f: &mut fmt::Formatter<'_>, n: &Node) -> fmt::Result {
    f.write_str(&n.show_shape())
}
