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
    /// Makes it; none for the one that an engine has by itself, in which what runs often goes over to other code after
    /// a while.
    pub make: Option<fn() -> Arc<dyn livefusion_backend::Backend>>,
    /// The most elements that it is measured with.
    pub largest: usize,
}

impl Backend {
    /// An engine on it, for a number of threads.
    pub fn engine(&self, threads: usize) -> Engine {
        match self.make {
            Some(make) => on(make(), threads),
            None => Engine::builder().threads(threads).build(),
        }
    }

    /// Whether what runs often goes over to other code after a while, which is waited for.
    pub fn settles(&self) -> bool {
        self.make.is_none()
    }
}

/// All of them; `default` is the tiered engine that users get.
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

/// An engine on a backend.
pub fn on(backend: Arc<dyn livefusion_backend::Backend>, threads: usize) -> Engine {
    Engine::builder().backend(backend).threads(threads).build()
}
