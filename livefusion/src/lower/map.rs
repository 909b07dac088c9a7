//! `map`, `zip_with` and operators between arrays: a function of the elements of inputs in step.
//!
//! ```text
//! body_1:  let elt_1 = add elt_0 k_1
//! ```

use super::body::{self, Inline};
use super::emission::Emission;
use super::placement::{Placer, Spot};
use super::{Lower, zip};
use crate::ast::Kind;
use crate::sharing::NodeId;
use loop_lang::ir::Section;

/// Places a map over one or more inputs: where all of them have an element.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let Kind::Map(body) = &p.scope.graph.node(id).kind else {
        return Ok(());
    };
    let spot = zip::place_inputs(p, id)?;
    let columns = p.scope.all_columns(id);
    for k in body::used_params(body, Some(&p.scope.demanded(id))) {
        p.elt(columns[k], spot)?;
    }
    p.run(id, spot);
    p.know_all(id, spot);
    Ok(())
}

/// Emits a map.
pub fn emit(e: &mut Emission<'_>, id: NodeId, spot: Spot) -> Lower {
    let Kind::Map(body) = &e.scope.graph.node(id).kind else {
        return Ok(());
    };
    let comb = e.comb_at(id, spot);
    let columns = e.scope.all_columns(id);
    let inline = Inline::new(id, 0, comb, Section::Body).demanded(e);
    let args = body::used_args(e, &inline, body, &columns, spot)?;
    let values = body::inline(e, &inline, body, &args, "elt")?;
    e.values.set_elts(id, spot, values);
    Ok(())
}
