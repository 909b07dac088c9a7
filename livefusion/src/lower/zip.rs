//! `zip`: no code for the elements, which are their inputs' fields; only the [check](super::lengths) that
//! lengths agree, where that is not known before the loop starts.

use super::emission::Emission;
use super::placement::{Placer, Spot};
use super::scope::Column;
use super::{Lower, cursor, lengths};
use crate::sharing::NodeId;

/// Places a zip that has something to check.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let columns = p.scope.all_columns(id);
    let spot = place_inputs(p, id, &columns)?;
    p.run(id, spot);
    Ok(())
}

/// Finds where these columns of a node's inputs have an element, which are checked.
pub fn place_inputs(p: &mut Placer<'_>, id: NodeId, columns: &[Column]) -> Lower<Spot> {
    if p.scope.plan.rates.sides(id).is_some() {
        return cursor::place(p, id);
    }
    let inputs = p.scope.inputs(id);
    p.enter(id, inputs)?;
    let spot = p.spot_where(id, columns)?;
    // A twin's inputs are as long as each other, which the first zip of them checks.
    if p.scope.plan.rates.twin_of(id).is_none() {
        lengths::check_together(p, id, 0..inputs.len(), spot);
    }
    Ok(spot)
}

/// A zip takes part in the loop, where it is.
pub fn emit(e: &mut Emission<'_>, id: NodeId, spot: Spot) -> Lower {
    e.comb_at(id, spot);
    Ok(())
}
