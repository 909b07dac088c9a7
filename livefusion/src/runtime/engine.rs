//! The engine: backend, limits, and the kernel cache in memory.

use super::binding::{Bindings, Nodes};
use super::explain::Explanation;
use super::program::Program;
use crate::ast::{Node, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::fusion::Clustering;
use crate::fusion::rates::{Pattern, known_lengths, length_pattern};
use crate::sharing::{Graph, GraphKey, Met, Skeleton, recover};
use dashmap::DashMap;
use livefusion_backend::{Backend, CompileError, Kernel};
use livefusion_c::{CBackend, KernelCache};
use livefusion_interp::InterpBackend;
use loop_lang::Loop;
use once_cell::sync::OnceCell;
use rustc_hash::FxHasher;
use std::collections::VecDeque;
use std::fmt;
use std::hash::Hasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

/// Holds the choices (backend, clustering, memory limit) and what was compiled. Cheap to clone; clones share the cache.
///
/// The default engine compiles C with the system's compiler. On a machine without one it interprets, and
/// says why in [`Engine::fallback`]. An engine made for one backend never falls back, with one exception:
/// a loop of more than 20,000 statements (a chain of as many combinators) is always interpreted, because C
/// compilers take far more than linear time for it.
///
/// ```
/// use livefusion::{Array, Engine, Force};
/// let engine = Engine::interp();
/// let xs: Array<f64> = vec![1.0, 2.0, 3.0].into();
/// assert_eq!(xs.sum().force_with(&engine)?, 6.0);
/// assert_eq!(engine.counters().misses, 1);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    backend: Arc<dyn Backend>,
    interp: InterpBackend,
    may_fall_back: bool,
    fallback: OnceLock<String>,
    clustering: Clustering,
    memory_limit: u64,
    programs: DashMap<GraphKey, Arc<OnceCell<Arc<Program>>>>,
    /// Graphs whose program is known, by their [`hint`]: they need not be recovered.
    known: DashMap<u64, VecDeque<Arc<Known>>>,
    hits: AtomicU64,
    recognised: AtomicU64,
    misses: AtomicU64,
    compile_nanos: AtomicU64,
}

/// A graph that was forced before.
struct Known {
    skeleton: Skeleton,
    /// The equality pattern of its lengths.
    lengths: Pattern,
    program: Arc<Program>,
}

/// So many graphs of one hint are kept.
const ALIKE: usize = 4;

/// So many nodes above a root tell graphs apart, before they are compared.
const TELLING: usize = 12;

/// A number that is often the same for graphs of one structure, and often another for others: it hangs on
/// where a few combinators were called.
fn hint(roots: &[Arc<Node>]) -> u64 {
    let mut h = FxHasher::default();
    for root in roots {
        let mut at = Some(root);
        for _ in 0..TELLING {
            let Some(node) = at else { break };
            h.write_usize(std::ptr::from_ref(node.loc) as usize);
            at = node.inputs.first();
        }
    }
    h.write_usize(roots.len());
    h.finish()
}

/// What the kernel cache has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Forces that found their program compiled.
    pub hits: u64,
    /// Forces that compiled theirs.
    pub misses: u64,
    /// Those of the hits whose graph was like one forced before, by the same code: it was not even recovered.
    pub recognised: u64,
    /// Time spent planning, lowering and compiling.
    pub compile_time: Duration,
    /// Compiled files that the [`KernelCache`] on disk had.
    pub disk_hits: u64,
    /// Entries of that cache that were damaged, or that another user can have written; they were made anew.
    pub disk_refused: u64,
    /// Files that the C compiler made.
    pub compiler_runs: u64,
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} hits, {} misses, {:.1?} compiling, {} files compiled, {} from disk",
            self.hits, self.misses, self.compile_time, self.compiler_runs, self.disk_hits
        )
    }
}

/// Chooses what an [`Engine`] does.
///
/// ```
/// use livefusion::Engine;
/// let engine = Engine::builder().memory_limit(1 << 30).build();
/// assert_eq!(engine.memory_limit(), 1 << 30);
/// ```
#[derive(Default)]
pub struct EngineBuilder {
    backend: Option<Arc<dyn Backend>>,
    clustering: Clustering,
    memory_limit: Option<u64>,
    kernel_cache: KernelCache,
}

impl EngineBuilder {
    /// Uses this backend and no other. Default: C, or the interpreter where there is no C compiler.
    pub fn backend(mut self, backend: Arc<dyn Backend>) -> Self {
        self.backend = Some(backend);
        self
    }

    /// How combinators are put into loops. Default: optimally, within about a millisecond of planning.
    ///
    /// ```
    /// use livefusion::{Clustering, Engine};
    /// let engine = Engine::builder().clustering(Clustering::Greedy).build();
    /// assert_eq!(engine.clustering(), Clustering::Greedy);
    /// ```
    pub fn clustering(mut self, clustering: Clustering) -> Self {
        self.clustering = clustering;
        self
    }

