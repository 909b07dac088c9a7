//! Import and export of elements: foreign memory, files, byte streams.

use super::{Buffer, Storage, View};
use loop_lang::types::Ty;
use std::alloc::{Layout, handle_alloc_error};
use std::any::Any;
use std::io::{self, Read};
use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

/// Keeps memory alive: the memory is freed when the last reference is dropped.
pub(super) type Owner = Arc<dyn Any + Send + Sync>;

/// Lists the reasons why a stream could not be read as an array.
#[derive(Debug)]
pub enum ReadError {
    /// There is no memory for this number of bytes.
    Memory(u64),
    /// The stream failed, or ended early ([`io::ErrorKind::UnexpectedEof`]).
    System(io::Error),
    /// A byte is an invalid `bool`.
    NotBool {
        /// The position of the element.
        element: usize,
        /// The byte.
        byte: u8,
    },
}

impl Buffer {
    /// Wraps memory of another owner without a copy.
    ///
    /// The memory is only read. Writes (`as_mut_slice`, `set_word`) fail, and later results never
    /// reuse it. Returns `None` if the elements are not aligned for their type.
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
    ///
    /// As long as `owner` lives, `ptr` must point to `len` initialised elements of the type, valid
    /// for reads. A `Bool` must stay a byte 0 or 1.
    pub unsafe fn foreign(ty: Ty, len: usize, ptr: NonNull<u8>, owner: Owner) -> Option<Buffer> {
        let aligned = ptr.as_ptr().addr().is_multiple_of(ty.size());
        aligned.then(|| Buffer {
            ty,
            len,
            ptr,
            storage: Storage::Foreign {
                _owner: AssertUnwindSafe(owner),
            },
            keeps_capacity: false,
            far: OnceLock::new(),
        })
    }

    /// Returns whether the memory belongs to another owner and is only read.
    #[inline]
    pub fn is_foreign(&self) -> bool {
        matches!(self.storage, Storage::Foreign { .. })
    }

    /// Returns the same elements in writable memory here.
    ///
    /// Foreign and far elements are copied. Other buffers are returned as they are.
    pub(crate) fn into_own(mut self) -> Buffer {
        if !self.is_foreign() && self.settle().is_ok() {
            return self;
        }
        Buffer::copy_of(self.view()).unwrap_or_else(|| {
            let bytes = Layout::array::<u8>(self.as_bytes().len());
            handle_alloc_error(bytes.unwrap_or(Layout::new::<u64>()))
        })
    }

    /// Maps `len` elements of a file into memory, from byte `offset` on.
    ///
    /// Pages are read on first use, and nothing is copied. Returns `None` if the elements are not
    /// aligned for their type. Also returns `None` for `Bool`: its bytes could change after a
    /// check.
    ///
    /// # Safety
    ///
    /// Nobody may write to the file or shorten it as long as the buffer lives.
    ///
    /// # Errors
    ///
    /// Returns the system's error, and [`io::ErrorKind::UnexpectedEof`] if the file is shorter.
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
        // SAFETY: the caller ensures that the file does not change, and the memory is only read.
        let map = unsafe { options.offset(offset).len(bytes).map(file)? };
        let ptr = NonNull::from(&map[..]).cast();
        // SAFETY: the mapping has as many bytes as `len` elements. It does not move with its owner.
        // All bytes are valid elements of a type other than `Bool`.
        Ok(unsafe { Buffer::foreign(ty, len, ptr, Arc::new(map)) })
    }

    /// Reads `len` elements from a stream of bytes.
    ///
    /// The bytes are in this machine's order or, with `swapped`, in the opposite one.
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
    ///
    /// Fails if there is no memory, if the stream fails or ends early, or if a byte is an invalid
    /// `Bool`.
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

    /// Returns the elements' bytes in this machine's order.
    pub fn as_bytes(&self) -> &[u8] {
        self.view().as_bytes()
    }
}

impl<'a> View<'a> {
    /// Returns the elements' bytes in this machine's order.
    pub fn as_bytes(&self) -> &'a [u8] {
        // SAFETY: `len` initialised scalars, which have no padding, borrowed for `'a`.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr(), self.len * self.ty.size()) }
    }
}
