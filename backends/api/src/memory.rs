//! The memory limit of a run: chosen, or the process's free memory.
//!
//! Linux overcommits memory and kills the process that writes to missing pages. So a run without a
//! limit reads the free memory before a large allocation.

mod free;

pub use free::free;

/// Holds the request size from which unlimited runs read the free memory.
///
/// Reading it takes some tens of microseconds, as long as writing a mebibyte.
pub const MUCH: u64 = 64 << 20;

/// Tracks the memory that a run may still allocate.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    limit: u64,
    left: u64,
    by: By,
}

/// The limit of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
enum By {
    /// A chosen number.
    Limit,
    /// The free memory of the process, not read yet.
    Unknown,
    /// The free memory of the process.
    Free,
}

impl Default for Memory {
    /// Allows any number of bytes.
    fn default() -> Self {
        Memory::limited(u64::MAX)
    }
}

impl Memory {
    /// Allows `bytes` bytes.
    pub fn limited(bytes: u64) -> Memory {
        Memory {
            limit: bytes,
            left: bytes,
            by: By::Limit,
        }
    }

    /// Allows the free memory of the process.
    ///
    /// It is read at the first [large](MUCH) request.
    pub fn of_process() -> Memory {
        Memory {
            by: By::Unknown,
            ..Memory::default()
        }
    }

    /// Returns the limit on all taken bytes.
    ///
    /// It is [`u64::MAX`] if there is none, or if it is not known yet.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the bytes left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Takes bytes.
    ///
    /// Returns `false` and takes nothing if too few are left.
    ///
    /// ```
    /// use livefusion_backend::Memory;
    /// let mut memory = Memory::limited(100);
    /// assert!(memory.take(60) && !memory.take(60));
    /// memory.give_back(60);
    /// assert_eq!((memory.left(), memory.limit()), (100, 100));
    /// ```
    #[must_use]
    pub fn take(&mut self, bytes: u64) -> bool {
        if self.by == By::Unknown && bytes > MUCH {
            self.look();
        }
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// Takes capacity that may never be written to: from free memory, but not from a chosen limit.
    #[must_use]
    pub(crate) fn take_capacity(&mut self, bytes: u64) -> bool {
        self.by == By::Limit || self.take(bytes)
    }

    /// Takes the written part of such capacity: from a chosen limit.
    #[must_use]
    pub(crate) fn take_kept(&mut self, bytes: u64) -> bool {
        self.by != By::Limit || self.take(bytes)
    }

    /// Returns taken bytes to the budget.
    pub fn give_back(&mut self, bytes: u64) {
        self.left = self.left.saturating_add(bytes).min(self.limit);
    }

    #[cold]
    fn look(&mut self) {
        self.by = By::Free;
        if let Some(free) = free() {
            (self.limit, self.left) = (free, free);
        }
    }
}
