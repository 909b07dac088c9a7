//! An engine that counts: the interpreter with one sum over all loops that it has compiled.

use livefusion::Engine;
use livefusion_backend::{Backend, CompileError, Kernel};
use livefusion_interp::{Counts, InterpBackend, InterpKernel};
use loop_lang::{Loop, Op};
use std::sync::{Arc, Mutex, PoisonError};

/// The counting interpreter as an engine's backend.
#[derive(Default)]
pub struct Counting {
    kernels: Mutex<Vec<Arc<InterpKernel>>>,
}

/// What all loops of a program did.
pub struct Work(Vec<Counts>);

impl Backend for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        let kernel = Arc::new(InterpBackend::counting().compile_kernel(program)?);
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        kernels.push(Arc::clone(&kernel));
        Ok(kernel)
    }
}

/// What a program does, run by `force` on the engine that it is given.
pub fn work(force: impl FnOnce(&Engine)) -> Work {
    let backend = Arc::new(Counting::default());
    // Threads that help sum chunks up before they run them.
    let engine = Engine::builder().backend(backend.clone()).threads(1);
    force(&engine.build());
    let kernels = backend
        .kernels
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    Work(kernels.iter().map(|k| k.counts()).collect())
}

impl Work {
    /// Elements read from memory.
    pub fn reads(&self) -> u64 {
        self.0.iter().flat_map(|c| c.reads.values()).sum()
    }

    /// Elements written to memory.
    pub fn writes(&self) -> u64 {
        self.0.iter().flat_map(|c| c.writes.values()).sum()
    }

    /// Evaluations of an operator.
    pub fn op(&self, op: Op) -> u64 {
        self.0.iter().map(|c| c.op(op)).sum()
    }
}
