//! The engine: what was chosen, and the kernel cache in memory.

use super::apart::run_apart;
use super::asked::{Asked, refused};
use super::binding::{Bindings, Inputs, Nodes};
use super::builder::{Choices, EngineBuilder, RunsOn};
use super::counters::Counters;
use super::dump::{Record, Stage};
use super::explain::Explanation;
use super::prepared::Prepared;
use super::program::Program;
use super::programs::Programs;
use super::watch::{CancelToken, Progress, Watch};
use crate::ast::{Node, Values};
use crate::error::{Error, ErrorKind, Result};
use crate::fusion::Clustering;
use crate::fusion::rates::{known_lengths, length_pattern};
use crate::lower::Lowered;
use crate::sharing::{self, Graph};
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

/// Holds the choices (backend, clustering, memory limit) and what was compiled. Cheap to clone; clones share the cache.
///
/// The default engine is *tiered*: what is tiny is interpreted, everything else runs at once on code that an
/// embedded compiler (Cranelift) makes in about a millisecond, and what runs long or often is
/// compiled as C in the background and goes over to that. On a machine without a C compiler it does without,
/// and says why in [`Engine::fallback`]. Results have the same bits on every tier. Without the feature `jit`
/// the default engine compiles C first, and interprets where that cannot be done.
///
/// An engine made for one backend never falls back.
///
/// *Old programs.* An engine keeps so many compiled programs (its [limit](EngineBuilder::program_limit)). When there are more, an
/// eighth of them goes, with their machine code: those that were not used for longest. One that comes again is compiled anew,
/// and gives the same. A dropped engine takes nothing with it: results stay, and programs that were
/// [prepared](mod@crate::prepare), and forces of other threads.
///
/// *Forks.* A forked child may use its parent's engines, arrays and prepared programs. It has none of the parent's threads, so an
/// engine starts its own there, and compiles programs anew. Functions that run [apart](crate::Array::external), sorts among them,
/// have one thread. A child may not use an array that another thread of the parent was forcing at that moment. Nor may it use a
/// GPU of its parent's, or locks of a backend that was given to [`backend`](EngineBuilder::backend).
///
/// A force takes no more memory than the process has free, or than was [chosen](EngineBuilder::memory_limit): beyond that it
/// fails with [`ErrorKind::Memory`], and the process goes on. The kept elements of a `filter` count, not its input.
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
pub struct Engine(Arc<Inner>, Watch);

struct Inner {
    choices: Choices,
    interp: InterpBackend,
    /// The parts that a forked child makes anew.
    here: PerProcess<Here>,
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

/// Threads of one process, and the locks that they hold.
struct Here {
    runs_on: RunsOn,
    /// Why the backend is not asked any more.
    fallback: OnceLock<String>,
    /// Why it did not compile a loop, the first of those that it did not.
    refused: OnceLock<String>,
    programs: Programs,
    /// Helpers for long loops, from the first one on.
    pool: OnceLock<Option<Arc<ThreadPool>>>,
}

static DEFAULT: LazyLock<Engine> = LazyLock::new(|| Engine::builder().build());

impl Engine {
    /// An engine that has done nothing yet.
    pub(super) fn of(choices: Choices) -> Engine {
        // From here on children that are forked can be told from this process.
        process::is_forked();
        let inner = Inner {
            choices,
            interp: InterpBackend::new(),
            here: PerProcess::new(),
            hits: AtomicU64::new(0),
            recognised: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            compile_nanos: AtomicU64::new(0),
            parallel_loops: AtomicU64::new(0),
            parallel_chunks: AtomicU64::new(0),
            written_over: AtomicU64::new(0),
            in_place: AtomicU64::new(0),
            copied: AtomicU64::new(0),
            grown: AtomicU64::new(0),
        };
        Engine(Arc::new(inner), Watch::default())
    }

    fn here(&self) -> &Here {
        self.0.here.get_or_make(|| Here {
            runs_on: self.0.choices.runs_on(),
            fallback: OnceLock::new(),
            refused: OnceLock::new(),
            programs: Programs::new(self.0.choices.program_limit),
            pool: OnceLock::new(),
        })
    }

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
    #[cfg(feature = "c")]
    pub fn c() -> Engine {
        Engine::builder().only_c().build()
    }

