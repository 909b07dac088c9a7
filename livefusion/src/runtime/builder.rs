//! The engine's options.

use super::engine::Engine;
use super::programs::KEPT;
use super::requested::RequestedSchedules;
use crate::fusion::Clustering;
use livefusion_backend::Backend;
use livefusion_backend::memory::MUCH;
#[cfg(feature = "c")]
use livefusion_c::{CBackend, CompilerLimits, KernelCache};
#[cfg(not(feature = "jit"))]
use livefusion_interp::InterpBackend;
#[cfg(feature = "c")]
use livefusion_tile::schedule::Schedules;
use loop_lang::Loop;
use std::num::NonZero;
use std::sync::Arc;

/// Configures an [`Engine`].
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
    first_room: Option<u64>,
    program_limit: Option<usize>,
    threads: Option<usize>,
    eager: bool,
    #[cfg(feature = "c")]
    c: OwnC,
    #[cfg(feature = "cuda")]
    device: Option<Arc<livefusion_cuda::device::session::Session>>,
    deterministic: bool,
    requested: RequestedSchedules,
}

impl EngineBuilder {
    /// Runs all loops as C, compiled before they run.
    ///
    /// It uses the engine's kernel cache and no other backend.
    ///
    /// ```
    /// use livefusion::Engine;
    /// assert_eq!(Engine::builder().only_c().build().backend_name(), "c");
    /// ```
    #[cfg(feature = "c")]
    pub fn only_c(mut self) -> Self {
        self.c.only = true;
        self
    }

    /// Runs loops on an NVIDIA device, counted from 0, as [`Engine::cuda`] does.
    ///
    /// Kernels compiled by NVRTC are kept in the [cache](EngineBuilder::kernel_cache) chosen before
    /// this call.
    ///
    /// # Errors
    /// [`ErrorKind::Backend`](crate::error::ErrorKind::Backend) where there is no driver, no such
    /// device or no NVRTC. The message says where it looked.
    #[cfg(feature = "cuda")]
    pub fn cuda(mut self, device: u32) -> crate::Result<Self> {
        use livefusion_cuda::device::session::Session;
        let session = Session::open(device, self.c.cache.clone());
        let failed =
            |fault: livefusion_cuda::driver::Fault| super::engine::backend_error(fault.to_string());
        self.device = Some(session.map_err(failed)?);
        Ok(self)
    }

    /// Makes devices give the same bits as processors.
    ///
    /// Loops that join floats in another order on the device run on the host instead. So do loops
    /// that call the device's own math functions. Results on processors always have the same bits.
    ///
    /// ```
    /// use livefusion::Engine;
    /// let engine = Engine::builder().deterministic().build();
    /// ```
    pub fn deterministic(mut self) -> Self {
        self.deterministic = true;
        self
    }

    /// Uses this backend and no other.
    ///
    /// Default: the tiers of [`Engine`].
    pub fn backend(mut self, backend: Arc<dyn Backend>) -> Self {
        self.backend = Some(backend);
        self
    }

    /// Chooses the algorithm that groups combinators into loops.
    ///
    /// Default: optimal, within about a millisecond of planning.
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

