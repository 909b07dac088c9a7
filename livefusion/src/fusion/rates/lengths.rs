//! Known lengths of a graph's arrays, and their equality pattern.

use crate::ast::Kind;
use crate::sharing::{Graph, known_length};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Returns the known lengths of leaves and generators, by node.
///
/// `inputs` are the lengths of a prepared program's inputs.
pub fn known_lengths(graph: &Graph, inputs: &[Option<u64>]) -> Vec<Option<u64>> {
    graph
        .nodes
        .iter()
        .map(|n| match n.node.kind {
            Kind::Input(input) if n.leaf && n.node.value.get().is_none() => {
                inputs.get(input.number as usize).copied().flatten()
            }
            _ => known_length(n),
        })
        .collect()
}

/// Holds an equality pattern of lengths.
pub type Pattern = SmallVec<[u64; 8]>;

/// The maximal number of distinct lengths that are searched linearly.
const FEW: usize = 16;

/// Computes the equality pattern of lengths.
///
/// Each length becomes the number of its first occurrence.
pub fn length_pattern(lengths: impl Iterator<Item = u64>) -> Pattern {
    let mut distinct: SmallVec<[u64; 8]> = SmallVec::new();
    let mut first: FxHashMap<u64, u64> = FxHashMap::default();
    let mut pattern = Pattern::new();
    for l in lengths {
        let next = distinct.len() as u64;
        let known = match distinct.len() {
            ..=FEW => distinct.iter().position(|d| *d == l).map(|at| at as u64),
            _ => first.get(&l).copied(),
        };
        pattern.push(known.unwrap_or(next));
        if known.is_none() {
            distinct.push(l);
            if distinct.len() > FEW {
                let missing = distinct.iter().zip(0..).skip(first.len());
                first.extend(missing.map(|(d, at)| (*d, at)));
            }
        }
    }
    pattern
}
