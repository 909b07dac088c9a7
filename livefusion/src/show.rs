//! How values and delayed arrays are written for people. Nothing here forces.

use crate::ast::{Kind, Node, Value};
use crate::elt::Elt;
use loop_lang::types::Ty;
use std::fmt::{self, Write};

/// A canonical word as a Rust literal without suffix.
pub(crate) fn word(ty: Ty, word: u64) -> String {
    match ty {
        Ty::Bool => (word != 0).to_string(),
        Ty::F32 => format!("{:?}", f32::from_bits(word as u32)),
        Ty::F64 => format!("{:?}", f64::from_bits(word)),
        _ if ty.is_signed() => (word as i64).to_string(),
        _ => word.to_string(),
    }
}

/// Elements shown at either end of a long array.
const ENDS: usize = 4;
/// Combinators shown above an array's own.
const DEPTH: u32 = 3;

/// A node: its elements if they are in memory, else the combinators that lead to it.
pub(crate) fn node<T: Elt>(f: &mut fmt::Formatter<'_>, n: &Node) -> fmt::Result {
    match n.value.get() {
        Some(v) => value::<T>(f, v),
        None => combinators(f, n, DEPTH),
    }
}

/// `[1.0, 2.0, ..., 9.0]`; tuples and structs as Rust writes them.
pub(crate) fn value<T: Elt>(f: &mut fmt::Formatter<'_>, v: &Value) -> fmt::Result {
    match v {
        Value::Scalar(fields) => {
            let mut fields = fields.iter();
            let mut next = || {
                fields
                    .next()
                    .map_or_else(String::new, |c| word(c.ty, c.bits))
            };
            T::show(&mut next, f)
        }
        Value::Array(columns) => {
            let len = columns.first().map_or(0, |c| c.len());
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
                let mut columns = columns.iter();
                let mut next = || {
                    let field = columns.next().and_then(|c| Some((c.ty(), c.get_word(at)?)));
                    field.map_or_else(String::new, |(ty, w)| word(ty, w))
                };
                T::show(&mut next, f)?;
            }
            f.write_char(']')
        }
    }
}

/// `sum(map(filter(f64[100])))`, cut off where it gets deep.
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
        if input.value.get().is_some() {
            in_memory(f, input)?;
        } else {
            combinators(f, input, depth - 1)?;
        }
    }
    f.write_char(')')
}

/// `f64[100]`: types and length of what is in memory.
fn in_memory(f: &mut fmt::Formatter<'_>, n: &Node) -> fmt::Result {
    f.write_str(&crate::ast::show_types(&n.types))?;
    match n.known_len() {
        Some(len) if n.rank > 0 => write!(f, "[{len}]"),
        _ => Ok(()),
    }
}
