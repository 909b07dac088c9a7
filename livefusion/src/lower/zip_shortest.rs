//! `zip_shortest` of computed inputs: adds no code to its [cursors](super::cursor).
//!
//! A side that ends leaves the loop. Its fields are nevertheless distinct from its inputs' fields,
//! because the inputs may have more elements.

use super::emission::Emission;
use super::placement::{Placer, Spot};
use super::scope::{InputColumn, LoopScope};
use super::{Lower, cursor};
use crate::sharing::{FieldRef, NodeId};

/// Places the demanded elements, after all inputs have one.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let (fields, columns): (Vec<FieldRef>, Vec<InputColumn>) =
        wanted(&p.scope, id).into_iter().unzip();
    let spot = cursor::place(p, id)?;
    p.elts(&columns, spot)?;
    p.run(id, spot);
    fields.into_iter().for_each(|f| p.know(f.into(), spot));
    Ok(())
}

/// Emits its elements, which are its inputs' elements.
pub fn emit(e: &mut Emission<'_>, id: NodeId, spot: Spot) -> Lower {
    e.comb_at(id, spot);
    for (field, column) in wanted(&e.scope, id) {
        let value = e.elt(column, spot)?;
        e.values.set_column(field.into(), spot, value);
    }
    Ok(())
}

/// The demanded fields, and the input columns with their values.
fn wanted(scope: &LoopScope<'_>, id: NodeId) -> Vec<(FieldRef, InputColumn)> {
    let fields = (0..).map(|f| (id, f)).zip(scope.all_columns(id));
    let wanted = fields.zip(scope.demanded(id)).filter(|(_, wanted)| *wanted);
    wanted.map(|(field, _)| field).collect()
}
