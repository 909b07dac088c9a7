//! Far arrays: elements in the memory of a device.
//!
//! The elements are fetched when the processor reads them. Otherwise they stay far.
//!
//! | state | `storage` | `far` |
//! | --- | --- | --- |
//! | here | any other | empty |
//! | far | `Far`, its `here` empty | set |
//! | both, made here | any other | set: a copy |
//! | both, made far | `Far`, its `here` set: a copy | set |
//!
//! Shared buffers are never changed, so copies stay valid. A writer has exclusive access, and drops
//! the far copy before it writes.

use super::{Buffer, DANGLING, Storage};
use loop_lang::types::{Ty, canonical};
use std::any::Any;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::OnceLock;

/// Provides an array's elements in memory outside the processor's.
///
/// Positions are in bytes.
pub trait Far: Any + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Copies bytes from the device.
    ///
    /// # Errors
    ///
    /// Returns the device's error message.
    fn read(&self, at: usize, to: &mut [u8]) -> Result<(), String>;

    /// Copies bytes to the device.
    ///
    /// # Errors
    ///
    /// Returns the device's error message.
    fn write(&mut self, at: usize, from: &[u8]) -> Result<(), String>;

    /// Returns the size of the memory in bytes.
    fn bytes(&self) -> usize;
}

/// Lists the reasons why a far array could not be fetched.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FarError {
    /// There is no memory for this number of bytes here.
    #[error("no memory for {0} bytes")]
    Memory(u64),
    /// The device failed.
    #[error("{0}")]
    Device(String),
}

impl Buffer {
    /// Wraps an array of `len` elements that are far.
    ///
    /// A `Bool` there must be a byte 0 or 1. Returns `None` if the memory is too small for the
    /// elements.
    pub fn from_far(ty: Ty, len: usize, far: Box<dyn Far>) -> Option<Buffer> {
        let fits = len.checked_mul(ty.size())? <= far.bytes();
        fits.then(|| Buffer {
            ty,
            len,
            ptr: DANGLING,
            storage: Storage::Far {
                here: OnceLock::new(),
            },
            keeps_capacity: false,
            far: OnceLock::from(far),
        })
    }

    /// Returns whether the elements are far and were not fetched yet.
    #[inline]
    pub fn is_far(&self) -> bool {
        matches!(&self.storage, Storage::Far { here } if here.get().is_none())
    }

    /// Returns the device memory of all elements, the original or a copy.
    pub fn far(&self) -> Option<&dyn Far> {
        self.far.get().map(Box::as_ref)
    }

    /// Returns the device memory for writing, if the array was made there.
    ///
    /// A fetched copy is dropped.
    pub fn far_mut(&mut self) -> Option<&mut dyn Far> {
        match &mut self.storage {
            Storage::Far { here } => {
                here.take();
                self.far.get_mut().map(|far| &mut **far)
            }
            _ => None,
        }
    }

    /// Keeps a device copy of the elements, unless there is one.
    ///
    /// Returns whether the copy was kept.
    pub fn keep_far(&self, copy: Box<dyn Far>) -> bool {
        let fits = self.len * self.ty.size() <= copy.bytes();
        fits && self.far.set(copy).is_ok()
    }

    /// Returns the buffer with its elements here.
    ///
    /// This is the buffer itself, or a copy that is fetched at the first call.
    ///
    /// # Errors
    ///
    /// Fails if there is no memory for the copy, or if the device fails.
    #[inline]
    pub fn here(&self) -> Result<&Buffer, FarError> {
        match &self.storage {
            Storage::Far { here } => self.fetched(here),
            _ => Ok(self),
        }
    }

    #[cold]
    fn fetched<'b>(&self, here: &'b OnceLock<Box<Buffer>>) -> Result<&'b Buffer, FarError> {
        if let Some(copy) = here.get() {
            return Ok(copy);
        }
        let copy = self.fetch()?;
        Ok(here.get_or_init(|| Box::new(copy)))
    }

    /// Fetches a copy of far elements.
    fn fetch(&self) -> Result<Buffer, FarError> {
        let bytes = self.len * self.ty.size();
        let mut copy =
            Buffer::uncleared(self.ty, self.len).ok_or(FarError::Memory(bytes as u64))?;
        // SAFETY: the buffer's own initialised memory, borrowed exclusively; `from_far` has the
        // promise that the bytes are elements, and bytes that are no `Bool`s are made so below,
        // before anyone has the buffer.
        let to = unsafe { std::slice::from_raw_parts_mut(copy.ptr.as_ptr(), bytes) };
        if let Some(far) = self.far() {
            far.read(0, to).map_err(FarError::Device)?;
        }
        if self.ty == Ty::Bool {
            to.iter_mut().for_each(|b| *b &= 1);
        }
        copy.keeps_capacity = self.keeps_capacity;
        Ok(copy)
    }

    /// Returns the canonical word of a far element without fetching the array.
    ///
    /// Returns `None` out of bounds, or if the device fails.
    #[cold]
    pub fn far_word(&self, i: usize) -> Option<u64> {
        let size = self.ty.size();
        let far = self.far().filter(|_| i < self.len)?;
        let mut bytes = [0; 8];
        far.read(i * size, bytes.get_mut(..size)?).ok()?;
        Some(canonical(self.ty, u64::from_le_bytes(bytes)))
    }

    /// Sets an element of a far array.
    ///
    /// Returns `false` out of bounds, or if the device fails.
    pub(crate) fn set_far_word(&mut self, i: usize, word: u64) -> bool {
        let (ty, size) = (self.ty, self.ty.size());
        let bytes = canonical(ty, word).to_le_bytes();
        let is_inside = i < self.len;
        let far = self.far_mut().filter(|_| is_inside);
        far.is_some_and(|far| far.write(i * size, &bytes[..size]).is_ok())
    }

    /// Makes the memory here the only copy, before a write.
    pub(super) fn settle(&mut self) -> Result<(), FarError> {
        let Storage::Far { here } = &mut self.storage else {
            self.far.take();
            return Ok(());
        };
        let copy = match here.take() {
            Some(copy) => *copy,
            None => self.fetch()?,
        };
        *self = copy;
        Ok(())
    }
}
