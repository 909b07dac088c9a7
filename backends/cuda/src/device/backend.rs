//! The backend: loops that can run in parallel run on a device, all others on the host.

use super::kernel::CudaKernel;
use super::session::Session;
use crate::emit;
use crate::exact;
use crate::run::Way;
use crate::shape::Shape;
use livefusion_backend::{Arg, Backend, CompileError, DiskUse, Frame, Kernel, Outcome, Pass};
use livefusion_interp::InterpBackend;
use loop_lang::Loop;
use loop_lang::state::Layout;
use std::borrow::Cow;
use std::sync::Arc;

/// Runs loops on a device. Those that [cannot](crate::shape::Refusal) run in parallel there run on the host, by
/// another backend, and say why.
pub struct CudaBackend {
    session: Arc<Session>,
    host: Arc<dyn Backend>,
    exact: bool,
}

impl CudaBackend {
    /// On a device with what is kept for it.
    pub fn on(session: Arc<Session>, host: Arc<dyn Backend>) -> CudaBackend {
        CudaBackend {
            session,
            host,
            exact: false,
        }
    }

    /// Runs loops on the host, too, whose [bits](exact) may be others on the device.
    pub fn exact(self) -> CudaBackend {
        CudaBackend {
            exact: true,
            ..self
        }
    }

    /// Why a loop has to run on the host, or else its kernel and its way.
    fn on_device(&self, program: &Loop) -> Result<(emit::Kernel, Way), String> {
        if self.exact {
            exact::check(program).map_err(|why| why.to_string())?;
        }
        let shape = Shape::of(program).map_err(|why| why.to_string())?;
        let kernel = emit::kernel_of(&shape);
        let way = Way::of(&shape, &kernel).map_err(|why| why.to_string())?;
        Ok((kernel, way))
    }

    /// The device, and what is kept for it.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }
}

impl Backend for CudaBackend {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        let host = InterpBackend::new().compile_kernel(program)?;
        match self.on_device(program) {
            Ok(ready) => Ok(Arc::new(CudaKernel::new(
                program,
                ready,
                host,
                &self.session,
            )?)),
            Err(why) => Ok(Arc::new(OnHost {
                kernel: self.host.compile(program)?,
                why: format!("on the host, by {}: {why}", self.host.name()),
            })),
        }
    }

    fn disk_use(&self) -> DiskUse {
        self.session.disk_use()
    }
}

/// A loop that runs on the host, and why.
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

    fn source(&self) -> Option<&str> {
        self.kernel.source()
    }
}
