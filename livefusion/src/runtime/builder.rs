//! What can be chosen about an engine.

use super::asked::Asked;
use super::engine::Engine;
use super::programs::KEPT;
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
    first_room: Option<u64>,
    program_limit: Option<usize>,
    threads: Option<usize>,
    eager: bool,
    #[cfg(feature = "c")]
    c: OwnC,
    #[cfg(feature = "cuda")]
    device: Option<Arc<livefusion_cuda::device::session::Session>>,
    deterministic: bool,
    asked: Asked,
}

impl EngineBuilder {
    /// Compiles C, with the engine's cache, before anything runs, and uses nothing else.
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

    /// Runs loops on one of NVIDIA's devices, counted from 0, as [`Engine::cuda`] does. What NVRTC compiles is kept in the
    /// [cache](EngineBuilder::kernel_cache) that was chosen before this.
    ///
    /// # Errors
    /// [`ErrorKind::Backend`](crate::error::ErrorKind::Backend) where there is no driver, no such device or no NVRTC: it
    /// says what was looked for.
    #[cfg(feature = "cuda")]
    pub fn cuda(mut self, device: u32) -> crate::Result<Self> {
        use livefusion_cuda::device::session::Session;
        let session = Session::open(device, self.c.cache.clone());
        let failed =
            |fault: livefusion_cuda::driver::Fault| super::engine::backend_error(fault.to_string());
        self.device = Some(session.map_err(failed)?);
        Ok(self)
    }

    /// Gives the bits that processors give on devices, too: loops that join floats there in another order, or call functions
    /// of the device's own, run on the host instead. On processors results always have the same bits.
    ///
    /// ```
    /// use livefusion::Engine;
    /// let engine = Engine::builder().deterministic().build();
    /// ```
    pub fn deterministic(mut self) -> Self {
        self.deterministic = true;
        self
    }

    /// Uses this backend and no other. Default: the tiers of [`Engine`].
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

    /// Limits the bytes that the results and intermediates of one `force` take.
    ///
    /// Default: the free memory of the process's control group or of the machine, without an eighth. It is read where more than
    /// 64 MiB are asked for at once, and only on Linux.
    ///
    /// An array whose length is only bounded from above, as that of a `filter`, counts with the elements that it keeps: where the
    /// bound is more than 64 MiB, or more than the limit leaves, it begins short and grows. It may have up to 64 MiB, or as much
    /// again as it keeps, of room that nothing is written to.
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

    /// How many compiled programs are kept; beyond that, those go that were not used for longest, an eighth of all at a time.
    /// Default: 1024, which take about 20 MiB, and their machine code.
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

    /// How many threads may run one loop, the one that forces included: at least 1, at most 1024. Default: as
    /// many as there are processors. With 1 the engine never starts a thread.
    ///
    /// Other threads are called only for loops that are expected to run for longer than it takes to wake
    /// them. Inside of a rayon pool they are that pool's. Results have the same bits for any number of
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

    /// Lets arrays that may grow begin with room for so few bytes: for tests.
    #[doc(hidden)]
    pub fn first_room(mut self, bytes: u64) -> Self {
        self.first_room = Some(bytes);
        self
    }