    /// An engine on the embedded compiler: Cranelift compiles a loop in about a millisecond.
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

    /// An engine on the first of NVIDIA's devices, with the driver and NVRTC of the machine. Arrays stay on the device: what is
    /// forced comes back when it is looked at ([`Manifest::fetch`](crate::Manifest::fetch)), and inputs are copied once. Loops that
    /// cannot run in parallel there run on the host as the default engine runs them; `explain()` says which, and why.
    ///
    /// Order is kept and integers are exact; the last bits of sums of floats may be others than on processors, and differ from
    /// run to run, unless the engine is [deterministic](EngineBuilder::deterministic).
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
    /// [`ErrorKind::Backend`] where there is no driver, no device or no NVRTC: it says what was looked for.
    #[cfg(feature = "cuda")]
    pub fn cuda() -> Result<Engine> {
        Ok(Engine::builder().cuda(0)?.build())
    }

    /// The name of the backend that runs loops: the interpreter's once the engine has fallen back to it.
    pub fn backend_name(&self) -> &'static str {
        match self.here().fallback.get() {
            Some(_) => self.0.interp.name(),
            None => self.here().runs_on.backend.name(),
        }
    }

    /// Why the default engine does without C, if it does: for all loops, where there is no C compiler or only
    /// one that hangs; else for those that the compiler refused, or did not finish within its
    /// [limits](crate::CompilerLimits), of which this is the first one's reason.
    pub fn fallback(&self) -> Option<&str> {
        let here = self.here();
        let why = here.fallback.get().or(here.refused.get());
        let why = why.map(String::as_str);
        why.or_else(|| here.runs_on.backend.fallback())
    }

    /// How combinators are put into loops.
    pub fn clustering(&self) -> Clustering {
        self.0.choices.clustering
    }

    /// How many bytes the results of one `force` may take: [`u64::MAX`] if none was
    /// [chosen](EngineBuilder::memory_limit), so that the free memory of the process is the limit.
    pub fn memory_limit(&self) -> u64 {
        self.0.choices.memory_limit.unwrap_or(u64::MAX)
    }

    /// The memory of a loop, if so many bytes are taken.
    pub(super) fn memory(&self, taken: u64) -> Memory {
        match self.0.choices.memory_limit {
            Some(limit) => Memory::limited(limit.saturating_sub(taken)),
            None => Memory::of_process(),
        }
    }

    /// How arrays of a loop grow that may begin short.
    pub(super) fn growing(&self, may: &Arc<[Growing]>) -> Growth {
        match may.is_empty() {
            true => Growth::default(),
            false => Growth::new(may.clone(), self.0.choices.first_room),
        }
    }

    /// How many threads may run one loop.
    pub fn threads(&self) -> usize {
        self.0.choices.threads
    }

    /// An engine that stops when the token says so, and shares everything else with this one. See
    /// [`CancelToken`].
    pub fn with_cancel(&self, token: CancelToken) -> Engine {
        let mut engine = self.clone();
        engine.1.cancel = Some(token);
        engine
    }

    /// An engine that says now and then how far it is, and shares everything else with this one. It calls
    /// `tell` on the thread that forces, between chunks of long loops.
    ///
    /// The callback may force, take its time, and wait for other threads: those that help with the loop are not held up. A
    /// panic in it goes through to the caller of the force, and leaves nothing behind.
    ///
    /// On a thread of a rayon pool it should not wait for rayon (`yield_now`, `join`, `install` into another pool). Rayon runs
    /// other jobs of the thread's own pool meanwhile, on top of the force, which goes on only when they have ended. A job that
    /// never ends holds the force up for ever. Hand work to another pool with `spawn`, and wait for a channel.
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

    /// The schedules that its C backend is asked for.
    pub(crate) fn asked(&self) -> &Asked {
        &self.0.choices.asked
    }

    /// Whether it compiles C by a backend of its own.
    pub(crate) fn has_c(&self) -> bool {
        self.here().runs_on.has_c
    }

    pub(super) fn is_eager(&self) -> bool {
        self.0.choices.eager
    }

