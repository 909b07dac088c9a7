//! Known graphs: recognises graphs that were forced before, with their programs.

use super::program::CompiledProgram;
use super::sync::Map;
use crate::ast::Node;
use crate::sharing::{Graph, KnownLengths, Met, Pattern, Skeleton};
use rustc_hash::FxHasher;
use std::collections::VecDeque;
use std::hash::Hasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Holds graphs with their programs by [`hint`], the newest first.
#[derive(Default)]
pub struct KnownGraphs {
    by_hint: Map<u64, VecDeque<KnownGraph>>,
    /// Number of graphs.
    count: AtomicUsize,
}

struct KnownGraph {
    skeleton: Skeleton,
    /// The equality pattern of its lengths.
    lengths: Pattern,
    program: Arc<CompiledProgram>,
}

/// The most graphs kept for one hint.
const ALIKE: usize = 4;

/// The most nodes from a root that the hint covers.
const TELLING: usize = 12;

/// Hashes the call sites of a few combinators.
///
/// Graphs of one structure often have the same hint. Other graphs often have another.
fn hint(roots: &[Arc<Node>]) -> u64 {
    let mut h = FxHasher::default();
    for root in roots {
        let mut at = Some(root);
        for _ in 0..TELLING {
            // Data may come from anywhere.
            let Some(node) = at.filter(|n| n.value.get().is_none()) else {
                break;
            };
            h.write_usize(node.loc.address());
            at = node.inputs.first();
        }
    }
    h.write_usize(roots.len());
    h.finish()
}

impl KnownGraphs {
    /// Returns the program of a graph forced before, and collects its bindings.
    pub fn recognise<'a>(
        &self,
        roots: &'a [Arc<Node>],
        met: &mut Met<'a>,
    ) -> Option<Arc<CompiledProgram>> {
        let mut of = |known: &KnownGraph| {
            known.skeleton.recognise(roots, met)?;
            let same = known.skeleton.pattern(met) == known.lengths;
            same.then(|| known.program.clone())
        };
        let found = self
            .by_hint
            .read(&hint(roots), |known| known.iter().find_map(&mut of));
        found.flatten()
    }

    /// Records a graph for later recognition.
    pub fn remember(
        &self,
        roots: &[Arc<Node>],
        graph: &Graph,
        lengths: &KnownLengths,
        program: &Arc<CompiledProgram>,
    ) {
        let Some(skeleton) = Skeleton::of(roots, graph, lengths) else {
            return;
        };
        let new = KnownGraph {
            skeleton,
            lengths: lengths.pattern(),
            program: program.clone(),
        };
        self.by_hint.update(hint(roots), |known| {
            match known.len() < ALIKE {
                true => _ = self.count.fetch_add(1, Ordering::Relaxed),
                false => known.truncate(ALIKE - 1),
            }
            known.push_front(new);
        });
    }

    /// Counts the known graphs.
    pub fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Lists the program of each graph.
    pub fn programs(&self) -> Vec<Arc<CompiledProgram>> {
        let mut programs = Vec::with_capacity(self.len());
        self.by_hint.for_each(|known| {
            programs.extend(known.iter().map(|k| k.program.clone()));
        });
        programs
    }

    /// Keeps the graphs whose programs pass a test.
    pub fn retain(&self, mut keep: impl FnMut(&Arc<CompiledProgram>) -> bool) {
        self.by_hint.retain(|known| {
            let before = known.len();
            known.retain(|k| keep(&k.program));
            self.count
                .fetch_sub(before - known.len(), Ordering::Relaxed);
            !known.is_empty()
        });
    }
}
