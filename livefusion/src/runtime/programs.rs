//! The compiled programs of an engine, by graph key and within a limit.

use super::cache::{Cache, Cached, Oldest};
use super::known::KnownGraphs;
use super::program::CompiledProgram;
use super::sync::{Mutex, lock};
use crate::ast::Node;
use crate::error::Result;
use crate::sharing::{Graph, GraphKey, KnownLengths, Met};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Limits the cached programs by default.
///
/// They take about 20 MiB, plus their machine code.
pub const KEPT: usize = 1024;

/// Recognisable graphs per cached program, on average.
const GRAPHS: usize = 4;

/// Holds compiled programs and the graphs that are recognised.
pub struct KnownPrograms {
    cache: Cache<GraphKey, CompiledProgram>,
    known: KnownGraphs,
    /// Taken by the thread that evicts graphs.
    forgetting: Mutex<()>,
}

impl KnownPrograms {
    /// Creates an empty cache for at most `limit` programs.
    pub fn new(limit: usize) -> KnownPrograms {
        KnownPrograms {
            cache: Cache::new(limit),
            known: KnownGraphs::default(),
            forgetting: Mutex::new(()),
        }
    }

    /// Returns the program of a graph forced before, and collects its bindings.
    pub fn recognise<'a>(
        &self,
        roots: &'a [Arc<Node>],
        met: &mut Met<'a>,
    ) -> Option<Arc<CompiledProgram>> {
        let found = self.known.recognise(roots, met)?;
        self.cache.touch(&found);
        Some(found)
    }

    /// Records a graph for later recognition.
    pub fn remember(
        &self,
        roots: &[Arc<Node>],
        graph: &Graph,
        lengths: &KnownLengths,
        program: &Arc<CompiledProgram>,
    ) {
        self.known.remember(roots, graph, lengths, program);
        let limit = self.cache.limit().saturating_mul(GRAPHS);
        if self.known.len() > limit {
            let _one = lock(&self.forgetting);
            let programs = self.known.programs().into_iter();
            let uses = programs.map(|p| p.last_use().when()).collect();
            let mut oldest = Oldest::of(uses, limit);
            self.known.retain(|p| !oldest.includes(&**p));
        }
    }

    /// Returns the program of a key, and whether this call compiled it.
    ///
    /// Threads that ask for one program compile it once.
    pub fn get_or_compile(
        &self,
        key: GraphKey,
        compile: impl FnOnce() -> Result<CompiledProgram>,
    ) -> Result<(Arc<CompiledProgram>, bool)> {
        let (program, new) = self.cache.get_or_make(&key, compile)?;
        if new {
            let gone = self.cache.shed();
            let gone: FxHashSet<_> = gone.iter().map(Arc::as_ptr).collect();
            if !gone.is_empty() {
                self.known.retain(|p| !gone.contains(&Arc::as_ptr(p)));
            }
        }
        Ok((program, new))
    }

    /// Drops all programs and graphs.
    pub fn clear(&self) {
        self.cache.clear();
        self.known.retain(|_| false);
    }

    /// Counts the programs, including those under compilation.
    pub fn kept(&self) -> u64 {
        self.cache.kept()
    }

    /// Counts the evicted programs.
    pub fn evicted(&self) -> u64 {
        self.cache.evicted()
    }
}