    /// The engine's own threads; none if they cannot be started.
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
        self.0.parallel_loops.fetch_add(1, Ordering::Relaxed);
        self.0.parallel_chunks.fetch_add(chunks, Ordering::Relaxed);
    }

    /// Counts arrays that were made in the memory of old results.
    pub(super) fn count_written_over(&self, arrays: u64) {
        self.0.written_over.fetch_add(arrays, Ordering::Relaxed);
    }

    /// Counts arrays that a loop changed in place, and bytes that it copied to change the copies.
    pub(super) fn count_updates(&self, in_place: usize, copied: u64) {
        if in_place > 0 {
            self.0
                .in_place
                .fetch_add(in_place as u64, Ordering::Relaxed);
        }
        if copied > 0 {
            self.0.copied.fetch_add(copied, Ordering::Relaxed);
        }
    }

    /// Counts how often arrays grew that had begun short.
    pub(super) fn count_grown(&self, times: u64) {
        if times > 0 {
            self.0.grown.fetch_add(times, Ordering::Relaxed);
        }
    }

    /// How many compiled programs are kept.
    pub fn program_limit(&self) -> usize {
        self.0.choices.program_limit
    }

    /// Forgets all programs that were compiled. Those that run, or that a [prepared](mod@crate::prepare) one
    /// holds, are dropped when they are done.
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

    /// What the kernel cache and the threads have done so far.
    pub fn counters(&self) -> Counters {
        let disk = self.here().runs_on.backend.disk_use();
        Counters {
            hits: self.0.hits.load(Ordering::Relaxed),
            misses: self.0.misses.load(Ordering::Relaxed),
            recognised: self.0.recognised.load(Ordering::Relaxed),
            compile_time: Duration::from_nanos(self.0.compile_nanos.load(Ordering::Relaxed)),
            parallel_loops: self.0.parallel_loops.load(Ordering::Relaxed),
            parallel_chunks: self.0.parallel_chunks.load(Ordering::Relaxed),
            written_over: self.0.written_over.load(Ordering::Relaxed),
            in_place: self.0.in_place.load(Ordering::Relaxed),
            copied: self.0.copied.load(Ordering::Relaxed),
            grown: self.0.grown.load(Ordering::Relaxed),
            programs: self.here().programs.kept(),
            evicted: self.here().programs.evicted(),
            disk_hits: disk.hits,
            disk_refused: disk.refused,
            compiler_runs: disk.compiled,
            compiler_failures: disk.failed,
            tiers: self.here().runs_on.backend.tier_runs(),
        }
    }

    /// Says into which loops a force of these nodes would fuse, without running anything. It compiles what is not compiled
    /// yet, but is neither a hit nor a miss in [`counters`](Engine::counters).
    pub fn explain(&self, roots: &[Arc<Node>]) -> Result<Explanation> {
        Prepared::whole(self, roots.to_vec(), Vec::new(), 0)?.explain_with(Vec::new())
    }

    /// The compiled program of a graph, from the cache if it is there. Concurrent forces of one program
    /// compile it once.
    pub(super) fn program(
        &self,
        roots: &[Arc<Node>],
        graph: &Graph,
        lengths: &[Option<u64>],
    ) -> Result<Arc<Program>> {
        let (program, compiled_here) = self.lookup(roots, graph, lengths)?;
        let counter = if compiled_here {
            &self.0.misses
        } else {
            &self.0.hits
        };
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(program)
    }

    /// The compiled program, and whether it had to be compiled.
    pub(super) fn lookup(
        &self,
        roots: &[Arc<Node>],
        graph: &Graph,
        lengths: &[Option<u64>],
    ) -> Result<(Arc<Program>, bool)> {
        let key = graph
            .key
            .with(&length_pattern(lengths.iter().flatten().copied()));
        self.here().programs.get_or_compile(key, || {
            let start = Instant::now();
            let program = Program::compile(self, roots, graph, lengths);
            let nanos = start.elapsed().as_nanos() as u64;
            self.0.compile_nanos.fetch_add(nanos, Ordering::Relaxed);
            program
        })
    }

    /// Compiles optimised loops, all at once where that is sooner done.
    pub(crate) fn compile_all(&self, loops: &[Lowered]) -> Result<Vec<Kernels>> {
        let programs = loops.iter().map(|l| &l.program);
        let sizings = loops.iter().flat_map(|l| &l.sizing);
        self.asked()
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

    /// What the backend writes for its compiler, if it does: of a tiered engine the C, whoever runs the loop now.
    pub(crate) fn source(&self, program: &Loop, kernel: &dyn Kernel) -> Option<String> {
        let own = self.here().runs_on.source(program);
        own.or_else(|| kernel.source().map(str::to_string))
    }

    /// Compiles a loop for the interpreter: the fallback, and the one that replays traps.
    pub(super) fn interpret(&self, program: &Loop) -> Result<Arc<dyn Kernel>> {
        self.0.interp.compile(program).map_err(|e| not_compiled(&e))
    }
}

