//! Delayed scalars: computed once from others, in `done`, after every fold that they use.

use super::anatomy::{Anatomy, Lower};
use super::body::{self, Inline};
use crate::ast::Kind;
use crate::sharing::NodeId;
use loop_lang::ir::{Atom, RateKind, Section};

/// Lowers a scalar expression over delayed scalars and elements of arrays in memory.
pub fn lower(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let graph = a.graph;
    let Kind::Compute(body) = &graph.node(id).kind else {
        return Ok(());
    };
    let comb = a.comb(id);
    let inline = Inline::new(id, 0, comb, Section::Done).demanded(a);
    let values = body::inline(a, &inline, body, &[], "val")?;
    for (field, value) in values.into_iter().enumerate() {
        a.set_delayed((id, field as u32), value);
    }
    Ok(())
}

/// Lowers the length of an array that this loop computes: its root's bound, or its subrate's count.
pub fn lower_len(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let spot = a.spot_of(id, 0..1)?;
    a.comb(id);
    let len: Atom = match a.program.rate(spot.rate).kind {
        RateKind::Root { bound, .. } => bound,
        _ => a.index(spot.rate).into(),
    };
    a.set_delayed((id, 0), len);
    Ok(())
}
