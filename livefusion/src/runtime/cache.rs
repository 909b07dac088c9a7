//! What many threads make once and keep: by key, at most so much.
//!
//! When there is too much, that goes which was not used for longest. The clock ticks with every value that
//! comes in, so that a use costs a look at it, and what is used between two of these is used at one time. A
//! value that goes while somebody uses it is dropped when its last user has done.

use super::sync::{AtomicU64, Map, Mutex, OnceCell, Ordering::Relaxed, lock};
use std::hash::Hash;
use std::sync::Arc;

/// Of so many kept values one goes more than must, so that not every newcomer looks for the oldest.
const AT_ONCE: usize = 8;

/// When something was used last.
pub struct LastUse(AtomicU64);

impl Default for LastUse {
    fn default() -> Self {
        LastUse(AtomicU64::new(0))
    }
}

impl LastUse {
    /// In times of its cache's clock.
    pub fn when(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A value that knows when it was used last.
pub trait Kept {
    fn last_use(&self) -> &LastUse;
}

/// Values that were made.
pub struct Cache<K, V> {
    limit: usize,
    by_key: Map<K, Arc<OnceCell<Arc<V>>>>,
    clock: AtomicU64,
    evicted: AtomicU64,
    /// Who looks for the oldest.
    shedding: Mutex<()>,
}

impl<K: Hash + Eq + Clone, V: Kept> Cache<K, V> {
    /// None yet, and never more than `limit`.
    pub fn new(limit: usize) -> Cache<K, V> {
        Cache {
            limit,
            by_key: Map::default(),
            clock: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
            shedding: Mutex::new(()),
        }
    }

    /// The value of a key, and whether it had to be made. Threads that want one value make it once.
    pub fn get_or_make<E>(
        &self,
        key: &K,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<(Arc<V>, bool), E> {
        let failing = Failing(self, key);
        let found = self.by_key.read(key, Arc::clone);
        let cell = found.unwrap_or_else(|| self.by_key.update(key.clone(), |cell| cell.clone()));
        let mut made_here = false;
        let value = cell.get_or_try_init(|| {
            let value = make()?;
            // Between the uses before it came and those that follow.
            let now = self.clock.fetch_add(2, Relaxed) + 1;
            value.last_use().0.store(now, Relaxed);
            made_here = true;
            Ok(Arc::new(value))
        })?;
        std::mem::forget(failing);
        if !made_here {
            self.touch(value);
        }
        Ok((value.clone(), made_here))
    }

    /// Notes that a value is used.
    pub fn touch(&self, value: &V) {
        let now = self.clock.load(Relaxed);
        let used = value.last_use();
        if used.when() != now {
            used.0.store(now, Relaxed);
        }
    }

    /// Drops values, if there are too many, and says which.
    pub fn shed(&self) -> Vec<Arc<V>> {
        let mut gone = Vec::new();
        if self.by_key.len() <= self.limit {
            return gone;
        }
        let _one = lock(&self.shedding);
        loop {
            let mut uses = Vec::new();
            self.by_key.for_each(|cell| {
                uses.extend(cell.get().map(|v| v.last_use().when()));
            });
            // Who makes one of the others will look whether there are too many.
            if uses.len() <= self.limit {
                break;
            }
            // What is used in between stays: then others have to go.
            let mut oldest = Oldest::of(uses, self.limit);
            self.by_key.retain(|cell| match cell.get() {
                Some(value) if oldest.includes(&**value) => {
                    gone.push(value.clone());
                    false
                }
                _ => true,
            });
        }
        self.evicted.fetch_add(gone.len() as u64, Relaxed);
        gone
    }

    /// Drops all.
    pub fn clear(&self) {
        self.by_key.clear();
    }

    /// How many there are at most.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// How many there are, those included that are being made.
    pub fn kept(&self) -> u64 {
        self.by_key.len() as u64
    }

    /// How many were dropped because there were too many.
    pub fn evicted(&self) -> u64 {
        self.evicted.load(Relaxed)
    }
}

/// Removes the empty cell of a value that could not be made, also when a thread unwinds. A cell that another thread holds
/// stays, so the last holder removes it. It must be dropped after the holder's own reference to the cell.
struct Failing<'c, K: Hash + Eq + Clone, V: Kept>(&'c Cache<K, V>, &'c K);

impl<K: Hash + Eq + Clone, V: Kept> Drop for Failing<'_, K, V> {
    fn drop(&mut self) {
        let Failing(cache, key) = self;
        let left = |cell: &Arc<OnceCell<_>>| cell.get().is_none() && Arc::strong_count(cell) == 1;
        cache.by_key.remove_if(key, left);
    }
}

/// What goes: so many, not used since some time.
pub struct Oldest {
    before: u64,
    left: usize,
}

impl Oldest {
    /// Of things that were used at these times, what has to go so that they are below a limit.
    pub fn of(mut uses: Vec<u64>, limit: usize) -> Oldest {
        let keep = limit - limit / AT_ONCE;
        let left = match uses.len() > limit {
            true => uses.len() - keep,
            false => 0,
        };
        let before = match left.checked_sub(1) {
            Some(last) => *uses.select_nth_unstable(last).1,
            None => 0,
        };
        Oldest { before, left }
    }

    /// Whether this goes, of those that there were; it is counted.
    pub fn includes(&mut self, value: &impl Kept) -> bool {
        let goes = self.left > 0 && value.last_use().when() <= self.before;
        self.left -= usize::from(goes);
        goes
    }
}
