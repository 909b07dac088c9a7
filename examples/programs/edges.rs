//! Connected components of a graph, by its edges: the least node of each node's component.

use crate::harness::{Bench, Measured};
use crate::numbers::Numbers;
use livefusion::prelude::*;
use livefusion_examples::Outcome;

/// Labels the nodes by one combinator on edges.
pub fn fused(nodes: usize, from: &Array<u32>, to: &Array<u32>) -> Array<u32> {
    let labels = zip((from, to)).components(nodes);
    labels.map(|label| label.cast::<u32>())
}

/// Joins trees of nodes in plain Rust.
pub fn plain(nodes: usize, from: &[u32], to: &[u32]) -> Vec<u32> {
    let mut parents: Vec<u32> = (0..nodes as u32).collect();
    for (a, b) in from.iter().zip(to) {
        let (a, b) = (root(&mut parents, *a), root(&mut parents, *b));
        parents[a.max(b) as usize] = a.min(b);
    }
    (0..nodes as u32)
        .map(|node| root(&mut parents, node))
        .collect()
}

/// Finds the root of a node's tree, and halves the path to it.
fn root(parents: &mut [u32], mut node: u32) -> u32 {
    loop {
        let parent = parents[node as usize];
        if parent == node {
            return node;
        }
        let next = parents[parent as usize];
        parents[node as usize] = next;
        node = next;
    }
}

/// Compares both forms.
pub fn compare(bench: &Bench) -> Outcome<Measured> {
    let (n, nodes) = (bench.size(2_000_000, 300), bench.size(1_000_000, 200));
    let mut numbers = Numbers::new(4);
    let mut ends = || -> Vec<u32> {
        let end = |_| numbers.below(nodes as u64) as u32;
        (0..n).map(end).collect()
    };
    let (from, to) = (ends(), ends());
    let (a, b) = (Array::from(&from), Array::from(&to));
    bench.compare(n, 0.0, || fused(nodes, &a, &b), || plain(nodes, &from, &to))
}

#[cfg(test)]
mod tests {
    use crate::harness::{Plan, check};

    #[test]
    fn edges__small_input__agrees_with_plain_rust() {
        let most = Plan {
            loops: 1,
            arrays: 1,
            calls: 1,
        };
        check(super::compare, most);
    }
}
