//! Generators: arrays given by a length and a function of the index. They open a root rate, or join one
//! of their length.

use super::Source;
use super::anatomy::{Anatomy, Lower};
use super::body::{self, Inline};
use crate::ast::{Kind, Len};
use crate::error::ErrorKind;
use crate::fusion::ClassId;
use crate::fusion::rates::indexed_array;
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::types::Ty;

/// Lowers `generate`, `iota`, `replicate` and everything that reads other arrays by index.
pub fn lower(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let graph = a.graph;
    let Kind::Generate(len, body) = &graph.node(id).kind else {
        return Ok(());
    };
    let comb = a.comb(id);
    if a.program.comb(comb).home.is_some() {
        return Ok(());
    }
    let index = match indexed_here(a, id) {
        Some((array, class)) => {
            a.enter(array)?;
            let rate = a.rate(class).or(a.root()).ok_or_else(no_root)?;
            a.join(comb, rate);
            a.index(rate)
        }
        None => {
            let bound = length(a, id, len)?;
            a.set_len(id, bound);
            match a.root() {
                Some(root) => a.join(comb, root),
                None => {
                    a.open_root(comb, bound);
                }
            }
            a.root_counter().ok_or_else(no_root)?.0
        }
    };
    let last = graph.nodes[id.index()].captures.len() - 1;
    let inline = Inline::new(id, last, comb, Section::Body).demanded(a);
    let values = body::inline(a, &inline, body, &[index.into()], "elt")?;
    for (field, value) in values.into_iter().enumerate() {
        a.set_elt((id, field as u32), value);
    }
    Ok(())
}

/// The array whose indices this is, if this loop has its rate: its length need not be known beforehand.
fn indexed_here(a: &Anatomy<'_>, id: NodeId) -> Option<(NodeId, ClassId)> {
    let array = indexed_array(a.graph, id)?;
    let length = a.graph.nodes[id.index()].length?;
    let made_before = a.plan.loop_of[length.index()].is_none_or(|l| l < a.at);
    let class = a.plan.rates.output(array)?;
    (!made_before || a.rate(class).is_some()).then_some((array, class))
}

fn no_root() -> ErrorKind {
    ErrorKind::Malformed {
        expected: "a root rate".into(),
        got: "none".into(),
    }
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
            a.trap(
                comb,
                Section::Init,
                TrapKind::SliceRange,
                values[1],
                &values[2..4],
            );
            Ok(values[0])
        }
        _ => Ok(a.scalar_param(Source::Length(id), "len", comb, Ty::U64)),
    }
}
