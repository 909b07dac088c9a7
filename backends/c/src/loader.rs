//! From text to machine code: through the cache on disk, else the compiler.

use crate::cache::{KernelCache, Key, Lookup};
use crate::compiler::{Compiler, unavailable};
use crate::emit::Text;
use crate::library::{self, Pass};
use crate::{memory_file, workplace};
use livefusion_backend::{CompileError, DiskUse};
use livefusion_tile::target::Target;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Compiles and loads files.
#[derive(Debug)]
pub struct Loader {
    compiler: Compiler,
    target: Target,
    cache: KernelCache,
    hits: AtomicU64,
    refused: AtomicU64,
    compiled: AtomicU64,
    failed: AtomicU64,
    /// Whether the compiler has ever finished.
    works: AtomicBool,
    /// The reason why the compiler is not run again: it never finished, and timed out.
    hangs: OnceLock<CompileError>,
}

impl Loader {
    /// Creates a loader of code for a machine, with a compiler and a cache.
    pub fn new(compiler: Compiler, target: Target, cache: KernelCache) -> Loader {
        Loader {
            compiler,
            target,
            cache,
            hits: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            compiled: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            works: AtomicBool::new(false),
            hangs: OnceLock::new(),
        }
    }

    /// Returns the statistics of cache and compiler so far.
    pub fn disk_use(&self) -> DiskUse {
        DiskUse {
            hits: self.hits.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            compiled: self.compiled.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }

    /// Returns the machine for which its files are compiled.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Compiles and loads a file, and looks up the passes in it.
    pub fn load(&self, text: &Text, symbols: &[String]) -> Result<Vec<Pass>, CompileError> {
        if symbols.is_empty() {
            return Ok(Vec::new());
        }
        let flags = self.compiler.flags(&self.target, text.effort);
        let key = self.key(text, &flags);
        if let Some(passes) = key.as_ref().and_then(|key| self.find(key, symbols)) {
            return Ok(passes);
        }
        let compiled = self
            .compile(text, &flags, symbols.len())
            .and_then(|library| {
                // SAFETY: the compiler has just made it of generated code, where nobody else can write.
                let passes = unsafe { open(&library, symbols) };
                let passes = passes.map_err(|e| CompileError::Failed {
                    compiler: self.compiler.path().display().to_string(),
                    stderr: format!("error: cannot load the compiled file: {e}"),
                })?;
                Ok((library, passes))
            });
        match &compiled {
            Ok(_) => self.compiled.fetch_add(1, Ordering::Relaxed),
            Err(CompileError::Unavailable { .. }) => 0,
            Err(_) => self.failed.fetch_add(1, Ordering::Relaxed),
        };
        let (library, passes) = compiled?;
        if let Some(key) = key {
            self.cache.keep(&key, &library);
        }
        Ok(passes)
    }

    /// Loads a file from the cache, and looks up the passes in it.
    pub fn known(&self, text: &Text, symbols: &[String]) -> Option<Vec<Pass>> {
        let flags = self.compiler.flags(&self.target, text.effort);
        self.find(&self.key(text, &flags)?, symbols)
    }

    fn key(&self, text: &Text, flags: &[&str]) -> Option<Key> {
        match self.cache.is_usable() {
            true => Key::of(&self.compiler, &self.target, flags, &text.source),
            false => None,
        }
    }

    /// Compiles a file with `passes` passes.
    fn compile(&self, text: &Text, flags: &[&str], passes: usize) -> Result<Vec<u8>, CompileError> {
        if let Some(why) = self.hangs.get() {
            return Err(why.clone());
        }
        let folder =
            workplace::new().map_err(|e| unavailable(format!("no temporary folder: {e}")))?;
        let built = self
            .compiler
            .build(&text.source, flags, passes, folder.path());
        match &built {
            Ok(_) => self.works.store(true, Ordering::Relaxed),
            Err(e @ CompileError::TimedOut { .. }) if !self.works.load(Ordering::Relaxed) => {
                let _ = self.hangs.set(unavailable(e.to_string()));
            }
            Err(_) => {}
        }
        built
    }

    /// Looks up a file in the cache. An entry that is untrusted or cannot be loaded counts as
    /// refused.
    fn find(&self, key: &Key, symbols: &[String]) -> Option<Vec<Pass>> {
        let passes = match self.cache.find(key) {
            // SAFETY: only this user can have written it, its bytes are as they were written, and it was
            // made of the same text for this processor.
            Lookup::Hit(library) => unsafe { open(&library, symbols) }.ok(),
            Lookup::Miss => return None,
            Lookup::Refused => None,
        };
        let counter = match &passes {
            Some(_) => &self.hits,
            None => &self.refused,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        passes
    }
}

/// Loads the bytes of a library.
///
/// Loads from memory if possible, since the temporary folder may forbid execution, and else from a
/// file.
///
/// # Safety
///
/// As of [`library::load`].
unsafe fn open(library: &[u8], symbols: &[String]) -> Result<Vec<Pass>, String> {
    // SAFETY: the caller's promise.
    let load = |path: &Path| unsafe { library::load(path, symbols) };
    if let Some(passes) = memory_file::with(library, |path| load(path).ok()) {
        return Ok(passes);
    }
    let folder = workplace::new().map_err(|e| e.to_string())?;
    let path = folder.path().join("kernel.so");
    std::fs::write(&path, library).map_err(|e| e.to_string())?;
    load(&path).map_err(|e| e.to_string())
}
