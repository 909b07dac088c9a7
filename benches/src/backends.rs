//! The backends that are compared. A new one is a line in [`BACKENDS`].

use livefusion::Engine;
use livefusion_jit::JitBackend;
use std::sync::Arc;

/// A backend of livefusion.
pub struct Backend {
    /// What it is called in tables and on the command line.
    pub name: &'static str,
    /// An engine on it, for a number of threads.
    pub engine: fn(usize) -> Engine,
    /// The most elements that it is measured with.
    pub largest: usize,
}

/// All of them.
pub const BACKENDS: &[Backend] = &[
    Backend {
        name: "c",
        engine: |_| Engine::c(),
        largest: usize::MAX,
    },
    Backend {
        name: "jit",
        engine: |_| Engine::new(Arc::new(JitBackend::new())),
        largest: usize::MAX,
    },
    Backend {
        name: "interp",
        engine: |_| Engine::interp(),
        largest: 50_000,
    },
];
