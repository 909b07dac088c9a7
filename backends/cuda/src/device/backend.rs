//! The backend: parallel loops run on a device, all others on the host.

use super::kernel::CudaKernel;
use super::session::Session;
use crate::exact;
use crate::run::Phase;
use livefusion_backend::{Arg, Backend, CompileError, DiskUse, Frame, Kernel, Outcome, Pass};
use livefusion_interp::InterpBackend;
use livefusion_tile::schedule::Schedules;
use livefusion_tile::threads::Requested;
use loop_lang::Loop;
use loop_lang::state::Layout;
use std::borrow::Cow;
use std::num::NonZero;
use std::sync::Arc;

/// The result of compiling a loop.
type Compiled = Result<Arc<dyn Kernel>, CompileError>;

/// Runs loops on a device.
///
/// Loops that [cannot](livefusion_tile::threads::shape::Refusal) run in parallel there run on the
/// host, by another backend. Their kernels report the reason.
pub struct CudaBackend {
    session: Arc<Session>,
    host: Arc<dyn Backend>,
    exact: bool,
    schedules: Schedules,
}

impl CudaBackend {
    /// Creates the backend of a session, with a host backend for other loops.
    pub fn on(session: Arc<Session>, host: Arc<dyn Backend>) -> CudaBackend {
        CudaBackend {
            session,
            host,
            exact: false,
            schedules: Schedules::default(),
        }
    }

    /// Sets user schedules for the mapping of iterations to threads.
    ///
    /// Other decisions are chosen. Compiling a loop with an impossible request is an
    /// [error](CompileError::Schedule).
    pub fn with_schedules(self, schedules: Schedules) -> CudaBackend {
        CudaBackend { schedules, ..self }
    }

    /// Runs loops on the host if their [bits](exact) could differ on the device.
    pub fn exact(self) -> CudaBackend {
        CudaBackend {
            exact: true,
            ..self
        }
    }

    /// Returns a loop's phases, or the reason why it has to run on the host.
    fn on_device(&self, program: &Loop) -> Result<Result<Vec<Phase>, String>, CompileError> {
        let refused = |why: String| CompileError::Schedule {
            program: program.name.clone(),
            why,
        };
        let schedule = self.schedules.of(program);
        let schedule = schedule.map_err(|e| refused(e.to_string()))?;
        let schedule = schedule.unwrap_or_default();
        // Other decisions concern the host.
        let mut roots = program.roots.iter();
        let is_requested = roots.any(|root| schedule.threads(*root) != Requested::default());
        if self.exact
            && let Err(why) = exact::check(program)
        {
            return Ok(Err(why.to_string()));
        }
        match Phase::all(program, |root| schedule.threads(root)) {
            Err(why) if is_requested => Err(refused(why.to_string())),
            phases => Ok(phases.map_err(|why| why.to_string())),
        }
    }

    /// Loads a loop of these phases.
    fn load(&self, program: &Loop, phases: Vec<Phase>) -> Compiled {
        let host = InterpBackend::new().compile_kernel(program)?;
        let kernel = CudaKernel::new(program, phases, host, &self.session)?;
        Ok(Arc::new(kernel))
    }

    /// Loads several loops, each with its index. NVRTC is slow, so texts are compiled in parallel.
    fn load_all(&self, mut loops: Vec<(usize, &Loop, Vec<Phase>)>) -> Vec<(usize, Compiled)> {
        let at_once = std::thread::available_parallelism().map_or(1, NonZero::get);
        let part = loops.len().div_ceil(at_once).max(1);
        let load = |part: Vec<(usize, &Loop, Vec<Phase>)>| {
            let each = part.into_iter();
            each.map(|(k, program, phases)| (k, self.load(program, phases)))
                .collect::<Vec<_>>()
        };
        std::thread::scope(|s| {
            let mut others = Vec::new();
            while loops.len() > part {
                let some = loops.split_off(loops.len() - part);
                others.push(s.spawn(move || load(some)));
            }
            let mut all = load(loops);
            for other in others {
                match other.join() {
                    Ok(some) => all.extend(some),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        })
    }

    /// Wraps a kernel that runs on the host, with the reason.
    fn on_host(&self, kernel: Arc<dyn Kernel>, why: &str) -> Arc<dyn Kernel> {
        let why = format!("on the host, by {}: {why}", self.host.name());
        Arc::new(OnHost { kernel, why })
    }

    /// Returns the session.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }
}

impl Backend for CudaBackend {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn compile(&self, program: &Loop) -> Compiled {
        match self.on_device(program)? {
            Ok(phases) => self.load(program, phases),
            Err(why) => Ok(self.on_host(self.host.compile(program)?, &why)),
        }
    }

    fn compile_all(&self, programs: &[&Loop]) -> Vec<Compiled> {
        let (mut all, mut device, mut host) = (Vec::new(), Vec::new(), Vec::new());
        for (k, program) in programs.iter().enumerate() {
            match self.on_device(program) {
                Ok(Ok(phases)) => device.push((k, *program, phases)),
                Ok(Err(why)) => host.push((k, *program, why)),
                Err(fault) => all.push((k, Err(fault))),
            }
        }
        all.extend(self.load_all(device));
        let hosted: Vec<&Loop> = host.iter().map(|(_, program, _)| *program).collect();
        let hosted = self.host.compile_all(&hosted).into_iter();
        all.extend(
            host.iter()
                .zip(hosted)
                .map(|((k, _, why), kernel)| (*k, kernel.map(|kernel| self.on_host(kernel, why)))),
        );
        all.sort_by_key(|(k, _)| *k);
        all.into_iter().map(|(_, kernel)| kernel).collect()
    }

    fn disk_use(&self) -> DiskUse {
        self.session.disk_use()
    }
}

/// A loop that runs on the host, with the reason.
struct OnHost {
    kernel: Arc<dyn Kernel>,
    why: String,
}

impl Kernel for OnHost {
    fn layout(&self) -> &Layout {
        self.kernel.layout()
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        self.kernel.run(pass, steps, frame, args)
    }

    fn chunk(&self) -> u64 {
        self.kernel.chunk()
    }

    fn prepare(&self, pass: Pass) -> Result<(), CompileError> {
        self.kernel.prepare(pass)
    }

    fn tier(&self) -> Option<Cow<'static, str>> {
        Some(self.why.clone().into())
    }

    fn schedule(&self) -> Option<&str> {
        self.kernel.schedule()
    }

    fn source(&self) -> Option<&str> {
        self.kernel.source()
    }
}
