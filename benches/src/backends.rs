//! The backends that are compared. A new one is a line in [`BACKENDS`].

use livefusion::Engine;
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
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
    /// Whether what runs often goes over to other code after a while, which is waited for.
    pub settles: bool,
}

/// All of them; `default` is the tiered engine that users get.
pub const BACKENDS: &[Backend] = &[
    Backend {
        name: "c",
        engine: |threads| on(CBackend::new(), threads),
        largest: usize::MAX,
        settles: false,
    },
    Backend {
        name: "jit",
        engine: |threads| on(JitBackend::new(), threads),
        largest: usize::MAX,
        settles: false,
    },
    Backend {
        name: "default",
        engine: |threads| Engine::builder().threads(threads).build(),
        largest: usize::MAX,
        settles: true,
    },
    Backend {
        name: "interp",
        engine: |threads| on(InterpBackend::new(), threads),
        largest: 50_000,
        settles: false,
    },
];

fn on(backend: impl livefusion_backend::Backend + 'static, threads: usize) -> Engine {
    Engine::builder()
        .backend(Arc::new(backend))
        .threads(threads)
        .build()
}
