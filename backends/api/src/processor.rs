//! Which processor a thread runs on.
//!
//! A thread that is woken may be put on the processor of the one that woke it, and share it with that for
//! milliseconds while others idle. Threads that are to run beside each other look, and move.

/// The processor of the calling thread; none where the system does not tell.
pub fn here() -> Option<usize> {
    #[cfg(target_os = "linux")]
    {
        Some(rustix::thread::sched_getcpu())
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Moves the calling thread to another processor than this one, if it may use others. Where it may run
/// afterwards is as it was before.
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
        // A thread that may not be moved stays, which costs time only.
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
        // How many processors this thread may use.
        let allowed = || std::thread::available_parallelism().map_or(1, |n| n.get());
        let before = allowed();
        for processor in here().into_iter().chain([0, 1, usize::MAX]) {
            leave(processor);
            assert_eq!(allowed(), before, "left {processor}");
        }
    }
}
