//! The engine: its options and the kernel cache in memory.

use super::apart::run_apart;
use super::binding::{Bindings, InputPlaces, Nodes};
use super::builder::{Choices, EngineBuilder, RunsOn};
use super::counters::Counters;
use super::dump::{DumpRecord, Stage};
use super::explain::Explanation;
use super::prepared::Prepared;
use super::program::CompiledProgram;
use super::programs::KnownPrograms;
use super::requested::{RequestedSchedules, refused};
use super::watch::{CancelToken, Progress, Watch};
use crate::ast::{Node, Values};
use crate::error::{Error, ErrorKind, Result};
use crate::fusion::Clustering;
use crate::loc::Loc;
use crate::lower::Lowered;
use crate::sharing::{self, Graph, KnownLengths, Met};
use crate::stages;
use livefusion_backend::process::{self, PerProcess};
use livefusion_backend::{Backend, CompileError, Growing, Growth, Kernel, Memory};
use livefusion_interp::InterpBackend;
use loop_lang::Loop;
use rayon::{ThreadPool, ThreadPoolBuilder};
use rustc_hash::FxHashSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

/// Runs programs with its options, kernel cache and counters.
///
/// An engine is cheap to clone. Clones share the cache.
///
/// The default engine is *tiered*. Tiny loops are interpreted. All others run at once on code from
/// an embedded compiler (Cranelift), which takes about a millisecond. Loops that run long or often
/// are compiled as C in the background and then switch to it. Without a C compiler the engine does
/// without this tier, and [`Engine::fallback`] gives the reason. Results have the same bits on
/// every tier. Without the feature `jit` the default engine compiles C first, and interprets where
/// that fails.
///
/// An engine made for one backend never falls back.
///
/// *Old programs.* An engine keeps a [limited](EngineBuilder::program_limit) number of compiled
/// programs. Beyond the limit it evicts the least recently used eighth, with its machine code. An
/// evicted program is compiled again on its next use, with the same results. Dropping an engine
/// leaves results, [prepared](mod@crate::prepare) programs and the forces of other threads intact.
///
/// *Forks.* A forked child may use its parent's engines, arrays and prepared programs. The parent's
/// threads do not exist there, so an engine starts its own and compiles programs again.
/// [External](crate::Array::external) functions, such as sorts, have one thread there. A child must
/// not use an array that another thread of the parent was forcing during the fork. It must not use
/// its parent's GPU, or locks of a backend given to [`backend`](EngineBuilder::backend).
///
/// *Memory.* A force takes at most the free memory of the process, or the [chosen
/// limit](EngineBuilder::memory_limit). Beyond it the force fails with [`ErrorKind::Memory`], and
/// the process continues. A `filter` counts with the elements it keeps, not with its input.
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
pub struct Engine(Arc<EngineState>, Watch);

struct EngineState {
    choices: Choices,
    interp: InterpBackend,
    /// State that a forked child creates again.
    here: PerProcess<ProcessState>,
    tallies: Tallies,
}

/// Counts since the engine was made, apart from the memory that each force reads.
#[derive(Default)]
#[repr(align(128))]
struct Tallies {
    /// Hits of graphs that were recovered.
    hits: AtomicU64,
    recognised: AtomicU64,
    misses: AtomicU64,
    compile_nanos: AtomicU64,
    parallel_loops: AtomicU64,
    parallel_chunks: AtomicU64,
    written_over: AtomicU64,
    in_place: AtomicU64,
    copied: AtomicU64,
    grown: AtomicU64,
}

/// The threads of one process, and the locks they hold.
struct ProcessState {
    runs_on: RunsOn,
    /// Why the backend is no longer used.
    fallback: OnceLock<String>,
    /// Why the backend failed to compile a loop: the first failure.
    refused: OnceLock<String>,
    programs: KnownPrograms,
    /// Helper threads for long loops, started on first use.
    pool: OnceLock<Option<Arc<ThreadPool>>>,
}

static DEFAULT: LazyLock<Engine> = LazyLock::new(|| Engine::builder().build());

