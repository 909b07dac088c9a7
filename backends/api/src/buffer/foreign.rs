//! Elements that come from elsewhere, and go there: memory that somebody else owns, files, streams of bytes.

use super::{Buffer, Storage, View};
use loop_lang::types::Ty;
use std::alloc::{Layout, handle_alloc_error};
use std::any::Any;
use std::io::{self, Read};
use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

/// Keeps memory alive: what it points to frees it when the last one is dropped.
pub(super) type Owner = Arc<dyn Any + Send + Sync>;

/// Why a stream's bytes are no array.
#[derive(Debug)]
pub enum ReadError {
    /// There is no memory for so many bytes.
    Memory(u64),
    /// The stream failed, or ended early ([`io::ErrorKind::UnexpectedEof`]).
    System(io::Error),
    /// A byte is no `bool`.
    NotBool {
        /// Which element it would be.
        element: usize,
        /// The byte.
        byte: u8,
    },
}

impl Buffer {
    /// Wraps memory that belongs to somebody else, without a copy. It is only read: who changes a buffer (`as_mut_slice`,
    /// `set_word`) cannot change this one, and it is never memory for other results. None if the elements do not
    /// lie at multiples of their alignment.
    ///
    /// ```
    /// use livefusion_backend::Buffer;
    /// use loop_lang::types::Ty;
    /// use std::{ptr::NonNull, sync::Arc};
    /// let owner = Arc::new([1.5f64, 2.5]);
    /// let ptr = NonNull::from(owner.as_ref()).cast();
    /// // SAFETY: the owner keeps its two numbers, and nobody changes them.
    /// let buffer = unsafe { Buffer::foreign(Ty::F64, 2, ptr, owner) };
    /// assert_eq!(buffer.and_then(|b| b.get_word(1)), Some(2.5f64.to_bits()));
    /// ```
    ///
    /// # Safety
    /// As long as `owner` lives there are `len` initialised elements of the type at `ptr`, valid for reads, and a `Bool`
    /// stays a byte 0 or 1.
    pub unsafe fn foreign(ty: Ty, len: usize, ptr: NonNull<u8>, owner: Owner) -> Option<Buffer> {
        let aligned = ptr.as_ptr().addr().is_multiple_of(ty.size());
        aligned.then(|| Buffer {
            ty,
            len,
            ptr,
            storage: Storage::Foreign {
                _owner: AssertUnwindSafe(owner),
            },
            keeps_room: false,
            far: OnceLock::new(),
        })
    }

    /// Whether the memory is somebody else's, and so only read.
    #[inline]
    pub fn is_foreign(&self) -> bool {
        matches!(self.storage, Storage::Foreign { .. })
    }

    /// The same elements in memory here that may be written: this one, or a copy of what is another's or far.
    pub(crate) fn into_own(mut self) -> Buffer {
        if !self.is_foreign() && self.settle().is_ok() {
            return self;
        }
        Buffer::copy_of(self.view()).unwrap_or_else(|| {
            let bytes = Layout::array::<u8>(self.as_bytes().len());
            handle_alloc_error(bytes.unwrap_or(Layout::new::<u64>()))
        })
    }

    /// Maps `len` elements of a file into memory, from byte `offset` on. Nothing is read before it is used, and nothing is
    /// copied. None where that cannot be: if they do not lie at multiples of their alignment, and for `Bool`, whose bytes
    /// somebody could change behind a check.
    ///
    /// # Safety
    /// Nobody writes to the file, or makes it shorter, as long as the buffer lives.
    ///
    /// # Errors
    /// What the system says; [`io::ErrorKind::UnexpectedEof`] if the file is shorter.
    #[cfg(feature = "map")]
    pub unsafe fn mapped(
        ty: Ty,
        file: &std::fs::File,
        offset: u64,
        len: usize,
    ) -> io::Result<Option<Buffer>> {
        let bytes = len
            .checked_mul(ty.size())
            .filter(|n| *n <= isize::MAX as usize);
        let end = bytes.and_then(|n| offset.checked_add(n as u64));
        let (Some(bytes), Some(end)) = (bytes, end) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        if end > file.metadata()?.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if len == 0 {
            return Ok(Some(Buffer::empty(ty)));
        }
        if ty == Ty::Bool || !offset.is_multiple_of(ty.size() as u64) {
            return Ok(None);
        }
        let mut options = memmap2::MmapOptions::new();
        // SAFETY: the caller sees to it that the file stays as it is, and the memory is only read.
        let map = unsafe { options.offset(offset).len(bytes).map(file)? };
        let ptr = NonNull::from(&map[..]).cast();
        // SAFETY: the mapping has as many bytes as `len` elements, which lie still when its owner moves, and all bytes are
        // valid elements of a type other than `Bool`.
        Ok(unsafe { Buffer::foreign(ty, len, ptr, Arc::new(map)) })
    }

    /// Reads `len` elements from a stream of their bytes, in this machine's order or, `swapped`, in the other one.
    ///
    /// ```
    /// use livefusion_backend::Buffer;
    /// use loop_lang::types::Ty;
    /// let bytes = 258u16.to_ne_bytes();
    /// let read = |swapped| Buffer::read_from(Ty::U16, 1, &mut &bytes[..], swapped).ok();
    /// assert_eq!(read(false).and_then(|b| b.get_word(0)), Some(258));
    /// assert_eq!(read(true).and_then(|b| b.get_word(0)), Some(513));
    /// assert!(Buffer::read_from(Ty::Bool, 1, &mut &[2u8][..], false).is_err());
    /// ```
    ///
    /// # Errors
    /// If there is no memory, the stream fails or ends early, or a byte is no `Bool`.
    pub fn read_from(
        ty: Ty,
        len: usize,
        source: &mut dyn Read,
        swapped: bool,
    ) -> Result<Buffer, ReadError> {
        let no_memory = || ReadError::Memory((len as u64).saturating_mul(ty.size() as u64));
        let buffer = Buffer::uncleared(ty, len).ok_or_else(no_memory)?;
        // SAFETY: the buffer's own memory, all of it initialised, borrowed exclusively. Bytes that are no elements are
        // found below, before anyone has the buffer.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(buffer.ptr.as_ptr(), buffer.len * ty.size()) };
        source.read_exact(bytes).map_err(ReadError::System)?;
        if swapped {
            bytes.chunks_exact_mut(ty.size()).for_each(<[u8]>::reverse);
        }
        let wrong = |byte: &u8| ty == Ty::Bool && *byte > 1;
        match bytes.iter().position(wrong) {
            Some(element) => Err(ReadError::NotBool {
                element,
                byte: bytes[element],
            }),
            None => Ok(buffer),
        }
    }

    /// The elements' bytes, in this machine's order.
    pub fn as_bytes(&self) -> &[u8] {
        self.view().as_bytes()
    }
}

impl<'a> View<'a> {
    /// The elements' bytes, in this machine's order.
    pub fn as_bytes(&self) -> &'a [u8] {
        // SAFETY: `len` initialised scalars, which have no padding, borrowed for `'a`.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr(), self.len * self.ty.size()) }
    }
}
