//! `zip_shortest` of computed inputs: adds no code to its [cursors](super::cursor).
//!
//! A side that ends leaves the loop. Its fields are nevertheless distinct from its inputs' fields,
//! because the inputs may have more elements.

use super::emission::Emission;
use super::placement::{Placer, Point};
use super::scope::{InputColumn, LoopScope};
use super::{Lower, cursor};
use crate::sharing::{FieldRef, NodeId};

/// Places the demanded elements, after all inputs have one.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let (fields, columns): (Vec<FieldRef>, Vec<InputColumn>) =
        wanted(&p.scope, id).into_iter().unzip();
    let point = cursor::place(p, id)?;
    p.elts(&columns, point)?;
    p.run(id, point);
    fields.into_iter().for_each(|f| p.know(f.into(), point));
    Ok(())
}

/// Emits its elements, which are its inputs' elements.
pub fn emit(e: &mut Emission<'_>, id: NodeId, point: Point) -> Lower {
    e.comb_at(id, point);
    for (field, column) in wanted(&e.scope, id) {
        let value = e.elt(column, point)?;
        e.values.set_column(field.into(), point, value);
    }
    Ok(())
}

/// The demanded fields, and the input columns with their values.
fn wanted(scope: &LoopScope<'_>, id: NodeId) -> Vec<(FieldRef, InputColumn)> {
    let fields = (0..).map(|f| (id, f)).zip(scope.all_columns(id));
    let wanted = fields.zip(scope.demanded(id)).filter(|(_, wanted)| *wanted);
    wanted.map(|(field, _)| field).collect()
}
