//! Control flow from the rate tree.
use crate::ir::{BlockId, Loop};

/// Fills every open end and every exit without a target from the rate tree, and orders the blocks
/// (see [`order_blocks`]). Blocks of cursor rates keep the gotos that they bring.
pub fn derive_gotos(program: &mut Loop) { order_blocks(program); }
/// Numbers blocks densely in execution order: `init`, then the rate tree depth first, the returning
/// block last. Synonyms are sorted by combinator.
pub fn order_blocks(_program: &mut Loop) {}
/// Blocks that belong to a rate or to one below it.
pub fn blocks_within(_program: &Loop, _rate: crate::ir::RateId) -> Vec<BlockId> { vec![] }