    /// How many bytes the results and intermediates of one `force` may take. Default: no limit.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Where compiled C is kept for the next process: in a folder, or nowhere. Default: what
    /// `LIVEFUSION_CACHE_DIR` says, else among the user's caches; see [`KernelCache`]. It is for the engine's
    /// own C backend; one that is given to [`backend`](EngineBuilder::backend) has its own.
    ///
    /// ```
    /// use livefusion::{Array, Engine, Force, KernelCache};
    /// let folder = tempfile::tempdir()?;
    /// for process in 0..2 {
    ///     // The second would be another process; here it is another engine, which has compiled nothing.
    ///     let cache = KernelCache::in_folder(folder.path().join("kernels"));
    ///     let engine = Engine::builder().kernel_cache(cache).build();
    ///     let xs: Array<f64> = vec![1.0, 2.0, 3.0].into();
    ///     assert_eq!(xs.sum().force_with(&engine)?, 6.0);
    ///     # if engine.fallback().is_some() { break; }
    ///     assert_eq!(engine.counters().disk_hits, process);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn kernel_cache(mut self, cache: KernelCache) -> Self {
        self.kernel_cache = cache;
        self
    }

    /// The engine.
    pub fn build(self) -> Engine {
        let c = || CBackend::new().with_cache(self.kernel_cache);
        Engine(Arc::new(Inner {
            may_fall_back: self.backend.is_none(),
            backend: self.backend.unwrap_or_else(|| Arc::new(c())),
            interp: InterpBackend::new(),
            fallback: OnceLock::new(),
            clustering: self.clustering,
            memory_limit: self.memory_limit.unwrap_or(u64::MAX),
            programs: DashMap::new(),
            known: DashMap::new(),
            hits: AtomicU64::new(0),
            recognised: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            compile_nanos: AtomicU64::new(0),
        }))
    }
}

/// Loops of more statements are interpreted. gcc took 1.6 s for 10,000 chained maps, 8 s for 30,000, and
/// did not finish 100,000 in four minutes.
const HUGE_LOOP: usize = 20_000;

fn statements(program: &Loop) -> usize {
    program
        .blocks
        .iter()
        .map(|(_, block)| block.stmts.len())
        .sum()
}

static DEFAULT: LazyLock<Engine> = LazyLock::new(|| Engine::builder().build());

