//! The programs of the literature that fusion was built for, as functions of their inputs; what each
//! becomes under a clustering; and what it does when it runs.
//!
//! | module | programs |
//! | --- | --- |
//! | [`flow`] | those of flow fusion: filters, folds and maps with several consumers |
//! | [`graphs`] | those of graph reduction: kernels with many edges, what must not fuse, segment sums |
//! | [`segments`] | over segments: QuickHull's core, sparse matrices, softmax |
//! | [`streams`] | appends, packs and prefixes: streams that advance differently |
//! | [`numbers`] | statistics, clusters of points, primes |
//! | [`shape`] | loops, counters and intermediate arrays of a program |
//! | [`counting`] | an engine that counts reads, writes and evaluations |

pub mod counting;
pub mod flow;
pub mod shape;

use livefusion::Force;
use livefusion::ast::Node;
use std::sync::Arc;

/// A program with small inputs, for what depends on its structure only.
pub struct Program {
    /// What it is called.
    pub name: &'static str,
    /// Its results.
    pub roots: Vec<Arc<Node>>,
}

impl Program {
    /// A program of these results.
    pub fn new(name: &'static str, results: impl Force) -> Program {
        let mut roots = Vec::new();
        results.nodes(&mut roots);
        Program { name, roots }
    }
}

/// All programs, family by family.
pub fn all() -> Vec<Program> {
    flow::all()
}
