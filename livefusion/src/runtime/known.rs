//! Known graphs: recognises graphs that were forced before, with their programs.
//!
//! Each thread first looks at the graphs that it recognised last. So threads that force the same
//! programs again and again meet at no lock.

use super::program::CompiledProgram;
use super::sync::Map;
use crate::ast::Node;
use crate::sharing::{Graph, KnownLengths, Met, Pattern, Skeleton};
use rustc_hash::FxHasher;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::hash::Hasher;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// Holds graphs with their programs by [`hint`], the newest first.
pub struct KnownGraphs {
    /// Distinguishes the collections of all engines.
    number: u64,
    by_hint: Map<u64, VecDeque<Arc<KnownGraph>>>,
    /// Number of graphs.
    count: AtomicUsize,
}

impl Default for KnownGraphs {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        KnownGraphs {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            by_hint: Map::default(),
            count: AtomicUsize::new(0),
        }
    }
}

struct KnownGraph {
    skeleton: Skeleton,
    /// The equality pattern of its lengths.
    lengths: Pattern,
    program: Arc<CompiledProgram>,
}

/// A graph that this thread recognised, by collection and hint.
///
/// It does not keep an evicted graph alive.
type RecentGraph = (u64, u64, Weak<KnownGraph>);

/// The recent graphs of a thread: a power of two. The hint selects the entry.
const RECENT: usize = 16;

thread_local! {
    static RECENT_GRAPHS: RefCell<[Option<RecentGraph>; RECENT]> =
        const { RefCell::new([const { None }; RECENT]) };
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

impl KnownGraph {
    /// Tells whether this is the graph of these roots, and collects its bindings.
    fn is<'a>(&self, roots: &'a [Arc<Node>], met: &mut Met<'a>) -> bool {
        let is_like = self.skeleton.recognise(roots, met).is_some();
        is_like && self.skeleton.pattern(met) == self.lengths
    }
}

impl KnownGraphs {
    /// Returns the program of a graph forced before, and collects its bindings.
    pub fn recognise<'a>(
        &self,
        roots: &'a [Arc<Node>],
        met: &mut Met<'a>,
    ) -> Option<Arc<CompiledProgram>> {
        let hint = hint(roots);
        let place = (hint >> 32) as usize % RECENT;
        let recent = RECENT_GRAPHS.with_borrow(|all| match &all[place] {
            Some((number, of, graph)) if (*number, *of) == (self.number, hint) => graph.upgrade(),
            _ => None,
        });
        if let Some(known) = recent.filter(|known| known.is(roots, met)) {
            return Some(known.program.clone());
        }
        let mut find = |known: &VecDeque<Arc<KnownGraph>>| {
            let found = known.iter().find(|known| known.is(roots, met));
            found.cloned()
        };
        let known = self.by_hint.read(&hint, &mut find).flatten()?;
        let recent = (self.number, hint, Arc::downgrade(&known));
        let evicted = RECENT_GRAPHS.with_borrow_mut(|all| all[place].replace(recent));
        drop(evicted);
        Some(known.program.clone())
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
        let new = Arc::new(new);
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