    /// Limits the bytes for results and intermediates of one `force`.
    ///
    /// Default: seven eighths of the free memory of the process's control group or of the machine.
    /// The free memory is read on Linux only, for requests of more than 64 MiB.
    ///
    /// Some arrays have only an upper bound on their length, as the result of a `filter`. They
    /// count with the elements they keep. If the bound is above 64 MiB or above the remaining
    /// limit, the array begins short and grows. Its unused capacity is at most 64 MiB or the bytes
    /// it keeps, whichever is larger.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let engine = Engine::builder().memory_limit(1000).build();
    /// assert_eq!(iota(1_000_000).filter(|i| i.lt(3)).force_with(&engine)?, [0, 1, 2]);
    /// assert!(iota(1_000_000).force_with(&engine).is_err());
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Limits the number of compiled programs in the cache.
    ///
    /// Beyond the limit the least recently used programs are evicted, an eighth of all at a time.
    /// Default: 1024 programs, about 20 MiB plus their machine code.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let engine = Engine::builder().program_limit(2).build();
    /// for divisor in [3u64, 5, 7, 11] {
    ///     // A divisor shapes the code: each is a program of its own.
    ///     iota(10).map(|i| i % divisor).sum().force_with(&engine)?;
    /// }
    /// assert_eq!((engine.counters().programs, engine.counters().evicted), (2, 2));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn program_limit(mut self, programs: usize) -> Self {
        self.program_limit = Some(programs);
        self
    }

    /// Limits the threads that run one loop, the calling thread included.
    ///
    /// The limit is clamped to 1 to 1024. Default: the number of processors. With 1 the engine
    /// never starts a thread.
    ///
    /// Helper threads join only loops expected to run longer than it takes to wake them. Inside a
    /// rayon pool the helpers are that pool's threads. Results have the same bits for any number of
    /// threads.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let sum = iota(5_000_000).map(|i| i.cast::<f64>() * 0.1).sum();
    /// let one = sum.force_with(&Engine::builder().threads(1).build())?;
    /// let more = iota(5_000_000).map(|i| i.cast::<f64>() * 0.1).sum();
    /// assert_eq!(more.force_with(&Engine::builder().threads(4).build())?.to_bits(), one.to_bits());
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn threads(mut self, n: usize) -> Self {
        self.threads = Some(n.clamp(1, MOST_THREADS));
        self
    }

    /// Sets the first capacity of growing arrays in bytes, for tests.
    #[doc(hidden)]
    pub fn first_room(mut self, bytes: u64) -> Self {
        self.first_room = Some(bytes);
        self
    }

    /// Shares every loop of several chunks and waits briefly for helpers, for tests.
    #[doc(hidden)]
    pub fn eager(mut self) -> Self {
        self.eager = true;
        self
    }

    /// Chooses the folder that keeps compiled C for later processes, or none.
    ///
    /// Default: the value of `LIVEFUSION_CACHE_DIR`, or else a folder in the user's cache; see
    /// [`KernelCache`]. It applies to the engine's own C backend. A backend given to
    /// [`backend`](EngineBuilder::backend) has its own cache.
    ///
    /// ```
    /// use livefusion::{Array, Engine, Force, KernelCache};
    /// let folder = tempfile::tempdir()?;
    /// for process in 0..2 {
    ///     // The second would be another process; here it is another engine, which has compiled nothing.
    ///     let cache = KernelCache::in_folder(folder.path().join("kernels"));
    ///     let engine = Engine::builder().kernel_cache(cache).only_c().build();
    ///     let xs: Array<f64> = vec![1.0, 2.0, 3.0].into();
    ///     assert_eq!(xs.sum().force_with(&engine)?, 6.0);
    ///     assert_eq!(engine.counters().disk_hits, process);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "c")]
    pub fn kernel_cache(mut self, cache: KernelCache) -> Self {
        self.c.cache = cache;
        self
    }

    /// Limits the time and memory of the engine's own C compiler.
    ///
    /// A compiler that exceeds a limit is killed. On the default engine the loops then run without
    /// C, and [`Engine::fallback`] gives the reason. On an engine of C alone the force fails.
    /// Default: a minute for each loop, 4 GiB.
    ///
    /// ```
    /// use livefusion::{CompilerLimits, Engine};
    /// use std::time::Duration;
    /// let limits = CompilerLimits { time: Duration::from_secs(5), memory: 1 << 30 };
    /// let engine = Engine::builder().compiler_limits(limits).build();
    /// # drop(engine);
    /// ```
    #[cfg(feature = "c")]
    pub fn compiler_limits(mut self, limits: CompilerLimits) -> Self {
        self.c.limits = limits;
        self
    }

    /// Requests a schedule for generated C.
    ///
    /// The text lists decisions for rates under each loop's name.
    /// Undecided rates keep the default. In a named loop the default is one step at a time. Every
    /// legal schedule gives the same bits. [`Explanation`](super::Explanation) lists the names of
    /// loops and rates and the legal decisions. Names of absent loops are no error.
    ///
    /// | decision | of | effect |
    /// | --- | --- | --- |
    /// | `vectorise N unroll M` | a loop rate | vectors of N steps, M vectors an iteration |
    /// | `branch`, `mask`, `compact` | a subrate | jumps over rejected elements; masks them; overwrites them |
    /// | `pack` | a subrate of vectors | packs the admitted elements, and runs over these |
    /// | `fastminmax` | a loop rate in vectors | float min/max by one instruction, redone exactly if in doubt |
    /// | `ask` | a loop rate in vectors with exits | tests all steps of an iteration for an exit first |
    /// | `partition` | a loop rate | loop partition by comparisons with its counter |
    /// | `unroll N` | a loop rate | N steps an iteration, in order |
    /// | `runs N` | a root that folds in runs | N interleaved runs, joined in order |
    /// | `unrolljam N` | a root with one inner loop | unroll-and-jam of N steps, if they share work |
    /// | `fission wait N work N buffer N` | a loop rate | fission, bounded by wait and work, N steps at a time |
    /// | `buffer N` | a root behind cursors | packs the cursors' elements into buffers of N |
    /// | `stream N` | a root | non-temporal stores from N steps on |
    /// | `threads WHO block N each M` | a root on a device | maps `steps`, `path`, `teams` or `rows` to threads |
    /// | `teams N` | such a root, with equal rows | one team of threads a row, if a team has N threads or more |
    ///
    /// It applies to the engine's own C backend, or to a device. On the default engine only the
    /// last tier is C; the other tiers ignore the schedule. A backend given to
    /// [`backend`](EngineBuilder::backend) has its own.
    ///
    /// A force fails with [`ErrorKind::Schedule`](crate::ErrorKind::Schedule) on a text that does
    /// not parse, an unknown rate or an illegal decision. Nothing runs then.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let positive = |engine: &Engine| {
    ///     let xs: Array<f64> = (-50..50).map(f64::from).collect();
    ///     xs.filter(|x| x.gt(0.0)).force_with(engine)
    /// };
    /// let requested = |text| Engine::builder().only_c().schedule(text).build();
    /// let engine = requested("loop_0\n  r0 vectorise 4 unroll 2\n  r1 compact\n");
    /// assert_eq!(positive(&engine)?[..2], [1.0, 2.0]);
    /// let refused = positive(&requested("loop_0\n  r0 vectorise 3 unroll 2\n")).unwrap_err();
    /// assert!(refused.to_string().contains("loop_0 is refused: r0 vectorise 3 unroll 2: "));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn schedule(mut self, text: &str) -> Self {
        self.requested = RequestedSchedules::read(text);
        self
    }

    /// Builds the engine.
    pub fn build(mut self) -> Engine {
        let requested = match self.backend {
            Some(_) => RequestedSchedules::default(),
            None => std::mem::take(&mut self.requested),
        };
        Engine::of(Choices {
            clustering: self.clustering,
            memory_limit: self.memory_limit,
            first_room: self.first_room.unwrap_or(MUCH),
            program_limit: self.program_limit.unwrap_or(KEPT),
            threads: self.threads.unwrap_or_else(processors),
            eager: self.eager,
            #[cfg(feature = "c")]
            c: self.c,
            #[cfg(feature = "cuda")]
            device: self.device.map(|session| ChosenDevice {
                session,
                deterministic: self.deterministic,
            }),
            backend: self.backend,
            requested,
        })
    }
}