impl Engine {
    /// Creates an engine.
    pub(super) fn of(choices: Choices) -> Engine {
        // Enables the detection of forked children from here on.
        process::is_forked();
        let inner = EngineState {
            choices,
            interp: InterpBackend::new(),
            here: PerProcess::new(),
            tallies: Tallies::default(),
        };
        Engine(Arc::new(inner), Watch::default())
    }

    fn here(&self) -> &ProcessState {
        self.0.here.get_or_make(|| ProcessState {
            runs_on: self.0.choices.runs_on(),
            fallback: OnceLock::new(),
            refused: OnceLock::new(),
            programs: KnownPrograms::new(self.0.choices.program_limit),
            pool: OnceLock::new(),
        })
    }

    /// Returns the process-wide default engine.
    pub fn default_engine() -> &'static Engine {
        &DEFAULT
    }

    /// Returns a builder with the default options.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// Returns an engine on this backend.
    pub fn new(backend: Arc<dyn Backend>) -> Engine {
        Engine::builder().backend(backend).build()
    }

    /// Returns an engine on the interpreter.
    ///
    /// It starts in microseconds and needs no compiler.
    pub fn interp() -> Engine {
        Engine::new(Arc::new(InterpBackend::new()))
    }

    /// Returns an engine on the C backend.
    ///
    /// Its forces fail without a C compiler.
    #[cfg(feature = "c")]
    pub fn c() -> Engine {
        Engine::builder().only_c().build()
    }

    /// Returns an engine on Cranelift, an embedded compiler.
    ///
    /// A loop compiles in about a millisecond.
    ///
    /// ```
    /// use livefusion::{Array, Engine, Force};
    /// let xs: Array<f64> = vec![1.0, 2.0, 3.0].into();
    /// assert_eq!(xs.map(|x| x * 2.0).sum().force_with(&Engine::jit())?, 12.0);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[cfg(feature = "jit")]
    pub fn jit() -> Engine {
        Engine::new(Arc::new(livefusion_jit::JitBackend::new()))
    }

    /// Returns an engine on the first NVIDIA device.
    ///
    /// It uses the driver and NVRTC of the machine. Arrays stay on the device. A forced result is
    /// copied to the host on its first access ([`Manifest::fetch`](crate::Manifest::fetch)). Inputs
    /// are copied to the device once. Loops that cannot run in parallel there run on the host, as
    /// on the default engine. `explain()` lists them with reasons.
    ///
    /// Order is kept and integers are exact. The last bits of float sums may differ from those of
    /// processors, and from run to run, unless the engine is
    /// [deterministic](EngineBuilder::deterministic).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1.0, -2.0, 3.0]);
    /// match Engine::cuda() {
    ///     Ok(engine) => assert_eq!(xs.filter(|x: Exp<f64>| x.gt(0.0)).force_with(&engine)?, [1.0, 3.0]),
    ///     Err(e) => assert!(e.to_string().contains("CUDA"), "{e}"),
    /// }
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Backend`] where there is no driver, no device or no NVRTC. The message says
    /// where it looked.
    #[cfg(feature = "cuda")]
    pub fn cuda() -> Result<Engine> {
        Ok(Engine::builder().cuda(0)?.build())
    }

    /// Returns the name of the backend that runs loops.
    ///
    /// After a fallback it is the interpreter's name.
    pub fn backend_name(&self) -> &'static str {
        match self.here().fallback.get() {
            Some(_) => self.0.interp.name(),
            None => self.here().runs_on.backend.name(),
        }
    }

    /// Returns the reason why the default engine runs loops without C, if it does.
    ///
    /// All loops run without C if there is no C compiler, or only one that hangs. Otherwise only
    /// loops that the compiler rejected or did not finish within its
    /// [limits](crate::CompilerLimits) do. The reason is then that of the first such loop.
    pub fn fallback(&self) -> Option<&str> {
        let here = self.here();
        let why = here.fallback.get().or(here.refused.get());
        let why = why.map(String::as_str);
        why.or_else(|| here.runs_on.backend.fallback())
    }

    /// Returns the clustering algorithm.
    pub fn clustering(&self) -> Clustering {
        self.0.choices.clustering
    }

    /// Returns the memory limit of one `force` in bytes.
    ///
    /// [`u64::MAX`] means that none was [chosen](EngineBuilder::memory_limit). The free memory of
    /// the process is the limit then.
    pub fn memory_limit(&self) -> u64 {
        self.0.choices.memory_limit.unwrap_or(u64::MAX)
    }

    /// Returns the memory for a loop when `taken` bytes are in use.
    pub(super) fn memory(&self, taken: u64) -> Memory {
        match self.0.choices.memory_limit {
            Some(limit) => Memory::limited(limit.saturating_sub(taken)),
            None => Memory::of_process(),
        }
    }

    /// Lets arrays of a loop begin short.
    pub(super) fn grow(&self, may: &Arc<[Growing]>, growth: &mut Growth) {
        if !may.is_empty() {
            *growth = Growth::new(may.clone(), self.0.choices.first_room);
        }
    }

    /// Returns the most threads that run one loop.
    pub fn threads(&self) -> usize {
        self.0.choices.threads
    }

    /// Returns an engine that a [`CancelToken`] can stop.
    ///
    /// It shares everything else with this engine.
    pub fn with_cancel(&self, token: CancelToken) -> Engine {
        let mut engine = self.clone();
        engine.1.cancel = Some(token);
        engine
    }

    /// Returns an engine that reports its progress.
    ///
    /// It shares everything else with this engine. It calls `tell` on the forcing thread, between
    /// chunks of long loops.
    ///
    /// The callback may force, block, and wait for other threads. The helpers of the loop continue
    /// meanwhile. A panic in the callback propagates to the caller of the force and leaks nothing.
    ///
    /// On a thread of a rayon pool the callback should not wait for rayon (`yield_now`, `join`,
    /// `install` into another pool). While it waits, rayon runs other jobs of the pool on top of
    /// the force. The force continues only after they end. A job that never ends blocks it forever.
    /// Hand work to another pool with `spawn`, and wait for a channel.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// use std::sync::Arc;
    /// let most = Arc::new(AtomicU64::new(0));
    /// let seen = most.clone();
    /// let engine = Engine::interp().with_progress(move |p| {
    ///     assert_eq!((p.loop_index, p.loops, p.total), (0, 1, Some(1_000_000)));
    ///     seen.fetch_max(p.steps, Ordering::Relaxed);
    /// });
    /// iota(1_000_000).sum().force_with(&engine)?;
    /// assert!(most.load(Ordering::Relaxed) > 0);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn with_progress(&self, tell: impl Fn(Progress) + Send + Sync + 'static) -> Engine {
        let mut engine = self.clone();
        engine.1.progress = Some(Arc::new(tell));
        engine
    }

    pub(super) fn watch(&self) -> &Watch {
        &self.1
    }

    /// Returns the schedules requested for the C backend.
    pub(crate) fn requested(&self) -> &RequestedSchedules {
        &self.0.choices.requested
    }

    /// Tells whether the engine compiles C with a backend of its own.
    pub(crate) fn has_c(&self) -> bool {
        self.here().runs_on.has_c
    }

    pub(super) fn is_eager(&self) -> bool {
        self.0.choices.eager
    }

    /// Returns the engine's own threads, or none if they cannot be started.
    pub(super) fn pool(&self) -> Option<Arc<ThreadPool>> {
        let start = || {
            let pool = ThreadPoolBuilder::new().num_threads(self.0.choices.threads - 1);
            pool.thread_name(|i| format!("livefusion {i}")).build()
        };
        let pool = self.here().pool.get_or_init(|| start().ok().map(Arc::new));
        pool.clone()
    }

    /// Counts a loop that several threads shared.
    pub(super) fn count_parallel(&self, chunks: u64) {
        self.0
            .tallies
            .parallel_loops
            .fetch_add(1, Ordering::Relaxed);
        self.0
            .tallies
            .parallel_chunks
            .fetch_add(chunks, Ordering::Relaxed);
    }

    /// Counts result arrays written over old ones.
    pub(super) fn count_written_over(&self, arrays: u64) {
        if arrays > 0 {
            self.0
                .tallies
                .written_over
                .fetch_add(arrays, Ordering::Relaxed);
        }
    }

    /// Counts arrays updated in place, and bytes copied for other updates.
    pub(super) fn count_updates(&self, in_place: usize, copied: u64) {
        if in_place > 0 {
            self.0
                .tallies
                .in_place
                .fetch_add(in_place as u64, Ordering::Relaxed);
        }
        if copied > 0 {
            self.0.tallies.copied.fetch_add(copied, Ordering::Relaxed);
        }
    }

    /// Counts growth steps of arrays that began short.
    pub(super) fn count_grown(&self, times: u64) {
        if times > 0 {
            self.0.tallies.grown.fetch_add(times, Ordering::Relaxed);
        }
    }

    /// Returns the limit on compiled programs in the cache.
    pub fn program_limit(&self) -> usize {
        self.0.choices.program_limit
    }

    /// Removes all compiled programs from the cache.
    ///
    /// Programs that are running, or held by a [prepared](mod@crate::prepare) one, are dropped
    /// after their last use.
    ///
    /// ```
    /// use livefusion::{Array, Engine, Force};
    /// let engine = Engine::interp();
    /// Array::from(vec![1.0, 2.0]).sum().force_with(&engine)?;
    /// assert_eq!(engine.counters().programs, 1);
    /// engine.clear();
    /// assert_eq!(engine.counters().programs, 0);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn clear(&self) {
        self.here().programs.clear();
    }

    /// Returns the engine's counters.
    pub fn counters(&self) -> Counters {
        let disk = self.here().runs_on.backend.disk_use();
        let tallies = &self.0.tallies;
        let count = |tally: &AtomicU64| tally.load(Ordering::Relaxed);
        let recognised = count(&tallies.recognised);
        Counters {
            hits: count(&tallies.hits) + recognised,
            misses: count(&tallies.misses),
            recognised,
            compile_time: Duration::from_nanos(count(&tallies.compile_nanos)),
            parallel_loops: count(&tallies.parallel_loops),
            parallel_chunks: count(&tallies.parallel_chunks),
            written_over: count(&tallies.written_over),
            in_place: count(&tallies.in_place),
            copied: count(&tallies.copied),
            grown: count(&tallies.grown),
            programs: self.here().programs.kept(),
            evicted: self.here().programs.evicted(),
            disk_hits: disk.hits,
            disk_refused: disk.refused,
            compiler_runs: disk.compiled,
            compiler_failures: disk.failed,
            tiers: self.here().runs_on.backend.tier_runs(),
        }
    }

    /// Explains the loops that a force of these nodes would run.
    ///
    /// Nothing runs, but missing programs are compiled. This counts neither as a hit nor as a miss
    /// in [`counters`](Engine::counters).
    pub fn explain(&self, roots: &[Arc<Node>]) -> Result<Explanation> {
        Prepared::whole(self, roots.to_vec(), Vec::new(), 0)?.explain_with(Vec::new())
    }

    /// Returns the compiled program of a graph, from the cache if possible.
    ///
    /// Concurrent forces of one program compile it once.
    pub(super) fn program(
        &self,
        roots: &[Arc<Node>],
        graph: &Graph,
        lengths: &KnownLengths,
    ) -> Result<Arc<CompiledProgram>> {
        let (program, compiled_here) = self.lookup(roots, graph, lengths)?;
        let counter = if compiled_here {
            &self.0.tallies.misses
        } else {
            &self.0.tallies.hits
        };
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(program)
    }

    /// Returns the compiled program, and whether this call compiled it.
    pub(super) fn lookup(
        &self,
        roots: &[Arc<Node>],
        graph: &Graph,
        lengths: &KnownLengths,
    ) -> Result<(Arc<CompiledProgram>, bool)> {
        let key = graph.key.with(&lengths.pattern());
        self.here().programs.get_or_compile(key, || {
            let start = Instant::now();
            let program = CompiledProgram::compile(self, roots, graph, lengths);
            let nanos = start.elapsed().as_nanos() as u64;
            self.0
                .tallies
                .compile_nanos
                .fetch_add(nanos, Ordering::Relaxed);
            program
        })
    }

    /// Compiles optimised loops, together where that is faster.
    pub(crate) fn compile_all(&self, loops: &[Lowered]) -> Result<Vec<Kernels>> {
        let programs = loops.iter().map(|l| &l.program);
        let sizings = loops.iter().flat_map(|l| &l.sizing);
        self.requested()
            .judge(loops.iter().flat_map(Lowered::programs))?;
        let mut kernels = self.kernels(&programs.chain(sizings).collect::<Vec<_>>())?;
        let mut sizings = kernels.split_off(loops.len()).into_iter();
        let both = |(kernel, l): (_, &Lowered)| Kernels {
            kernel,
            sizing: l.sizing.as_ref().and_then(|_| sizings.next()),
        };
        Ok(kernels.into_iter().zip(loops).map(both).collect())
    }

    fn kernels(&self, programs: &[&Loop]) -> Result<Vec<Arc<dyn Kernel>>> {
        if self.here().fallback.get().is_some() {
            return programs.iter().map(|p| self.interpret(p)).collect();
        }
        let compiled = self.here().runs_on.backend.compile_all(programs);
        if compiled.len() != programs.len() {
            let (got, wanted) = (compiled.len(), programs.len());
            let why = format!("the backend gave {got} kernels for {wanted} loops");
            return Err(backend_error(why));
        }
        let kernel = |(p, compiled): (&&Loop, _)| match compiled {
            Ok(kernel) => Ok(kernel),
            Err(e) if self.here().runs_on.may_fall_back => {
                let _ = match &e {
                    CompileError::Unavailable { why, .. } => self.here().fallback.set(why.clone()),
                    CompileError::Malformed(_) | CompileError::Schedule { .. } => {
                        return Err(not_compiled(&e));
                    }
                    _ => self.here().refused.set(e.in_a_line()),
                };
                self.interpret(p)
            }
            Err(e) => Err(not_compiled(&e)),
        };
        programs.iter().zip(compiled).map(kernel).collect()
    }

    /// Returns the source that the backend generates. On a tiered engine it is the C, on every
    /// tier.
    pub(crate) fn source(&self, program: &Loop, kernel: &dyn Kernel) -> Option<String> {
        let own = self.here().runs_on.source(program);
        own.or_else(|| kernel.source().map(str::to_string))
    }

    /// Compiles a loop for the interpreter, which is the fallback and replays traps.
    pub(super) fn interpret(&self, program: &Loop) -> Result<Arc<dyn Kernel>> {
        self.0.interp.compile(program).map_err(|e| not_compiled(&e))
    }
}

