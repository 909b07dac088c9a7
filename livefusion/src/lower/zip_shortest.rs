//! `zip_shortest` of what is computed: no code but that of its [cursors](super::cursor), for a side that ends leaves the
//! loop. Its fields are its own all the same, since its inputs may have more elements.

use super::emission::Emission;
use super::placement::{Placer, Spot};
use super::scope::{Column, Scope};
use super::{Lower, cursor};
use crate::sharing::{FieldRef, NodeId};

/// Places the elements that are asked for: where all inputs have one.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let (fields, columns): (Vec<FieldRef>, Vec<Column>) = wanted(&p.scope, id).into_iter().unzip();
    let spot = cursor::place(p, id)?;
    p.elts(&columns, spot)?;
    p.run(id, spot);
    fields.into_iter().for_each(|f| p.know(f.into(), spot));
    Ok(())
}

/// Its elements are its inputs'.
pub fn emit(e: &mut Emission<'_>, id: NodeId, spot: Spot) -> Lower {
    e.comb_at(id, spot);
    for (field, column) in wanted(&e.scope, id) {
        let value = e.elt(column, spot)?;
        e.values.set_column(field.into(), spot, value);
    }
    Ok(())
}

/// The fields that are asked for, and the columns of inputs that they are.
fn wanted(scope: &Scope<'_>, id: NodeId) -> Vec<(FieldRef, Column)> {
    let fields = (0..).map(|f| (id, f)).zip(scope.all_columns(id));
    let wanted = fields.zip(scope.demanded(id)).filter(|(_, wanted)| *wanted);
    wanted.map(|(field, _)| field).collect()
}
