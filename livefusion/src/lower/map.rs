//! `map`, `zip_with` and operators between arrays: apply a function to elements in step.
//!
//! ```text
//! body_1:  let elt_1 = add elt_0 k_1
//! ```

use super::body::{self, Inline};
use super::emission::Emission;
use super::placement::{Placer, Point};
use super::scope::InputColumn;
use super::{Lower, zip};
use crate::ast::Kind;
use crate::sharing::NodeId;
use loop_lang::ir::Section;

/// Places a map over one or more inputs.
///
/// All inputs have an element at its program point. Results with consumers only before an early
/// exit run under a liveness guard.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let Kind::Map(body) = &p.scope.graph.node(id).kind else {
        return Ok(());
    };
    let columns = p.scope.all_columns(id);
    let inputs = p.scope.inputs(id);
    p.make_fields(id, inputs.len() > 1, |p, fields, is_first| {
        let used = body::used_params(body, Some(fields)).into_iter();
        let used: Vec<InputColumn> = used.map(|k| columns[k]).collect();
        let point = match is_first {
            true => zip::place_inputs(p, id, &used)?,
            false => {
                p.enter(id, inputs)?;
                p.point_where(id, &used)?
            }
        };
        p.elts(&used, point)?;
        Ok(point)
    })
}

/// Emits some fields of a map.
pub fn emit(e: &mut Emission<'_>, id: NodeId, point: Point, fields: &[bool]) -> Lower {
    let Kind::Map(body) = &e.scope.graph.node(id).kind else {
        return Ok(());
    };
    let comb = e.comb_at(id, point);
    let columns = e.scope.all_columns(id);
    let inline = Inline {
        wanted: Some(fields.to_vec()),
        ..Inline::new(id, 0, comb, Section::Body)
    };
    let args = body::used_args(e, &inline, body, &columns, point)?;
    let values = body::inline(e, &inline, body, &args, "elt")?;
    e.values.set_elts(id, point, values);
    Ok(())
}