/// Recovers the graph to run; inputs take the place of some nodes.
///
/// A graph with an error is dumped as its AST only.
///
/// Errors: the first error made while the graph was built.
pub(super) fn recover(
    roots: &[Arc<Node>],
    instead: &mut dyn FnMut(&Arc<Node>) -> Option<Arc<Node>>,
) -> Result<Graph> {
    let show = |_: &Error| DumpRecord::next().add(Stage::Ast, || stages::ast_of(roots));
    sharing::recover(roots, instead).inspect_err(show)
}

/// A compiled loop.
pub(crate) struct Kernels {
    /// Its kernel.
    pub kernel: Arc<dyn Kernel>,
    /// The kernel that counts its results first, if their number must be known.
    pub sizing: Option<Arc<dyn Kernel>>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Engine({}, {})", self.backend_name(), self.counters())
    }
}

/// Turns a compile error into an error of the force.
pub(super) fn not_compiled(why: &CompileError) -> Error {
    match why {
        CompileError::Schedule { .. } => refused(why.to_string()),
        _ => backend_error(why.to_string()),
    }
}

/// Returns an error of the backend or of the engine itself.
pub(super) fn backend_error(why: String) -> Error {
    Error {
        combinator: "force",
        row: None,
        element: None,
        location: None,
        kind: ErrorKind::Backend(why),
    }
}

