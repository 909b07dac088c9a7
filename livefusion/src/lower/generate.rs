//! Generators: arrays given by a length and a function of the index. They open a root rate, or join one
//! of their length.

use super::Source;
use super::anatomy::{Anatomy, Column, Lower, Spot};
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
    a.enter(id, &[id])?;
    let class = a.plan.rates.output(id).ok_or_else(no_root)?;
    let spot = a.spot(id, class, &[])?;
    lower_at(a, (id, 0).into(), spot)
}

/// Opens the root rate over a generator's indices.
pub fn open(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    if let Some((array, _)) = indexed_here(a, id) {
        // Where its own elements are the lengths above it, it is asked again, and cannot be the answer.
        if !a.opening.insert(id) {
            return Ok(());
        }
        a.enter(id, &[array])?;
        a.opening.remove(&id);
    }
    if a.root().is_none() {
        let bound = len(a, id)?;
        let comb = a.comb(id);
        a.open_root(comb, bound);
    }
    Ok(())
}

/// Computes the elements for use at a spot, in the rate of the generator that is around it, or in that
/// beside which they are wanted.
pub fn lower_at(a: &mut Anatomy<'_>, column: Column, at: Spot) -> Lower {
    let (graph, id) = (a.graph, column.field.0);
    let Kind::Generate(_, body) = &graph.node(id).kind else {
        return Ok(());
    };
    let own = match indexed_here(a, id) {
        Some((_, class)) => class,
        None => a.plan.rates.output(id).ok_or_else(no_root)?,
    };
    let rate = match a.around(at.rate, column.beside.unwrap_or(own)) {
        Some(rate) => rate,
        None => a.root_spot()?.rate,
    };
    let spot = Spot { rate, position: 0 };
    let comb = a.comb_at(id, spot);
    let index = a.index(rate);
    if indexed_here(a, id).is_none() {
        len(a, id)?;
    }
    if column.beside.is_none() {
        a.runs_over(id, rate);
    }
    let last = graph.nodes[id.index()].captures.len() - 1;
    let inline = Inline::new(id, last, comb, Section::Body).demanded(a);
    let values = body::inline(a, &inline, body, &[index.into()], "elt")?;
    for (field, value) in values.into_iter().enumerate() {
        let field = (id, field as u32);
        a.set_column(Column { field, ..column }, spot, value);
    }
    Ok(())
}

/// The array whose indices this is, if this loop has its rate: its length need not be known beforehand.
fn indexed_here(a: &Anatomy<'_>, id: NodeId) -> Option<(NodeId, ClassId)> {
    let array = indexed_array(a.graph, id)?;
    let length = a.graph.nodes[id.index()].length?;
    let made_before = a.plan.loop_of[length.index()].is_none_or(|l| l < a.at);
    let class = a.plan.rates.output(array)?;
    (!made_before || a.is_open(class)).then_some((array, class))
}

/// The length, as the loop knows it when it starts.
pub fn len(a: &mut Anatomy<'_>, id: NodeId) -> Lower<Atom> {
    let Kind::Generate(len, _) = &a.graph.node(id).kind else {
        return Err(no_root());
    };
    if let Some(known) = a.known_len(id) {
        return Ok(known);
    }
    let bound = length(a, id, len)?;
    a.set_len(id, bound);
    Ok(bound)
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
                &values[2..5],
            );
            Ok(values[0])
        }
        _ => Ok(a.scalar_param(Source::Length(id), "len", comb, Ty::U64)),
    }
}
