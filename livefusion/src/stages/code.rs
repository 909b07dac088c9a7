//! The last stage: compiled loops.

use super::Lowered;
use crate::runtime::{Engine, Kernels};
use std::fmt;

/// Holds compiled loops.
///
/// Its text is their source, if the backend generates one. On a tiered engine this is the C for
/// loops that run long or often.
#[derive(Clone)]
pub struct Code {
    backend: &'static str,
    /// Sources with the names of their loops.
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

    /// Lists the source of each loop, where the backend generates one.
    ///
    /// The source of a sizing loop comes before that of its main loop.
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
