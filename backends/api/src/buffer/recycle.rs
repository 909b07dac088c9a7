//! Memory of dropped arrays, kept for the next ones.
//!
//! The first touch of a fresh page costs more than most loops do with what is on it, so results that are
//! dropped and made again, as in every loop around a `force`, had better get the same pages. Blocks are
//! kept under three rules:
//!
//! * never more than [`limit`] bytes, and the oldest go first;
//! * kept and used blocks together are never more than the most that was in use at once, so keeping them
//!   raises no peak;
//! * a block serves requests of about its size. A shorter one grows by fresh pages, which cost nothing
//!   until they are touched: what a filter gave back comes as it went.
//!
//! All of it is for the whole process. [`clear`] gives everything back to the system.

use super::pages::{Pages, whole};
use crate::process::PerProcess;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Smaller arrays are left to the allocator, which recycles them itself.
pub(super) const SMALLEST: usize = 64 << 10;

/// A request may get a block that is longer by a quarter.
const SLACK: usize = 4;

/// A request may get a block that is shorter, but not by more than this.
const GROWTH: usize = 16;

#[derive(Default)]
struct Pool {
    /// Oldest first.
    kept: Vec<Pages>,
    kept_bytes: usize,
    used: usize,
    /// The most that was in use at once.
    peak: usize,
    limit: usize,
}

/// A forked child does not keep inherited memory: each page would be copied when it is touched.
static POOL: PerProcess<Mutex<Pool>> = PerProcess::new();

/// A quarter of the machine's memory, or half a gigabyte where that is not known.
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

/// How many bytes of dropped arrays are kept at most. At first a quarter of the machine's memory.
pub fn limit() -> usize {
    pool().limit
}

/// Keeps at most so many bytes of dropped arrays from now on; 0 keeps none.
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

/// How many bytes of dropped arrays are kept now.
pub fn kept() -> usize {
    pool().kept_bytes
}

/// Gives all that is kept back to the system, and forgets how much was in use.
pub fn clear() {
    let mut pool = pool();
    pool.peak = pool.used;
    let gone = pool.shed();
    drop(pool);
    drop(gone);
}

impl Pool {
    /// Takes out what may not be kept; to be freed when the pool is not locked.
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

    /// The kept block that suits a request best: the shortest that is long enough, else the longest.
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

/// A block for so many bytes, and how many of its first bytes may be other than zero; none if there is no
/// memory for it.
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
        None => (Pages::zeroed(bytes)?, 0),
    };
    let gone = pool().uses(block.bytes());
    drop(gone);
    Some((block, dirty))
}

/// Lengthens a block in use; false, with nothing done, if there is no memory for it.
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

/// Takes back a block that is not used any more.
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
