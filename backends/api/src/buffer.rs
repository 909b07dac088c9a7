//! Typed arrays in memory.
//!
//! A buffer is a 64-byte aligned allocation (recycled if large) or the memory of a `Vec`, taken
//! without a copy. Only this module and compiled kernels (through [`Buffer::as_mut_ptr`]) touch raw
//! memory. Invariants of a [`Buffer`]:
//!
//! * `ptr` is aligned for `ty`. It is valid for reads and writes of `len` initialised elements.
//! * Every element is a valid value of `ty`: a `Bool` is a byte 0 or 1.
//! * The buffer owns its memory, as `storage` says, or keeps the owner alive. It never writes
//!   memory that it does not own.
//! * A far array has no elements at `ptr`: [`Buffer::here`] fetches them.

mod far;
mod foreign;
mod pages;
pub mod recycle;
mod spare;

pub use crate::prim::Prim;
use crate::prim::with_layout;
pub use far::{Far, FarError};
use foreign::Owner;
pub use foreign::ReadError;
use loop_lang::types::Ty;
use pages::Pages;
pub use spare::{Content, Spare};
use std::alloc::{self, Layout};
use std::fmt;
use std::marker::PhantomData;
use std::num::NonZero;
use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::OnceLock;

/// Holds the alignment of allocations made here.
///
/// It is a cache line, and the width of the widest vector registers.
pub const ALIGN: usize = 64;

/// Alignment requested from the allocator.
///
/// Up to this alignment the allocator zeroes memory lazily, through fresh pages. For a larger one
/// it would write the zeros. `ALIGN` is reached by starting later in the block.
const BLOCK_ALIGN: usize = 16;

/// Unused bytes above which `truncate` moves to a smaller block.
const WORTH_GIVING_BACK: usize = 4096;

/// Unused bytes of pages above which `truncate` returns them.
///
/// Fewer are kept: the next array of this size reuses them at no cost.
const PAGES_WORTH_GIVING_BACK: usize = 1 << 20;

/// Address of an empty buffer: dangling, but aligned for every type.
const DANGLING: NonNull<u8> = match NonZero::new(ALIGN) {
    Some(address) => NonNull::without_provenance(address),
    None => NonNull::dangling(),
};

/// Holds an array of scalars in memory.
pub struct Buffer {
    ty: Ty,
    len: usize,
    ptr: NonNull<u8>,
    storage: Storage,
    /// Whether the buffer keeps its memory when it is shortened.
    keeps_capacity: bool,
    /// The elements in a device's memory, if they are there.
    far: OnceLock<Box<dyn Far>>,
}

/// The allocator of a buffer's memory, which decides how it is freed.
enum Storage {
    /// Nothing to free: `len` is 0.
    Empty,
    /// A block of `bytes` at `base`. `ptr` points into it.
    Block { base: NonNull<u8>, bytes: usize },
    /// Pages. `ptr` points to their start.
    Pages(Pages),
    /// A `Vec` of this capacity. Its elements are laid out as the buffer's type.
    Vec { capacity: usize },
    /// Borrowed memory, kept alive by its owner and only read.
    ///
    /// The owner is unwind-safe here: a buffer does nothing with it except drop it.
    Foreign { _owner: AssertUnwindSafe<Owner> },
    /// No memory here, until the far elements are fetched.
    Far { here: OnceLock<Box<Buffer>> },
}

// SAFETY: a buffer owns its memory, or keeps an owner that is `Send`, and gives access to it only
// under Rust's borrow rules.
unsafe impl Send for Buffer {}
// SAFETY: as above; through `&Buffer` memory is only read.
unsafe impl Sync for Buffer {}

/// Returns the layout of a block with capacity for `bytes` at `ALIGN`.
fn block_layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(ALIGN)?, BLOCK_ALIGN).ok()
}

/// Returns the distance from `base` to the next multiple of `ALIGN`, less than `ALIGN`.
fn skew(base: NonNull<u8>) -> usize {
    base.as_ptr().addr().wrapping_neg() % ALIGN
}

impl Buffer {
    /// Returns an array without elements.
    pub fn empty(ty: Ty) -> Buffer {
        Buffer {
            ty,
            len: 0,
            ptr: DANGLING,
            storage: Storage::Empty,
            keeps_capacity: false,
            far: OnceLock::new(),
        }
    }

