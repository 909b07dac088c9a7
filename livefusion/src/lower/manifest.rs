//! Arrays in memory: read in step, one element per iteration of their rate.
//!
//! ```text
//! init_0:  let len_0 = arrayLength arr_0        body_0:  let elt_0 = readArray arr_0 ix_0
//! ```

use super::Lower;
use super::emission::Emission;
use super::placement::{LengthSource, Point};
use super::scope::InputColumn;
use crate::sharing::FieldRef;

/// Emits the root rate over an array in memory.
pub fn emit_open(e: &mut Emission<'_>, field: FieldRef) -> Lower {
    let comb = e.unhomed_comb(field.0);
    let bound = e.length(LengthSource::Array(field), comb)?;
    e.open_root(comb, bound);
    Ok(())
}

/// Emits the read of a column's current element.
///
/// The index is a rate's counter, or a subrate's count.
pub fn emit_read(e: &mut Emission<'_>, column: InputColumn, point: Point) -> Lower {
    e.comb_at(column.field.0, point);
    let array = e.array(column.field);
    e.read_here(column, array, point, "elt")
}
