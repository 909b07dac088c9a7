//! The identity of this process, which a fork changes.
//!
//! A forked child has the memory of its parent, but only the forking thread. A lock of another
//! thread stays locked. So all data behind a lock is [per process](PerProcess), and a child makes
//! its own.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Returns a number that differs from those of all parents and children.
pub fn number() -> u64 {
    mark::read().unwrap_or_else(|| std::process::id().into())
}

/// Returns whether this process was forked from one that called [`number`].
///
/// Thread pools of the whole process may have no threads here.
pub fn is_forked() -> bool {
    static FIRST: AtomicU64 = AtomicU64::new(0);
    let here = number();
    match FIRST.compare_exchange(0, here, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => false,
        Err(first) => first != here,
    }
}

/// A page that a fork clears in the child. Reading it is free, while a system call is not.
#[cfg(target_os = "linux")]
mod mark {
    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

    static MARK: AtomicPtr<AtomicU64> = AtomicPtr::new(null_mut());

    /// Returns the number on the page.
    ///
    /// Returns `None` where the system has no such pages.
    pub fn read() -> Option<u64> {
        let mut mark = MARK.load(Ordering::Acquire);
        if mark.is_null() {
            mark = make()?;
        }
        // SAFETY: the page is never unmapped once it is in `MARK`, and was zero at first.
        let mark = unsafe { &*mark };
        match mark.load(Ordering::Relaxed) {
            0 => Some(write(mark)),
            number => Some(number),
        }
    }

    /// Assigns a number to the process. The counter continues in a child, so the child's number
    /// differs.
    #[cold]
    fn write(mark: &AtomicU64) -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        match mark.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => number,
            Err(number) => number,
        }
    }

    #[cold]
    fn make() -> Option<*mut AtomicU64> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let bytes = size_of::<AtomicU64>();
        // SAFETY: a new private mapping of no file, anywhere; it touches no memory of others.
        let page = unsafe { mmap_anonymous(null_mut(), bytes, access, MapFlags::PRIVATE) }.ok()?;
        let give_back = || {
            // SAFETY: the mapping that was made above, which nobody else has seen.
            let _ = unsafe { munmap(page, bytes) };
        };
        // SAFETY: advice on that mapping; it clears the page in a child.
        if unsafe { madvise(page, bytes, Advice::LinuxWipeOnFork) }.is_err() {
            give_back();
            return None;
        }
        let page: *mut AtomicU64 = page.cast();
        match MARK.compare_exchange(null_mut(), page, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Some(page),
            Err(first) => {
                give_back();
                Some(first)
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod mark {
    pub fn read() -> Option<u64> {
        None
    }
}

/// Holds a value separately for each process.
///
/// A forked child never sees its parent's value, whose locks may be held forever.
pub struct PerProcess<T>(AtomicPtr<Of<T>>);

struct Of<T> {
    process: u64,
    value: T,
}

// SAFETY: it owns its values, as a box would.
unsafe impl<T: Send> Send for PerProcess<T> {}
// SAFETY: threads share values, and each may be the one that made them.
unsafe impl<T: Send + Sync> Sync for PerProcess<T> {}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        PerProcess::new()
    }
}

impl<T> PerProcess<T> {
    /// Creates a cell without a value.
    ///
    /// ```
    /// use livefusion_backend::process::PerProcess;
    /// static NAMES: PerProcess<std::sync::Mutex<Vec<String>>> = PerProcess::new();
    /// let names = NAMES.get_or_make(Default::default);
    /// assert!(names.lock().is_ok_and(|names| names.is_empty()));
    /// ```
    pub const fn new() -> PerProcess<T> {
        PerProcess(AtomicPtr::new(null_mut()))
    }

    /// Returns this process's value, and makes it on first use.
    ///
    /// If several threads make it at once, the first value is kept. No thread waits for another.
    pub fn get_or_make(&self, make: impl FnOnce() -> T) -> &T {
        let newest = self.0.load(Ordering::Acquire);
        match self.of_here(newest) {
            Some(value) => value,
            None => self.put(newest, make()),
        }
    }

    /// Returns this process's value, if it was made.
    pub fn get(&self) -> Option<&T> {
        self.of_here(self.0.load(Ordering::Acquire))
    }

    fn of_here(&self, newest: *mut Of<T>) -> Option<&T> {
        // SAFETY: a pointer that is not null came from a box, and is freed only when this is dropped.
        let newest = unsafe { newest.as_ref() }?;
        (newest.process == number()).then_some(&newest.value)
    }

    /// Replaces a parent's value. That value is never dropped, since its parts may be locked.
    #[cold]
    fn put(&self, before: *mut Of<T>, value: T) -> &T {
        let process = number();
        let new = Box::into_raw(Box::new(Of { process, value }));
        let put = self
            .0
            .compare_exchange(before, new, Ordering::AcqRel, Ordering::Acquire);
        let kept = match put {
            Ok(_) => new,
            Err(first) => {
                // SAFETY: the box from above, which nobody has seen.
                drop(unsafe { Box::from_raw(new) });
                first
            }
        };
        // SAFETY: as in `of_here`. A thread of this process has put it there.
        unsafe { &(*kept).value }
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        let newest = *self.0.get_mut();
        if self.of_here(newest).is_some() {
            // SAFETY: it came from a box, and nobody refers to it any more.
            drop(unsafe { Box::from_raw(newest) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn process_number_stays_the_same() {
        let numbers: Vec<u64> = std::thread::scope(|scope| {
            let asked = [(); 4].map(|()| scope.spawn(number));
            asked.into_iter().filter_map(|t| t.join().ok()).collect()
        });
        assert_eq!(numbers, [number(); 4]);
        assert!(!is_forked());
    }

    #[test]
    fn per_process_threads_share_the_first_value_and_drop_the_others() {
        let held = Arc::new(());
        let values = PerProcess::new();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert!(Arc::ptr_eq(values.get_or_make(|| held.clone()), &held)));
            }
        });
        assert_eq!(Arc::strong_count(&held), 2);
        drop(values);
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
