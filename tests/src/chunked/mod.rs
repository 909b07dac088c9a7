//! A backend that runs loops in chunks: summaries and emits in random order.
//!
//! The order models threads. Loops that cannot be chunked run in random spans.
//!
//! | module | contents |
//! | --- | --- |
//! | `grid` | chunks of the grid in random order |
//! | `turns` | random spans in order, alternating with the summary form |
//!
//! A loop that may be chunked runs in three phases:
//!
//! 1. *Places.* A summary without groups, except those that decide positions, finds the start of
//!    each chunk.
//! 2. *Levels.* At each level, each chunk is summarised from identities, in random order. Then the
//!    summaries are combined from left to right with the groups' operators. Summaries of groups
//!    that restart within a chunk are not combined. A second summary from the combined prefix must
//!    end with the same bits. It also finds the values of outer iterations in progress at the
//!    chunk's end.
//! 3. *Emit.* Each chunk runs from its prefix, in random order, into the same arrays.
//!
//! A lane group of an outer rate is not combined at a boundary within one of its iterations: its
//! lanes continue. The summary of such a chunk cannot be separated from its prefix; the tally
//! counts these.

mod grid;
mod turns;

use crate::rng::Rng;
use livefusion_backend::{Arg, Backend, CompileError, Frame, Kernel, Outcome, Pass};
use loop_lang::Loop;
use loop_lang::chunkable::{ChunkPlan, Reason, Why, chunkable, raise_levels};
use loop_lang::ir::CHUNK;
use loop_lang::state::Layout;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

pub use turns::Turns;

/// Wraps a backend with kernels that run chunk by chunk.
pub struct Chunked {
    inner: Arc<dyn Backend>,
    chunk: u64,
    seed: u64,
    tally: Arc<Mutex<Tally>>,
}

/// Counts the runs of all kernels of a backend.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Loops that ran in random order, with at least three chunks.
    pub shuffled: usize,
    /// Of these, loops with nested rates.
    pub nested: usize,
    /// Of these, loops with several summary levels.
    pub levelled: usize,
    /// Loops that may be chunked but were shorter.
    pub short: usize,
    /// Loops that ran in order, by reason.
    pub in_order: BTreeMap<Reason, usize>,
    /// Loops that trapped.
    pub trapped: usize,
    /// Chunk summaries that were combined with a prefix.
    pub joined: usize,
    /// Chunk summaries that had restarted and needed no prefix.
    pub restarted: usize,
    /// Chunk summaries that could not be separated from their prefix.
    pub bound: usize,
    /// Chunks that began within an outer iteration.
    pub within: usize,
    /// Names of the combinators in loops that ran in random order.
    pub kinds: BTreeMap<String, usize>,
}

impl Chunked {
    /// Creates a backend with chunks of `chunk` steps.
    ///
    /// The inner backend must use the same chunk size.
    pub fn new(inner: Arc<dyn Backend>, chunk: u64, seed: u64) -> Chunked {
        Chunked {
            inner,
            chunk,
            seed,
            tally: Arc::default(),
        }
    }

    /// Creates a backend with the language's chunk size.
    pub fn on(inner: Arc<dyn Backend>, seed: u64) -> Chunked {
        Chunked::new(inner, CHUNK, seed)
    }

    /// Copies it with another seed and a shared tally.
    pub fn reseeded(&self, seed: u64) -> Chunked {
        Chunked {
            inner: self.inner.clone(),
            tally: self.tally.clone(),
            chunk: self.chunk,
            seed,
        }
    }

    /// Returns the counts so far.
    pub fn tally(&self) -> Tally {
        self.tally
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Backend for Chunked {
    fn name(&self) -> &'static str {
        "chunked"
    }

    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        let mut program = program.clone();
        raise_levels(&mut program);
        let plan = chunkable(&program).map(|()| ChunkPlan::of(&program));
        let kernel = self.inner.compile(&program)?;
        Ok(Arc::new(ChunkedKernel {
            plan,
            program,
            kernel,
            chunk: self.chunk,
            rng: Mutex::new(Rng::new(self.seed)),
            tally: self.tally.clone(),
        }))
    }
}

impl Tally {
    /// Adds the counts of another backend.
    pub fn add(&mut self, other: &Tally) {
        let pairs = [
            (&mut self.shuffled, other.shuffled),
            (&mut self.nested, other.nested),
            (&mut self.levelled, other.levelled),
            (&mut self.short, other.short),
            (&mut self.trapped, other.trapped),
            (&mut self.joined, other.joined),
            (&mut self.restarted, other.restarted),
            (&mut self.bound, other.bound),
            (&mut self.within, other.within),
        ];
        pairs.into_iter().for_each(|(n, more)| *n += more);
        for (reason, n) in &other.in_order {
            *self.in_order.entry(*reason).or_default() += n;
        }
        for (kind, n) in &other.kinds {
            *self.kinds.entry(kind.clone()).or_default() += n;
        }
    }

    /// Counts a loop that runs in random order.
    fn count(&mut self, plan: &ChunkPlan) {
        self.shuffled += 1;
        self.nested += usize::from(plan.is_nested());
        self.levelled += usize::from(plan.levels.len() > 1);
        for comb in &plan.program.combs {
            *self.kinds.entry(comb.kind.clone()).or_default() += 1;
        }
    }
}

/// A kernel that runs whole loops chunk by chunk.
struct ChunkedKernel {
    /// The chunk plan, or the reason why there is none.
    plan: Result<ChunkPlan, Why>,
    program: Loop,
    kernel: Arc<dyn Kernel>,
    chunk: u64,
    rng: Mutex<Rng>,
    tally: Arc<Mutex<Tally>>,
}

/// Limits spans to a length that covers any test loop.
///
/// Where results may grow, a span has at most as many steps as there is capacity.
pub const WHOLE: u64 = 1 << 20;

impl Kernel for ChunkedKernel {
    fn layout(&self) -> &Layout {
        self.kernel.layout()
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        if pass != Pass::Emit || steps < WHOLE || frame.words[0] != 0 {
            return self.kernel.run(pass, steps, frame, args);
        }
        let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = match &self.plan {
            Ok(plan) => {
                let grid = grid::Grid::new(plan, &*self.kernel, self.chunk, args);
                grid.run(frame, &mut rng, &mut tally)
            }
            Err(why) => {
                *tally.in_order.entry(why.reason).or_default() += 1;
                turns::run(&self.program, &*self.kernel, frame, args, &mut rng)
            }
        };
        ended.unwrap_or_else(Outcome::BadArgs)
    }
}