/// The most threads of a loop. More would take longer to start than any loop runs.
const MOST_THREADS: usize = 1024;

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// The choices of an engine's builder.
pub(super) struct Choices {
    pub requested: RequestedSchedules,
    pub clustering: Clustering,
    /// The chosen limit, or none for the free memory of the process.
    pub memory_limit: Option<u64>,
    /// First capacity of a growing array in bytes.
    pub first_room: u64,
    pub program_limit: usize,
    pub threads: usize,
    pub eager: bool,
    backend: Option<Arc<dyn Backend>>,
    #[cfg(feature = "c")]
    c: OwnC,
    #[cfg(feature = "cuda")]
    device: Option<ChosenDevice>,
}

/// A chosen device.
#[cfg(feature = "cuda")]
struct ChosenDevice {
    session: Arc<livefusion_cuda::device::session::Session>,
    deterministic: bool,
}

/// The options of an engine's own C backend.
#[cfg(feature = "c")]
#[derive(Default)]
struct OwnC {
    cache: KernelCache,
    limits: CompilerLimits,
    /// Whether it is the engine's only backend.
    only: bool,
}

impl Choices {
    #[cfg(feature = "c")]
    fn schedules(&self) -> Schedules {
        self.requested.schedules().cloned().unwrap_or_default()
    }

