//! Which processor a thread runs on.
//!
//! A thread that is woken may be put on the processor of the one that woke it, and share it with that for
//! milliseconds while others idle. Threads that are to run beside each other look, and move.

/// The processor of the calling thread; none where the system does not tell.
pub fn here() -> Option<usize> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: a question to the system, without effects.
        usize::try_from(unsafe { libc::sched_getcpu() }).ok()
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Moves the calling thread to another processor than this one, if it may use others. Where it may run
/// afterwards is as it was before.
pub fn leave(processor: usize) {
    #[cfg(target_os = "linux")]
    {
        let size = size_of::<libc::cpu_set_t>();
        if processor >= 8 * size {
            return;
        }
        // SAFETY: a set is bits, for which zeros are valid; the calls read or write one set of that size and
        // concern the calling thread only; `processor` is one of the set's bits.
        unsafe {
            let mut all: libc::cpu_set_t = std::mem::zeroed();
            if libc::sched_getaffinity(0, size, &raw mut all) != 0 || libc::CPU_COUNT(&all) < 2 {
                return;
            }
            let mut others = all;
            libc::CPU_CLR(processor, &mut others);
            if libc::sched_setaffinity(0, size, &raw const others) == 0 {
                libc::sched_setaffinity(0, size, &raw const all);
            }
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
