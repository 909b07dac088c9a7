//! Goto threading, as an analysis: the final target of a jump through empty blocks.
//!
//! A block is *empty* if it has no statements and exits and ends in a goto. The blocks themselves
//! stay: each place of the rate tree has one. A backend may jump directly to the final target.
//! Updates on the way still take effect, as they depend only on the start and the target of the
//! control flow.
//!
//! Before: `goto yield_0`, where `yield_0: goto guard_2`. The result for `yield_0` is `guard_2`.
//!
//! The cost is linear: each block is visited once, for any length of chains. Cycles of empty blocks
//! stay unchanged; verified loops have none.

use crate::ir::{BlockId, End, Loop};

/// Returns the first non-empty block on the path from each block, by id.
///
/// The path includes the block itself. An id without a block maps to itself.
pub fn destinations(program: &Loop) -> Vec<BlockId> {
    let ids = program.blocks.keys().filter_map(|k| program.blocks.slot(k));
    let count = ids.max().map_or(0, |last| last + 1);
    let mut found: Vec<Option<BlockId>> = vec![None; count];
    let mut on_path = vec![false; count];
    for start in 0..count {
        let mut path = Vec::new();
        let mut at = BlockId::new(start);
        while found[at.index()].is_none() && !on_path[at.index()] {
            on_path[at.index()] = true;
            path.push(at);
            match skipped(program, at) {
                Some(next) => at = next,
                None => break,
            }
        }
        let end = found[at.index()].unwrap_or(at);
        for block in path {
            on_path[block.index()] = false;
            found[block.index()] = Some(end);
        }
    }
    found
        .into_iter()
        .enumerate()
        .map(|(i, f)| f.unwrap_or(BlockId::new(i)))
        .collect()
}

/// Returns the target of an empty block.
fn skipped(program: &Loop, id: BlockId) -> Option<BlockId> {
    let block = program.block(id)?;
    match block.end {
        End::Goto(label) if block.stmts.is_empty() && block.exits.is_empty() => {
            program.block_id(label)
        }
        _ => None,
    }
}
