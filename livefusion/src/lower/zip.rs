//! `zip`: emits only the [check](super::lengths) that lengths agree.
//!
//! The elements are the inputs' fields. Lengths that are known to be equal before the loop starts
//! need no check.

use super::emission::Emission;
use super::placement::{Placer, Point};
use super::scope::InputColumn;
use super::{Lower, cursor, lengths};
use crate::sharing::NodeId;

/// Places a zip with a length check.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let columns = p.scope.all_columns(id);
    let point = place_inputs(p, id, &columns)?;
    p.run(id, point);
    Ok(())
}

/// Finds the program point of a node that zips these columns.
///
/// Checks their lengths.
pub fn place_inputs(p: &mut Placer<'_>, id: NodeId, columns: &[InputColumn]) -> Lower<Point> {
    if p.scope.plan.rates.sides(id).is_some() {
        return cursor::place(p, id);
    }
    let inputs = p.scope.inputs(id);
    p.enter(id, inputs)?;
    let point = p.point_where(id, columns)?;
    // The first zip of these inputs checks their lengths; a later co-consumer need not.
    if p.scope.plan.rates.equal_zip(id).is_none() {
        lengths::check_together(p, id, 0..inputs.len(), point);
    }
    Ok(point)
}

/// Adds the zip to the loop, without code.
pub fn emit(e: &mut Emission<'_>, id: NodeId, point: Point) -> Lower {
    e.comb_at(id, point);
    Ok(())
}
