//! From text to machine code: out of the cache on disk, else by the compiler.

use crate::cache::{KernelCache, Key, Lookup};
use crate::compiler::{Compiler, unavailable};
use crate::emit::Text;
use crate::library;
use crate::{memory_file, workplace};
use livefusion_backend::host::Entry;
use livefusion_backend::{CompileError, DiskUse};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Compiles and loads files.
#[derive(Debug)]
pub struct Loader {
    compiler: Compiler,
    cache: KernelCache,
    hits: AtomicU64,
    refused: AtomicU64,
    compiled: AtomicU64,
}

impl Loader {
    /// A loader with a compiler and a cache.
    pub fn new(compiler: Compiler, cache: KernelCache) -> Loader {
        Loader {
            compiler,
            cache,
            hits: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            compiled: AtomicU64::new(0),
        }
    }

    /// What came from where so far.
    pub fn disk_use(&self) -> DiskUse {
        DiskUse {
            hits: self.hits.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            compiled: self.compiled.load(Ordering::Relaxed),
        }
    }

    /// Makes machine code of a file, and looks up the passes in it.
    pub fn load(&self, text: &Text, symbols: &[String]) -> Result<Vec<Entry>, CompileError> {
        if symbols.is_empty() {
            return Ok(Vec::new());
        }
        let key = match self.cache.is_usable() {
            true => Key::of(&self.compiler, &text.effort.flags(), &text.source),
            false => None,
        };
        if let Some(entries) = key.as_ref().and_then(|key| self.find(key, symbols)) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(entries);
        }
        self.compiled.fetch_add(1, Ordering::Relaxed);
        let folder =
            workplace::new().map_err(|e| unavailable(format!("no temporary folder: {e}")))?;
        let path = self
            .compiler
            .build(&text.source, text.effort, folder.path())?;
        // SAFETY: the compiler has just made it of generated code. Nobody else can write into the folder.
        let entries = unsafe { library::load(&path, symbols) };
        let entries = entries.map_err(|e| CompileError::Failed {
            compiler: self.compiler.path().display().to_string(),
            stderr: format!("what it made cannot be loaded: {e}"),
        })?;
        if let (Some(key), Ok(library)) = (key, std::fs::read(&path)) {
            self.cache.keep(&key, &library);
        }
        Ok(entries)
    }

    /// What the cache has. What cannot be trusted, or not loaded, counts as refused.
    fn find(&self, key: &Key, symbols: &[String]) -> Option<Vec<Entry>> {
        let library = match self.cache.find(key) {
            Lookup::Hit(library) => library,
            Lookup::Miss => return None,
            Lookup::Refused => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                return None;
            }
        };
        // SAFETY: only this user can have written it, its bytes are as they were written, and it was made
        // of the same text for this processor.
        let load = |path: &Path| unsafe { library::load(path, symbols) }.ok();
        let entries = memory_file::with(&library, load).or_else(|| {
            let folder = workplace::new().ok()?;
            let path = folder.path().join("kernel.so");
            std::fs::write(&path, &library).ok()?;
            load(&path)
        });
        if entries.is_none() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        entries
    }
}