impl Engine {
    /// The engine that serves those who never heard of it.
    pub fn default_engine() -> &'static Engine {
        &DEFAULT
    }

    /// Starts from the defaults.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// An engine on this backend.
    pub fn new(backend: Arc<dyn Backend>) -> Engine {
        Engine::builder().backend(backend).build()
    }

    /// An engine on the interpreter: starts in microseconds, needs no compiler.
    pub fn interp() -> Engine {
        Engine::new(Arc::new(InterpBackend::new()))
    }

    /// An engine on the C backend, which fails to force where there is no C compiler.
    pub fn c() -> Engine {
        Engine::new(Arc::new(CBackend::new()))
    }

    /// The name of the backend that runs loops: the interpreter's once the engine has fallen back to it.
    pub fn backend_name(&self) -> &'static str {
        match self.fallback() {
            Some(_) => self.0.interp.name(),
            None => self.0.backend.name(),
        }
    }

    /// Why the default engine interprets, if it has found that it cannot compile.
    pub fn fallback(&self) -> Option<&str> {
        self.0.fallback.get().map(String::as_str)
    }

    /// How combinators are put into loops.
    pub fn clustering(&self) -> Clustering {
        self.0.clustering
    }

    /// How many bytes the results of one `force` may take.
    pub fn memory_limit(&self) -> u64 {
        self.0.memory_limit
    }

    /// What the kernel cache has done so far.
    pub fn counters(&self) -> Counters {
        let disk = self.0.backend.disk_use();
        Counters {
            hits: self.0.hits.load(Ordering::Relaxed),
            misses: self.0.misses.load(Ordering::Relaxed),
            recognised: self.0.recognised.load(Ordering::Relaxed),
            compile_time: Duration::from_nanos(self.0.compile_nanos.load(Ordering::Relaxed)),
            disk_hits: disk.hits,
            disk_refused: disk.refused,
            compiler_runs: disk.compiled,
        }
    }

    /// Says into which loops a force of these nodes would fuse, without running anything. It compiles
    /// what is not compiled yet, but is neither a hit nor a miss in [`counters`](Engine::counters).
    pub fn explain(&self, roots: &[Arc<Node>]) -> Result<Explanation> {
        let graph = recover(roots)?;
        let lengths = known_lengths(&graph, &[]);
        let (program, _) = self.lookup(&graph, &lengths)?;
        Ok(Explanation::new(&graph, &program, self))
    }

    /// The compiled program of a graph, from the cache if it is there. Concurrent forces of one program
    /// compile it once.
    pub(super) fn program(&self, graph: &Graph, lengths: &[Option<u64>]) -> Result<Arc<Program>> {
        let (program, compiled_here) = self.lookup(graph, lengths)?;
        let counter = if compiled_here {
            &self.0.misses
        } else {
            &self.0.hits
        };
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(program)
    }

    /// The program of a graph that was forced before, with what it is to be bound to.
    fn recognise<'a>(&self, roots: &'a [Arc<Node>]) -> Option<(Arc<Program>, Met<'a>)> {
        let known = self.0.known.get(&hint(roots))?;
        let (program, met) = known.iter().find_map(|known| {
            let met = known.skeleton.recognise(roots)?;
            let same = length_pattern(met.lengths.iter().copied()) == known.lengths;
            same.then(|| (known.program.clone(), met))
        })?;
        self.0.hits.fetch_add(1, Ordering::Relaxed);
        self.0.recognised.fetch_add(1, Ordering::Relaxed);
        Some((program, met))
    }

    /// Takes notes of a graph, so that it is recognised when it comes again.
    fn remember(
        &self,
        roots: &[Arc<Node>],
        graph: &Graph,
        lengths: &[Option<u64>],
        program: &Arc<Program>,
    ) {
        let Some(skeleton) = Skeleton::of(roots, graph, lengths) else {
            return;
        };
        let mut known = self.0.known.entry(hint(roots)).or_default();
        known.truncate(ALIKE - 1);
        known.push_front(Arc::new(Known {
            skeleton,
            lengths: length_pattern(lengths.iter().flatten().copied()),
            program: program.clone(),
        }));
    }

    /// The compiled program, and whether it had to be compiled.
    fn lookup(&self, graph: &Graph, lengths: &[Option<u64>]) -> Result<(Arc<Program>, bool)> {
        let key = graph
            .key
            .with(&length_pattern(lengths.iter().flatten().copied()));
        let cell = match self.0.programs.get(&key) {
            Some(cell) => cell.value().clone(),
            None => self.0.programs.entry(key).or_default().value().clone(),
        };
        let mut compiled_here = false;
        let program = cell.get_or_try_init(|| {
            compiled_here = true;
            let start = Instant::now();
            let program = Program::compile(self, graph, lengths);
            let nanos = start.elapsed().as_nanos() as u64;
            self.0.compile_nanos.fetch_add(nanos, Ordering::Relaxed);
            program.map(Arc::new)
        })?;
        Ok((program.clone(), compiled_here))
    }

    /// Compiles a loop with the engine's backend.
    pub(super) fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>> {
        if self.fallback().is_some() || statements(program) > HUGE_LOOP {
            return self.interpret(program);
        }
        match self.0.backend.compile(program) {
            Ok(kernel) => Ok(kernel),
            Err(CompileError::Unavailable { why, .. }) if self.0.may_fall_back => {
                let _ = self.0.fallback.set(why);
                self.interpret(program)
            }
            Err(e) => Err(backend_error(e.to_string())),
        }
    }

    /// Compiles a loop for the interpreter: the fallback, and the one that replays traps.
    pub(super) fn interpret(&self, program: &Loop) -> Result<Arc<dyn Kernel>> {
        self.0
            .interp
            .compile(program)
            .map_err(|e| backend_error(e.to_string()))
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Engine({}, {})", self.backend_name(), self.counters())
    }
}

/// An error of the backend, or of the engine itself.
pub(super) fn backend_error(why: String) -> Error {
    Error {
        combinator: "force",
        location: None,
        kind: ErrorKind::Backend(why),
    }
}

/// Computes nodes, fused into as few loops as their rates allow. Each result stays with its node.
///
/// Errors: whatever was wrong while the graph was built, could not be compiled, or trapped; inputs stay
/// usable.
pub fn force_nodes(engine: &Engine, roots: &[Arc<Node>]) -> Result<Vec<Value>> {
    if roots
        .iter()
        .any(|r| r.value.get().is_none() || r.error.is_some())
    {
        let results = run(engine, roots)?;
        for (root, value) in roots.iter().zip(results) {
            // Another thread may have forced it meanwhile: its value is the same.
            let _ = root.value.set(value);
        }
    }
    Ok(roots
        .iter()
        .filter_map(|r| r.value.get().cloned())
        .collect())
}

/// The values of nodes that are not all there.
fn run(engine: &Engine, roots: &[Arc<Node>]) -> Result<Vec<Value>> {
    if let Some((program, met)) = engine.recognise(roots) {
        let bindings = Bindings {
            nodes: Nodes::Met(&met.nodes),
            constants: &met.constants,
            lengths: &met.lengths,
            inputs: &[],
        };
        return program.run(engine, &bindings);
    }
    let graph = recover(roots)?;
    let lengths = known_lengths(&graph, &[]);
    let program = engine.program(&graph, &lengths)?;
    engine.remember(roots, &graph, &lengths, &program);
    let known: Vec<u64> = lengths.iter().flatten().copied().collect();
    let bindings = Bindings {
        nodes: Nodes::Of(&graph),
        constants: &graph.constants,
        lengths: &known,
        inputs: &[],
    };
    program.run(engine, &bindings)
}
