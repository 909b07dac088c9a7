//! Delayed scalars: computed once, in `init`, or in `done` after the folds among their operands.

use super::Lower;
use super::body::{self, Inline};
use super::emission::Emission;
use super::placement::{Placer, Point};
use crate::ast::Kind;
use crate::sharing::NodeId;
use loop_lang::ir::Section;

/// Emits a scalar expression.
///
/// Its operands are delayed scalars and elements of arrays in memory.
pub fn emit(e: &mut Emission<'_>, id: NodeId, section: Section) -> Lower {
    let Kind::Compute(body) = &e.scope.graph.node(id).kind else {
        return Ok(());
    };
    let comb = e.comb(id);
    let inline = Inline::new(id, 0, comb, section).demanded(e);
    let values = body::inline(e, &inline, body, &[], "val")?;
    e.values.set_scalars(id, values);
    Ok(())
}

/// Places the length of an array that this loop computes.
///
/// It is at the array's program point.
pub fn place_len(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let point = p.point_of(id, 0..1)?;
    p.run(id, point);
    Ok(())
}

/// Emits the length of an array.
///
/// It is the root's bound, or the subrate's count.
pub fn emit_len(e: &mut Emission<'_>, id: NodeId, point: Point) -> Lower {
    let comb = e.comb(id);
    let class = e.scope.plan.rates.runs_at(id);
    if !e.is_last(class, point.rate) {
        return Ok(());
    }
    let len = e.total(comb, class, point.rate);
    e.values.set_scalars(id, [len]);
    Ok(())
}