    /// Allocates an array of zeros (`false`).
    ///
    /// Returns `None` if there is no memory for it.
    pub fn zeroed(ty: Ty, len: usize) -> Option<Buffer> {
        let bytes = len.checked_mul(ty.size())?;
        if bytes < recycle::SMALLEST {
            return Buffer::block(ty, len);
        }
        let (buffer, dirty) = Buffer::pages(ty, len)?;
        // SAFETY: the block is longer than the elements, and nobody else has it.
        unsafe { buffer.ptr.write_bytes(0, dirty.min(bytes)) };
        Some(buffer)
    }

    /// Allocates an array with unspecified elements.
    ///
    /// The caller must write every element before it is read: the memory may hold the elements of a
    /// dropped array. Returns `None` if there is no memory for it.
    pub fn uncleared(ty: Ty, len: usize) -> Option<Buffer> {
        // Stale bytes may be invalid `Bool`s.
        if ty == Ty::Bool || len.checked_mul(ty.size())? < recycle::SMALLEST {
            return Buffer::zeroed(ty, len);
        }
        Buffer::pages(ty, len).map(|(buffer, _)| buffer)
    }

    /// Allocates an array in recycled or fresh pages. Also returns the number of recycled (dirty)
    /// bytes.
    fn pages(ty: Ty, len: usize) -> Option<(Buffer, usize)> {
        let (pages, dirty) = recycle::take(len.checked_mul(ty.size())?)?;
        let buffer = Buffer {
            ty,
            len,
            ptr: pages.base(),
            storage: Storage::Pages(pages),
            keeps_capacity: false,
            far: OnceLock::new(),
        };
        Some((buffer, dirty))
    }

    /// Allocates an array of zeros from the allocator.
    fn block(ty: Ty, len: usize) -> Option<Buffer> {
        if len == 0 {
            return Some(Buffer::empty(ty));
        }
        let layout = block_layout(len.checked_mul(ty.size())?)?;
        // SAFETY: the layout's size is at least `ALIGN`, so not zero.
        let base = NonNull::new(unsafe { alloc::alloc_zeroed(layout) })?;
        // SAFETY: `skew` is below `ALIGN`, and the block has `ALIGN` bytes more than the elements.
        let ptr = unsafe { base.add(skew(base)) };
        // Zero bytes are a valid value of every scalar type.
        Some(Buffer {
            ty,
            len,
            ptr,
            storage: Storage::Block {
                base,
                bytes: layout.size(),
            },
            keeps_capacity: false,
            far: OnceLock::new(),
        })
    }

    /// Allocates an array with every element equal to a canonical word.
    pub fn fill(ty: Ty, len: usize, word: u64) -> Option<Buffer> {
        if word == 0 {
            return Buffer::zeroed(ty, len);
        }
        let mut buffer = Buffer::uncleared(ty, len)?;
        buffer.set_all(word);
        Some(buffer)
    }

    /// Sets all elements to a canonical word.
    fn set_all(&mut self, word: u64) {
        let (ty, len) = (self.ty, self.len);
        with_layout!(ty, T => {
            // SAFETY: `T` is laid out as `ty`; for `Bool` the byte written is made 0 or 1.
            let all = unsafe { std::slice::from_raw_parts_mut(self.ptr.cast::<T>().as_ptr(), len) };
            all.fill(T::from_word(if ty == Ty::Bool { word & 1 } else { word }));
        });
    }

    /// Copies a view into a new array.
    ///
    /// Returns `None` if there is no memory for it.
    pub fn copy_of(view: View<'_>) -> Option<Buffer> {
        let mut buffer = Buffer::uncleared(view.ty, view.len)?;
        buffer.overwrite(view);
        Some(buffer)
    }

    /// Overwrites the first elements by those of a view of the same type, up to the shorter length.
    fn overwrite(&mut self, view: View<'_>) {
        let n = match view.ty == self.ty {
            true => view.len.min(self.len),
            false => 0,
        };
        // SAFETY: both hold `n` elements of one type; nobody views what is borrowed exclusively.
        unsafe {
            self.ptr
                .copy_from_nonoverlapping(view.ptr, n * self.ty.size())
        };
    }

