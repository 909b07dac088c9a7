//! The programs that an engine has compiled: by the keys of their graphs, at most so many.
//!
//! When there are too many, those go that were not used for longest. The clock ticks with every program that
//! comes in, so that a use costs a look at it, and what is used between two of these is used at one time. A
//! program that goes while it runs is dropped when its last run ends.

use super::known::KnownGraphs;
use super::program::Program;
use crate::ast::Node;
use crate::error::Result;
use crate::sharing::{Graph, GraphKey, Met};
use dashmap::DashMap;
use once_cell::sync::OnceCell;
use rustc_hash::FxHashSet;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// So many programs are kept where nobody says otherwise: about 20 MiB, and their machine code.
pub const KEPT: usize = 1024;

/// Of so many kept programs one goes more than must, so that not every newcomer looks for the oldest.
const AT_ONCE: usize = 8;

/// So many graphs are recognised for each program that may be kept, on average.
const GRAPHS: usize = 4;

/// When something was used last.
#[derive(Default)]
pub struct LastUse(AtomicU64);

/// Compiled programs, and the graphs that are recognised as theirs.
pub struct Programs {
    limit: usize,
    by_key: DashMap<GraphKey, Arc<OnceCell<Arc<Program>>>>,
    known: KnownGraphs,
    clock: AtomicU64,
    evicted: AtomicU64,
    /// Who looks for the oldest.
    shedding: Mutex<()>,
}

impl Programs {
    /// None yet, and never more than `limit`.
    pub fn new(limit: usize) -> Programs {
        Programs {
            limit,
            by_key: DashMap::new(),
            known: KnownGraphs::default(),
            clock: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
            shedding: Mutex::new(()),
        }
    }

    /// The program of a graph like one that was forced before, with what it is to be bound to.
    pub fn recognise<'a>(&self, roots: &'a [Arc<Node>]) -> Option<(Arc<Program>, Met<'a>)> {
        let found = self.known.recognise(roots)?;
        self.touch(&found.0);
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
        let limit = self.limit.saturating_mul(GRAPHS);
        if self.known.len() > limit {
            let _one = self.shedding.lock().unwrap_or_else(PoisonError::into_inner);
            let uses = self.known.programs().into_iter();
            let uses = uses.map(|p| p.used.0.load(Relaxed));
            let mut oldest = Oldest::of(uses.collect(), limit);
            self.known.retain(|p| !oldest.includes(p));
        }
    }

    /// The program of a key, and whether it had to be compiled. Threads that want one program compile it
    /// once.
    pub fn get_or_compile(
        &self,
        key: GraphKey,
        compile: impl FnOnce() -> Result<Program>,
    ) -> Result<(Arc<Program>, bool)> {
        let cell = match self.by_key.get(&key) {
            Some(cell) => cell.value().clone(),
            None => self.by_key.entry(key.clone()).or_default().clone(),
        };
        let mut compiled_here = false;
        let program = cell.get_or_try_init(|| {
            compiled_here = true;
            compile().map(Arc::new)
        });
        match program {
            Ok(program) if compiled_here => {
                // Between the uses before it came and those that follow.
                let now = self.clock.fetch_add(2, Relaxed) + 1;
                program.used.0.store(now, Relaxed);
                self.shed();
                Ok((program.clone(), true))
            }
            Ok(program) => {
                self.touch(program);
                Ok((program.clone(), false))
            }
            Err(error) => {
                // Nothing is kept of what failed, unless somebody tries again: the map and we have the cell.
                let failed =
                    |cell: &Arc<OnceCell<_>>| cell.get().is_none() && Arc::strong_count(cell) <= 2;
                self.by_key.remove_if(&key, |_, cell| failed(cell));
                Err(error)
            }
        }
    }

    /// Notes that a program is used.
    fn touch(&self, program: &Program) {
        let now = self.clock.load(Relaxed);
        if program.used.0.load(Relaxed) != now {
            program.used.0.store(now, Relaxed);
        }
    }

    /// Drops programs, if there are too many.
    fn shed(&self) {
        if self.by_key.len() <= self.limit {
            return;
        }
        let _one = self.shedding.lock().unwrap_or_else(PoisonError::into_inner);
        let used = |p: &Arc<Program>| p.used.0.load(Relaxed);
        let cells = self.by_key.iter();
        let uses = cells.filter_map(|cell| cell.get().map(used)).collect();
        let mut oldest = Oldest::of(uses, self.limit);
        let mut gone = FxHashSet::default();
        self.by_key.retain(|_, cell| match cell.get() {
            Some(program) if oldest.includes(program) => {
                gone.insert(Arc::as_ptr(program));
                false
            }
            // Who compiles it will look whether there are too many.
            _ => true,
        });
        self.evicted.fetch_add(gone.len() as u64, Relaxed);
        self.known
            .retain(|program| !gone.contains(&Arc::as_ptr(program)));
    }

    /// Drops all.
    pub fn clear(&self) {
        self.by_key.clear();
        self.known.retain(|_| false);
    }

    /// How many there are, those included that are being compiled.
    pub fn kept(&self) -> u64 {
        self.by_key.len() as u64
    }

    /// How many were dropped because there were too many.
    pub fn evicted(&self) -> u64 {
        self.evicted.load(Relaxed)
    }
}

/// What goes: so many, not used since some time.
struct Oldest {
    before: u64,
    left: usize,
}

impl Oldest {
    /// Of things that were used at these times, what has to go so that they are below a limit.
    fn of(mut uses: Vec<u64>, limit: usize) -> Oldest {
        let keep = limit - limit / AT_ONCE;
        let left = match uses.len() > limit {
            true => uses.len() - keep,
            false => 0,
        };
        let before = match left.checked_sub(1) {
            Some(last) => *uses.select_nth_unstable(last).1,
            None => 0,
        };
        Oldest { before, left }
    }

    fn includes(&mut self, program: &Program) -> bool {
        let goes = self.left > 0 && program.used.0.load(Relaxed) <= self.before;
        self.left -= usize::from(goes);
        goes
    }
}
