//! Typed arrays in memory: 64-byte aligned allocations, recycled if they are large, or the memory of a `Vec`
//! without a copy.
//!
//! All raw memory of the project is handled here and by what compiled kernels do through
//! [`Buffer::as_mut_ptr`]. Invariants of a [`Buffer`]:
//!
//! * `ptr` is aligned for `ty` and valid for reads and writes of `len` initialised elements;
//! * every element is a valid value of `ty`: a `Bool` is a byte 0 or 1;
//! * the buffer owns the memory, as `storage` says, or keeps its owner; what is not its own is never written;
//! * of an array that is far there are no elements at `ptr`: [`Buffer::here`] brings them.

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

/// Alignment of allocations made here: a cache line, and the widest vector registers.
pub const ALIGN: usize = 64;

/// Alignment asked of the allocator. Up to this it zeroes memory lazily, by fresh pages; a larger
/// one would make it write the zeros. `ALIGN` is reached by starting later in the block.
const BLOCK_ALIGN: usize = 16;

/// Bytes that must be unused before `truncate` moves to a smaller block.
const WORTH_GIVING_BACK: usize = 4096;

/// Bytes of pages that must be unused before `truncate` gives them back: fewer come back with the next
/// array of this size, and cost nothing then.
const PAGES_WORTH_GIVING_BACK: usize = 1 << 20;

/// What an empty buffer points to: nothing, but aligned for every type.
const DANGLING: NonNull<u8> = match NonZero::new(ALIGN) {
    Some(address) => NonNull::without_provenance(address),
    None => NonNull::dangling(),
};

/// An array of scalars in memory.
pub struct Buffer {
    ty: Ty,
    len: usize,
    ptr: NonNull<u8>,
    storage: Storage,
    /// Whether it gives no memory back when it is shortened.
    keeps_room: bool,
    /// The elements in a device's memory, if they are there.
    far: OnceLock<Box<dyn Far>>,
}

/// Who allocated a buffer's memory, and so how it is freed.
enum Storage {
    /// Nothing to free; `len` is 0.
    Empty,
    /// A block of `bytes` at `base`, which `ptr` points into.
    Block { base: NonNull<u8>, bytes: usize },
    /// Pages, which `ptr` points to the beginning of.
    Pages(Pages),
    /// A `Vec` with this capacity, whose elements are laid out as the buffer's type.
    Vec { capacity: usize },
    /// Memory of whoever this keeps alive; it is only read. A panic leaves the owner as it was: it is dropped, and nothing else.
    Foreign { _owner: AssertUnwindSafe<Owner> },
    /// None, until the elements that are far come here.
    Far { here: OnceLock<Box<Buffer>> },
}

// SAFETY: a buffer owns its memory, or keeps an owner that is as free to move, and gives access to it only under Rust's borrow rules.
unsafe impl Send for Buffer {}
// SAFETY: as above; through `&Buffer` memory is only read.
unsafe impl Sync for Buffer {}

/// The layout of a block that has room for `bytes` at `ALIGN`.
fn block_layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(ALIGN)?, BLOCK_ALIGN).ok()
}

/// Distance from `base` to the next multiple of `ALIGN`; less than `ALIGN`.
fn skew(base: NonNull<u8>) -> usize {
    base.as_ptr().addr().wrapping_neg() % ALIGN
}

impl Buffer {
    /// An array without elements.
    pub fn empty(ty: Ty) -> Buffer {
        Buffer {
            ty,
            len: 0,
            ptr: DANGLING,
            storage: Storage::Empty,
            keeps_room: false,
            far: OnceLock::new(),
        }
    }

    /// An array of zeros (`false`); none if there is no memory for it.
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

    /// An array for a caller who writes every element before anyone looks: what is in it may be left over
    /// from an array that was dropped. None if there is no memory for it.
    pub fn uncleared(ty: Ty, len: usize) -> Option<Buffer> {
        // Left over bytes are no valid `Bool`s.
        if ty == Ty::Bool || len.checked_mul(ty.size())? < recycle::SMALLEST {
            return Buffer::zeroed(ty, len);
        }
        Buffer::pages(ty, len).map(|(buffer, _)| buffer)
    }

    /// An array in pages that may have been used before, and how many bytes of them were.
    fn pages(ty: Ty, len: usize) -> Option<(Buffer, usize)> {
        let (pages, dirty) = recycle::take(len.checked_mul(ty.size())?)?;
        let buffer = Buffer {
            ty,
            len,
            ptr: pages.base(),
            storage: Storage::Pages(pages),
            keeps_room: false,
            far: OnceLock::new(),
        };
        Some((buffer, dirty))
    }

