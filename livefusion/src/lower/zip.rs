//! `zip`: no code for the elements, which are their inputs' fields; only the [check](super::lengths) that
//! lengths agree, where that is not known before the loop starts.

use super::anatomy::{Anatomy, Lower, Spot};
use super::{cursor, lengths};
use crate::sharing::NodeId;

/// Lowers a zip that has something to check.
pub fn lower(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let spot = enter(a, id)?;
    a.comb_at(id, spot);
    Ok(())
}

/// Where all inputs of a node have an element, which is checked.
pub fn enter(a: &mut Anatomy<'_>, id: NodeId) -> Lower<Spot> {
    if a.plan.rates.sides(id).is_some() {
        return cursor::lower(a, id);
    }
    let all = 0..a.graph.nodes[id.index()].inputs.len();
    let spot = a.spot_of(id, all.clone())?;
    lengths::check_together(a, id, all, spot)?;
    Ok(spot)
}
