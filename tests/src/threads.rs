//! Work of the tests on all threads. These are threads of their own, not a pool's: a force on a pool's thread takes
//! its helpers from there, and users do not force so.

use std::thread::{ScopedJoinHandle, available_parallelism, scope};

/// How many threads there are.
pub fn count() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// What a function gives for each item, in the order of the items.
///
/// # Panics
/// The function does.
pub fn map<I: Sync, T: Send>(items: &[I], f: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let (threads, f) = (count(), &f);
    // Neighbours go to different threads: they are often alike in size.
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
