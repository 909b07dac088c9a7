//! A counting engine: the interpreter, with sums over all compiled loops.

use livefusion::Engine;
use livefusion_backend::{Backend, CompileError, Kernel};
use livefusion_interp::{Counts, InterpBackend, InterpKernel};
use loop_lang::{Loop, Op};
use std::sync::{Arc, Mutex, PoisonError};

/// Wraps the interpreter as a backend that counts.
#[derive(Default)]
pub struct Counting {
    kernels: Mutex<Vec<Arc<InterpKernel>>>,
}

/// Holds the counts of all loops of a program.
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

/// Counts the work of a program, which `force` runs.
pub fn work(force: impl FnOnce(&Engine)) -> Work {
    let backend = Arc::new(Counting::default());
    // Helping threads would run summary passes before the chunks.
    let engine = Engine::builder().backend(backend.clone()).threads(1);
    force(&engine.build());
    let kernels = backend
        .kernels
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    Work(kernels.iter().map(|k| k.counts()).collect())
}

impl Work {
    /// Returns the number of elements read from memory.
    pub fn reads(&self) -> u64 {
        self.0.iter().flat_map(|c| c.reads.values()).sum()
    }

    /// Returns the number of elements written to memory.
    pub fn writes(&self) -> u64 {
        self.0.iter().flat_map(|c| c.writes.values()).sum()
    }

    /// Returns the number of evaluations of an operator.
    pub fn op(&self, op: Op) -> u64 {
        self.0.iter().map(|c| c.op(op)).sum()
    }
}