    /// Wraps a vector without a copy.
    pub fn from_vec<T: Prim>(vec: Vec<T>) -> Buffer {
        if vec.capacity() == 0 {
            return Buffer::empty(T::TY);
        }
        let mut vec = std::mem::ManuallyDrop::new(vec);
        // SAFETY: a vector's pointer is never null.
        let ptr = unsafe { NonNull::new_unchecked(vec.as_mut_ptr()) }.cast();
        Buffer {
            ty: T::TY,
            len: vec.len(),
            ptr,
            storage: Storage::Vec {
                capacity: vec.capacity(),
            },
            keeps_capacity: false,
            far: OnceLock::new(),
        }
    }

    /// Converts the elements to a vector.
    ///
    /// This is free if the buffer came from a vector, and a copy otherwise.
    ///
    /// # Errors
    ///
    /// Returns the buffer if its type differs from `T`'s, or if there is no memory for the copy.
    pub fn into_vec<T: Prim>(self) -> Result<Vec<T>, Buffer> {
        let Some(elements) = self.as_slice::<T>() else {
            return Err(self);
        };
        if let Storage::Vec { capacity } = self.storage {
            let buffer = std::mem::ManuallyDrop::new(self);
            // SAFETY: the memory came from a `Vec` of this capacity whose elements have the same
            // size and alignment as `T` (both are `Prim`s of one `TY`); the buffer is forgotten.
            return Ok(unsafe {
                Vec::from_raw_parts(buffer.ptr.cast().as_ptr(), buffer.len, capacity)
            });
        }
        let mut vec = Vec::new();
        if vec.try_reserve_exact(elements.len()).is_err() {
            return Err(self);
        }
        vec.extend_from_slice(elements);
        Ok(vec)
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the element type.
    pub fn ty(&self) -> Ty {
        self.ty
    }

    /// Returns the number of bytes that the buffer owns, used or not.
    ///
    /// Bytes of a [far](Buffer::is_far) array count where they were allocated. Memory of [another
    /// owner](Buffer::is_foreign) does not count.
    pub fn bytes(&self) -> usize {
        match self.storage {
            Storage::Empty => 0,
            Storage::Block { bytes, .. } => bytes,
            Storage::Pages(ref pages) => pages.bytes(),
            Storage::Vec { capacity } => capacity * self.ty.size(),
            Storage::Foreign { .. } => 0,
            Storage::Far { .. } => self.far().map_or(0, Far::bytes),
        }
    }

    /// Returns the elements, if they are of type `T`.
    ///
    /// Far elements are fetched first. Returns `None` if that [fails](Buffer::here).
    pub fn as_slice<T: Prim>(&self) -> Option<&[T]> {
        self.here().ok()?.own_view().as_slice()
    }

    /// Returns the elements for writing, if they are of type `T`.
    ///
    /// Returns `None` if the memory belongs to [another owner](Buffer::is_foreign), or if a fetch
    /// fails.
    pub fn as_mut_slice<T: Prim>(&mut self) -> Option<&mut [T]> {
        self.settle().ok()?;
        (T::TY == self.ty && !self.is_foreign())
            // SAFETY: `len` valid elements laid out as `T`, which may be written, borrowed exclusively through `self`.
            .then(|| unsafe { std::slice::from_raw_parts_mut(self.ptr.cast().as_ptr(), self.len) })
    }

    /// Returns a view of all elements.
    ///
    /// Far elements are fetched first. If that [fails](Buffer::here), the view is empty.
    #[inline]
    pub fn view(&self) -> View<'_> {
        match self.here() {
            Ok(here) => here.own_view(),
            Err(_) => View::empty(self.ty),
        }
    }

