//! A loop that runs on a device.

use super::memory::Making;
use super::session::{Loaded, Session};
use crate::driver::Fault;
use crate::run::{Phase, Ready};
use livefusion_backend::kernel::check_args;
use livefusion_backend::{Arg, CompileError, Frame, Kernel, Outcome, Pass};
use livefusion_interp::InterpKernel;
use livefusion_tile::schedule::Schedule;
use loop_lang::Loop;
use loop_lang::ir::CombId;
use loop_lang::state::Layout;
use std::borrow::Cow;
use std::sync::Arc;

/// Holds a loop that runs on a device as a whole.
pub struct CudaKernel {
    program: Loop,
    phases: Vec<Phase>,
    host: InterpKernel,
    session: Arc<Session>,
    /// The kernels of all phases, including auxiliary ones, by number.
    loaded: Vec<Arc<Loaded>>,
    source: String,
    schedule: String,
    /// Whether the loop fills an array, by slot.
    filled: Arc<[bool]>,
}

impl CudaKernel {
    /// Loads a loop with these phases.
    ///
    /// # Errors
    ///
    /// Returns the error of the compiler or the device.
    pub fn new(
        program: &Loop,
        phases: Vec<Phase>,
        host: InterpKernel,
        session: &Arc<Session>,
    ) -> Result<CudaKernel, CompileError> {
        let filled = loop_lang::filled::filled(program);
        let slots = host.layout().arrays.iter();
        let mut loaded = Vec::new();
        for kernel in phases.iter().flat_map(|p| p.kernel.all()) {
            loaded.push(session.load(kernel)?);
        }
        let texts = phases.iter().map(|p| p.kernel.text.as_str());
        Ok(CudaKernel {
            filled: slots.map(|a| filled.contains(a)).collect(),
            loaded,
            schedule: scheduled(program, &phases),
            program: program.clone(),
            source: texts.collect::<Vec<_>>().join("\n"),
            phases,
            host,
            session: session.clone(),
        })
    }

    fn on_device(&self, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Result<Outcome, Fault> {
        let may_trap = !self.program.traps.is_empty();
        let device = self.session.launcher(&self.loaded, may_trap);
        let ready = Ready {
            program: &self.program,
            phases: &self.phases,
            host: &self.host,
        };
        ready.run(&device, frame, args)
    }
}

/// Prints the schedule of a loop's roots.
fn scheduled(program: &Loop, phases: &[Phase]) -> String {
    let mut schedule = Schedule::new();
    for (root, phase) in program.roots.iter().zip(phases) {
        schedule = schedule.with_threads(*root, phase.dealt);
    }
    let lines = schedule.show(program);
    let lines = lines.lines().map(|line| format!("  {line}\n"));
    format!("{}\n{}", program.name, lines.collect::<String>())
}

fn is_memory(fault: &Fault) -> bool {
    matches!(fault, Fault::OutOfMemory { .. })
}

/// Converts a fault to an outcome.
fn said(fault: &Fault) -> Outcome {
    match fault {
        Fault::OutOfMemory { bytes } => Outcome::NoMemory {
            comb: CombId(0),
            bytes: *bytes as u64,
        },
        other => Outcome::BadArgs(other.to_string()),
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
        let making = Making::new(self.session.arrays().clone(), self.filled.clone());
        let making = Arc::new(making);
        frame.maker = Some(making.clone());
        let outcome = self.on_device(frame, args);
        frame.maker = None;
        match (outcome, making.fault()) {
            // An array failed for another reason than memory, so the device's fault is reported.
            (Ok(Outcome::NoMemory { .. }), Some(fault)) if !is_memory(fault) => said(fault),
            (Ok(outcome), _) => outcome,
            (Err(fault), _) => said(&fault),
        }
    }

    fn takes_far(&self) -> bool {
        true
    }

    fn tier(&self) -> Option<Cow<'static, str>> {
        let all: Vec<String> = self.loaded.iter().map(|l| l.describe()).collect();
        Some(all.join("; ").into())
    }

    fn schedule(&self) -> Option<&str> {
        Some(&self.schedule)
    }

    fn source(&self) -> Option<&str> {
        Some(&self.source)
    }
}
