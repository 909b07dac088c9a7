//! Synchronisation primitives of the standard library, of `shuttle` in models, or of virtual time.
//!
//! Models run in many thread orders (`--cfg shuttle`, see `models`). A model observes only
//! primitives from this module. Simulations have a clock for each thread (`--cfg virtual_time`, see
//! `virtual_time`). Helpers reach a pool through a closure and [`spawn`].

#[cfg(virtual_time)]
use super::virtual_time as means;
#[cfg(shuttle)]
pub use means::Patience;
pub use means::{
    AtomicBool, AtomicU64, AtomicUsize, Instant, Mutex, MutexGuard, OnceCell, Wait, copied, spawn,
    thread_local,
};
use means::{PARTS, RwLock, leave};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::array;
use std::hash::{BuildHasher, Hash};
use std::sync::PoisonError;
pub use std::sync::atomic::Ordering;
#[cfg(not(shuttle))]
use std::time::Duration;

/// Locks a mutex, even after a panic.
pub fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds a map shared by threads, in shards with a lock each.
///
/// Closures see its values under such a lock.
pub struct Map<K, V>([RwLock<FxHashMap<K, V>>; PARTS]);

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Map(array::from_fn(|_| RwLock::new(FxHashMap::default())))
    }
}

impl<K: Hash + Eq, V> Map<K, V> {
    fn part(&self, key: &K) -> &RwLock<FxHashMap<K, V>> {
        // Bits other than those that index the shard's own table.
        &self.0[(FxBuildHasher.hash_one(key) >> 32) as usize % PARTS]
    }

    /// Reads the value of a key, if it has one.
    pub fn read<R>(&self, key: &K, f: impl FnOnce(&V) -> R) -> Option<R> {
        let part = self.part(key).read();
        part.unwrap_or_else(PoisonError::into_inner).get(key).map(f)
    }

    /// Changes the value of a key, inserted first if absent.
    pub fn update<R>(&self, key: K, f: impl FnOnce(&mut V) -> R) -> R
    where
        V: Default,
    {
        let part = self.part(&key).write();
        let mut part = part.unwrap_or_else(PoisonError::into_inner);
        f(part.entry(key).or_default())
    }

    /// Removes the value of a key if it passes a test.
    pub fn remove_if(&self, key: &K, goes: impl FnOnce(&V) -> bool) {
        let part = self.part(key).write();
        let mut part = part.unwrap_or_else(PoisonError::into_inner);
        if part.get(key).is_some_and(goes) {
            part.remove(key);
        }
        drop(part);
        leave();
    }

    /// Visits each value.
    pub fn for_each(&self, mut f: impl FnMut(&V)) {
        for part in &self.0 {
            let part = part.read().unwrap_or_else(PoisonError::into_inner);
            part.values().for_each(&mut f);
        }
    }

    /// Keeps the values that pass a test, which may change them.
    pub fn retain(&self, mut keep: impl FnMut(&mut V) -> bool) {
        for part in &self.0 {
            let mut part = part.write().unwrap_or_else(PoisonError::into_inner);
            part.retain(|_, value| keep(value));
        }
    }

    /// Drops all values.
    pub fn clear(&self) {
        self.retain(|_| false);
    }

    /// Counts the values.
    pub fn len(&self) -> usize {
        let lens = self
            .0
            .iter()
            .map(|part| part.read().unwrap_or_else(PoisonError::into_inner).len());
        lens.sum()
    }
}

/// Limits a wait in time.
#[cfg(not(shuttle))]
pub struct Patience(Instant, Duration);

#[cfg(not(shuttle))]
impl Patience {
    /// Starts a wait of at most `time`.
    pub fn new(time: Duration) -> Patience {
        Patience(Instant::now(), time)
    }

    /// Tells whether the time is over.
    pub fn is_over(&self) -> bool {
        self.0.elapsed() > self.1
    }
}

#[cfg(not(any(shuttle, virtual_time)))]
mod means {
    use rayon::ThreadPool;
    pub use std::time::Instant;

    pub use once_cell::sync::OnceCell;
    pub use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
    pub use std::sync::{Mutex, MutexGuard, RwLock};
    pub use std::thread_local;

    /// Shards of a [`Map`](super::Map).
    pub const PARTS: usize = 16;

    /// Lets other threads run where a model would not see the opportunity.
    pub fn leave() {}

    /// Tells the clock of a simulation that the runtime copied bytes.
    pub fn copied(_: usize) {}

    /// Runs a job on a thread of the pool.
    pub fn spawn(pool: &ThreadPool, job: impl FnOnce() + Send + 'static) {
        pool.spawn(job);
    }

    /// Waits for a busy thread, spinning first.
    #[derive(Default)]
    pub struct Wait(u32);

    impl Wait {
        /// Waits a little.
        pub fn once(&mut self) {
            self.0 += 1;
            match self.0 {
                0..2000 => std::hint::spin_loop(),
                _ => std::thread::yield_now(),
            }
        }
    }
}

#[cfg(shuttle)]
mod means {
    use rayon::ThreadPool;
    use std::sync::OnceLock;
    use std::time::Duration;
    pub use std::time::Instant;

    pub use shuttle::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
    pub use shuttle::sync::{Mutex, MutexGuard, RwLock};
    pub use shuttle::thread_local;

    pub const PARTS: usize = 2;

    /// Yields after a release.
    ///
    /// `shuttle` switches threads before an operation, not after it.
    pub fn leave() {
        shuttle::thread::yield_now();
    }

    pub fn copied(_: usize) {}

    pub fn spawn(pool: &ThreadPool, job: impl FnOnce() + Send + 'static) {
        pool.spawn(job);
    }

    #[derive(Default)]
    pub struct Wait;

    impl Wait {
        pub fn once(&mut self) {
            shuttle::thread::yield_now();
        }
    }

    /// Limits a wait that may end at any time.
    pub struct Patience;

    impl Patience {
        pub fn new(_: Duration) -> Patience {
            Patience
        }

        pub fn is_over(&self) -> bool {
            use shuttle::rand::{Rng, thread_rng};
            thread_rng().gen_ratio(1, 16)
        }
    }

    /// Holds a value that is initialised once.
    ///
    /// Other threads wait during an attempt, and try in turn if it fails.
    pub struct OnceCell<T> {
        trying: Mutex<()>,
        value: OnceLock<T>,
    }

    impl<T> Default for OnceCell<T> {
        fn default() -> Self {
            OnceCell {
                trying: Mutex::new(()),
                value: OnceLock::new(),
            }
        }
    }

    impl<T> OnceCell<T> {
        pub fn get(&self) -> Option<&T> {
            self.value.get()
        }

        pub fn get_or_try_init<E>(&self, f: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
            let _trying = super::lock(&self.trying);
            let value = match self.value.get() {
                Some(_) => return Ok(self.value.get_or_init(|| unreachable!())),
                None => f()?,
            };
            Ok(self.value.get_or_init(|| value))
        }
    }
}
