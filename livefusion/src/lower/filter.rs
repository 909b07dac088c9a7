//! `filter` and `pack`: a subrate whose guard admits elements. What follows is neither computed nor traps
//! for a rejected element.
//!
//! ```text
//! guard_2:  let p_2 = gt elt_1 k_2
//!           unless p_2 | bottom_2
//! ```

use super::anatomy::{Anatomy, Lower};
use super::body::{self, Inline};
use crate::ast::Kind;
use crate::error::ErrorKind;
use crate::sharing::NodeId;
use loop_lang::ir::{Atom, Section};

/// Lowers a filter (its own predicate) or a pack (by tags; packs of one tag array share their subrate).
pub fn lower(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let graph = a.graph;
    let node = &graph.nodes[id.index()];
    let parent = a.rate_of(id, &node.inputs)?;
    let comb = a.comb(id);
    let Some(class) = a.plan.rates.output(id) else {
        return Err(ErrorKind::Malformed {
            expected: "a subrate".into(),
            got: "none".into(),
        });
    };
    if let Some(rate) = a.rate(class) {
        a.join(comb, rate);
        return super::zip::check_lengths(a, id, &node.inputs);
    }
    let columns = a.columns(&node.inputs);
    match &node.node.kind {
        Kind::Filter(body) => {
            let inline = Inline::new(id, 0, comb, Section::Guard);
            let args = body::used_args(a, &inline, body, &columns)?;
            a.open_sub(comb, parent, class);
            let p = body::inline(a, &inline, body, &args, "p")?;
            a.exit(comb, p[0]);
        }
        _ => {
            let tag: Atom = a.elt(columns[columns.len() - 1])?;
            a.open_sub(comb, parent, class);
            super::zip::check_lengths(a, id, &node.inputs)?;
            a.exit(comb, tag);
        }
    }
    Ok(())
}
