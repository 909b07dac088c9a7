//! `map`, `zip_with` and operators between arrays: a function of the elements of inputs in step.
//!
//! ```text
//! body_1:  let elt_1 = add elt_0 k_1
//! ```

use super::anatomy::{Anatomy, Lower};
use super::body::{self, Inline};
use crate::ast::Kind;
use crate::sharing::NodeId;
use loop_lang::ir::Section;

/// Lowers a map over one or more inputs.
pub fn lower(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let graph = a.graph;
    let node = &graph.nodes[id.index()];
    let Kind::Map(body) = &node.node.kind else {
        return Ok(());
    };
    let spot = super::zip::enter(a, id)?;
    let comb = a.comb_at(id, spot);
    let columns = a.all_columns(id);
    let inline = Inline::new(id, 0, comb, Section::Body).demanded(a);
    let args = body::used_args(a, &inline, body, &columns, spot)?;
    let values = body::inline(a, &inline, body, &args, "elt")?;
    for (field, value) in values.into_iter().enumerate() {
        a.set_elt((id, field as u32), spot, value);
    }
    Ok(())
}