/// Computes nodes, fused into as few loops as their rates allow.
///
/// This is the untyped [`Force`](crate::Force). Each result stays with its node.
///
/// The elements of an array of rank 2 or more come row by row. Delayed lengths of its axes are
/// nodes too, and can be forced with it.
///
/// ```
/// use livefusion::ast::{Axis, Builder, Len, Shape, Value, identity, Ty};
/// use livefusion::runtime::{Engine, force_nodes};
/// let builder = Builder::named("table");
/// let numbers = builder.generate(Len::Known(6), identity(&[Ty::U64]));
/// let table = builder.reshape(&numbers, Some(Shape::new([Axis::from(2), Axis::from(3)])));
/// let total = builder.sum(&numbers);
/// let values = force_nodes(Engine::default_engine(), &[table.clone(), total])?;
/// let [Value::Array(columns), Value::Scalar(total)] = &values[..] else { panic!() };
/// assert_eq!((columns[0].len(), total[0].bits), (6, 15));
/// assert_eq!(table.shape.as_ref().and_then(Shape::known), Some(vec![2, 3]));
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// An error made while the graph was built, a failed compilation, or a trap. Inputs stay usable.
pub fn force_nodes(engine: &Engine, roots: &[Arc<Node>]) -> Result<Values> {
    force_kept(engine, roots, |_| true)
}

