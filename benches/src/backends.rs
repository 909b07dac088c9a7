//! The compared backends.
//!
//! A new backend is a line in [`BACKENDS`].

use livefusion::Engine;
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use std::sync::Arc;

/// Describes a backend of livefusion.
pub struct Backend {
    /// The name in tables and on the command line.
    pub name: &'static str,
    /// The constructor. None for an engine's own tiered backend, which replaces the code of hot
    /// loops over time.
    pub make: Option<fn() -> Arc<dyn livefusion_backend::Backend>>,
    /// The largest number of elements measured.
    pub largest: usize,
}

impl Backend {
    /// Creates an engine on it, for a number of threads.
    pub fn engine(&self, threads: usize) -> Engine {
        match self.make {
            Some(make) => on(make(), threads),
            None => Engine::builder().threads(threads).build(),
        }
    }

    /// Returns whether hot loops get other code over time.
    ///
    /// Measurements wait for that.
    pub fn settles(&self) -> bool {
        self.make.is_none()
    }
}

/// Lists all backends.
///
/// `default` is the tiered engine that users get.
pub const BACKENDS: &[Backend] = &[
    Backend {
        name: "c",
        make: Some(|| Arc::new(CBackend::new())),
        largest: usize::MAX,
    },
    Backend {
        name: "jit",
        make: Some(|| Arc::new(JitBackend::new())),
        largest: usize::MAX,
    },
    Backend {
        name: "default",
        make: None,
        largest: usize::MAX,
    },
    Backend {
        name: "interp",
        make: Some(|| Arc::new(InterpBackend::new())),
        largest: 50_000,
    },
];

/// Creates an engine on a backend.
pub fn on(backend: Arc<dyn livefusion_backend::Backend>, threads: usize) -> Engine {
    Engine::builder().backend(backend).threads(threads).build()
}
