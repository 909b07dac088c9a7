//! What became of a program: its loops, the combinators in each, and the code.

use super::engine::Engine;
use super::program::Program;
use crate::ast::Node;
use crate::error::Loc;
use crate::sharing::{Graph, NodeId};
use loop_lang::Loop;
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// The schedule of a program.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Loops in the order in which they run.
    pub loops: Vec<ExplainedLoop>,
    /// The backend that runs them.
    pub backend: String,
    ids: FxHashMap<usize, NodeId>,
}

/// One loop of a program.
#[derive(Clone, Debug)]
pub struct ExplainedLoop {
    /// The optimised loop.
    pub program: Loop,
    /// The combinator behind each `CombId` of the loop.
    pub nodes: Vec<ExplainedNode>,
    /// Number of arrays that it writes to memory.
    pub arrays_written: usize,
    /// Generated source, where the backend has one.
    pub source: Option<String>,
}

/// A combinator in a loop.
#[derive(Clone, Debug)]
pub struct ExplainedNode {
    /// Its place in the recovered graph.
    pub id: NodeId,
    /// What the user called.
    pub name: &'static str,
    /// Where.
    pub loc: Loc,
}

impl Explanation {
    pub(super) fn new(graph: &Graph, program: &Program, engine: &Engine) -> Explanation {
        let loops = program
            .loops
            .iter()
            .zip(&program.plan.loops)
            .map(|(l, planned)| ExplainedLoop {
                program: l.lowered.program.clone(),
                nodes: l
                    .lowered
                    .combs
                    .iter()
                    .map(|id| {
                        let node = graph.node(*id);
                        ExplainedNode {
                            id: *id,
                            name: node.name,
                            loc: node.loc,
                        }
                    })
                    .collect(),
                arrays_written: planned.arrays.len(),
                source: l.kernel.source().map(str::to_string),
            })
            .collect();
        let backend = engine.backend_name().to_string();
        Explanation {
            loops,
            backend,
            ids: graph.by_address.clone(),
        }
    }

    /// The loop that computes a node, and the node's combinator id in it. None for nodes in memory.
    pub fn place_of(&self, node: &Arc<Node>) -> Option<(usize, u32)> {
        let id = self.ids.get(&(Arc::as_ptr(node) as usize))?;
        // A generator may be computed by several loops: the first counts.
        self.loops.iter().enumerate().find_map(|(l, explained)| {
            let comb = explained.nodes.iter().position(|n| n.id == *id)?;
            let is_read = explained.program.combs[comb].kind == "manifest";
            (!is_read || node.value.get().is_some()).then_some((l, comb as u32))
        })
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.loops.len();
        writeln!(
            f,
            "{n} loop{} on {}",
            if n == 1 { "" } else { "s" },
            self.backend
        )?;
        for (i, l) in self.loops.iter().enumerate() {
            writeln!(
                f,
                "loop {i}: {} array{} written",
                l.arrays_written,
                if l.arrays_written == 1 { "" } else { "s" }
            )?;
            for (comb, node) in l.program.combs.iter().zip(&l.nodes) {
                writeln!(f, "  {:>3} {:<14} {}", comb.name, comb.kind, node.loc)?;
            }
        }
        Ok(())
    }
}
