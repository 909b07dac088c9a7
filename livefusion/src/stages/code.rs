//! The last stage: what a backend made of the loops.

use super::Lowered;
use crate::runtime::Kernels;
use livefusion_backend::Kernel;
use std::fmt;
use std::sync::Arc;

/// Compiled loops. Its text is their source, where the backend writes one.
#[derive(Clone)]
pub struct Code {
    backend: &'static str,
    /// With the loops' names.
    kernels: Vec<(String, Arc<dyn Kernel>)>,
}

impl Code {
    pub(super) fn new(backend: &'static str, loops: &[Lowered], kernels: Vec<Kernels>) -> Code {
        let programs = loops.iter().flat_map(Lowered::programs);
        let kernels = kernels
            .into_iter()
            .flat_map(|k| k.sizing.into_iter().chain([k.kernel]));
        Code {
            backend,
            kernels: programs.map(|p| p.name.clone()).zip(kernels).collect(),
        }
    }

    /// The source of each loop, where the backend writes one. That of a loop that only counts stands before
    /// that of the one that it counts for.
    pub fn sources(&self) -> impl Iterator<Item = Option<&str>> {
        self.kernels.iter().map(|(_, kernel)| kernel.source())
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Code({} loops, {})", self.kernels.len(), self.backend)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((name, _), source) in self.kernels.iter().zip(self.sources()) {
            match source {
                Some(source) => writeln!(f, "{source}")?,
                None => writeln!(f, "{name}: no source from {}", self.backend)?,
            }
        }
        Ok(())
    }
}
