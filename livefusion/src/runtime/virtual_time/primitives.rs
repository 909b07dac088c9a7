//! Locks, atomics, waits and times on the clocks of simulated threads.

use super::{State, World, now, turn, world};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{self, Ordering};
use std::sync::{LockResult, PoisonError, TryLockError};
use std::time::Duration;

/// Shards of a map.
pub const PARTS: usize = 16;

/// Lets other threads run where a model would not see the opportunity.
pub fn leave() {}

/// Holds a time on the clock of a thread.
#[derive(Clone, Copy)]
pub struct Instant(u64);

impl Instant {
    /// Reads the clock of this thread.
    pub fn now() -> Instant {
        Instant(now())
    }

    /// Returns the time since then.
    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(now().saturating_sub(self.0))
    }
}

/// Waits for another thread's progress.
#[derive(Default)]
pub struct Wait;

impl Wait {
    /// Waits for a change since the last look.
    pub fn once(&mut self) {
        world(|w| {
            let (poll, changes) = (w.machine.poll, w.changes);
            let me = w.me();
            me.passes(poll);
            if me.seen == changes {
                me.state = State::Waiting;
            }
        });
        turn();
        world(|w| w.me().seen = w.changes);
    }
}

/// Guards a value by a lock that takes time.
pub struct Mutex<T> {
    inner: std::sync::Mutex<T>,
    /// One more than the thread that had it last.
    last: atomic::AtomicUsize,
}

/// Holds a lock until it is dropped.
pub struct MutexGuard<'a, T> {
    inner: Option<std::sync::MutexGuard<'a, T>>,
    mutex: &'a Mutex<T>,
    is_changed: bool,
}

impl<T> Mutex<T> {
    /// Creates a lock that nobody had.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex {
            inner: std::sync::Mutex::new(value),
            last: atomic::AtomicUsize::new(0),
        }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Takes the lock, for the time that the machine says.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let inner = loop {
            turn();
            match self.inner.try_lock() {
                Ok(guard) => break guard,
                Err(TryLockError::Poisoned(guard)) => break guard.into_inner(),
                Err(TryLockError::WouldBlock) => match world(|w| w.block(self.address())) {
                    Some(()) => {}
                    None => break self.inner.lock().unwrap_or_else(PoisonError::into_inner),
                },
            }
        };
        world(|w| {
            let me = w.current + 1;
            let time = match self.last.swap(me, Ordering::Relaxed) == me {
                true => w.machine.lock,
                false => w.machine.lock_moved,
            };
            w.me().clock += time;
            w.me().spent.locks += time;
        });
        Ok(MutexGuard {
            inner: Some(inner),
            mutex: self,
            is_changed: false,
        })
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("it is held until it is dropped")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.is_changed = true;
        self.inner.as_mut().expect("it is held until it is dropped")
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            turn();
        }
        self.inner = None;
        world(|w| {
            if self.is_changed {
                w.changed();
            }
            w.released(self.mutex.address());
        });
    }
}

/// Defines an atomic whose uses take no time.
macro_rules! atomic {
    ($name:ident, $t:ty: $($method:ident)*) => {
        #[derive(Default)]
        /// Holds an atomic value.
        pub struct $name(atomic::$name);

        impl $name {
            /// Creates an atomic.
            pub const fn new(value: $t) -> $name {
                $name(atomic::$name::new(value))
            }

            /// Reads it, once all threads with earlier clocks have passed.
            pub fn load(&self, order: Ordering) -> $t {
                turn();
                self.0.load(order)
            }

            /// Writes it, and wakes threads that wait for a change.
            pub fn store(&self, value: $t, order: Ordering) {
                turn();
                self.0.store(value, order);
                world(World::changed);
            }

            $(/// Changes it, and wakes threads that wait for a change.
            pub fn $method(&self, value: $t, order: Ordering) -> $t {
                turn();
                let before = self.0.$method(value, order);
                world(World::changed);
                before
            })*
        }
    };
}

atomic!(AtomicBool, bool:);
atomic!(AtomicU64, u64: fetch_add);
atomic!(AtomicUsize, usize: fetch_add fetch_sub fetch_min);
