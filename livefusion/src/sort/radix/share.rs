//! Items shared out among threads.

use crate::ast::Threads;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// For each thread so many chunks of equal length: a late thread takes fewer.
const CHUNKS: usize = 2;

/// The calling thread alone.
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

/// Does something with each item, in any order.
pub fn each<T: Send>(threads: &dyn Threads, items: Vec<T>, act: impl Fn(T) + Sync) {
    let states = (0..threads.count()).map(|_| ()).collect();
    each_with(threads, states, items, |_: &mut (), item| act(item));
}

/// Does something with each item, in any order; each thread has a state of its own.
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
            // The lock is held no longer than it takes to take an item.
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

/// So many elements in parts, which threads share.
pub fn parts(len: usize, threads: &dyn Threads) -> Vec<Range<usize>> {
    let parts = match threads.count() {
        1 => 1,
        n => n * CHUNKS,
    };
    let size = len.div_ceil(parts).max(1);
    let begins = (0..len).step_by(size);
    begins.map(|b| b..(b + size).min(len)).collect()
}
