//! The last stage: what a backend made of the loops.

use super::Lowered;
use crate::runtime::{Engine, Kernels};
use std::fmt;

/// Compiled loops. Its text is their source, where the backend writes one. Of a tiered engine that is the C that it
/// makes of loops that run long or often.
#[derive(Clone)]
pub struct Code {
    backend: &'static str,
    /// With the loops' names.
    sources: Vec<(String, Option<String>)>,
}

impl Code {
    pub(crate) fn new(engine: &Engine, loops: &[Lowered], kernels: &[Kernels]) -> Code {
        let programs = loops.iter().flat_map(Lowered::programs);
        let kernels = kernels
            .iter()
            .flat_map(|k| k.sizing.iter().chain([&k.kernel]));
        let sources = programs.zip(kernels);
        let sources = sources.map(|(p, kernel)| (p.name.clone(), engine.source(p, &**kernel)));
        Code {
            backend: engine.backend_name(),
            sources: sources.collect(),
        }
    }

    /// The source of each loop, where the backend writes one. That of a loop that only counts stands before
    /// that of the one that it counts for.
    pub fn sources(&self) -> impl Iterator<Item = Option<&str>> {
        self.sources.iter().map(|(_, source)| source.as_deref())
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Code({} loops, {})", self.sources.len(), self.backend)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, source) in &self.sources {
            match source {
                Some(source) => writeln!(f, "{source}")?,
                None => writeln!(f, "{name}: no source from {}", self.backend)?,
            }
        }
        Ok(())
    }
}
