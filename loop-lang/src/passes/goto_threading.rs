//! Goto threading, as an analysis: where a jump ends up once it has gone through empty blocks.
//!
//! *Empty*: a block without statements and exits that ends in a goto. The blocks themselves stay: each
//! place of the rate tree has one. A backend may jump to the end of the chain at once; updates that take
//! effect on the way do so all the same, as they depend on where control comes from and where it arrives.
//!
//! Before: `goto yield_0`, where `yield_0: goto guard_2`. The answer for `yield_0` is `guard_2`.
//!
//! Linear: each block is visited once, however long the chains. Empty blocks in a circle, which no loop
//! that verifies has, are left as they are.

use crate::ir::{BlockId, End, Loop};

/// For each block, by its id, the first block on the way from it (itself included) that is not empty.
/// Where an id has no block the answer is the id.
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

/// Where an empty block goes.
fn skipped(program: &Loop, id: BlockId) -> Option<BlockId> {
    let block = program.block(id)?;
    match block.end {
        End::Goto(label) if block.stmts.is_empty() && block.exits.is_empty() => {
            program.block_id(label)
        }
        _ => None,
    }
}
