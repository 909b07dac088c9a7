//! The processor that a thread runs on.
//!
//! The scheduler may put a woken thread on the processor of its waker. The two then share it for
//! milliseconds while others idle. Threads that run in parallel check for this, and move.

/// Returns the processor of the calling thread.
///
/// Returns `None` where the system does not report it.
pub fn here() -> Option<usize> {
    #[cfg(target_os = "linux")]
    {
        Some(rustix::thread::sched_getcpu())
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Moves the calling thread to another processor, if it may use others.
///
/// Its affinity is the same afterwards.
pub fn leave(processor: usize) {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
        let all = sched_getaffinity(None).ok();
        let Some(all) = all.filter(|all| processor < CpuSet::MAX_CPU && all.count() > 1) else {
            return;
        };
        let mut others = all;
        others.unset(processor);
        // A thread that cannot be moved stays. This costs only time.
        if sched_setaffinity(None, &others).is_ok() {
            let _ = sched_setaffinity(None, &all);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = processor;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_has_left_may_run_where_it_could() {
        // Returns the number of processors that this thread may use.
        let allowed = || std::thread::available_parallelism().map_or(1, |n| n.get());
        let before = allowed();
        for processor in here().into_iter().chain([0, 1, usize::MAX]) {
            leave(processor);
            assert_eq!(allowed(), before, "left {processor}");
        }
    }
}
