//! Blocks of whole pages from the operating system.
//!
//! Fresh pages are zero and cost nothing until they are touched. Blocks grow and shrink without a
//! copy.

#[cfg(target_os = "linux")]
use rustix::mm::{
    Advice, MapFlags, MremapFlags, ProtFlags, madvise, mmap_anonymous, mremap, munmap,
};
use std::ptr::NonNull;

/// Holds the size of a page, which is the alignment of every block.
pub const PAGE: usize = 4096;

/// The size of a huge page on most machines.
#[cfg(target_os = "linux")]
const HUGE: usize = 2 << 20;

/// The memory that a region requests from the system at a time.
#[cfg(target_os = "linux")]
const AT_ONCE: usize = 32 << 20;

/// Holds a block of pages, owned exclusively and fully initialised.
#[derive(Debug)]
pub struct Pages {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a block owns its memory, and gives out nothing but its address.
unsafe impl Send for Pages {}

/// Rounds a number of bytes up to whole pages.
///
/// Returns `None` if the size exceeds the address space.
pub fn whole(bytes: usize) -> Option<usize> {
    let whole = bytes.max(1).checked_next_multiple_of(PAGE)?;
    isize::try_from(whole).ok().map(|_| whole)
}

impl Pages {
    /// Returns the start address.
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Returns the length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(target_os = "linux")]
impl Pages {
    /// Allocates a block of zeros with capacity for `bytes`.
    ///
    /// Returns `None` if there is no memory for it.
    pub fn zeroed(bytes: usize) -> Option<Pages> {
        let bytes = whole(bytes)?;
        // SAFETY: a new private mapping of no file, anywhere; it touches no memory of others.
        let base = unsafe {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            mmap_anonymous(std::ptr::null_mut(), bytes, access, MapFlags::PRIVATE)
        };
        let base = base.ok()?;
        // SAFETY: advice on the new mapping; it changes no contents. Systems without huge pages
        // refuse it, which does no harm.
        let _ = unsafe { madvise(base, bytes, Advice::LinuxHugepage) };
        let base = NonNull::new(base.cast())?;
        Some(Pages { base, bytes })
    }

    /// Resizes the block to hold `bytes`.
    ///
    /// New memory is zero, and the block may move. Returns `false` and changes nothing if there is
    /// no memory for it.
    pub fn resize(&mut self, bytes: usize) -> bool {
        let Some(bytes) = whole(bytes) else {
            return false;
        };
        // SAFETY: the whole of a mapping that this block owns; nobody keeps an address in it, as
        // `&mut self` says.
        let base = unsafe {
            let old = self.base.as_ptr().cast();
            mremap(old, self.bytes, bytes, MremapFlags::MAYMOVE)
        };
        let Some(new) = base.ok().and_then(|base| NonNull::new(base.cast())) else {
            return false;
        };
        (self.base, self.bytes) = (new, bytes);
        true
    }

    /// Cuts a block of `bytes` off the start.
    ///
    /// Returns `None` and changes nothing if this block is not longer.
    fn cut(&mut self, bytes: usize) -> Option<Pages> {
        let bytes = whole(bytes)?;
        let left = self.bytes.checked_sub(bytes).filter(|left| *left > 0)?;
        let base = self.base;
        // SAFETY: within the mapping, at the boundary of a page. Each part of a mapping can be
        // unmapped and moved alone.
        self.base = unsafe { base.add(bytes) };
        self.bytes = left;
        Some(Pages { base, bytes })
    }
}

/// Cuts blocks from memory in huge pages.
///
/// On a virtual machine the first touch of an ordinary page takes 1.6 microseconds for 4 KiB. That of
/// a huge page takes some sixty for 2 MiB. The huge page at the end of a block also serves the next
/// block, so short blocks waste no memory.
#[derive(Debug, Default)]
pub struct Region {
    /// The part that no block has.
    #[cfg(target_os = "linux")]
    left: Option<Pages>,
}

impl Region {
    /// Allocates a block of zeros with capacity for `bytes`.
    ///
    /// A long block has a mapping of its own, of whole huge pages. Returns `None` if there is no
    /// memory for it.
    #[cfg(target_os = "linux")]
    pub fn block(&mut self, bytes: usize) -> Option<Pages> {
        if bytes >= AT_ONCE {
            return Pages::zeroed(bytes.checked_next_multiple_of(HUGE)?);
        }
        let block = self.left.as_mut().and_then(|left| left.cut(bytes));
        let in_new = || {
            self.left = Pages::zeroed(AT_ONCE);
            self.left.as_mut()?.cut(bytes)
        };
        block.or_else(in_new).or_else(|| Pages::zeroed(bytes))
    }

    /// Allocates a block of zeros with capacity for `bytes`.
    ///
    /// Returns `None` if there is no memory for it.
    #[cfg(not(target_os = "linux"))]
    pub fn block(&mut self, bytes: usize) -> Option<Pages> {
        Pages::zeroed(bytes)
    }
}

#[cfg(target_os = "linux")]
impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping that this block owns, which nobody uses any more.
        let freed = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
        debug_assert!(freed.is_ok());
    }
}

#[cfg(not(target_os = "linux"))]
impl Pages {
    fn layout(bytes: usize) -> std::alloc::Layout {
        // SAFETY: the alignment is a power of two, and `whole` kept the size within `isize`.
        unsafe { std::alloc::Layout::from_size_align_unchecked(bytes, PAGE) }
    }

    /// Allocates a block of zeros with capacity for `bytes`.
    ///
    /// Returns `None` if there is no memory for it.
    pub fn zeroed(bytes: usize) -> Option<Pages> {
        let bytes = whole(bytes)?;
        // SAFETY: the size is not zero.
        let base = unsafe { std::alloc::alloc_zeroed(Self::layout(bytes)) };
        NonNull::new(base).map(|base| Pages { base, bytes })
    }

    /// Resizes the block to hold `bytes`.
    ///
    /// New memory is zero, and the block may move. Returns `false` and changes nothing if there is
    /// no memory for it.
    pub fn resize(&mut self, bytes: usize) -> bool {
        let Some(new) = Pages::zeroed(bytes) else {
            return false;
        };
        // SAFETY: two blocks, and no more than the shorter one holds.
        unsafe {
            new.base
                .copy_from_nonoverlapping(self.base, self.bytes.min(new.bytes));
        }
        *self = new;
        true
    }
}

#[cfg(not(target_os = "linux"))]
impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and nobody uses it any more.
        unsafe { std::alloc::dealloc(self.base.as_ptr(), Self::layout(self.bytes)) };
    }
}
