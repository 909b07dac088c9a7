//! Where the arrays of results are made, so that a call can bring memory for them: which array of which loop
//! becomes which field of which result.
//!
//! A result is made by the loop that returns it, or, if that loop changes in place what an earlier one made,
//! by the earlier one.

use super::binding::Origin;
use super::in_place::Update;
use super::program::CompiledLoop;
use livefusion_backend::{Buffer, Frame};
use loop_lang::Loop;
use loop_lang::ir::{Atom, End, StmtKind, Var};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Where a field of a result is made.
#[derive(Clone, Copy, Debug)]
pub struct Home {
    /// The loop.
    pub at: usize,
    /// Which of its arrays.
    slot: usize,
    /// Which result, and which of its fields.
    field: (usize, usize),
}

/// The homes of the fields of results, in the order of the loops.
pub fn of<'o>(loops: &[CompiledLoop], outputs: impl Iterator<Item = &'o [Origin]>) -> Vec<Home> {
    let made: Vec<(usize, Option<usize>)> = loops.iter().enumerate().flat_map(made_by).collect();
    let mut homes = Vec::new();
    for (output, fields) in outputs.enumerate() {
        for (k, from) in fields.iter().enumerate() {
            if let Some((at, slot)) = home(loops, &made, *from) {
                let field = (output, k);
                homes.push(Home { at, slot, field });
            }
        }
    }
    homes.sort_by_key(|h| h.at);
    homes
}

/// The loop that makes the memory of a value, and which of its arrays that is.
fn home(
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
        // An array from outside, if somebody holds it, is copied.
        match update.and_then(|u| maker.params.get(u.param)) {
            Some(Origin::Made(result)) => from = Origin::Made(*result),
            _ => return Some((at, slot)),
        }
    }
}

/// For each result of a loop, the loop and which of its arrays is returned, if it is one.
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

/// The arrays that are beginnings of others, and those.
fn cut(program: &Loop) -> FxHashMap<Var, Var> {
    let stmts = program.blocks.iter().flat_map(|(_, block)| &block.stmts);
    let cut = stmts.filter_map(|s| match s.kind {
        StmtKind::SliceArray(cut, whole, _) => Some((cut, whole)),
        _ => None,
    });
    cut.collect()
}

/// Offers a frame the memory of old results for the arrays that become new ones. Who shares an old one keeps
/// it.
pub fn offer(homes: &[Home], spare: &mut [Vec<Arc<Buffer>>], frame: &mut Frame<'_>) {
    for home in homes {
        let column = spare.get_mut(home.field.0);
        let column = column.and_then(|columns| columns.get_mut(home.field.1));
        if let Some(old) = column.and_then(Arc::get_mut) {
            let none = Buffer::empty(old.ty());
            frame.spare.offer(home.slot, std::mem::replace(old, none));
        }
    }
}
