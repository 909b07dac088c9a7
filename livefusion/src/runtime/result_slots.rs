//! Result slots: the array of each loop that becomes a field of a result.
//!
//! A call can then bring memory for its results. A result is allocated by the loop that returns it.
//! If that loop updates an earlier loop's array in place, the earlier loop allocates it.

use super::binding::Origin;
use super::in_place::Update;
use super::program::CompiledLoop;
use livefusion_backend::{Buffer, Frame};
use loop_lang::Loop;
use loop_lang::ir::{Atom, End, StmtKind, Var};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Locates the slot of a result's field.
#[derive(Clone, Copy, Debug)]
pub struct ResultSlot {
    /// The loop.
    pub at: usize,
    /// The slot of the array within the loop.
    slot: usize,
    /// The result and its field.
    field: (usize, usize),
}

/// Lists the slots of all fields of results, in loop order.
pub fn of<'o>(
    loops: &[CompiledLoop],
    outputs: impl Iterator<Item = &'o [Origin]>,
) -> Vec<ResultSlot> {
    let made: Vec<(usize, Option<usize>)> = loops.iter().enumerate().flat_map(made_by).collect();
    let mut slots = Vec::new();
    for (output, fields) in outputs.enumerate() {
        for (k, from) in fields.iter().enumerate() {
            if let Some((at, slot)) = slot_of(loops, &made, *from) {
                let field = (output, k);
                slots.push(ResultSlot { at, slot, field });
            }
        }
    }
    slots.sort_by_key(|h| h.at);
    slots
}

/// Returns the loop and slot that allocate a value.
fn slot_of(
    loops: &[CompiledLoop],
    made: &[(usize, Option<usize>)],
    mut from: Origin,
) -> Option<(usize, usize)> {
    loop {
        let Origin::Made(result) = from else {
            return None;
        };
        let (at, slot) = *made.get(result)?;
        let (maker, slot) = (&loops[at], slot?);
        let takes = |u: &&Update| u.slot == slot && u.copied.is_none();
        let update = maker.updates.iter().find(takes);
        // An array from outside is copied if it is shared.
        match update.and_then(|u| maker.params.get(u.param)) {
            Some(Origin::Made(result)) => from = Origin::Made(*result),
            _ => return Some((at, slot)),
        }
    }
}

/// Lists the loop and the slot of each result, without a slot for scalars.
fn made_by((at, l): (usize, &CompiledLoop)) -> Vec<(usize, Option<usize>)> {
    let program = &l.lowered.program;
    let cut = cut(program);
    let slot = |result: &Atom| {
        let Atom::Var(mut array) = *result else {
            return None;
        };
        while let Some(whole) = cut.get(&array) {
            array = *whole;
        }
        l.kernel.layout().array_slot(array)
    };
    let ends = program.blocks.iter().map(|(_, block)| &block.end);
    let results = ends.filter_map(|end| match end {
        End::Return(results) => Some(results),
        _ => None,
    });
    results.flatten().map(|r| (at, slot(r))).collect()
}

/// Maps each array slice to its whole array.
fn cut(program: &Loop) -> FxHashMap<Var, Var> {
    let stmts = program.blocks.iter().flat_map(|(_, block)| &block.stmts);
    let cut = stmts.filter_map(|s| match s.kind {
        StmtKind::SliceArray(cut, whole, _) => Some((cut, whole)),
        _ => None,
    });
    cut.collect()
}

/// Offers the memory of old results to a frame.
///
/// A shared array keeps its memory.
pub fn offer(slots: &[ResultSlot], spare: &mut [Vec<Arc<Buffer>>], frame: &mut Frame<'_>) {
    for to in slots {
        let column = spare.get_mut(to.field.0);
        let column = column.and_then(|columns| columns.get_mut(to.field.1));
        if let Some(old) = column.and_then(Arc::get_mut) {
            let none = Buffer::empty(old.ty());
            frame.spare.offer(to.slot, std::mem::replace(old, none));
        }
    }
}
