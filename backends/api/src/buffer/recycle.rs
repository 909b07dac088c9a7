//! Recycling of large allocations: memory of dropped arrays serves new ones.
//!
//! The first touch of a fresh page costs more than most loops spend on its contents. A loop around
//! a `force` drops and remakes its results, and should get the same pages again. Blocks are kept
//! under three rules:
//!
//! * At most [`limit`] bytes are kept. The oldest blocks go first.
//! * Kept and used blocks together never exceed the past peak of used bytes. So keeping blocks
//!   raises no peak.
//! * A block serves requests of about its size. A shorter block grows by fresh pages, which cost
//!   nothing until they are touched. So a block that a filter shortened is reused by the next run.
//!
//! All state is per process. [`clear`] returns all kept memory to the system.

use super::pages::{Pages, Region, whole};
use crate::process::PerProcess;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Size below which arrays come from the allocator, which recycles them itself.
pub(super) const SMALLEST: usize = 64 << 10;

/// A recycled block exceeds its request by at most a quarter.
const SLACK: usize = 4;

/// A recycled block is at least a sixteenth of its request.
const GROWTH: usize = 16;

#[derive(Default)]
struct Pool {
    /// Oldest first.
    kept: Vec<Pages>,
    kept_bytes: usize,
    used: usize,
    /// Peak of `used`.
    peak: usize,
    limit: usize,
    /// The source of new blocks.
    region: Region,
}

/// A forked child drops inherited memory: each page would be copied when it is touched.
static POOL: PerProcess<Mutex<Pool>> = PerProcess::new();

/// Returns a quarter of the machine's memory, or half a gigabyte where that is unknown.
fn default_limit() -> usize {
    #[cfg(target_os = "linux")]
    {
        let system = rustix::system::sysinfo();
        (system.totalram as usize).saturating_mul(system.mem_unit as usize) / 4
    }
    #[cfg(not(target_os = "linux"))]
    {
        512 << 20
    }
}

fn pool() -> MutexGuard<'static, Pool> {
    let pool = POOL.get_or_make(|| {
        Mutex::new(Pool {
            limit: default_limit(),
            ..Pool::default()
        })
    });
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the limit of kept bytes, at first a quarter of the machine's memory.
pub fn limit() -> usize {
    pool().limit
}

/// Sets the limit of kept bytes.
///
/// 0 keeps none.
///
/// ```
/// use livefusion_backend::buffer::recycle;
/// let before = recycle::limit();
/// recycle::set_limit(1 << 20);
/// assert!(recycle::kept() <= 1 << 20);
/// recycle::set_limit(before);
/// ```
pub fn set_limit(bytes: usize) {
    let mut pool = pool();
    pool.limit = bytes;
    let gone = pool.shed();
    drop(pool);
    drop(gone);
}

/// Returns the number of bytes kept now.
pub fn kept() -> usize {
    pool().kept_bytes
}

/// Returns all kept memory to the system and resets the peak.
pub fn clear() {
    let mut pool = pool();
    pool.peak = pool.used;
    let gone = (pool.shed(), std::mem::take(&mut pool.region));
    drop(pool);
    drop(gone);
}

impl Pool {
    /// Removes blocks beyond the limits. The caller frees them after unlocking the pool.
    fn shed(&mut self) -> Vec<Pages> {
        let may = self.limit.min(self.peak.saturating_sub(self.used));
        let mut n = 0;
        for block in &self.kept {
            if self.kept_bytes <= may {
                break;
            }
            self.kept_bytes -= block.bytes();
            n += 1;
        }
        self.kept.drain(..n).collect()
    }

    /// Returns the best block for a request: the shortest that is long enough, else the longest.
    fn best(&self, bytes: usize) -> Option<usize> {
        let kept = || self.kept.iter().enumerate().rev();
        let fits = |b: usize| b >= bytes && b - bytes <= bytes / SLACK;
        let grows = |b: usize| b < bytes && b >= bytes / GROWTH;
        let long = kept().filter(|(_, p)| fits(p.bytes()));
        let short = kept().filter(|(_, p)| grows(p.bytes()));
        let found = long.min_by_key(|(_, p)| p.bytes());
        found
            .or_else(|| short.max_by_key(|(_, p)| p.bytes()))
            .map(|(at, _)| at)
    }

    fn uses(&mut self, bytes: usize) -> Vec<Pages> {
        self.used += bytes;
        self.peak = self.peak.max(self.used);
        self.shed()
    }
}

/// Takes a block for `bytes`. Also returns the length of its prefix that may be non-zero.
///
/// Returns `None` if there is no memory for it.
pub(super) fn take(bytes: usize) -> Option<(Pages, usize)> {
    let bytes = whole(bytes)?;
    let found = {
        let mut pool = pool();
        pool.best(bytes).map(|at| {
            let block = pool.kept.remove(at);
            pool.kept_bytes -= block.bytes();
            block
        })
    };
    let recycled = found.and_then(|mut block| {
        let dirty = block.bytes();
        (dirty >= bytes || block.resize(bytes)).then_some((block, dirty))
    });
    let (block, dirty) = match recycled {
        Some(found) => found,
        None => (pool().region.block(bytes)?, 0),
    };
    let gone = pool().uses(block.bytes());
    drop(gone);
    Some((block, dirty))
}

/// Lengthens a block in use. Returns `false` and changes nothing if there is no memory for it.
pub(super) fn lengthen(block: &mut Pages, bytes: usize) -> bool {
    let before = block.bytes();
    let grown = block.resize(bytes);
    let gone = pool().uses(block.bytes().saturating_sub(before));
    drop(gone);
    grown
}

/// Shortens a block in use.
pub(super) fn shorten(block: &mut Pages, bytes: usize) {
    let before = block.bytes();
    if block.resize(bytes) {
        let mut pool = pool();
        pool.used = pool.used.saturating_sub(before - block.bytes());
    }
}

/// Takes back an unused block.
pub(super) fn give(block: Pages) {
    let mut pool = pool();
    pool.used = pool.used.saturating_sub(block.bytes());
    let mut gone = Vec::new();
    if block.bytes() >= SMALLEST {
        pool.kept_bytes += block.bytes();
        pool.kept.push(block);
        gone = pool.shed();
    } else {
        gone.push(block);
    }
    drop(pool);
    drop(gone);
}
