//! Delayed scalars: computed once from others, in `done`, after every fold that they use.

use super::anatomy::{Anatomy, Lower};
use super::body::{self, Inline};
use crate::ast::Kind;
use crate::fusion::ClassKind;
use crate::sharing::NodeId;
use loop_lang::ir::{Atom, Section};

/// Lowers a scalar expression over delayed scalars and elements of arrays in memory.
pub fn lower(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let graph = a.graph;
    let Kind::Compute(body) = &graph.node(id).kind else {
        return Ok(());
    };
    let comb = a.comb(id);
    a.join_done(comb);
    let inline = Inline::new(id, 0, comb, Section::Done).demanded(a);
    let values = body::inline(a, &inline, body, &[], "val")?;
    for (field, value) in values.into_iter().enumerate() {
        a.set_delayed((id, field as u32), value);
    }
    Ok(())
}

/// Lowers the length of an array that this loop computes: its root's bound, or its subrate's count.
pub fn lower_len(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let input = a.graph.nodes[id.index()].inputs[0];
    let rate = a.rate_of(id, &[input])?;
    let comb = a.comb(id);
    a.join_done(comb);
    let is_root = a
        .plan
        .rates
        .runs_at(id)
        .is_none_or(|c| a.plan.rates.kind(c) == ClassKind::Root);
    let len: Atom = match a.root_counter() {
        Some((_, bound)) if is_root => bound,
        _ => a.index(rate).into(),
    };
    a.set_delayed((id, 0), len);
    Ok(())
}
