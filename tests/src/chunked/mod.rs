//! A backend that runs loops in chunks: summed up and emitted in random order, as threads would;
//! and what cannot be chunked in spans cut anywhere.
//!
//! | module | room for |
//! | --- | --- |
//! | `grid` | chunks of the grid in random order |
//! | `turns` | spans in order, cut anywhere, by turns with the summary form |
//!
//! A loop that may be chunked runs like this:
//!
//! 1. *Places.* A summary without any group but those that decide where steps lie finds each
//!    chunk's beginning.
//! 2. *Levels.* Level by level each chunk is summed up from identities, in random order, and the
//!    sums are joined from left to right with the groups' operators. Sums of what restarts within a
//!    chunk are not joined. A second summary from the joined prefix must end with the same bits: it
//!    also finds the values of outer iterations under way at the chunk's end.
//! 3. *Emit.* Each chunk runs from its prefix, in random order, into the same arrays.
//!
//! A lane group of an outer rate is not joined at a boundary within one of its iterations: its
//! lanes go on. The sum of a chunk that begins so is not told apart from what was before; the tally
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

/// A backend whose kernels run chunk by chunk on another backend's.
pub struct Chunked {
    inner: Arc<dyn Backend>,
    chunk: u64,
    seed: u64,
    tally: Arc<Mutex<Tally>>,
}

/// What was run, over all kernels of a backend.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Loops that ran in random order, with three chunks at least.
    pub shuffled: usize,
    /// Of these, loops with rates within rates.
    pub nested: usize,
    /// Of these, loops that are summed up more than once.
    pub levelled: usize,
    /// Loops that may be chunked but were shorter than that.
    pub short: usize,
    /// Loops that ran in order, by reason.
    pub in_order: BTreeMap<Reason, usize>,
    /// Loops that trapped.
    pub trapped: usize,
    /// Chunks' sums that were joined onto a prefix.
    pub joined: usize,
    /// Chunks' sums that had restarted, and stood for themselves.
    pub restarted: usize,
    /// Chunks' sums that could not be told apart from what was before.
    pub bound: usize,
    /// Chunks that began within an outer iteration.
    pub within: usize,
    /// Names of the combinators in loops that ran in random order.
    pub kinds: BTreeMap<String, usize>,
}

impl Chunked {
    /// Runs on a backend with chunks of so many steps, which must be the backend's own.
    pub fn new(inner: Arc<dyn Backend>, chunk: u64, seed: u64) -> Chunked {
        Chunked {
            inner,
            chunk,
            seed,
            tally: Arc::default(),
        }
    }

    /// Runs on a backend with the language's chunks.
    pub fn on(inner: Arc<dyn Backend>, seed: u64) -> Chunked {
        Chunked::new(inner, CHUNK, seed)
    }

    /// The same with another seed, counting in the same tally.
    pub fn reseeded(&self, seed: u64) -> Chunked {
        Chunked {
            inner: self.inner.clone(),
            tally: self.tally.clone(),
            chunk: self.chunk,
            seed,
        }
    }

    /// What was run so far.
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
    /// Adds what another backend ran.
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
    /// How it is run in chunks, or why it is not.
    plan: Result<ChunkPlan, Why>,
    program: Loop,
    kernel: Arc<dyn Kernel>,
    chunk: u64,
    rng: Mutex<Rng>,
    tally: Arc<Mutex<Tally>>,
}

/// A span of so many steps is the whole of any loop in the tests: where results may grow, a span has no more steps than there is
/// room for.
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
