//! Arrays of sums: histograms, and sums by key.
//!
//! Chunks that run at once add to arrays of their own, which begin with zeros. These are added up at
//! the end.

use super::origins::Origins;
use crate::ir::{Combine, Loop, StmtKind, Var};
use crate::op::Op;
use rustc_hash::FxHashMap;

impl Origins<'_> {
    /// Finds the arrays whose elements may be combined in any order and in parts.
    pub(super) fn arrays_of_sums(&self) -> FxHashMap<Var, Op> {
        let mut all: FxHashMap<Var, Option<Op>> = FxHashMap::default();
        for stmt in self.blocks.iter().flat_map(|(_, block)| &block.stmts) {
            let StmtKind::ScatterArray {
                arrays, combine, ..
            } = &stmt.kind
            else {
                continue;
            };
            for array in arrays {
                let op = match combine {
                    Some(Combine::Op(op)) if arrays.len() == 1 => Some(*op),
                    _ => None,
                };
                let op = op.filter(|op| self.adds(*array, *op));
                let known = all.entry(*array).or_insert(op);
                *known = known.filter(|known| Some(*known) == op);
            }
        }
        let sums = all.into_iter();
        sums.filter_map(|(array, op)| Some((array, op?))).collect()
    }

    /// Tells whether an operator is exact on an array's elements, takes them in any order, and has
    /// zero as its identity.
    fn adds(&self, array: Var, op: Op) -> bool {
        let ty = self.program.ty(array).elem();
        let exact = match op {
            Op::Add | Op::Or | Op::Xor => ty.is_int(),
            Op::Max => ty.is_unsigned(),
            _ => false,
        };
        exact && self.made.contains(&array) && !self.scratch.contains(&array)
    }
}

/// Lists the arrays to which chunks may add apart, with their operators.
///
/// The operator is exact, takes elements in any order, and has zero as its identity. Then
/// chunks [may run in any order](super::chunkable_apart), each with arrays of its own.
pub fn arrays_of_sums(program: &Loop) -> Vec<(Var, Op)> {
    let mut all: Vec<(Var, Op)> = Origins::of(program).arrays_of_sums().into_iter().collect();
    all.sort_unstable_by_key(|(array, _)| *array);
    all
}
