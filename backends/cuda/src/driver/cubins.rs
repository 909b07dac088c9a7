//! From text to machine code: through the cache on disk, else the compiler.

use super::cubin::Cubin;
use super::nvrtc::Nvrtc;
use super::{Compiler, Fault};
use livefusion_backend::DiskUse;
use livefusion_c::cache::{KernelCache, Key, Lookup};
use std::sync::atomic::{AtomicU64, Ordering};

/// Combines a compiler with a cache of its output.
#[derive(Debug)]
pub struct Cubins {
    nvrtc: Nvrtc,
    cache: KernelCache,
    hits: AtomicU64,
    refused: AtomicU64,
    compiled: AtomicU64,
    failed: AtomicU64,
}

impl Cubins {
    /// Creates a compiler with a cache on disk.
    pub fn new(nvrtc: Nvrtc, cache: KernelCache) -> Cubins {
        Cubins {
            nvrtc,
            cache,
            hits: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            compiled: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        }
    }

    /// Returns the compiler.
    pub fn nvrtc(&self) -> &Nvrtc {
        &self.nvrtc
    }

    /// Looks up code in the cache. An untrusted entry counts as refused.
    fn find(&self, key: &Key) -> Option<Cubin> {
        let found = match self.cache.find(key) {
            // SAFETY: only this user can have written it, and its bytes are as they were written.
            Lookup::Hit(bytes) => unsafe { decode(&bytes) },
            Lookup::Miss => return None,
            Lookup::Refused => None,
        };
        if found.is_none() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        found
    }
}

impl Compiler for Cubins {
    fn compile(&self, text: &str, architecture: &str) -> Result<Cubin, Fault> {
        let key = Key::of_text(format!(
            "livefusion {}\ncubin {architecture}\n{}\n\n{text}",
            env!("CARGO_PKG_VERSION"),
            self.nvrtc.identity(),
        ));
        if let Some(found) = self.find(&key) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(found);
        }
        let made = self
            .nvrtc
            .compile(text, architecture)
            .and_then(|p| p.cubin());
        let counted = if made.is_ok() {
            &self.compiled
        } else {
            &self.failed
        };
        counted.fetch_add(1, Ordering::Relaxed);
        let made = made?;
        self.cache.keep(&key, &encode(&made));
        Ok(made)
    }

    fn disk_use(&self) -> DiskUse {
        DiskUse {
            hits: self.hits.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            compiled: self.compiled.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }
}

/// Encodes code and log as bytes: the log's length, the log, the code.
fn encode(cubin: &Cubin) -> Vec<u8> {
    let log = cubin.log().as_bytes();
    [&(log.len() as u64).to_le_bytes(), log, cubin.image()].concat()
}

/// Decodes code and log.
///
/// # Safety
///
/// The bytes must hold complete code.
unsafe fn decode(bytes: &[u8]) -> Option<Cubin> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (log, image) = rest.split_at_checked(length)?;
    let log = String::from_utf8(log.to_vec()).ok()?;
    // SAFETY: as of the caller.
    Some(unsafe { Cubin::new(image.to_vec(), log) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubin_written_to_the_cache_is_read_back() {
        for (image, log) in [(&b"code"[..], "said"), (b"", ""), (b"code", "")] {
            // SAFETY: nobody loads it.
            let cubin = unsafe { Cubin::new(image.to_vec(), log.into()) };
            let bytes = encode(&cubin);
            // SAFETY: as above.
            assert_eq!(unsafe { decode(&bytes) }, Some(cubin));
        }
        for bytes in [&b""[..], &[9; 7], &[9; 20]] {
            // SAFETY: as above.
            assert_eq!(unsafe { decode(bytes) }, None);
        }
    }
}