    fn own_view(&self) -> View<'_> {
        View {
            ty: self.ty,
            ptr: self.ptr,
            len: self.len,
            memory: PhantomData,
        }
    }

    /// Returns a view of `len` elements from `offset` on.
    ///
    /// Returns `None` if the range is out of bounds.
    pub fn slice(&self, offset: usize, len: usize) -> Option<View<'_>> {
        self.view().slice(offset, len)
    }

    /// Shortens the array to its first `len` elements.
    ///
    /// A shorter array stays as it is. If most of the memory is unused afterwards, it is returned.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
        if let Storage::Far { here } = &mut self.storage {
            here.get_mut()
                .into_iter()
                .for_each(|here| here.truncate(len));
        }
        if self.keeps_capacity {
            return;
        }
        let used = self.len * self.ty.size();
        let (base, bytes) = match &mut self.storage {
            Storage::Block { base, bytes } => (*base, *bytes),
            Storage::Pages(pages) => {
                let unused = pages.bytes() - used;
                if unused >= PAGES_WORTH_GIVING_BACK && unused > used / 128 {
                    recycle::shorten(pages, used);
                    self.ptr = pages.base();
                }
                return;
            }
            Storage::Empty | Storage::Vec { .. } => return,
            Storage::Foreign { .. } | Storage::Far { .. } => return,
        };
        if bytes / 2 < used || bytes - used < WORTH_GIVING_BACK {
            return;
        }
        let (Some(old), Some(new)) = (
            Layout::from_size_align(bytes, BLOCK_ALIGN).ok(),
            block_layout(used),
        ) else {
            return;
        };
        let before = skew(base);
        // SAFETY: `base` was allocated with `old`; the new size is not zero and smaller. The first
        // `before + used` bytes are kept: `before` is below `ALIGN`, and `new` is `used + ALIGN`.
        let Some(base) = NonNull::new(unsafe { alloc::realloc(base.as_ptr(), old, new.size()) })
        else {
            return; // The old block is untouched.
        };
        let after = skew(base);
        // SAFETY: both offsets leave room for `used` bytes in the block; `copy` allows overlap.
        unsafe {
            base.add(after).copy_from(base.add(before), used);
            self.ptr = base.add(after);
        }
        self.storage = Storage::Block {
            base,
            bytes: new.size(),
        };
    }

    /// Lengthens the array to `len` elements by appending zeros.
    ///
    /// A longer array stays as it is. Pages grow in place, other memory is copied. Returns `false`
    /// and changes nothing if the array is far or there is no memory for it.
    pub(crate) fn grow(&mut self, len: usize) -> bool {
        let Some(more) = len.checked_sub(self.len) else {
            return true;
        };
        let used = self.len * self.ty.size();
        match &mut self.storage {
            Storage::Far { .. } => return false,
            Storage::Pages(pages) => {
                let Some(bytes) = len.checked_mul(self.ty.size()) else {
                    return false;
                };
                // The bytes after the elements may be stale.
                let dirty = pages.bytes().min(bytes) - used;
                if pages.bytes() < bytes && !recycle::lengthen(pages, bytes) {
                    return false;
                }
                self.ptr = pages.base();
                // SAFETY: the block is longer than both, and nobody else has it.
                unsafe { self.ptr.add(used).write_bytes(0, dirty) };
                self.len += more;
            }
            _ => {
                let Some(mut longer) = Buffer::zeroed(self.ty, len) else {
                    return false;
                };
                longer.overwrite(self.own_view());
                longer.keeps_capacity = self.keeps_capacity;
                *self = longer;
            }
        }
        true
    }

    /// Returns the canonical word of an element.
    ///
    /// Returns `None` out of bounds.
    #[inline]
    pub fn get_word(&self, i: usize) -> Option<u64> {
        self.view().get_word(i)
    }

    /// Sets an element from a canonical word.
    ///
    /// Returns `false` and changes nothing if the index is out of bounds, if the memory belongs to
    /// [another owner](Buffer::is_foreign), or if far elements cannot be [fetched](Buffer::here).
    #[inline]
    pub fn set_word(&mut self, i: usize, word: u64) -> bool {
        if i >= self.len || self.is_foreign() || self.settle().is_err() {
            return false;
        }
        // SAFETY: `i` is inside; `T` is laid out as `ty`; a `Bool`'s byte is made 0 or 1.
        with_layout!(self.ty, T => unsafe {
            let word = if self.ty == Ty::Bool { word & 1 } else { word };
            self.ptr.cast::<T>().add(i).write(T::from_word(word));
        });
        true
    }

    /// Returns the start of the memory here.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.ptr
    }

    /// Returns a pointer for reading as many elements as the [view](Buffer::view) has.
    pub fn as_ptr(&self) -> *const u8 {
        self.view().as_ptr()
    }

    /// Returns a pointer for writing as many elements as the [view](Buffer::view) has.
    ///
    /// Compiled kernels write through it. They must leave valid values: a `Bool` is a byte 0 or 1.
    /// Memory of [another owner](Buffer::is_foreign) must not be written.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        match self.settle() {
            Ok(()) => self.ptr.as_ptr(),
            Err(_) => DANGLING.as_ptr(),
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.storage, Storage::Empty) {
            // A foreign owner frees its own memory.
            Storage::Empty | Storage::Foreign { .. } | Storage::Far { .. } => {}
            Storage::Pages(pages) => recycle::give(pages),
            Storage::Block { base, bytes } => {
                // SAFETY: the size and alignment that `base` was allocated with, checked valid then.
                unsafe {
                    let layout = Layout::from_size_align_unchecked(bytes, BLOCK_ALIGN);
                    alloc::dealloc(base.as_ptr(), layout);
                }
            }
            Storage::Vec { capacity } => with_layout!(self.ty, T => {
                // SAFETY: the memory came from a `Vec` of elements with `T`'s size and alignment;
                // scalars need no drop, so a length of 0 frees all.
                drop(unsafe { Vec::<T>::from_raw_parts(self.ptr.cast().as_ptr(), 0, capacity) });
            }),
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer([{}; {}])", self.ty, self.len)
    }
}