/// Recovers the graph that is to be run, behind nodes in whose place there are inputs. Of a mistake nothing but the nodes can be shown.
///
/// Errors: the first mistake that was made while the graph was built.
pub(super) fn recover(
    roots: &[Arc<Node>],
    instead: &mut dyn FnMut(&Arc<Node>) -> Option<Arc<Node>>,
) -> Result<Graph> {
    let show = |_: &Error| Record::next().add(Stage::Ast, || stages::ast_of(roots));
    sharing::recover(roots, instead).inspect_err(show)
}

/// A loop, compiled.
pub(crate) struct Kernels {
    /// Its kernel.
    pub kernel: Arc<dyn Kernel>,
    /// The kernel that finds how many elements it makes, if that must be found first.
    pub sizing: Option<Arc<dyn Kernel>>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Engine({}, {})", self.backend_name(), self.counters())
    }
}

/// What a backend says of a loop, or of all.
pub(super) fn not_compiled(why: &CompileError) -> Error {
    match why {
        CompileError::Schedule { .. } => refused(why.to_string()),
        _ => backend_error(why.to_string()),
    }
}

/// An error of the backend, or of the engine itself.
pub(super) fn backend_error(why: String) -> Error {
    Error {
        combinator: "force",
        element: None,
        location: None,
        kind: ErrorKind::Backend(why),
    }
}

/// Computes nodes, fused into as few loops as their rates allow: the untyped [`Force`](crate::Force). Each result stays with its
/// node.
///
/// The elements of an array of rank 2 and more come row by row; lengths of its axes that are delayed are nodes, too, which can be
/// forced with it.
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
/// Whatever was wrong while the graph was built, could not be compiled, or trapped; inputs stay usable.
pub fn force_nodes(engine: &Engine, roots: &[Arc<Node>]) -> Result<Values> {
    force_kept(engine, roots, |_| true)
}

/// As [`force_nodes`]; only some of the nodes keep their values.
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
            // Another thread may have forced it meanwhile: its value is the same.
            let _ = root.value.set(value.clone());
        }
        return Ok(results);
    }
    Ok(roots
        .iter()
        .filter_map(|r| r.value.get().cloned())
        .collect())
}

/// The values of nodes that are not all there.
fn run(engine: &Engine, roots: &[Arc<Node>]) -> Result<Values> {
    if let Some((program, met)) = engine.here().programs.recognise(roots) {
        engine.0.hits.fetch_add(1, Ordering::Relaxed);
        engine.0.recognised.fetch_add(1, Ordering::Relaxed);
        let mut bindings = Bindings {
            nodes: Nodes::Met(&met.nodes),
            constants: &met.constants,
            lengths: &met.lengths,
            inputs: Inputs::default(),
        };
        return program.run(engine, &mut bindings, &mut []);
    }
    let graph = recover(roots, &mut |_| None)?;
    let lengths = known_lengths(&graph, &[]);
    let program = engine.program(roots, &graph, &lengths)?;
    let programs = &engine.here().programs;
    programs.remember(roots, &graph, &lengths, &program);
    let known: Vec<u64> = lengths.iter().flatten().copied().collect();
    let mut bindings = Bindings {
        nodes: Nodes::Of(&graph),
        constants: &graph.constants,
        lengths: &known,
        inputs: Inputs::default(),
    };
    program.run(engine, &mut bindings, &mut [])
}
