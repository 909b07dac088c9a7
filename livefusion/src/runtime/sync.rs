//! What threads of the runtime meet at: the standard library's, or that of `shuttle` in models, which are
//! run in many orders (`--cfg shuttle`, see `models`).
//!
//! A model sees only what goes through here. Rayon's pool and `dashmap` do not: so helpers are handed to a
//! pool by a closure, and a [`Map`] gives out no references, under which a thread could stop half-way.

pub use means::{
    AtomicBool, AtomicU64, AtomicUsize, Map, Mutex, MutexGuard, OnceCell, Patience, Wait,
    thread_local,
};
use std::sync::PoisonError;
pub use std::sync::atomic::Ordering;

/// Locks, also what somebody held who panicked.
pub fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was locked, when nobody does any more.
pub fn into_inner<T>(m: Mutex<T>) -> T {
    m.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(not(shuttle))]
mod means {
    use dashmap::DashMap;
    use std::hash::Hash;
    use std::time::{Duration, Instant};

    pub use once_cell::sync::OnceCell;
    pub use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
    pub use std::sync::{Mutex, MutexGuard};
    pub use std::thread_local;

    /// Waiting for another thread that is at work: first without giving the processor away.
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

    /// How long to wait for somebody at most.
    pub struct Patience(Instant, Duration);

    impl Patience {
        /// So long from now on.
        pub fn new(time: Duration) -> Patience {
            Patience(Instant::now(), time)
        }

        pub fn is_over(&self) -> bool {
            self.0.elapsed() > self.1
        }
    }

    /// A map that many threads use.
    pub struct Map<K, V>(DashMap<K, V>);

    impl<K: Hash + Eq + Clone, V: Clone + Default> Map<K, V> {
        pub fn new() -> Map<K, V> {
            Map(DashMap::new())
        }

        /// The key's value, which is put in if there is none.
        pub fn get_or_default(&self, key: &K) -> V {
            match self.0.get(key) {
                Some(value) => value.value().clone(),
                None => self.0.entry(key.clone()).or_default().clone(),
            }
        }

        pub fn remove_if(&self, key: &K, goes: impl FnOnce(&V) -> bool) {
            self.0.remove_if(key, |_, value| goes(value));
        }

        pub fn for_each(&self, mut f: impl FnMut(&V)) {
            self.0.iter().for_each(|value| f(&value));
        }

        pub fn retain(&self, mut keep: impl FnMut(&V) -> bool) {
            self.0.retain(|_, value| keep(value));
        }

        pub fn clear(&self) {
            self.0.clear();
        }

        pub fn len(&self) -> usize {
            self.0.len()
        }
    }
}

#[cfg(shuttle)]
mod means {
    use std::collections::HashMap;
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};
    use std::sync::OnceLock;
    use std::time::Duration;

    pub use shuttle::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
    pub use shuttle::sync::{Mutex, MutexGuard};
    pub use shuttle::thread_local;

    #[derive(Default)]
    pub struct Wait;

    impl Wait {
        pub fn once(&mut self) {
            shuttle::thread::yield_now();
        }
    }

    /// It may be over at any time.
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

    /// Filled once; who comes while somebody tries waits, and tries in turn if that fails.
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

    /// As the real one: in parts, each with a lock.
    pub struct Map<K, V>([Mutex<HashMap<K, V, Hasher>>; 2]);

    type Hasher = BuildHasherDefault<DefaultHasher>;

    impl<K: Hash + Eq + Clone, V: Clone + Default> Map<K, V> {
        pub fn new() -> Map<K, V> {
            Map([(); 2].map(|()| Mutex::new(HashMap::default())))
        }

        fn part(&self, key: &K) -> MutexGuard<'_, HashMap<K, V, Hasher>> {
            super::lock(&self.0[(Hasher::default().hash_one(key) % 2) as usize])
        }

        pub fn get_or_default(&self, key: &K) -> V {
            if let Some(value) = self.part(key).get(key) {
                return value.clone();
            }
            self.part(key).entry(key.clone()).or_default().clone()
        }

        pub fn remove_if(&self, key: &K, goes: impl FnOnce(&V) -> bool) {
            let mut part = self.part(key);
            if part.get(key).is_some_and(goes) {
                part.remove(key);
            }
            drop(part);
            // `shuttle` lets others run where a thread comes to something, not where it leaves that.
            shuttle::thread::yield_now();
        }

        pub fn for_each(&self, mut f: impl FnMut(&V)) {
            for part in &self.0 {
                super::lock(part).values().for_each(&mut f);
            }
        }

        pub fn retain(&self, mut keep: impl FnMut(&V) -> bool) {
            for part in &self.0 {
                super::lock(part).retain(|_, value| keep(value));
            }
        }

        pub fn clear(&self) {
            self.retain(|_| false);
        }

        pub fn len(&self) -> usize {
            self.0.iter().map(|part| super::lock(part).len()).sum()
        }
    }
}