    #[cfg(feature = "c")]
    fn c(&self) -> Option<Arc<dyn Backend>> {
        let c = CBackend::new()
            .with_cache(self.c.cache.clone())
            .with_limits(self.c.limits)
            .with_schedules(self.schedules());
        Some(Arc::new(c))
    }

    #[cfg(not(feature = "c"))]
    fn c(&self) -> Option<Arc<dyn Backend>> {
        None
    }

    /// Returns the chosen backends.
    ///
    /// They are new, except a backend given by the user.
    pub fn runs_on(&self) -> RunsOn {
        let c = self.c();
        #[cfg(feature = "cuda")]
        if let Some(device) = &self.device {
            let host = RunsOn::best(c).backend;
            let cuda = livefusion_cuda::CudaBackend::on(device.session.clone(), host)
                .with_schedules(self.schedules());
            return RunsOn::only(Arc::new(match device.deterministic {
                true => cuda.exact(),
                false => cuda,
            }));
        }
        if let Some(backend) = &self.backend {
            return RunsOn::only(backend.clone());
        }
        #[cfg(feature = "c")]
        if let (true, Some(c)) = (self.c.only, &c) {
            return RunsOn {
                has_c: true,
                ..RunsOn::only(c.clone())
            };
        }
        RunsOn::best(c)
    }
}

/// The backends of an engine.
pub(super) struct RunsOn {
    pub backend: Arc<dyn Backend>,
    /// Whether the engine compiles C with a backend of its own.
    pub has_c: bool,
    /// Whether loops that the backend cannot compile are interpreted.
    pub may_fall_back: bool,
    /// Whether the backend has tiers.
    is_tiered: bool,
}

impl RunsOn {
    fn only(backend: Arc<dyn Backend>) -> RunsOn {
        RunsOn {
            backend,
            has_c: false,
            may_fall_back: false,
            is_tiered: false,
        }
    }

    /// Returns the C of a loop on a tiered engine.
    pub fn source(&self, program: &Loop) -> Option<String> {
        let tiers = self.is_tiered.then_some(&self.backend);
        tiers.and_then(|tiers| tiers.source(program))
    }

    #[cfg(feature = "jit")]
    fn best(c: Option<Arc<dyn Backend>>) -> RunsOn {
        let has_c = c.is_some();
        RunsOn {
            has_c,
            is_tiered: true,
            ..RunsOn::only(Arc::new(super::tier::Tiers::new(c)))
        }
    }

    #[cfg(not(feature = "jit"))]
    fn best(c: Option<Arc<dyn Backend>>) -> RunsOn {
        match c {
            Some(c) => RunsOn {
                has_c: true,
                may_fall_back: true,
                ..RunsOn::only(c)
            },
            None => RunsOn::only(Arc::new(InterpBackend::new())),
        }
    }
}
