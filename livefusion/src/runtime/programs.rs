//! The programs that an engine has compiled: by the keys of their graphs, at most so many.

use super::cache::{Cache, Kept, Oldest};
use super::known::KnownGraphs;
use super::program::Program;
use super::sync::{Mutex, lock};
use crate::ast::Node;
use crate::error::Result;
use crate::sharing::{Graph, GraphKey, Met};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// So many programs are kept where nobody says otherwise: about 20 MiB, and their machine code.
pub const KEPT: usize = 1024;

/// So many graphs are recognised for each program that may be kept, on average.
const GRAPHS: usize = 4;

/// Compiled programs, and the graphs that are recognised as theirs.
pub struct Programs {
    cache: Cache<GraphKey, Program>,
    known: KnownGraphs,
    /// Who looks for the graphs that go.
    forgetting: Mutex<()>,
}

impl Programs {
    /// None yet, and never more than `limit`.
    pub fn new(limit: usize) -> Programs {
        Programs {
            cache: Cache::new(limit),
            known: KnownGraphs::default(),
            forgetting: Mutex::new(()),
        }
    }

    /// The program of a graph like one that was forced before, with what it is to be bound to.
    pub fn recognise<'a>(&self, roots: &'a [Arc<Node>]) -> Option<(Arc<Program>, Met<'a>)> {
        let found = self.known.recognise(roots)?;
        self.cache.touch(&found.0);
        Some(found)
    }

    /// Takes notes of a graph, so that it is recognised when it comes again.
    pub fn remember(
        &self,
        roots: &[Arc<Node>],
        graph: &Graph,
        lengths: &[Option<u64>],
        program: &Arc<Program>,
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

    /// The program of a key, and whether it had to be compiled. Threads that want one program compile it
    /// once.
    pub fn get_or_compile(
        &self,
        key: GraphKey,
        compile: impl FnOnce() -> Result<Program>,
    ) -> Result<(Arc<Program>, bool)> {
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

    /// Drops all.
    pub fn clear(&self) {
        self.cache.clear();
        self.known.retain(|_| false);
    }

    /// How many there are, those included that are being compiled.
    pub fn kept(&self) -> u64 {
        self.cache.kept()
    }

    /// How many were dropped because there were too many.
    pub fn evicted(&self) -> u64 {
        self.cache.evicted()
    }
}
