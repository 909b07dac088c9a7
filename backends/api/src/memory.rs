//! How much memory a run may take: by a limit, or as much as the process has free.
//!
//! Linux grants memory that is not there, and ends the process that writes to it. So a run without a limit looks, before it
//! asks for much, how much is free.

mod free;

pub use free::free;

/// A run without a limit reads the free memory where it asks for more bytes than this at once. Reading that takes some tens of
/// microseconds, as writing a mebibyte does.
pub const MUCH: u64 = 64 << 20;

/// How much memory a run may still allocate.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    limit: u64,
    left: u64,
    by: By,
}

/// The limit of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
enum By {
    /// A number that somebody chose.
    Limit,
    /// The free memory of the process, not read yet.
    Unknown,
    /// The free memory of the process.
    Free,
}

impl Default for Memory {
    /// Any number of bytes.
    fn default() -> Self {
        Memory::limited(u64::MAX)
    }
}

impl Memory {
    /// So many bytes.
    pub fn limited(bytes: u64) -> Memory {
        Memory {
            limit: bytes,
            left: bytes,
            by: By::Limit,
        }
    }

    /// The free memory of the process, which is read when [much](MUCH) is asked for.
    pub fn of_process() -> Memory {
        Memory {
            by: By::Unknown,
            ..Memory::default()
        }
    }

    /// The limit on all that is taken: [`u64::MAX`] if there is none, or none was found yet.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Takes bytes; false, with nothing taken, if there are not so many.
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

    /// Takes capacity that may never be written to: from free memory, not from a chosen limit.
    #[must_use]
    pub(crate) fn take_room(&mut self, bytes: u64) -> bool {
        self.by == By::Limit || self.take(bytes)
    }

    /// Takes the written part of such capacity: from a chosen limit.
    #[must_use]
    pub(crate) fn take_kept(&mut self, bytes: u64) -> bool {
        self.by != By::Limit || self.take(bytes)
    }

    /// Bytes that were taken may be taken again.
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
