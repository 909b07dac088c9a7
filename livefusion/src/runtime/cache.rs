//! A bounded cache shared by threads: each value is made once per key.
//!
//! Beyond the limit, the least recently used values are evicted. The clock ticks when a value is
//! added, not when one is used. A use therefore costs one load. All uses between two additions
//! count as simultaneous. An evicted value is dropped by its last user.

use super::sync::{AtomicU64, Map, Mutex, OnceCell, Ordering::Relaxed, lock};
use std::hash::Hash;
use std::sync::Arc;

/// Eviction also frees one value in this many of the limit, so that not every insertion searches
/// for the oldest.
const AT_ONCE: usize = 8;

/// Holds the time of a value's last use.
pub struct LastUse(AtomicU64);

impl Default for LastUse {
    fn default() -> Self {
        LastUse(AtomicU64::new(0))
    }
}

impl LastUse {
    /// Returns the time on the cache's clock.
    pub fn when(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Describes a value that records its last use.
pub trait Cached {
    fn last_use(&self) -> &LastUse;
}

/// Holds values by key.
pub struct Cache<K, V> {
    limit: usize,
    by_key: Map<K, Arc<OnceCell<Arc<V>>>>,
    clock: AtomicU64,
    evicted: AtomicU64,
    /// Taken by the thread that evicts.
    shedding: Mutex<()>,
}

impl<K: Hash + Eq + Clone, V: Cached> Cache<K, V> {
    /// Creates an empty cache for at most `limit` values.
    pub fn new(limit: usize) -> Cache<K, V> {
        Cache {
            limit,
            by_key: Map::default(),
            clock: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
            shedding: Mutex::new(()),
        }
    }

    /// Returns the value of a key, and whether it was made by this call.
    ///
    /// Threads that ask for one key make its value once.
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
            // An odd time, between earlier and later uses.
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

    /// Records a use of a value.
    pub fn touch(&self, value: &V) {
        let now = self.clock.load(Relaxed);
        let used = value.last_use();
        if used.when() != now {
            used.0.store(now, Relaxed);
        }
    }

    /// Evicts values if there are too many, and returns them.
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
            // A thread that is making a value evicts afterwards itself.
            if uses.len() <= self.limit {
                break;
            }
            // A value used meanwhile stays. Then the search repeats.
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

    /// Drops all values.
    pub fn clear(&self) {
        self.by_key.clear();
    }

    /// Returns the limit.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Counts the values, including those under construction.
    pub fn kept(&self) -> u64 {
        self.by_key.len() as u64
    }

    /// Counts the evicted values.
    pub fn evicted(&self) -> u64 {
        self.evicted.load(Relaxed)
    }
}

/// Removes the empty cell of a value whose construction failed or unwound.
///
/// A cell that another thread holds stays: its last holder removes it. Drop this guard after the
/// thread's own reference to the cell.
struct Failing<'c, K: Hash + Eq + Clone, V: Cached>(&'c Cache<K, V>, &'c K);

impl<K: Hash + Eq + Clone, V: Cached> Drop for Failing<'_, K, V> {
    fn drop(&mut self) {
        let Failing(cache, key) = self;
        let left = |cell: &Arc<OnceCell<_>>| cell.get().is_none() && Arc::strong_count(cell) == 1;
        cache.by_key.remove_if(key, left);
    }
}

/// Selects a number of values to evict, last used at or before a time.
pub struct Oldest {
    before: u64,
    left: usize,
}

impl Oldest {
    /// Selects the oldest of these uses, such that the rest fits the limit.
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

    /// Tells whether to evict this value, and counts it.
    pub fn includes(&mut self, value: &impl Cached) -> bool {
        let goes = self.left > 0 && value.last_use().when() <= self.before;
        self.left -= usize::from(goes);
        goes
    }
}