/// Works as [`force_nodes`], for a call at this location.
pub(crate) fn force_at(engine: &Engine, roots: &[Arc<Node>], loc: Loc) -> Result<Values> {
    let values = force_nodes(engine, roots)?;
    for root in roots {
        // The first force is the one that computed it.
        let _ = root.forced.set(loc);
    }
    Ok(values)
}

/// Works as [`force_nodes`], but only some of the nodes keep their values.
pub(super) fn force_kept(
    engine: &Engine,
    roots: &[Arc<Node>],
    keeps: impl Fn(&Arc<Node>) -> bool,
) -> Result<Values> {
    let is_missing = |r: &Arc<Node>| r.value.get().is_none() || r.error.is_some();
    if roots.iter().any(is_missing) {
        run_apart(engine, roots, &FxHashSet::default())?;
    }
    if roots.iter().any(is_missing) {
        let results = run(engine, roots)?;
        for (root, value) in roots.iter().zip(&results).filter(|(root, _)| keeps(root)) {
            // Another thread may have forced it meanwhile, with the same value.
            let _ = root.value.set(value.clone());
        }
        return Ok(results);
    }
    Ok(roots
        .iter()
        .filter_map(|r| r.value.get().cloned())
        .collect())
}

/// Runs the program of nodes, some of which have no value yet.
fn run(engine: &Engine, roots: &[Arc<Node>]) -> Result<Values> {
    let (mut met, mut values) = (Met::default(), Values::new());
    if let Some(program) = engine.here().programs.recognise(roots, &mut met) {
        engine.0.tallies.recognised.fetch_add(1, Ordering::Relaxed);
        let mut bindings = Bindings {
            nodes: Nodes::Met(&met.nodes),
            constants: &met.constants,
            lengths: &met.lengths,
            inputs: InputPlaces::default(),
        };
        program.run(engine, &mut bindings, &mut [], &mut values)?;
        return Ok(values);
    }
    let graph = recover(roots, &mut |_| None)?;
    let lengths = KnownLengths::of(&graph, &[]);
    let program = engine.program(roots, &graph, &lengths)?;
    let programs = &engine.here().programs;
    programs.remember(roots, &graph, &lengths, &program);
    let known: Vec<u64> = lengths.arrays.iter().flatten().copied().collect();
    let mut bindings = Bindings {
        nodes: Nodes::Of(&graph),
        constants: &graph.constants,
        lengths: &known,
        inputs: InputPlaces::default(),
    };
    program.run(engine, &mut bindings, &mut [], &mut values)?;
    Ok(values)
}
