//! Work distribution: items shared among threads.

use crate::ast::Threads;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Chunks of equal length for each thread. A late thread takes fewer.
const CHUNKS: usize = 2;

/// Represents the calling thread alone.
pub struct Alone;

impl Threads for Alone {
    fn count(&self) -> usize {
        1
    }

    fn together(&self, work: &(dyn Fn() + Sync)) {
        work();
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Calls a function on each item, in any order.
pub fn each<T: Send>(threads: &dyn Threads, items: Vec<T>, act: impl Fn(T) + Sync) {
    let states = (0..threads.count()).map(|_| ()).collect();
    each_with(threads, states, items, |_: &mut (), item| act(item));
}

/// Calls a function on each item in any order, with a state per thread.
pub fn each_with<S: Send, T: Send>(
    threads: &dyn Threads,
    states: Vec<S>,
    items: Vec<T>,
    act: impl Fn(&mut S, T) + Sync,
) {
    let (states, items) = (Mutex::new(states), Mutex::new(items.into_iter()));
    threads.together(&|| {
        let state = lock(&states).pop();
        if let Some(mut state) = state {
            // The lock is held only while an item is taken.
            let next = || lock(&items).next();
            while let Some(item) = next() {
                act(&mut state, item);
            }
        }
    });
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Splits a range into parts for threads.
pub fn parts(len: usize, threads: &dyn Threads) -> Vec<Range<usize>> {
    let parts = match threads.count() {
        1 => 1,
        n => n * CHUNKS,
    };
    let size = len.div_ceil(parts).max(1);
    let begins = (0..len).step_by(size);
    begins.map(|b| b..(b + size).min(len)).collect()
}
