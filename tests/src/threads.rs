//! Test work on all threads.
//!
//! These threads belong to no pool. A force on a pool's thread would take its helpers from that
//! pool, unlike in user programs.

use std::thread::{ScopedJoinHandle, available_parallelism, scope};

/// Returns the number of threads.
pub fn count() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Maps a function over items in parallel, in order.
///
/// # Panics
/// Panics if the function does.
pub fn map<I: Sync, T: Send>(items: &[I], f: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let (threads, f) = (count(), &f);
    // Neighbours go to different threads, because they often have similar cost.
    let part = |first| items.iter().skip(first).step_by(threads);
    let mut parts: Vec<std::vec::IntoIter<T>> = scope(|scope| {
        let workers = (0..threads).map(part);
        let workers = workers.map(|part| scope.spawn(move || part.map(f).collect()));
        let workers: Vec<ScopedJoinHandle<'_, Vec<T>>> = workers.collect();
        let given = workers.into_iter().map(|w| w.join().expect("no panic"));
        given.map(Vec::into_iter).collect()
    });
    let turns = (0..items.len()).map(|k| k % threads);
    turns.filter_map(|k| parts[k].next()).collect()
}