    /// Calls other threads for every loop of several chunks, and waits a little for them: for tests.
    #[doc(hidden)]
    pub fn eager(mut self) -> Self {
        self.eager = true;
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

    /// What the engine's own C compiler may take. One that takes more is ended: the default engine's loops then
    /// run without C, and [`Engine::fallback`] says why; on an engine of C alone, the force fails. Default: a minute
    /// for each loop, 4 GiB.
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

    /// How loops are to be written in C: decisions for their rates, below each loop's name. What is not decided is
    /// done as it is without a schedule, or, in a loop that is named, step by step. Any legal schedule gives the same
    /// bits. [`Explanation`](super::Explanation) has the names of loops and rates, and says which decisions there are
    /// for a program; loops that it has not are no mistake.
    ///
    /// | decision | of | what it does |
    /// | --- | --- | --- |
    /// | `vectorise N unroll M` | a loop rate | N steps side by side, M such vectors in a turn |
    /// | `branch`, `mask`, `compact` | a sub rate | what is rejected is jumped over; kept without effect; written, and overwritten |
    /// | `quick` | a loop rate in vectors | largest and smallest floats by one instruction, and again by the rules in doubt |
    /// | `split` | a loop rate | a form for each answer to comparisons with its counter |
    /// | `unroll N` | a loop rate | N steps in a turn, one after the other |
    /// | `runs N` | a root that folds in runs | N runs side by side, joined in order |
    /// | `jam N` | a root with one loop in its steps | N steps at a time, with one inner loop for all of theirs, if they have something in common |
    /// | `distribute wait N work N buffer N` | a loop rate | its body in pieces, each for up to so many steps before the next |
    /// | `buffer N` | a root behind cursors | what cursors deliver is packed into buffers of N elements |
    /// | `stream N` | a root | from N steps on its results go past the caches |
    /// | `threads WHO block N each M` | a root, on a device | `steps`, `path`, `teams` or `rows` are dealt out to blocks of N threads, M to each in a tile |
    /// | `teams N` | such a root, whose threads share rows that are equally long | a team of threads has a row where teams are N threads or more |
    ///
    /// It is for the engine's own C backend (that of an engine of C alone, and the last tier of the default one, whose
    /// other tiers take no notice of it), or for a device. A backend that is given to [`backend`](EngineBuilder::backend) has its own.
    ///
    /// Errors of a force: a text that is none of schedules, a rate that a loop has not, a decision that is not legal
    /// ([`ErrorKind::Schedule`](crate::ErrorKind::Schedule)). Nothing runs then.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let positive = |engine: &Engine| {
    ///     let xs: Array<f64> = (-50..50).map(f64::from).collect();
    ///     xs.filter(|x| x.gt(0.0)).force_with(engine)
    /// };
    /// let asked = |text| Engine::builder().only_c().schedule(text).build();
    /// let engine = asked("loop_0\n  r0 vectorise 4 unroll 2\n  r1 compact\n");
    /// assert_eq!(positive(&engine)?[..2], [1.0, 2.0]);
    /// let refused = positive(&asked("loop_0\n  r0 vectorise 3 unroll 2\n")).unwrap_err();
    /// assert!(refused.to_string().contains("loop_0 is refused: r0 vectorise 3 unroll 2: "));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn schedule(mut self, text: &str) -> Self {
        self.asked = Asked::read(text);
        self
    }

    /// The engine.
    pub fn build(mut self) -> Engine {
        let asked = match self.backend {
            Some(_) => Asked::default(),
            None => std::mem::take(&mut self.asked),
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
            device: self.device.map(|session| Device {
                session,
                deterministic: self.deterministic,
            }),
            backend: self.backend,
            asked,
        })
    }
}

/// More would take longer to start than any loop takes.
const MOST_THREADS: usize = 1024;

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// The choices of an engine's builder.
pub(super) struct Choices {
    pub asked: Asked,
    pub clustering: Clustering,
    /// None for the free memory of the process.
    pub memory_limit: Option<u64>,
    /// Bytes of a growing array at first.
    pub first_room: u64,
    pub program_limit: usize,
    pub threads: usize,
    pub eager: bool,
    backend: Option<Arc<dyn Backend>>,
    #[cfg(feature = "c")]
    c: OwnC,
    #[cfg(feature = "cuda")]
    device: Option<Device>,
}

/// A device that was chosen.
#[cfg(feature = "cuda")]
struct Device {
    session: Arc<livefusion_cuda::device::session::Session>,
    deterministic: bool,
}

/// The choices about an engine's own C backend.
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
        self.asked.schedules().cloned().unwrap_or_default()
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

    /// Backends that were chosen; but for one that was given they are new.
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
    /// Whether C is compiled for it, by a backend of its own.
    pub has_c: bool,
    /// Whether what the backend cannot compile here is interpreted.
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

    /// The C of a loop that tiers run.
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