impl<T: Prim> From<Vec<T>> for Buffer {
    fn from(vec: Vec<T>) -> Buffer {
        Buffer::from_vec(vec)
    }
}

/// Holds a read-only view of an array or of a part of it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    ty: Ty,
    ptr: NonNull<u8>,
    len: usize,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: a view is a shared borrow of plain scalars.
unsafe impl Send for View<'_> {}
// SAFETY: as above.
unsafe impl Sync for View<'_> {}

impl<'a> View<'a> {
    /// Returns a view without elements.
    pub fn empty(ty: Ty) -> View<'a> {
        View {
            ty,
            ptr: DANGLING,
            len: 0,
            memory: PhantomData,
        }
    }

    /// Returns a view of raw memory.
    ///
    /// # Safety
    ///
    /// For `'a`, `ptr` must point to `len` valid elements of the type, and no other code may change
    /// them.
    pub(crate) unsafe fn of_raw(ty: Ty, ptr: *const u8, len: usize) -> View<'a> {
        View {
            ty,
            // The pointer may be null if there are no elements.
            ptr: NonNull::new(ptr.cast_mut()).unwrap_or(DANGLING),
            len,
            memory: PhantomData,
        }
    }

    /// Returns a view of a slice.
    pub fn new<T: Prim>(elements: &'a [T]) -> View<'a> {
        let ptr = NonNull::from(elements).cast();
        View {
            ty: T::TY,
            ptr,
            len: elements.len(),
            memory: PhantomData,
        }
    }

    /// Returns the element type.
    pub fn ty(&self) -> Ty {
        self.ty
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the elements, if they are of type `T`.
    pub fn as_slice<T: Prim>(&self) -> Option<&'a [T]> {
        (T::TY == self.ty)
            // SAFETY: `len` valid elements laid out as `T`, borrowed for `'a`.
            .then(|| unsafe { std::slice::from_raw_parts(self.ptr.cast().as_ptr(), self.len) })
    }

    /// Returns a view of `len` elements from `offset` on.
    ///
    /// Returns `None` if the range is out of bounds.
    pub fn slice(&self, offset: usize, len: usize) -> Option<View<'a>> {
        if offset.checked_add(len)? > self.len {
            return None;
        }
        // SAFETY: `offset` elements are inside of the memory.
        let ptr = unsafe { self.ptr.add(offset * self.ty.size()) };
        Some(View { ptr, len, ..*self })
    }

    /// Returns the canonical word of an element.
    ///
    /// Returns `None` out of bounds.
    #[inline]
    pub fn get_word(&self, i: usize) -> Option<u64> {
        if i >= self.len {
            return None;
        }
        // SAFETY: `i` is inside, and `T` is laid out as `ty`.
        Some(with_layout!(self.ty, T => unsafe { self.ptr.cast::<T>().add(i).read() }.to_word()))
    }

    /// Returns a pointer for reading `len` elements.
    pub fn as_ptr(&self) -> *const u8 {
        self.ptr.as_ptr()
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View([{}; {}])", self.ty, self.len)
    }
}

#[cfg(test)]
mod tests;
