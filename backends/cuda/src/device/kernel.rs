//! A loop that runs on a device.

use super::memory::Making;
use super::session::{Loaded, Session};
use crate::driver::Fault;
use crate::emit::Kernel as Text;
use crate::run::{Ready, Way};
use livefusion_backend::kernel::check_args;
use livefusion_backend::{Arg, CompileError, Frame, Kernel, Maker, Outcome, Pass};
use livefusion_interp::InterpKernel;
use loop_lang::Loop;
use loop_lang::ir::CombId;
use loop_lang::state::Layout;
use std::borrow::Cow;
use std::sync::Arc;

/// A loop that runs on a device, from its beginning to its end.
pub struct CudaKernel {
    program: Loop,
    text: Text,
    way: Way,
    host: InterpKernel,
    session: Arc<Session>,
    loaded: Arc<Loaded>,
    maker: Arc<dyn Maker>,
}

impl CudaKernel {
    /// The kernel of a loop that can run on a device, on its way.
    ///
    /// # Errors
    /// What the compiler or the device says.
    pub fn new(
        program: &Loop,
        (text, way): (Text, Way),
        host: InterpKernel,
        session: &Arc<Session>,
    ) -> Result<CudaKernel, CompileError> {
        let filled = loop_lang::filled::filled(program);
        let slots = host.layout().arrays.iter();
        let making = Making {
            arrays: session.arrays().clone(),
            filled: slots.map(|a| filled.contains(a)).collect(),
        };
        Ok(CudaKernel {
            loaded: session.load(&text)?,
            program: program.clone(),
            text,
            way,
            host,
            session: session.clone(),
            maker: Arc::new(making),
        })
    }

    fn on_device(&self, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Result<Outcome, Fault> {
        let may_trap = !self.program.traps.is_empty();
        let device = self.session.launcher(&self.loaded, may_trap);
        let ready = Ready {
            program: &self.program,
            kernel: &self.text,
            way: &self.way,
            host: &self.host,
        };
        ready.run(&device, frame, args)
    }
}

impl Kernel for CudaKernel {
    fn layout(&self) -> &Layout {
        self.host.layout()
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        if pass != Pass::Emit || steps != u64::MAX || frame.words.get(1) != Some(&0) {
            return Outcome::BadArgs("a device runs a loop as a whole".into());
        }
        if let Err(why) = check_args(&self.program, args) {
            return Outcome::BadArgs(why);
        }
        frame.maker = Some(self.maker.clone());
        let outcome = self.on_device(frame, args);
        frame.maker = None;
        outcome.unwrap_or_else(|fault| match fault {
            Fault::OutOfMemory { bytes } => Outcome::NoMemory {
                comb: CombId(0),
                bytes: bytes as u64,
            },
            other => Outcome::BadArgs(other.to_string()),
        })
    }

    fn takes_far(&self) -> bool {
        true
    }

    fn tier(&self) -> Option<Cow<'static, str>> {
        Some(self.loaded.describe().into())
    }

    fn source(&self) -> Option<&str> {
        Some(&self.text.text)
    }
}