    /// An array of zeros from the allocator.
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
            keeps_room: false,
            far: OnceLock::new(),
        })
    }

    /// An array whose elements all have the value of a canonical word.
    pub fn fill(ty: Ty, len: usize, word: u64) -> Option<Buffer> {
        if word == 0 {
            return Buffer::zeroed(ty, len);
        }
        let mut buffer = Buffer::uncleared(ty, len)?;
        buffer.set_all(word);
        Some(buffer)
    }

    /// Gives all elements the value of a canonical word.
    fn set_all(&mut self, word: u64) {
        let (ty, len) = (self.ty, self.len);
        with_layout!(ty, T => {
            // SAFETY: `T` is laid out as `ty`; for `Bool` the byte written is made 0 or 1.
            let all = unsafe { std::slice::from_raw_parts_mut(self.ptr.cast::<T>().as_ptr(), len) };
            all.fill(T::from_word(if ty == Ty::Bool { word & 1 } else { word }));
        });
    }

    /// A copy of a view; none if there is no memory for it.
    pub fn copy_of(view: View<'_>) -> Option<Buffer> {
        let mut buffer = Buffer::uncleared(view.ty, view.len)?;
        buffer.overwrite(view);
        Some(buffer)
    }

    /// Replaces elements by those of a view of the same type, as far as there are both.
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
            keeps_room: false,
            far: OnceLock::new(),
        }
    }

    /// The elements as a vector: without a copy if the buffer came from a vector, else copied out.
    /// The buffer comes back if its type is not `T`'s, or if there is no memory for the copy.
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

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Element type.
    pub fn ty(&self) -> Ty {
        self.ty
    }

    /// Bytes of memory that the buffer keeps, used or not, here or, if it was made [far](Buffer::is_far), there; none of what is
    /// [another's](Buffer::is_foreign).
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

    /// The elements, if they are of type `T`. Those that are far come here first: None if that [fails](Buffer::here).
    pub fn as_slice<T: Prim>(&self) -> Option<&[T]> {
        self.here().ok()?.own_view().as_slice()
    }

    /// The elements, to be changed, if they are of type `T` and not [another's](Buffer::is_foreign).
    pub fn as_mut_slice<T: Prim>(&mut self) -> Option<&mut [T]> {
        self.settle().ok()?;
        (T::TY == self.ty && !self.is_foreign())
            // SAFETY: `len` valid elements laid out as `T`, which may be written, borrowed exclusively through `self`.
            .then(|| unsafe { std::slice::from_raw_parts_mut(self.ptr.cast().as_ptr(), self.len) })
    }

    /// A view of all elements. Those that are far come here first; if that [fails](Buffer::here), it is a view of none.
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

    /// A view of `len` elements from `offset` on; none if there are not so many.
    pub fn slice(&self, offset: usize, len: usize) -> Option<View<'_>> {
        self.view().slice(offset, len)
    }

    /// Shortens the array to its first `len` elements (no change if it is not longer). Gives memory
    /// back if most of it is unused.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
        if let Storage::Far { here } = &mut self.storage {
            here.get_mut()
                .into_iter()
                .for_each(|here| here.truncate(len));
        }
        if self.keeps_room {
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

    /// Lengthens the array by zeros to `len` elements (no change if it is not shorter): pages grow where they are, other memory
    /// is copied. False, with nothing done, if it is far, or if there is no memory for it.
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
                // The bytes behind the elements may be stale.
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
                longer.keeps_room = self.keeps_room;
                *self = longer;
            }
        }
        true
    }

    /// The canonical word of an element; none outside.
    #[inline]
    pub fn get_word(&self, i: usize) -> Option<u64> {
        self.view().get_word(i)
    }

    /// Sets an element from a canonical word. False, with nothing done, outside, if they are
    /// [another's](Buffer::is_foreign), and if they cannot [come here](Buffer::here).
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

    /// Where the memory here begins.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.ptr
    }

    /// The memory, to read as many elements as its [view](Buffer::view) has.
    pub fn as_ptr(&self) -> *const u8 {
        self.view().as_ptr()
    }

    /// The memory, for compiled kernels to write as many elements as the [view](Buffer::view) has. Writers must leave valid
    /// values: a `Bool` is a byte 0 or 1. Nobody may write what is [another's](Buffer::is_foreign).
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
            // An owner drops what it has.
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

/// A read-only view of (part of) an array.
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
    /// A view without elements.
    pub fn empty(ty: Ty) -> View<'a> {
        View {
            ty,
            ptr: DANGLING,
            len: 0,
            memory: PhantomData,
        }
    }

    /// A view of raw memory.
    ///
    /// # Safety
    /// For `'a` there are `len` valid elements of the type, which nobody changes.
    pub(crate) unsafe fn of_raw(ty: Ty, ptr: *const u8, len: usize) -> View<'a> {
        View {
            ty,
            // No elements may be nowhere.
            ptr: NonNull::new(ptr.cast_mut()).unwrap_or(DANGLING),
            len,
            memory: PhantomData,
        }
    }

    /// A view of a slice.
    pub fn new<T: Prim>(elements: &'a [T]) -> View<'a> {
        let ptr = NonNull::from(elements).cast();
        View {
            ty: T::TY,
            ptr,
            len: elements.len(),
            memory: PhantomData,
        }
    }

    /// Element type.
    pub fn ty(&self) -> Ty {
        self.ty
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements, if they are of type `T`.
    pub fn as_slice<T: Prim>(&self) -> Option<&'a [T]> {
        (T::TY == self.ty)
            // SAFETY: `len` valid elements laid out as `T`, borrowed for `'a`.
            .then(|| unsafe { std::slice::from_raw_parts(self.ptr.cast().as_ptr(), self.len) })
    }

    /// A view of `len` elements from `offset` on; none if there are not so many.
    pub fn slice(&self, offset: usize, len: usize) -> Option<View<'a>> {
        if offset.checked_add(len)? > self.len {
            return None;
        }
        // SAFETY: `offset` elements are inside of the memory.
        let ptr = unsafe { self.ptr.add(offset * self.ty.size()) };
        Some(View { ptr, len, ..*self })
    }

    /// The canonical word of an element; none outside.
    #[inline]
    pub fn get_word(&self, i: usize) -> Option<u64> {
        if i >= self.len {
            return None;
        }
        // SAFETY: `i` is inside, and `T` is laid out as `ty`.
        Some(with_layout!(self.ty, T => unsafe { self.ptr.cast::<T>().add(i).read() }.to_word()))
    }

    /// The memory, for compiled kernels to read `len` elements.
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
