//! Generators: arrays given by a length and a function of the index. They open a root rate, or join one
//! of their length.

use super::Source;
use super::anatomy::{Anatomy, Lower};
use super::body::{self, Inline};
use crate::ast::{Kind, Len};
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::types::Ty;

/// Lowers `generate`, `iota`, `replicate` and everything that reads other arrays by index.
pub fn lower(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let graph = a.graph;
    let Kind::Generate(len, body) = &graph.node(id).kind else { return Ok(()) };
    let comb = a.comb(id);
    if a.program.comb(comb).home.is_some() {
        return Ok(());
    }
    let bound = length(a, id, len)?;
    a.set_len(id, bound);
    match a.root() {
        Some(root) => a.join(comb, root),
        None => {
            a.open_root(comb, bound);
        }
    }
    let Some((counter, _)) = a.root_counter() else { return Ok(()) };
    let last = graph.nodes[id.index()].captures.len() - 1;
    let inline = Inline::new(id, last, comb, Section::Body).demanded(a);
    let values = body::inline(a, &inline, body, &[counter.into()], "elt")?;
    for (field, value) in values.into_iter().enumerate() {
        a.set_elt((id, field as u32), value);
    }
    Ok(())
}

/// The length, as an atom of `init`.
pub fn length(a: &mut Anatomy<'_>, id: NodeId, len: &Len) -> Lower<Atom> {
    let comb = a.comb(id);
    match (len, a.graph.nodes[id.index()].length) {
        (Len::Delayed(_), Some(by)) => {
            let field = a.graph.resolve(by, 0);
            Ok(a.delayed(field, comb))
        }
        (Len::Checked(body), _) => {
            let inline = Inline::new(id, 0, comb, Section::Init);
            let values = body::inline(a, &inline, body, &[], "len")?;
            a.trap(comb, Section::Init, TrapKind::SliceRange, values[1], &values[2..4]);
            Ok(values[0])
        }
        _ => Ok(a.scalar_param(Source::Length(id), "len", comb, Ty::U64)),
    }
}
